// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Runs this program in child processes: each process runs one simulation.

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
  friend const char* run_all(std::vector<Child>&, const char*, const char*);
  std::string take_announcement();
  std::vector<std::string> arguments_;
  std::string output_;
  std::string errors_;
  int status_ = 1;
};

/// Runs all children, as many at a time as there are processors. The order in which they end does not affect the
/// results. A line on the terminal shows their progress if it takes long: "compare: 3 of 8 runs done". What they say
/// before they start (kAboutToRun) is said at once, what several say alike once, and errors() then lacks it. SIGHUP,
/// SIGINT and SIGTERM are passed on to the running children, and no more are started; returns the signal's name, or
/// null when none came.
const char* run_all(std::vector<Child>&, const char* command, const char* what);

}  // namespace sluice::cli
