// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The host's on-chip bus: routes an access by its address to a device's register file, to RAM or to a root complex.

#include <memory>
#include <string>
#include <vector>

#include <tlm>
#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include "models/base/measure/statistics.h"
#include "models/base/parameters/schema.h"
#include "models/base/systemc/model.h"

namespace sluice::memory {

using namespace base::literals;

/// Targets that are Sluice's own (base::Model) are called at base::now(). Foreign targets may wait(): before such a
/// call, the SystemC kernel's time is advanced to the caller's.
class SocBus : public base::Model {
 public:
  struct Parameters {
    base::Time latency = 10_ns;  ///< hart to device and back, added to every access
    static void describe(base::Schema<Parameters>&);
  };
  struct Region {
    std::string name;  ///< what the memory map calls it
    std::uint64_t base;
    std::uint64_t size;
    bool own;                 ///< a base::Model
    bool whole_address;       ///< the target sees the address itself, not the offset into the region
    bool waits = false;       ///< may take simulated time, as a foreign target may
    bool interrupts = false;  ///< accepts interrupt messages (MSIs)
    /// takes writes before their time (base::access_time()), and answers at once; takes reads of up to 128 bytes and
    /// writes of up to a page
    bool posts = false;
  };

  tlm_utils::multi_passthrough_target_socket<SocBus> from_initiators;

  SocBus(const sc_core::sc_module_name&, const Parameters&);

  /// Maps a target. The regions of a bus must not overlap; the caller checks this and reports an overlap.
  template <class Socket>
  void map(const Region& region, Socket& target) {
    add(region)->bind(target);
  }
  /// Maps one more region of the target that was mapped last.
  void map_also(const Region& region) {
    regions_.push_back(region);
    target_of_.push_back(targets_.size() - 1);
  }
  const std::vector<Region>& regions() const { return regions_; }
  /// Name of the region at an address; empty: the address is not mapped.
  std::string name_at(std::uint64_t address) const;
  bool takes_interrupts(std::uint64_t address) const;
  bool posts(std::uint64_t address) const;
  std::uint64_t unmapped() const { return unmapped_; }  ///< accesses that no region answers

  /// Makes the write of an interrupt message, from the action of a calendar entry, without an initiator thread. Returns
  /// false when no target is there, when it refuses, or when it might wait, which such an action must not.
  bool write_now(std::uint64_t address, const void* data, unsigned size);

 private:
  void register_statistics(base::StatisticsGroup&) override;
  using Initiator = tlm_utils::simple_initiator_socket<SocBus>;
  Initiator* add(const Region&);
  const Region& region(int index) const { return regions_[static_cast<std::size_t>(index)]; }
  Initiator& target(int index) { return *targets_[target_of_[static_cast<std::size_t>(index)]]; }
  int find(std::uint64_t address, std::uint64_t length) const;
  void b_transport(int from, tlm::tlm_generic_payload&, sc_core::sc_time& delay);
  static void call_foreign(const Region&, Initiator&, tlm::tlm_generic_payload&, sc_core::sc_time& delay);
  unsigned transport_dbg(int from, tlm::tlm_generic_payload&);

  Parameters parameters_;
  std::vector<Region> regions_;
  std::vector<std::size_t> target_of_;  ///< index of each region's target
  std::vector<std::unique_ptr<Initiator>> targets_;
  std::uint64_t accesses_ = 0;
  std::uint64_t unmapped_ = 0;
};

}  // namespace sluice::memory
