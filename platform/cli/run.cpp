// SPDX-License-Identifier: Apache-2.0
/// sluice run BOARD: one run, with its report and its result file.

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "models/base/parameters/quantity.h"
#include "models/net/traffic/traffic_source.h"
#include "platform/board/pcie_tree.h"
#include "platform/cli/command.h"
#include "platform/cli/progress.h"
#include "platform/cli/result_file.h"
#include "platform/cli/say.h"
#include "platform/config/files/board_file.h"
#include "platform/report/result.h"
#include "platform/report/text.h"
#include "platform/report/workloads.h"
#include "platform/run/first_run.h"
#include "platform/run/simulation.h"
#include "platform/run/without_effect.h"

namespace sluice::cli {
namespace {

struct Options : BoardOptions {
  WorkloadOptions workload;
  std::string output;
  std::string until;
  std::string expect;
  std::string gdb;
  std::vector<std::string> traces;
  std::string trace_from, trace_until, trace_request;
  platform::OutsideOptions outside;
  bool json = false;
  bool console = false;
  bool no_skip = false;
  bool check = false;
  bool page = false;
};

/// The value of an option that is a time.
base::Time time_of(const char* option, const std::string& text, base::Time least) {
  const config::Location where{fmt::format("{} {}", option, text), 0};
  try {
    const base::Time time = base::parse_time(config::unquoted(text, where));
    if (time < least) throw base::ValueError("must be more than 0");
    if (time > platform::kEndOfTime) throw base::ValueError("must be at most " + base::to_text(platform::kEndOfTime));
    return time;
  } catch (const base::ValueError& e) {
    throw config::UserError(where, e.what());
  }
}

debug::TraceWindow trace_window(const std::string& from, const std::string& until) {
  debug::TraceWindow window;
  if (!from.empty()) window.from = time_of("--trace-from", from, {});
  if (!until.empty()) window.until = time_of("--trace-until", until, base::Time::fs(1));
  if (window.until <= window.from) throw config::UserError("--trace-until must be later than --trace-from");
  return window;
}

base::WaveformWindow waveform_window(const Options& o) {
  const debug::TraceWindow window = trace_window(o.trace_from, o.trace_until);
  const std::uint64_t request = o.trace_request.empty() ? 0 : whole_number("--trace-request", o.trace_request, 1, ~0u);
  return {window.from, window.until, request};
}

platform::SimulationOptions simulation_options(const Options& o) {
  platform::SimulationOptions s;
  s.output = o.output;
  s.skip_spins = !o.no_skip;
  s.outside = o.outside;
  if (!o.gdb.empty()) s.outside.gdb = static_cast<std::uint16_t>(whole_number("--gdb", o.gdb, 0, 65535));
  if (!o.until.empty()) s.until = time_of("--until", o.until, base::Time::fs(1));
  for (const std::string& list : o.traces)
    for (std::size_t first = 0, end = 0; end != std::string::npos; first = end + 1) {
      end = list.find(',', first);
      const std::string t = list.substr(first, end == std::string::npos ? end : end - first);
      if (t == "pcap")
        s.trace_pcap = true;
      else if (t == "perfetto")
        s.trace_perfetto = true;
      else if (t == "tlp")
        s.trace_tlp = true;
      else if (t == "coherence")
        s.trace_coherence = true;
      else if (t == "insn")
        s.trace_insn = trace_window(o.trace_from, o.trace_until);
      else if (t == "vcd")
        s.trace_vcd = waveform_window(o);
      else
        throw config::UserError(fmt::format("--trace {}: {}must be pcap, tlp, coherence, perfetto, insn or vcd", list,
                                            list == t ? "" : "each between commas "));
    }
  if (!s.trace_insn && !s.trace_vcd && !(o.trace_from.empty() && o.trace_until.empty()))
    throw config::UserError("--trace-from and --trace-until belong to --trace insn and vcd");
  if (!s.trace_vcd && !o.trace_request.empty()) throw config::UserError("--trace-request belongs to --trace vcd");
  if (!o.traces.empty() && s.output.empty())
    throw config::UserError("--trace needs --out: the directory that the traces go to");
  if (o.console) s.console = &std::cerr;
  s.outside.console = o.console && o.outside.replay.empty() && platform::Console::available();
  return s;
}

/// Says why a trace of a part of the run has nothing. otherwise: the reason if the run has reached that part.
void explain_empty(const std::string& what, base::Time ended, base::Time from, const std::string& otherwise) {
  if (ended <= from)
    say("sluice: {}: the run ended at {}, before --trace-from {}\n", what, base::to_text(ended), base::to_text(from));
  else
    say("sluice: {}: {}\n", what, otherwise);
}

void explain_empty_traces(const platform::Simulation& simulation, const Options& o) {
  const debug::InsnTrace* trace = simulation.insn_trace();
  if (trace && trace->empty())
    explain_empty("trace.insn has no instruction", simulation.ended_at(), trace->window().from,
                  "no hart has started one between --trace-from and --trace-until");
  const std::optional<base::WaveformWindow>& window = simulation.waveform_window();
  if (!window) return;
  for (const base::WaveformSource* s : base::waveform_sources())
    if (!s->has_waveform())
      explain_empty(s->path() + ".fst has no cycle", simulation.ended_at(), window->from,
                    o.trace_request.empty()
                        ? "the block slept in all the time that is traced"
                        : "the block never had --trace-request " + o.trace_request + " while it was traced");
}

/// Whether the end of the run is known: the workload reports progress, or --until is given.
bool has_known_end(platform::Board& board, const std::optional<base::Time>& until) {
  return (board.workload() && board.workload()->progress()) || until;
}

/// Says last what had no effect, where it is not lost above a report. Of what happened not in this run, only what the
/// command line gives: a board's file has what other runs need.
void say_without_effect(const platform::Simulation& simulation, platform::Outcome outcome) {
  std::fflush(stdout);
  for (const platform::WithoutEffect& w : platform::without_effect(simulation, outcome))
    if (w.from_command_line || w.by == platform::WithoutEffect::By::board)
      say("sluice: {}: {}\n", simulation.board().config().name(), platform::to_text(w));
}

/// Says that a first run has found no warm-up, though it was asked to.
void say_too_short(const platform::Board& board) {
  if (board.warm_up() && board.warm_up()->too_short)
    say("sluice: {}: the first run was too short to tell where its start-up ends, so no call is cut\n",
        board.config().name());
}

/// Runs the simulation, writes its result and prints its report; returns the exit status.
int run_and_report(platform::Simulation& simulation, Progress& progress, std::optional<ResultFile>& file,
                   const Options& o) {
  const platform::Outcome outcome = simulation.run();
  progress.clear();
  if (const std::string left = simulation.outside() ? simulation.outside()->left_over() : ""; !left.empty())
    say("sluice: {}\n", left);
  explain_empty_traces(simulation, o);
  const auto result = report::make_result(simulation, outcome);
  if (file) file->commit(report::to_text(result));
  const std::string text = o.json ? report::to_text(result) : report::run_report(result, simulation.board().workload());
  const std::string failure = report::failure_of(result);
  // Tells the debugger first: the reader of standard output may wait for the debugger to end.
  if (simulation.outside()) simulation.outside()->tell_end(failure.empty() ? 0 : 1);
  fmt::print("{}", text);
  if (o.page) write_page(o.output, !o.json);
  std::fflush(stdout);
  if (!failure.empty()) {
    say("sluice: {}: {}\n", simulation.board().config().name(), failure);
    const std::string diagnosis = report::diagnosis_of(result);
    if (const auto rest = diagnosis.find('\n'); rest != std::string::npos) say("{}", diagnosis.substr(rest + 1));
  }
  if (failure.empty()) say_too_short(simulation.board());
  say_without_effect(simulation, outcome);
  return failure.empty() ? 0 : 1;
}

/// What the first run finds; nothing where a signal has ended it.
std::optional<platform::WarmUp> first_run(const config::BoardConfig& config, const platform::SimulationOptions& o) {
  if (o.outside.any())
    throw config.error(config.the("workload"), "find_warmup",
                       "makes two runs, and what is outside the board could take part in one only");
  const std::optional<platform::WarmUp> found = platform::find_warm_up(config, o.until);
  if (!found) say("sluice: {}: interrupted in the first run, which finds the warm-up\n", config.name());
  return found;
}

int execute(const Environment& environment, const Options& o) {
  check_page(o.page, o.output);
  if (!o.output.empty()) ResultFile::set_old_aside(o.output);
  Overrides overrides(o.overrides);
  o.workload.apply_to(environment.registry, overrides);
  if (o.check) overrides.add("run.check=true", "--check");
  if (!o.expect.empty()) overrides.add("uart.expect=" + o.expect, "--expect " + o.expect);
  const config::BoardConfig config = o.load(environment, overrides);
  o.workload.check(config);
  platform::SimulationOptions options = simulation_options(o);
  std::optional<ResultFile> file;
  if (!o.output.empty()) file.emplace(o.output, "--out " + o.output);
  Progress progress(config.name());
  const bool outside = options.outside.any();

  const platform::Traffic traffic = platform::traffic_with(options.outside);
  std::optional<platform::WarmUp> warm_up;
  if (platform::finds_warm_up(config)) {
    warm_up = first_run(config, options);
    if (!warm_up) return 1;
  }
  base::waveforms_wanted() = options.trace_vcd.has_value();
  platform::Board board(config, traffic, warm_up);
  if (platform::makes_calls(config) && board.clients().empty() && !outside && !options.until)
    throw config::UserError(config.file() + ": no wire is left for the workload; end the run with --until");
  if (Progress::wanted() && !outside)
    options.progress = [&progress, &board, until = options.until](base::Time t, double done) {
      progress.show(t, has_known_end(board, until) ? std::optional(done) : std::nullopt);
    };
  const base::Time until = options.until.value_or(platform::kEndOfTime);
  platform::Simulation simulation(board, std::move(options));
  if (const std::uint16_t port = simulation.outside() ? simulation.outside()->gdb_port() : 0)
    say("sluice: waiting for a debugger: gdb-multiarch -ex 'target remote localhost:{}'\n", port);
  if (simulation.outside()) {
    const std::string tap = simulation.outside()->has_tap() ? board.about_tap() : "";
    for (const std::string& warning :
         {tap, simulation.outside()->mismatch(board), simulation.outside()->cut_short(until)})
      if (!warning.empty()) say("sluice: {}\n", warning);
  }
  if (const workload::Workload* workload = board.workload())
    if (const std::string about = workload->about_to_run(); !about.empty())
      say("sluice: {}{}{}\n", config.name(), kAboutToRun, about);
  try {
    return run_and_report(simulation, progress, file, o);
  } catch (const config::UserError&) {
    throw;  // ~Outside() sends the debugger exit status 2
  } catch (...) {
    if (simulation.outside()) simulation.outside()->tell_end(1);
    throw;
  }
}

}  // namespace

void WorkloadOptions::add_to(CLI::App& command) {
  command.add_option("--requests", requests, "Requests that count: workload.requests; 0: none are made")
      ->type_name("N");
  command.add_option("--warmup", warmup, "Requests before them: workload.warmup; auto: a first run finds how many")
      ->type_name("N");
  command
      .add_option("--workload", workload,
                  "What the board is put to: workload.kind, or another one that `sluice boards` lists")
      ->type_name("NAME");
  command
      .add_option("--sizes", sizes, "Bytes of DMA transactions, frames or messages, such as 8..2048: workload.sizes")
      ->type_name("LIST");
  command.add_option("--seed", seed, "Seed of every random stream: run.seed")->type_name("S");
  command.add_option("--quantum", quantum, "How far one hart may run ahead of another, such as \"100 ns\"")
      ->type_name("T");
  command.add_option("--firmware", firmware, "Firmware of the host: cluster.host.firmware")->type_name("ELF");
}

/// The kinds of traffic are values of workload.kind of the model "traffic". The other workloads are models of their
/// own.
void WorkloadOptions::choose_workload(const config::Registry& registry, Overrides& overrides) const {
  if (workload.empty()) return;
  const std::string option = "--workload " + workload;
  std::vector<std::string> names;
  for (const auto& k : report::workload_kinds(registry)) names.push_back(k.name);
  if (std::find(names.begin(), names.end(), workload) == names.end())
    throw config::UserError(fmt::format("{}: must be one of {}", option, fmt::join(names, ", ")));
  const bool model = registry.find("workload")->find(workload) != nullptr;
  overrides.add("workload.model=" + (model ? workload : "traffic"), option);
  if (!model) overrides.add("workload.kind=" + workload, option);
  const std::string needed = report::firmware_for(registry, workload), path = "cluster.host.firmware=";
  const auto sets_it = [&path](const std::string& setting) { return setting.starts_with(path); };
  const auto& set = overrides.settings;
  if (!needed.empty() && firmware.empty() && std::none_of(set.begin(), set.end(), sets_it))
    overrides.add(path + needed, option);
}

void WorkloadOptions::apply_to(const config::Registry& registry, Overrides& overrides) const {
  const auto add = [&overrides](const char* key, const char* option, const std::string& value) {
    if (!value.empty()) overrides.add(std::string(key) + "=" + value, std::string(option) + " " + value);
  };
  // The parameter's 0 ns means the board's choice, which is no time that a person asks for.
  if (!quantum.empty()) time_of("--quantum", quantum, base::Time::fs(1));
  choose_workload(registry, overrides);
  add("workload.sizes", "--sizes", sizes);
  add("workload.requests", "--requests", requests);
  if (warmup == "auto")
    overrides.add("workload.find_warmup=true", "--warmup auto");
  else
    add("workload.warmup", "--warmup", warmup);
  add("run.seed", "--seed", seed);
  add("cluster.host.quantum", "--quantum", quantum);
  add("cluster.host.firmware", "--firmware", firmware);
}

void WorkloadOptions::check(const config::BoardConfig& board) const {
  const config::Instance& calls = board.the("workload");
  if (!sizes.empty() && calls.model() == "traffic" &&
      calls.parameters<net::TrafficSource::Parameters>().kind != net::TrafficSource::Kind::size_sweep)
    throw config::UserError(fmt::format("--sizes {}: belongs to a size sweep of calls, --workload size-sweep", sizes));
  if (board.the("workload").model() == "traffic" && !requests.empty() && !warmup.empty() &&
      !platform::makes_calls(board) && !board.of_kind("net").empty())
    throw config::UserError(
        fmt::format("--warmup {}: --requests {} makes no calls, nor any before them", warmup, requests));
  if (!board.of_kind("net").empty() || board.the("workload").model() != "traffic") return;
  const auto refuse = [](const char* option, const std::string& value, const char* what) {
    if (!value.empty())
      throw config::UserError(fmt::format("{} {}: the board has no Ethernet link to {} on", option, value, what));
  };
  refuse("--workload", workload, "put it");
  refuse("--requests", requests, "make calls");
  refuse("--warmup", warmup, "make calls");
}

std::vector<std::string> WorkloadOptions::arguments() const {
  std::vector<std::string> list;
  const auto add = [&list](const char* option, const std::string& value) {
    if (!value.empty()) list.push_back(std::string(option) + "=" + value);
  };
  add("--workload", workload);
  add("--sizes", sizes);
  add("--requests", requests);
  add("--warmup", warmup);
  add("--seed", seed);
  add("--quantum", quantum);
  add("--firmware", firmware);
  return list;
}

void add_run(CLI::App& app, const Environment& environment, Action& action) {
  CLI::App* command = app.add_subcommand("run", "Run a board's workload and report where the time went");
  auto options = std::make_shared<Options>();
  options->add_to(*command);
  options->workload.add_to(*command);
  command->add_option("--expect", options->expect, "Script that talks to the firmware at its UART: uart.expect")
      ->type_name("FILE");
  command->add_option("--until", options->until, "End the run at this simulated time, such as \"5 ms\"")
      ->type_name("T");
  auto* tap =
      command
          ->add_option("--tap", options->outside.tap,
                       "Connect the board's first Ethernet link to this machine by a TAP interface; calls of the "
                       "workload are not made")
          ->type_name("IFNAME");
  command
      ->add_option("--replay", options->outside.replay,
                   "Repeat a run with --tap, --console or --gdb from its DIR/input.log")
      ->type_name("LOG")
      ->excludes(tap);
  command
      ->add_option("--gdb", options->gdb, "Wait for a debugger at this TCP port of the loopback interface; 0: any port")
      ->type_name("PORT");
  command->add_option("--out", options->output, "Directory for result.json and traces")->type_name("DIR");
  command
      ->add_option("--trace", options->traces,
                   "Traces to write, separated by commas: pcap, tlp, coherence, perfetto, insn, vcd")
      ->allow_extra_args(false)
      ->type_name("KIND");
  command
      ->add_option("--trace-from", options->trace_from, "Trace instructions and waveforms from this simulated time on")
      ->type_name("T");
  command
      ->add_option("--trace-until", options->trace_until, "Trace instructions and waveforms up to this simulated time")
      ->type_name("T");
  command->add_option("--trace-request", options->trace_request, "Trace waveforms only while a block has this request")
      ->type_name("ID");
  command->add_flag("--json", options->json, "Print the result file instead of the report");
  add_page(*command, options->page);
  command->add_flag("--no-skip", options->no_skip,
                    "Execute every turn of the loops in which harts wait: slower, with the same results");
  command->add_flag("--check", options->check, "Check every access to lines whose home is a device: run.check");
  command->add_flag("--console", options->console,
                    "Show what the firmware prints, on standard error; what is typed goes to the firmware");
  command->callback([&environment, &action, options] {
    action = [&environment, options] { return execute(environment, *options); };
  });
}

}  // namespace sluice::cli
