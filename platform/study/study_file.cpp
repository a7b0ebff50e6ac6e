// SPDX-License-Identifier: Apache-2.0
#include "platform/study/study_file.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "models/base/parameters/number.h"
#include "platform/config/files/toml_file.h"
#include "platform/config/nearest_name.h"
#include "platform/study/expression.h"
#include "platform/study/range.h"

namespace sluice::study {
namespace {

using config::Location;
using config::UserError;
using Settings = std::vector<config::BoardFile::Setting>;

constexpr unsigned kMostReplications = 100'000;
constexpr unsigned kDefaultMost = 100;  ///< replications of a study that asks for a precision
constexpr const char* kValues = "must be a list of values, or { from = ..., to = ..., step or factor = ... }";
constexpr Expression::Use kOfSearch = {"while", "which is no quantity"};
constexpr const char* kSearch = "while";  ///< of a range or { values = [...] }: a search

bool sweeps(const Grid& grid, const std::string& path) {
  for (const Dimension& d : grid.dimensions)
    for (const Axis& a : d)
      if (a.path == path) return true;
  return false;
}

class StudyReader : config::TomlReader {
 public:
  StudyReader(const std::string& file, Study& study) : TomlReader(file), study_(study) {}

  void read(const toml::table& root) {
    for (auto&& [key, node] : root) {
      const std::string name(key.str());
      const Location where = at(key.source());
      if (name == "summary")
        study_.summary = string_of(node, name);
      else if (name == "boards")
        study_.boards = names(node, name, where);
      else if (name == "settings")
        study_.settings = settings(node, where);
      else if (name == "seeds")
        read_seeds(node, where);
      else if (name == "replications")
        read_replications(node, where);
      else if (name == "measure")
        read_measure(node, where);
      else if (name == "grid")
        read_grids(node, where);
      else
        throw UserError(where, name + " is not a key of a study" +
                                   config::suggestion(name, {"summary", "boards", "settings", "seeds", "replications",
                                                             "measure", "grid"}));
    }
    if (study_.grids.empty()) study_.grids.push_back({Location{study_.file, 0}, {}, {}, {}, {}, {}});
    for (const Grid& g : study_.grids)
      if (g.boards.empty() && study_.boards.empty())
        throw UserError(g.where, "the study names no boards; boards = [\"e810-poll\"] would");
    check_settings();
  }

 private:
  static bool sets(const Grid& grid, const std::string& path) {
    return std::any_of(grid.settings.begin(), grid.settings.end(), [&path](const auto& s) { return s.path == path; });
  }

  /// Refuses what would be set again at every point.
  void check_settings() const {
    for (const auto& s : study_.settings)
      if (!s.is_table && std::all_of(study_.grids.begin(), study_.grids.end(),
                                     [&s](const Grid& g) { return sweeps(g, s.path) || sets(g, s.path); }))
        throw UserError(s.where, s.path + " is set again by each grid, so it has no effect here");
  }

  /// A list of different names that is not empty.
  std::vector<Named> names(const toml::node& node, const std::string& key, const Location& where) const {
    const auto* list = node.as_array();
    if (!list || list->empty()) throw UserError(where, key + " must be a list of names that is not empty");
    std::vector<Named> all;
    for (const auto& e : *list) {
      all.push_back({string_of(e, "each name in " + key), at(e.source())});
      for (std::size_t i = 0; i + 1 < all.size(); ++i)
        if (all[i].name == all.back().name)
          throw UserError(all.back().where, fmt::format("{} has {} twice", key, all.back().name));
    }
    return all;
  }

  void read_measure(const toml::node& node, const Location& where) {
    study_.measure = names(node, "measure", where);
    for (const auto& e : *node.as_array()) quantity_of(e, at(e.source()));
  }

  Settings settings(const toml::node& node, const Location& where) const {
    if (!node.is_table()) throw UserError(where, "settings must be a table of parameters");
    Settings all;
    for (auto&& [key, below] : *node.as_table()) {
      const std::string name(key.str());
      const Location key_where = at(key.source());
      check_key(name, key_where);
      if (!below.is_table())
        throw UserError(key_where, name + " is no parameter: settings have KIND.KEY or KIND.NAME.KEY");
      add_settings(*below.as_table(), name, key_where, all);
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.where.line < b.where.line; });
    return all;
  }

