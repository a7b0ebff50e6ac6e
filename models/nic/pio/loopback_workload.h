// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The workload that measures a PIO NIC whose MAC is in loopback: frames of some sizes, one at a time, stamped by the
/// NIC and by the firmware pio-loopback.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/nic/pio/pio_core.h"
#include "models/workload/workload_part.h"

namespace sluice::nic {

/// [workload] with model "loopback".
struct LoopbackParameters {
  static constexpr std::uint32_t kLeastBytes = 60, kMostBytes = 9600;

  std::string sizes = "64";
  unsigned frames = 50;
  static void describe(base::Schema<LoopbackParameters>&);
  std::vector<std::uint32_t> size_list() const;
};

class LoopbackWorkload final : public workload::Workload {
 public:
  using Parameters = LoopbackParameters;

  /// Throws workload::NotForThisBoard when the board has no PIO NIC.
  LoopbackWorkload(const LoopbackParameters&, const workload::Surroundings&);

  std::vector<part::FirmwareProperty> firmware_properties() const override;
  static workload::Comparable comparable(const Parameters&);
  std::uint64_t ended() const override;
  bool waits() const override { return true; }
  std::optional<double> progress() const override;
  std::string failure(bool finished) const override;
  std::vector<workload::ListPlot> plots() const override;
  void add_result(workload::Json& result) const override;
  std::string report(const workload::Json& result) const override;

 private:
  std::uint64_t all() const;

  const LoopbackParameters& parameters_;
  const PioCore* nic_ = nullptr;
};

class LoopbackFactory final : public workload::WorkloadFactoryOf<LoopbackWorkload> {
 public:
  std::string summary() const override;
  std::string explain_exit(std::string_view firmware, unsigned code,
                           const std::vector<pcie::Endpoint*>& devices) const override;
};

}  // namespace sluice::nic
