// SPDX-License-Identifier: Apache-2.0
#include "tests/multihart/recorder.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/riscv/iss/decode/decode.h"

namespace sluice::multihart {

using base::GuestRam;
using riscv::Opcode;

class Recorder::Writes final : public base::RamWatcher {
 public:
  explicit Writes(Recorder& recorder) : recorder_(recorder) {}
  void ram_written(std::uint64_t address, std::uint64_t length) override {
    recorder_.accessed(address, static_cast<unsigned>(length), true);
  }
  void page_watched(std::uint64_t) override {}
  bool needs_watch(std::uint64_t, std::uint8_t why) const override { return why == GuestRam::kWatchpoint; }

 private:
  Recorder& recorder_;
};

/// Lets a hart do one instruction at a time, to know when each starts.
class Recorder::Steps final : public riscv::CoreObserver {
 public:
  std::uint64_t before(riscv::Core& core) override {
    if (core.hart().state().pc != pc_) started_ = core.hart().state().slots;
    pc_ = core.hart().state().pc;
    const Time now = core.slot_clock().time_of(core.hart().state().slots);
    if (!core.hart().engine().between_timing_points()) batch_began_ = now;
    longest_batch_ = std::max(longest_batch_, now - batch_began_);
    return kOneEvent;
  }
  void after(riscv::Core&, riscv::StopReason reason) override {
    // slot_limit: a fetch has missed, and the run has ended in front of its instruction.
    if (reason != riscv::StopReason::slot_limit) pc_ = ~std::uint64_t{0};
  }
  std::uint64_t started() const { return started_; }
  std::uint64_t pc() const { return pc_; }
  Time longest_batch() const { return longest_batch_; }

 private:
  Time batch_began_, longest_batch_;
  std::uint64_t pc_ = ~std::uint64_t{0}, started_ = 0;
};

Recorder::Recorder(Machine& machine) : machine_(machine), bytes_(RandomProgram::kSharedBytes) {
  writes_ = std::make_unique<Writes>(*this);
  machine.ram.add_watcher(writes_.get());
  for (std::uint64_t page = RandomProgram::kShared; page < RandomProgram::kShared + RandomProgram::kSharedBytes;
       page += RandomProgram::kSharedBytes / 2) {
    machine.ram.set_watch(page, GuestRam::kWatchpoint);
    machine.ram.set_watch(page, GuestRam::kReadWatch);
  }
  for (auto& core : machine.cores) {
    core->hart().on_watched_read([this](std::uint64_t address, unsigned length) { accessed(address, length, false); });
    steps_.push_back(std::make_unique<Steps>());
    core->observe(*steps_.back());
  }
}

Recorder::~Recorder() = default;

Time Recorder::longest_batch() const {
  Time longest;
  for (const auto& steps : steps_) longest = std::max(longest, steps->longest_batch());
  return longest;
}

void Recorder::accessed(std::uint64_t address, unsigned length, bool write) {
  const std::uint64_t end = RandomProgram::kShared + RandomProgram::kSharedBytes;
  if (address + length <= RandomProgram::kShared || address >= end) return;
  Access a;
  a.write = write;
  a.address = address;
  a.length = length;
  if (const base::Runner* runner = machine_.scheduler.running()) {
    while (machine_.cores[++a.by]->path() != runner->path()) {
    }
    riscv::Core& core = *machine_.cores[a.by];
    std::uint32_t word = 0;
    machine_.ram.read(steps_[a.by]->pc(), &word, 4);
    const Opcode op = riscv::decode(word).op;
    a.atomic = op >= Opcode::lr_w && op <= Opcode::amo_d;
    a.reserves = op == Opcode::lr_w || op == Opcode::lr_d;
    a.conditional = write && (op == Opcode::sc_w || op == Opcode::sc_d);
    a.earliest = core.slot_clock().time_of(steps_[a.by]->started());
    a.latest = core.slot_clock().time_of(core.hart().state().slots);
    if (!machine_.memory.cached()) a.earliest = a.latest;
  } else {
    a.earliest = a.latest = base::now();
  }
  std::vector<std::uint8_t> now(length);
  machine_.ram.read(address, now.data(), length);
  std::uint8_t* known = &bytes_[address - RandomProgram::kShared];
  if (write)
    std::copy(now.begin(), now.end(), known);
  else if (surprise_.empty() && !std::equal(now.begin(), now.end(), known))
    surprise_ = fmt::format("hart {} loads {} bytes at {:#x} at {} ns, and they are not those of the last write", a.by,
                            length, address, a.latest.nanoseconds());
  accesses_.push_back(a);
}

}  // namespace sluice::multihart