  void read_seeds(const toml::node& node, const Location& where) {
    study_.seeds_where = where;
    for (const base::Value& v : values(node, "seeds", where)) {
      const auto* seed = std::get_if<std::int64_t>(&v.data);
      if (!seed || *seed < 0) throw UserError(where, "seeds must be whole numbers that are not negative");
      study_.seeds.push_back(static_cast<std::uint64_t>(*seed));
    }
    std::vector<std::uint64_t> sorted = study_.seeds;
    std::sort(sorted.begin(), sorted.end());
    if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
      throw UserError(where, fmt::format("seeds has {} twice", *twice));
  }

  unsigned whole_of(const toml::node& node, const std::string& key, unsigned least, const Location& where) const {
    const auto* n = node.as_integer();
    if (!n || n->get() < std::int64_t{least} || n->get() > std::int64_t{kMostReplications})
      throw UserError(where, fmt::format("{} must be a whole number, {} to {}", key, least, kMostReplications));
    return static_cast<unsigned>(n->get());
  }

  void read_replications(const toml::node& node, const Location& where) {
    study_.replications_where = where;
    if (const auto* table = node.as_table())
      read_precision(*table, where);
    else
      study_.replications = whole_of(node, "replications", 1, where);
  }

  /// { quantity = "latency_ns.p99", within = "2 %", least = 5, most = 100 }
  void read_precision(const toml::table& table, const Location& where) {
    Precision p;
    p.where = where;
    study_.replications = kDefaultMost;
    for (auto&& [key, node] : table) {
      const std::string name(key.str());
      const Location key_where = at(key.source());
      if (name == "quantity")
        p.quantity = quantity_of(node, key_where);
      else if (name == "within")
        p.within = within_of(node, key_where);
      else if (name == "least")
        p.least = whole_of(node, "replications.least", 2, key_where);
      else if (name == "most")
        study_.replications = whole_of(node, "replications.most", 2, key_where);
      else
        throw UserError(key_where, fmt::format("replications.{} is not a key of a precision{}", name,
                                               config::suggestion(name, {"quantity", "within", "least", "most"})));
    }
    if (p.quantity.empty() || p.within == 0)
      throw UserError(where, "replications must be a number, or a table with quantity and within");
    if (p.least > study_.replications)
      throw UserError(where, fmt::format("replications.least is {}, more than replications.most, {}", p.least,
                                         study_.replications));
    study_.precision = p;
  }

  double within_of(const toml::node& node, const Location& where) const {
    const std::string path = "replications.within";
    const double share = share_of(node, path, where);
    if (share == 0 || share >= 1) throw UserError(where, path + " must be more than 0 % and less than 100 %");
    return share;
  }

  std::string quantity_of(const toml::node& node, const Location& where) const {
    std::string name = string_of(node, "a quantity");
    if (name.empty()) throw UserError(where, "a quantity must have a name, such as latency_ns.p99");
    check_quantity(name, where);
    return name;
  }

  static void check_quantity(const std::string& name, const Location& where) {
    if (depends_on_machine(name))
      throw UserError(where, name + " depends on the machine, and is no quantity of a study; host.csv has it");
  }

  /// A list of values, or a range. Not empty.
  std::vector<base::Value> values(const toml::node& node, const std::string& path, const Location& where,
                                  bool of_search = false) const {
    std::vector<base::Value> all;
    if (const auto* table = node.as_table()) {
      all = range(*table, path, where, of_search);
    } else if (const auto* list = node.as_array()) {
      for (const auto& e : *list) {
        if (e.is_table()) throw UserError(at(e.source()), path + " " + kValues);
        all.push_back(value_of(e, "each value of " + path, at(e.source())));
      }
    } else {
      throw UserError(where, path + " " + kValues);
    }
    if (all.empty()) throw UserError(where, path + " has no values, so the grid is empty");
    values_ += all.size();
    if (values_ > kMostPoints)
      throw UserError(
          where, fmt::format("the study has more than {} values; {} points are the most", kMostPoints, kMostPoints));
    return all;
  }

