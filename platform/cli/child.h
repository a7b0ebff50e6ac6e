#pragma once
/// Runs of this program as processes of their own: one process is one simulation.

#include <functional>
#include <string>
#include <vector>

namespace sluice::cli {

/// One call of `sluice`.
class Child {
 public:
  explicit Child(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {}
  const std::string& output() const { return output_; }  ///< all of its standard output; empty: a signal has ended it
  const std::string& errors() const { return errors_; }  ///< all of its standard error
  /// Exit status; 1 when it ended in another way.
  int status() const { return status_; }

 private:
  friend const char* run_all(std::vector<Child>&, const std::function<void(std::size_t)>&);
  std::vector<std::string> arguments_;
  std::string output_;
  std::string errors_;
  int status_ = 1;
};

/// Runs them all, as many at a time as there are processors. The order of their ends has no influence on anything.
/// progress: called several times a second with the number that have ended.
/// SIGHUP, SIGINT and SIGTERM are passed on to what runs, and nothing more is started; returns the signal's name, or
/// null when none came.
const char* run_all(std::vector<Child>&, const std::function<void(std::size_t)>& progress);

}  // namespace sluice::cli
