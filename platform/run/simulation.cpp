// SPDX-License-Identifier: Apache-2.0
#include "platform/run/simulation.h"

#include <ctime>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/base/measure/statistics.h"
#include "models/base/measure/trace.h"
#include "models/coherence/link/message_capture.h"
#include "models/pcie/capture/tlp_capture.h"
#include "platform/diagnosis/diagnosis.h"
#include "platform/diagnosis/endless_loops.h"
#include "platform/run/expect_file.h"

namespace sluice::platform {

using base::Time;

namespace {
constexpr base::ComponentKey kWatchKey = base::path_key("platform.watch");
constexpr Time kProgressInterval = Time::us(100);
// Longest simulated time between two checks for trap loops; it takes some tenths of a second of wall time.
constexpr Time kTrapInterval = Time::ms(10);
// Traps without progress that count as a loop: between two checks, and at the end of a run.
constexpr std::uint64_t kTrapsInInterval = 1000, kTrapsAtEnd = 64;
// The run ends after so many resets by the firmware without an ended request between them. A boot that retries makes
// only a few.
constexpr std::uint64_t kIdleResets = 1000;
constexpr Time kSignalInterval = Time::us(200);  // some milliseconds of wall time
// Checks in succession at the same simulated time that mean standstill. A check comes every
// base::Calendar::kLookInterval entries, so this is ten million entries, where a busy board has some dozen.
constexpr unsigned kLooksAtOneTime = 10;
// The same for checks every base::Scheduler::kLookInterval steps of foreign processes: a million delta cycles, where a
// module has some hundred.
constexpr unsigned kKernelLooksAtOneTime = 16;

base::InputEnd input_end(Outcome outcome) {
  if (outcome == Outcome::interrupted) return base::InputEnd::interrupted;
  return outcome == Outcome::limit ? base::InputEnd::limit : base::InputEnd::ended;
}

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}
}  // namespace

Simulation::Simulation(Board& board, SimulationOptions options)
    : board_(board),
      options_(std::move(options)),
      measurement_(board),
      served_(board),
      trap_loops_(board),
      names_(board) {
  board_.scheduler().let_spin(options_.skip_spins);
  if (options_.console) console_ = std::make_unique<ConsoleOutput>(board_, *options_.console);
  if (auto steps = expect_steps(board_.config()); !steps.empty())
    script_ = std::make_unique<uart::ExpectScript>(board_.host().uart(), std::move(steps),
                                                   [this](const uart::ExpectScript& s) {
                                                     if (s.state() == uart::ExpectScript::State::failed) stop();
                                                   });
  if (options_.outside.any()) {
    const std::string log = options_.output.empty() ? "" : options_.output + "/input.log";
    outside_ = std::make_unique<Outside>(board_, options_.outside, log);
    if (const auto end = outside_->end_of_log()) options_.until = std::min(options_.until.value_or(*end), *end);
  }
  open_traces();
}

Simulation::~Simulation() {
  base::trace().attach(nullptr);
  base::calendar().on_look(nullptr);
  board_.scheduler().on_look(nullptr);
}

template <class Links>
void Simulation::capture_links(const std::string& kind, std::uint32_t type, Links& links) {
  for (auto& l : links) {
    link_captures_.push_back(
        std::make_unique<base::LinkCapture>(fmt::format("{}/{}.{}", options_.output, l.path, kind), type));
    capture(*l.link, *link_captures_.back());
  }
}

/// Called before any file is made.
void Simulation::refuse_traces_of_nothing() {
  const auto refuse = [](bool asked, bool has, const char* kind, const char* what) {
    if (asked && !has) throw config::UserError(fmt::format("--trace {}: the board has no {}", kind, what));
  };
  refuse(options_.trace_tlp, !board_.slots().empty(), "tlp", "PCIe link");
  refuse(options_.trace_vcd.has_value(), !base::waveform_sources().empty(), "vcd", "block in RTL");
  refuse(options_.trace_coherence, !board_.coherent_links().empty(), "coherence", "coherent link");
}

