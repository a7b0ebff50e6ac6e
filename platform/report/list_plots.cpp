// SPDX-License-Identifier: Apache-2.0
#include "platform/report/list_plots.h"

#include <algorithm>

namespace sluice::report {
namespace {

using Json = nlohmann::ordered_json;
using workload::ListPlot;

Json json_of(const ListPlot::Shown& s) { return {{"key", s.key}, {"title", s.title}}; }

ListPlot::Shown shown(const Json& json) {
  return {json.at("key").get<std::string>(), json.at("title").get<std::string>()};
}

bool has_number(const Json& entry, const std::string& key) { return entry.contains(key) && entry.at(key).is_number(); }

const Json* list_of(const ListPlot& plot, const Json& result) {
  const Json::json_pointer place(plot.list);
  return result.contains(place) ? &result.at(place) : nullptr;
}

}  // namespace

Json to_json(const ListPlot& p) {
  Json lines = Json::array();
  for (const ListPlot::Shown& s : p.lines) lines.push_back(json_of(s));
  return {{"name", p.name},    {"title", p.title}, {"caption", p.caption}, {"list", p.list},
          {"x", json_of(p.x)}, {"lines", lines},   {"y_title", p.y_title}, {"also_by", p.also_by}};
}

ListPlot list_plot(const Json& json) {
  const auto text = [&json](const char* key) { return json.at(key).get<std::string>(); };
  ListPlot p{text("name"), text("title"),   text("caption"), text("list"), shown(json.at("x")),
             {},           text("y_title"), text("also_by")};
  for (const Json& line : json.at("lines")) p.lines.push_back(shown(line));
  return p;
}

std::string set_apart_by(const ListPlot& plot, const Json& entry) {
  const auto by = entry.find(plot.also_by);
  return by != entry.end() && by->is_string() ? by->get<std::string>() : std::string();
}

const Json* find_entry(const ListPlot& plot, const std::string& key, const Json& result, const Json& like) {
  const Json* const list = list_of(plot, result);
  if (!list) return nullptr;
  for (const Json& entry : *list)
    if (has_number(entry, plot.x.key) && has_number(entry, key) && entry.at(plot.x.key) == like.at(plot.x.key) &&
        set_apart_by(plot, entry) == set_apart_by(plot, like))
      return &entry;
  return nullptr;
}

std::vector<const Json*> common_entries(const ListPlot& plot, const std::string& key,
                                        const std::vector<Json>& results) {
  std::vector<const Json*> entries;
  const Json* const list = list_of(plot, results.front());
  if (!list) return entries;
  for (const Json& entry : *list) {
    if (!has_number(entry, plot.x.key) || find_entry(plot, key, results.front(), entry) != &entry) continue;
    if (std::all_of(results.begin() + 1, results.end(), [&](const Json& r) { return find_entry(plot, key, r, entry); }))
      entries.push_back(&entry);
  }
  return entries;
}

}  // namespace sluice::report
