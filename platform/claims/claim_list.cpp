// SPDX-License-Identifier: Apache-2.0
#include "platform/claims/claim_list.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "platform/claims/claims_file.h"
#include "platform/claims/honesty.h"
#include "platform/config/nearest_name.h"
#include "platform/config/resources.h"
#include "platform/study/expression.h"
#include "platform/study/shipped.h"
#include "platform/sweep/quantity.h"

namespace sluice::claims {
namespace {

namespace fs = std::filesystem;
using config::UserError;

/// "e810-poll, workload.outstanding = 4"
std::string settings_text(const Term& term) {
  std::string text = term.board;
  for (const auto& s : term.settings) text += fmt::format(", {} = {}", s.path, config::toml_text(s.value));
  return text;
}

bool is_case(const study::Points& points, const study::Case& c, const Term& term) {
  return points.board_names()[c.board] == term.board &&
         std::all_of(term.settings.begin(), term.settings.end(), [&](const auto& setting) {
           return std::any_of(c.values.begin(), c.values.end(), [&](const study::SweptValue& v) {
             return v.path == setting.path && v.text == points.shown_text(c.board, v.path, setting.value);
           });
         });
}

/// Finds what is wrong with an expression before anything runs.
void check_expression(const std::string& text, const std::vector<std::string>& names, const config::Location& where) {
  study::Expression expression(kClaimExpression, text, names, where);
  expression.set_all();
  expression.number();
}

void check_expressions(const Claim& claim) {
  std::vector<std::string> names;
  for (const Term& t : claim.terms) {
    names.push_back(t.name);
    check_expression(t.value, study::names_in(t.value), t.where);
  }
  // A quantity alone has the unit that results have.
  if (claim.terms.size() == 1 && claim.value.empty()) {
    const Term& t = claim.terms.front();
    const std::string unit = sweep::unit_of(t.value);
    if (study::names_in(t.value) == std::vector<std::string>{t.value} && !unit.empty() && unit != claim.unit)
      throw UserError(
          t.where, fmt::format("{}: {} is in {}, and the claim's unit is {}", claim.name, t.value, unit, claim.unit));
  }
  if (!claim.value.empty()) check_expression(claim.value, names, claim.where);
}

/// Adds what may be typed for a claim: its name, and each beginning of it.
void add_names(const std::string& name, std::vector<std::string>& to) {
  for (std::size_t end = name.find('.'); true; end = name.find('.', end + 1)) {
    const std::string begin = name.substr(0, end);
    if (std::find(to.begin(), to.end(), begin) == to.end()) to.push_back(begin);
    if (end == std::string::npos) return;
  }
}

}  // namespace

std::vector<std::string> shipped_claims() {
  std::map<std::string, std::string> files;  ///< by name: that of the first directory counts
  std::error_code ignored;
  for (const fs::path& directory : config::resource_directories("claims"))
    for (const auto& entry : fs::directory_iterator(directory, ignored))
      if (entry.path().extension() == ".toml") files.try_emplace(entry.path().filename(), entry.path());
  std::vector<std::string> paths;
  paths.reserve(files.size());
  for (const auto& [name, path] : files) paths.push_back(path);
  return paths;
}

ClaimList::ClaimList(const std::vector<std::string>& files, const config::Registry& registry,
                     const config::BoardDirectories& directories)
    : registry_(registry), directories_(directories) {
  for (const std::string& file : files)
    for (Claim& c : parse_claims(config::read_text_file(file, file), file)) claims_.push_back(std::move(c));
  for (const Claim& c : claims_) {
    check_expressions(c);
    std::vector<CaseOfStudy>& cases = cases_.emplace_back();
    for (const Term& t : c.terms) cases.push_back(case_of(c, t, study_of(t)));
  }
  std::map<std::pair<std::size_t, std::size_t>, config::BoardConfig> boards;  ///< by study and case
  std::vector<ClaimOnBoards> list;
  for (std::size_t i = 0; i < claims_.size(); ++i) {
    list.push_back({&claims_[i], {}});
    for (const CaseOfStudy& c : cases_[i]) {
      auto board = boards.find({c.study, c.number});
      const study::Points& points = *studies_[c.study].points;
      if (board == boards.end())
        board = boards.emplace(std::pair(c.study, c.number), points.board_of(points.at(c.number * points.per_case())))
                    .first;
      list.back().boards.push_back(&board->second);
    }
  }
  fitted_ = check_honesty(list);
}

std::size_t ClaimList::study_of(const Term& term) {
  const std::string path = study::find_study(term.study, fs::path(term.where.file).parent_path(), term.where);
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(path, error);
  const std::string name = error ? path : canonical.string();
  for (std::size_t s = 0; s < studies_.size(); ++s)
    if (studies_[s].canonical == name) return s;
  study::Study study = study::parse_study(config::read_text_file(path, path), path);
  for (const ClaimedStudy& s : studies_)
    if (s.points->study().name == study.name)
      throw UserError(term.where,
                      fmt::format("{} and {} have one name, which their results could not share", path, s.path));
  studies_.push_back({path, name, std::make_unique<study::Points>(std::move(study), registry_, directories_)});
  return studies_.size() - 1;
}

CaseOfStudy ClaimList::case_of(const Claim& claim, const Term& term, std::size_t number) const {
  const study::Points& points = *studies_[number].points;
  if (points.is_adaptive())
    throw UserError(term.where, fmt::format("{}: {} has a precision or a search, and a claim needs cases that all run",
                                            claim.name, term.study));
  for (const auto& setting : term.settings)
    if (std::none_of(points.swept().begin(), points.swept().end(),
                     [&setting](const auto& s) { return s.path == setting.path; })) {
      std::vector<std::string> names;
      for (const auto& s : points.swept()) names.push_back(s.path);
      throw UserError(setting.where, fmt::format("{} does not sweep {}{}", term.study, setting.path,
                                                 config::suggestion(setting.path, names)));
    }
  const std::vector<std::string>& boards = points.board_names();
  if (std::find(boards.begin(), boards.end(), term.board) == boards.end())
    throw UserError(term.where, fmt::format("{}: {} has no board {}{}", claim.name, term.study, term.board,
                                            config::suggestion(term.board, boards)));
  std::vector<std::size_t> found;
  for (std::size_t c = 0; c < points.cases(); ++c)
    if (is_case(points, points.case_at(c), term)) found.push_back(c);
  if (found.empty())
    throw UserError(term.where, fmt::format("{}: {} has no case with {}; `sluice sweep {} --list` shows what it has",
                                            claim.name, term.study, settings_text(term), studies_[number].path));
  if (found.size() > 1)
    throw UserError(term.where,
                    fmt::format("{}: {} has {} such cases, {} and {} among them; say more in `at`", claim.name,
                                term.study, found.size(), points.describe(points.at(found[0] * points.per_case())),
                                points.describe(points.at(found[1] * points.per_case()))));
  return {number, found[0]};
}

void ClaimList::prepare(const std::vector<std::size_t>& claims, const std::vector<std::string>& changed) {
  std::vector<std::vector<study::Named>> measured(studies_.size());
  for (const std::size_t c : claims)
    for (std::size_t t = 0; t < claims_[c].terms.size(); ++t) {
      const Term& term = claims_[c].terms[t];
      std::vector<study::Named>& of_study = measured[cases_[c][t].study];
      for (std::string& name : study::names_in(term.value))
        if (std::none_of(of_study.begin(), of_study.end(), [&name](const auto& m) { return m.name == name; }))
          of_study.push_back({std::move(name), term.where});
    }
  for (std::size_t s = 0; s < studies_.size(); ++s) {
    if (measured[s].empty()) continue;
    study::Study study = studies_[s].points->study();
    study.measure = std::move(measured[s]);
    study::set_on_top(study, changed);
    studies_[s].points = std::make_unique<study::Points>(std::move(study), registry_, directories_);
  }
}

std::vector<std::string> ClaimList::fitted_to(const std::string& claim) const {
  const auto found = fitted_.find(claim);
  return found == fitted_.end() ? std::vector<std::string>() : found->second;
}

std::vector<std::size_t> ClaimList::chosen(const std::vector<std::string>& names) const {
  std::set<std::size_t> numbers;
  for (const std::string& name : names) {
    bool any = false;
    for (std::size_t i = 0; i < claims_.size(); ++i) {
      const Claim& c = claims_[i];
      if (c.name != name && !c.name.starts_with(name + ".") &&
          std::find(c.rows.begin(), c.rows.end(), name) == c.rows.end())
        continue;
      any = true;
      numbers.insert(i);
    }
    if (!any) {
      std::vector<std::string> known;
      for (const Claim& c : claims_) {
        add_names(c.name, known);
        for (const std::string& row : c.rows)
          if (std::find(known.begin(), known.end(), row) == known.end()) known.push_back(row);
      }
      throw UserError(fmt::format("reproduce: there is no claim {}{}", name, config::suggestion(name, known)));
    }
  }
  if (names.empty())
    for (std::size_t i = 0; i < claims_.size(); ++i) numbers.insert(i);
  return {numbers.begin(), numbers.end()};
}

}  // namespace sluice::claims
