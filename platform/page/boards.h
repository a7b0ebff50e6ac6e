// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a page says of its boards.

#include <string>
#include <vector>

#include "platform/page/document.h"
#include "platform/page/result_data.h"

namespace sluice::page {

/// The parts of a board and how they hang together, as nested lists: systems-on-chip, the root complex with what is at
/// its ports, and the wires with what is at their ends.
std::string board_tree(const BoardData&);

/// A closed table of every parameter, with its value, unit, kind, source and where it was set; its title counts the
/// kinds.
std::string parameter_table(const BoardData&);

/// Adds a section: for each board its tree and its parameters.
void add_boards(Document&, const std::vector<const BoardData*>& boards);

/// A parameter that is not the same on all boards.
struct BoardDifference {
  std::string path;
  std::vector<std::string> values;  ///< of each board; empty where it has none
};
/// The parameters that boards differ in, but for those of `swept`, which a study varies.
std::vector<BoardDifference> differences(const std::vector<const BoardData*>& boards,
                                         const std::vector<std::string>& swept);
/// Adds them as a table, or a sentence where there are none.
void add_differences(Document&, const std::vector<const BoardData*>& boards, const std::vector<std::string>& swept);

/// Adds the firmware, program, boards' files and plug-ins of runs, each once.
void add_origins(Document&, const std::vector<const ResultData*>& results);

}  // namespace sluice::page
