// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What the parts of a board did in a window of a run, for result files.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "platform/run/measurement.h"

namespace sluice::report {

/// Every counter, by the path of its group. broken: if not null, becomes a sentence about the first statistic that
/// could not be read; unchanged where there is none.
nlohmann::ordered_json counters_in(const platform::Window&, std::string* broken);

/// counters: of the same window.
nlohmann::ordered_json links(platform::Board&, const platform::Window&, const nlohmann::ordered_json& counters);
nlohmann::ordered_json cores(platform::Board&, const platform::Window&, const nlohmann::ordered_json& counters);

nlohmann::ordered_json resources(const std::vector<platform::Use>&);

/// What limited a run, or one of its phases: a sentence without a full stop about the busiest resource. measured: the
/// result, or the phase.
std::string limit_sentence(const nlohmann::ordered_json& measured);

}  // namespace sluice::report
