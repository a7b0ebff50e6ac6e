// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The NIC's receive side: parser, queue choice, FIFO, free list, DMA of frames, write-back of descriptors.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "models/base/fabric/ring.h"
#include "models/base/fabric/server.h"
#include "models/base/time/calendar.h"
#include "models/net/headers.h"
#include "models/net/packet.h"
#include "models/net/toeplitz.h"
#include "models/nic/descriptor/descriptor_regs.h"
#include "models/nic/descriptor/doorbell_sites.h"
#include "models/nic/descriptor/steering.h"
#include "models/nic/descriptor/udp_rules.h"
#include "models/pcie/endpoint/endpoint.h"

namespace sluice::nic {

class DescriptorNic;

class ReceiveEngine {
 public:
  /// The registers of one ring that software may write only while the ring is disabled.
  struct Registers {
    std::uint64_t base = 0;
    std::uint32_t length = 0;
    std::uint32_t buffer = DESC_RX_BUFFER_RESET;
    std::uint32_t cause = 0;
  };

  /// How often a parameter limited what the engine did.
  struct Limited {
    std::uint64_t by_cache = 0;      ///< rx_cache: fetches
    std::uint64_t by_batch = 0;      ///< rx_fetch_batch: fetches
    std::uint64_t by_threshold = 0;  ///< fetches of less than a batch, for which rx_fetch_threshold counts
    std::uint64_t by_writes = 0;     ///< rx_writes: frames' turns
    std::uint64_t by_writeback = 0;  ///< writeback_batch: write-backs
    std::uint64_t by_timeout = 0;    ///< writeback_timeout: write-backs
  };

  explicit ReceiveEngine(DescriptorNic& nic);

  /// Takes a good frame that leaves the MAC at `available`.
  void accept(net::PacketPtr, base::Time available);

  // Software's view.
  Registers& registers(unsigned q) { return queues_[q].registers; }
  const Registers& registers(unsigned q) const { return queues_[q].registers; }
  /// Whether the queue's registers are locked, because it is enabled or still stopping.
  bool busy(unsigned q) const { return queues_[q].enabled || active(q); }
  std::uint32_t control(unsigned q) const;
  void set_enabled(unsigned q, bool on);
  std::uint32_t head(unsigned q) const;
  std::uint32_t tail(unsigned q) const { return queues_[q].tail; }
  void write_tail(unsigned q, std::uint32_t tail);
  std::uint32_t drops(unsigned q) const { return queues_[q].drops; }
  void set_rss_control(std::uint32_t value) { rss_control_ = value; }
  std::uint32_t rss_control() const { return rss_control_; }
  std::uint32_t rss_key(unsigned word) const;
  void set_rss_key(unsigned word, std::uint32_t value);
  std::uint32_t rss_table(unsigned word) const;
  void set_rss_table(unsigned word, std::uint32_t value);
  std::uint32_t udp_rule(unsigned rule) const { return udp_rules_.read(rule); }
  void set_udp_rule(unsigned rule, std::uint32_t value) { udp_rules_.write(rule, value); }

  /// Forgets everything.
  void reset();

  /// Null without a decoder.
  Steering* steering() const { return steering_.get(); }
  base::Time pipeline_busy() const { return busy_; }
  const Limited& limited() const { return limited_; }

 private:
  /// A parsed frame and what its descriptor will say.
  struct Frame {
    net::PacketPtr packet;
    desc_rx_writeback report{};
  };
  struct Fetch {
    std::uint64_t first = 0;
    std::uint32_t count = 0;
    bool done = false;
  };
  /// A descriptor that waits for its write-back.
  struct PendingWriteback {
    desc_rx_writeback report{};
    base::Spans spans;
  };
  static constexpr unsigned kMostWriteback = 8;
  static constexpr unsigned kMostFetches = 8;

