#pragma once
/// Runs of this program as processes of their own: one process is one simulation.

#include <string>
#include <vector>

namespace sluice::cli {

/// One call of `sluice`. Its standard error goes to ours.
class Child {
 public:
  explicit Child(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {}
  const std::string& output() const { return output_; }  ///< all of its standard output
  /// Exit status; 1 when it ended in another way.
  int status() const { return status_; }

 private:
  friend void run_all(std::vector<Child>&);
  std::vector<std::string> arguments_;
  std::string output_;
  int status_ = 1;
};

/// Runs them all, as many at a time as there are processors. The order of their ends has no influence on anything.
void run_all(std::vector<Child>&);

}  // namespace sluice::cli
