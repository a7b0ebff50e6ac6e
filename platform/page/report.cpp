// SPDX-License-Identifier: Apache-2.0
#include "platform/page/report.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "platform/config/files/schemas.h"
#include "platform/config/files/whole_file.h"
#include "platform/config/user_error.h"
#include "platform/page/pages.h"

namespace sluice::page {
namespace {

namespace fs = std::filesystem;

Document page_of(const std::string& directory, std::vector<std::string>& left_out) {
  std::error_code error;
  const fs::path path = directory;
  if (!fs::is_directory(path, error))
    throw config::UserError(fmt::format("report {}: {}; name the directory of a run, a comparison or a study",
                                        directory,
                                        fs::exists(path, error) ? "is no directory" : "there is no such directory"));
  const auto file = [&](const char* name) { return fs::exists(path / name, error) ? (path / name).string() : ""; };
  if (const std::string name = file("study.json"); !name.empty()) {
    const Study study = [&name] {
      const Json json = read_json(name, name, config::kStudySchema);
      return study_data(Node(json, name));
    }();
    return study_page(study, path, left_out);
  }
  if (const std::string name = file("claims.json"); !name.empty()) {
    const Json json = read_json(name, name, config::kClaimsSchema);
    return claims_page(Node(json, name));
  }
  if (const std::string name = file("compare.json"); !name.empty()) {
    const Json json = read_json(name, name, config::kComparisonSchema);
    return comparison_page(Node(json, name));
  }
  if (const std::string name = file("result.json"); !name.empty()) {
    const Json json = read_json(name, name, config::kResultSchema);
    return run_page(result_data(Node(json, name)));
  }
  throw config::UserError(fmt::format(
      "report {}: has no result.json, compare.json, study.json or claims.json; name the directory that a run, a "
      "comparison, a sweep or `sluice reproduce` has written to",
      directory));
}

}  // namespace

Written write_report(const Request& request) {
  const std::string what = request.output.empty() ? "report " + request.directory : "--out " + request.output;
  const std::string output = request.output.empty() ? request.directory + "/report.html" : request.output;
  if (!output.ends_with(".html") || fs::path(output).filename() == ".html")
    throw config::UserError(what + ": the page's name must end in .html");
  Written written{output, 0, {}};
  const Document page = page_of(request.directory, written.left_out);
  const std::string text = page.text();
  const fs::path folder = output.substr(0, output.size() - std::strlen(".html"));
  std::error_code error;
  if (!page.plot_data().empty()) fs::create_directories(folder, error);
  if (error)
    throw config::UserError(fmt::format("{}: {} cannot be created: {}", what, folder.string(), error.message()));
  for (const auto& [name, data] : page.plot_data())
    config::write_whole(folder / (name + ".csv"), csv_text(data), what + ": ");
  config::remove_left_overs(folder);
  config::write_whole(output, text, what + ": ");
  written.plots = page.plot_data().size();
  return written;
}

}  // namespace sluice::page
