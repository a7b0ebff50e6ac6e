// SPDX-License-Identifier: Apache-2.0
#include "platform/sweep/rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "platform/config/nearest_name.h"
#include "platform/sweep/estimates.h"
#include "platform/sweep/quantity.h"

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
    for (std::vector<CaseQuantity>& c : all.cases)
      if (!c.empty()) c.erase(c.begin() + at);
  }
}

class Reader {
 public:
  Reader(const study::Points& points, const Directory& directory, Identities& identities, const Needs& needs,
         const OnBroken& on_broken)
      : points_(points),
        directory_(directory),
        identities_(identities),
        needs_(needs),
        on_broken_(on_broken),
        idle_(points.study()) {}

  Rows read_states() {
    for (std::uint64_t n = 0; n < points_.size(); ++n) add_point(n);
    return std::move(all_);
  }

  Rows read_rows() {
    for (const study::Named& m : points_.study().measure) all_.measured.push_back(m.name);
    if (all_.measured.empty()) all_.measured.assign(kUsual.begin(), kUsual.end());
    all_.host.assign(kHost.begin(), kHost.end());
    for (std::size_t c = 0; c < points_.cases(); ++c) {
      latencies_.clear();
      grid_ = points_.case_at(c).grid;
      const std::size_t first = all_.rows.size();
      for (std::uint64_t n = first; n < first + points_.per_case(); ++n) add_point(n);
      std::vector<CaseQuantity> quantities;
      const bool is_needed = std::any_of(all_.rows.begin() + static_cast<std::ptrdiff_t>(first), all_.rows.end(),
                                         [](const Row& r) { return r.state != State::unneeded; });
      for (std::size_t i = 0; is_needed && i < all_.measured.size(); ++i) quantities.push_back(together(first, i));
      all_.cases.push_back(std::move(quantities));
    }
    if (points_.study().measure.empty())
      leave_out_unknown(all_);
    else
      find_unknown();
    all_.idle = idle_.list();
    return std::move(all_);
  }

 private:
  void add_point(std::uint64_t number) {
    if (!needs_.is_needed(number)) {
      all_.rows.push_back({{}, State::unneeded, {}, {}, {}});
      ++all_.unneeded;
      return;
    }
    Row r{identities_.of(number), State::missing, {}, {}, {}};
    Found found = directory_.find(r.run.id);
    const std::string file = directory_.result_of(r.run.id).string();
    if (!found.broken.empty()) on_broken_(fmt::format("{} {}", file, found.broken));
    if (!all_.measured.empty() && !found.result.empty() && !add_quantities(r, found)) {
      directory_.set_aside(r.run.id);
      on_broken_(file + " is damaged, and now called result.json.broken");
      found = {};
    }
    r.state = found.state;
    r.why = std::move(found.why);
    ++(r.state == State::done ? all_.done : r.state == State::failed ? all_.failed : all_.missing);
    all_.rows.push_back(std::move(r));
  }

  /// False for a file that only looked like a result.
  bool add_quantities(Row& r, const Found& found) {
    const Json result = Json::parse(found.result, nullptr, false);
    if (!result.is_object()) return false;
    r.quantities = find_all(result, all_.measured);
    r.host = find_all(result.value("host", Json::object()), all_.host);
    if (names_.empty()) names_ = quantities_in(result);
    if (found.state != State::done) return true;
    if (result.contains("latency_ns")) latencies_.push_back(result["latency_ns"]);
    idle_.add(result, grid_);
    return true;
  }

  /// Says which of the quantities that the study asks for no result has.
  void find_unknown() {
    for (std::size_t i = 0; !names_.empty() && i < all_.measured.size(); ++i)
      if (!is_known(all_, i))
        all_.unknown.push_back(fmt::format("{}: no result has {}{}", points_.study().measure[i].where.text(),
                                           all_.measured[i], config::suggestion(all_.measured[i], names_)));
  }

  /// A quantity of the case whose rows begin with `first`.
  CaseQuantity together(std::size_t first, std::size_t quantity) const {
    std::vector<double> values;
    for (std::size_t n = first; n < all_.rows.size(); ++n)
      if (const Row& r = all_.rows[n]; r.state == State::done && !std::isnan(r.quantities[quantity]))
        values.push_back(r.quantities[quantity]);
    if (values.empty()) return {};
    return {values.size(), estimate_of(all_.measured[quantity], values, latencies_)};
  }

  const study::Points& points_;
  const Directory& directory_;
  Identities& identities_;
  const Needs& needs_;
  const OnBroken& on_broken_;
  IdleSettings idle_;
  std::size_t grid_ = 0;  ///< of the case that is read
  Rows all_;
  std::vector<std::string> names_;  ///< of what a result has
  report::Latencies latencies_;     ///< of the case that is read, of the runs that did not fail
};

}  // namespace

Rows read_states(const study::Points& points, const Directory& directory, Identities& identities, const Needs& needs,
                 const OnBroken& on_broken) {
  return Reader(points, directory, identities, needs, on_broken).read_states();
}

Rows read_rows(const study::Points& points, const Directory& directory, Identities& identities, const Needs& needs,
               const OnBroken& on_broken) {
  return Reader(points, directory, identities, needs, on_broken).read_rows();
}

}  // namespace sluice::sweep
