// SPDX-License-Identifier: Apache-2.0
#pragma once
/// [workload] with model "traffic", and the peers of that model: calls over wires.

#include <string>
#include <vector>

#include "models/net/traffic/traffic_source.h"
#include "models/workload/workload.h"

namespace sluice::platform {

/// The clients at one wire. Source and parameters outlive the workload.
struct Clients {
  std::string path;  ///< "workload", or that of a peer
  std::string wire;
  net::TrafficSource* source;
  const net::TrafficSource::Parameters* parameters;
};

class TrafficWorkload final : public workload::Workload {
 public:
  /// Clients of one or more wires. allow_drops: a dropped call is a result and not a failure.
  TrafficWorkload(std::vector<Clients>, bool allow_drops);

  void start(workload::Run&) override;
  std::string about_to_run() const override;
  std::uint64_t ended() const override;
  std::uint64_t under_way() const override;
  bool waits() const override;
  std::optional<double> progress() const override;
  std::string stall_reason() const override;
  std::string stall_details() const override;
  std::string failure(bool finished) const override;
  std::string phases() const override;
  void add_result(workload::Json& result) const override;
  std::string report(const workload::Json& result) const override;

 private:
  std::string report_of_phases(const workload::Json& result) const;
  std::string failure_of(const Clients&, bool finished) const;
  net::TrafficSource::Results results() const;

  std::vector<Clients> clients_;
  bool measuring_ = false;
  std::size_t finished_ = 0;  ///< clients that have finished
  bool allow_drops_;
};

}  // namespace sluice::platform
