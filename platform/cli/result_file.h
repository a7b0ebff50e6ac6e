#pragma once
/// DIR/result.json: written to one side and put in place when it is complete, so that there is never half of one.

#include <string>

namespace sluice::cli {

class ResultFile {
 public:
  /// Creates the directory where there is none, and proves that it can be written before anything is simulated. Throws
  /// config::UserError, which names the option that gave the directory.
  ResultFile(const std::string& directory, std::string option);
  ~ResultFile();
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;

  /// Throws config::UserError when it cannot be written to its end.
  void commit(const std::string& text);

 private:
  [[noreturn]] void refuse(const std::string& why) const;

  std::string option_;
  std::string path_;
  std::string partial_;
};

}  // namespace sluice::cli
