// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The way of a device over a coherent link to its host's memory and interrupt controllers.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "models/base/fabric/host_access.h"
#include "models/base/memory/memory_path.h"
#include "models/base/systemc/model.h"
#include "models/coherence/link/coherent_link.h"

namespace sluice::coherence {

/// The device's ends of transfers are kept here, and messages name them by number: a message that comes late finds
/// nothing.
class HostPath final : public base::Model, public base::HostAccess {
 public:
  /// Writes an interrupt's message; false: nothing takes it.
  using Interrupt = std::function<bool(std::uint64_t address, std::uint32_t value)>;

  /// line: bytes of a cache line. device: its path, for mistakes.
  HostPath(const sc_core::sc_module_name&, CoherentLink&, base::MemoryPath&, unsigned line, Interrupt,
           std::string device);

  void read(std::uint64_t address, std::uint32_t bytes, base::Callback<void(const base::HostRead&)> done) override;
  void write(const base::HostWrite&, base::Callback<void(bool)> done) override;
  void interrupt(std::uint64_t address, std::uint32_t value, std::span<const base::RequestId> requests) override;

  // The link brings messages of this path.
  void arrive_at_host(const CoherentMessage&);
  void arrive_at_device(const CoherentMessage&);
  /// Ends all transfers.
  void reset();

 private:
  struct Transfer {
    std::uint64_t address = 0;
    std::vector<std::uint8_t> bytes;
    unsigned missing = 0;               ///< parts without an answer
    unsigned unseen = 0;                ///< parts of a write that are not visible yet
    std::optional<base::RequestId> of;  ///< that the lines get; of a read, that its first line has
    std::optional<base::HostWrite::Arrival> arrival;
    std::vector<base::RequestId> requests;  ///< of an interrupt
    base::Site by;
    base::Callback<void(const base::HostRead&)> read_done;
    base::Callback<void(bool)> write_done;
  };

  void register_statistics(base::StatisticsGroup&) override;
  Transfer& open(std::uint64_t address, std::size_t bytes);
  void send_parts(Transfer&, HostPart::Kind);
  CoherentMessagePtr answer_to(const CoherentMessage&, HostPart::Kind) const;
  void end_part(std::uint64_t number, bool ok);
  void end(Transfer&, bool ok);
  void start_read(const CoherentMessage&);
  void start_write(const CoherentMessage&);
  void land(const CoherentMessage&);
  void note_visible(base::GuestRam&, const CoherentMessage&);
  void take_interrupt(const CoherentMessage&);
  void report(const CoherentMessage&, const char* what, const char* why) const;
  void refuse(const CoherentMessage&, const char* what, const char* why);

  CoherentLink& link_;
  base::MemoryPath& memory_;
  const unsigned line_;
  const Interrupt interrupt_;
  const std::string device_;
  std::map<std::uint64_t, Transfer> open_;  ///< by number
  std::uint64_t last_ = 0;
  std::uint64_t reads_ = 0, writes_ = 0, interrupts_ = 0, refused_ = 0;
};

}  // namespace sluice::coherence
