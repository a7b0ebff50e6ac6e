// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What the forms of the PIO NIC share: the MAC, the pipelines between it and the packet buffers, time stamps and
/// registers.

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "models/base/measure/mistakes.h"
#include "models/base/registers/register_bank.h"
#include "models/base/time/callback.h"
#include "models/nic/lines/packet_buffer.h"
#include "models/nic/pio/parameters.h"

namespace sluice::nic {

/// One frame that went through the NIC twice, as the software that measures has stamped it: cycles of the NIC's clock.
struct PioSample {
  std::uint32_t bytes = 0;
  std::uint64_t round_trip = 0;  ///< of a read of PIO_COUNTER
  std::uint64_t host_got_tx_buffer = 0, after_tx_commit = 0, after_dma_read = 0, exit = 0;
  std::uint64_t entry = 0, after_rx_queue = 0, after_dma_write = 0, read_start = 0, after_read = 0,
                host_read_complete = 0;
};

class PioCore : private net::Mac::Client {
 public:
  static constexpr std::uint32_t kLongestFrame = 9618;  ///< bytes without FCS

  /// path: of the NIC. key: orders its calendar entries.
  PioCore(std::string path, base::ComponentKey key, const PioParameters&, net::Wire&, net::Wire::End);

  const std::string& path() const { return path_; }
  net::Mac& mac() { return mac_; }
  base::RegisterBank& registers() { return bank_; }
  const base::Clock& clock() const { return clock_; }  ///< whose cycles time stamps count
  /// How long a receive may be held back.
  base::Time receive_block() const { return block_; }
  const std::vector<PioSample>& samples() const { return samples_; }
  /// Most frames of so many bytes that wait for the host.
  static std::uint64_t buffered_frames(const PioParameters& p, std::uint64_t frame_bytes) {
    return PacketBuffer(p.rx_buffer.count()).buffers_for(frame_bytes);
  }
  void register_statistics(base::StatisticsGroup&);
  void reset();

  // Receive.
  /// Called when a frame is in the packet buffer, at now().
  base::Callback<void()> on_frame;
  bool has_frame() const { return !ready_.empty(); }
  const net::Packet& frame() const { return *ready_.front().packet; }
  /// The host's receive has arrived, or is answered with the first frame.
  void stamp_read_start();
  void stamp_read();
  /// A frame that the host has been given, until its buffer is free.
  struct Given {
    net::PacketPtr packet;
    std::uint32_t buffer;  ///< offset
  };
  /// Takes out the first frame.
  Given take_frame();
  /// The host has done with a frame.
  void free_buffer(std::uint32_t offset) { buffer_.free(offset); }
  /// The host has done with the first frame.
  void release_frame() { free_buffer(take_frame().buffer); }
  void count_nack() { ++rx_nacks_; }

  // Transmit.
  void stamp_commit();
  /// The packet buffer has the whole frame, at now(). Returns when the frame has left it. of: the ledger's request that
  /// the frame is the reply to; 0: none.
  base::Time transmit(net::PacketPtr, base::RequestId of);
  /// Software committed a length that is no frame's.
  void bad_length(std::uint64_t length, const base::Site& by);
  /// Software committed what cannot be sent. what: a sentence without the NIC's name.
  void bad_commit(const std::string& what, const base::Site& by);

 private:
  /// A frame that the MAC has handed over, or is about to.
  struct Received {
    net::PacketPtr packet;
    std::uint32_t buffer;  ///< offset
    std::uint64_t entry, after_queue, after_write;
    bool is_queued = false;
  };

  void mac_received(net::PacketPtr, base::Time available) override;
  void mac_dropped(Drop) override {}
  void link_changed(bool) override {}
  void enter(const base::Spans&, base::Stage, base::StepSet = {}) const;
  void enter_queue();
  void declare_registers();
  void add_stamp(const char* name, std::uint64_t offset, std::uint64_t PioSample::*);
  void add_host_stamp(const char* name, std::uint64_t offset, std::uint64_t PioSample::*);
  std::uint64_t cycles(base::Time t) const { return clock_.cycles_at(t); }

  const std::string path_;
  const base::ComponentKey key_;
  const base::Ledger::Component component_;
  const PioParameters parameters_;
  const base::Clock clock_;
  net::Mac mac_;
  base::RegisterBank bank_;
  PacketBuffer buffer_;
  std::deque<Received> arriving_;  ///< in the pipeline
  std::deque<Received> ready_;     ///< in the packet buffer
  std::uint64_t generation_ = 0;   ///< counts resets: frames of an earlier one are gone
  base::Time queue_free_, stream_free_, tx_stream_free_, tx_queue_free_;
  base::Time block_;
  PioSample stamps_;
  std::vector<PioSample> samples_;
  std::uint64_t rx_frames_ = 0, rx_dropped_ = 0, rx_nacks_ = 0, tx_frames_ = 0, tx_errors_ = 0;
};

/// Every form of the PIO NIC.
class PioNic {
 public:
  virtual ~PioNic() = default;
  virtual const PioCore& core() const = 0;
};

}  // namespace sluice::nic
