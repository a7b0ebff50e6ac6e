// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Multi-queue NIC with descriptor rings in host memory, in the manner of Intel's E810.

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "models/base/registers/register_bank.h"
#include "models/net/mac.h"
#include "models/nic/descriptor/descriptor_regs.h"
#include "models/nic/descriptor/parameters.h"
#include "models/nic/descriptor/receive.h"
#include "models/nic/descriptor/stamps.h"
#include "models/nic/descriptor/transmit.h"
#include "models/nic/descriptor/vectors.h"
#include "models/nic/nic.h"

namespace sluice::nic {

/// Registers, descriptors and what software may rely on: descriptor_regs.h. docs/models/nic-descriptor.md says how
/// frames pass, what takes time, and which ledger stage each delay belongs to.
class DescriptorNic : public PcieNic, private net::Mac::Client {
 public:
  using Parameters = DescriptorParameters;

  /// Attaches its MAC ("<path>.mac") to the wire's end; port() is to be bound by Link::connect().
  DescriptorNic(sc_core::sc_module_name, const Parameters&, net::Wire&, net::Wire::End);

  const Parameters& parameters() const { return parameters_; }
  net::Mac& mac() override { return mac_; }
  /// n: DESC_STAT_*.
  std::uint64_t statistic(unsigned n) const { return counts_[n]; }

 private:
  void register_statistics(base::StatisticsGroup&) override;
  friend class ReceiveEngine;
  friend class TransmitEngine;

  /// Of a request for which an interrupt is on its way.
  static constexpr base::Mark kInterrupts{{SLUICE_STEP_interrupt}, base::Owner::nic};

  // The function, seen from PCIe.
  void mmio_read(unsigned bar, std::uint64_t offset, unsigned size, pcie::MmioReply reply) override;
  void mmio_write(unsigned bar, std::uint64_t offset, std::span<const std::uint8_t> data,
                  const base::Journey& journey) override;
  void function_reset() override;
  void config_written(unsigned reg) override;
  void clock_stopped(bool stopped) override { mac_.set_stopped(stopped); }

  // The station, seen from the wire.
  void mac_received(net::PacketPtr, base::Time available) override;
  void mac_dropped(Drop) override;
  void link_changed(bool up) override;

  // Services to the engines.
  std::uint64_t& count(unsigned n) { return counts_[n]; }
  /// Sets a bit of DESC_ERRORS, and reports what software did wrong: "transmit queue 0: tail 70 is ...". what: empty
  /// where the cause has already been reported, as for a failed DMA.
  void error(std::uint32_t bit, unsigned queue, const std::string& what = {},
             const base::Site& by = base::access_site());
  void tail_error(const char* direction, unsigned queue, std::uint32_t tail, std::uint32_t length, bool enabled,
                  std::uint64_t free);
  void enter_notify(const base::Spans& requests);
  void drop_received(const net::Packet&, unsigned statistic, const char* reason);
  bool bus_master() { return config().bus_master(); }
  // DMA reads that must end before a reset is done. Writes need no count: software learns of the end of the reset by a
  // register read, whose completion cannot pass them.
  void read_begins() { ++reads_; }
  void read_ended();
  base::Ledger::Component link_component() { return port().link() ? port().link()->component() : component(); }

  // Registers: descriptor_registers.cpp.
  using Read = base::RegisterDeclaration::ReadCallback;
  using Write = base::RegisterDeclaration::WriteCallback;
  void add_register(const char* name, std::uint64_t offset, Read, Write, unsigned elements = 1,
                    std::uint64_t stride = 0);
  /// Adds the register of the low half of a 64-bit value. Reading it latches the high half; `peek` reads it without
  /// latching.
  void add_latch(const char* name, std::uint64_t offset, Read, Read peek, unsigned elements = 1,
                 std::uint64_t stride = 0);
  void declare_device_registers();
  void declare_stamp_registers();
  void declare_rss_registers();
  void declare_udp_rule_registers();
  void declare_vector_registers();
  void declare_statistic_registers();
  void declare_receive_registers();
  void declare_transmit_registers();
  std::uint32_t capabilities() const;
  bool ignored_while_busy(const char* direction, bool busy, const char* reg, unsigned queue);
  bool good_cause(const std::string& reg, std::uint32_t value, unsigned queue);
  bool good_length(const std::string& reg, std::uint64_t value, unsigned queue);
  std::uint64_t cut_base(const std::string& reg, std::uint64_t value);
  void write_control(std::uint32_t value);

  /// Resets everything in BAR 0 except statistics. forget_reads: the DMA engine will not report reads in flight.
  void reset_device(bool forget_reads);
  std::uint64_t board_address() const;

  Parameters parameters_;
  net::Mac mac_;
  base::RegisterBank bank_;  ///< every register of BAR 0: descriptor_registers.cpp declares them by group
  Vectors vectors_;
  Stamps stamps_;
  std::array<std::uint64_t, DESC_STAT_COUNT> counts_{};

  // Values of the device registers: control, mac, max_frame, link_interrupt, errors, error_queue_first, and the halves
  // that reads of time_low and stat_low latch for time_high and stat_high. The engines hold the values of ring and RSS
  // registers, vectors_ those of the vectors, and stamps_ those of the stamps.
  std::uint32_t control_ = 0;
  std::uint64_t address_ = 0;  ///< station address, octet 0 in bits 7:0
  std::uint32_t max_frame_ = DESC_MAX_FRAME_RESET;
  std::uint32_t link_cause_ = 0;
  std::uint32_t errors_ = 0;
  std::uint32_t error_queue_ = 0;
  std::uint32_t time_high_ = 0;
  std::array<std::uint32_t, DESC_STAT_COUNT> statistic_high_{};
  const base::Journey* doorbell_ = nullptr;  ///< of the register write under way

  unsigned reads_ = 0;  ///< DMA reads in flight
  bool resetting_ = false;

  ReceiveEngine receive_;
  TransmitEngine transmit_;
};

}  // namespace sluice::nic
