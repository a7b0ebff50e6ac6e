// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The workload that measures how long a message takes from a core to the NIC and back, without a wire: one message at
/// a time, each a request that the firmware message-rtt opens and completes.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/base/measure/histogram.h"
#include "models/base/measure/ledger.h"
#include "models/workload/workload_part.h"

namespace sluice::workload {

/// [workload] with model "message-rtt".
struct MessageRttParameters {
  static constexpr std::uint32_t kLeastBytes = 60, kMostBytes = 9618;

  std::string sizes = "64";
  unsigned messages = 256;
  unsigned uncounted = 64;
  static void describe(base::Schema<MessageRttParameters>&);
  std::vector<std::uint32_t> size_list() const;
};

class MessageRttWorkload final : public Workload {
 public:
  using Parameters = MessageRttParameters;

  /// Throws NotForThisBoard when the board has no NIC, or one that does not take so long messages.
  MessageRttWorkload(const Parameters&, const Surroundings&);

  static Comparable comparable(const Parameters&);

  std::vector<part::FirmwareProperty> firmware_properties() const override;
  void start(Run&) override;
  std::uint64_t ended() const override { return ended_; }
  bool waits() const override { return ended_ < all(); }
  std::optional<double> progress() const override;
  std::string stall_reason() const override;
  std::string failure(bool finished) const override;
  std::vector<ListPlot> plots() const override;
  void add_result(Json& result) const override;
  std::string report(const Json& result) const override;

 private:
  std::uint64_t all() const { return std::uint64_t{parameters_.uncounted + parameters_.messages} * sizes_; }
  void completed(const base::Ledger::Request&, base::Time end);

  const Parameters& parameters_;
  const std::size_t sizes_;
  std::string nic_;  ///< path
  Run* run_ = nullptr;
  std::uint64_t ended_ = 0;
  std::map<std::uint64_t, std::vector<base::Time>> by_size_;  ///< of messages that count
  base::Histogram latency_;                                   ///< of all of them, in femtoseconds
  base::Time first_, last_;                                   ///< begin of the first one that counts, end of the last
  std::string dropped_;                                       ///< why the first message was that was lost
};

class MessageRttFactory final : public WorkloadFactoryOf<MessageRttWorkload> {
 public:
  std::string summary() const override;
  std::string firmware() const override { return "message-rtt"; }
  std::string explain_exit(std::string_view firmware, unsigned code,
                           const std::vector<pcie::Endpoint*>& devices) const override;
};

}  // namespace sluice::workload
