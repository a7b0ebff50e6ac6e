// SPDX-License-Identifier: Apache-2.0
/// Who does which step of receiving a call, of one run or several side by side.

#include <algorithm>

#include <fmt/format.h>

#include "models/base/measure/stages.h"
#include "platform/page/measured_plots.h"
#include "platform/page/table.h"

namespace sluice::page {
namespace {

bool has(const std::vector<std::string>& list, const std::string& title) {
  return std::find(list.begin(), list.end(), title) != list.end();
}

std::string cost_text(const StepData& cost, const std::string& step) {
  std::string text = cost.who;
  if (!text.empty()) text += ' ';
  if (!cost.steps.empty() && cost.steps.front() != step) return text + "in one pass with: " + cost.steps.front();
  text += short_text(cost.mean_ns) + " ns";
  if (cost.instructions) text += fmt::format(", {} instructions", short_text(*cost.instructions));
  return text;
}

/// What a run has of a step, by each who does it on a line.
Cell cell_of(const MeasuredData& measured, const std::string& step) {
  std::string html;
  const auto add = [&html](const std::string& text) { html += (html.empty() ? "" : "<br>") + escaped(text); };
  for (const StepData& cost : measured.steps)
    if (has(cost.steps, step) || cost.rest == step) add(cost_text(cost, step));
  if (has(measured.steps_of_nobody, step)) add("nobody");
  if (has(measured.steps_not_known, step)) add("not known");
  return {html, {}, false};
}

}  // namespace

void add_steps(Document& page, const std::vector<Labelled>& runs) {
  std::vector<Labelled> shown;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(shown),
               [](const Labelled& r) { return !r.result->measured.steps.empty(); });
  if (shown.empty()) return;
  std::vector<std::string> titles = {
#define SLUICE_STEP(name, title, meaning) title,
      SLUICE_STEPS(SLUICE_STEP)
#undef SLUICE_STEP
  };
  for (const Labelled& r : shown)
    for (const StepData& cost : r.result->measured.steps)
      if (!cost.rest.empty() && !has(titles, cost.rest)) titles.push_back(cost.rest);
  std::vector<Table::Head> heads = {{"receiving a call"}};
  for (const Labelled& r : shown) heads.push_back({r.label});
  Table table(heads);
  for (const std::string& title : titles) {
    std::vector<Cell> cells = {text_cell(title)};
    for (const Labelled& r : shown) cells.push_back(cell_of(r.result->measured, title));
    table.row(cells);
  }
  page.subsection("Who receives a call");
  page.paragraph(
      "Mean time and instructions of a call in each step before its handler, by who does it. They and what is no step "
      "sum to the mean latency.");
  page.html(table.html());
}

}  // namespace sluice::page