void Simulation::open_traces() {
  refuse_traces_of_nothing();
  try {
    if (options_.trace_pcap) {
      for (WireInstance& w : board_.wires()) {
        captures_.push_back(std::make_unique<net::PcapWriter>(options_.output + "/" + w.path + ".pcap"));
        net::capture(*w.wire, net::Wire::kB, *captures_.back());
      }
    }
    if (options_.trace_tlp) capture_links("tlp", base::LinkCapture::kTlp, board_.slots());
    if (options_.trace_coherence) capture_links("coherence", base::LinkCapture::kCoherence, board_.coherent_links());
    if (options_.trace_perfetto) {
      perfetto_ = std::make_unique<base::PerfettoWriter>(options_.output + "/trace.perfetto", board_.config().name());
      base::trace().attach(perfetto_.get());
      base::trace_requests(base::ledger(), base::trace());
    }
    if (options_.trace_vcd) {
      base::watched_request() = options_.trace_vcd->request;
      for (base::WaveformSource* s : base::waveform_sources())
        s->open_waveform(options_.output + "/" + s->path() + ".fst", *options_.trace_vcd);
    }
    if (options_.trace_insn)
      insn_ = std::make_unique<debug::InsnTrace>(board_, options_.output + "/trace.insn", *options_.trace_insn);
  } catch (const std::runtime_error& e) {
    throw config::UserError(e.what());
  }
}

void Simulation::close_traces() {
  base::trace().attach(nullptr);
  // A file that cannot be completed keeps none of the others from it.
  std::string mistake;
  const auto close = [&mistake](const auto& end) {
    try {
      end();
    } catch (const std::runtime_error& e) {
      if (mistake.empty()) mistake = e.what();
    }
  };
  for (auto& c : captures_) close([&] { c->close(); });
  for (auto& c : link_captures_) close([&] { c->close(); });
  if (options_.trace_vcd)
    for (base::WaveformSource* s : base::waveform_sources()) close([&] { s->close_waveform(); });
  if (perfetto_) close([&] { perfetto_->close(); });
  if (insn_) close([&] { insn_->close(); });
  if (!mistake.empty()) throw config::UserError(mistake);
}

Outcome Simulation::run() {
  base::Scheduler& scheduler = board_.scheduler();
  begin_measuring();
  for (auto& system : board_.systems())
    system->finisher().on_finish = [this, s = system.get()](irq::Finisher::Verdict v) { take_verdict(*s, v); };
  for (Cluster& c : board_.clusters())
    for (auto& htif : c.htifs) htif->on_exit = [this](const Htif::Exit& e, riscv::Core& core) { take_exit(e, core); };
  if (board_.workload()) base::calendar().at(Time{}, kWatchKey, [this] { board_.workload()->start(*this); });
  // Entries at time 0 precede the first instruction.
  base::calendar().at(Time{}, kWatchKey, [this] { startup_seconds_ = processor_seconds(); });
  watch_traps();  // before watch() at the same time, because watch()'s diagnosis says less
  base::calendar().at(board_.run_parameters().stall_limit, kWatchKey, [this] { watch(); });
  plan_time_limit();
  if (outside_) {
    outside_->start([this] {
      interrupted_ = true;
      board_.scheduler().stop();
    });
  }
  if (options_.progress)
    progress_look_ = base::calendar().at(kProgressInterval, kWatchKey, [this] { report_progress(); });

  if (!outside_ || !outside_->live()) {
    interruption_.emplace();
    look_for_signals();
  }
  base::calendar().on_look([this](base::ComponentKey last) { look_at_entries(last); });
  scheduler.on_look([this] { look_at_kernel(); });
  const auto start = std::chrono::steady_clock::now();
  last_progress_ = start;
  const Time last = std::min(options_.until.value_or(kEndOfTime), kEndOfTime);
  const auto end = run_until(last);
  wall_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  cpu_seconds_ = processor_seconds() - startup_seconds_;
  ended_at_ = end == base::Scheduler::End::limit ? last : base::now();
  for (Cluster& c : board_.clusters())
    for (auto& core : c.cores)
      if (core->local_time() > ended_at_ && core->local_time() != Time::max()) ended_at_ = core->local_time();
  measurement_.end(ended_at_);
  if (console_) console_->end();
  close_traces();
  const Outcome outcome = judge(end);
  // Cores may have gone a little further than the moment at which the run was interrupted.
  if (outside_) outside_->close(outcome == Outcome::limit ? last : base::now(), input_end(outcome));
  return outcome;
}

