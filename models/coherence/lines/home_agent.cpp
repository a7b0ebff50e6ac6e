// SPDX-License-Identifier: Apache-2.0
#include "models/coherence/lines/home_agent.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

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
      by_(setup_.caches) {}

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
  if (protocol::is_request(what.kind)) by_[m.cache] = m.by;
  if (protocol::has_data(what.kind)) {
    std::copy_n(m.bytes.begin(), setup_.line_bytes, line.arrived.begin());
    what.data = kArrived;
  }
  take(m.line, line, line.state.receive(m.cache, what, setup_.rules));
}

/// Does what follows from a step. What the device is told comes last, because it may answer at once.
void HomeAgent::take(std::uint64_t address, Line& line, const protocol::Step& step,
                     std::span<const std::uint8_t> granted) {
  for (const protocol::Addressed& to : step.sent) {
    CoherentMessagePtr m = make_coherent_message();
    m->what = to.message;
    m->line = address;
    m->cache = to.cache;
    if (protocol::has_data(to.message.kind))
      std::copy_n(to.message.data == kArrived ? line.arrived.data() : granted.data(), setup_.line_bytes,
                  m->bytes.begin());
    send_(std::move(m));
  }
  // Those of later requests, which the calls below may bring, are greater.
  const std::uint64_t number = step.asked ? ++last_request_ : 0;
  if (step.asked) {
    requested_.emplace(number, address);
    recent_[number % kRecent] = address;
  }
  if (step.written) {
    const auto bytes = std::span(line.arrived).first(setup_.line_bytes);
    if (checker_) checker_->written(address, bytes);
    device_.line_written(address, bytes);
  }
  if (step.recalled) device_.line_recalled(address);
  if (!step.asked) return;
  const protocol::Addressed& open = *line.state.open;
  const base::AccessSiteScope scope(by_[open.cache]);
  device_.line_requested(
      {number, address, open.message.kind != protocol::Kind::read_shared, open.cache, line.state.may_write()});
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

bool HomeAgent::grant(std::uint64_t number, std::span<const std::uint8_t> bytes, bool own) {
  if (bytes.size() != setup_.line_bytes)
    throw std::logic_error("it grants a line with " + std::to_string(bytes.size()) + " bytes, not " +
                           std::to_string(setup_.line_bytes));
  std::uint64_t address = 0;
  Line* const line = find_request(number, address, "grants");
  if (!line) return false;
  const bool alone = line->state.may_write();
  const protocol::Step step = line->state.grant(kOfDevice, own, setup_.rules);
  if (checker_) check_grant(address, step, bytes, alone);
  take(address, *line, step, bytes);
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
  if (line) take(address, *line, line->state.refuse(setup_.rules));
  return line != nullptr;
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
  withdrawn_ = last_request_;
  device_.caches_reset();
}

}  // namespace sluice::coherence
