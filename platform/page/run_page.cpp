// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "platform/config/quoting.h"
#include "platform/page/boards.h"
#include "platform/page/measured_plots.h"
#include "platform/page/pages.h"
#include "platform/page/table.h"

namespace sluice::page {
namespace {

void add_results(Document& page, const ResultData& r) {
  page.section("Results");
  if (!r.failure.empty()) {
    page.html("<p class=\"bad\">The run failed: " + escaped(r.failure) + "</p>\n");
    if (!r.diagnosis.empty()) page.html("<pre>" + escaped(r.diagnosis) + "</pre>\n");
  }
  Table table({{"quantity"}, {"value", true}, {"unit"}});
  const auto row = [&table](const std::string& name, const std::optional<double>& value, const char* unit) {
    if (value) table.row({text_cell(name), number_cell(value), text_cell(unit)});
  };
  for (const auto& [name, value] : r.requests) row("requests " + quantity_title(name), value, "count");
  for (const auto& [name, value] : r.measured.latency.quantiles) row("latency " + quantity_title(name), value, "ns");
  for (const auto& [name, value] : r.load) row("load " + quantity_title(name), value, "1/s");
  row("throughput", r.throughput_per_s, "1/s");
  row("zero-loss rate", r.zero_loss_rate_per_s, "1/s");
  row("measured time", r.measured_ns, "ns");
  row("simulated time", r.simulated_ns, "ns");
  page.html(table.html());
  if (!r.measured.resources.empty()) {
    const ResourceData& first = r.measured.resources.front();
    page.paragraph(
        fmt::format("The busiest resource was {}, for {:.1f} % of the measured time.", first.name, first.busy * 100));
  }
  if (r.remarks.empty()) return;
  page.subsection("Remarks");
  page.html("<ul>\n");
  for (const std::string& remark : r.remarks) page.html("<li>" + escaped(remark) + "</li>\n");
  page.html("</ul>\n");
}

/// The study that has set values of a board: "calls.toml". Empty: none has.
std::string study_of(const BoardData& board) {
  for (const Instance& i : board.instances)
    for (const Parameter& p : i.parameters) {
      std::string file = p.set_by.substr(0, p.set_by.rfind(':'));
      if (file.ends_with(".toml") && std::find(board.files.begin(), board.files.end(), file) == board.files.end())
        return file;
    }
  return {};
}

}  // namespace

std::string command_of(const std::vector<const BoardData*>& boards) {
  std::string command = boards.size() == 1 ? "sluice run" : "sluice compare";
  for (const BoardData* board : boards) command += " " + config::shell_word(board->name);
  for (const Instance& i : boards.front()->instances)
    for (const Parameter& p : i.parameters) {
      // Of a comparison, --replications sets it.
      if (boards.size() > 1 && i.path == "run" && p.key == "replication") continue;
      const bool given = std::all_of(boards.begin(), boards.end(), [&](const BoardData* board) {
        const Parameter* same = board->find(i.path, p.key);
        return same && same->set_by.starts_with("--") && same->text == p.text;
      });
      if (given) command += " --set " + config::shell_word(i.path + "." + p.key + "=" + p.text);
    }
  return command;
}

Document run_page(const ResultData& r) {
  Document page(r.board.name + ": one run", r.board.summary);
  page.section("What was run");
  if (const std::string study = study_of(r.board); study.empty())
    page.html("<pre>" + escaped(command_of({&r.board})) + "</pre>\n");
  else
    page.paragraph(
        fmt::format("A point of the study {0} on the board {1}: `sluice sweep {0} --list` says which, and "
                    "`sluice sweep {0} --command N` how to repeat it.",
                    study, r.board.name));
  page.paragraph(fmt::format("One run with seed {}, replication {}; it ended as {}.", r.seed, r.replication,
                             r.outcome.empty() ? "nobody says" : r.outcome));
  add_origins(page, {&r});
  add_results(page, r);
  page.section("Plots");
  add_phase_plots(page, {{r.board.name, &r}}, "board");
  add_measured_plots(page, {{r.board.name, &r}}, "board");
  add_boards(page, {&r.board});
  return page;
}

}  // namespace sluice::page
