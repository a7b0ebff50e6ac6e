// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "platform/page/study/study_plots.h"
#include "platform/page/table.h"

namespace sluice::page {
namespace {

/// The boards' estimates at one setting of all parameters.
struct Setting {
  const Case* first;
  std::vector<std::pair<std::string, const Estimate*>> boards;
};

std::vector<Setting> settings_of(const Study& study, const Quantity& q) {
  std::vector<Setting> list;
  std::map<std::map<std::string, std::string>, std::size_t> index;
  for (const Case& c : study.cases) {
    const auto found = c.quantities.find(q.path);
    if (found == c.quantities.end()) continue;
    const auto [place, is_new] = index.try_emplace(c.settings, list.size());
    if (is_new) list.push_back({&c, {}});
    list[place->second].boards.emplace_back(c.board, &found->second);
  }
  std::erase_if(list, [](const Setting& s) { return s.boards.size() < 2; });
  return list;
}

struct Winner {
  std::string board;
  bool clear = false;  ///< its interval lies beside those of all others
};
/// direction: as better() says. No board: two are the same.
Winner winner_of(const Setting& s, int direction) {
  auto ranked = s.boards;
  std::stable_sort(ranked.begin(), ranked.end(), [direction](const auto& a, const auto& b) {
    return direction * a.second->value > direction * b.second->value;
  });
  const Estimate& first = *ranked[0].second;
  if (first.value == ranked[1].second->value) return {};
  Winner winner{ranked[0].first, first.interval_95.has_value()};
  for (std::size_t i = 1; i < ranked.size(); ++i) {
    const Estimate& other = *ranked[i].second;
    winner.clear = winner.clear && other.interval_95 &&
                   (direction > 0 ? first.interval_95->first > other.interval_95->second
                                  : first.interval_95->second < other.interval_95->first);
  }
  return winner;
}

void add_map(Document& page, const Study& study, const std::vector<ShownAxis>& axes, const Quantity& q,
             const std::vector<Setting>& settings) {
  if (axes.size() < 2) return;
  const ShownAxis &x = axes[0], &y = axes[1];
  Plot plot{"best-board-" + q.path,
            "Where which board is best: " + quantity_title(q.path),
            better(q) < 0 ? "The board with the least at each setting." : "The board with the most at each setting.",
            {},
            {}};
  std::vector<std::string> panels;
  for (const Setting& s : settings) {
    const Case& c = *s.first;
    if (!c.settings.contains(x.axis->path) || !c.settings.contains(y.axis->path)) continue;
    const Winner winner = winner_of(s, better(q));
    const std::string panel = setting_text(c, axes, {x.axis, y.axis});
    if (std::find(panels.begin(), panels.end(), panel) == panels.end()) panels.push_back(panel);
    plot.data.rows.push_back({panel, c.setting(x.axis->path), c.setting(y.axis->path),
                              winner.board.empty() ? "the same" : winner.board, winner.clear ? "yes" : "no"});
  }
  // A board that is best everywhere needs no map.
  const auto same = [&plot](const auto& row) { return row[3] == plot.data.rows.front()[3]; };
  if (panels.size() > kMostPanels || std::all_of(plot.data.rows.begin(), plot.data.rows.end(), same)) return;
  std::vector<std::string> boards = study.boards();
  boards.emplace_back("the same");
  std::vector<std::string> upwards(y.order.rbegin(), y.order.rend());
  HeatMap map{{"x", x.title, false, false, x.order},
              {"y", y.title, false, false, upwards},
              {"best", "best board (name)", false, false, boards},
              {}};
  if (panels.size() > 1) map.panels = {"panel", "other parameters (values)", false, false, panels};
  plot.data.columns = {{"panel", "other parameters (values)"},
                       {"x", x.title},
                       {"y", y.title},
                       {"best", map.value.title},
                       {"clear", "intervals apart (yes or no)"}};
  plot.spec = heat_spec(map, x.order.size(), y.order.size(), panels.size());
  page.plot(std::move(plot));
}

}  // namespace

void add_winners(Document& page, const Study& study, const std::vector<ShownAxis>& axes) {
  const std::vector<std::string> boards = study.boards();
  if (boards.size() < 2) return;
  std::vector<Table::Head> heads = {{"quantity"}, {"better is"}, {"settings", true}};
  for (const std::string& b : boards) heads.push_back({b, true});
  heads.push_back({"the same", true});
  Table table(heads);
  std::vector<std::pair<const Quantity*, std::vector<Setting>>> compared;
  for (const Quantity& q : study.measure) {
    if (better(q) == 0) continue;
    std::vector<Setting> settings = settings_of(study, q);
    if (settings.empty()) continue;
    std::map<std::string, std::pair<unsigned, unsigned>> wins;
    for (const Setting& s : settings) {
      const Winner w = winner_of(s, better(q));
      ++wins[w.board].first;
      wins[w.board].second += w.clear;
    }
    std::vector<Cell> cells = {text_cell(q.path), text_cell(better(q) < 0 ? "less" : "more"),
                               number_cell(static_cast<double>(settings.size()))};
    for (const std::string& b : boards)
      cells.push_back({fmt::format("{} <span class=\"interval\">({})</span>", wins[b].first, wins[b].second),
                       fmt::format("{}", wins[b].first), true});
    cells.push_back(number_cell(static_cast<double>(wins[""].first)));
    table.row(cells);
    compared.emplace_back(&q, std::move(settings));
  }
  if (table.empty()) return;
  page.subsection("Which board is best");
  page.paragraph(
      "At how many settings each board's mean is the best; in brackets, at how many of them its 95 % confidence "
      "interval lies apart from those of all other boards. Settings that only one board has are left out.");
  page.html(table.html());
  for (const auto& [quantity, settings] : compared) add_map(page, study, axes, *quantity, settings);
}

}  // namespace sluice::page
