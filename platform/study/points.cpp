// SPDX-License-Identifier: Apache-2.0
#include "platform/study/points.h"

#include <algorithm>
#include <filesystem>
#include <functional>

#include <fmt/format.h>

#include "platform/config/dump.h"
#include "platform/config/nearest_name.h"
#include "platform/study/expression.h"

namespace sluice::study {
namespace {

namespace fs = std::filesystem;
using config::UserError;

/// So many boards are built at most before anything runs.
constexpr std::size_t kAllChecked = 20'000;

std::uint64_t combinations(const Grid& grid) {
  std::uint64_t n = 1;
  for (const Dimension& d : grid.dimensions) n *= d[0].values.size();
  return n;
}

/// The same in a type that does not overflow before there are far too many.
__extension__ typedef unsigned __int128 Wide;
constexpr Wide kFarTooMany = Wide{1} << 100;
Wide times(Wide a, std::size_t b) { return a > kFarTooMany / std::max<std::size_t>(b, 1) ? kFarTooMany : a * b; }

/// The paths that grids set or sweep.
std::vector<std::string> paths_of(const Study& study) {
  std::vector<std::string> paths;
  const auto add = [&paths](const std::string& path) {
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
  };
  for (const Grid& g : study.grids) {
    for (const auto& s : g.settings)
      if (!s.is_table) add(s.path);
    for (const Dimension& d : g.dimensions)
      for (const Axis& a : d) add(a.path);
  }
  return paths;
}

/// Sums of these do not depend on the order of the parts.
std::uint64_t hash_of(const std::string& path, const std::string& text) {
  std::uint64_t h = std::hash<std::string>{}(path + "=" + text) * 0x9e37'79b9'7f4a'7c15u;
  h ^= h >> 29;
  return h * 0xbf58'476d'1ce4'e5b9u;
}

std::optional<double> number_in(const base::Value& v) {
  if (const auto* i = std::get_if<std::int64_t>(&v.data)) return static_cast<double>(*i);
  if (const auto* u = std::get_if<std::uint64_t>(&v.data)) return static_cast<double>(*u);
  if (const auto* d = std::get_if<double>(&v.data)) return *d;
  return {};
}

}  // namespace

Points::Points(Study study, const config::Registry& registry, const config::BoardDirectories& directories, Check check)
    : study_(std::move(study)), registry_(registry) {
  check_number();
  read_boards(directories);
  choose();
  find_duplicates();
  if (check == Check::values) check_values();
}

void Points::check_number() const {
  Wide all = 0;
  for (const Grid& g : study_.grids) {
    Wide n = g.boards.empty() ? study_.boards.size() : g.boards.size();
    for (const Dimension& d : g.dimensions) n = times(n, d[0].values.size());
    all += times(times(n, std::max<std::size_t>(1, study_.seeds.size())), study_.replications);
  }
  if (all <= kMostPoints) return;
  const std::string number = all >= kFarTooMany ? "more than 10^30" : fmt::format("{}", all);
  throw UserError(
      fmt::format("{}: the study has {} points, conditions aside; {} is the most", study_.file, number, kMostPoints));
}

std::size_t Points::board_number(const Named& named, const config::BoardDirectories& directories) {
  const fs::path path(named.name);
  const bool is_path = named.name.find('/') != std::string::npos || path.extension() == ".toml";
  const std::string board = is_path ? (fs::path(study_.file).parent_path() / path).string() : named.name;
  for (std::size_t i = 0; i < boards_.size(); ++i)
    if (boards_[i].named.name == board) return i;
  Board b{{board, named.where}, {}, {}};
  try {
    b.layers = config::read_layers(board, directories);
  } catch (const UserError& e) {
    throw UserError(named.where, e.what());
  }
  const std::string name = fs::path(b.layers.layers.back().found.name).replace_extension();
  if (std::find(names_.begin(), names_.end(), name) != names_.end())
    throw UserError(named.where,
                    fmt::format("another board of the study is called {}, too; give one file another name", name));
  try {
    b.plain = config::build_board(b.layers, {study_.name + ".toml", study_.settings, study_.overrides}, registry_);
  } catch (const UserError&) {
    // What a grid sets may make the board complete, or its values fit together; check_values() finds what does not.
  }
  names_.push_back(name);
  boards_.push_back(std::move(b));
  return boards_.size() - 1;
}

void Points::read_boards(const config::BoardDirectories& directories) {
  for (std::size_t g = 0; g < study_.grids.size(); ++g) {
    const Grid& grid = study_.grids[g];
    for (const Named& named : grid.boards.empty() ? study_.boards : grid.boards)
      sources_.push_back({g, board_number(named, directories)});
  }
  for (const Source& s : sources_)
    for (const Dimension& d : study_.grids[s.grid].dimensions)
      for (const Axis& a : d) {
        check_axis(s, a);
        if (std::any_of(swept_.begin(), swept_.end(), [&](const auto& known) { return known.path == a.path; }))
          continue;
        const base::Parameter* p = parameter_of(boards_[s.board], a.path).parameter;
        swept_.push_back({a.path, p ? p->unit() : ""});
      }
}

/// Says what is wrong with a path that leads to no parameter, before a condition stumbles over its values.
void Points::check_axis(const Source& source, const Axis& axis) const {
  const Board& board = boards_[source.board];
  if (parameter_of(board, axis.path).parameter) return;
  config::AddedSettings added{study_.name + ".toml", study_.settings, study_.overrides};
  added.settings.push_back({axis.path, axis.values.front(), false, {}, axis.where});
  config::build_board(board.layers, added, registry_);
}

/// That of the board where it is complete, else of any model that has one.
Points::Declared Points::parameter_of(const Board& board, const std::string& path) const {
  const std::size_t dot = path.find('.');
  const config::Registry::Kind* kind = registry_.find(path.substr(0, dot));
  if (!kind || dot == std::string::npos) return {};
  const std::size_t second = kind->many ? path.find('.', dot + 1) : dot;
  if (second == std::string::npos) return {};
  const std::string key = path.substr(second + 1);
  if (const config::Instance* i = board.plain ? board.plain->find(path.substr(0, second)) : nullptr)
    if (const base::Parameter* p = i->schema().find(key)) return {&i->schema(), p, i};
  for (const config::Registry::Model& m : kind->models)
    if (const base::Parameter* p = m.schema->find(key)) return {m.schema, p, nullptr};
  return {};
}

/// A condition needs values that are valid by themselves.
void Points::check_value(const Board& board, const Axis& axis, std::size_t value) const {
  const auto [schema, p, instance] = parameter_of(board, axis.path);
  if (!p) return;
  try {
    p->assign(schema->defaults().get(), axis.values[value]);
  } catch (const base::ValueError& e) {
    throw UserError(axis.where,
                    fmt::format("{} {}, not {}", axis.path, e.what(), config::toml_text(axis.values[value])));
  }
}

SweptValue Points::shown(const Board& board, const Axis& axis, std::size_t value) const {
  const base::Value& v = axis.values[value];
  const auto* text = std::get_if<std::string>(&v.data);
  SweptValue result{axis.path, text ? *text : config::toml_text(v), {}};
  const auto [schema, p, instance] = parameter_of(board, axis.path);
  if (!p) return result;
  const std::shared_ptr<void> values = schema->defaults();
  try {
    p->assign(values.get(), v);
    result.text = p->text(values.get());
    result.number = number_in(p->value(values.get()));
  } catch (const base::ValueError&) {
    // check_values() says that the value is not valid.
  }
  return result;
}

std::vector<std::size_t> Points::places_of(const Grid& grid, std::uint64_t combination) const {
  std::vector<std::size_t> places(grid.dimensions.size());
  for (std::size_t d = places.size(); d-- > 0;) {
    const std::size_t n = grid.dimensions[d][0].values.size();
    places[d] = combination % n;
    combination /= n;
  }
  return places;
}

void Points::choose() {
  for (std::size_t first = 0; first < sources_.size();) {
    const std::size_t before = chosen_.size();
    const Grid& grid = study_.grids[sources_[first].grid];
    for (; first < sources_.size() && &study_.grids[sources_[first].grid] == &grid; ++first)
      choose_in(sources_[first], static_cast<std::uint32_t>(first));
    if (chosen_.size() == before) throw UserError(grid.condition_where, "where leaves no point of the grid");
  }
}

/// A text in a condition that is no board and no swept value would make it false everywhere, and nobody would know.
void Points::check_texts(const Source& source) const {
  const Grid& grid = study_.grids[source.grid];
  const std::vector<std::string> texts = texts_in(grid.condition);
  if (texts.empty()) return;
  std::vector<std::string> known = names_;
  for (const Dimension& d : grid.dimensions)
    for (const Axis& a : d)
      for (std::size_t i = 0; i < a.values.size() && std::holds_alternative<std::string>(a.values[i].data); ++i)
        if (SweptValue v = shown(boards_[source.board], a, i); !v.number) known.push_back(std::move(v.text));
  for (const std::string& text : texts)
    if (std::find(known.begin(), known.end(), text) == known.end())
      throw UserError(
          grid.condition_where,
          fmt::format("where names \"{}\", which is no board of the study and no text that the grid sweeps{}", text,
                      config::suggestion(text, known)));
}

void Points::choose_in(const Source& source, std::uint32_t number) {
  const Grid& grid = study_.grids[source.grid];
  const std::uint64_t all = combinations(grid);
  if (grid.condition.empty()) {
    for (std::uint64_t c = 0; c < all; ++c) chosen_.push_back({number, c});
    return;
  }
  check_texts(source);
  // Variables of the condition: the axes in order, then the board.
  struct Variable {
    std::size_t dimension;
    const Axis* axis;
    std::vector<SweptValue> values;  ///< where the condition uses them
  };
  const Board& board = boards_[source.board];
  std::vector<Variable> variables;
  std::vector<std::string> names;
  for (std::size_t d = 0; d < grid.dimensions.size(); ++d)
    for (const Axis& a : grid.dimensions[d]) {
      variables.push_back({d, &a, {}});
      names.push_back(a.path);
    }
  names.emplace_back("board");
  Expression condition({"where", "which the grid does not sweep"}, grid.condition, names, grid.condition_where);
  for (std::size_t v = 0; v < variables.size(); ++v)
    for (std::size_t i = 0; condition.uses(v) && i < variables[v].axis->values.size(); ++i) {
      check_value(board, *variables[v].axis, i);
      variables[v].values.push_back(shown(board, *variables[v].axis, i));
    }
  condition.set(variables.size(), {}, names_[source.board]);
  for (std::uint64_t c = 0; c < all; ++c) {
    const std::vector<std::size_t> places = places_of(grid, c);
    for (std::size_t v = 0; v < variables.size(); ++v)
      if (const Variable& of = variables[v]; !of.values.empty()) {
        const SweptValue& value = of.values[places[of.dimension]];
        condition.set(v, value.number, value.text);
      }
    if (condition.holds()) chosen_.push_back({number, c});
  }
}

std::string Points::value_in(const Chosen& chosen, const std::string& path) const {
  const Source& source = sources_[chosen.source];
  const Board& board = boards_[source.board];
  const Grid& grid = study_.grids[source.grid];
  const std::vector<std::size_t> places = places_of(grid, chosen.combination);
  for (std::size_t d = 0; d < places.size(); ++d)
    for (const Axis& a : grid.dimensions[d])
      if (a.path == path) return shown(board, a, places[d]).text;
  for (const auto& s : grid.settings)
    if (s.path == path && !s.is_table) return shown(board, {path, s.where, {s.value}, {}, {}}, 0).text;
  if (const Declared d = parameter_of(board, path); d.instance) return d.parameter->text(d.instance->values());
  // Unknown, and so like nothing in another grid.
  return fmt::format("of grid {}", source.grid);
}

/// Of each case, with its number; equal where cases are the same.
std::vector<std::pair<std::uint64_t, std::size_t>> Points::hashes(const std::vector<std::string>& paths) const {
  std::vector<std::pair<std::uint64_t, std::size_t>> list;
  list.reserve(chosen_.size());
  std::vector<std::vector<std::uint64_t>> of_place;  ///< of the present source, by dimension
  std::uint64_t fixed = 0;                           ///< of what the source does not sweep
  for (std::size_t n = 0; n < chosen_.size(); ++n) {
    const Source& source = sources_[chosen_[n].source];
    const Grid& grid = study_.grids[source.grid];
    if (n == 0 || chosen_[n].source != chosen_[n - 1].source) {
      fixed = hash_of("board", names_[source.board]);
      of_place.assign(grid.dimensions.size(), {});
      std::vector<std::string> rest = paths;
      for (std::size_t d = 0; d < grid.dimensions.size(); ++d)
        for (const Axis& a : grid.dimensions[d]) {
          of_place[d].resize(a.values.size());
          for (std::size_t i = 0; i < a.values.size(); ++i)
            of_place[d][i] += hash_of(a.path, shown(boards_[source.board], a, i).text);
          std::erase(rest, a.path);
        }
      for (const std::string& path : rest) fixed += hash_of(path, value_in(chosen_[n], path));
    }
    std::uint64_t h = fixed;
    const std::vector<std::size_t> places = places_of(grid, chosen_[n].combination);
    for (std::size_t d = 0; d < places.size(); ++d) h += of_place[d][places[d]];
    list.emplace_back(h, n);
  }
  return list;
}

/// Cases of different grids, or of values that only look different, may be the same: their runs would be, too.
void Points::find_duplicates() const {
  const std::vector<std::string> paths = paths_of(study_);
  auto sorted = hashes(paths);
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].first != sorted[i - 1].first) continue;
    const Chosen &a = chosen_[sorted[i - 1].second], &b = chosen_[sorted[i].second];
    const bool same = sources_[a.source].board == sources_[b.source].board &&
                      std::all_of(paths.begin(), paths.end(),
                                  [&](const std::string& path) { return value_in(a, path) == value_in(b, path); });
    if (!same) continue;
    const std::uint64_t first = sorted[i - 1].second * per_case(), second = sorted[i].second * per_case();
    throw UserError(study_.grids[sources_[b.source].grid].where,
                    fmt::format("point {} is the same as point {}: {}", second, first, describe(at(second))));
  }
}

