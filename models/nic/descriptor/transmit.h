// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The NIC's transmit side: doorbells, descriptor fetch, DMA of frames, checksum insertion, completion write-back.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/base/fabric/ring.h"
#include "models/base/fabric/server.h"
#include "models/base/measure/journey.h"
#include "models/base/time/calendar.h"
#include "models/net/packet.h"
#include "models/nic/descriptor/descriptor_regs.h"
#include "models/nic/descriptor/doorbell_sites.h"
#include "models/pcie/endpoint/endpoint.h"

namespace sluice::nic {

class DescriptorNic;

class TransmitEngine {
 public:
  struct Registers {
    std::uint64_t base = 0;
    std::uint32_t length = 0;
    std::uint32_t cause = 0;
  };

  /// How often a parameter limited what the engine did.
  struct Limited {
    std::uint64_t by_cache = 0;     ///< tx_cache: fetches
    std::uint64_t by_batch = 0;     ///< tx_fetch_batch: fetches
    std::uint64_t by_fetches = 0;   ///< tx_fetches: fetches
    std::uint64_t by_frames = 0;    ///< tx_frames: frames' reads
    std::uint64_t by_buffer = 0;    ///< tx_buffer: frames' reads
    std::uint64_t by_mac_fifo = 0;  ///< tx_mac_fifo: frames
  };

  explicit TransmitEngine(DescriptorNic& nic);

  // Software's view.
  Registers& registers(unsigned q) { return queues_[q].registers; }
  const Registers& registers(unsigned q) const { return queues_[q].registers; }
  bool busy(unsigned q) const { return queues_[q].enabled || active(q); }
  std::uint32_t control(unsigned q) const;
  void set_enabled(unsigned q, bool on);
  std::uint32_t head(unsigned q) const;
  std::uint32_t tail(unsigned q) const { return queues_[q].tail; }
  void write_tail(unsigned q, std::uint32_t tail, const base::Journey& doorbell);
  /// Continues after DESC_CONTROL_TX_ENABLE was set.
  void go_on() { pump(); }

  void reset(bool forget_reads);

  base::Time pipeline_busy() const { return busy_; }
  const Limited& limited() const { return limited_; }

 private:
  static constexpr unsigned kMostFetches = 8;

  struct Fetch {
    std::uint64_t first = 0;
    std::uint32_t count = 0;
    bool done = false;
    base::Time arrived;
    base::Journey journey;
  };
  /// What the descriptors of the next frame say together.
  struct Shape {
    bool good = false;
    bool complete = false;  ///< the last one is on chip
    bool report = false;    ///< RS
    bool stamp = false;     ///< STAMP
    std::uint32_t pieces = 0;
    std::uint32_t bytes = 0;
  };
  /// Arrival of the doorbell, or of the fetch, of the descriptors below `end`.
  struct Arrival {
    std::uint64_t end = 0;
    base::Time arrived;
    base::Journey journey;
  };
  struct Queue {
    Registers registers;
    bool enabled = false;
    bool failed = false;
    bool skipping = false;  ///< until the EOP of a malformed frame
    std::uint32_t tail = 0;

    std::uint64_t posted = 0;
    std::uint64_t requested = 0;
    std::uint64_t fetched = 0;
    std::uint64_t next = 0;  ///< first descriptor of the next frame
    std::uint64_t completed = 0;
    unsigned frames = 0;  ///< complete ones among the descriptors on chip
    std::vector<desc_tx> cache;
    std::array<Fetch, kMostFetches> fetches;
    std::uint64_t fetch_head = 0;
    std::uint64_t fetch_tail = 0;
    base::Ring<Arrival> doorbells;
    base::Ring<Arrival> fetch_arrivals;
    base::Calendar::Handle fetch_timer;
    unsigned in_flight = 0;  ///< frames being read or waiting for the MAC
    DoorbellSites doorbell_sites;
  };
  /// A frame from its first DMA read until the MAC takes it. Slots are in the order of the frames' turns.
  struct Slot {
    unsigned queue = 0;
    unsigned reads = 0;  ///< in flight
    bool good = true;
    bool report = false;
    bool stamp = false;
    unsigned stamp_entry = 0;
    std::uint64_t first_command = 0;
    std::uint64_t last_descriptor = 0;
    net::PacketPtr packet;
    base::Time fetched;  ///< when its last descriptor was on chip
    base::Time rung;     ///< when its doorbell arrived
    base::Journey doorbell;
    base::Journey fetch;
  };

  bool active(unsigned q) const;
  void fetch(unsigned q);
  void fetched(unsigned q, std::uint32_t generation, std::uint64_t fetch, const pcie::DmaCompletion&);
  void fail(unsigned q);
  void update_ready(unsigned q);
  void pump();
  Shape shape(const Queue&) const;
  void refuse_frame(unsigned q, const Queue&, const Shape&);
  std::string flaw(const Queue&, const Shape&) const;
  bool start(unsigned q);
  static void note_arrivals(Queue&, Slot&);
  void read_pieces(const Queue&, Slot&, std::uint32_t slot);
  void piece_read(std::uint32_t slot, std::uint32_t generation, std::uint32_t offset, std::uint32_t bytes,
                  const pcie::DmaCompletion&);
  static void note_requests(net::Packet&, std::uint32_t offset, std::uint32_t bytes, const pcie::DmaCompletion&);
  void queue_until(base::RequestId, base::Time since, const base::Journey& next) const;
  void apply_journeys(const Slot&, const base::Journey& read);
  void retire();
  void send(Slot&, base::Time ready);
  static void leave_sent_requests(base::Spans&);
  static bool insert_checksums(Slot&);
  void report(unsigned q, std::uint64_t descriptor);

  Slot& slot(std::uint64_t n) { return slots_[n % slots_.size()]; }

  DescriptorNic& nic_;
  Limited limited_;
  std::vector<Queue> queues_;
  std::uint64_t ready_ = 0;  ///< bit q: queue q has a frame to read
  unsigned last_ = 0;
  std::vector<Slot> slots_;
  std::uint64_t slot_head_ = 0;  ///< oldest frame in flight
  std::uint64_t slot_tail_ = 0;
  std::uint64_t buffer_used_ = 0;
  base::Time busy_;     ///< for all turns
  base::Server turns_;  ///< gives frames their turns, tx_interval apart
  base::Calendar::Handle wake_;
  base::Calendar::Handle retry_;
  std::vector<net::PacketPtr> orphans_;  ///< buffers of reads in flight across a reset
  unsigned orphan_reads_ = 0;
  std::uint32_t generation_ = 0;
};

}  // namespace sluice::nic
