// SPDX-License-Identifier: Apache-2.0
#include "platform/claims/tables.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "platform/config/files/schemas.h"
#include "platform/config/quoting.h"
#include "platform/report/format.h"
#include "platform/report/program.h"

namespace sluice::claims {
namespace {

using Json = nlohmann::ordered_json;

std::string with_unit(const std::string& number, const std::string& unit) {
  return unit.empty() || unit == "1" ? number : number + " " + unit;
}

/// What is claimed: a value, a range or an ordering.
std::string claimed_text(const Claim& c) {
  if (!c.ordering.empty()) return fmt::format("{}", fmt::join(c.ordering, " < "));
  return c.published ? with_unit(published_text(*c.published), c.unit) : "-";
}

bool has_value(const Claim& c, const Outcome& o) { return !o.terms.empty() && c.ordering.empty(); }

std::string modelled_text(const Claim& c, const Outcome& o) {
  if (o.terms.empty()) return "-";
  if (has_value(c, o)) {
    const auto half = statistics::half_width(o.modelled);
    return with_unit(fmt::format("{:.6g}{}", o.modelled.value, half ? fmt::format(" +-{:.2g}", *half) : ""), c.unit);
  }
  std::string text;
  for (const std::string& name : c.ordering)
    text += fmt::format("{}{:.6g}", text.empty() ? "" : ", ", term_of(c, o, name).estimate.value);
  return with_unit(text, c.unit);
}

std::string error_text(const std::optional<double>& error) {
  if (!error) return "-";
  const std::string text = fmt::format("{:+.2f} %", *error * 100);
  return text == "+0.00 %" || text == "-0.00 %" ? "0.00 %" : text;
}

/// Columns as wide as their longest cell.
std::string table_text(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string label_of(const Claim& c) {
  return c.rows.empty() ? c.name : fmt::format("{} ({})", c.name, fmt::join(c.rows, ", "));
}

std::string lacking_text(const std::vector<const Claim*>& lacking) {
  std::map<std::string, std::vector<const Claim*>> by_cause;
  for (const Claim* c : lacking) by_cause[c->lacks].push_back(c);
  std::string text;
  for (const auto& [cause, claims] : by_cause) {
    text += fmt::format("\nno model holds yet, for lack of {}:\n", cause);
    for (const Claim* c : claims) text += fmt::format("  {}: {}\n", label_of(*c), c->statement);
  }
  return text;
}

Json claim_json(const Claim& c) {
  const bool range = c.published && c.published->least != c.published->most;
  return {{"name", c.name},
          {"rows", c.rows},
          {"role", c.role ? Json(to_text(*c.role)) : Json()},
          {"source", c.source},
          {"statement", c.statement},
          {"note", c.note},
          {"unit", c.unit},
          {"published", c.published && !range ? Json(c.published->least) : Json()},
          {"published_range", range ? Json{c.published->least, c.published->most} : Json()},
          {"ordering", c.ordering},
          {"long", c.is_long},
          {"within", c.within ? Json(*c.within) : Json()},
          {"lacks", c.lacks}};
}

Json interval_json(const statistics::Estimate& e) {
  return e.interval ? Json{e.interval->lower, e.interval->upper} : Json();
}

Json terms_json(const ClaimList& list, const Outcome& o) {
  Json all = Json::array();
  const Claim& claim = list.claims()[o.claim];
  for (std::size_t t = 0; t < claim.terms.size(); ++t) {
    const CaseOfStudy& of = list.cases_of(o.claim)[t];
    const study::Points& points = *list.studies()[of.study].points;
    const study::Case c = points.case_at(of.number);
    Json settings = Json::object();
    for (const study::SweptValue& v : c.values) settings[v.path] = v.text;
    Json json = {{"name", claim.terms[t].name}, {"study", points.study().name},
                 {"case", of.number},           {"board", points.board_names()[c.board]},
                 {"settings", settings},        {"value", claim.terms[t].value}};
    json["modelled"] = o.terms.empty() ? Json() : Json(o.terms[t].estimate.value);
    json["interval_95"] = o.terms.empty() ? Json() : interval_json(o.terms[t].estimate);
    all.push_back(std::move(json));
  }
  return all;
}

Json one_json(const ClaimList& list, const Outcome& o) {
  const Claim& c = list.claims()[o.claim];
  Json json = claim_json(c);
  json["parameters"] = c.role == Role::fitted ? list.fitted_to(c.name) : c.parameters;
  json["modelled"] = has_value(c, o) ? Json(o.modelled.value) : Json();
  json["interval_95"] = has_value(c, o) ? interval_json(o.modelled) : Json();
  json["runs"] = o.runs;
  json["error"] = o.error ? Json(*o.error) : Json();
  json["verdict"] = to_text(o.verdict);
  json["why"] = o.why;
  json["value"] = c.value.empty() && c.terms.size() == 1 ? c.terms.front().value : c.value;
  json["terms"] = terms_json(list, o);
  return json;
}

/// Reads back as the same double; empty for none.
std::string number_cell(const std::optional<double>& number) { return number ? Json(*number).dump() : ""; }

}  // namespace

std::string outcome_text(const ClaimList& list, const std::vector<Outcome>& outcomes) {
  std::vector<std::vector<std::string>> rows = {{"claim", "role", "published", "modelled", "error", "verdict"}};
  std::vector<const Claim*> lacking;
  std::vector<std::string> left_out;
  std::map<Verdict, unsigned> counts;
  for (const Outcome& o : outcomes) {
    const Claim& c = list.claims()[o.claim];
    ++counts[o.verdict];
    if (o.verdict == Verdict::lacking)
      lacking.push_back(&c);
    else if (o.verdict == Verdict::left_out)
      left_out.push_back(c.name);
    else
      rows.push_back({c.name, std::string(to_text(*c.role)), claimed_text(c), modelled_text(c, o), error_text(o.error),
                      std::string(to_text(o.verdict))});
  }
  std::string text = rows.size() > 1 ? table_text(rows) : "";
  if (!left_out.empty()) text += fmt::format("\nleft out with --quick: {}\n", fmt::join(left_out, ", "));
  text += lacking_text(lacking);
  std::string summary = fmt::format("\n{}:", report::counted(outcomes.size(), "claim", "claims"));
  for (const auto& [verdict, count] : counts)
    summary += fmt::format("{} {} {}", summary.ends_with(":") ? "" : ",", count, to_text(verdict));
  return text + summary + "\n";
}

Json outcome_json(const ClaimList& list, const std::vector<Outcome>& outcomes,
                  const std::vector<std::string>& changed) {
  Json claims = Json::array();
  for (const Outcome& o : outcomes) claims.push_back(one_json(list, o));
  return {{"schema", config::kClaimsSchema}, {"program", report::program()}, {"changed", changed}, {"claims", claims}};
}

std::string list_text(const ClaimList& list, const std::vector<std::size_t>& claims) {
  std::vector<std::vector<std::string>> rows;
  for (const std::size_t i : claims) {
    const Claim& c = list.claims()[i];
    rows.push_back({c.name, c.lacks.empty() ? std::string(to_text(*c.role)) : "lacking",
                    c.lacks.empty() ? claimed_text(c) : c.statement, c.source});
  }
  return table_text(rows);
}

Json list_json(const ClaimList& list, const std::vector<std::size_t>& claims) {
  Json all = Json::array();
  for (const std::size_t i : claims) all.push_back(claim_json(list.claims()[i]));
  return {{"schema", "sluice-claim-list-1"}, {"claims", all}};
}

std::string outcome_csv(const ClaimList& list, const std::vector<Outcome>& outcomes) {
  std::string text =
      "claim,role,unit,published_least,published_most,modelled,lower_95,upper_95,runs,error,within,verdict,source\n";
  for (const Outcome& o : outcomes) {
    const Claim& c = list.claims()[o.claim];
    std::optional<double> least, most, modelled, lower, upper;
    if (c.published) least = c.published->least, most = c.published->most;
    if (has_value(c, o)) modelled = o.modelled.value;
    if (has_value(c, o) && o.modelled.interval) lower = o.modelled.interval->lower, upper = o.modelled.interval->upper;
    text += config::csv_line({c.name, c.role ? std::string(to_text(*c.role)) : "", c.unit, number_cell(least),
                              number_cell(most), number_cell(modelled), number_cell(lower), number_cell(upper),
                              std::to_string(o.runs), number_cell(o.error), number_cell(c.within),
                              std::string(to_text(o.verdict)), c.source});
  }
  return text;
}

}  // namespace sluice::claims
