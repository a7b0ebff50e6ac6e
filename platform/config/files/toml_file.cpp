// SPDX-License-Identifier: Apache-2.0
#include "platform/config/files/toml_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "platform/config/nearest_name.h"

namespace sluice::config {
namespace {

std::string about(const std::string& path) { return path.empty() ? path : path + " "; }

/// The key that a line sets, with a space after it; empty where the line sets none.
std::string key_in_line(std::string_view text, int line) {
  for (int n = 1; n < line; ++n) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  const std::string_view key = text.substr(0, text.substr(0, text.find('\n')).find('='));
  const std::size_t first = key.find_first_not_of(" \t");
  if (key.size() == text.size() || first == std::string_view::npos || key.find('\n') != std::string_view::npos)
    return {};
  return std::string(key.substr(first, key.find_last_not_of(" \t") - first + 1)) + " ";
}

}  // namespace

std::string join_path(const std::string& path, std::string_view key) {
  std::string joined = path;
  return joined.append(".").append(key);
}

// toml++ nests a call per part of a dotted key: a line of thousands of dots outside quotes would overflow the stack.
void refuse_deep_keys(std::string_view text, const std::string& name) {
  constexpr int kMost = 64;
  int line = 1, dots = 0;
  char quote = 0;
  for (const char c : text) {
    if (c == '\n') {
      ++line;
      dots = 0;
      quote = 0;
    } else if (quote != 0) {
      if (c == quote && c != '#') quote = 0;
    } else if (c == '"' || c == '\'' || c == '#') {
      quote = c;  // a comment ends with its line
    } else if (c == '.' && ++dots > kMost) {
      throw UserError({name, line}, fmt::format("a key has more than {} parts", kMost));
    }
  }
}

toml::table parse_toml(std::string_view text, const std::string& name) {
  refuse_deep_keys(text, name);
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& e) {
    std::string what(e.description());
    for (char& c : what) {
      if (static_cast<unsigned char>(c) < ' ') c = ' ';
    }
    const int line = static_cast<int>(e.source().begin.line);
    if (what.find("not representable in 64 bits") != std::string::npos)
      throw UserError({name, line}, key_in_line(text, line) + "must be a whole number below 2^63, as TOML has them");
    throw UserError({name, line}, "not valid TOML: " + what);
  }
}

void TomlReader::check_key(const std::string& key, const Location& where) {
  const bool good = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return c < 128 && (std::isalnum(c) || c == '_' || c == '-');
  });
  if (!good) throw UserError(where, "a name may have only letters, digits, _ and -");
}

std::string TomlReader::string_of(const toml::node& node, const std::string& path) const {
  if (const auto* s = node.as_string()) return s->get();
  throw UserError(at(node.source()), path + " must be a string");
}

void TomlReader::add_settings(const toml::table& table, const std::string& path, const Location& where,
                              std::vector<BoardFile::Setting>& to) const {
  if (table.contains("value")) {
    add_sourced(table, path, where, to);
    return;
  }
  to.push_back({path, {}, true, {}, where});
  for (auto&& [key, node] : table) {
    const Location key_where = at(key.source());
    check_key(std::string(key.str()), key_where);
    const std::string key_path = join_path(path, key.str());
    if (const auto* t = node.as_table()) {
      add_settings(*t, key_path, key_where, to);
    } else {
      to.push_back({key_path, value_of(node, key_path, key_where), false, {}, key_where});
    }
  }
}

double TomlReader::share_of(const toml::node& node, const std::string& path, const Location& where) const {
  const auto* text = node.as_string();
  if (!text || text->get().find('%') == std::string::npos)
    throw UserError(where, path + " must be a share in quotes, such as \"5 %\"");
  try {
    const base::Ratio share = base::Codec<base::Ratio>::read(value_of(node, path, where));
    return static_cast<double>(share.numerator()) / static_cast<double>(share.denominator());
  } catch (const base::ValueError& e) {
    throw UserError(where, path + " " + e.what());
  }
}

/// A string such as "10 %", or a number.
base::Ratio TomlReader::uncertainty_of(const toml::node& node, const std::string& path, const Location& where) const {
  try {
    const base::Value value = node.is_table() ? base::Value{} : value_of(node, path, where);
    return base::checked_uncertainty(base::Codec<base::Ratio>::read(value));
  } catch (const base::ValueError& e) {
    throw UserError(where, path + " " + e.what());
  }
}

/// { value = ..., kind = "...", source = "...", points = [...], uncertainty = "..." }
void TomlReader::add_sourced(const toml::table& table, const std::string& path, const Location& where,
                             std::vector<BoardFile::Setting>& to) const {
  BoardFile::Setting setting{path, {}, false, base::Provenance{}, where};
  base::Provenance& provenance = *setting.provenance;
  for (auto&& [key, node] : table) {
    const Location key_where = at(key.source());
    const std::string name(key.str());
    const std::string key_path = join_path(path, name);
    if (name == "value") {
      if (node.is_table()) throw UserError(key_where, key_path + " must be a value, not a table");
      setting.value = value_of(node, key_path, key_where);
    } else if (name == "kind") {
      try {
        provenance.kind = base::parse_kind(string_of(node, key_path));
      } catch (const base::ValueError& e) {
        throw UserError(key_where, key_path + " " + e.what());
      }
    } else if (name == "source") {
      provenance.source = string_of(node, key_path);
    } else if (name == "uncertainty") {
      provenance.uncertainty = uncertainty_of(node, key_path, key_where);
    } else if (name == "points") {
      const auto* list = node.as_array();
      if (!list) throw UserError(key_where, key_path + " must be a list of strings");
      const std::string each = "each of " + key_path;
      for (const auto& p : *list) provenance.points.push_back(string_of(p, each));
    } else {
      throw UserError(key_where, fmt::format("{} does not belong beside {}.value{}", name, path,
                                             suggestion(name, {"value", "kind", "source", "points", "uncertainty"})));
    }
  }
  const bool fitted = provenance.kind == base::Provenance::Kind::kFitted;
  if (provenance.source.empty()) throw UserError(where, path + " needs a source beside its value");
  if (fitted && provenance.points.empty()) {
    throw UserError(where, path + " is fitted and needs the points that it was fitted to");
  }
  if (!fitted && !provenance.points.empty()) {
    throw UserError(where, path + " has points, which only a fitted value has");
  }
  to.push_back(std::move(setting));
}

base::Value TomlReader::value_of(const toml::node& node, const std::string& path, const Location& where) const {
  if (const auto* b = node.as_boolean()) return {b->get()};
  if (const auto* i = node.as_integer()) return {std::int64_t{i->get()}};
  if (const auto* d = node.as_floating_point()) return {d->get()};
  if (const auto* s = node.as_string()) return {s->get()};
  if (const auto* list = node.as_array()) {
    base::Value::Array values;
    for (const auto& e : *list) {
      if (e.is_table() || e.is_array()) {
        throw UserError(where,
                        about(path) + "must be a list of plain values, not of " + (e.is_table() ? "tables" : "lists"));
      }
      values.push_back(value_of(e, path, where));
    }
    return {std::move(values)};
  }
  throw UserError(where, about(path) + "must not be a date or a time of day");
}

}  // namespace sluice::config
