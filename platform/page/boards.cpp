// SPDX-License-Identifier: Apache-2.0
#include "platform/page/boards.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "platform/page/table.h"

namespace sluice::page {
namespace {

std::string shown(const std::string& text) { return text.empty() ? "\"\"" : text; }

/// "12 assumed, 3 stated"
std::string counted_kinds(const BoardData& board) {
  std::map<std::string, unsigned> kinds;
  for (const Instance& i : board.instances)
    for (const Parameter& p : i.parameters) ++kinds[p.kind];
  std::string text;
  for (const auto& [kind, n] : kinds) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, kind);
  return text;
}

std::string with_sum(const std::string& name, const std::string& sha256) {
  return escaped(name) + (sha256.empty() ? "" : " <span class=\"mono\">SHA-256 " + escaped(sha256) + "</span>");
}

}  // namespace

std::string parameter_table(const BoardData& board) {
  Table table({{"parameter"}, {"value"}, {"unit"}, {"kind"}, {"uncertainty"}, {"set by"}, {"source"}});
  std::size_t count = 0;
  for (const Instance& i : board.instances) {
    if (i.parameters.empty()) continue;
    table.group(i.path + ": " + i.model);
    for (const Parameter& p : i.parameters) {
      ++count;
      table.row({text_cell(p.key), text_cell(shown(p.text)), text_cell(p.unit), text_cell(p.kind),
                 text_cell(p.uncertainty), text_cell(p.set_by),
                 text_cell(p.source + (p.points.empty() ? "" : " [" + p.points + "]"))});
    }
  }
  return fmt::format("<details><summary>All {} parameters of {}: {}</summary>\n{}</details>\n", count,
                     escaped(board.name), escaped(counted_kinds(board)), table.html());
}

void add_boards(Document& page, const std::vector<const BoardData*>& boards) {
  if (boards.empty()) return;
  page.section(boards.size() == 1 ? "The board" : "The boards");
  for (const BoardData* board : boards) {
    page.subsection(board->name);
    if (!board->summary.empty()) page.paragraph(board->summary + ".");
    page.html(board_tree(*board));
    page.html(parameter_table(*board));
  }
}

std::vector<BoardDifference> differences(const std::vector<const BoardData*>& boards,
                                         const std::vector<std::string>& swept) {
  std::vector<BoardDifference> list;
  std::vector<std::pair<std::string, std::string>> paths;
  std::set<std::pair<std::string, std::string>> known;
  for (const BoardData* board : boards)
    for (const Instance& i : board->instances)
      for (const Parameter& p : i.parameters)
        if (known.emplace(i.path, p.key).second) paths.emplace_back(i.path, p.key);
  for (const auto& [instance, key] : paths) {
    BoardDifference difference{fmt::format("{}.{}", instance, key), {}};
    if (std::find(swept.begin(), swept.end(), difference.path) != swept.end()) continue;
    for (const BoardData* board : boards) {
      const Parameter* p = board->find(instance, key);
      difference.values.push_back(p ? shown(p->text) : "");
    }
    const auto& values = difference.values;
    if (std::any_of(values.begin(), values.end(), [&](const std::string& v) { return v != values.front(); }))
      list.push_back(std::move(difference));
  }
  return list;
}

void add_differences(Document& page, const std::vector<const BoardData*>& boards,
                     const std::vector<std::string>& swept) {
  if (boards.size() < 2) return;
  page.subsection("What differs between the boards");
  std::vector<Table::Head> heads = {{"parameter"}};
  for (const BoardData* board : boards) heads.push_back({board->name});
  Table table(heads);
  for (const BoardDifference& d : differences(boards, swept)) {
    std::vector<Cell> cells = {text_cell(d.path)};
    for (const std::string& value : d.values) cells.push_back(text_cell(value.empty() ? "-" : value));
    table.row(cells);
  }
  if (table.empty())
    page.paragraph(swept.empty() ? "The boards have the same parameters."
                                 : "But for what the study varies, the boards have the same parameters.");
  else
    page.html(table.html());
}

void add_origins(Document& page, const std::vector<const ResultData*>& results) {
  Table table({{"what"}, {"which"}});
  std::set<std::string> rows;
  const auto row = [&](const std::string& what, const std::string& html) {
    if (rows.insert(what + "\n" + html).second) table.row({text_cell(what), {html, {}, false}});
  };
  for (const ResultData* r : results) {
    std::string files;
    for (const std::string& file : r->board.files) files += (files.empty() ? "" : ", ") + file;
    row("board", escaped(r->board.name + (files.empty() ? "" : ", from " + files)));
    for (const auto& [name, sum] : r->board.plugins) row("plug-in", with_sum(name, sum));
  }
  for (const ResultData* r : results)
    for (const FirmwareData& f : r->firmware) row("firmware of cluster " + f.cluster, with_sum(f.name, f.sha256));
  for (const ResultData* r : results)
    if (!r->program_version.empty())
      row("program", escaped("sluice " + r->program_version +
                             (r->program_sources.empty() ? "" : ", sources " + r->program_sources)));
  page.html(table.html());
}

}  // namespace sluice::page
