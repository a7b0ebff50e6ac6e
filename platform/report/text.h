#pragma once
/// Result files as a person reads them on a terminal.

#include <string>

#include <nlohmann/json.hpp>

namespace sluice::report {

/// One run.
std::string run_report(const nlohmann::ordered_json& result);

}  // namespace sluice::report