  /// of_search: the table has a search's condition, too.
  std::vector<base::Value> range(const toml::table& table, const std::string& path, const Location& where,
                                 bool of_search) const {
    Range r;
    std::optional<std::string> by;
    for (auto&& [key, node] : table) {
      const std::string name(key.str());
      const Location key_where = at(key.source());
      if (name == kSearch && of_search) continue;
      const bool is_by = name == "step" || name == "factor";
      if (name != "from" && name != "to" && !is_by)
        throw UserError(key_where, fmt::format("{}.{}: a range has from, to, and step or factor", path, name));
      if (is_by && by) throw UserError(key_where, path + " has a step and a factor; leave one of them out");
      if (is_by) by = name;
      if (node.is_table()) throw UserError(key_where, fmt::format("{}.{} must be a number", path, name));
      (name == "from" ? r.from : name == "to" ? r.to : r.by) = value_of(node, path, key_where);
    }
    if (!table.contains("from") || !table.contains("to") || !by)
      throw UserError(where, path + " must have from, to, and step or factor");
    r.is_factor = *by == "factor";
    try {
      return values_of(r);
    } catch (const base::ValueError& e) {
      throw UserError(where, path + " " + e.what());
    }
  }

  void read_grids(const toml::node& node, const Location& where) {
    if (const auto* table = node.as_table()) {
      study_.grids.push_back(grid(*table, where));
    } else if (node.is_array_of_tables()) {
      for (const auto& e : *node.as_array()) study_.grids.push_back(grid(*e.as_table(), at(e.source())));
    } else {
      throw UserError(where, "grid must be a table [grid], or several [[grid]]");
    }
  }

  Grid grid(const toml::table& table, const Location& where) const {
    Grid g{where, {}, {}, {}, {}, {}};
    for (auto&& [key, node] : table) {
      const std::string name(key.str());
      const Location key_where = at(key.source());
      if (name == "boards") {
        g.boards = names(node, name, key_where);
      } else if (name == "settings") {
        g.settings = settings(node, key_where);
      } else if (name == "where") {
        g.condition = string_of(node, name);
        if (g.condition.empty()) throw UserError(key_where, "where must be a condition; leave it out for none");
        g.condition_where = key_where;
      } else if (name == "together") {
        add_together(node, key_where, g);
      } else {
        Dimension alone;
        add_axes(node, name, key_where, alone);
        for (Axis& a : alone) g.dimensions.push_back({std::move(a)});
      }
    }
    // Tables of TOML have no order; that of the file is what a person expects.
    std::stable_sort(g.dimensions.begin(), g.dimensions.end(),
                     [](const Dimension& a, const Dimension& b) { return a[0].where.line < b[0].where.line; });
    check_paths(g);
    return g;
  }

  /// A condition must be true or false for numbers, and say something of the results.
  void check_search(const Axis& a) const {
    const std::vector<std::string> names = names_in(a.search);
    if (names.empty()) throw UserError(a.search_where, a.path + ".while must be a condition on quantities");
    for (const std::string& name : names) check_quantity(name, a.search_where);
    Expression condition(kOfSearch, a.search, names, a.search_where);
    condition.set_all();
    condition.holds();
  }

  /// An axis, whose values are a list, a range or, of a search, { values = [...], while = "..." }.
  Axis axis(const toml::node& node, const std::string& path, const Location& where) const {
    Axis a{path, where, {}, {}, {}};
    const auto* table = node.as_table();
    const auto* search = table ? table->get(kSearch) : nullptr;
    if (search) {
      a.search_where = at(search->source());
      a.search = string_of(*search, path + ".while");
      check_search(a);
    }
    const auto* list = search ? table->get("values") : nullptr;
    if (list && table->size() != 2) throw UserError(where, path + " must have values and while, or a range and while");
    a.values = values(list ? *list : node, path, where, search && !list);
    return a;
  }

  /// Adds what a table sweeps, tables within it included.
  void add_axes(const toml::node& node, const std::string& path, const Location& where, Dimension& to) const {
    const auto* table = node.as_table();
    const bool has_values = table && table->contains("values") && table->get("values")->is_array();
    if (has_values && !table->contains(kSearch))
      throw UserError(
          where, path + " has values = [...], which belongs to a search: while = \"...\"; else give the list alone");
    if (!table || table->contains("from") || table->contains("to") || table->contains(kSearch)) {
      if (path.find('.') == std::string::npos)
        throw UserError(where, path +
                                   " is not a key of a grid, which has boards, where, settings, together and the "
                                   "parameters that it sweeps");
      to.push_back(axis(node, path, where));
      return;
    }
    for (auto&& [key, below] : *table) {
      const Location key_where = at(key.source());
      check_key(std::string(key.str()), key_where);
      add_axes(below, config::join_path(path, key.str()), key_where, to);
    }
  }

