// SPDX-License-Identifier: Apache-2.0
#include "models/accel/dma_requester/dma_requester.h"

#include <algorithm>
#include <cstring>

namespace sluice::accel {

using base::Time;

namespace {

pcie::Endpoint::Function function() {
  pcie::Endpoint::Function f;
  f.identity = {DMAR_VENDOR_ID, DMAR_DEVICE_ID, DMAR_CLASS_CODE, 1, DMAR_VENDOR_ID, DMAR_DEVICE_ID};
  f.bars[DMAR_BAR_REGISTERS] = {pcie::Bar::Kind::kMemory64, true, DMAR_BAR0_SIZE};
  return f;
}

Time interval(std::uint64_t per_second) {
  constexpr std::uint64_t kSecond = 1'000'000'000'000'000;
  return per_second ? Time::fs((kSecond + per_second / 2) / per_second) : Time{};
}

std::uint64_t whole_nanoseconds(std::uint64_t fs) { return fs / 1'000'000; }

}  // namespace

void DmaRequesterParameters::describe(base::Schema<DmaRequesterParameters>& s) {
  using P = DmaRequesterParameters;
  s.summary("endpoint that issues DMA on command");
  s.add("engine_latency", &P::engine_latency, "from a command's issue at the DMA engine to its first TLP's pipeline")
      .range(0_ns, 10_us)
      .assumed("an engine whose commands need no staging");
  s.add("read_rate", &P::read_rate, "reads that the DMA engine starts per second; 0: no cap")
      .range(0, 1'000'000'000)
      .unit("1/s")
      .acts_with({"reads_held", "writes_held"}, "nothing waited for the engine to start the one before it")
      .assumed("an engine faster than its link");
  s.add("write_rate", &P::write_rate, "writes that the DMA engine starts per second; 0: no cap")
      .range(0, 1'000'000'000)
      .unit("1/s")
      .acts_with({"reads_held", "writes_held"}, "nothing waited for the engine to start the one before it")
      .assumed("an engine faster than its link");
  s.include("pcie", &P::pcie);
}

DmaRequester::DmaRequester(sc_core::sc_module_name name, const Parameters& p, base::RandomSeed seed)
    : Endpoint(name, p.pcie, function()),
      parameters_(p),
      random_(seed, path(), "address"),
      bank_(path(), DMAR_BAR0_SIZE),
      read_interval_(interval(p.read_rate)),
      write_interval_(interval(p.write_rate)) {
  declare_registers();
}

// ---------------------------------------------------------------------------------------------------------- registers

base::RegisterBank::Id DmaRequester::setting(const char* name, std::uint64_t offset, unsigned width) {
  return bank_.add({.name = name, .offset = offset, .width = width, .halves = width == 8});
}

void DmaRequester::declare_registers() {
  const auto shown = [this](const char* name, std::uint64_t offset, base::RegisterDeclaration::ReadCallback value,
                            unsigned width = 4) {
    bank_.add({.name = name,
               .offset = offset,
               .width = width,
               .access = base::Access::ro,
               .halves = width == 8,
               .on_read = std::move(value)});
  };
  shown("revision", DMAR_REVISION, [](unsigned) { return DMAR_REVISION_1; });
  bank_.add({.name = "control",
             .offset = DMAR_CONTROL,
             .access = base::Access::wo,
             .on_write = [this](const base::RegisterWrite& w) { control(w.value); }});
  shown("status", DMAR_STATUS, [this](unsigned) { return status(); });
  shown("error", DMAR_ERROR, [this](unsigned) { return error_; });
  operation_ = setting("operation", DMAR_OPERATION);
  pattern_ = setting("pattern", DMAR_PATTERN);
  interface_ = setting("interface", DMAR_INTERFACE);
  label_ = setting("label", DMAR_LABEL);
  window_ = setting("window", DMAR_WINDOW, 8);
  window_size_ = setting("window_size", DMAR_WINDOW_SIZE, 8);
  size_ = setting("size", DMAR_SIZE);
  unit_ = setting("unit", DMAR_UNIT);
  offset_ = setting("offset", DMAR_OFFSET);
  outstanding_ = setting("outstanding", DMAR_OUTSTANDING);
  warmup_ = setting("warmup", DMAR_WARMUP);
  count_ = setting("count", DMAR_COUNT);
  record_ = setting("record", DMAR_RECORD, 8);
  shown("completed", DMAR_COMPLETED, [this](unsigned) { return run_.completed; });
  shown("failed", DMAR_FAILED, [this](unsigned) { return run_.failed; });
  shown(
      "elapsed", DMAR_ELAPSED,
      [this](unsigned) { return run_.to > run_.from ? whole_nanoseconds((run_.to - run_.from).femtoseconds()) : 0; },
      8);
  shown(
      "latency_sum", DMAR_LATENCY_SUM,
      [this](unsigned) { return static_cast<std::uint64_t>(run_.latency.sum() / 1'000'000); }, 8);
  shown("latency_min", DMAR_LATENCY_MIN,
        [this](unsigned) { return run_.latency.count() ? whole_nanoseconds(run_.latency.min()) : 0; });
  shown("latency_max", DMAR_LATENCY_MAX, [this](unsigned) { return whole_nanoseconds(run_.latency.max()); });
}

void DmaRequester::mmio_read(unsigned, std::uint64_t offset, unsigned size, pcie::MmioReply reply) {
  std::uint64_t value = 0;
  if (size > sizeof value || bank_.read(offset, &value, size) != base::Answer::ok) return reply.unsupported();
  reply.value(value);
}

void DmaRequester::mmio_write(unsigned, std::uint64_t offset, std::span<const std::uint8_t> data,
                              const base::Journey&) {
  // Software cannot change a command while it runs.
  if (busy_ && offset != DMAR_CONTROL) {
    ++ignored_;
    return;
  }
  if (data.size() > 8) {
    ++ignored_;
    return;
  }
  bank_.write(offset, data.data(), static_cast<unsigned>(data.size()));
}

std::uint32_t DmaRequester::status() const {
  return (busy_ ? DMAR_STATUS_BUSY : 0) | (done_ ? DMAR_STATUS_DONE : 0) |
         (error_ != DMAR_ERROR_NONE ? DMAR_STATUS_ERROR : 0) | (run_.failed ? DMAR_STATUS_FAILED : 0);
}

void DmaRequester::control(std::uint64_t value) {
  if (value & DMAR_CONTROL_STOP) stopping_ = true;
  if (!(value & DMAR_CONTROL_START)) return;
  if (busy_) {
    ++ignored_;
    return;
  }
  start();
}

void DmaRequester::function_reset() {
  ++generation_;
  bank_.reset();
  engine_ = base::Server();
  run_ = {};
  busy_ = done_ = stopping_ = draining_ = false;
  error_ = DMAR_ERROR_NONE;
}

// ----------------------------------------------------------------------------------------------------------- commands

/// Reads the command from the registers into r. Returns DMAR_ERROR_NONE, or why the command is invalid.
std::uint32_t DmaRequester::load(Run& r) const {
  const auto word = [this](base::RegisterBank::Id id) { return static_cast<std::uint32_t>(bank_.value(id)); };
  r.operation = word(operation_);
  r.pattern = word(pattern_);
  r.interface = word(interface_);
  r.label = word(label_);
  r.window = bank_.value(window_);
  r.window_size = bank_.value(window_size_);
  r.size = word(size_);
  r.unit = word(unit_);
  r.offset = word(offset_);
  r.outstanding = word(outstanding_);
  r.warmup = word(warmup_);
  r.count = word(count_);
  r.record = bank_.value(record_);
  if (r.operation >= DMAR_OPERATIONS || r.pattern > DMAR_RANDOM || r.interface > DMAR_DIRECT)
    return DMAR_ERROR_OPERATION;
  if (r.size == 0 || r.size > DMAR_SIZE_MAX) return DMAR_ERROR_SIZE;
  if (std::uint64_t{r.offset} + r.size > r.unit) return DMAR_ERROR_UNIT;
  if (r.window_size < r.unit || r.window + r.window_size < r.window) return DMAR_ERROR_WINDOW;
  if (r.outstanding == 0 || r.outstanding > DMAR_OUTSTANDING_MAX) return DMAR_ERROR_OUTSTANDING;
  if (r.count == 0) return DMAR_ERROR_COUNT;
  return config().bus_master() ? DMAR_ERROR_NONE : DMAR_ERROR_BUS_MASTER;
}

void DmaRequester::start() {
  Run r{};
  error_ = load(r);
  done_ = stopping_ = draining_ = false;
  run_ = std::move(r);
  if (error_ != DMAR_ERROR_NONE) {
    ++refused_;
    return;
  }
  ++commands_;
  started_by_ = base::access_site();
  busy_ = true;
  slots_ = run_.window_size / run_.unit;
  next_slot_ = issued_ = ended_ = 0;
  transactions_under_way_.assign(run_.outstanding, {});
  free_.clear();
  for (std::uint32_t n = run_.outstanding; n-- > 0;) free_.push_back(n);
  buffer_.resize(run_.size);
  start_counting();
  issue();
}

void DmaRequester::start_counting() {
  run_.from = run_.to = base::now();
  run_.engine_busy = engine_.busy();
  if (!port().link()) return;
  run_.up_busy = port().link()->up().statistics().busy;
  run_.down_busy = port().link()->down().statistics().busy;
}

std::uint64_t DmaRequester::next_address() {
  std::uint64_t slot = 0;
  if (run_.pattern == DMAR_RANDOM) {
    slot = random_.below(slots_);
  } else {
    slot = next_slot_;
    next_slot_ = next_slot_ + 1 == slots_ ? 0 : next_slot_ + 1;
  }
  return run_.window + slot * run_.unit + run_.offset;
}

/// Returns when a DMA that is issued now starts. Unless the interface is direct, reserves the engine for it.
Time DmaRequester::start_of(std::uint32_t operation) {
  if (run_.interface == DMAR_DIRECT) return base::now();
  const bool read = operation == DMAR_READ;
  const Time start = engine_.reserve_for(read ? read_interval_ : write_interval_).start;
  (read ? reads_held_ : writes_held_) += start > base::now();
  return start + parameters_.engine_latency;
}

/// Issues as many transactions as may be under way.
void DmaRequester::issue() {
  while (!free_.empty() && !stopping_) {
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    transactions_under_way_[slot] = {next_address(), base::now(), ++issued_, false};
    const bool twice = run_.operation == DMAR_WRITE_READ;
    const Time first = start_of(run_.operation == DMAR_READ ? DMAR_READ : DMAR_WRITE);
    base::calendar().at(first, key(), [this, slot, g = generation_] { launch(slot, g, false); });
    if (!twice) continue;
    base::calendar().at(start_of(DMAR_READ), key(), [this, slot, g = generation_] { launch(slot, g, true); });
  }
}

void DmaRequester::launch(std::uint32_t slot, unsigned generation, bool second) {
  if (generation != generation_) return;
  if (run_.operation == DMAR_READ || second)
    read(slot);
  else
    write(slot);
}

/// The bytes of every transaction differ, so that a read that returns another transaction's bytes is detected.
void DmaRequester::fill(std::uint64_t pattern) {
  for (std::size_t i = 0; i < buffer_.size(); i += 8) {
    const std::uint64_t word = (pattern + i) * 0x9e37'79b9'7f4a'7c15;
    std::memcpy(buffer_.data() + i, &word, std::min<std::size_t>(8, buffer_.size() - i));
  }
}

bool DmaRequester::is_filled(std::uint64_t pattern, std::span<const std::uint8_t> bytes) const {
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    const std::uint64_t word = (pattern + i) * 0x9e37'79b9'7f4a'7c15;
    if (std::memcmp(bytes.data() + i, &word, std::min<std::size_t>(8, bytes.size() - i)) != 0) return false;
  }
  return true;
}

void DmaRequester::write(std::uint32_t slot) {
  Transaction& t = transactions_under_way_[slot];
  fill(t.pattern);
  pcie::DmaOptions options;
  options.by = started_by_;
  options.content = pcie::Content::kPayload;
  const bool last = run_.operation == DMAR_WRITE;
  WriteSent sent;
  if (last)
    sent = [this, slot, g = generation_](const pcie::DmaSent&) {
      if (g == generation_) end(slot);
    };
  if (dma_write(t.address, buffer_, options, std::move(sent))) return;
  t.failed = true;
  if (last) end(slot);
}

void DmaRequester::read(std::uint32_t slot) {
  pcie::DmaOptions options;
  options.by = started_by_;
  options.content = pcie::Content::kPayload;
  dma_read(transactions_under_way_[slot].address, run_.size, options,
           [this, slot, g = generation_](const pcie::DmaCompletion& c) {
             if (g != generation_) return;
             Transaction& t = transactions_under_way_[slot];
             t.failed |= c.status != pcie::DmaStatus::kOk;
             if (run_.operation == DMAR_WRITE_READ && run_.outstanding == 1 && !t.failed)
               t.failed = !is_filled(t.pattern, c.data);
             end(slot);
           });
}

void DmaRequester::end(std::uint32_t slot) {
  const Transaction& t = transactions_under_way_[slot];
  ++transactions_;
  failures_ += t.failed;
  free_.push_back(slot);
  if (!draining_) {
    count(t);
    if (ended_ == run_.warmup + run_.count || stopping_)
      stop_counting();
    else
      issue();
  }
  if (draining_ && free_.size() == run_.outstanding) finish();
}

void DmaRequester::count(const Transaction& t) {
  if (++ended_ <= run_.warmup) {
    if (ended_ == run_.warmup) start_counting();
    return;
  }
  run_.to = base::now();
  if (t.failed) {
    ++run_.failed;
  } else {
    ++run_.completed;
    run_.latency.add((base::now() - t.issued).femtoseconds());
  }
}

/// Ends the counting. Until the last counted transaction has ended, new ones are issued, so that the pipeline stays
/// full. Those that are still under way when it ends are not counted.
void DmaRequester::stop_counting() {
  draining_ = true;
  run_.engine_busy = engine_.busy() - run_.engine_busy;
  if (!port().link()) return;
  run_.up_busy = port().link()->up().statistics().busy - run_.up_busy;
  run_.down_busy = port().link()->down().statistics().busy - run_.down_busy;
}

void DmaRequester::finish() {
  busy_ = false;
  done_ = true;
  if (runs_.size() < kMostRuns)
    runs_.push_back(run_);
  else
    ++runs_left_out_;
  if (run_.record == 0) return;
  const dmar_record record{status(), run_.label, static_cast<std::uint32_t>(run_.completed),
                           static_cast<std::uint32_t>(run_.failed)};
  std::uint8_t bytes[sizeof record];
  std::memcpy(bytes, &record, sizeof record);
  pcie::DmaOptions options;
  options.by = started_by_;
  dma_write(run_.record, bytes, options);
}

void DmaRequester::register_statistics(base::StatisticsGroup& group) {
  group.counter("commands", "commands", "started", commands_);
  group.counter("commands_refused", "commands", "that were none: DMAR_ERROR", refused_);
  group.counter("writes_ignored", "accesses", "to registers while a command ran, or too long", ignored_);
  group.counter("transactions", "transactions", "ended, warm-ups included", transactions_);
  group.counter("transactions_failed", "transactions", "of those, with an error or with other bytes than written",
                failures_);
  group.counter("reads_held", "reads", "that waited for the engine to start the one before", reads_held_);
  group.counter("writes_held", "writes", "likewise", writes_held_);
  group.counter("runs_left_out", "commands", "whose results were not kept: too many", runs_left_out_);
  bank_.register_statistics(group);
}

}  // namespace sluice::accel
