// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Who waits for whom: every wait that may not end by itself is listed here while it lasts, so that a stalled
/// simulation can be explained. Plain C++.

#include <string>

#include "models/base/time/time.h"

namespace sluice::base {

/// One wait, listed from construction to destruction. The texts must outlive it (component paths and literals do).
class Waiting {
 public:
  Waiting(const char* who, const char* reason, const char* holder);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  friend std::string describe_waits();
  const char* who_;
  const char* reason_;
  const char* holder_;
  Time since_;
  Waiting* previous_;
  Waiting* next_ = nullptr;
};

/// One line per wait, oldest first: "since 12.5 ns: host.hart0 waits for pcie.root0: read completion"; then the first
/// cycle among them, if any.
std::string describe_waits();

}  // namespace sluice::base
