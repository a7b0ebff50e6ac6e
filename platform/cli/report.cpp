// SPDX-License-Identifier: Apache-2.0
/// sluice report DIR: one page of plots of a run, a comparison or a study.

#include "platform/page/report.h"

#include <fmt/format.h>

#include "platform/cli/command.h"
#include "platform/cli/say.h"
#include "platform/config/user_error.h"

namespace sluice::cli {
namespace {

std::string write(const page::Request& request) {
  const page::Written written = page::write_report(request);
  for (const std::string& sentence : written.left_out) say("sluice: {}\n", sentence);
  return written.page;
}

}  // namespace

void add_page(CLI::App& command, bool& page) {
  command.add_flag("--report", page, "Write report.html, a page of plots, to the directory of --out");
}

void check_page(bool page, const std::string& output) {
  if (page && output.empty()) throw config::UserError("--report needs --out: the directory that the page goes to");
}

void write_page(const std::string& output, bool said) {
  const std::string page = write({output, {}});
  if (said) fmt::print("\n  Plots of this are on the page {}\n", page);
}

void add_report(CLI::App& app, const Environment&, Action& action) {
  CLI::App* command = app.add_subcommand("report", "Make one page of plots of a run, a comparison or a study");
  auto request = std::make_shared<page::Request>();
  command->add_option("DIR", request->directory, "Directory that --out of a run or comparison, or a sweep, has written")
      ->required();
  command->add_option("--out", request->output, "The page's file; without it, report.html in DIR")
      ->type_name("FILE.html");
  command->callback([&action, request] {
    action = [request] {
      fmt::print("{}\n", write(*request));
      return 0;
    };
  });
}

}  // namespace sluice::cli
