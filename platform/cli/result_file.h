#pragma once
/// DIR/result.json: written to one side and put in place when it is complete, so that there is never half of one, and
/// never one of an earlier run that could be taken for this one's.

#include <string>

namespace sluice::cli {

class ResultFile {
 public:
  /// Renames the result of an earlier run to result.json.old. The first thing that a command does with its directory,
  /// so that no mistake leaves the old result in place. Does nothing where there is none.
  static void set_old_aside(const std::string& directory);

  /// Creates the directory where there is none, and proves that it can be written, and that no other run writes there,
  /// before anything is simulated. Throws config::UserError, which names the option that gave the directory.
  ResultFile(const std::string& directory, std::string option);
  ~ResultFile();
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;

  /// Puts the result in place, and removes the old one. Throws config::UserError when it cannot be written to its end.
  void commit(const std::string& text);

 private:
  void lock(const std::string& directory);
  [[noreturn]] void refuse(const std::string& why) const;

  std::string option_;
  std::string path_;
  std::string partial_;
  int lock_ = -1;  ///< the directory, locked as long as this is
};

}  // namespace sluice::cli
