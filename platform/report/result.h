// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The result file: everything that a run gave, for programs. docs/reference/result.md documents the schema.

#include <string>

#include <nlohmann/json.hpp>

#include "platform/run/simulation.h"

namespace sluice::report {

/// The result file of a run that has ended. Everything outside "host" depends only on board, firmware, seed and inputs.
nlohmann::ordered_json make_result(platform::Simulation&, platform::Outcome);

/// The text of a result file: two spaces of indentation, one trailing newline.
std::string to_text(const nlohmann::ordered_json& result);

/// Why the simulated system failed, in one sentence; empty when it did not.
std::string failure_of(const nlohmann::ordered_json& result);

/// The same sentence and, in further lines, what helps to find the cause: what waits for what, and where the harts are.
/// Empty when the simulated system did not fail.
std::string diagnosis_of(const nlohmann::ordered_json& result);

}  // namespace sluice::report
