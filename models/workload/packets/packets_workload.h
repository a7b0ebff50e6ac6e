// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The workload that sends frames to a board which sends them back.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/workload/packets/packet_source.h"
#include "models/workload/workload.h"

namespace sluice::workload {

class PacketsWorkload final : public Workload {
 public:
  using Parameters = PacketsParameters;

  /// Throws NotForThisBoard when the board has no NIC at a free wire, or one that does not go with the parameters.
  PacketsWorkload(const Parameters&, const Surroundings&);

  static Comparable comparable(const Parameters& p) { return {title(p), "packets"}; }

  std::vector<part::FirmwareProperty> firmware_properties() const override;
  void start(Run&) override;
  std::string about_to_run() const override;
  std::uint64_t ended() const override { return source_->settled(); }
  std::uint64_t under_way() const override { return source_->under_way(); }
  bool waits() const override { return !source_->running() || under_way() > 0; }
  std::optional<double> progress() const override;
  std::string stall_reason() const override;
  std::string stall_details() const override;
  std::string failure(bool finished) const override;
  std::string phases() const override { return "/packets/trials"; }
  std::vector<ListPlot> plots() const override;
  void add_result(Json& result) const override;
  std::string report(const Json& result) const override;

 private:
  static std::string title(const Parameters&);
  std::uint64_t total() const;

  const Parameters& parameters_;
  const Surroundings::FreeWire* wire_ = nullptr;
  Parameters completed_;  ///< with the partner's address
  std::unique_ptr<PacketSource> source_;
};

}  // namespace sluice::workload
