#include "platform/config/board_file.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include <fmt/format.h>

// toml++ 3.3 asserts what a malformed key breaks ("[a.]"), and assumes it in a release build of clang. Without either,
// the parser goes on to report the error, in every build alike.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(condition) static_assert(true)
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include "platform/config/nearest_name.h"

namespace sluice::config {
namespace {

std::string join(const std::string& path, std::string_view key) {
  std::string joined = path;
  return joined.append(".").append(key);
}

class Reader {
 public:
  Reader(std::string name, BoardFile& file) : name_(std::move(name)), file_(file) {}

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
        read_table(*node.as_table(), name, where);
      } else {
        throw UserError(where,
                        name + " is not a key of a board file" + suggestion(name, {"summary", "extends", "plugins"}));
      }
    }
    std::stable_sort(file_.settings.begin(), file_.settings.end(),
                     [](const auto& a, const auto& b) { return a.where.line < b.where.line; });
  }

 private:
  Location at(const toml::source_region& source) const { return {name_, static_cast<int>(source.begin.line)}; }

  static void check_key(const std::string& key, const Location& where) {
    const bool good = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
      return c < 128 && (std::isalnum(c) || c == '_' || c == '-');
    });
    if (!good) throw UserError(where, "a name may have only letters, digits, _ and -");
  }

  std::string string_of(const toml::node& node, const std::string& path) const {
    if (const auto* s = node.as_string()) return s->get();
    throw UserError(at(node.source()), path + " must be a string");
  }

  void read_extends(const toml::node& node) {
    const auto* list = node.as_array();
    if (!list) throw UserError(at(node.source()), "extends must be a list of names");
    for (const auto& e : *list) file_.extends.push_back({string_of(e, "each name in extends"), at(e.source())});
  }

  void read_plugins(const toml::node& node) {
    const auto* list = node.as_array();
    if (!list) throw UserError(at(node.source()), "plugins must be a list of paths of shared objects");
    for (const auto& e : *list) {
      const std::string path = string_of(e, "each path in plugins");
      if (path.empty()) throw UserError(at(e.source()), "each path in plugins must name a shared object");
      file_.plugins.push_back({path, at(e.source())});
    }
  }

  void read_table(const toml::table& table, const std::string& path, const Location& where) {
    if (table.contains("value")) {
      read_sourced(table, path, where);
      return;
    }
    file_.settings.push_back({path, {}, true, {}, where});
    for (auto&& [key, node] : table) {
      const Location key_where = at(key.source());
      check_key(std::string(key.str()), key_where);
      const std::string key_path = join(path, key.str());
      if (const auto* t = node.as_table()) {
        read_table(*t, key_path, key_where);
      } else {
        file_.settings.push_back({key_path, value_of(node, key_path, key_where), false, {}, key_where});
      }
    }
  }

  /// { value = ..., kind = "...", source = "...", points = [...] }
  void read_sourced(const toml::table& table, const std::string& path, const Location& where) {
    BoardFile::Setting setting{path, {}, false, base::Provenance{}, where};
    base::Provenance& provenance = *setting.provenance;
    for (auto&& [key, node] : table) {
      const Location key_where = at(key.source());
      const std::string name(key.str());
      const std::string key_path = join(path, name);
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
      } else if (name == "points") {
        const auto* list = node.as_array();
        if (!list) throw UserError(key_where, key_path + " must be a list of strings");
        const std::string each = "each of " + key_path;
        for (const auto& p : *list) provenance.points.push_back(string_of(p, each));
      } else {
        throw UserError(key_where, fmt::format("{} does not belong beside {}.value{}", name, path,
                                               suggestion(name, {"value", "kind", "source", "points"})));
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
    file_.settings.push_back(std::move(setting));
  }

  base::Value value_of(const toml::node& node, const std::string& path, const Location& where) const {
    if (const auto* b = node.as_boolean()) return {b->get()};
    if (const auto* i = node.as_integer()) return {std::int64_t{i->get()}};
    if (const auto* d = node.as_floating_point()) return {d->get()};
    if (const auto* s = node.as_string()) return {s->get()};
    if (const auto* list = node.as_array()) {
      base::Value::Array values;
      for (const auto& e : *list) {
        if (e.is_table() || e.is_array()) {
          throw UserError(where,
                          path + " must be a list of plain values, not of " + (e.is_table() ? "tables" : "lists"));
        }
        values.push_back(value_of(e, path, where));
      }
      return {std::move(values)};
    }
    throw UserError(where, path + " must not be a date or a time of day");
  }

  std::string name_;
  BoardFile& file_;
};

}  // namespace

namespace {
/// toml++ nests a call per part of a dotted key: a line of thousands of dots outside quotes would overflow the stack.
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
}  // namespace

BoardFile parse_board_file(std::string_view text, const std::string& name) {
  BoardFile file;
  refuse_deep_keys(text, name);
  try {
    const toml::table root = toml::parse(text, name);
    Reader(name, file).read(root);
  } catch (const toml::parse_error& e) {
    std::string what(e.description());
    for (char& c : what) {
      if (static_cast<unsigned char>(c) < ' ') c = ' ';
    }
    throw UserError({name, static_cast<int>(e.source().begin.line)}, "not valid TOML: " + what);
  }
  return file;
}

std::string read_text_file(const std::string& path, const std::string& name) {
  constexpr std::uintmax_t kLargest = 1 << 20;
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) throw UserError(name + ": no such file");
  if (std::filesystem::is_directory(status)) throw UserError(name + ": is a directory, not a file");
  if (!std::filesystem::is_regular_file(status)) throw UserError(name + ": is not a regular file");
  if (std::filesystem::file_size(path, error) > kLargest) throw UserError(name + ": is larger than 1 MiB");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
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
