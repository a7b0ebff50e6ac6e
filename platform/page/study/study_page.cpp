// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "platform/config/files/schemas.h"
#include "platform/config/user_error.h"
#include "platform/page/boards.h"
#include "platform/page/measured_plots.h"
#include "platform/page/pages.h"
#include "platform/page/study/study_plots.h"
#include "platform/page/table.h"

namespace sluice::page {
namespace {

/// Stages, cores and distributions of more cases cannot be read side by side.
constexpr std::size_t kMostCasesShown = 24;
/// Trees and parameters of more boards would make the page too large.
constexpr std::size_t kMostBoardsShown = 16;

/// Result files of points, one read at a time, each once; what a page needs of them is kept.
class PointResults {
 public:
  PointResults(const Study& study, const std::filesystem::path& directory, std::vector<std::string>& left_out)
      : study_(study), directory_(directory), left_out_(left_out) {}

  /// The result of the first run of a case that has one; null where none has.
  const ResultData* of(const Case& c) {
    for (const std::size_t point : c.points)
      if (study_.points[point].state == "done")
        if (const ResultData* result = read(point)) return result;
    return nullptr;
  }

 private:
  const ResultData* read(std::size_t point) {
    const auto [place, is_new] = known_.try_emplace(point);
    if (!is_new) return place->second.get();
    const std::string file = study_.points[point].result_file();
    try {
      const Json json = read_json(directory_ / file, file, config::kResultSchema);
      place->second = std::make_unique<ResultData>(result_data(Node(json, file)));
    } catch (const config::UserError& error) {
      left_out_.emplace_back(error.what());
    }
    return place->second.get();
  }

