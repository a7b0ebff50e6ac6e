// SPDX-License-Identifier: Apache-2.0
#include "models/coherence/lines/homed_lines.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "models/base/systemc/model.h"

namespace sluice::coherence {

using protocol::CacheLine;
using protocol::Kind;
using protocol::Message;

HomedLines::HomedLines(unsigned harts, unsigned line, std::size_t most, bool has_owned)
    : line_(line), has_owned_(has_owned) {
  for (unsigned h = 0; h < harts; ++h) harts_.emplace_back(line, most);
}

void HomedLines::add(base::LineHome& home, std::uint64_t base, std::uint64_t size, std::string path,
                     CoherentLink& link) {
  // A hart caches one kind of target per page, so homes must cover whole pages.
  const std::uint64_t whole = std::max<std::uint64_t>(line_, base::GuestRam::kPage);
  if (base % whole != 0 || size % whole != 0 || size == 0)
    throw std::logic_error("the lines of " + path + " are no whole pages of " + std::to_string(whole) + " bytes");
  for (const Home& other : homes_)
    if (other.agent->overlaps(base, size))
      throw std::logic_error("the lines of " + path + " overlap those of " + other.agent->path());
  HomeAgent::Setup setup{base,
                         size,
                         std::move(path),
                         static_cast<unsigned>(harts_.size()),
                         line_,
                         {has_owned_, link.dialect().has_conflicts}};
  homes_.push_back({std::make_unique<HomeAgent>(home, std::move(setup),
                                                [&link](CoherentMessagePtr m) { link.send_to_host(std::move(m)); }),
                    &link});
  HomeAgent& agent = *homes_.back().agent;
  link.connect_home(
      base, size, line_, [&agent](const CoherentMessage& m) { agent.receive(m); },
      [this](const CoherentMessage& m) { receive(m); });
  home.attach(agent, base);
}

const HomedLines::Home* HomedLines::home_of(std::uint64_t address) const {
  for (const Home& h : homes_)
    if (h.agent->has(address)) return &h;
  return nullptr;
}

std::string HomedLines::home_at(std::uint64_t address) const {
  const Home* home = home_of(address);
  return home ? home->agent->path() : std::string();
}

std::uint64_t HomedLines::recalls() const {
  std::uint64_t sum = 0;
  for (const Home& h : homes_) sum += h.agent->recalls();
  return sum;
}

std::uint8_t* HomedLines::hold(unsigned hart, std::uint64_t address, bool own) {
  Hart& h = harts_[hart];
  const std::uint64_t line = line_of(address);
  const Home& home = *home_of(address);
  for (;;) {
    if (std::uint8_t* bytes = h.lines.use(address, own)) return bytes;
    // What else is open for the line must end first: an eviction, or a request that the hart has given up.
    const HartLines::Line* found = h.lines.find(line);
    if (!found || found->state.is_stable()) ask(home, hart, line, own);
    if (!wait_for(h, line, home)) return nullptr;
    HartLines::Line* const now = h.lines.find(line);
    if (!now || !now->state.is_granted) continue;
    if (!h.refused) {
      h.granted = line;
      continue;
    }
    settle(hart, *now);
    return nullptr;
  }
}

/// Waits until something has come for the line. Returns false if a reset came instead.
bool HomedLines::wait_for(Hart& h, std::uint64_t line, const Home& home) {
  const std::uint64_t resets = resets_;
  h.awaited = line;
  h.refused = false;
  while (h.awaited == line) base::wait_for(h.event, "a cache line", home.agent->path().c_str());
  return resets_ == resets;
}

/// The hart's access to a line that it had to ask for has taken place.
void HomedLines::let_go(unsigned hart) {
  const std::uint64_t line = std::exchange(harts_[hart].granted, kNone);
  if (line != kNone) settle(hart, *harts_[hart].lines.find(line));
}

void HomedLines::settle(unsigned hart, HartLines::Line& line) {
  const Home& home = *home_of(line.address);
  if (const auto answer = line.state.settle(home.agent->rules())) send(home, hart, line, *answer);
  if (!line.state.may_read()) tell_gone(hart, line.address);
  forget_if_empty(hart, line);
}

void HomedLines::ask(const Home& home, unsigned hart, std::uint64_t address, bool own) {
  HartLines& lines = harts_[hart].lines;
  HartLines::Line* line = lines.find(address);
  if (!line) {
    make_room(hart);
    line = &lines.add(address);
  }
  ++requests_;
  send(home, hart, *line, line->state.ask(own));
}

void HomedLines::make_room(unsigned hart) {
  HartLines& lines = harts_[hart].lines;
  if (!lines.is_full()) return;
  HartLines::Line* const oldest = lines.to_evict();
  if (!oldest) return;
  const Home& home = *home_of(oldest->address);
  ++evictions_;
  tell_gone(hart, oldest->address);
  if (const auto victim = oldest->state.evict(home.agent->rules())) {
    lines.move_out(*oldest);
    send(home, hart, *oldest, *victim);
  } else {
    lines.remove(*oldest);
  }
}

/// A reservation of the line ends.
void HomedLines::tell_gone(unsigned hart, std::uint64_t line) {
  if (harts_[hart].watcher) harts_[hart].watcher->line_changed(line, line_);
}

void HomedLines::forget_if_empty(unsigned hart, const HartLines::Line& line) {
  if (line.state == CacheLine{}) harts_[hart].lines.remove(line);
}

void HomedLines::send(const Home& home, unsigned hart, const HartLines::Line& line, const Message& what) {
  CoherentMessagePtr m = make_coherent_message();
  m->what = what;
  m->line = line.address;
  m->cache = hart;
  if (protocol::has_data(what.kind)) std::copy_n(line.bytes.begin(), line_, m->bytes.begin());
  home.link->send_to_device(std::move(m));
}

/// A message of a home has arrived.
void HomedLines::receive(const CoherentMessage& m) {
  Hart& h = harts_[m.cache];
  const Home& home = *home_of(m.line);
  HartLines::Line* line = h.lines.find(m.line);
  if (!line) {
    // The line has been evicted without a word, and its home asks for it.
    HartLines::Line none;
    none.address = m.line;
    if (const auto answer = none.state.receive(m.what, home.agent->rules())) send(home, m.cache, none, *answer);
    return;
  }
  const bool could_read = line->state.may_read();
  Message what = m.what;
  what.data = 0;  // the bytes are beside it
  const auto answer = line->state.receive(what, home.agent->rules());
  if (protocol::has_data(m.what.kind)) std::copy_n(m.bytes.begin(), line_, line->bytes.begin());
  if (answer) send(home, m.cache, *line, *answer);
  if (could_read && !line->state.may_read()) tell_gone(m.cache, m.line);
  if (!protocol::is_snoop(m.what.kind) && m.what.kind != Kind::conflict_done)
    return answered(m.cache, *line, m.what.kind);
  forget_if_empty(m.cache, *line);
}

/// Wakes the hart that waits for the line. An access that its hart has given up does not take place.
void HomedLines::answered(unsigned hart, HartLines::Line& line, Kind kind) {
  Hart& h = harts_[hart];
  const std::uint64_t address = line.address;
  if (h.awaited == address) {
    h.awaited = kNone;
    h.refused = kind == Kind::refuse;
    h.event.notify();
  } else if (line.state.is_granted) {
    return settle(hart, line);
  }
  forget_if_empty(hart, line);
}

void HomedLines::reset() {
  ++resets_;
  for (Hart& h : harts_) {
    h.lines.clear();
    h.granted = kNone;
    if (h.awaited == kNone) continue;
    h.awaited = kNone;
    h.event.notify();
  }
  for (const Home& h : homes_) {
    h.link->reset();
    base::name_what_is_thrown(h.agent->path(), [&] { h.agent->reset(); });
  }
}

}  // namespace sluice::coherence
