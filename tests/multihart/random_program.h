// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Random programs of harts that share memory: loads and stores of every size, aligned or not, LR, SC and AMO, waits on
/// reservations, timers, messages to each other, accesses to devices, delays, and DMA writes and stops in between.
/// Every program ends.

#include <cstdint>
#include <vector>

#include "tests/multihart/machine.h"

namespace sluice::multihart {

struct RandomProgram {
  struct DmaWrite {
    Time at;
    std::uint64_t address;
    std::uint64_t value;  ///< 8 bytes
  };
  /// The hart executes nothing for so long, as under a debugger or by a fault.
  struct Stop {
    Time at;
    unsigned hart;
    Time length;
  };

  /// Where all harts read and write: two lines at the end of a page and two at the start of the next.
  static constexpr std::uint64_t kShared = Machine::kData + base::GuestRam::kPage - 128, kSharedBytes = 256;
  /// Each hart's own memory, for what it has loaded.
  static constexpr std::uint64_t kOwn = Machine::kData + 0x1'0000, kOwnBytes = 0x1000;
  /// Devices (target.h): one that is called as Sluice's own, and a plain SystemC module, which waits.
  static constexpr std::uint64_t kOwnDevice = 0x4000'0000, kForeignDevice = 0x4000'1000;
  /// No program runs longer.
  static constexpr Time kLongest = Time::us(200);

  MachineParameters machine;
  std::vector<Code> code;     ///< of each hart
  std::vector<Code> handler;  ///< of its traps
  std::vector<DmaWrite> dma;
  std::vector<Stop> stops;

  /// The same program for the same numbers, on every host.
  static RandomProgram draw(std::uint64_t seed, std::uint64_t index);
  void load(Machine&) const;
  /// Address of the last instruction, a branch back to wfi. A hart that is done sleeps with its pc there or above.
  std::uint64_t end(unsigned hart) const {
    return Machine::kRam + hart * Machine::kCodeBytes + (code[hart].words.size() - 1) * 4;
  }
};

}  // namespace sluice::multihart
