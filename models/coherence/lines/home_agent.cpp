// SPDX-License-Identifier: Apache-2.0
#include "models/coherence/lines/home_agent.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "models/base/time/calendar.h"

namespace sluice::coherence {
namespace {

// The state machines pass on which bytes they mean.
constexpr protocol::Data kOfDevice = 0, kArrived = 1;

}  // namespace

HomeAgent::HomeAgent(base::LineHome& device, Setup setup, Send send, Describe describe)
    : device_(device),
      setup_(std::move(setup)),
      send_(std::move(send)),
      describe_(std::move(describe)),
      askers_(setup_.caches) {}

/// The device has made a mistake with a line of its own.
void HomeAgent::fail(std::uint64_t address, const std::string& mistake) const {
  throw std::logic_error(fmt::format("it {}, {:#x}: {}", mistake, address, describe_(address)));
}

HomeAgent::Line& HomeAgent::line_at(std::uint64_t address) {
  return lines_.try_emplace(address, setup_.caches).first->second;
}

void HomeAgent::receive(const CoherentMessage& m) {
  Line& line = line_at(m.line);
  protocol::Message what = m.what;
  if (protocol::is_request(what.kind)) note_request(m);
  if (protocol::has_data(what.kind)) {
    std::copy_n(m.bytes.begin(), setup_.line_bytes, line.arrived.begin());
    what.data = kArrived;
    line.request = m.of;
    if (m.carries_journey) line.journey = m.journey;
  }
  take(m.line, line, line.state.receive(m.cache, what, setup_.rules));
}

void HomeAgent::note_request(const CoherentMessage& m) {
  Asker& asker = askers_[m.cache];
  asker.line = m.line;
  asker.by = m.by;
  asker.arrived = base::now();
  asker.hold.reset();
  if (m.serves != 0) asker.journey = m.journey;
}

/// Null: the cache has asked for another line since, because its hart has given this one up.
HomeAgent::Asker* HomeAgent::asker_for(std::uint64_t address, unsigned cache) {
  return askers_[cache].line == address ? &askers_[cache] : nullptr;
}

/// The device answers a request.
void HomeAgent::note_answer(std::uint64_t address, unsigned cache) {
  Asker* const asker = asker_for(address, cache);
  if (asker && asker->hold) asker->hold->until = base::now();
}

void HomeAgent::send(std::uint64_t address, const Line& line, const protocol::Addressed& to, const Granted& granted) {
  CoherentMessagePtr m = make_coherent_message();
  m->what = to.message;
  m->line = address;
  m->cache = to.cache;
  m->carries_journey = protocol::is_snoop(to.message.kind);
  if (const Asker* const asker = asker_for(address, to.cache);
      asker && asker->by.serves != 0 && protocol::is_end_of_request(to.message.kind)) {
    m->serves = asker->by.serves;
    m->carries_journey = true;
    m->journey = asker->journey;
    if (asker->arrived < base::now()) m->journey.enter(SLUICE_STAGE_cache_fill, setup_.component, asker->arrived);
  }
  if (protocol::has_data(to.message.kind)) {
    const bool is_devices = to.message.data != kArrived;
    std::copy_n(is_devices ? granted.bytes.data() : line.arrived.data(), setup_.line_bytes, m->bytes.begin());
    m->of = is_devices ? granted.of : line.request;
    // The hart's own request gets the whole journey when its line is there. One whose bytes another hart has is there.
    if (is_devices && m->of != m->serves)
      base::ledger().try_enter(m->of, SLUICE_STAGE_coherence_message, setup_.link, base::now());
  }
  send_(std::move(m));
}

/// Does what follows from a step. What the device is told comes last, because it may answer at once.
void HomeAgent::take(std::uint64_t address, Line& line, const protocol::Step& step, const Granted& granted) {
  for (const protocol::Addressed& to : step.sent) send(address, line, to, granted);
  // Those of later requests, which the calls below may bring, are greater.
  const std::uint64_t number = step.asked ? ++last_request_ : 0;
  if (step.asked) {
    requested_.emplace(number, address);
    recent_[number % kRecent] = address;
  }
  if (step.written) {
    const auto bytes = std::span(line.arrived).first(setup_.line_bytes);
    if (checker_) checker_->written(address, bytes);
    device_.line_written({address, bytes, line.request, line.journey});
  }
  if (step.recalled) device_.line_recalled(address);
  if (!step.asked) return;
  const protocol::Addressed& open = *line.state.open;
  static const Asker kNobody{};
  Asker* const asker = asker_for(address, open.cache);
  if (asker) asker->hold = Hold{base::now(), base::Time::max()};
  const Asker& by = asker ? *asker : kNobody;
  const base::AccessSiteScope scope(by.by);
  device_.line_requested({number, address, open.message.kind != protocol::Kind::read_shared, open.cache,
                          line.state.may_write(), by.by.serves, by.journey});
}

/// Returns the line of an open request; null if a reset has withdrawn the request.
HomeAgent::Line* HomeAgent::find_request(std::uint64_t number, std::uint64_t& address, const std::string& does) {
  const auto found = requested_.find(number);
  if (found == requested_.end()) {
    if (number != 0 && number <= withdrawn_) return nullptr;
    if (number != 0 && number <= last_request_ && last_request_ - number < kRecent)
      fail(recent_[number % kRecent], does + " a line for which it has answered already");
    throw std::logic_error("it " + does + " a line that nobody waits for");
  }
  address = found->second;
  Line& line = line_at(address);
  if (!line.state.may_answer()) fail(address, does + " a line that it has recalled");
  requested_.erase(found);
  return &line;
}

bool HomeAgent::grant(std::uint64_t number, std::span<const std::uint8_t> bytes, bool own, base::RequestId of) {
  if (bytes.size() != setup_.line_bytes)
    throw std::logic_error("it grants a line with " + std::to_string(bytes.size()) + " bytes, not " +
                           std::to_string(setup_.line_bytes));
  std::uint64_t address = 0;
  Line* const line = find_request(number, address, "grants");
  if (!line) return false;
  note_answer(address, line->state.open->cache);
  const bool alone = line->state.may_write();
  const protocol::Step step = line->state.grant(kOfDevice, own, setup_.rules);
  if (checker_) check_grant(address, step, bytes, alone);
  take(address, *line, step, {bytes, of});
  return true;
}

/// The device's bytes reach a cache only where no other has changed the line.
void HomeAgent::check_grant(std::uint64_t address, const protocol::Step& step, std::span<const std::uint8_t> bytes,
                            bool alone) {
  for (const protocol::Addressed& to : step.sent)
    if (protocol::has_data(to.message.kind) && to.message.data == kOfDevice) checker_->granted(address, bytes, alone);
}

bool HomeAgent::refuse(std::uint64_t number) {
  std::uint64_t address = 0;
  Line* const line = find_request(number, address, "refuses");
  if (!line) return false;
  note_answer(address, line->state.open->cache);
  take(address, *line, line->state.refuse(setup_.rules));
  return true;
}

void HomeAgent::recall(std::uint64_t address, base::Recall what) {
  if (!has(address) || address % setup_.line_bytes != 0)
    throw std::logic_error(fmt::format("it recalls what is no line of its own, {:#x}", address));
  Line& line = line_at(address);
  if (!line.state.may_recall()) fail(address, "recalls a line that it has recalled");
  ++recalls_;
  const bool to_read = what == base::Recall::to_read;
  take(address, line,
       line.state.recall(to_read ? protocol::Kind::snoop_shared : protocol::Kind::snoop_unique, setup_.rules));
}

void HomeAgent::unlock(std::uint64_t address) {
  const auto found = lines_.find(address);
  if (found == lines_.end() || !found->second.state.is_locked) fail(address, "unlocks a line that it has not recalled");
  take(address, found->second, found->second.state.unlock(setup_.rules));
}

std::string HomeAgent::describe(std::uint64_t address) const {
  static constexpr const char* kHoldings[] = {"nothing", "shared", "owned", "exclusive"};
  const auto found = lines_.find(address);
  if (found == lines_.end()) return "its home knows of nobody who has it";
  const protocol::HomeLine& line = found->second.state;
  std::string text = "its home takes";
  for (unsigned c = 0; c < line.held.size(); ++c) {
    text += fmt::format("{} hart {} to hold {}", c == 0 ? "" : ",", c, kHoldings[static_cast<unsigned>(line.held[c])]);
    if (line.snooped[c]) text += " and waits for its answer";
  }
  if (line.open) text += fmt::format("; it serves hart {}: {}", line.open->cache, to_text(line.open->message.kind));
  if (line.is_asked && line.open) text += ", which the device has to answer";
  if (line.is_locked) text += "; the device has recalled it";
  return text;
}

void HomeAgent::reset() {
  lines_.clear();
  requested_.clear();
  for (Asker& asker : askers_)
    if (asker.hold) asker.hold->until = std::min(asker.hold->until, base::now());
  withdrawn_ = last_request_;
  device_.caches_reset();
}

}  // namespace sluice::coherence
