// SPDX-License-Identifier: Apache-2.0
/// sluice sweep STUDY: many runs, of which those that are complete stay.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "platform/cli/campaign.h"
#include "platform/cli/command.h"
#include "platform/cli/progress.h"
#include "platform/cli/say.h"
#include "platform/cli/signal_line.h"
#include "platform/config/quoting.h"
#include "platform/report/format.h"
#include "platform/run/interruption.h"
#include "platform/study/shipped.h"
#include "platform/sweep/jobs.h"
#include "platform/sweep/slurm.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;
using study::Point;
using study::Points;

constexpr std::size_t kMostSearches = 20;

struct Options {
  std::string study;
  std::string output;
  std::string jobs;
  std::string run;
  std::string command;  ///< number of a point
  std::string task;
  std::string points_per_task;
  std::string after;
  std::vector<std::string> sbatch;
  std::vector<std::string> set;
  bool slurm = false;
  bool wait = false;
  bool list = false;
  bool count = false;
  bool status = false;
  bool retry_failed = false;
  bool page = false;

  /// Something is printed, and nothing is run.
  bool only_prints() const { return list || count || status || !command.empty(); }
};

Points points_of(const Environment& environment, const Options& o) {
  const std::string file = study::find_study(o.study);
  study::Study study = study::parse_study(config::read_text_file(file, file), file);
  study::set_on_top(study, o.set);
  return {std::move(study), environment.registry, environment.boards,
          o.run.empty() && o.task.empty() ? Points::Check::values : Points::Check::nothing};
}

void print_list(const Points& points) {
  for (std::uint64_t n = 0; n < points.size(); ++n) fmt::print("{}\t{}\n", n, points.describe(points.at(n)));
}

/// The command that repeats a point, for a debugger, a trace or a closer look.
std::string command_of(const Environment& environment, const Points& points, std::uint64_t number) {
  const config::BoardConfig board = points.board_of(points.at(number));
  const std::string path = points.board_path(points.at(number));
  const std::vector<std::string> shipped = environment.boards.board_names();
  std::error_code error;
  const bool is_shipped = std::find(shipped.begin(), shipped.end(), board.name()) != shipped.end() &&
                          fs::equivalent(environment.boards.find_board(board.name()).path, path, error);
  std::string command = "sluice run " + config::shell_word(is_shipped ? board.name() : path);
  for (const config::Instance& i : board.instances())
    for (const auto& p : i.schema().parameters()) {
      if (!board.is_override(i, p->key())) continue;
      std::string text = p->text(i.values());
      // A study names files beside itself, and --set beside the working directory.
      if (const fs::path file = text.empty() ? fs::path() : board.path_of(i, p->key(), text);
          fs::is_regular_file(file, error))
        text = file;
      command += " --set " + config::shell_word(i.path() + "." + p->key() + "=" + text);
    }
  return command;
}

/// Results in the directory that belong to no point of the study.
std::uint64_t count_others(const Campaign& c, const sweep::Rows& rows) {
  std::set<std::string> known;
  for (const sweep::Row& r : rows.rows) known.insert(r.run.id);
  std::uint64_t others = 0;
  std::error_code ignored;
  for (const auto& part : fs::directory_iterator(c.directory.path() / "points", ignored))
    for (const auto& point : fs::directory_iterator(part.path(), ignored))
      if (!known.contains(point.path().filename()) && fs::exists(point.path() / "result.json", ignored)) ++others;
  return others;
}

/// What searches have found, the first few of them.
void print_searches(const Campaign& c) {
  const auto& searches = c.needs.searches();
  for (std::size_t i = 0; i < searches.size() && i < kMostSearches; ++i) {
    const sweep::SearchOutcome& o = c.needs.outcomes()[i];
    const auto describe = [&c](std::size_t n) { return c.points.describe(Point{0, n, {}, {}}); };
    const std::string& condition = searches[i].axis->search;
    if (o.found)
      fmt::print("found: {} holds up to {}{}\n", condition, describe(*o.found),
                 o.found == searches[i].cases.back() ? ", the last one" : "");
    else if (!o.is_open)
      fmt::print("found: {} does not hold at {}, the first one\n", condition, describe(searches[i].cases.front()));
  }
  const auto& outcomes = c.needs.outcomes();
  if (const auto open = std::count_if(outcomes.begin(), outcomes.end(), [](const auto& o) { return o.is_open; }))
    fmt::print("{} for results\n", open == 1 ? "1 search waits" : fmt::format("{} searches wait", open));
  if (searches.size() > kMostSearches)
    fmt::print("and {} more searches, which study.json has\n", searches.size() - kMostSearches);
}

