#pragma once
/// How reports on a terminal write figures, and what they read from result files.

#include <cstdint>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

namespace sluice::report {

using Json = nlohmann::ordered_json;

std::string time_text(double ns);          ///< 4230.5 -> "4.23 us"
std::string rate_text(double per_second);  ///< 6102000 -> "6.102 M/s"
std::string grouped(std::uint64_t);        ///< 100000 -> "100,000"
/// "1 hart", "2 harts"
std::string counted(std::uint64_t n, const char* one, const char* many);

std::string name_of(const Json& result);
/// Of the effective board, as a board file would write it; empty where the board has no such parameter.
std::string parameter(const Json& result, const char* instance, const char* key);
/// "echo 64 B, closed loop, 16 outstanding"
std::string workload_text(const Json& result);
std::uint64_t dropped(const Json& requests);

/// Mean per request and share of one stage, over all components.
struct StageRow {
  double mean_ns = 0;
  double share = 0;
};
/// By number of the stage; `unattributed` is always among them.
std::map<int, StageRow> stage_rows(const Json& result);

}  // namespace sluice::report
