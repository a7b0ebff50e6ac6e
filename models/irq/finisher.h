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

/// Registers: finisher_regs.h. A narrow write is the command with zeroes in the bits that it leaves out. Values that
/// name no action are ignored and counted.
class Finisher : public base::Model, public base::Resettable {
 public:
  enum class Kind { pass, fail, reset };  ///< what follows is the board's choice
  struct Verdict {
    Kind kind;
    unsigned code;  ///< of a failure; else 0
  };

  explicit Finisher(sc_core::sc_module_name);

  base::RegisterSocket socket;
  /// Called for each verdict, inside the write of it or finish().
  base::Callback<void(Verdict)> on_finish;
  /// As a write of it. For who ends a run in another way.
  void finish(Verdict);
  /// The first one given.
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