/// How many cases have not become as precise as the study asks for.
void print_precision(const Campaign& c) {
  const auto& precision = c.points.study().precision;
  if (!precision) return;
  std::size_t coarse = 0;
  for (std::size_t n = 0; n < c.points.cases(); ++n) coarse += c.needs.is_precise(n) == std::optional(false);
  if (coarse > 0)
    fmt::print("{} of {}: {} is not within {:.4g} %, with all the runs that the study allows\n", coarse,
               report::counted(c.points.cases(), "case", "cases"), precision->quantity, precision->within * 100);
}

/// What the directory has, in a line or a few.
void print_summary(const Campaign& c, const sweep::Rows& rows) {
  fmt::print("{}: {}: {} done, {} failed, {} missing{}\n", c.points.study().name,
             report::counted(c.points.size(), "point", "points"), rows.done, rows.failed, rows.missing,
             rows.unneeded == 0 ? "" : fmt::format(", {} not needed", rows.unneeded));
  print_searches(c);
  print_precision(c);
  if (const std::uint64_t others = count_others(c, rows))
    fmt::print("{} in {} {} to no point {}to boards, files or a program as they were\n",
               report::counted(others, "other result", "other results"), c.directory.path().string(),
               others == 1 ? "belongs" : "belong", c.points.is_adaptive() ? "that is needed, or " : "of the study: ");
}

int print_status(Campaign& c) {
  const sweep::Rows rows = c.states(Campaign::kLeftOut);
  print_summary(c, rows);
  std::fflush(stdout);
  c.say_failed(rows);
  return 0;
}

using Numbers = std::vector<std::uint64_t>;

/// Whether any of these points has a result.
bool any_result(Campaign& c, const Numbers& numbers) {
  return std::any_of(numbers.begin(), numbers.end(), [&c](std::uint64_t n) {
    return n < c.points.size() && c.directory.find(c.identities.of(n).id).state != sweep::State::missing;
  });
}

/// Writes the tables and says what they hold; returns the exit status. submitted: points may be missing.
int finish(Campaign& c, const Options& o, bool submitted) {
  const sweep::Rows rows = c.write_tables();
  print_summary(c, rows);
  fmt::print("results: {}/study.csv, study.json\n", c.directory.path().string());
  if (o.page) write_page(c.directory.path().string(), true);
  std::fflush(stdout);
  if (c.say_failed(rows)) say("sluice: sweep: what has failed stays so; --retry-failed runs it again\n");
  if (rows.missing > 0 && !submitted)
    say("sluice: sweep: {} no result; the same command goes on\n",
        report::counted(rows.missing, "point has", "points have"));
  for (const std::string& sentence : rows.unknown) say("sluice: {}\n", sentence);
  for (const sweep::IdleSetting& s : rows.idle)
    if (rows.missing == 0) say("sluice: {}: in every run, {}\n", c.points.study().name, s.text);
  return (rows.missing == 0 || submitted) && rows.failed == 0 && rows.unknown.empty() ? 0 : 1;
}

int run_all(Campaign& c, const Options& o, unsigned at_a_time) {
  const sweep::StudyLock lock(c.directory, c.points);
  std::set<std::uint64_t> tried;
  Numbers numbers = c.missing(o.retry_failed);
  const char* signal = c.run(numbers, at_a_time);
  // What results make the study need, round by round; what was killed waits for the next sweep.
  while (!signal && c.points.is_adaptive() && !numbers.empty()) {
    tried.insert(numbers.begin(), numbers.end());
    numbers = c.missing(false);
    std::erase_if(numbers, [&tried](std::uint64_t n) { return tried.contains(n); });
    signal = c.run(numbers, at_a_time);
  }
  if (!signal) return finish(c, o, false);
  const sweep::Rows rows = c.write_tables();
  say("sluice: sweep: interrupted by {} with {} of {} points done; the same command goes on\n", signal,
      rows.done + rows.failed, c.points.size());
  return 1;
}

/// Waits for the jobs of this directory.
void wait_for(const sweep::Slurm& slurm) {
  constexpr auto kLook = std::chrono::seconds(2);
  Progress line("sweep");
  for (;;) {
    const std::size_t left = slurm.queued().size();
    if (left == 0) return;
    if (Progress::wanted()) line.show(fmt::format("{} points wait or run", left));
    std::this_thread::sleep_for(kLook);
  }
}