/// Systems run ahead of each other, so a verdict of an earlier time may come later: the earliest one ends the run.
void Simulation::take_verdict(SystemOnChip& system, const irq::Finisher::Verdict& v) {
  const std::string exit = std::exchange(exit_, {});
  if (verdict_ && verdict_at_ <= base::now()) return;
  if (v.kind == irq::Finisher::Kind::reset && board_.run_parameters().reboot == Reboot::restart) {
    if (!verdict_) restart(system);
    return;
  }
  verdict_ = v;
  verdict_at_ = base::now();
  // Describes the failure now, because the hart goes on to its next instruction.
  failure_.clear();
  if (v.kind == irq::Finisher::Kind::fail)
    failure_ = exit.empty() ? describe_failure(v.code, board_, running_hart()) : exit;
  if (v.kind == irq::Finisher::Kind::reset) failure_ = describe_reset(board_, running_hart());
  stop();
}

/// Resets a system beside the host alone, or with the host the whole board. Ends the run after kIdleResets: a firmware
/// that only resets would go on until the time limit, which is minutes of wall time.
void Simulation::restart(SystemOnChip& system) {
  const auto reset = [this, &system] {
    if (!system.plan().is_host()) return board_.reset(system);
    behind_all([this] { board_.reset(); });
  };
  const std::uint64_t ended = ended_requests();
  idle_resets_ = std::exchange(ended_at_reset_, ended) == ended ? idle_resets_ + 1 : 1;
  if (idle_resets_ < kIdleResets || outside_ || stalled_) return reset();
  diagnosis_ = describe_reset_loop(board_, system, running_hart(), idle_resets_) + describe_state(board_);
  stalled_ = true;
  reset();
  stop();
}

/// Runs the action at a time that all systems reach: they run ahead of each other, but by no more than the separation.
void Simulation::behind_all(base::Callback<void()> action) {
  if (board_.systems().size() == 1) return action();
  base::calendar().after(board_.scheduler().separation(), kWatchKey, std::move(action));
}

void Simulation::stop() {
  behind_all([this] { board_.scheduler().stop(); });
}

/// An end of the run by tohost becomes a verdict, as if from the test finisher.
void Simulation::take_exit(const Htif::Exit& exit, riscv::Core& core) {
  if (!exit.what.empty()) exit_ = describe_exit(exit.what, board_, &core);
  board_.cluster_of(&core)->system->finisher().finish(
      {exit.what.empty() ? irq::Finisher::Kind::pass : irq::Finisher::Kind::fail, 0});
}

/// An exception means that a component is broken; it is not a mistake of the user.
base::Scheduler::End Simulation::run_until(Time limit) {
  base::Scheduler::End end{};
  try {
    // An exception that is no ComponentError yet comes from a callback of elaboration.
    base::name_what_is_thrown(ElaborationMark::current(), [&] { end = board_.scheduler().run_until(limit); });
    return end;
  } catch (const base::ComponentError& e) {
    thrown_ = fmt::format("{} threw an exception at {}: {}", e.component().empty() ? "a component" : e.component(),
                          base::to_text(base::now()), config::UserError(e.what()).what());
    return base::Scheduler::End::stopped;
  }
}

