// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Calls of other programs.

#include <string>
#include <vector>

namespace sluice::sweep {

struct Called {
  int status = 0;      ///< exit status; 127 where there is no such program; 128 and more by a signal
  std::string output;  ///< standard output
  std::string errors;  ///< standard error, in one line
};

/// Runs a program that PATH has, and waits for its end. Throws std::runtime_error when no process can be started.
Called call(const std::vector<std::string>& arguments);

}  // namespace sluice::sweep