void Points::check_values() const {
  std::vector<std::vector<std::vector<bool>>> seen(sources_.size());
  std::size_t checked = 0;
  for (std::size_t n = 0; n < chosen_.size() && checked < kAllChecked; ++n) {
    const Chosen& c = chosen_[n];
    const Grid& grid = study_.grids[sources_[c.source].grid];
    auto& dimensions = seen[c.source];
    bool is_new = dimensions.empty() || chosen_.size() <= kAllChecked;
    dimensions.resize(std::max<std::size_t>(1, grid.dimensions.size()));
    const std::vector<std::size_t> places = places_of(grid, c.combination);
    for (std::size_t d = 0; d < places.size(); ++d) {
      dimensions[d].resize(grid.dimensions[d][0].values.size());
      is_new |= !dimensions[d][places[d]];
      dimensions[d][places[d]] = true;
    }
    if (!is_new) continue;
    board_of(at(n * per_case()));
    ++checked;
  }
}

bool Points::is_adaptive() const {
  return study_.precision || std::any_of(study_.grids.begin(), study_.grids.end(), [](const Grid& g) {
           return std::any_of(g.dimensions.begin(), g.dimensions.end(),
                              [](const Dimension& d) { return !d[0].search.empty(); });
         });
}

std::vector<Search> Points::searches() const {
  std::vector<Search> all;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> known;  ///< by source and all other values
  for (std::size_t n = 0; n < chosen_.size(); ++n) {
    const Chosen& c = chosen_[n];
    const std::vector<Dimension>& dimensions = study_.grids[sources_[c.source].grid].dimensions;
    std::uint64_t stride = 1;
    for (std::size_t d = dimensions.size(); d-- > 0; stride *= dimensions[d][0].values.size()) {
      const Axis& a = dimensions[d][0];
      if (a.search.empty()) continue;
      const std::uint64_t others = c.combination - c.combination / stride % a.values.size() * stride;
      const auto [place, is_new] = known.try_emplace({c.source, others}, all.size());
      if (is_new) all.push_back({&a, {}});
      all[place->second].cases.push_back(n);
    }
  }
  return all;
}

