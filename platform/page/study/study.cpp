// SPDX-License-Identifier: Apache-2.0
#include "platform/page/study/study.h"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::page {
namespace {

Case case_data(const Node& node) {
  Case c;
  c.number = node.at("case").whole();
  c.board = node.at("board").text();
  for (const auto& [path, value] : node.members("settings")) c.settings[path] = value.text();
  for (const auto& [path, value] : node.members("numbers")) c.numbers[path] = value.number();
  for (const auto& [path, value] : node.members("quantities"))
    if (const auto estimate = value.number("value")) {
      const auto runs = value.find("runs");
      c.quantities[path] = {*estimate, value.ends("interval_95"), runs ? runs->whole() : 0};
    }
  return c;
}

Point point_data(const Node& node) {
  Point p;
  p.number = node.at("point").whole();
  p.id = node.at("id").text();
  if (p.id.size() < 16 || p.id.find_first_not_of("0123456789abcdef") != std::string::npos)
    node.at("id").refuse("must be at least 16 hexadecimal digits");
  p.of_case = node.at("case").whole();
  p.seed = node.at("seed").whole();
  p.replication = node.at("replication").whole();
  p.state = node.at("state").text();
  if (p.state != "done" && p.state != "failed" && p.state != "missing")
    node.at("state").refuse("must be done, failed or missing");
  p.failure = node.text("failure");
  for (const auto& [path, value] : node.members("quantities"))
    if (value.value().is_number()) p.quantities[path] = value.number();
  return p;
}

/// Points name their cases by number. Afterwards they know their index, and each case its points.
void connect(Study& study, const Node& node) {
  std::map<std::uint64_t, std::size_t> index;
  for (std::size_t i = 0; i < study.cases.size(); ++i) index[study.cases[i].number] = i;
  for (std::size_t i = 0; i < study.points.size(); ++i) {
    const auto found = index.find(study.points[i].of_case);
    if (found == index.end())
      node.at("points").refuse(
          fmt::format("must name cases of the file, and one names case {}", study.points[i].of_case));
    study.points[i].of_case = found->second;
    study.cases[found->second].points.push_back(i);
  }
}

Found found_data(const Node& node) {
  Found f{node.at("board").text(),
          node.at("while").text(),
          node.at("parameter").text(),
          node.at("state").text(),
          {},
          node.find("found") ? node.at("found").text() : "",
          false,
          node.list("tried").size()};
  for (const auto& [path, value] : node.members("settings")) f.settings[path] = value.text();
  if (const auto end = node.find("at_end")) f.at_end = end->value() == true;
  return f;
}

}  // namespace

std::string Case::setting(const std::string& path) const {
  const auto found = settings.find(path);
  return found == settings.end() ? "not set" : found->second;
}

std::string Point::result_file() const { return fmt::format("points/{}/{}/result.json", id.substr(0, 2), id); }

std::vector<std::string> Study::boards() const {
  std::vector<std::string> names;
  for (const Case& c : cases)
    if (std::find(names.begin(), names.end(), c.board) == names.end()) names.push_back(c.board);
  return names;
}

Study study_data(const Node& node) {
  Study study;
  study.name = node.text("name");
  study.summary = node.text("summary");
  if (const auto program = node.find("program")) {
    study.program_version = program->text("version");
    study.program_sources = program->text("sources");
  }
  for (const Node& a : node.list("axes")) {
    Axis axis{a.at("path").text(), a.text("unit"), {}};
    for (const Node& value : a.list("values")) axis.values.push_back(value.text());
    study.axes.push_back(std::move(axis));
  }
  for (const Node& m : node.at("measure").list()) study.measure.push_back({m.at("quantity").text(), m.text("unit")});
  for (const Node& c : node.at("cases").list()) study.cases.push_back(case_data(c));
  for (const Node& p : node.at("points").list()) study.points.push_back(point_data(p));
  for (const Node& s : node.list("searches")) study.searches.push_back(found_data(s));
  for (const Node& c : node.list("changed")) study.changed.push_back(c.text());
  for (const Node& w : node.list("without_effect")) study.without_effect.push_back(w.at("text").text());
  connect(study, node);
  return study;
}

}  // namespace sluice::page