/// Submits what is missing and not yet queued, and waits for no job; returns what was missing.
Numbers submit_missing(Campaign& c, sweep::Slurm& slurm, const sweep::SlurmOptions& options, bool retry_failed) {
  const platform::HeldSignals held;  // a job that is submitted has its list
  const std::set<std::uint64_t> queued = slurm.queued();
  Numbers all = c.missing(retry_failed);
  Numbers numbers = all;
  std::erase_if(numbers, [&queued](std::uint64_t n) { return queued.contains(n); });
  // Tasks run what is missing.
  const std::vector<std::string> jobs =
      slurm.submit(numbers, options, [&c](const sweep::Task& points) { c.forget_failed(points); });
  if (!jobs.empty())
    fmt::print("submitted: {} as {} {}\n", report::counted(numbers.size(), "point", "points"),
               jobs.size() == 1 ? "job" : "jobs", fmt::join(jobs, ", "));
  std::fflush(stdout);
  return all;
}

/// Submits what is missing and not yet submitted, and writes the tables of what is there. With --wait, what jobs have
/// lost and what results make the study need is submitted again, as long as that brings results; without it a job
/// behind the others does.
int run_with_slurm(Campaign& c, const Options& o, std::uint64_t points_per_task) {
  const sweep::SlurmOptions options{o.sbatch, points_per_task, o.page};
  sweep::Slurm slurm(c.directory, c.points.study());
  if (!o.after.empty() && !any_result(c, slurm.points_of(o.after))) {
    say("sluice: sweep: the jobs before have brought no result; nothing is submitted\n");
    return finish(c, o, true);
  }
  Numbers now = submit_missing(c, slurm, options, o.retry_failed);
  if (!o.wait && !now.empty() && c.points.is_adaptive()) slurm.submit_next(options);
  while (o.wait && !now.empty()) {
    wait_for(slurm);
    if (!any_result(c, now)) break;
    now = submit_missing(c, slurm, options, false);
  }
  return finish(c, o, !o.wait);
}

/// Runs the points of one task of a job array.
int run_task(Campaign& c, const Options& o) {
  const char* index = std::getenv("SLURM_ARRAY_TASK_ID");
  const char* cpus = std::getenv("SLURM_CPUS_PER_TASK");
  const sweep::Task task = sweep::Slurm::task(o.task, index ? index : "", c.points.study());
  const sweep::StudyLock lock(c.directory, c.points);
  sweep::Jobs jobs(c.points, c.directory, c.identities,
                   cpus ? whole_number("SLURM_CPUS_PER_TASK", cpus, 1, kMostJobs) : 1);
  int status = 0;
  jobs.on_trouble = [&](const Point& point, const sweep::Attempt& attempt) {
    status = 1;
    say("sluice: sweep: {} failed: {}\n", c.text_of(point), attempt.why);
  };
  std::vector<std::uint64_t> numbers;
  for (const std::uint64_t n : task)
    if (n < c.points.size() && c.directory.find(c.identities.of(n).id).state == sweep::State::missing)
      numbers.push_back(n);
  return jobs.run(numbers) ? 1 : status;
}

/// Runs one point in this process.
int run_one(Campaign& c, const Options& o, std::uint64_t number) {
  const Point point = c.points.at(number);
  const sweep::StudyLock lock(c.directory, c.points);
  const std::string& id = c.identities.of(number).id;
  const sweep::Attempt attempt =
      sweep::run_here(c.points.board_of(point), id, c.directory, o.retry_failed ? c.directory.mark_of(id) : "");
  const std::string text = c.text_of(point);
  switch (attempt.ended) {
    case sweep::Ended::done:
      fmt::print("{}: {}\n", text, c.directory.result_of(id).string());
      return 0;
    case sweep::Ended::elsewhere:
      throw config::UserError(text + " runs in another process");
    case sweep::Ended::unwritable:
      throw config::UserError(attempt.why);
    default:
      say("sluice: sweep: {} failed: {}\n", text,
          attempt.ended == sweep::Ended::interrupted ? "interrupted by a signal" : attempt.why);
      return 1;
  }
}

