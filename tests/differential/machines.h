// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The two machines that run an image.

#include <cstdint>
#include <functional>
#include <string>

#include "models/riscv/iss/hart.h"
#include "tests/differential/image.h"

namespace sluice::differential {

/// How a run of an image ended; empty: the harness stopped the machine.
struct RunEnd {
  std::string trouble;
  std::uint64_t instructions = 0;  ///< of the ISS
};

/// Runs the image on the ISS and replaces the image by the RAM's last state. windowed: timing = "interval".
RunEnd run_on_iss(Image& image, bool windowed = false);
/// step_on_iss() does as run_on_iss(), one instruction at a time. It calls `before` in front of each instruction, and
/// `after` behind it with whether the instruction was executed (no trap, no interrupt).
struct Observer {
  virtual ~Observer() = default;
  virtual void before(riscv::Hart& hart) = 0;
  virtual void after(riscv::Hart& hart, bool executed) = 0;
};
RunEnd step_on_iss(Image& image, Observer& observer);

/// QEMU on a file that is the machine's RAM. The constructor starts it; wait() waits for its end.
class Qemu {
 public:
  explicit Qemu(const std::string& ram_file);
  ~Qemu();
  Qemu(const Qemu&) = delete;
  Qemu& operator=(const Qemu&) = delete;
  /// Returns what went wrong, or nothing. Kills QEMU if it takes longer than `seconds`.
  std::string wait(unsigned seconds);
  static bool installed();

 private:
  int pid_ = -1;
};

}  // namespace sluice::differential
