// SPDX-License-Identifier: Apache-2.0
#include "tests/multihart/disturbances.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "tests/unit/fresh_kernel.h"

namespace sluice::multihart {
namespace {

struct SingleSteps final : riscv::CoreObserver {
  std::uint64_t before(riscv::Core&) override { return kOneEvent; }
  void after(riscv::Core&, riscv::StopReason) override {}
};

struct Ticking : sc_core::sc_module {
  SC_HAS_PROCESS(Ticking);
  Ticking(const sc_core::sc_module_name& name) : sc_module(name) { SC_THREAD(tick); }
  void tick() {
    // The ticks end, so that a run can end for want of events.
    for (unsigned n = 0; n < 300; ++n) wait(sc_core::sc_time(13.37, sc_core::SC_NS));
  }
};

std::string state_of(Machine& m) {
  std::string text;
  for (auto& core : m.cores) {
    const riscv::HartState& s = core->hart().state();
    text += fmt::format("{}: pc {:#x}, {} instructions, {} slots, {} traps, {} interrupts\n", core->path(), s.pc,
                        s.instret, s.slots, core->hart().counters().traps, core->hart().counters().interrupts);
    for (unsigned r = 1; r < 32; ++r) text += fmt::format("{}: x{} {:#x}\n", core->path(), r, s.x[r]);
  }
  const std::uint64_t end = RandomProgram::kOwn + m.cores.size() * RandomProgram::kOwnBytes;
  for (std::uint64_t at = Machine::kData; at < end; at += 8)
    if (const std::uint64_t word = m.word(at); word != 0) text += fmt::format("{:#x}: {:#x}\n", at, word);
  return text;
}

}  // namespace

const char* name_of(Disturbance d) {
  switch (d) {
    case Disturbance::recorded:
      return "recorded";
    case Disturbance::none:
      return "undisturbed";
    case Disturbance::entries:
      return "with other entries";
    case Disturbance::steps:
      return "in single steps";
    case Disturbance::slices:
      return "in slices";
    case Disturbance::foreign:
      return "beside a foreign module";
  }
  return "";
}

Run::Run(const RandomProgram& program, Disturbance disturbance) {
  fresh_kernel();
  machine_ = std::make_unique<Machine>(program.machine);
  Machine& m = *machine_;
  std::unique_ptr<Ticking> foreign;
  SingleSteps steps;
  own_ = std::make_unique<Target>("own_device", m, true, RandomProgram::kOwnDevice);
  foreign_ = std::make_unique<Target>("foreign_device", m, false, RandomProgram::kForeignDevice);
  foreign_->busy = [](std::uint64_t number) { return number % 3 == 0 ? Time{} : Time::ps(number * 7'919 % 150'011); };
  program.load(m);
  if (disturbance == Disturbance::recorded) recorder_ = std::make_unique<Recorder>(m);
  if (disturbance == Disturbance::entries) m.disturb(Time::ps(9'173), 4_us);
  if (disturbance == Disturbance::foreign) foreign = std::make_unique<Ticking>("foreign");
  if (disturbance == Disturbance::steps)
    for (auto& core : m.cores) core->observe(steps);
  if (disturbance == Disturbance::slices)
    for (Time t = 70_ns; t < 4_us; t += 70_ns) m.scheduler.run_until(t);
  m.scheduler.run_until(RandomProgram::kLongest);
  if (!m.scheduler.only_entries() || base::calendar().size() != 0) trouble_ = "the program does not end";
  for (unsigned h = 0; h < m.cores.size(); ++h)
    if (m.cores[h]->hart().state().pc < program.end(h)) trouble_ = fmt::format("hart {} waits for ever", h);
  if (base::calendar().late() != 0)
    trouble_ = fmt::format("an entry for {} ns was made at {} ns", base::calendar().first_late().when.nanoseconds(),
                           base::calendar().first_late().made.nanoseconds());
  result_ = state_of(m);
  for (const Target* device : {own_.get(), foreign_.get()}) {
    if (!std::is_sorted(device->came.begin(), device->came.end()))
      trouble_ = fmt::format("accesses to {} come against time", device->name());
    for (const Time t : device->came) result_ += fmt::format("{}: access at {} fs\n", device->name(), t.femtoseconds());
  }
}

Run::~Run() = default;

std::string first_difference(const std::string& expected, const std::string& other) {
  std::istringstream a(expected), b(other);
  std::string line_a, line_b;
  while (std::getline(a, line_a))
    if (!std::getline(b, line_b) || line_a != line_b) return fmt::format("\"{}\", not \"{}\"", line_b, line_a);
  return std::getline(b, line_b) ? fmt::format("\"{}\" is too much", line_b) : "";
}

}  // namespace sluice::multihart
