// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Writes the page of a directory, and its numbers beside it.

#include <string>
#include <string_view>
#include <vector>

namespace sluice::page {

/// What `sluice report` was asked for.
struct Request {
  std::string directory;  ///< of a run, a comparison, a study or claims
  std::string output;     ///< the page's file; empty: report.html in the directory
};

/// What was written.
struct Written {
  std::string page;
  std::size_t plots = 0;
  std::vector<std::string> left_out;  ///< result files that could not be used, in a sentence each
};

/// Writes the page, and the numbers of each plot to NAME.csv in a folder beside it that is called as the page without
/// its ending. Throws config::UserError for a directory without results, a file that no sluice has written, and a page
/// that cannot be written.
Written write_report(const Request&);

}  // namespace sluice::page
