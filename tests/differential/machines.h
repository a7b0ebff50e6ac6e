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

/// Runs the image on the ISS and puts the RAM's last state in its place.
RunEnd run_on_iss(Image& image);
/// As run_on_iss, one instruction at a time; `before` sees the hart in front of each, `after` behind it with whether
/// it was executed (not trapped, no interrupt).
struct Observer {
  virtual ~Observer() = default;
  virtual void before(riscv::Hart& hart) = 0;
  virtual void after(riscv::Hart& hart, bool executed) = 0;
};
RunEnd step_on_iss(Image& image, Observer& observer);

/// QEMU on a file that is the machine's RAM. Started at once; wait() ends it.
class Qemu {
 public:
  explicit Qemu(const std::string& ram_file);
  ~Qemu();
  Qemu(const Qemu&) = delete;
  Qemu& operator=(const Qemu&) = delete;
  /// Empty, or what went wrong. Ends QEMU if it takes longer than `seconds`.
  std::string wait(unsigned seconds);
  static bool installed();

 private:
  int pid_ = -1;
};

}  // namespace sluice::differential
