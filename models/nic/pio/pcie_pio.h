// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The PIO NIC on PCIe: the host reads and writes frames in a packet buffer behind a BAR, and asks for them, and gives
/// them back, by registers.

#include <cstdint>
#include <deque>
#include <set>
#include <vector>

#include "models/base/time/calendar.h"
#include "models/nic/nic.h"
#include "models/nic/pio/pio_core.h"

namespace sluice::nic {

struct PciePioParameters {
  pcie::Endpoint::Parameters pcie;
  PioParameters pio = pipelines();
  base::Time read = 0_ns;
  static void describe(base::Schema<PciePioParameters>&);

 private:
  static PioParameters pipelines();
};

/// Receive: a read of PIO_HOST_RX_NEXT is held back until a frame is in the packet buffer. Transmit: the host writes a
/// frame into the buffer that PIO_HOST_TX names, and its length to PIO_HOST_TX_ACK. docs/models/nic-pio.md.
class PciePio : public PcieNic, public PioNic {
 public:
  using Parameters = PciePioParameters;

  PciePio(sc_core::sc_module_name, const Parameters&, net::Wire&, net::Wire::End);

  net::Mac& mac() override { return core_.mac(); }
  const PioCore& core() const override { return core_; }
  base::RegisterBank& registers() { return core_.registers(); }
  static std::uint64_t buffered_frames(const Parameters& p, std::uint64_t frame_bytes) {
    return PioCore::buffered_frames(p.pio, frame_bytes);
  }

 private:
  void register_statistics(base::StatisticsGroup&) override;
  void mmio_read(unsigned bar, std::uint64_t offset, unsigned size, pcie::MmioReply reply) override;
  void mmio_write(unsigned bar, std::uint64_t offset, std::span<const std::uint8_t> data,
                  const base::Journey& journey) override;
  void function_reset() override;
  void clock_stopped(bool stopped) override { mac().set_stopped(stopped); }

  /// A read on its way to the register or the packet buffer.
  struct Read {
    std::uint64_t offset;
    unsigned size;
    pcie::MmioReply reply;
    base::Site by;
  };
  void read(const Read&);
  std::uint8_t* packet_bytes(std::uint64_t offset, std::uint64_t size);
  void declare_registers();
  // Receive.
  void receive_requested(pcie::MmioReply reply);
  void give_frame();
  void answer(std::uint64_t word, base::RequestId of = 0);
  void acknowledge_receive(const base::RegisterWrite&);
  // Transmit.
  std::uint64_t transmit_buffer() const;
  void acknowledge_transmit(const base::RegisterWrite&);

  const base::Time read_;
  PioCore core_;
  std::vector<std::uint8_t> memory_;  ///< the packet buffer: receive, then transmit
  const std::uint32_t tx_buffer_;     ///< offset in it
  std::deque<Read> arriving_;
  std::uint64_t resets_ = 0;

  const base::Journey* write_journey_ = nullptr;  ///< of the write to a register that is taken now
  bool is_receiving_ = false;                     ///< a read of PIO_HOST_RX_NEXT waits for its answer
  pcie::MmioReply receive_;
  base::Calendar::Handle receive_timer_;
  std::set<std::uint32_t> given_;  ///< offsets of frames that the host has not given back
  base::Time tx_free_;             ///< when the transmit buffer is free
  std::uint64_t reads_ = 0, acknowledge_errors_ = 0;
};

}  // namespace sluice::nic
