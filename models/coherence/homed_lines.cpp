// SPDX-License-Identifier: Apache-2.0
#include "models/coherence/homed_lines.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "models/base/systemc/model.h"

namespace sluice::coherence {

using base::LineState;

void HomedLines::add(base::LineHome& home, std::uint64_t base, std::uint64_t size, std::string path) {
  // A hart caches one kind of target per page, so homes must cover whole pages.
  const std::uint64_t whole = std::max<std::uint64_t>(line_, base::GuestRam::kPage);
  if (base % whole != 0 || size % whole != 0 || size == 0)
    throw std::logic_error("the lines of " + path + " are no whole pages of " + std::to_string(whole) + " bytes");
  for (const Home& other : homes_)
    if (base < other.base + other.size && other.base < base + size)
      throw std::logic_error("the lines of " + path + " overlap those of " + other.path);
  homes_.push_back({&home, base, size, std::move(path)});
  home.attach(*this, base);
}

const HomedLines::Home* HomedLines::home_of(std::uint64_t address) const {
  for (const Home& h : homes_)
    if (address - h.base < h.size) return &h;
  return nullptr;
}

std::string HomedLines::home_at(std::uint64_t address) const {
  const Home* home = home_of(address);
  return home ? home->path : std::string();
}

std::uint8_t* HomedLines::hold(unsigned hart, std::uint64_t address, bool own) {
  const std::uint64_t line = line_of(address);
  const Home& home = *home_of(address);
  // A line may be recalled between its arrival and the hart's turn; then the hart asks again.
  base::Time since = base::now();
  for (unsigned requests = 0;; ++requests) {
    const auto held = lines_.find(line);
    if (held != lines_.end() && (!own || held->second.state >= LineState::kExclusive)) {
      by_use_.splice(by_use_.begin(), by_use_, held->second.used);
      if (own) held->second.state = LineState::kModified;
      return held->second.bytes.data() + (address - line);
    }
    if (base::now() != since) since = base::now(), requests = 0;
    if (requests == kMostRequests)
      throw base::ComponentError(home.path, "it takes each line back as it grants it, and time stands still");
    if (!ask(home, hart, line, own)) return nullptr;
  }
}

/// Asks the home for a line, unless another hart has already asked, and waits for the answer. Returns false when the
/// home refuses this use.
bool HomedLines::ask(const Home& home, unsigned hart, std::uint64_t line, bool own) {
  const auto [at, fresh] = asked_.try_emplace(line, last_request_ + 1);
  if (fresh) {
    const auto made = std::make_shared<Request>();
    made->line = line;
    made->own = own;
    open_.emplace(++last_request_, made);
  }
  const std::shared_ptr<Request> request = open_.at(at->second);
  if (fresh) {
    ++requests_;
    base::name_what_is_thrown(home.path, [&] { home.home->line_requested({last_request_, line, own, hart}); });
  }
  while (!request->answered) base::wait_for(request->event, "a cache line", home.path.c_str());
  // A refusal to another hart's request to own the line does not apply to a request to share it.
  return !request->refused || (request->own && !own && !request->withdrawn);
}

std::shared_ptr<HomedLines::Request> HomedLines::take_request(std::uint64_t number, const char* what) {
  const auto found = open_.find(number);
  if (found == open_.end()) {
    if (number != 0 && number <= withdrawn_) return nullptr;
    throw std::logic_error(std::string(what) + " a line that nobody waits for");
  }
  std::shared_ptr<Request> request = std::move(found->second);
  open_.erase(found);
  asked_.erase(request->line);
  return request;
}

void HomedLines::answer(Request& request, bool refused) {
  request.answered = true;
  request.refused = refused;
  request.event.notify();
}

bool HomedLines::grant(std::uint64_t number, std::span<const std::uint8_t> bytes, bool own) {
  if (bytes.size() != line_)
    throw std::logic_error("it grants a line with " + std::to_string(bytes.size()) + " bytes, not " +
                           std::to_string(line_));
  const auto request = take_request(number, "it grants");
  if (!request) return false;
  if (request->own && !own) throw std::logic_error("it grants a line to read that a hart is to change");
  // The home may pass the bytes that probe() has returned, so they are copied first.
  std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
  const bool is_new = !lines_.contains(request->line);
  if (is_new) make_room();
  Line& held = lines_[request->line];
  if (is_new) held.used = by_use_.insert(by_use_.begin(), request->line);
  held.state = own ? LineState::kExclusive : LineState::kShared;
  held.bytes = std::move(copy);
  answer(*request, false);
  return true;
}

bool HomedLines::refuse(std::uint64_t number) {
  const auto request = take_request(number, "it refuses");
  if (request) answer(*request, true);
  return request != nullptr;
}

void HomedLines::make_room() {
  while (lines_.size() >= most_) {
    const std::uint64_t line = by_use_.back();
    const Line displaced = std::move(lines_.at(line));
    by_use_.pop_back();
    lines_.erase(line);
    changed(nullptr, line, line_);
    if (displaced.state != LineState::kModified) continue;
    ++written_back_;
    const Home& home = *home_of(line);
    base::name_what_is_thrown(home.path, [&] { home.home->line_written_back(line, displaced.bytes); });
  }
}

base::LineCaches::Held HomedLines::probe(std::uint64_t line) const {
  const auto held = lines_.find(line_of(line));
  return held == lines_.end() ? Held{} : Held{held->second.state, held->second.bytes};
}

base::LineCaches::Held HomedLines::recall(std::uint64_t address, LineState::State to) {
  const std::uint64_t line = line_of(address);
  const auto held = lines_.find(line);
  if (held == lines_.end()) return {};
  ++recalls_;
  const LineState::State had = held->second.state;
  changed(nullptr, line, line_);
  if (to == LineState::kShared) {
    held->second.state = LineState::kShared;
    return {had, held->second.bytes};
  }
  recalled_ = std::move(held->second.bytes);
  by_use_.erase(held->second.used);
  lines_.erase(held);
  return {had, recalled_};
}

void HomedLines::changed(const base::LineWatcher* writer, std::uint64_t address, std::uint64_t length) {
  for (base::LineWatcher* w : watchers_)
    if (w != writer) w->line_changed(address, length);
}

void HomedLines::reset() {
  lines_.clear();
  by_use_.clear();
  asked_.clear();
  withdrawn_ = last_request_;
  for (auto& [number, request] : std::exchange(open_, {})) {
    request->withdrawn = true;
    answer(*request, true);
  }
  for (const Home& h : homes_) base::name_what_is_thrown(h.path, [&] { h.home->caches_reset(); });
}

}  // namespace sluice::coherence