  /// Descriptors are numbered from 0 since the ring was enabled; number n lies at n modulo the ring's length.
  struct Queue {
    Registers registers;
    bool enabled = false;
    /// A descriptor read has failed: until the queue is enabled again, only frames that already have a descriptor are
    /// delivered.
    bool failed = false;
    bool stopped = false;  ///< failed, and bus mastering was off when the queue was to write
    std::uint32_t tail = 0;
    std::uint32_t drops = 0;

    std::uint64_t posted = 0;          ///< descriptors below this were given by software
    std::uint64_t requested = 0;       ///< descriptors below this are read or being read
    std::uint64_t fetched = 0;         ///< descriptors below this are on chip or used
    std::uint64_t next = 0;            ///< descriptors below this are assigned to frames
    std::uint64_t written = 0;         ///< descriptors below this are written back
    std::vector<std::uint64_t> cache;  ///< buffer addresses
    std::array<Fetch, kMostFetches> fetches;
    std::uint64_t fetch_head = 0;
    std::uint64_t fetch_tail = 0;

    base::Ring<Frame> frames;
    unsigned in_pipeline = 0;  ///< frames that have a descriptor and are not yet written
    std::array<PendingWriteback, kMostWriteback> done;
    unsigned done_count = 0;
    unsigned span_count = 0;
    base::Calendar::Handle timer;
    DoorbellSites doorbell_sites;
  };
  /// A frame between its turn (turns_) and its DMA write.
  struct Transit {
    unsigned queue = 0;
    std::uint64_t descriptor = 0;
    std::uint64_t address = 0;
    Frame frame;
  };

  bool active(unsigned q) const;
  /// queue: what the decoder says.
  void parsed(net::PacketPtr, base::Time available, std::uint32_t generation, std::optional<unsigned> queue = {});
  bool for_us(const std::uint8_t* destination) const;
  unsigned classify(const net::Packet&, desc_rx_writeback&);
  void admit(unsigned q, Frame);
  void refill(unsigned q);
  void fetched(unsigned q, std::uint32_t generation, std::uint64_t fetch, const pcie::DmaCompletion&);
  void update_ready(unsigned q);
  void pump();
  void start(unsigned q);
  void deliver(std::uint32_t generation);
  void sent(unsigned q, std::uint32_t generation, std::uint64_t descriptor, std::uint32_t bytes);
  void released(std::uint32_t bytes);
  bool write_back_due(const Queue&);
  /// frame_bytes: length of the frame whose bytes were written just before; this write-back frees its FIFO space. 0:
  /// there was no such frame, or its own write frees the space.
  void write_back(unsigned q, std::uint32_t frame_bytes);
  void fail(unsigned q);
  void stop(unsigned q);
  void discard_reports(Queue&, unsigned statistic, const char* reason);
  void discard_frames(Queue&, unsigned statistic, const char* reason);

  DescriptorNic& nic_;
  std::unique_ptr<Steering> steering_;
  Limited limited_;
  std::vector<Queue> queues_;
  UdpRules udp_rules_;
  net::Toeplitz toeplitz_;
  bool key_changed_ = false;
  std::array<std::uint8_t, net::Toeplitz::kKeyOctets> rss_key_{};
  std::array<std::uint8_t, DESC_RSS_TABLE_ENTRIES> rss_table_{};
  std::uint32_t rss_control_ = 0;

  std::uint64_t fifo_used_ = 0;
  std::uint64_t ready_ = 0;  ///< bit q: queue q has a frame and a descriptor
  unsigned last_ = 0;        ///< queue that had the last turn
  unsigned writes_ = 0;      ///< frames past their turn whose write has not left
  base::Time busy_;          ///< for all turns
  base::Server turns_;       ///< gives frames their turns, rx_interval apart
  base::Calendar::Handle wake_;
  base::Ring<Transit> pipeline_;
  std::uint32_t generation_ = 0;  ///< counts resets: callbacks from before the last one do nothing
};

}  // namespace sluice::nic
