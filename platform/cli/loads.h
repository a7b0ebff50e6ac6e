// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The loads of a comparison, as shares of what its slowest board can do.

#include <string>
#include <string_view>
#include <vector>

namespace sluice::cli {

/// Loads in percent from a list such as "20,50,90", or from a range such as "10..90", which has steps of 10. Each is 1
/// to 1000, and they rise. Throws config::UserError.
std::vector<unsigned> parse_loads(std::string_view text);

/// Settings of a run that is offered far more calls than any board answers.
std::vector<std::string> overload_settings();
/// Settings of a load sweep. capacity: calls per second that are 100 %.
std::vector<std::string> sweep_settings(const std::vector<unsigned>& loads, double capacity);

}  // namespace sluice::cli
