// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Platform-level interrupt controller (RISC-V PLIC 1.0).

#include <cstdint>
#include <vector>

#include "models/base/fabric/interrupt_line.h"
#include "models/base/measure/statistics.h"
#include "models/base/parameters/schema.h"
#include "models/base/registers/register_bank.h"
#include "models/base/registers/register_socket.h"
#include "models/base/systemc/model.h"
#include "models/base/systemc/reset.h"

namespace sluice::irq {

using namespace base::literals;

/// Level-triggered sources behind gateways: a source that is high becomes pending; once claimed, it is not forwarded
/// again until it is completed, and then becomes pending again if it is still high. Each hart has two contexts.
/// Registers: plic_regs.h.
class Plic : public base::Model, public base::Resettable {
 public:
  struct Parameters {
    unsigned sources = 95;        ///< 1 to 1023; numbered from 1
    unsigned priorities = 7;      ///< highest priority: 1, 3, 7, ..., 255
    base::Time delivery = 20_ns;  ///< from a context to its hart's pipeline
    static void describe(base::Schema<Parameters>&);
  };

  /// harts: 1 to 64, numbered from 0.
  Plic(sc_core::sc_module_name, const Parameters&, unsigned harts);

  base::RegisterSocket socket;
  base::InterruptLine& machine(unsigned hart) { return contexts_[2 * hart].line; }         ///< to mip.MEIP
  base::InterruptLine& supervisor(unsigned hart) { return contexts_[2 * hart + 1].line; }  ///< to mip.SEIP

  /// Sets the level of a wire. source: 1 to Parameters::sources.
  void set_source(unsigned source, bool level);

  /// The wires keep their levels.
  void reset() override;

  base::RegisterBank& registers() { return registers_; }

 private:
  void register_statistics(base::StatisticsGroup&) override;
  using Words = std::vector<std::uint32_t>;  ///< a bit per source
  struct Context {
    base::InterruptLine line;
    base::RegisterBank::Id enable;
    base::RegisterBank::Id threshold;
    bool notified = false;
  };
  struct Best {
    unsigned source = 0;
    std::uint64_t priority = 0;
  };

  void add_context(unsigned number);
  void forward(unsigned source);
  Best best(const Context&) const;
  void update();
  std::uint64_t claim(Context&);
  void complete(Context&, std::uint64_t source);

  Parameters parameters_;
  base::RegisterBank registers_;  ///< priority, pending; enable, threshold and claim of each context
  base::RegisterBank::Id priority_;
  Words level_;
  Words pending_;
  Words claimed_;
  std::vector<Context> contexts_;
  std::uint64_t notifications_ = 0;
  std::uint64_t claims_ = 0;
  std::uint64_t empty_claims_ = 0;
  std::uint64_t bad_completions_ = 0;
};

}  // namespace sluice::irq