  const Study& study_;
  const std::filesystem::path& directory_;
  std::vector<std::string>& left_out_;
  std::map<std::size_t, std::unique_ptr<ResultData>> known_;
};

struct Extremes {
  const Case* least = nullptr;
  const Case* most = nullptr;
};
Extremes extremes_of(const Study& study, const Quantity& q) {
  Extremes e;
  const auto mean = [&q](const Case& c) { return c.quantities.at(q.path).value; };
  for (const Case& c : study.cases) {
    if (!c.quantities.contains(q.path)) continue;
    if (!e.least || mean(c) < mean(*e.least)) e.least = &c;
    if (!e.most || mean(c) > mean(*e.most)) e.most = &c;
  }
  return e;
}

std::string label_of(const Study& study, const Case& c, const std::vector<ShownAxis>& axes) {
  const std::string setting = setting_text(c, axes);
  if (setting.empty()) return c.board;
  return study.boards().size() == 1 ? setting : c.board + ": " + setting;
}

Cell estimate_cell(const Case& c, const Quantity& q) {
  const auto found = c.quantities.find(q.path);
  return found == c.quantities.end() ? number_cell(std::nullopt)
                                     : number_cell(found->second.value, found->second.interval_95);
}

std::string titled(const std::string& name, const std::string& unit) {
  return unit.empty() ? name : name + " (" + unit + ")";
}

void add_extremes(Document& page, const Study& study, const std::vector<ShownAxis>& axes) {
  Table table({{"quantity"}, {"unit"}, {"best", true}, {"where"}, {"worst", true}, {"where"}});
  bool unknown = false;
  for (const Quantity& q : study.measure) {
    const Extremes e = extremes_of(study, q);
    if (!e.least) continue;
    const int direction = better(q);
    unknown = unknown || direction == 0;
    const Case &best = direction > 0 ? *e.most : *e.least, &worst = direction > 0 ? *e.least : *e.most;
    table.row({text_cell(q.path + (direction == 0 ? " *" : "")), text_cell(q.unit), estimate_cell(best, q),
               text_cell(label_of(study, best, axes)), estimate_cell(worst, q),
               text_cell(label_of(study, worst, axes))});
  }
  if (table.empty()) return;
  page.subsection("Best and worst points");
  page.html(table.html());
  if (unknown) page.paragraph("* Nobody says whether more or less of it is better: the least stands first.");
}

void add_searches(Document& page, const Study& study) {
  Table table({{"board"}, {"setting"}, {"searched"}, {"while"}, {"holds up to"}, {"values tried", true}});
  for (const Found& f : study.searches) {
    std::string settings;
    for (const auto& [path, value] : f.settings)
      settings += fmt::format("{}{} = {}", settings.empty() ? "" : ", ", path, value);
    const std::string found = f.state != "done" ? "results are missing"
                              : f.found.empty() ? "no value"
                                                : f.found + (f.at_end ? ", the last value" : "");
    table.row({text_cell(f.board), text_cell(settings), text_cell(f.parameter), text_cell(f.condition),
               text_cell(found), number_cell(static_cast<double>(f.tried))});
  }
  if (table.empty()) return;
  page.subsection("Searches");
  page.html(table.html());
}

void add_summary(Document& page, const Study& study) {
  std::map<std::string, std::size_t> states;
  for (const Point& p : study.points) ++states[p.state];
  page.paragraph(fmt::format("{} boards and {} cases, with {} runs in all: {} done, {} failed, {} missing.",
                             study.boards().size(), study.cases.size(), study.points.size(), states["done"],
                             states["failed"], states["missing"]));
  if (!study.program_version.empty())
    page.paragraph(fmt::format("Program: sluice {}, sources {}.", study.program_version, study.program_sources));
  Table table({{"swept parameter"}, {"unit"}, {"values", true}, {"which"}});
  for (const Axis& a : study.axes) {
    std::string values;
    for (const std::string& v : a.values) values += (values.empty() ? "" : ", ") + v;
    table.row(
        {text_cell(a.path), text_cell(a.unit), number_cell(static_cast<double>(a.values.size())), text_cell(values)});
  }
  if (!table.empty()) page.html(table.html());
  for (const std::string& setting : study.changed) page.paragraph("On top of the study: --set " + setting + ".");
  for (const std::string& sentence : study.without_effect) page.paragraph("In every run, " + sentence + ".");
}

/// What went wrong, where anything did.
void add_failures(Document& page, const Study& study, const std::vector<ShownAxis>& axes,
                  const std::vector<std::string>& left_out) {
  Table table({{"point", true}, {"board"}, {"setting"}, {"seed", true}, {"replication", true}, {"reason"}});
  for (const Point& p : study.points) {
    if (p.state != "failed") continue;
    const Case& c = study.cases[p.of_case];
    table.row({number_cell(static_cast<double>(p.number)), text_cell(c.board), text_cell(setting_text(c, axes)),
               number_cell(static_cast<double>(p.seed)), number_cell(static_cast<double>(p.replication)),
               text_cell(p.failure.empty() ? "no reason is given" : p.failure)});
  }
  if (table.empty() && left_out.empty()) return;
  page.section("Failed points");
  if (!table.empty()) page.html(table.html());
  if (left_out.empty()) return;
  page.paragraph("These result files are left out:");
  page.html("<ul>\n");
  for (const std::string& sentence : left_out) page.html("<li class=\"bad\">" + escaped(sentence) + "</li>\n");
  page.html("</ul>\n");
}

void add_cases(Document& page, const Study& study) {
  page.section("All points");
  page.paragraph("A click on a column's title, or Enter there, sorts by it.");
  page.subsection("Cases, over their runs");
  std::vector<Table::Head> heads = {{"case", true}, {"board"}};
  for (const Axis& a : study.axes) heads.push_back({titled(a.path, a.unit)});
  for (const Quantity& q : study.measure) heads.push_back({titled(q.path, q.unit), true});
  Table table(heads, true);
  for (const Case& c : study.cases) {
    std::vector<Cell> cells = {number_cell(static_cast<double>(c.number)), text_cell(c.board)};
    for (const Axis& a : study.axes) {
      cells.push_back(text_cell(c.setting(a.path)));
      if (const auto number = c.numbers.find(a.path); number != c.numbers.end()) {
        const std::string exact = exact_text(number->second);
        if (exact != cells.back().html) cells.back().sorted_by = exact;
      }
    }
    for (const Quantity& q : study.measure) cells.push_back(estimate_cell(c, q));
    table.row(cells);
  }
  page.html(table.html());
}

void add_points(Document& page, const Study& study) {
  std::vector<Table::Head> heads = {{"point", true}, {"case", true},        {"board"},
                                    {"seed", true},  {"replication", true}, {"state"}};
  for (const Quantity& q : study.measure) heads.push_back({titled(q.path, q.unit), true});
  Table table(heads, true);
  for (const Point& p : study.points) {
    const Case& c = study.cases[p.of_case];
    std::vector<Cell> cells = {number_cell(static_cast<double>(p.number)),
                               number_cell(static_cast<double>(c.number)),
                               text_cell(c.board),
                               number_cell(static_cast<double>(p.seed)),
                               number_cell(static_cast<double>(p.replication)),
                               text_cell(p.state)};
    for (const Quantity& q : study.measure) {
      const auto found = p.quantities.find(q.path);
      cells.push_back(number_cell(found == p.quantities.end() ? std::nullopt : std::optional(found->second)));
    }
    table.row(cells);
  }
  page.subsection("Points, one run each");
  page.html(
      fmt::format("<details><summary>All {} points</summary>\n{}</details>\n", study.points.size(), table.html()));
}

/// The cases whose stages, cores and distributions are drawn: all, or where those are many, the best and the worst.
std::vector<const Case*> drawn_cases(const Study& study) {
  std::vector<const Case*> list;
  const auto add = [&list](const Case* c) {
    if (c && std::find(list.begin(), list.end(), c) == list.end()) list.push_back(c);
  };
  if (study.cases.size() <= kMostCasesShown) {
    for (const Case& c : study.cases) add(&c);
    return list;
  }
  for (const Quantity& q : study.measure) {
    const Extremes e = extremes_of(study, q);
    for (const Case* c : {e.least, e.most})
      if (list.size() < kMostCasesShown) add(c);
  }
  std::sort(list.begin(), list.end());
  return list;
}

void add_details(Document& page, const Study& study, const std::vector<ShownAxis>& axes, PointResults& results) {
  const std::vector<const Case*> cases = drawn_cases(study);
  std::vector<Labelled> runs;
  for (const Case* c : cases) {
    const ResultData* result = results.of(*c);
    if (!result) continue;
    std::string label = label_of(study, *c, axes);
    if (std::any_of(runs.begin(), runs.end(), [&](const Labelled& r) { return r.label == label; }))
      label += fmt::format(", case {}", c->number);
    runs.push_back({label, result});
  }
  if (runs.empty()) return;
  page.section("Where the time goes");
  page.paragraph(
      study.cases.size() > kMostCasesShown
          ? fmt::format("Of {} cases, the best and the worst of each quantity are drawn; each by its first run.",
                        study.cases.size())
          : "Each case is drawn by its first run.");
  add_phase_plots(page, runs, "case");
  add_measured_plots(page, runs, "case");
}

}  // namespace

Document study_page(const Study& study, const std::filesystem::path& directory, std::vector<std::string>& left_out) {
  PointResults results(study, directory, left_out);
  const std::vector<std::string> names = study.boards();
  std::vector<const ResultData*> first;
  std::vector<const BoardData*> boards;
  for (const std::string& name : names) {
    if (boards.size() == kMostBoardsShown) break;
    for (const Case& c : study.cases) {
      const ResultData* result = c.board == name ? results.of(c) : nullptr;
      if (!result) continue;
      first.push_back(result);
      boards.push_back(&result->board);
      break;
    }
  }
  const auto unit_of = [&boards](const std::string& path) {
    for (const BoardData* b : boards)
      if (std::string unit = b->unit_of(path); !unit.empty()) return unit;
    return std::string();
  };
  const std::vector<ShownAxis> axes = varied_axes(study, unit_of);
  std::vector<std::string> swept;
  for (const Axis& a : study.axes) swept.push_back(a.path);

  Document page(study.name.empty() ? "Study" : study.name, study.summary);
  page.section("What was run");
  add_summary(page, study);
  if (!first.empty()) add_origins(page, first);
  add_differences(page, boards, swept);
  page.section("Results");
  add_searches(page, study);
  add_extremes(page, study, axes);
  add_winners(page, study, axes);
  for (const Quantity& q : study.measure) {
    page.section(axis_title(q.path, q.unit));
    add_quantity_plots(page, study, axes, q);
  }
  add_details(page, study, axes, results);
  add_failures(page, study, axes, left_out);
  add_cases(page, study);
  add_points(page, study);
  if (names.size() > boards.size() && boards.size() == kMostBoardsShown)
    page.paragraph(fmt::format("Of {} boards, the first {} are described here.", names.size(), kMostBoardsShown));
  add_boards(page, boards);
  return page;
}

}  // namespace sluice::page
