// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The test finisher: how firmware ends a run.

#include <cstdint>
#include <optional>

#include "models/base/measure/statistics.h"
#include "models/base/registers/register_bank.h"
#include "models/base/registers/register_socket.h"
#include "models/base/systemc/model.h"
#include "models/base/systemc/reset.h"
#include "models/base/time/callback.h"

namespace sluice::irq {

/// Registers: finisher_regs.h. In a narrow write, the missing bits of the command are zero. Values that name no action
/// are ignored and counted.
class Finisher : public base::Model, public base::Resettable {
 public:
  enum class Kind { pass, fail, reset };  ///< the board decides what each verdict does
  struct Verdict {
    Kind kind;
    unsigned code;  ///< of a failure; else 0
  };

  explicit Finisher(sc_core::sc_module_name);

  base::RegisterSocket socket;
  /// Called for each verdict, inside finish() or inside the register write that gives the verdict.
  base::Callback<void(Verdict)> on_finish;
  /// Gives a verdict as a register write does, for code that ends a run in another way.
  void finish(Verdict);
  /// The first verdict given.
  const std::optional<Verdict>& verdict() const { return verdict_; }

  /// Forgets the verdict.
  void reset() override { verdict_.reset(); }

  base::RegisterBank& registers() { return registers_; }

 private:
  void register_statistics(base::StatisticsGroup&) override;
  void write(std::uint64_t value);

  base::RegisterBank registers_;  ///< control
  std::optional<Verdict> verdict_;
  std::uint64_t unknown_ = 0;
};

}  // namespace sluice::irq