/// Options that exclude each other, or belong to others.
void check_options(const Options& o) {
  const int chosen =
      (o.list ? 1 : 0) + (o.count ? 1 : 0) + (o.status ? 1 : 0) + (o.run.empty() ? 0 : 1) + (o.command.empty() ? 0 : 1);
  if (chosen > 1) throw config::UserError("sweep: --list, --count, --status, --command and --run exclude each other");
  if (o.retry_failed && o.only_prints())
    throw config::UserError("--retry-failed: nothing is run with --list, --count, --status or --command");
  if (!o.jobs.empty() && chosen > 0) throw config::UserError("--jobs: belongs to a sweep of all points");
  if (!o.output.empty() && (o.list || o.count || !o.command.empty()))
    throw config::UserError("--out: nothing is looked up with --list, --count or --command");
  if (o.slurm && (chosen > 0 || !o.jobs.empty()))
    throw config::UserError(
        "--slurm: submits points, and has nothing to do with --list, --count, --status, --command, --run or "
        "--jobs");
  if (!o.slurm && (o.wait || !o.sbatch.empty() || !o.points_per_task.empty()))
    throw config::UserError("--wait, --sbatch and --points-per-task belong to --slurm");
  if (o.page && chosen > 0) throw config::UserError("--report: belongs to a sweep of all points");
}

int execute(const Environment& environment, const Options& o) {
  check_options(o);
  std::optional<SignalLine> line;
  // A run in this process takes its signals itself.
  if (o.run.empty() && !o.only_prints()) line.emplace("sweep");
  const Points points = points_of(environment, o);
  const fs::path output = o.output.empty() ? points.study().name + ".sweep" : o.output;
  if (o.count) {
    fmt::print("{}\n", points.size());
    return 0;
  }
  if (o.list) {
    print_list(points);
    return 0;
  }
  const auto last = static_cast<unsigned>(points.size() - 1);
  if (!o.command.empty()) {
    fmt::print("{}\n", command_of(environment, points, whole_number("--command", o.command, 0, last)));
    return 0;
  }
  // A number that is none is refused before a directory is made.
  const unsigned at_a_time = runs_at_a_time(o.jobs);
  const unsigned per_task =
      o.points_per_task.empty() ? 0 : whole_number("--points-per-task", o.points_per_task, 1, study::kMostPoints);
  const unsigned one = o.run.empty() ? 0 : whole_number("--run", o.run, 0, last);
  Campaign campaign(
      "sweep", points,
      o.status ? sweep::Directory::open(output, points.study()) : sweep::Directory::create(output, points.study()));
  if (o.status) return print_status(campaign);
  if (!o.task.empty()) return run_task(campaign, o);
  if (o.slurm) return run_with_slurm(campaign, o, per_task);
  return o.run.empty() ? run_all(campaign, o, at_a_time) : run_one(campaign, o, one);
}

}  // namespace

void add_sweep(CLI::App& app, const Environment& environment, Action& action) {
  CLI::App* command = app.add_subcommand("sweep", "Run a study: many configurations, and go on where it ended");
  auto options = std::make_shared<Options>();
  command->add_option("STUDY", options->study, "A TOML file, or the name of a shipped study")->required();
  command->add_option("--out", options->output, "Directory of the results; NAME.sweep by default, by the study's name")
      ->type_name("DIR");
  command->add_option("--jobs", options->jobs, "Runs at a time; as many as there are processors by default")
      ->type_name("N");
  command->add_flag("--list", options->list, "Print the points, and run nothing");
  command->add_flag("--count", options->count, "Print how many points there are, and run nothing");
  command->add_flag("--status", options->status, "Say what is done, failed and missing, and run nothing");
  command->add_option("--run", options->run, "Run one point only, by its number")->type_name("N");
  command->add_option("--command", options->command, "Print the `sluice run` of one point, by its number")
      ->type_name("N");
  command->add_flag("--retry-failed", options->retry_failed, "Run points again that have failed");
  command->add_flag("--report", options->page, "Write report.html, a page of plots, beside the results");
  command->add_flag("--slurm", options->slurm, "Submit what is missing to Slurm, as job arrays");
  command
      ->add_option("--sbatch", options->sbatch,
                   "Option of sbatch, such as --sbatch=--time=30 or --sbatch=--partition=long; may be repeated")
      ->allow_extra_args(false)
      ->type_name("OPTION");
  command
      ->add_option("--points-per-task", options->points_per_task,
                   "Points that a task of an array runs; by default as few as the cluster's MaxArraySize allows")
      ->type_name("N");
  command->add_flag("--wait", options->wait, "Wait until no submitted point waits or runs");
  add_overrides(*command, options->set);
  // What jobs of --slurm call.
  command->add_option("--task", options->task, "")->group("");
  command->add_option("--after", options->after, "")->group("");
  command->callback([&environment, &action, options] {
    action = [&environment, options] { return execute(environment, *options); };
  });
}

}  // namespace sluice::cli
