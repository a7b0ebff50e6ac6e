// SPDX-License-Identifier: Apache-2.0
#include "models/irq/finisher.h"

#include <fmt/format.h>

#include "models/base/measure/mistakes.h"
#include "models/irq/finisher_regs.h"

namespace sluice::irq {

Finisher::Finisher(sc_core::sc_module_name name)
    : Model(name), socket("socket", registers_), registers_(path(), FINISHER_SIZE) {
  registers_.add({.name = "control",
                  .offset = FINISHER_CONTROL,
                  .write_mask = 0,
                  .narrow = true,
                  .on_write = [this](const base::RegisterWrite& w) { write(w.written); }});
}

void Finisher::register_statistics(base::StatisticsGroup& group) {
  group.counter("unknown_commands", "writes", "values written that name no action", unknown_);
  registers_.register_statistics(group);
}

void Finisher::write(std::uint64_t value) {
  Verdict verdict{Kind::pass, 0};
  switch (value & FINISHER_COMMAND) {
    case FINISHER_PASS:
      break;
    case FINISHER_FAIL:
      verdict = {Kind::fail, static_cast<unsigned>(value >> FINISHER_CODE_SHIFT)};
      break;
    case FINISHER_RESET:
      verdict.kind = Kind::reset;
      break;
    default:
      ++unknown_;
      base::mistakes().report(fmt::format("{}: {:#x} names no action: ignored", path(), value));
      return;
  }
  finish(verdict);
}

void Finisher::finish(Verdict verdict) {
  if (!verdict_) verdict_ = verdict;
  if (on_finish) on_finish(verdict);
}

}  // namespace sluice::irq
