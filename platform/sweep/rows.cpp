// SPDX-License-Identifier: Apache-2.0
#include "platform/sweep/rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "platform/board/board.h"
#include "platform/config/nearest_name.h"
#include "platform/sweep/identity.h"
#include "platform/sweep/quantity.h"
#include "platform/sweep/whole_file.h"

namespace sluice::sweep {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kUsual = {"latency_ns.mean",  "latency_ns.p50",       "latency_ns.p99", "latency_ns.p999",
                               "throughput_per_s", "zero_loss_rate_per_s", "simulated_ns"};
constexpr std::array kHost = {"wall_s", "cpu_s", "startup_cpu_s", "mips", "requests_per_wall_s", "peak_rss_bytes"};

std::vector<double> find_all(const Json& in, const std::vector<std::string>& names) {
  std::vector<double> values;
  values.reserve(names.size());
  for (const std::string& name : names)
    values.push_back(find_quantity(in, name).value_or(std::numeric_limits<double>::quiet_NaN()));
  return values;
}

/// Whether any row has the quantity of this number.
bool is_known(const Rows& all, std::size_t quantity) {
  return std::any_of(all.rows.begin(), all.rows.end(), [quantity](const Row& r) {
    return quantity < r.quantities.size() && !std::isnan(r.quantities[quantity]);
  });
}

bool is_usual(const Rows& all) {
  for (std::size_t i = 0; i + 1 < kUsual.size(); ++i)
    if (is_known(all, i)) return true;
  return false;
}

void leave_out_unknown(Rows& all) {
  for (std::size_t i = all.measured.size(); i-- > 0;) {
    const bool last = i + 1 == kUsual.size();
    if (is_known(all, i) && !(last && is_usual(all))) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    all.measured.erase(all.measured.begin() + at);
    for (Row& r : all.rows)
      if (i < r.quantities.size()) r.quantities.erase(r.quantities.begin() + at);
  }
}

}  // namespace

Rows read_rows(const study::Points& points, const Directory& directory,
               const std::function<void(const std::string&)>& on_broken) {
  Rows all;
  for (const study::Named& m : points.study().measure) all.measured.push_back(m.name);
  if (all.measured.empty()) all.measured.assign(kUsual.begin(), kUsual.end());
  all.host.assign(kHost.begin(), kHost.end());
  std::vector<std::string> names;  // of what a result has
  platform::FileDigests digests;
  for (std::uint64_t n = 0; n < points.size(); ++n) {
    const config::BoardConfig board = points.board_of(points.at(n));
    const auto& run = board.parameters<platform::RunParameters>("run");
    Row r{identity_of(board, digests), State::missing, {}, run.seed, run.replication, {}, {}};
    Found found = directory.find(r.id);
    if (!found.broken.empty()) on_broken(fmt::format("{} {}", directory.result_of(r.id).string(), found.broken));
    if (found.has_result) {
      const Json result = Json::parse(read_whole(directory.result_of(r.id)), nullptr, false);
      r.quantities = find_all(result, all.measured);
      r.host = find_all(result.value("host", Json::object()), all.host);
      if (names.empty()) names = quantities_in(result);
    }
    r.state = found.state;
    r.why = std::move(found.why);
    ++(r.state == State::done ? all.done : r.state == State::failed ? all.failed : all.missing);
    all.rows.push_back(std::move(r));
  }
  if (points.study().measure.empty()) {
    leave_out_unknown(all);
  } else if (!names.empty()) {
    for (std::size_t i = 0; i < all.measured.size(); ++i)
      if (!is_known(all, i))
        all.unknown.push_back(fmt::format("{}: no result has {}{}", points.study().measure[i].where.text(),
                                          all.measured[i], config::suggestion(all.measured[i], names)));
  }
  return all;
}

}  // namespace sluice::sweep