Outcome Simulation::judge(base::Scheduler::End end) {
  if (!thrown_.empty()) {
    diagnosis_ = thrown_ + "\n" + describe_state(board_);
    return Outcome::failed;
  }
  if (end == base::Scheduler::End::sc_stop) {
    diagnosis_ = fmt::format("a component called sc_stop(), which ended the kernel at {}\n", base::to_text(ended_at_)) +
                 describe_state(board_);
    return Outcome::failed;
  }
  if (verdict_ && verdict_->kind != irq::Finisher::Kind::pass) {
    diagnosis_ = failure_ + "\n" + describe_state(board_);
    return Outcome::failed;
  }
  if (script_ && script_->state() == uart::ExpectScript::State::failed) {
    diagnosis_ = script_->diagnosis() + "\n" + describe_state(board_);
    return Outcome::failed;
  }
  if (stalled_) return Outcome::stalled;
  if (script_ && script_->state() == uart::ExpectScript::State::running && !interrupted_ && !Interruption::signal())
    diagnosis_ = "the run ended before the script at the UART: it waits for " + script_->awaited() + "\n";
  if (verdict_) return Outcome::finished;
  const bool finished = workload_finished_ && end == base::Scheduler::End::stopped;
  if ((finished || end == base::Scheduler::End::limit) && in_trap_loop(kTrapsAtEnd)) return Outcome::stalled;
  if (workload_finished_) return Outcome::finished;
  if (interrupted_) return Outcome::interrupted;
  if (const char* signal = Interruption::signal()) {
    diagnosis_ = fmt::format("interrupted by {} after {} of simulated time\n", signal, base::to_text(ended_at_)) +
                 describe_state(board_);
    return Outcome::interrupted;
  }
  if (end == base::Scheduler::End::exhausted || dead_) {
    diagnosis_ = "nothing can ever happen again\n" + describe_state(board_);
    return Outcome::deadlocked;
  }
  return judge_limit();
}

Outcome Simulation::judge_limit() {
  if (met_time_limit_) {
    diagnosis_ = describe_time_limit(board_) + describe_state(board_);
    return Outcome::limit;
  }
  if (!options_.until) {
    diagnosis_ = fmt::format("simulated time ends at {}, and the run had not\n", base::to_text(kEndOfTime)) +
                 describe_state(board_);
    return Outcome::limit;
  }
  // A debugger, or typed input, could still end the hang.
  if (outside_) return Outcome::limit;
  const std::string hang = describe_hang(board_);
  if (hang.empty()) return Outcome::limit;
  diagnosis_ = hang + describe_state(board_);
  return Outcome::stalled;
}

/// The hart whose access is under way; null outside a hart's access.
riscv::Core* Simulation::running_hart() const {
  const base::Runner* runner = board_.scheduler().running();
  for (Cluster& c : board_.clusters())
    for (auto& core : c.cores)
      if (runner && core->path() == runner->path()) return core.get();
  return nullptr;
}

void Simulation::finish() {
  workload_finished_ = true;
  stop();
}

std::uint64_t Simulation::ended_requests() const {
  std::uint64_t ended = board_.workload() ? board_.workload()->ended() : 0;
  for (const DeviceInstance& d : board_.devices()) ended += d.endpoint->ended_operations();
  for (const NicInstance& n : board_.nics())
    if (n.endpoint) ended += n.endpoint->ended_operations();
  return ended;
}

/// Ends the run if the workload waits now and waited at the last check, and no request has ended in between, or if
/// nothing can happen any more. Without a workload, a board runs until its firmware ends the run, or until
/// run.time_limit.
void Simulation::watch() {
  const std::uint64_t ended = ended_requests();
  const bool waits = board_.workload() && board_.workload()->waits();
  const bool waited = std::exchange(calls_waited_, waits);
  if (waits && waited && ended == last_ended_) {
    stalled_ = true;
    diagnosis_ = describe_stall(board_, board_.run_parameters().stall_limit);
    stop();
    return;
  }
  last_ended_ = ended;
  if (dead()) {
    dead_ = true;
    stop();
    return;
  }
  base::calendar().after(board_.run_parameters().stall_limit, kWatchKey, [this] { watch(); });
}

bool Simulation::in_trap_loop(std::uint64_t least) {
  const std::string loops = trap_loops_.look(least);
  if (loops.empty()) return false;
  stalled_ = true;
  diagnosis_ = loops + describe_state(board_);
  return true;
}

/// Ends the run when a hart does nothing but trap.
void Simulation::watch_traps() {
  if (in_trap_loop(kTrapsInInterval)) return stop();
  const Time interval = std::min(board_.run_parameters().stall_limit, kTrapInterval);
  trap_look_ = base::calendar().after(interval, kWatchKey, [this] { watch_traps(); });
}

