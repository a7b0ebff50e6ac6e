// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Core-local interruptor: machine software and timer interrupts, and the machine's time (ACLINT MSWI and MTIMER).

#include <cstdint>
#include <vector>

#include "models/base/fabric/line.h"
#include "models/base/measure/statistics.h"
#include "models/base/parameters/quantity.h"
#include "models/base/parameters/schema.h"
#include "models/base/registers/register_bank.h"
#include "models/base/registers/register_socket.h"
#include "models/base/systemc/model.h"
#include "models/base/systemc/reset.h"

namespace sluice::irq {

using namespace base::literals;

/// mtime counts edges of the timebase clock since time 0, plus what software has added by writing it. A hart's timer
/// line rises at exactly the edge at which mtime reaches mtimecmp. Registers: clint_regs.h.
class Clint : public base::Model, public base::Resettable {
 public:
  struct Parameters {
    base::Frequency timebase = 10_MHz;  ///< of mtime
    static void describe(base::Schema<Parameters>&);
  };

  /// harts: 1 to 4095, numbered from 0.
  Clint(sc_core::sc_module_name, const Parameters&, unsigned harts);

  base::RegisterSocket socket;
  base::Line& software(unsigned hart) { return harts_[hart].software; }  ///< to mip.MSIP
  base::Line& timer(unsigned hart) { return harts_[hart].timer; }        ///< to mip.MTIP

  std::uint64_t mtime() const { return mtime_at(base::now()); }
  std::uint64_t mtime_at(base::Time t) const { return clock_.cycles_at(t) + written_; }

  void reset() override;

  base::RegisterBank& registers() { return registers_; }

 private:
  void register_statistics(base::StatisticsGroup&) override;
  struct Hart {
    base::Line software;
    base::Line timer;
    base::Calendar::Handle due;
  };

  void arm(unsigned hart);
  void write_mtime(const base::RegisterWrite&);

  base::Clock clock_;
  std::uint64_t last_cycle_;  ///< number of the last clock edge, at Time::max()
  std::uint64_t written_ = 0;
  base::RegisterBank registers_;  ///< msip and mtimecmp of each hart, mtime
  base::RegisterBank::Id mtimecmp_;
  std::vector<Hart> harts_;
  std::uint64_t timer_interrupts_ = 0;
};

}  // namespace sluice::irq
