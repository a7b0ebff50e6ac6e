// SPDX-License-Identifier: Apache-2.0
#include "models/coherence/lines/homed_lines.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "models/base/systemc/model.h"

namespace sluice::coherence {

using protocol::CacheLine;
using protocol::Kind;
using protocol::Message;

namespace {

constexpr base::ComponentKey kTimeout = base::path_key("coherence.line_timeouts");

}  // namespace

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
                         {has_owned_, link.dialect().has_conflicts},
                         link.component(),
                         {}};
  setup.component = base::ledger().component(setup.path);
  homes_.push_back({std::make_unique<HomeAgent>(
                        home, std::move(setup), [&link](CoherentMessagePtr m) { link.send_to_host(std::move(m)); },
                        [this](std::uint64_t l) { return describe(l, *home_of(l)); }),
                    &link});
  if (std::find(links_.begin(), links_.end(), &link) == links_.end()) {
    links_.push_back(&link);
    link.on_down([this, &link] { link_went_down(link); });
  }
  HomeAgent& agent = *homes_.back().agent;
  agent.set_checker(checker_.get());
  link.connect_home(
      base, size, line_,
      [this, index = homes_.size() - 1](const CoherentMessage& m) { arrive_at_home(homes_[index], m); },
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

std::uint8_t* HomedLines::hold(unsigned hart, std::uint64_t address, bool own, base::Time most) {
  Hart& h = harts_[hart];
  const std::uint64_t line = line_of(address);
  const Home& home = *home_of(address);
  h.by = base::access_site();
  h.began = base::now();
  h.wanted = line;
  if (const base::Ledger::Request* const r = base::ledger().find(h.by.serves)) h.tiles = r->tiles.size();
  const base::Time deadline = most == base::Time::max() ? most : base::now() + most;
  h.why.clear();
  for (;;) {
    if (std::uint8_t* bytes = held(hart, address, own)) return bytes;
    if (!home.link->is_up()) {
      h.why = home.link->path() + " is down";
      return nullptr;
    }
    // What else is open for the line must end first: an eviction, or a request that the hart has given up.
    const HartLines::Line* found = h.lines.find(line);
    const bool asks = !found || found->state.is_stable();
    if (asks) checked_by(line, home, [&] { ask(home, hart, line, own); });
    if (!wait_for(hart, line, home, deadline, most)) return nullptr;
    HartLines::Line* const now = h.lines.find(line);
    if (!now || !now->state.is_granted) continue;
    if (!h.refused && (own ? now->state.may_write() : now->state.may_read())) {
      h.granted = line;
      continue;
    }
    settle(hart, *now);
    // What has come may be the answer to an earlier request, which the hart had given up: it asks for this access, too.
    if (asks) return nullptr;
  }
}

/// Waits until something has come for the line. Returns false if a reset came instead, the link went down, or the time
/// is over.
bool HomedLines::wait_for(unsigned hart, std::uint64_t line, const Home& home, base::Time deadline, base::Time most) {
  Hart& h = harts_[hart];
  const std::uint64_t resets = resets_;
  h.awaited = line;
  h.refused = false;
  if (deadline != base::Time::max())
    h.timeout = base::calendar().at(deadline, kTimeout, [this, hart, most] {
      // An answer of the same instant may have come before.
      if (harts_[hart].awaited != kNone) wake(harts_[hart], "no answer has come within " + base::to_text(most));
    });
  h.waits_for = fmt::format("cache line {:#x}", line);
  while (h.awaited == line) base::wait_for(h.event, h.waits_for.c_str(), home.agent->path().c_str());
  base::calendar().cancel(h.timeout);
  return resets_ == resets && h.why.empty();
}

/// Ends the wait of a hart, which goes on without its line.
void HomedLines::wake(Hart& h, std::string why) {
  h.awaited = kNone;
  h.why = std::move(why);
  h.event.notify();
}

/// All lines behind the link are lost, on both sides.
void HomedLines::link_went_down(const CoherentLink& link) {
  if (checker_) checker_->reset();
  for (unsigned n = 0; n < harts_.size(); ++n) {
    Hart& h = harts_[n];
    const auto is_behind = [&](std::uint64_t line) { return line != kNone && home_of(line)->link == &link; };
    std::vector<std::uint64_t> lost;
    h.lines.for_each([&](const HartLines::Line& line) {
      if (is_behind(line.address)) lost.push_back(line.address);
    });
    std::sort(lost.begin(), lost.end());
    for (const std::uint64_t line : lost) {
      tell_gone(n, line);
      h.lines.remove(*h.lines.find(line));
    }
    if (is_behind(h.granted)) h.granted = kNone;
    if (is_behind(h.awaited)) wake(h, link.path() + " went down");
  }
  for (const Home& home : homes_)
    if (home.link == &link) base::name_what_is_thrown(home.agent->path(), [&] { home.agent->reset(); });
}

/// The hart's access to a line that it had to ask for has taken place.
void HomedLines::let_go(unsigned hart) {
  const std::uint64_t line = std::exchange(harts_[hart].granted, kNone);
  if (line == kNone) return;
  if (HartLines::Line* const held = harts_[hart].lines.find(line)) settle(hart, *held);
}

void HomedLines::settle(unsigned hart, HartLines::Line& line) {
  const Home& home = *home_of(line.address);
  if (checker_) checker_->settle();
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
  if (HartLines::Line* const oldest = lines.to_evict()) evict(hart, *oldest);
}

void HomedLines::evict(unsigned hart, HartLines::Line& line) {
  HartLines& lines = harts_[hart].lines;
  const Home& home = *home_of(line.address);
  if (checker_) checker_->settle();
  ++evictions_;
  tell_gone(hart, line.address);
  if (const auto victim = line.state.evict(home.agent->rules())) {
    lines.move_out(line);
    send(home, hart, line, *victim);
  } else {
    lines.remove(line);
  }
}

void HomedLines::give_back(unsigned hart, std::uint64_t line) {
  HartLines::Line* const held = harts_[hart].lines.find(line);
  if (held && held->state.may_evict()) evict(hart, *held);
}

/// A reservation of the line ends.
void HomedLines::tell_gone(unsigned hart, std::uint64_t line) {
  if (harts_[hart].watcher) harts_[hart].watcher->line_changed(line, line_);
}

void HomedLines::forget_if_empty(unsigned hart, const HartLines::Line& line) {
  if (line.state == CacheLine{}) harts_[hart].lines.remove(line);
}

void HomedLines::send(const Home& home, unsigned hart, const HartLines::Line& line, const Message& what,
                      const CoherentMessage* cause) {
  CoherentMessagePtr m = make_coherent_message();
  m->what = what;
  m->line = line.address;
  m->cache = hart;
  if (protocol::is_request(what.kind)) {
    m->by = harts_[hart].by;
    m->serves = m->by.serves;
  }
  if (protocol::has_data(what.kind)) {
    std::copy_n(line.bytes.begin(), line_, m->bytes.begin());
    m->of = line.request;
    if (cause && m->of != 0) m->journey = cause->journey;
  }
  m->carries_journey = m->of != 0 || m->serves != 0;
  home.link->send_to_device(std::move(m));
}

/// A message of a home has arrived.
void HomedLines::receive(const CoherentMessage& m) {
  const Home& home = *home_of(m.line);
  checked_by(m.line, home, [&] {
    if (checker_) checker_->settle();
    take(m, home);
    if (checker_) check_holders(m.line);
  });
}

void HomedLines::arrive_at_home(const Home& home, const CoherentMessage& m) {
  checked_by(m.line, home, [&] { home.agent->receive(m); });
}

void HomedLines::take(const CoherentMessage& m, const Home& home) {
  Hart& h = harts_[m.cache];
  HartLines::Line* line = h.lines.find(m.line);
  shares_ += m.what.kind == Kind::snoop_shared;
  if (!line) {
    // The line has been evicted without a word, and its home asks for it.
    HartLines::Line none;
    none.address = m.line;
    if (const auto answer = none.state.receive(m.what, home.agent->rules())) send(home, m.cache, none, *answer, &m);
    return;
  }
  const bool could_read = line->state.may_read();
  Message what = m.what;
  what.data = 0;  // the bytes are beside it
  const auto answer = line->state.receive(what, home.agent->rules());
  if (protocol::has_data(m.what.kind)) {
    std::copy_n(m.bytes.begin(), line_, line->bytes.begin());
    line->request = m.of;
  }
  if (answer) send(home, m.cache, *line, *answer, &m);
  if (could_read && !line->state.may_read()) tell_gone(m.cache, m.line);
  if (!protocol::is_snoop(m.what.kind) && m.what.kind != Kind::conflict_done) {
    enter_ledger(m, home);
    return answered(m, *line);
  }
  forget_if_empty(m.cache, *line);
}

/// The request for which the hart waits has been where the messages were, unless the device has taken it on. One whose
/// bytes nobody waits for has reached the caches.
void HomedLines::enter_ledger(const CoherentMessage& m, const Home& home) {
  const Hart& h = harts_[m.cache];
  if (h.awaited != m.line)
    return base::ledger().try_enter(m.of, SLUICE_STAGE_wait_core, home.link->component(), base::now());
  const base::Ledger::Request* const r = base::ledger().find(m.serves);
  // It may be the answer to a request of an earlier wait, which the hart has given up.
  const bool is_of_this_wait = m.serves == h.by.serves && !m.journey.empty() && m.journey.start() >= h.began;
  if (r && is_of_this_wait && r->tiles.size() == h.tiles) m.journey.apply(m.serves);
}

/// Wakes the hart that waits for the line. An access that its hart has given up does not take place.
void HomedLines::answered(const CoherentMessage& m, HartLines::Line& line) {
  Hart& h = harts_[m.cache];
  if (h.awaited == m.line) {
    h.awaited = kNone;
    h.refused = m.what.kind == Kind::refuse;
    h.event.notify();
  } else if (line.state.is_granted) {
    return settle(m.cache, line);
  }
  forget_if_empty(m.cache, line);
}

/// When the home has held back what the hart waits for, or has waited for last; two equal times: it has not.
std::pair<base::Time, base::Time> HomedLines::held_back(unsigned hart, base::Time until) const {
  const Hart& h = harts_[hart];
  if (h.wanted == kNone) return {until, until};
  const auto hold = home_of(h.wanted)->agent->hold_of(h.wanted, hart);
  if (!hold) return {until, until};
  // The home may have been asked in an earlier wait, or not yet in this one.
  const base::Time since = std::max(hold->since, h.began), end = std::min(hold->until, until);
  return since < end ? std::pair(since, end) : std::pair(until, until);
}

base::RequestId HomedLines::request_of(unsigned hart, std::uint64_t address) {
  const HartLines::Line* const line = harts_[hart].lines.find(line_of(address));
  return line && line->state.may_read() ? line->request : 0;
}

void HomedLines::set_request_of(unsigned hart, std::uint64_t address, base::RequestId id) {
  HartLines::Line* const line = harts_[hart].lines.find(line_of(address));
  if (line && line->state.may_write()) line->request = id;
}

void HomedLines::check() {
  checker_ = std::make_unique<LineChecker>([this](std::uint64_t line) { return describe(line, *home_of(line)); });
  for (const Home& h : homes_) h.agent->set_checker(checker_.get());
}

/// Calls f; what it throws is the home's. What the protocol does not allow is told with who holds the line.
template <class F>
void HomedLines::checked_by(std::uint64_t line, const Home& home, const F& f) {
  base::name_what_is_thrown(home.agent->path(), [&] {
    try {
      f();
    } catch (const protocol::ProtocolError& e) {
      throw std::logic_error(fmt::format("line {:#x}: {}; {}", line, e.what(), describe(line, home)));
    }
  });
}

void HomedLines::check_use(unsigned hart, std::uint64_t address, bool own) {
  const std::uint64_t line = line_of(address);
  const Home& home = *home_of(address);
  checked_by(line, home, [&] {
    checker_->used(hart, line, std::span(harts_[hart].lines.find(line)->bytes).first(line_), own);
    check_holders(line);
  });
}

void HomedLines::check_holders(std::uint64_t line) {
  unsigned writers = 0, readers = 0;
  for (Hart& h : harts_) {
    const HartLines::Line* own = h.lines.find(line);
    writers += own && own->state.may_write();
    readers += own && own->state.may_read();
  }
  checker_->held(line, writers, readers);
}

std::string HomedLines::describe(std::uint64_t line, const Home& home) {
  std::string text;
  for (unsigned n = 0; n < harts_.size(); ++n)
    if (const HartLines::Line* own = harts_[n].lines.find(line))
      text += fmt::format("hart {} has it {}, ", n, to_text(own->state.state));
  text += home.agent->describe(line);
  const std::string under_way = home.link->describe(line);
  return under_way.empty() ? text : text + "; under way: " + under_way;
}

void HomedLines::reset() {
  ++resets_;
  if (checker_) checker_->reset();
  for (Hart& h : harts_) {
    h.lines.clear();
    h.granted = kNone;
    if (h.awaited == kNone) continue;
    h.awaited = kNone;
    h.event.notify();
  }
  for (CoherentLink* link : links_) link->reset();
  for (const Home& h : homes_) base::name_what_is_thrown(h.agent->path(), [&] { h.agent->reset(); });
}

}  // namespace sluice::coherence
