// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The pages that `sluice report` makes: of a run, of a comparison, of a study, of claims.

#include <filesystem>
#include <string>
#include <vector>

#include "platform/page/document.h"
#include "platform/page/result_data.h"
#include "platform/page/study/study.h"

namespace sluice::page {

/// The page of a result file.
Document run_page(const ResultData&);

/// The page of what `sluice compare --json` prints. Throws config::UserError where it is not as
/// docs/reference/result.md says.
Document comparison_page(const Node&);

/// The page of claims.json, which `sluice reproduce` writes. Throws config::UserError where it is not as
/// docs/reference/claims.md says.
Document claims_page(const Node&);

/// The page of a study. directory: where its points' result files are. Those that cannot be used are left out, and
/// named on the page and, in a sentence each, in `left_out`.
Document study_page(const Study&, const std::filesystem::path& directory, std::vector<std::string>& left_out);

/// A command that repeats a run, or a comparison: with what the command line had set on every board.
std::string command_of(const std::vector<const BoardData*>& boards);

}  // namespace sluice::page
