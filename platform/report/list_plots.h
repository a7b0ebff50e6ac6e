// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What workloads have drawn of the lists in their results: in the result file, and entries of several results that
/// belong together.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "models/workload/list_plot.h"

namespace sluice::report {

/// An entry of the result's `plots`.
nlohmann::ordered_json to_json(const workload::ListPlot&);
/// The same back, of a result that this program has made.
workload::ListPlot list_plot(const nlohmann::ordered_json&);

/// The text by which an entry is of another line than those with another; empty: there is none.
std::string set_apart_by(const workload::ListPlot&, const nlohmann::ordered_json& entry);
/// The first entry of a result's list that has the number `key` and lies on the x axis where `like` does, on the same
/// line. Null: there is none.
const nlohmann::ordered_json* find_entry(const workload::ListPlot&, const std::string& key,
                                         const nlohmann::ordered_json& result, const nlohmann::ordered_json& like);
/// The entries of the first result's list for which every result has the number `key`.
std::vector<const nlohmann::ordered_json*> common_entries(const workload::ListPlot&, const std::string& key,
                                                          const std::vector<nlohmann::ordered_json>& results);

}  // namespace sluice::report
