// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Which program has made a result.

#include <string>

#include <nlohmann/json.hpp>

namespace sluice::report {

/// SHA-256 of the sources that a result file depends on, hexadecimal: equal for equal programs, whatever built them.
const std::string& program_sources();

/// What kind of build made the program, as CMake names it: "Release".
std::string build_type();

/// {"version": "0.1.0", "sources": "..."}, as result files have it.
nlohmann::ordered_json program();

}  // namespace sluice::report
