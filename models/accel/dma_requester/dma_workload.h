#pragma once
/// The workload that measures PCIe: what the firmware is asked to have the DMA requester do, and what came of it.

#include <cstdint>
#include <string>
#include <vector>

#include "models/accel/dma_requester/dma_requester.h"

namespace sluice::platform {

using namespace base::literals;

/// State of the last-level cache when a measurement begins.
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
  /// Rows of the result: sizes times states of the caches.
  std::size_t rows() const { return size_list().size() * (cache == CacheState::both ? 2 : 1); }
};

/// Everything measured of one size in one state of the cache, by DMAR_LABEL. Null: not measured.
struct DmaRow {
  std::uint32_t bytes;
  bool cold;
  const accel::DmaRequester::Run* read = nullptr;  ///< this and the next two: one at a time
  const accel::DmaRequester::Run* write = nullptr;
  const accel::DmaRequester::Run* write_read = nullptr;
  const accel::DmaRequester::Run* read_stream = nullptr;
  const accel::DmaRequester::Run* write_stream = nullptr;
  bool complete() const { return read && write && write_read && read_stream && write_stream; }
};

/// By size, warm before cold.
std::vector<DmaRow> dma_rows(const accel::DmaRequester&);

/// Measurements of one size in one state of the caches.
inline constexpr unsigned kDmaMeasurements = 5;

/// Transactions that count, per second and as bits per second.
double transactions_per_second(const accel::DmaRequester::Run&);

/// What held a stream back: "up" or "down", a direction of the link that was busy all the time; "engine"; or "latency":
/// the transactions under way were too few.
const char* bottleneck(const accel::DmaRequester::Run&);

}  // namespace sluice::platform
