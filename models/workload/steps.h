// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The steps of receiving a call, as result files and reports have them: who does which, and what it costs.

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/base/measure/ledger.h"

namespace sluice::workload {

/// Adds `steps` to a result: what the completed requests of a ledger took until their handlers.
void add_steps(const base::Ledger&, nlohmann::ordered_json& result);

/// Whether what receiving takes, and what comes behind it, sum to the latencies of all requests, to the femtosecond.
bool steps_sum_up(const base::Ledger&);

/// What the table has of a step, or of what is none, by one who does it, or nobody.
struct StepLine {
  std::string who;       ///< "NIC", "nobody", "not known"; empty: no step
  std::string with;      ///< the step in which its cost is, as one pass does both; empty: none
  bool has_cost = true;  ///< false: nobody does it, or nobody has said who does
  double mean_ns = 0;    ///< per request
  bool is_software = false;
  double instructions = 0;  ///< likewise, by software
};
/// The titles of lines: the steps, in their order, and what is no step.
std::vector<std::string> step_titles();
/// The lines of a title; none: nothing is of it.
std::vector<StepLine> step_lines(const nlohmann::ordered_json& result, const std::string& title);
/// All of them as a table; empty: the result has no steps.
std::string step_table(const nlohmann::ordered_json& result);

/// Of all cores together, in accounts other than polling, parked and idle.
struct Busy {
  double cycles = 0;  ///< per request
  double instructions = 0;
};
Busy busy(const nlohmann::ordered_json& result);

}  // namespace sluice::workload
