// SPDX-License-Identifier: Apache-2.0
#include "platform/sweep/quantity.h"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace sluice::sweep {
namespace {

using Json = nlohmann::ordered_json;

/// What tells the elements of a list apart: those with a name, and those without one.
constexpr std::array kNamed = {"name", "direction", "component"};
constexpr std::array kUnnamed = {"bytes", "cache"};

/// The labels that an element has.
std::vector<std::string> labels_of(const Json& element) {
  std::vector<std::string> labels;
  const auto add = [&](const char* key) {
    if (const auto found = element.find(key); found != element.end() && found->is_string())
      labels.push_back(found->get<std::string>());
    else if (found != element.end() && found->is_number_integer())
      labels.push_back(found->dump());
  };
  if (!element.is_object()) return labels;
  for (const char* key : kNamed) add(key);
  for (const char* key : kUnnamed)
    if (!element.contains("name")) add(key);
  return labels;
}

/// Whether a name begins with this part; `rest` is then what is behind it.
bool leads(std::string_view name, std::string_view part, std::string_view& rest) {
  if (part.empty() || !name.starts_with(part)) return false;
  if (name.size() == part.size()) {
    rest = {};
    return true;
  }
  if (name[part.size()] != '.') return false;
  rest = name.substr(part.size() + 1);
  return true;
}

std::optional<double> find(const Json& here, std::string_view name);

std::optional<double> find_in_list(const Json& list, std::string_view name) {
  std::optional<double> by_first;
  unsigned matches = 0;
  for (const Json& element : list) {
    const std::vector<std::string> labels = labels_of(element);
    std::string_view rest;
    if (labels.size() > 1 && leads(name, fmt::format("{}", fmt::join(labels, ".")), rest))
      if (const auto found = find(element, rest)) return found;
    if (labels.empty() || !leads(name, labels[0], rest)) continue;
    if (const auto found = find(element, rest)) {
      by_first = found;
      ++matches;
    }
  }
  if (matches > 0) return matches == 1 ? by_first : std::nullopt;
  std::size_t place = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), place);
  if (error != std::errc() || place >= list.size()) return {};
  std::string_view rest;
  return leads(name, name.substr(0, static_cast<std::size_t>(end - name.data())), rest) ? find(list[place], rest)
                                                                                        : std::nullopt;
}

std::optional<double> find(const Json& here, std::string_view name) {
  if (name.empty()) {
    if (here.is_boolean()) return here.get<bool>() ? 1 : 0;
    return here.is_number() ? std::optional(here.get<double>()) : std::nullopt;
  }
  if (here.is_array()) return find_in_list(here, name);
  if (!here.is_object()) return {};
  for (const auto& [key, below] : here.items()) {
    std::string_view rest;
    if (leads(name, key, rest))
      if (const auto found = find(below, rest)) return found;
  }
  return {};
}

void collect(const Json& here, const std::string& name, std::vector<std::string>& names) {
  if (here.is_number() || here.is_boolean()) names.push_back(name);
  const auto below = [&name](const std::string& part) { return name.empty() ? part : name + "." + part; };
  if (here.is_object())
    for (const auto& [key, value] : here.items()) collect(value, below(key), names);
  if (here.is_array())
    for (std::size_t i = 0; i < here.size(); ++i) {
      const std::vector<std::string> labels = labels_of(here[i]);
      collect(here[i], below(labels.empty() ? std::to_string(i) : fmt::format("{}", fmt::join(labels, "."))), names);
    }
}

}  // namespace

std::optional<double> find_quantity(const Json& result, const std::string& name) { return find(result, name); }

std::vector<std::string> quantities_in(const Json& result) {
  std::vector<std::string> names;
  for (const auto& [key, value] : result.items())
    if (key != "board" && key != "firmware" && key != "host") collect(value, key, names);
  return names;
}

std::string unit_of(const std::string& name) {
  static constexpr std::array<std::pair<std::string_view, const char*>, 5> kUnits = {
      {{"_ns", "ns"}, {"_per_s", "1/s"}, {"_bytes", "B"}, {"_gbps", "Gb/s"}, {"_cpu_s", "s"}}};
  for (std::size_t end = name.size();;) {
    const std::size_t dot = end == 0 ? std::string::npos : name.rfind('.', end - 1);
    const std::string part =
        name.substr(dot == std::string::npos ? 0 : dot + 1, dot == std::string::npos ? end : end - dot - 1);
    if (part == "bytes") return "B";
    if (part == "count") return {};
    for (const auto& [ending, unit] : kUnits)
      if (part.ends_with(ending)) return unit;
    // dma[].read_p50_ns has its unit at the end; latency_ns.p99 has it in front.
    if (dot == std::string::npos) return {};
    end = dot;
  }
}

}  // namespace sluice::sweep
