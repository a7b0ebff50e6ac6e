// SPDX-License-Identifier: Apache-2.0
#pragma once
/// One run of a board: starts its traffic, watches over it, and says how it went.

#include <chrono>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/base/fabric/link_capture.h"
#include "models/base/measure/perfetto.h"
#include "models/base/measure/waveforms.h"
#include "models/net/pcap.h"
#include "models/uart/back_ends.h"
#include "platform/board/board.h"
#include "platform/debug/insn_trace.h"
#include "platform/diagnosis/code_place.h"
#include "platform/diagnosis/trap_loops.h"
#include "platform/run/console_output.h"
#include "platform/run/interruption.h"
#include "platform/run/measurement.h"
#include "platform/run/outside.h"
#include "platform/run/served.h"

namespace sluice::platform {

/// Every run ends by this time, so that no delay of a model leads past what 64 bits of femtoseconds hold.
constexpr base::Time kEndOfTime = base::kLatestInput;

struct SimulationOptions {
  std::optional<base::Time> until;  ///< end of the run, whatever is under way
  std::string output;               ///< directory for traces and the log of inputs; exists
  OutsideOptions outside;           ///< the board was made with their traffic_with()
  bool skip_spins = true;           ///< harts that wait in a loop are left to arithmetic; results are the same
  bool trace_pcap = false;
  bool trace_perfetto = false;
  bool trace_tlp = false;                         ///< what crosses PCIe links
  bool trace_coherence = false;                   ///< what crosses coherent links
  std::optional<base::WaveformWindow> trace_vcd;  ///< waveforms of blocks in RTL
  std::optional<debug::TraceWindow> trace_insn;
  std::ostream* console = nullptr;  ///< what the firmware prints; null: nowhere
  /// Called about ten times a second of wall time with simulated time and the share of the work that is done.
  std::function<void(base::Time now, double done)> progress;
};

/// How a run ended. Everything from `stalled` on is a failure of the simulated system.
enum class Outcome {
  finished,     ///< the workload's requests have ended, or the firmware said that it passed
  limit,        ///< --until; run.time_limit or kEndOfTime: then a failure, and the diagnosis says so
  interrupted,  ///< the user ended it; without TAP, console and debugger a failure, and the diagnosis says so
  stalled,      ///< no request ended for run.stall_limit, a hart did nothing but trap for a while, the firmware reset
                ///< its board again and again, simulated time stood still, or the harts hung when the run ended at
                ///< --until
  deadlocked,   ///< nothing can happen any more; checked every run.stall_limit, but not with --until or while input
                ///< can come from outside
  failed,       ///< the firmware said that it failed, the script that talks to it did not hear what it expects, or a
                ///< component threw an exception or called sc_stop()
};

class Simulation final : private workload::Run {
 public:
  /// Throws config::UserError when a trace file cannot be written.
  Simulation(Board&, SimulationOptions);
  ~Simulation();

  Outcome run();

  /// Valid after run(): a sentence and, where it helps, a list of which component waits for which, with the harts' PCs.
  /// Empty when nothing went wrong.
  const std::string& diagnosis() const { return diagnosis_; }
  /// What was measured. Valid after run().
  const Measurement& measurement() const { return measurement_; }
  const Served& served() const { return served_; }
  base::Time ended_at() const { return ended_at_; }
  double wall_seconds() const { return wall_seconds_; }
  /// Processor time of this process from its start to the first instruction, and that of the run.
  double startup_seconds() const { return startup_seconds_; }
  double cpu_seconds() const { return cpu_seconds_; }
  Board& board() { return board_; }
  const Board& board() const { return board_; }
  /// Null if nothing outside is connected.
  Outside* outside() { return outside_.get(); }
  const Outside* outside() const { return outside_.get(); }
  const debug::InsnTrace* insn_trace() const { return insn_.get(); }
  const std::optional<base::WaveformWindow>& waveform_window() const { return options_.trace_vcd; }

 private:
  void begin_measuring() override {
    measurement_.begin();
    served_.clear();
  }
  void begin_phase() override { measurement_.begin_phase(); }
  void measure_to_here() override { measurement_.to_here(); }
  void finish() override;
  void take_verdict(SystemOnChip&, const irq::Finisher::Verdict&);
  void take_exit(const Htif::Exit&, riscv::Core&);
  void stop();
  void behind_all(base::Callback<void()> action);
  void restart(SystemOnChip&);
  void watch();
  void watch_traps();
  bool in_trap_loop(std::uint64_t least);
  void plan_time_limit();
  void meet_time_limit();
  Outcome judge_limit();
  void report_progress();
  bool signalled();
  void look_for_signals();
  void stand_still(base::Time at, const std::string& of);
  void look_at_entries(base::ComponentKey last);
  void look_at_kernel();
  base::Scheduler::End run_until(base::Time limit);
  bool dead() const;
  riscv::Core* running_hart() const;
  std::uint64_t ended_requests() const;
  Outcome judge(base::Scheduler::End);
  template <class Links>
  void capture_links(const std::string& kind, std::uint32_t type, Links&);
  void refuse_traces_of_nothing();
  void open_traces();
  void close_traces();

  Board& board_;
  SimulationOptions options_;
  std::unique_ptr<ConsoleOutput> console_;
  std::unique_ptr<uart::ExpectScript> script_;
  std::unique_ptr<Outside> outside_;
  std::vector<std::unique_ptr<net::PcapWriter>> captures_;
  std::vector<std::unique_ptr<base::LinkCapture>> link_captures_;
  std::unique_ptr<base::PerfettoWriter> perfetto_;
  std::unique_ptr<debug::InsnTrace> insn_;
  std::optional<irq::Finisher::Verdict> verdict_;  ///< the one that ends the run
  base::Time verdict_at_;
  std::string exit_;  ///< how a tohost explained the failure that the next verdict reports
  Measurement measurement_;
  Served served_;
  base::Time ended_at_;
  TrapLoops trap_loops_;
  BoardNames names_;
  std::uint64_t last_ended_ = 0;
  std::uint64_t ended_at_reset_ = 0;
  std::uint64_t idle_resets_ = 0;  ///< successive resets by the firmware without an ended request between them
  std::uint64_t ended_at_limit_look_ = 0;
  double progress_at_limit_look_ = 0;
  bool met_time_limit_ = false;
  bool calls_waited_ = true;  ///< at the last look
  bool workload_finished_ = false;
  bool stalled_ = false;
  bool dead_ = false;
  base::Time last_look_ = base::Time::max();
  unsigned looks_at_one_time_ = 0;
  base::Time last_kernel_look_ = base::Time::max();
  unsigned kernel_looks_at_one_time_ = 0;
  base::Calendar::Handle signal_look_;
  base::Calendar::Handle trap_look_;
  base::Calendar::Handle limit_look_;
  base::Calendar::Handle progress_look_;
  bool interrupted_ = false;
  std::optional<Interruption> interruption_;  ///< kept to the end, so that no signal cuts off the report
  std::string failure_;                       ///< what a verdict other than a pass says
  std::string thrown_;                        ///< which component threw what, and when
  std::string diagnosis_;
  double wall_seconds_ = 0;
  double startup_seconds_ = 0;
  double cpu_seconds_ = 0;
  std::chrono::steady_clock::time_point last_progress_;
};

}  // namespace sluice::platform
