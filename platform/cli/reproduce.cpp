// SPDX-License-Identifier: Apache-2.0
/// sluice reproduce [CLAIM...]: what is published, beside what the models give.

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include "platform/claims/tables.h"
#include "platform/cli/campaign.h"
#include "platform/cli/command.h"
#include "platform/cli/result_file.h"
#include "platform/cli/signal_line.h"
#include "platform/config/dump.h"
#include "platform/config/files/result_directory.h"
#include "platform/config/files/whole_file.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> names;
  std::vector<std::string> files;
  std::vector<std::string> set;
  std::string output = "reproduce.sweep";
  std::string jobs;
  bool list = false;
  bool json = false;
  bool quick = false;
  bool retry_failed = false;
};

bool is_run(const claims::ClaimList& list, std::size_t claim, const Options& o) {
  return !(o.quick && list.claims()[claim].is_long);
}

/// The cases that claims need, by study.
std::vector<std::set<std::size_t>> cases_of(const claims::ClaimList& list, const std::vector<std::size_t>& chosen,
                                            const Options& o) {
  std::vector<std::set<std::size_t>> cases(list.studies().size());
  for (const std::size_t claim : chosen)
    for (const claims::CaseOfStudy& c : list.cases_of(claim))
      if (is_run(list, claim, o)) cases[c.study].insert(c.number);
  return cases;
}

/// Runs what is missing of some cases of a study, and reads all that is there. Nothing: a signal has ended it.
std::optional<sweep::Rows> rows_of(const study::Points& points, const std::set<std::size_t>& cases, const Options& o,
                                   unsigned at_a_time) {
  Campaign campaign("reproduce", points,
                    sweep::Directory::create(fs::path(o.output) / points.study().name, points.study()));
  const sweep::StudyLock lock(campaign.directory, points);
  std::vector<std::uint64_t> missing = campaign.missing(o.retry_failed);
  std::erase_if(missing, [&](std::uint64_t n) { return !cases.contains(n / points.per_case()); });
  const char* signal = campaign.run(missing, at_a_time);
  if (signal) {
    say("{}", interrupted_line("reproduce", signal));
    return {};
  }
  sweep::Rows rows = campaign.write_tables();
  for (const std::string& sentence : rows.unknown) say("sluice: reproduce: {}\n", sentence);
  return rows;
}

/// Says which settings of the command line have no effect in any run of any study.
void say_idle(const std::vector<sweep::Rows>& all) {
  std::map<std::string, std::pair<std::string, int>> found;  ///< by path: a sentence, and in how many studies
  int studies = 0;
  for (const sweep::Rows& rows : all) {
    if (rows.done == 0) continue;
    ++studies;
    for (const sweep::IdleSetting& s : rows.idle)
      if (s.set_by == "--set") ++found.try_emplace(s.path, s.text, 0).first->second.second;
  }
  for (const auto& [path, of] : found)
    if (of.second == studies) say("sluice: reproduce: in every run, {}\n", of.first);
}

int say_bad(const claims::ClaimList& list, const std::vector<claims::Outcome>& outcomes) {
  int status = 0;
  for (const claims::Outcome& o : outcomes) {
    if (!claims::is_bad(o.verdict)) continue;
    status = 1;
    say("sluice: reproduce: {}: {} {}\n", claims::to_text(o.verdict), list.claims()[o.claim].name, o.why);
  }
  return status;
}

int reproduce(claims::ClaimList& list, const std::vector<std::size_t>& chosen, const Options& o, unsigned at_a_time) {
  config::refuse_results_of_others(o.output, "--out " + o.output, {"claims.json"});
  ResultFile::set_old_aside(o.output, "claims.json");
  const std::vector<std::set<std::size_t>> cases = cases_of(list, chosen, o);
  std::vector<sweep::Rows> rows(list.studies().size());
  for (std::size_t s = 0; s < rows.size(); ++s) {
    if (cases[s].empty()) continue;
    std::optional<sweep::Rows> of = rows_of(*list.studies()[s].points, cases[s], o, at_a_time);
    if (!of) return 1;
    rows[s] = std::move(*of);
  }
  std::vector<claims::Outcome> outcomes;
  outcomes.reserve(chosen.size());
  for (const std::size_t claim : chosen)
    outcomes.push_back(is_run(list, claim, o) ? claims::evaluate(list, claim, rows) : claims::left_out(claim));
  const std::string json = config::json_text(claims::outcome_json(list, outcomes, o.set));
  std::error_code error;
  fs::create_directories(o.output, error);
  config::write_whole(fs::path(o.output) / "claims.json", json);
  config::write_whole(fs::path(o.output) / "claims.csv", claims::outcome_csv(list, outcomes));
  if (o.json)
    fmt::print("{}", json);
  else
    fmt::print("{}", claims::outcome_text(list, outcomes));
  std::fflush(stdout);
  write_page(o.output, !o.json);
  std::fflush(stdout);
  say_idle(rows);
  return say_bad(list, outcomes);
}

int execute(const Environment& environment, const Options& o) {
  std::vector<std::string> files = claims::shipped_claims();
  files.insert(files.end(), o.files.begin(), o.files.end());
  if (files.empty()) throw config::UserError("reproduce: there are no claims; --claims FILE names some");
  claims::ClaimList list(files, environment.registry, environment.boards);
  const std::vector<std::size_t> chosen = list.chosen(o.names);
  if (o.list && (!o.jobs.empty() || !o.set.empty() || o.quick || o.retry_failed))
    throw config::UserError(
        "--list: nothing is run, so --jobs, --set, --quick and --retry-failed have no use beside it");
  if (o.list) {
    if (o.json)
      fmt::print("{}", config::json_text(claims::list_json(list, chosen)));
    else
      fmt::print("{}", claims::list_text(list, chosen));
    return 0;
  }
  const unsigned at_a_time = runs_at_a_time(o.jobs);
  const SignalLine line("reproduce");
  if (!o.set.empty() && std::none_of(chosen.begin(), chosen.end(),
                                     [&](std::size_t c) { return is_run(list, c, o) && !list.cases_of(c).empty(); }))
    throw config::UserError(fmt::format("--set {}: none of these claims runs, so it has no effect", o.set.front()));
  list.prepare(chosen, o.set);
  return reproduce(list, chosen, o, at_a_time);
}

}  // namespace

void add_reproduce(CLI::App& app, const Environment& environment, Action& action) {
  CLI::App* command = app.add_subcommand("reproduce", "Show published results beside what the models give");
  auto options = std::make_shared<Options>();
  command->add_option("CLAIM", options->names,
                      "A claim, first parts of several names (pcie.read), or a row of the calibration page (V5); all "
                      "claims without one");
  command->add_option("--claims", options->files, "File with more claims; may be repeated")
      ->type_name("FILE.toml")
      ->allow_extra_args(false);
  command->add_option("--out", options->output, "Directory of the results; reproduce.sweep by default")
      ->type_name("DIR");
  command->add_option("--jobs", options->jobs, "Runs at a time; as many as there are processors by default")
      ->type_name("N");
  command->add_flag("--quick", options->quick, "Leave out claims that take minutes");
  command->add_flag("--retry-failed", options->retry_failed, "Run points again that have failed");
  command->add_flag("--list", options->list, "Print the claims, and run nothing");
  command->add_flag("--json", options->json, "Print JSON");
  add_overrides(*command, options->set);
  command->callback([&environment, &action, options] {
    action = [&environment, options] { return execute(environment, *options); };
  });
}

}  // namespace sluice::cli
