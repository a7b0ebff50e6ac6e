// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Formats figures for result files and for reports on a terminal.

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "models/base/measure/histogram.h"
#include "models/base/time/time.h"

namespace sluice::workload {

/// Femtoseconds as nanoseconds, rounded to the femtosecond, the same on every host.
double nanoseconds(double femtoseconds);
double nanoseconds(base::Time);
/// part / whole; 0 where the whole is 0.
double share(double part, double whole);
/// The object that a result file has for a distribution of times: mean, min, p50, p90, p99, p999 and max, in ns.
nlohmann::ordered_json latency(const base::Histogram& femtoseconds);
/// latency() of requests, and the histogram itself, so that whoever has the files of several runs can merge them.
nlohmann::ordered_json latency_with_histogram(const base::Histogram& femtoseconds);
/// The histogram that latency_with_histogram() has written; nothing where there is none, or none that can be.
std::optional<base::Histogram> histogram_in(const nlohmann::ordered_json& latency);

std::string time_text(double ns);          ///< 4230.5 -> "4.23 us"
std::string rate_text(double per_second);  ///< 6102000 -> "6.102 M/s"
std::string grouped(std::uint64_t);        ///< 100000 -> "100,000"
/// "1 hart", "2 harts"
std::string counted(std::uint64_t n, const char* one, const char* many);

/// The busiest resource of a result, or of one of its phases, with its share: "net.wire0.a_to_b 99 %". Empty where the
/// run ended before the phase.
std::string busiest_text(const nlohmann::ordered_json& measured);

/// What to say before a search that makes up to `requests` requests: a sentence without a full stop that names `key`,
/// the parameter that makes it shorter. Empty where it takes less than a minute or so.
std::string search_cost(std::uint64_t requests, const char* many, const std::string& key);

}  // namespace sluice::workload
