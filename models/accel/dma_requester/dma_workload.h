// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The workload that measures PCIe: the measurements that the firmware is to make with the DMA requester, and their
/// results.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/accel/dma_requester/dma_requester.h"
#include "models/workload/workload_part.h"

namespace sluice::accel {

using namespace base::literals;

/// Whether the window is in the caches when a measurement begins.
enum class CacheState { warm, cold, both };
enum class Pattern { sequential, random };
enum class Interface { engine, direct };

/// [workload] with model "dma".
struct DmaWorkloadParameters {
  static constexpr std::uint32_t kMostBytes = DMAR_SIZE_MAX;

  std::string sizes = "8..2048";
  CacheState cache = CacheState::both;
  Pattern pattern = Pattern::random;
  Interface interface = Interface::engine;
  base::Bytes window = 64_KiB;
  base::Bytes offset = 0_B;
  unsigned transactions = 1000;
  unsigned warmup = 100;
  unsigned outstanding = 128;
  static void describe(base::Schema<DmaWorkloadParameters>&);

  std::vector<std::uint32_t> size_list() const;
  /// Number of rows of the result: sizes times cache states.
  std::size_t rows() const { return size_list().size() * (cache == CacheState::both ? 2 : 1); }
};

/// Number of measurements for one size and one cache state.
inline constexpr unsigned kDmaMeasurements = 5;

/// All measurements for one size and one cache state, told apart by DMAR_LABEL. Null: not measured.
struct DmaRow {
  std::uint32_t bytes;
  bool cold;
  // read, write and write_read were measured with one transaction at a time.
  const DmaRequester::Run* read = nullptr;
  const DmaRequester::Run* write = nullptr;
  const DmaRequester::Run* write_read = nullptr;
  const DmaRequester::Run* read_stream = nullptr;
  const DmaRequester::Run* write_stream = nullptr;
  bool complete() const { return read && write && write_read && read_stream && write_stream; }
};

/// The firmware dma-bench makes the measurements of [workload] with the board's first DMA requester.
class DmaWorkload final : public workload::Workload {
 public:
  using Parameters = DmaWorkloadParameters;

  /// Throws workload::NotForThisBoard when the board has no DMA requester.
  DmaWorkload(const DmaWorkloadParameters&, const workload::Surroundings&);

  std::vector<part::FirmwareProperty> firmware_properties() const override;
  bool waits() const override { return true; }
  std::optional<double> progress() const override;
  std::string failure(bool finished) const override;
  std::vector<workload::ListPlot> plots() const override;
  void add_result(workload::Json& result) const override;
  std::string report(const workload::Json& result) const override;

 private:
  /// By size, warm before cold.
  std::vector<DmaRow> rows() const;

  const DmaWorkloadParameters& parameters_;
  const DmaRequester* requester_ = nullptr;
  base::Bytes caches_;
  bool iommu_;
  base::Bytes iommu_page_;
};

class DmaWorkloadFactory final : public workload::WorkloadFactoryOf<DmaWorkload> {
 public:
  std::string summary() const override;
  std::string explain_exit(std::string_view firmware, unsigned code,
                           const std::vector<pcie::Endpoint*>& devices) const override;
};

}  // namespace sluice::accel
