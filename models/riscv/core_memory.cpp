// SPDX-License-Identifier: Apache-2.0
/// A core's accesses to what lies outside its L1: devices, lines with homes of their own, and memory.

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "models/base/systemc/brought_request.h"
#include "models/base/systemc/deferred_read.h"
#include "models/base/time/access_time.h"
#include "models/riscv/core.h"

namespace sluice::riscv {

using base::Time;

namespace {

/// A payload must not have it any more when it ends, also when a target throws.
template <class E>
class ExtensionScope {
 public:
  ExtensionScope(tlm::tlm_generic_payload& payload, E& extension) : payload_(payload), extension_(extension) {
    payload.set_extension(&extension);
  }
  ~ExtensionScope() { payload_.clear_extension(&extension_); }
  ExtensionScope(const ExtensionScope&) = delete;
  ExtensionScope& operator=(const ExtensionScope&) = delete;

 private:
  tlm::tlm_generic_payload& payload_;
  E& extension_;
};

}  // namespace

bool Core::access(tlm::tlm_command command, std::uint64_t address, unsigned char* data, unsigned size) {
  const std::uint64_t reports = base::mistakes().reports();
  const bool load = command == tlm::TLM_READ_COMMAND;
  base::Site by = site();
  if (load) by.load = device_load_.begin();
  Time delay;
  tlm::tlm_generic_payload trans;
  base::BroughtRequest brought;
  const ExtensionScope scope(trans, brought);
  const bool done = call_bus(trans, command, address, data, size, by, delay);
  stall(runner_.time() + delay);
  if (load) {
    count_parked();
    device_load_.end();
    note_brought(address, brought.id);
  }
  if (!done) fail_access(fmt::format("{} of {} bytes", load ? "load" : "store", size).c_str(), address, by, reports);
  return done;
}

std::optional<std::uint64_t> Core::post(std::uint64_t address, const void* data, unsigned size, std::uint64_t slot) {
  return hand_over(address, data, size, slot, parameters_.core.posted_store);
}

/// Hands a store over before its time. Only what the hart must wait for before the target takes the store is a stall.
/// accepted: how long the target takes beyond the bus. Returns the slot in which it has taken the store.
std::optional<std::uint64_t> Core::hand_over(std::uint64_t address, const void* data, unsigned size, std::uint64_t slot,
                                             Time accepted) {
  const std::uint64_t reports = base::mistakes().reports();
  const base::Site by = site();
  const Time leaves = slot_clock_.time_of(slot);
  Time delay;
  bool done = false;
  {
    const base::AccessTimeScope when(leaves);
    done = call_bus(tlm::TLM_WRITE_COMMAND, address, static_cast<unsigned char*>(const_cast<void*>(data)), size, by,
                    delay);
  }
  stall(runner_.time());
  if (!done) {
    fail_access(fmt::format("store of {} bytes", size).c_str(), address, by, reports);
    return {};
  }
  return slot_clock_.next_cycle(std::max(leaves, runner_.time()) + delay + accepted);
}

/// Returns whether the target has answered well. delay: how much longer than until now() the access takes.
bool Core::call_bus(tlm::tlm_command command, std::uint64_t address, unsigned char* data, unsigned size,
                    const base::Site& by, Time& delay) {
  tlm::tlm_generic_payload trans;
  return call_bus(trans, command, address, data, size, by, delay);
}

bool Core::call_bus(tlm::tlm_generic_payload& trans, tlm::tlm_command command, std::uint64_t address,
                    unsigned char* data, unsigned size, const base::Site& by, Time& delay) {
  ++device_accesses_;
  suspended_ = true;
  trans.set_command(command);
  trans.set_address(address);
  trans.set_data_ptr(data);
  trans.set_data_length(size);
  trans.set_streaming_width(size);
  sc_core::sc_time annotated;
  {
    const base::AccessSiteScope scope(by);
    socket->b_transport(trans, annotated);
  }
  suspended_ = false;
  delay = base::from_sc_time(annotated);
  return trans.is_response_ok();
}

/// Counts a failed access and reports it, unless a device has reported why. reports: number of reports before the
/// access.
void Core::fail_access(const char* access, std::uint64_t address, const base::Site& by, std::uint64_t reports) {
  ++bus_errors_;
  if (base::mistakes().reports() != reports) return;
  base::mistakes().report(fmt::format("{}: {} at {:#x}: access fault, {}", path(), access, address, place_of(address)),
                          by);
}

/// The end of a sentence about an access that has failed.
std::string Core::place_of(std::uint64_t address) const {
  const std::string place = on_name_place ? on_name_place(address) : std::string();
  return place.empty() ? "neither memory nor a device is there" : place + " does not take it";
}

void Core::refused(Refusal why, std::uint64_t pc, std::uint64_t address, unsigned size) {
  publish_time();
  const base::Site by = site_at(pc);
  const auto report = [&](const std::string& what) { base::mistakes().report(path() + ": " + what, by); };
  const auto access = [&](const char* kind, const std::string& cause) {
    report(fmt::format("{} of {} bytes at {:#x}: {}", kind, size, address, cause));
  };
  const std::string place = on_name_place ? on_name_place(address) : std::string();
  const std::string there = place.empty() ? "neither memory nor a device is there" : place + " is a device";
  switch (why) {
    case Refusal::misaligned_device:
      return access("access", fmt::format("access fault, {}, and outside memory an address must be a multiple of the "
                                          "size",
                                          there));
    case Refusal::crossing:
      return access("access", "access fault, it reaches across the end of memory");
    case Refusal::atomic_device:
      return access("atomic access", fmt::format("access fault, {}, and only memory takes atomics", there));
    case Refusal::atomic_misaligned:
      return access("atomic access", "the address is not a multiple of the size");
    case Refusal::fetch:
      return report(fmt::format("jump to {:#x}: access fault, {}", address,
                                place.empty() ? there : there + ", and instructions come from memory"));
    case Refusal::protection:
      return access("access",
                    "access fault, physical memory protection forbids it or a page table lies outside memory");
    case Refusal::zeroed_device:
      return access("cbo.zero", fmt::format("access fault, {}, and only memory takes it", there));
    case Refusal::uncached_line:
      return access("access", fmt::format("access fault, {} gives its lines to caches only, and the page has a "
                                          "type",
                                          place.empty() ? "the home" : place));
    case Refusal::illegal:
      return report(fmt::format("{:#0{}x} is no instruction here", address, 2 + 2 * size));
  }
}

void Core::stale_code() {
  publish_time();
  base::mistakes().report(fmt::format("{}: runs code that it has changed since its last fence.i", path()),
                          site_at(hart_.state().pc));
  base::calendar().leave_now();
}

bool Core::load(std::uint64_t address, void* data, unsigned size) {
  return access(tlm::TLM_READ_COMMAND, address, static_cast<unsigned char*>(data), size);
}

bool Core::store(std::uint64_t address, const void* data, unsigned size) {
  return access(tlm::TLM_WRITE_COMMAND, address, static_cast<unsigned char*>(const_cast<void*>(data)), size);
}

void Core::cache_miss(std::uint64_t address, base::LineUse use) {
  const Time at = slot_clock_.time_of(hart_.state().slots);
  stall_to(memory_.miss(cache_, address, use, at), at);
}

void Core::clean_line(std::uint64_t address, bool keep) {
  const Time at = slot_clock_.time_of(hart_.state().slots);
  stall_to(memory_.clean(cache_, address, keep, at), at);
}

/// The hart, whose time is `at`, goes on when memory is ready.
void Core::stall_to(Time ready, Time at) {
  const std::uint64_t before = hart_.state().slots;
  if (ready > at) hart_.state().slots = slot_clock_.next_cycle(ready);
  stall_slots_ += hart_.state().slots - before;
}

std::uint64_t Core::fill(std::uint64_t address, base::LineUse use, std::uint64_t slot) {
  // Fetch is ahead of dispatch by up to a queue.
  const std::uint64_t lead = (shape_.fetch_lead() + 1) * shape_.dispatch_width;
  const Time earliest = runner_.earliest();
  return slot_clock_.next_cycle(memory_.fill(cache_, address, use, slot_clock_.time_of(slot),
                                             earliest - std::min(earliest, slot_clock_.time_of(lead))));
}

std::uint64_t Core::post_combined(std::uint64_t address, const void* data, unsigned size, std::uint64_t slot) {
  const auto taken = hand_over(address, data, size, slot, parameters_.uncached.combining_drain);
  return taken.value_or(slot);
}

bool Core::start_read(std::uint64_t line, unsigned size, std::uint64_t slot) {
  struct Line {
    Time delay;
    bool failed = false;
    std::array<std::uint8_t, WriteThroughLines::kMostBytes> bytes{};
  };
  const auto found = std::make_shared<Line>();
  // The bus's latency comes behind the target's, as for other reads.
  base::DeferredRead read([this, line, size, found](const std::uint8_t* bytes) {
    found->failed = !bytes;
    if (bytes) std::copy_n(bytes, size, found->bytes.begin());
    base::calendar().after(found->delay, key(), [this, line, found] {
      hart_.write_through().arrived(line, found->failed ? nullptr : found->bytes.data());
      line_read_.notify();
    });
  });
  const base::Site by = site();
  const base::AccessTimeScope when(slot_clock_.time_of(slot));
  tlm::tlm_generic_payload trans;
  const ExtensionScope scope(trans, read);
  const bool done = call_bus(trans, tlm::TLM_READ_COMMAND, line, nullptr, size, by, found->delay);
  return done && read.is_taken;
}

bool Core::await_line() {
  suspended_ = true;
  base::wait_for(line_read_, "a line that it has prefetched", path().c_str());
  suspended_ = false;
  stall(runner_.time());
  return !reset_due_;
}

std::uint64_t Core::uncached(std::uint64_t address, bool write, std::uint64_t slot) {
  return slot_clock_.next_cycle(memory_.uncached(cache_, address, write, slot_clock_.time_of(slot)));
}

}  // namespace sluice::riscv