  void add_together(const toml::node& node, const Location& where, Grid& g) const {
    if (!node.is_array_of_tables())
      throw UserError(where, "together must be a table of parameters whose values advance together: [[grid.together]]");
    for (const auto& e : *node.as_array()) {
      Dimension d;
      for (auto&& [key, below] : *e.as_table()) add_axes(below, std::string(key.str()), at(key.source()), d);
      std::stable_sort(d.begin(), d.end(), [](const Axis& a, const Axis& b) { return a.where.line < b.where.line; });
      if (d.empty()) throw UserError(at(e.source()), "together has no parameters");
      for (const Axis& a : d)
        if (a.values.size() != d[0].values.size())
          throw UserError(a.where, fmt::format("{} has {} values and {} has {}, which must be as many to advance "
                                               "together",
                                               a.path, a.values.size(), d[0].path, d[0].values.size()));
      g.dimensions.push_back(std::move(d));
    }
  }

  /// A parameter may be swept once, and not be set beside that; a grid may have one search.
  void check_paths(const Grid& g) const {
    std::vector<std::string> seen;
    const Axis* search = nullptr;
    for (const Dimension& d : g.dimensions)
      for (const Axis& a : d) {
        if (!a.search.empty() && d.size() > 1)
          throw UserError(a.search_where, a.path + " advances together with another, and cannot be searched");
        if (!a.search.empty() && search)
          throw UserError(a.search_where, fmt::format("a grid may have one search, and {} is another", search->path));
        if (!a.search.empty()) search = &a;
        if (std::find(seen.begin(), seen.end(), a.path) != seen.end())
          throw UserError(a.where, a.path + " is swept twice in one grid");
        seen.push_back(a.path);
        for (const auto& s : g.settings)
          if (s.path == a.path) throw UserError(s.where, a.path + " is swept by this grid; leave the setting out");
      }
    for (const std::string& name : search ? names_in(search->search) : std::vector<std::string>())
      if (name == "board" || std::find(seen.begin(), seen.end(), name) != seen.end())
        throw UserError(search->search_where, name + " is no quantity of a result, which a search is about");
  }

  Study& study_;
  mutable std::uint64_t values_ = 0;  ///< of all lists and ranges so far
};

/// What a study numbers itself must not be set beside that.
void check_run_settings(const Study& study) {
  if (study.precision && study.seeds_where.line > 0)
    throw UserError(study.seeds_where, "seeds has no use beside a precision, which numbers replications");
  const auto check = [&study](const std::string& path, const Location& where) {
    if (path == "run.replication" && study.replications_where.line > 0)
      throw UserError(where, "run.replication is numbered by replications; leave one of them out");
    if (path == "run.seed" && study.seeds_where.line > 0)
      throw UserError(where, "run.seed is set by seeds; leave one of them out");
  };
  for (const auto& s : study.settings) check(s.path, s.where);
  for (const Grid& g : study.grids) {
    for (const auto& s : g.settings) check(s.path, s.where);
    for (const Dimension& d : g.dimensions)
      for (const Axis& a : d) check(a.path, a.where);
  }
}

}  // namespace

bool depends_on_machine(const std::string& quantity) { return quantity == "host" || quantity.starts_with("host."); }

Study parse_study(std::string text, const std::string& file) {
  Study study;
  study.name = std::filesystem::path(file).stem();
  study.file = file;
  study.text = std::move(text);
  StudyReader(file, study).read(config::parse_toml(study.text, file));
  check_run_settings(study);
  return study;
}

std::string whole_text(const Study& study) {
  std::string text = study.text;
  for (const std::string& s : study.overrides) text += "\n--set " + s;
  return text;
}

void set_on_top(Study& study, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) {
    const std::string path = setting.substr(0, setting.find('='));
    if (path.empty() || path.size() == setting.size())
      throw UserError(fmt::format("--set {}: must be PATH=VALUE", setting));
    const bool is_numbered = (path == "run.seed" && study.seeds_where.line > 0) ||
                             (path == "run.replication" && study.replications_where.line > 0);
    const bool is_swept =
        std::any_of(study.grids.begin(), study.grids.end(), [&path](const Grid& g) { return sweeps(g, path); });
    if (is_swept || is_numbered)
      throw UserError(
          fmt::format("--set {}: {} is swept by the study {}, so it cannot be set", setting, path, study.name));
  }
  study.overrides = settings;
}

}  // namespace sluice::study