/// A run without --until, TAP, console or debugger ends at run.time_limit at the latest.
void Simulation::plan_time_limit() {
  const Time limit = board_.run_parameters().time_limit;
  if (options_.until || outside_ || limit >= kEndOfTime) return;
  limit_look_ = base::calendar().after(limit, kWatchKey, [this] { meet_time_limit(); });
}

/// A workload that measures for a time makes progress without a request.
void Simulation::meet_time_limit() {
  const double progress = board_.workload() ? board_.workload()->progress().value_or(0) : 0;
  const bool has_gone_on = std::exchange(progress_at_limit_look_, progress) < progress;
  if (std::exchange(ended_at_limit_look_, ended_requests()) != ended_requests() || has_gone_on)
    return plan_time_limit();
  met_time_limit_ = true;
  stop();
}

bool Simulation::signalled() {
  const bool came = outside_ && outside_->live() ? outside_->take_signal() : Interruption::signal() != nullptr;
  interrupted_ |= came && outside_ && outside_->attended();
  return came || interrupted_;
}

void Simulation::look_for_signals() {
  if (signalled())
    board_.scheduler().stop();
  else
    signal_look_ = base::calendar().after(kSignalInterval, base::kInputKey, [this] { look_for_signals(); });
}

void Simulation::stand_still(Time at, const std::string& of) {
  stalled_ = true;
  diagnosis_ = fmt::format("simulated time stands still at {}: {}\n", base::to_text(at), of) + describe_state(board_);
  board_.scheduler().stop();
}

/// Checks for signals and for simulated time that stands still. While it stands still, look_for_signals() is not
/// called.
void Simulation::look_at_entries(base::ComponentKey last) {
  if (signalled()) return board_.scheduler().stop();
  looks_at_one_time_ = base::now() == last_look_ ? looks_at_one_time_ + 1 : 0;
  last_look_ = base::now();
  if (looks_at_one_time_ < kLooksAtOneTime) return;
  const std::string path = base::path_of_key(last);
  stand_still(base::now(), fmt::format("{} entries, the last of {}", kLooksAtOneTime * base::Calendar::kLookInterval,
                                       path.empty() ? "a component" : path));
}

/// Checks for signals and for delta cycles of foreign processes that keep simulated time from advancing.
void Simulation::look_at_kernel() {
  if (signalled()) return board_.scheduler().stop();
  const Time now = base::from_sc_time(sc_core::sc_time_stamp());  // harts may have taken base::now() further
  kernel_looks_at_one_time_ = now == last_kernel_look_ ? kernel_looks_at_one_time_ + 1 : 0;
  last_kernel_look_ = now;
  if (kernel_looks_at_one_time_ < kKernelLooksAtOneTime) return;
  const std::vector<std::string> processes = board_.scheduler().foreign_processes();
  stand_still(now, fmt::format("{} delta cycles of {}", kKernelLooksAtOneTime * base::Scheduler::kLookInterval,
                               processes.empty() ? "a process" : fmt::format("{}", fmt::join(processes, ", "))));
}

/// Whether nothing can happen any more: every hart waits, the calendar holds only this class's checks, which change
/// nothing, and no input can come from outside.
bool Simulation::dead() const {
  if (options_.until || (outside_ && outside_->live()) || !board_.scheduler().only_entries()) return false;
  const std::size_t ours = base::calendar().pending(signal_look_) + base::calendar().pending(progress_look_) +
                           base::calendar().pending(trap_look_) + base::calendar().pending(limit_look_) +
                           measurement_.pending() + (outside_ ? outside_->pending_looks() : 0);
  return base::calendar().size() == ours;
}

void Simulation::report_progress() {
  const auto wall = std::chrono::steady_clock::now();
  if (wall - last_progress_ > std::chrono::milliseconds(100)) {
    last_progress_ = wall;
    const auto done = board_.workload() ? board_.workload()->progress() : std::nullopt;
    const double by_time = options_.until ? base::now().seconds() / options_.until->seconds() : 0;
    options_.progress(base::now(), done.value_or(by_time));
  }
  progress_look_ = base::calendar().after(kProgressInterval, kWatchKey, [this] { report_progress(); });
}

}  // namespace sluice::platform
