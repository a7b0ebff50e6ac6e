// SPDX-License-Identifier: Apache-2.0
#include "platform/run/outside.h"

#include <algorithm>
#include <csignal>
#include <stdexcept>

#include <fmt/format.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "models/base/parameters/quantity.h"
#include "platform/debug/board_target.h"
#include "platform/debug/changes.h"
#include "platform/debug/debugger.h"
#include "platform/run/conditions.h"
#include "platform/run/interruption.h"

namespace sluice::platform {

using base::Time;

/// Receives SIGINT and SIGTERM through a file descriptor until the first one has been taken.
class Outside::Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGINT);
    sigaddset(&set_, SIGTERM);
    sigprocmask(SIG_BLOCK, &set_, &before_);
    file_ = signalfd(-1, &set_, SFD_NONBLOCK | SFD_CLOEXEC);
    if (file_ < 0) throw std::runtime_error("signals cannot be received");
  }
  ~Signals() {
    ::close(file_);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int file() const { return file_; }
  bool take() {
    signalfd_siginfo info;
    if (::read(file_, &info, sizeof info) != sizeof info) return false;
    sigprocmask(SIG_SETMASK, &before_, nullptr);
    return true;
  }

 private:
  sigset_t set_, before_;
  int file_;
};

namespace {

constexpr const char* kTapChannel = "tap";

std::string option_of(const OutsideOptions& o) {
  if (!o.replay.empty()) return "--replay " + o.replay;
  if (!o.tap.empty()) return "--tap " + o.tap;
  return o.console ? "--console" : fmt::format("--gdb {}", o.gdb.value_or(0));
}

/// Whether an input channel takes part, live or in a log.
bool has(const char* channel, bool live, const OutsideOptions& o) {
  if (o.replay.empty()) return live;
  const auto logged = base::channels_of_log(o.replay);
  return std::find(logged.begin(), logged.end(), channel) != logged.end();
}

bool wants_tap(const OutsideOptions& o) { return has(kTapChannel, !o.tap.empty(), o); }

}  // namespace

Traffic traffic_with(const OutsideOptions& o) {
  try {
    return wants_tap(o) ? Traffic::external : Traffic::generated;
  } catch (const std::runtime_error& e) {
    throw config::UserError(option_of(o) + ": " + e.what());
  }
}

Outside::Outside(Board& board, const OutsideOptions& options, const std::string& log) : option_(option_of(options)) {
  try {
    if (wants_tap(options)) {
      if (board.wires().empty()) throw config::UserError(option_ + ": the board has no Ethernet link");
      tap_ = std::make_unique<net::TapEnd>(kTapChannel, *board.wires().front().wire, net::Wire::kA, inputs_);
      tap_->publish_statistics();
    }
    if (has(Console::kChannel, options.console, options))
      console_ = std::make_unique<Console>(board.host().uart(), inputs_);
    if (options.gdb || has(debug::Changes::kChannel, false, options)) attach_debugger(board, options);
    if (!options.replay.empty()) {
      replay_ = std::make_unique<base::InputReplay>(options.replay, inputs_);
      return;
    }
    FileDigests digests;
    if (!log.empty()) inputs_.log_to(log, conditions_of(board.config(), digests));
    if (tap_ || console_) connect_live(board, options);
  } catch (const config::UserError&) {
    throw;
  } catch (const std::runtime_error& e) {
    throw config::UserError(option_ + ": " + e.what());
  }
}

void Outside::connect_live(Board& board, const OutsideOptions& options) {
  if (tap_) device_ = std::make_unique<net::TapDevice>(options.tap);
  signals_ = std::make_unique<Signals>();
  pacer_ = std::make_unique<base::Pacer>(board.scheduler());
  if (tap_) tap_->connect(*device_, *pacer_);
  if (console_) console_->connect(*pacer_);
}

void Outside::attach_debugger(Board& board, const OutsideOptions& options) {
  target_ = std::make_unique<debug::BoardTarget>(
      board, [this](const debug::Change& change) { return changes_->make(change, debugger_->place()); },
      [this](const debug::Watchpoint& w) { debugger_->hit(w); });
  changes_ = std::make_unique<debug::Changes>(inputs_, *target_, [this] { interrupt_(); });
  if (!options.replay.empty()) changes_->refuse_all();
  if (options.gdb) debugger_ = std::make_unique<debug::Debugger>(board, *target_, *options.gdb);
}

Outside::~Outside() { tell_end(2); }

std::optional<Time> Outside::end_of_log() const { return replay_ ? replay_->until() : std::nullopt; }

void Outside::start(std::function<void()> interrupt) {
  interrupt_ = std::move(interrupt);
  if (debugger_) {
    const auto stood_still = [this](std::chrono::nanoseconds pause) {
      if (pacer_) pacer_->forgive(pause);
    };
    const auto end = [this] { changes_->make(debug::Change::to_end(), debugger_->place()); };
    const auto interrupted = [this] { return signals_ ? signals_->take() : Interruption::signal() != nullptr; };
    // A paced simulation sleeps between its entries: the debugger's looks, 1 ms apart, must not keep it awake.
    debugger_->start({end, stood_still, interrupted}, pacer_ ? Time::ms(1) : base::Pacer::kGrain);
  }
  if (changes_) changes_->start();
  if (replay_) replay_->start([this] { interrupt_(); });
  if (!pacer_) return;
  pacer_->watch(signals_->file(), [this] {
    if (!signals_->take()) return true;
    interrupt_();
    return false;
  });
  pacer_->start();
}

std::string Outside::mismatch(Board& board) const {
  if (!replay_ || replay_->conditions().empty()) return {};
  FileDigests digests;
  const std::string differences = differences_between(replay_->conditions(), conditions_of(board.config(), digests));
  if (differences.empty()) return {};
  return option_ + ": this run is not the one of the log, so what follows is no repetition of it: " + differences;
}

bool Outside::take_signal() { return signals_->take(); }

std::string Outside::cut_short(Time until) const {
  if (!replay_ || until >= replay_->end()) return {};
  return fmt::format("{}: this run ends at {} (--until), before that of the log, which went on to {}", option_,
                     base::to_text(until), base::to_text(replay_->end()));
}

std::string Outside::left_over() const {
  const std::size_t left = replay_ && changes_ ? changes_->left() : 0;
  if (left == 0) return {};
  return fmt::format("{}: this run has not come to {} of the log", option_,
                     left == 1 ? "the last change" : fmt::format("the last {} changes", left));
}

std::size_t Outside::pending_looks() const { return debugger_ && debugger_->look_pending() ? 1 : 0; }

std::uint16_t Outside::gdb_port() const { return debugger_ ? debugger_->port() : 0; }

void Outside::tell_end(int status) {
  if (debugger_) debugger_->ended(status);
}

void Outside::close(Time at, base::InputEnd end) {
  if (changes_) changes_->flush();
  try {
    // If a change of the debugger ended the run, the log already has the place of the end, which says more than its
    // time.
    inputs_.close(at, changes_ && changes_->ended() ? base::InputEnd::ended : end);
  } catch (const std::runtime_error& e) {
    throw config::UserError(e.what());
  }
}

}  // namespace sluice::platform
