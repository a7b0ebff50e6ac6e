// SPDX-License-Identifier: Apache-2.0
/// sluice reproduce [CLAIM...]: what is published, beside what the models give.

#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "models/base/parameters/number.h"
#include "platform/claims/tables.h"
#include "platform/cli/campaign.h"
#include "platform/cli/command.h"
#include "platform/config/dump.h"
#include "platform/config/files/whole_file.h"
#include "platform/sweep/jobs.h"
#include "platform/sweep/tables.h"

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
};

/// A number, true or false where the text is one, as a file would have it.
base::Value value_of(const std::string& text, const config::Location& where) {
  if (const auto quoted = config::parse_quoted(text, where)) return *quoted;
  if (text == "true" || text == "false") return {text == "true"};
  try {
    return {static_cast<std::int64_t>(base::parse_unsigned(text))};
  } catch (const base::ValueError&) {
  }
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (!text.empty() && *end == '\0') return {number};
  return {text};
}

std::vector<config::BoardFile::Setting> settings_of(const std::vector<std::string>& set) {
  std::vector<config::BoardFile::Setting> settings;
  for (const std::string& s : set) {
    const config::Location where{"--set " + s, 0};
    const std::size_t equals = s.find('=');
    if (equals == 0 || equals == std::string::npos) throw config::UserError(where, "must be PATH=VALUE");
    settings.push_back({s.substr(0, equals), value_of(s.substr(equals + 1), where), false, {}, where});
  }
  return settings;
}

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
  const sweep::StudyLock lock(campaign.directory, points.study());
  std::vector<std::uint64_t> missing;
  for (const std::size_t c : cases)
    for (std::uint64_t n = c * points.per_case(); n < (c + 1) * points.per_case(); ++n)
      if (campaign.directory.find(campaign.identities.of(n).id).state == sweep::State::missing) missing.push_back(n);
  const char* signal = campaign.run(missing, at_a_time);
  if (signal) {
    say("sluice: reproduce: interrupted by {}; the same command goes on\n", signal);
    return {};
  }
  sweep::Rows rows = campaign.rows();
  sweep::write_tables(points, rows, campaign.directory);
  if (!rows.unknown.empty()) throw config::UserError(rows.unknown.front());
  return rows;
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
  write_page(o.output, !o.json);
  std::fflush(stdout);
  return say_bad(list, outcomes);
}

int execute(const Environment& environment, const Options& o) {
  std::vector<std::string> files = claims::shipped_claims();
  files.insert(files.end(), o.files.begin(), o.files.end());
  if (files.empty()) throw config::UserError("reproduce: there are no claims; --claims FILE names some");
  claims::ClaimList list(files, environment.registry, environment.boards);
  const std::vector<std::size_t> chosen = list.chosen(o.names);
  if (o.list) {
    if (o.json)
      fmt::print("{}", config::json_text(claims::list_json(list, chosen)));
    else
      fmt::print("{}", claims::list_text(list, chosen));
    return 0;
  }
  const unsigned at_a_time = o.jobs.empty() ? sweep::processors() : whole_number("--jobs", o.jobs, 1, kMostJobs);
  list.prepare(chosen, settings_of(o.set));
  return reproduce(list, chosen, o, at_a_time);
}

}  // namespace

void add_reproduce(CLI::App& app, const Environment& environment, Action& action) {
  CLI::App* command = app.add_subcommand("reproduce", "Show published results beside what the models give");
  auto options = std::make_shared<Options>();
  command->add_option(
      "CLAIM", options->names,
      "A claim, the beginning of several (pcie.read), or a row of the calibration page (V5); all claims "
      "without one");
  command->add_option("--claims", options->files, "File with more claims; may be repeated")
      ->type_name("FILE.toml")
      ->allow_extra_args(false);
  command->add_option("--out", options->output, "Directory of the results; reproduce.sweep by default")
      ->type_name("DIR");
  command->add_option("--jobs", options->jobs, "Runs at a time; as many as there are processors by default")
      ->type_name("N");
  command->add_flag("--quick", options->quick, "Leave out claims that take minutes");
  command->add_flag("--list", options->list, "Print the claims, and run nothing");
  command->add_flag("--json", options->json, "Print JSON");
  add_overrides(*command, options->set);
  command->callback([&environment, &action, options] {
    action = [&environment, options] { return execute(environment, *options); };
  });
}

}  // namespace sluice::cli
