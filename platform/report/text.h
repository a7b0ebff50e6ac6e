#pragma once
/// Result files as a person reads them on a terminal.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice::report {

/// One run.
std::string run_report(const nlohmann::ordered_json& result);

/// Runs side by side, the first the reference. differences: what else the boards differ in, as sentences.
std::string compare_report(const std::vector<nlohmann::ordered_json>& results,
                           const std::vector<std::string>& differences);

}  // namespace sluice::report
