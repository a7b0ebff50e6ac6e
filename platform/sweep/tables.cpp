// SPDX-License-Identifier: Apache-2.0
#include "platform/sweep/tables.h"

#include <cmath>
#include <unordered_set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "platform/config/files/schemas.h"
#include "platform/config/files/whole_file.h"
#include "platform/config/quoting.h"
#include "platform/report/program.h"
#include "platform/sweep/quantity.h"

namespace sluice::sweep {
namespace {

using Json = nlohmann::ordered_json;
using study::Points;

const char* name_of(State state) {
  return state == State::done ? "done" : state == State::failed ? "failed" : "missing";
}

/// The shortest text that reads back as the number, as JSON has it; empty for NaN.
std::string number_text(double value) { return std::isnan(value) ? "" : Json(value).dump(); }

std::string value_of(const study::Case& c, const std::string& path) {
  for (const study::SweptValue& v : c.values)
    if (v.path == path) return v.text;
  return {};
}

std::string study_csv(const Points& points, const Rows& all) {
  std::vector<std::string> fields = {"point", "id", "board"};
  for (const auto& s : points.swept()) fields.push_back(s.path);
  fields.insert(fields.end(), {"seed", "replication", "state", "failure"});
  fields.insert(fields.end(), all.measured.begin(), all.measured.end());
  std::string text = config::csv_line(fields);
  for (std::uint64_t n = 0; n < points.size(); ++n) {
    const Row& r = all.rows[n];
    if (r.state == State::unneeded) continue;
    const study::Case c = points.case_at(points.at(n).case_number);
    fields = {std::to_string(n), r.run.id, points.board_names()[c.board]};
    for (const auto& s : points.swept()) fields.push_back(value_of(c, s.path));
    fields.insert(fields.end(),
                  {std::to_string(r.run.seed), std::to_string(r.run.replication), name_of(r.state), r.why});
    for (std::size_t i = 0; i < all.measured.size(); ++i)
      fields.push_back(r.quantities.empty() ? "" : number_text(r.quantities[i]));
    text += config::csv_line(fields);
  }
  return text;
}

std::string host_csv(const Rows& all) {
  std::vector<std::string> fields = {"point", "id"};
  fields.insert(fields.end(), all.host.begin(), all.host.end());
  std::string text = config::csv_line(fields);
  for (std::size_t n = 0; n < all.rows.size(); ++n) {
    if (all.rows[n].state == State::unneeded) continue;
    fields = {std::to_string(n), all.rows[n].run.id};
    for (std::size_t i = 0; i < all.host.size(); ++i)
      fields.push_back(all.rows[n].host.empty() ? "" : number_text(all.rows[n].host[i]));
    text += config::csv_line(fields);
  }
  return text;
}

/// The values of a parameter in the order in which grids have them first.
Json axis_json(const Points& points, const study::SweptParameter& s, const Needs& needs) {
  std::vector<std::string> values;
  std::unordered_set<std::string> known;
  // Of those that a search has, only what it has tried: there may be very many.
  std::unordered_set<std::string> tried;
  for (std::size_t i = 0; i < needs.searches().size(); ++i)
    if (needs.searches()[i].axis->path == s.path)
      for (const std::size_t c : needs.outcomes()[i].tried) tried.insert(value_of(points.case_at(c), s.path));
  for (const study::Grid& g : points.study().grids)
    for (const study::Dimension& d : g.dimensions)
      for (const study::Axis& a : d)
        if (a.path == s.path)
          for (std::size_t i = 0; i < a.values.size(); ++i)
            if (std::string text = points.value_text(a, i);
                (a.search.empty() || tried.contains(text)) && known.insert(text).second)
              values.push_back(std::move(text));
  return {{"path", s.path}, {"unit", s.unit}, {"values", values}};
}

Json quantity_json(const CaseQuantity& q) {
  const auto& interval = q.estimate.interval;
  return {{"value", q.estimate.value},
          {"interval_95", interval ? Json{interval->lower, interval->upper} : Json()},
          {"runs", q.runs}};
}

Json case_json(const Points& points, const Rows& all, const Needs& needs, std::size_t number) {
  const study::Case c = points.case_at(number);
  Json settings = Json::object(), numbers = Json::object(), members = Json::array(), quantities = Json::object();
  for (const study::SweptValue& v : c.values) {
    settings[v.path] = v.text;
    if (v.number) numbers[v.path] = *v.number;
  }
  const std::uint64_t first = number * points.per_case(), end = first + points.per_case();
  for (std::uint64_t n = first; n < end; ++n)
    if (all.rows[n].state != State::unneeded) members.push_back(n);
  for (std::size_t i = 0; i < all.cases[number].size(); ++i)
    if (const CaseQuantity& q = all.cases[number][i]; q.runs > 0) quantities[all.measured[i]] = quantity_json(q);
  Json json = {{"case", number},       {"board", points.board_names()[c.board]},
               {"settings", settings}, {"numbers", numbers},
               {"points", members},    {"quantities", quantities}};
  if (points.study().precision) {
    const std::optional<bool> reached = needs.is_precise(number);
    json["is_precise"] = reached ? Json(*reached) : Json();
  }
  return json;
}

Json point_json(const Points& points, const Rows& all, std::uint64_t number) {
  const Row& r = all.rows[number];
  Json quantities = Json::object();
  for (std::size_t i = 0; i < r.quantities.size(); ++i)
    if (!std::isnan(r.quantities[i])) quantities[all.measured[i]] = r.quantities[i];
  return {{"point", number},
          {"id", r.run.id},
          {"case", points.at(number).case_number},
          {"seed", r.run.seed},
          {"replication", r.run.replication},
          {"state", name_of(r.state)},
          {"failure", r.why},
          {"quantities", quantities}};
}

/// A member that is a list, with a line for each element that is no null: text of a file of any length, not all of it
/// as JSON at once.
template <class Element>
std::string list_text(const char* name, std::uint64_t count, const Element& element) {
  std::string text = fmt::format("  \"{}\": [", name);
  bool is_empty = true;
  for (std::uint64_t n = 0; n < count; ++n) {
    const Json json = element(n);
    if (json.is_null()) continue;
    text +=
        (is_empty ? "\n    " : ",\n    ") + json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    is_empty = false;
  }
  return text + (is_empty ? "]" : "\n  ]");
}

Json precision_json(const study::Study& study) {
  const study::Precision& p = *study.precision;
  return {{"quantity", p.quantity}, {"within", p.within}, {"least", p.least}, {"most", study.replications}};
}

/// What a search has found: the values of its other parameters, and the last value at which its condition holds.
Json search_json(const Points& points, const study::Search& s, const SearchOutcome& outcome) {
  const study::Case first = points.case_at(s.cases.front());
  Json settings = Json::object(), found, number;
  for (const study::SweptValue& v : first.values)
    if (v.path != s.axis->path) settings[v.path] = v.text;
  if (outcome.found)
    for (const study::SweptValue& v : points.case_at(*outcome.found).values)
      if (v.path == s.axis->path) {
        found = v.text;
        if (v.number) number = *v.number;
      }
  return {{"board", points.board_names()[first.board]},
          {"settings", settings},
          {"parameter", s.axis->path},
          {"while", s.axis->search},
          {"state", outcome.is_open ? "open" : "done"},
          {"found", found},
          {"number", number},
          {"at_end", outcome.found == s.cases.back()},
          {"case", outcome.found ? Json(*outcome.found) : Json()},
          {"tried", outcome.tried}};
}

Json idle_json(const Rows& all) {
  Json list = Json::array();
  if (all.missing > 0) return list;
  for (const IdleSetting& i : all.idle) list.push_back({{"path", i.path}, {"set_by", i.set_by}, {"text", i.text}});
  return list;
}

std::string searches_text(const Points& points, const Needs& needs) {
  const auto& searches = needs.searches();
  return list_text("searches", searches.size(),
                   [&](std::uint64_t n) { return search_json(points, searches[n], needs.outcomes()[n]); }) +
         ",\n";
}

std::string study_json(const Points& points, const Rows& all, const Needs& needs) {
  const study::Study& study = points.study();
  Json measure = Json::array(), axes = Json::array();
  for (const std::string& m : all.measured) measure.push_back({{"quantity", m}, {"unit", unit_of(m)}});
  for (const auto& s : points.swept()) axes.push_back(axis_json(points, s, needs));
  const auto member = [](const char* name, const Json& value) {
    return fmt::format("  \"{}\": {},\n", name,
                       value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  };
  return "{\n" + member("schema", config::kStudySchema) + member("name", study.name) +
         member("summary", study.summary) + member("program", report::program()) +
         (study.overrides.empty() ? std::string() : member("changed", study.overrides)) + member("axes", axes) +
         member("measure", measure) + member("without_effect", idle_json(all)) +
         (study.precision ? member("precision", precision_json(study)) : std::string()) +
         (needs.searches().empty() ? std::string() : searches_text(points, needs)) +
         list_text("cases", points.cases(),
                   [&](std::uint64_t n) {
                     Json json = case_json(points, all, needs, n);
                     return json["points"].empty() ? Json() : json;
                   }) +
         ",\n" +
         list_text("points", points.size(),
                   [&](std::uint64_t n) {
                     return all.rows[n].state == State::unneeded ? Json() : point_json(points, all, n);
                   }) +
         "\n}\n";
}

}  // namespace

void write_tables(const Points& points, const Rows& all, const Needs& needs, const Directory& directory) {
  config::write_whole(directory.path() / "study.csv", study_csv(points, all));
  config::write_whole(directory.path() / "study.json", study_json(points, all, needs));
  config::write_whole(directory.path() / "host.csv", host_csv(all));
}

}  // namespace sluice::sweep
