// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Quantities of result files by name: "latency_ns.p99", "cores.cluster.host.hart0.time.idle",
/// "counters.nic.eth0.rx_packets", "links.pcie.slot0.up.utilisation".

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice::sweep {

/// The number that a name leads to; nothing where there is none. Each part of the name is a member, which may have dots
/// in its name, or an element of a list: by its place, from 0, or by what it has of name, direction and component, or
/// of bytes and cache where it has no name; the first of these is enough where it is different in each element. true is
/// 1, false 0.
std::optional<double> find_quantity(const nlohmann::ordered_json& result, const std::string& name);

/// Names of all quantities in a result file outside `board`, `firmware` and `host`, for suggestions.
std::vector<std::string> quantities_in(const nlohmann::ordered_json& result);

/// The unit that a name says: "ns" for "latency_ns.p99", "1/s", "B", "Gb/s"; empty for counts and shares.
std::string unit_of(const std::string& name);

}  // namespace sluice::sweep
