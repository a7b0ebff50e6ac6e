// SPDX-License-Identifier: Apache-2.0
#include "models/irq/plic.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "models/base/measure/mistakes.h"
#include "models/irq/plic_regs.h"
#include "models/irq/source_bits.h"

namespace sluice::irq {

void Plic::Parameters::describe(base::Schema<Parameters>& s) {
  s.summary("platform-level interrupt controller (PLIC 1.0)");
  s.add("sources", &Parameters::sources, "interrupt sources, numbered from 1")
      .range(1, PLIC_MAX_SOURCES)
      .unit("sources")
      .setting();
  s.add("priorities", &Parameters::priorities, "highest priority")
      .choices({1, 3, 7, 15, 31, 63, 127, 255})
      .unit("levels")
      .acts_with({"notifications"}, "no interrupt came")
      .setting();
  s.add("delivery", &Parameters::delivery, "from a context to its hart's pipeline")
      .range(0_ns, 100_us)
      .acts_with({"notifications"}, "no interrupt came")
      .assumed("as aplic.msi_latency");
}

Plic::Plic(sc_core::sc_module_name name, const Parameters& parameters, unsigned harts)
    : Model(name),
      socket("socket", registers_),
      parameters_(parameters),
      registers_(path(), PLIC_SIZE),
      level_(parameters.sources / 32 + 1),
      pending_(level_.size()),
      claimed_(level_.size()),
      contexts_(2 * std::size_t{harts}) {
  priority_ = registers_.add({.name = "priority",
                              .offset = PLIC_PRIORITY(1),
                              .write_mask = parameters_.priorities,
                              .count = parameters_.sources,
                              .on_write = [this](const base::RegisterWrite&) { update(); },
                              .first_element = 1});
  registers_.add({.name = "pending",
                  .offset = PLIC_PENDING(0),
                  .access = base::Access::ro,
                  .count = static_cast<unsigned>(pending_.size()),
                  .on_read = [this](unsigned word) { return pending_[word]; }});
  for (unsigned number = 0; number < contexts_.size(); ++number) add_context(number);
}

void Plic::register_statistics(base::StatisticsGroup& group) {
  group.counter("claims", "interrupts", "interrupts claimed", claims_);
  group.counter("empty_claims", "claims", "claims that found no interrupt", empty_claims_);
  group.counter("bad_completions", "completions", "completions of a source that the context has not enabled",
                bad_completions_);
  group.counter("notifications", "interrupts", "times that a context had an interrupt for its hart", notifications_);
  registers_.register_statistics(group);
}

void Plic::add_context(unsigned number) {
  Context& context = contexts_[number];
  context.line.set_delivery(parameters_.delivery, path());
  context.enable = registers_.add({.name = fmt::format("enable_context{}", number),
                                   .offset = PLIC_ENABLE(number, 0),
                                   .count = static_cast<unsigned>(pending_.size()),
                                   .on_write = [this](const base::RegisterWrite&) { update(); }});
  context.threshold = registers_.add({.name = fmt::format("threshold_context{}", number),
                                      .offset = PLIC_THRESHOLD(number),
                                      .write_mask = parameters_.priorities,
                                      .on_write = [this](const base::RegisterWrite&) { update(); }});
  registers_.add({.name = fmt::format("claim_context{}", number),
                  .offset = PLIC_CLAIM(number),
                  .on_read = [this, &context](unsigned) { return claim(context); },
                  .on_write = [this, &context](const base::RegisterWrite& w) { complete(context, w.written); },
                  .read_acts = true,
                  .on_peek = [this, &context](unsigned) { return best(context).source; }});
}

void Plic::reset() {
  registers_.reset();
  std::fill(pending_.begin(), pending_.end(), 0);
  std::fill(claimed_.begin(), claimed_.end(), 0);
  for (unsigned source = 1; source <= parameters_.sources; ++source) forward(source);
  update();
}

void Plic::set_source(unsigned source, bool level) {
  if (source == 0 || source > parameters_.sources) return;
  assign(level_, source, level);
  forward(source);
}

/// The gateway of a source forwards one request at a time. A request stays pending when the level falls.
void Plic::forward(unsigned source) {
  if (!test(level_, source) || test(claimed_, source) || test(pending_, source)) return;
  assign(pending_, source, true);
  update();
}

Plic::Best Plic::best(const Context& context) const {
  Best found;
  for (unsigned word = 0; word < pending_.size(); ++word) {
    auto bits = pending_[word] & static_cast<std::uint32_t>(registers_.value(context.enable, word));
    for (; bits != 0; bits &= bits - 1) {
      const unsigned source = 32 * word + static_cast<unsigned>(std::countr_zero(bits));
      const std::uint64_t priority = registers_.value(priority_, source - 1);
      if (priority > found.priority) found = {source, priority};
    }
  }
  return found;
}

void Plic::update() {
  for (Context& context : contexts_) {
    const bool level = best(context).priority > registers_.value(context.threshold);
    notifications_ += level && !context.notified;
    context.notified = level;
    context.line.set(level);
  }
}

std::uint64_t Plic::claim(Context& context) {
  const unsigned source = best(context).source;  // the threshold does not matter here
  if (source == 0) {
    ++empty_claims_;
    return 0;
  }
  ++claims_;
  assign(pending_, source, false);
  assign(claimed_, source, true);
  update();
  return source;
}

void Plic::complete(Context& context, std::uint64_t source) {
  const bool enabled = source != 0 && source <= parameters_.sources &&
                       (registers_.value(context.enable, static_cast<unsigned>(source / 32)) >> (source % 32) & 1) != 0;
  const auto number = static_cast<std::size_t>(&context - contexts_.data());
  if (!enabled) {
    ++bad_completions_;
    base::mistakes().report(fmt::format("{}: completion of source {} by context {}, which has not enabled it: ignored",
                                        path(), source, number));
    return;
  }
  if (!test(claimed_, static_cast<unsigned>(source)))
    base::mistakes().report(
        fmt::format("{}: completion of source {} by context {}, which nobody has claimed", path(), source, number));
  assign(claimed_, static_cast<unsigned>(source), false);
  forward(static_cast<unsigned>(source));
}

}  // namespace sluice::irq