Case Points::case_at(std::size_t number) const {
  const Chosen& chosen = chosen_.at(number);
  const Source& source = sources_[chosen.source];
  const Grid& grid = study_.grids[source.grid];
  Case c{source.grid, source.board, {}};
  const std::vector<std::size_t> places = places_of(grid, chosen.combination);
  for (std::size_t d = 0; d < places.size(); ++d)
    for (const Axis& a : grid.dimensions[d]) c.values.push_back(shown(boards_[source.board], a, places[d]));
  return c;
}

Point Points::at(std::uint64_t number) const {
  Point p{number, static_cast<std::size_t>(number / per_case()), {}, {}};
  const std::uint64_t within = number % per_case();
  if (!study_.seeds.empty()) p.seed = study_.seeds[within / study_.replications];
  if (study_.replications > 1) p.replication = static_cast<unsigned>(within % study_.replications);
  return p;
}

config::AddedSettings Points::settings_of(const Point& point) const {
  const Chosen& chosen = chosen_.at(point.case_number);
  const Grid& grid = study_.grids[sources_[chosen.source].grid];
  config::AddedSettings added{study_.name + ".toml", study_.settings, study_.overrides};
  added.settings.insert(added.settings.end(), grid.settings.begin(), grid.settings.end());
  const auto add = [&added](const std::string& path, base::Value value, const config::Location& where) {
    added.settings.push_back({path, std::move(value), false, {}, where});
  };
  const std::vector<std::size_t> places = places_of(grid, chosen.combination);
  for (std::size_t d = 0; d < places.size(); ++d)
    for (const Axis& a : grid.dimensions[d]) add(a.path, a.values[places[d]], a.where);
  if (point.seed) add("run.seed", {*point.seed}, study_.seeds_where);
  if (point.replication) add("run.replication", {std::uint64_t{*point.replication}}, study_.replications_where);
  return added;
}

config::BoardConfig Points::board_of(const Point& point) const {
  const Source& source = sources_[chosen_.at(point.case_number).source];
  try {
    return config::build_board(boards_[source.board].layers, settings_of(point), registry_);
  } catch (const UserError& e) {
    if (cases() == 1) throw;
    throw UserError(fmt::format("{} (point {}: {})", e.what(), point.number, describe(point)));
  }
}

std::string Points::board_path(const Point& point) const {
  return boards_[sources_[chosen_.at(point.case_number).source].board].layers.layers.back().found.path;
}

std::vector<std::string> Points::files() const {
  std::vector<std::string> paths;
  for (const Board& b : boards_)
    for (const config::BoardLayers::Layer& l : b.layers.layers) paths.push_back(l.found.path);
  return paths;
}

std::string Points::describe(const Point& point) const {
  const Case c = case_at(point.case_number);
  std::string text = names_[c.board];
  for (const SweptValue& v : c.values) text += fmt::format(", {} = {}", v.path, v.text);
  if (point.seed) text += fmt::format(", seed {}", *point.seed);
  if (point.replication) text += fmt::format(", replication {}", *point.replication);
  return text;
}

}  // namespace sluice::study
