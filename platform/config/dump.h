// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The effective board, for programs and for people.

#include <nlohmann/json.hpp>

#include "platform/config/board_config.h"

namespace sluice::config {

/// {name, summary, files: [..], instances: {"nic.eth0": {kind, model, parameters: {"queues": {value, text, unit, kind,
/// source, points (of a fitted value), uncertainty and uncertainty_by (of numbers that are no settings), set_by}}}}}.
/// Contains no absolute path; the same from every directory. value is in the unit named beside it (ns, B, b/s, Hz);
/// text is what a board file would say.
/// documented: each parameter has meaning, valid (which values are) and, of one that acts only where counters count,
/// acts_with, their names.
nlohmann::ordered_json to_json(const BoardConfig&, bool documented = false);

/// One table per instance with a line per parameter: value, kind, uncertainty, where it was set, source. Ends with a
/// newline.
std::string to_table(const BoardConfig&);

/// "2.5 us", "16 entries"
std::string value_text(const Instance&, const base::Parameter&);
/// 1/4 as "25 %"
std::string percent_text(base::Ratio);

nlohmann::ordered_json to_json(const base::Value&);

/// As a file: indented, arrays of numbers in one line, with a line break at its end. Bytes that are no UTF-8, which a
/// path may have, become U+FFFD.
std::string json_text(const nlohmann::ordered_json&);

}  // namespace sluice::config
