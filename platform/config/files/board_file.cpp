// SPDX-License-Identifier: Apache-2.0
#include "platform/config/files/board_file.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include "models/base/parameters/list_text.h"
#include "platform/config/files/toml_file.h"
#include "platform/config/nearest_name.h"

namespace sluice::config {
namespace {

class Reader : TomlReader {
 public:
  Reader(const std::string& name, BoardFile& file) : TomlReader(name), file_(file) {}

  /// The one value of `x = ...`; nothing when the text continues after it.
  std::optional<base::Value> only_value(const toml::table& root, const Location& where) const {
    const toml::node* node = root.get("x");
    if (root.size() != 1 || !node || node->is_table()) return {};
    return value_of(*node, "", where);
  }

  void read(const toml::table& root) {
    for (auto&& [key, node] : root) {
      const Location where = at(key.source());
      const std::string name(key.str());
      if (name == "summary") {
        file_.summary = string_of(node, name);
      } else if (name == "extends") {
        read_extends(node);
      } else if (name == "plugins") {
        read_plugins(node);
      } else if (node.is_table()) {
        check_key(name, where);
        add_settings(*node.as_table(), name, where, file_.settings);
      } else if (node.is_array_of_tables()) {
        throw UserError(where,
                        fmt::format("[[{0}]] must be a table: [{0}.NAME], or [{0}] for what a board has once", name));
      } else {
        throw UserError(where,
                        name + " is not a key of a board file" + suggestion(name, {"summary", "extends", "plugins"}));
      }
    }
    std::stable_sort(file_.settings.begin(), file_.settings.end(),
                     [](const auto& a, const auto& b) { return a.where.line < b.where.line; });
  }

 private:
  /// Calls add for each element of a list, or for a single string without a list.
  template <class Add>
  void each_of(const toml::node& node, const char* mistake, const Add& add) const {
    if (node.is_string()) return add(node);
    const auto* list = node.as_array();
    if (!list) throw UserError(at(node.source()), mistake);
    for (const auto& e : *list) add(e);
  }

  void read_extends(const toml::node& node) {
    each_of(node, "extends must be a list of names", [this](const toml::node& e) {
      file_.extends.push_back({string_of(e, "each name in extends"), at(e.source())});
    });
  }

  void read_plugins(const toml::node& node) {
    each_of(node, "plugins must be a list of paths of shared objects", [this](const toml::node& e) {
      const std::string path = string_of(e, "each path in plugins");
      if (path.empty()) throw UserError(at(e.source()), "each path in plugins must name a shared object");
      if (path.find('\0') != std::string::npos)
        throw UserError(at(e.source()), "a path in plugins may not have the character U+0000");
      file_.plugins.push_back({path, at(e.source())});
    });
  }

  BoardFile& file_;
};

}  // namespace

namespace {
std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// Text that begins without a quote has none at its end, except where it has another one inside.
void refuse_lone_quote(std::string_view text, const Location& where) {
  for (const char quote : {'"', '\''})
    if (text.ends_with(quote) && std::count(text.begin(), text.end(), quote) % 2 == 1)
      throw UserError(where, fmt::format("has a quote ({}) without a beginning", quote));
}

/// Refuses text that begins with a quote, but is no value of TOML and no list in which only some elements have quotes.
/// mistake: what TOML says of it.
void refuse_unended(std::string_view text, const std::string& mistake, const Location& where) {
  if (text.starts_with('[')) return;
  try {
    if (base::split_list(text).size() > 1) return;
  } catch (const base::ValueError& e) {
    throw UserError(where, e.what());
  }
  throw UserError(where, "is not valid TOML: " + mistake);
}
}  // namespace

BoardFile parse_board_file(std::string_view text, const std::string& name) {
  BoardFile file;
  Reader(name, file).read(parse_toml(text, name));
  return file;
}

std::optional<base::Value> parse_quoted(std::string_view written, const Location& where) {
  const std::string_view text = trimmed(written);
  if (text.empty() || std::string_view("\"'[").find(text.front()) == std::string_view::npos) {
    refuse_lone_quote(text, where);
    return {};
  }
  if (text.find('{') != std::string_view::npos) refuse_deep_keys(text, where.file);
  BoardFile file;
  std::string mistake;
  for (const auto& [before, after] : {std::pair{"x = ", ""}, std::pair{"x = [", "]"}}) {
    try {
      const toml::table root = toml::parse(before + std::string(text) + after);
      return Reader(where.file, file).only_value(root, where);
    } catch (const toml::parse_error& e) {
      if (mistake.empty()) mistake = e.description();
    }
  }
  refuse_unended(text, mistake, where);
  return {};
}

std::string unquoted(const std::string& text, const Location& where) {
  const std::optional<base::Value> value = parse_quoted(text, where);
  const auto* string = value ? std::get_if<std::string>(&value->data) : nullptr;
  return string ? *string : text;
}

std::string read_text_file(const std::string& path, const std::string& name) {
  constexpr std::uintmax_t kLargest = 1 << 20;
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) throw UserError(name + ": no such file");
  if (error) throw UserError(name + ": cannot be read: " + error.message());
  if (std::filesystem::is_directory(status)) throw UserError(name + ": is a directory, not a file");
  if (!std::filesystem::is_regular_file(status)) throw UserError(name + ": is not a regular file");
  if (std::filesystem::file_size(path, error) > kLargest) throw UserError(name + ": is larger than 1 MiB");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::string text;
  try {
    text.assign((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  } catch (const std::ios_base::failure&) {  // of the buffer itself, as for a file of /proc
    in.setstate(std::ios_base::badbit);
  }
  if (!in.is_open() || in.bad()) throw UserError(name + ": cannot be read: " + std::strerror(errno ? errno : EIO));
  return text;
}

std::string toml_text(const base::Value& value) {
  struct Writer {
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t i) const { return std::to_string(i); }
    std::string operator()(std::uint64_t i) const { return std::to_string(i); }
    std::string operator()(double d) const {
      char buffer[32];
      return {buffer, std::to_chars(buffer, buffer + sizeof buffer, d).ptr};
    }
    std::string operator()(const std::string& s) const {
      std::string text = "\"";
      for (char c : s.substr(0, 60)) text += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
      return text + (s.size() > 60 ? "...\"" : "\"");
    }
    std::string operator()(const base::Value::Array& array) const {
      std::string text = "[";
      for (std::size_t i = 0; i < array.size() && i < 8; ++i) text += (i ? ", " : "") + toml_text(array[i]);
      return text + (array.size() > 8 ? ", ...]" : "]");
    }
  };
  return std::visit(Writer{}, value.data);
}

}  // namespace sluice::config
