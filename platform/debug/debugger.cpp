// SPDX-License-Identifier: Apache-2.0
#include "platform/debug/debugger.h"

#include <fmt/format.h>

namespace sluice::debug {
namespace {

std::uint64_t events_of(riscv::Core& core) {
  const riscv::HartCounters& c = core.hart().counters();
  return core.hart().state().instret + c.traps + c.interrupts;
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

Debugger::Debugger(platform::Board& board, BoardTarget& target, std::uint16_t port)
    : board_(board), target_(target), connection_(port), controls_(target.threads()) {}

void Debugger::start(Hooks hooks, base::Time look_every) {
  hooks_ = std::move(hooks);
  look_every_ = look_every;
  for (unsigned t = 1; t <= target_.threads(); ++t) target_.core(t).observe(*this);
  base::calendar().at(base::now(), base::kInputKey, [this] { look(); });
}

void Debugger::ended(int status) {
  if (!session_) return;
  session_->ended(status);
  connection_.send(session_->take_output());
  leave();
}

/// Runs as a calendar entry that wakes no hart.
void Debugger::look() {
  if (!session_) {
    bool came = false, interrupted = false;
    do {
      came = connection_.accept(first_look_);
    } while (first_look_ && !came && !(interrupted = hooks_.interrupted()));
    first_look_ = false;
    if (interrupted) {
      place_ = {};
      hooks_.end();
    } else if (came) {
      session_ = std::make_unique<Session>(target_);
      serve({Stop::Kind::interrupt, last_thread_, WatchKind::write, 0}, {});
    }
  } else {
    std::string bytes;
    if (connection_.receive(bytes, false)) {
      session_->receive(bytes_of(bytes));
      if (session_->interrupted()) serve({Stop::Kind::interrupt, last_thread_, WatchKind::write, 0}, {});
    } else {
      target_.clear_all();
      leave();
    }
  }
  next_look_ = base::calendar().after(look_every_, base::kInputKey, [this] { look(); });
}

/// The simulation stands still here until the debugger lets it go on.
void Debugger::serve(const Stop& stop, const Place& place) {
  const auto start = std::chrono::steady_clock::now();
  place_ = place;
  last_thread_ = stop.thread;
  session_->stopped(stop);
  const bool interrupted = converse();
  if (interrupted || session_->state() == Session::State::killed || session_->abandoned()) hooks_.end();
  if (!interrupted && session_->state() == Session::State::running)
    go_on();
  else
    leave();
  if (hooks_.stood_still) hooks_.stood_still(std::chrono::steady_clock::now() - start);
}

/// Serves the debugger until it lets the simulation go on or leaves (false), or until a signal comes (true).
bool Debugger::converse() {
  for (;;) {
    connection_.send(session_->take_output());
    if (session_->state() != Session::State::stopped) return false;
    std::string bytes;
    if (!connection_.receive(bytes, true)) return false;
    if (hooks_.interrupted()) return true;
    session_->receive(bytes_of(bytes));
  }
}

void Debugger::go_on() {
  target_.forget_writes();
  bool lone = false;
  for (unsigned t = 1; t <= target_.threads(); ++t) {
    Control& c = controls_[t - 1];
    c.action = session_->actions()[t - 1];
    c.events = events_of(target_.core(t));
    if (c.due && c.due->kind != Stop::Kind::watch) c.due.reset();
    lone |= c.action.kind == Action::Kind::hold;
    if (c.action.kind == Action::Kind::step) hold_up(t);
  }
  if (!lone) target_.settle_breakpoints();
}

/// Ends the session: no debugger is attached any more.
void Debugger::leave() {
  target_.clear_all();
  session_.reset();
  connection_.close();
  for (Control& c : controls_) c.action = {}, c.due.reset();
  due_in_entry_.reset();
}

/// Makes a hart that is inside an instruction stop after it.
void Debugger::hold_up(unsigned thread) {
  if (target_.core(thread).inside_instruction()) target_.core(thread).end_run();
}

std::uint64_t Debugger::before(riscv::Core& core) {
  Control& c = control(core);
  if (c.due && c.action.kind != Action::Kind::hold) {
    const Stop stop = *c.due;
    c.due.reset();
    serve(stop, {&core, false});
  }
  return c.action.kind == Action::Kind::step ? kOneEvent : kFree;
}

void Debugger::after(riscv::Core& core, riscv::StopReason reason) {
  if (!session_) return;
  Control& c = control(core);
  const bool moved = events_of(core) != c.events;
  const bool stepping = c.action.kind == Action::Kind::step;
  const Stop trap{Stop::Kind::trap, target_.thread_of(core), WatchKind::write, 0};
  if (c.action.kind == Action::Kind::hold) {
    // While GDB steps another hart over a breakpoint, GDB takes this hart for stopped and cannot handle a stop reply
    // from it.
    if (reason == riscv::StopReason::breakpoint && target_.breakpoint_concerns(trap.thread))
      session_->say(fmt::format("{} has passed the breakpoint at {:#x} while another hart was stepped\n", core.path(),
                                core.hart().state().pc));
    return;
  }
  if (reason == riscv::StopReason::breakpoint) {
    // A step that starts at a breakpoint must not stop there.
    if ((moved || !stepping) && (c.action.named || target_.breakpoint_concerns(trap.thread)))
      serve(trap, {&core, false});
    return;
  }
  const std::uint64_t pc = core.hart().state().pc;
  if (!c.due && stepping && moved && !(pc >= c.action.from && pc < c.action.to)) c.due = trap;
  const bool waits =
      reason == riscv::StopReason::wait_for_interrupt || reason == riscv::StopReason::wait_on_reservation;
  if (c.due && waits) {
    const Stop stop = *c.due;
    c.due.reset();
    serve(stop, {&core, true});
  }
}

void Debugger::hit(const Watchpoint& w) {
  if (!session_ || session_->state() != Session::State::running) return;
  const base::Runner* runner = board_.scheduler().running();
  for (unsigned t = 1; runner && t <= target_.threads(); ++t) {
    if (target_.core(t).path() != runner->path()) continue;
    Control& c = controls_[t - 1];
    if (!c.due) c.due = Stop{Stop::Kind::watch, t, w.kind, w.address};
    hold_up(t);
    return;
  }
  if (due_in_entry_) return;
  due_in_entry_ = Stop{Stop::Kind::watch, last_thread_, w.kind, w.address};
  base::calendar().at(base::now(), base::kInputKey, [this] {
    if (!session_ || !due_in_entry_) return;
    const Stop stop = *due_in_entry_;
    due_in_entry_.reset();
    session_->say(fmt::format("a device has written by DMA at {} ns\n", base::now().nanoseconds()));
    serve(stop, {});
  });
}

}  // namespace sluice::debug
