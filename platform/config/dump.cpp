// SPDX-License-Identifier: Apache-2.0
#include "platform/config/dump.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "models/base/parameters/number.h"

namespace sluice::config {
namespace {

nlohmann::ordered_json parameter_json(const Instance& instance, const base::Parameter& p, bool documented) {
  const Origin& origin = instance.origin(p.key());
  nlohmann::ordered_json json;
  json["value"] = to_json(p.value(instance.values()));
  json["text"] = p.text(instance.values());
  json["unit"] = p.unit();
  json["kind"] = base::to_text(origin.provenance.kind);
  json["source"] = origin.provenance.source;
  if (!origin.provenance.points.empty()) json["points"] = origin.provenance.points;
  if (p.has_uncertainty()) {
    json["uncertainty"] = origin.provenance.effective_uncertainty().real();
    json["uncertainty_by"] = origin.provenance.uncertainty ? "source" : "kind";
  }
  json["set_by"] = origin.set_by;
  if (!documented) return json;
  json["meaning"] = p.meaning();
  json["valid"] = p.valid();
  if (!p.acts_with().empty()) json["acts_with"] = p.acts_with();
  return json;
}

/// "+-25 %"
std::string uncertainty_text(const base::Provenance& p) {
  const base::Ratio share = p.effective_uncertainty();
  return share == base::Ratio(0) ? "exact" : "+-" + percent_text(share);
}

std::string in_one_line(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// As dump(2) of the library has it, but for arrays of numbers: a histogram would take a line for each bucket.
void append(std::string& text, const nlohmann::ordered_json& json, std::size_t indent) {
  const auto is_number = [](const auto& e) { return e.is_number(); };
  if (!json.is_structured() || json.empty()) {
    text += in_one_line(json);
    return;
  }
  if (json.is_array() && std::all_of(json.begin(), json.end(), is_number)) {
    const char* separator = "[";
    for (const auto& e : json) text += std::exchange(separator, ", ") + e.dump();
    text += "]";
    return;
  }
  const std::string inner(indent + 2, ' ');
  const char* separator = json.is_array() ? "[\n" : "{\n";
  for (const auto& [key, value] : json.items()) {
    text += std::exchange(separator, ",\n") + inner;
    if (json.is_object()) text += in_one_line(key) + ": ";
    append(text, value, indent + 2);
  }
  text += "\n" + std::string(indent, ' ') + (json.is_array() ? "]" : "}");
}

}  // namespace

/// "2.5 us", "16 entries"
std::string value_text(const Instance& instance, const base::Parameter& p) {
  std::string text = p.text(instance.values());
  if (text.empty()) text = "\"\"";
  return p.plain_unit().empty() ? text : text + " " + (text == "1" ? base::singular(p.plain_unit()) : p.plain_unit());
}

std::string percent_text(base::Ratio share) { return fmt::format("{:.4g} %", 100 * share.real()); }

nlohmann::ordered_json to_json(const base::Value& value) {
  const auto write = [](const auto& v) -> nlohmann::ordered_json {
    if constexpr (std::is_same_v<std::decay_t<decltype(v)>, base::Value::Array>) {
      auto json = nlohmann::ordered_json::array();
      for (const base::Value& e : v) json.push_back(to_json(e));
      return json;
    } else {
      return v;
    }
  };
  return std::visit(write, value.data);
}

nlohmann::ordered_json to_json(const BoardConfig& board, bool documented) {
  nlohmann::ordered_json json;
  json["name"] = board.name();
  json["summary"] = board.summary();
  json["files"] = board.files();
  for (const Plugin& p : board.plugins()) json["plugins"].push_back({{"name", p.name}, {"sha256", p.sha256}});
  auto& instances = json["instances"] = nlohmann::ordered_json::object();
  for (const Instance& instance : board.instances()) {
    auto& one = instances[instance.path()];
    one["kind"] = instance.kind();
    one["model"] = instance.model();
    auto& parameters = one["parameters"] = nlohmann::ordered_json::object();
    for (const auto& p : instance.schema().parameters())
      parameters[p->key()] = parameter_json(instance, *p, documented);
  }
  return json;
}

std::string to_table(const BoardConfig& board) {
  std::size_t key = 0, value = 0, set_by = 0;
  for (const Instance& instance : board.instances()) {
    for (const auto& p : instance.schema().parameters()) {
      key = std::max(key, p->key().size());
      value = std::max(value, value_text(instance, *p).size());
      set_by = std::max(set_by, instance.origin(p->key()).set_by.size());
    }
  }
  std::string text;
  for (const Instance& instance : board.instances()) {
    text += fmt::format("{}{}  {}\n", text.empty() ? "" : "\n", instance.path(), instance.title());
    for (const auto& p : instance.schema().parameters()) {
      const Origin& origin = instance.origin(p->key());
      std::string source = origin.provenance.source;
      if (!origin.provenance.points.empty()) source += fmt::format(" [{}]", fmt::join(origin.provenance.points, ", "));
      const std::string uncertainty = p->has_uncertainty() ? uncertainty_text(origin.provenance) : std::string();
      text += fmt::format("  {:<{}}  {:<{}}  {:<8} {:<7}  {:<{}}  {}\n", p->key(), key, value_text(instance, *p), value,
                          base::to_text(origin.provenance.kind), uncertainty, origin.set_by, set_by, source);
    }
  }
  return text;
}

std::string json_text(const nlohmann::ordered_json& json) {
  std::string text;
  append(text, json, 0);
  return text + "\n";
}

}  // namespace sluice::config
