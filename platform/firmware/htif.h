// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The host-target interface of riscv-tests and their kin: an image that has a variable `tohost` ends the run, prints
/// and asks for system calls by storing there. docs/models/htif.md.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/base/memory/guest_ram.h"
#include "models/base/memory/hart_memory.h"
#include "models/base/time/callback.h"
#include "models/riscv/core.h"
#include "models/uart/uart.h"
#include "platform/firmware/firmware.h"

namespace sluice::platform {

/// The host interface of one image of a cluster. It watches the page of the image's `tohost`. When a hart of the
/// cluster has stored there, it looks at the value after the hart's instruction, as if the store were an access to a
/// device.
class Htif final : private base::RamWatcher, private riscv::CoreObserver {
 public:
  struct Exit {
    std::uint64_t value;  ///< as stored
    std::string what;     ///< the end of a sentence that begins with the firmware: why it is a failure; empty: a pass
  };

  /// One for each image of the firmware that has a tohost in a memory of the board, in the order of the images.
  static std::vector<std::unique_ptr<Htif>> of(const Firmware&, base::HartMemory&,
                                               const std::vector<std::unique_ptr<riscv::Core>>&, uart::Uart&);

  /// Called each time the firmware ends the run. core: the hart that stored last.
  base::Callback<void(const Exit&, riscv::Core& core)> on_exit;

 private:
  Htif(const Image&, base::GuestRam&, std::uint64_t tohost, base::HartMemory&,
       const std::vector<std::unique_ptr<riscv::Core>>&, uart::Uart&);

  void ram_written(std::uint64_t address, std::uint64_t length) override;
  void page_watched(std::uint64_t) override {}
  std::uint64_t before(riscv::Core&) override { return kFree; }
  void after(riscv::Core&, riscv::StopReason) override;

  void look();
  void command(std::uint64_t value);
  bool system_call(std::uint64_t block);
  std::optional<std::uint64_t> write_text(std::uint64_t address, std::uint64_t length);
  void done(std::uint64_t answer);
  void end(std::uint64_t value, std::string what);
  std::uint64_t read(std::uint64_t address) const;
  void write(std::uint64_t address, std::uint64_t value);

  base::GuestRam& ram_;
  std::uint64_t tohost_;
  std::optional<std::uint64_t> fromhost_;
  base::HartMemory& memory_;
  std::vector<riscv::Core*> cores_;
  uart::Uart& uart_;
  riscv::Core* stored_by_ = nullptr;
  bool stored_ = false;    ///< a hart has stored to tohost in its present instruction
  bool complete_ = false;  ///< the upper half has been stored too
  bool answering_ = false;
  base::Calendar::Handle settling_;
};

}  // namespace sluice::platform
