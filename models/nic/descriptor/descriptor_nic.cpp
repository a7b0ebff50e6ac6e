// SPDX-License-Identifier: Apache-2.0
#include "models/nic/descriptor/descriptor_nic.h"

#include <utility>

#include <fmt/format.h>

#include "models/net/frame.h"
#include "models/nic/rpc_decoder/device_registers.h"

namespace sluice::nic {

namespace {

pcie::Endpoint::Function function_of(const DescriptorParameters& p) {
  pcie::Endpoint::Function f;
  f.identity = {DESC_VENDOR_ID, DESC_DEVICE_ID, DESC_CLASS_CODE, 1, DESC_VENDOR_ID, DESC_DEVICE_ID};
  f.bars[DESC_BAR_REGISTERS] = {pcie::Bar::Kind::kMemory64, true, DESC_BAR0_SIZE};
  f.bars[DESC_BAR_MSIX] = {pcie::Bar::Kind::kMemory64, true, DESC_BAR2_SIZE};
  f.msix = {p.queues + 1, DESC_BAR_MSIX, DESC_MSIX_TABLE_OFFSET, DESC_BAR_MSIX, DESC_MSIX_PBA_OFFSET};
  f.intx = true;
  return f;
}

}  // namespace

DescriptorNic::DescriptorNic(sc_core::sc_module_name name, const Parameters& p, net::Wire& wire, net::Wire::End end)
    : PcieNic(name, p.pcie, function_of(p)),
      parameters_(p),
      mac_(base::module_name(path() + ".mac").c_str(), p.mac, wire, end),
      bank_(path(), DESC_BAR0_SIZE),
      vectors_(p.queues + 1, key()),
      stamps_(key()),
      receive_(*this),
      transmit_(*this) {
  address_ = board_address();
  mac_.set_client(*this);
  mac_.set_max_frame(max_frame_);
  const pcie::ArrivalStage stage{SLUICE_STAGE_interrupt, component(), true};
  vectors_.send = [this, stage](unsigned v, const base::Spans& requests) {
    ++counts_[DESC_STAT_INTERRUPTS];
    enter_notify(requests);
    msix(v, requests, stage);
  };
  vectors_.set_line = [this, stage](bool level, const base::Spans& requests) {
    enter_notify(requests);
    intx(level, requests, stage);
  };
  declare_device_registers();
  declare_stamp_registers();
  declare_rss_registers();
  declare_udp_rule_registers();
  declare_vector_registers();
  declare_statistic_registers();
  declare_receive_registers();
  declare_transmit_registers();
  if (Steering* steering = receive_.steering()) rpc::declare_registers(steering->decoder(), bank_, DESC_RPC_DECODER);
}

std::uint64_t DescriptorNic::board_address() const {
  const net::MacAddress mac = net::parse_host_mac(parameters_.address);
  std::uint64_t address = 0;
  for (unsigned octet = 0; octet < 6; ++octet) address |= std::uint64_t{mac.bytes[octet]} << 8 * octet;
  return address;
}

void DescriptorNic::mac_received(net::PacketPtr packet, base::Time available) {
  receive_.accept(std::move(packet), available);
}

void DescriptorNic::mac_dropped(Drop why) {
  ++counts_[why == Drop::kFcs ? DESC_STAT_RX_DROP_FCS : DESC_STAT_RX_DROP_LENGTH];
}

void DescriptorNic::link_changed(bool up) {
  if (!up) stamps_.carrier_lost();
  ++counts_[DESC_STAT_LINK_CHANGES];
  vectors_.cause(link_cause_);
}

void DescriptorNic::drop_received(const net::Packet& packet, unsigned statistic, const char* reason) {
  ++counts_[statistic];
  base::drop_all(packet.spans, reason, base::now());
}

/// Requests that came while the vector was masked have waited for a core so far; from now on they wait for the
/// interrupt.
void DescriptorNic::enter_notify(const base::Spans& requests) {
  for (const base::Span& s : requests) {
    const base::Ledger::Request* r = base::ledger().find(s.id);
    if (r && r->tiles.back().stage == SLUICE_STAGE_wait_core)
      base::ledger().enter(s.id, SLUICE_STAGE_notify, component(), base::now(), {}, kInterrupts);
  }
}

void DescriptorNic::error(std::uint32_t bit, unsigned queue, const std::string& what, const base::Site& by) {
  if (errors_ == 0) error_queue_ = queue;
  errors_ |= bit;
  if (!what.empty()) base::mistakes().report(path() + ": " + what, by);
}

/// Reports a doorbell that is ignored. free: descriptors of the enabled ring that software may still give.
void DescriptorNic::tail_error(const char* direction, unsigned queue, std::uint32_t tail, std::uint32_t length,
                               bool enabled, std::uint64_t free) {
  std::string why = "the ring is not enabled";
  if (enabled && tail >= length)
    why = fmt::format("the ring has {} descriptors, 0 to {}", length, length - 1);
  else if (enabled)
    why = fmt::format("it gives more than the {} descriptors that are free", free);
  error(DESC_ERROR_TAIL, queue, fmt::format("{} queue {}: tail {} is ignored, {}", direction, queue, tail, why));
}

void DescriptorNic::read_ended() {
  if (--reads_ == 0) resetting_ = false;
}

void DescriptorNic::function_reset() { reset_device(true); }

void DescriptorNic::config_written(unsigned) { vectors_.use_messages(msix_enabled()); }

void DescriptorNic::reset_device(bool forget_reads) {
  receive_.reset();
  transmit_.reset(forget_reads);
  vectors_.reset();
  stamps_.reset();
  if (forget_reads) {
    reads_ = 0;
    vectors_.use_messages(false);
  }
  resetting_ = reads_ != 0;
  control_ = 0;
  mac_.set_loopback(net::Mac::Loopback::none);
  address_ = board_address();
  max_frame_ = DESC_MAX_FRAME_RESET;
  mac_.set_max_frame(max_frame_);
  link_cause_ = 0;
  errors_ = 0;
  error_queue_ = 0;
  time_high_ = 0;
  statistic_high_ = {};
}

void DescriptorNic::register_statistics(base::StatisticsGroup& group) {
  struct Entry {
    unsigned number;
    const char* name;
    const char* unit;
    const char* meaning;
  };
  static constexpr Entry entries[] = {
      {DESC_STAT_RX_PACKETS, "rx_packets", "frames", "delivered to a ring"},
      {DESC_STAT_RX_BYTES, "rx_bytes", "bytes", "of those, without FCS"},
      {DESC_STAT_RX_DROP_FIFO, "rx_drop_fifo", "frames", "dropped: receive FIFO full"},
      {DESC_STAT_RX_DROP_NO_QUEUE, "rx_drop_no_queue", "frames", "dropped: no enabled queue"},
      {DESC_STAT_RX_DROP_LENGTH, "rx_drop_length", "frames", "dropped: too short or too long"},
      {DESC_STAT_RX_DROP_FCS, "rx_drop_fcs", "frames", "dropped: wrong FCS"},
      {DESC_STAT_RX_DROP_ADDRESS, "rx_drop_address", "frames", "dropped: to another station"},
      {DESC_STAT_RX_DROP_DISABLED, "rx_drop_disabled", "frames", "dropped: receive disabled or NIC reset"},
      {DESC_STAT_RX_DROP_DMA, "rx_drop_dma", "frames", "dropped: DMA failed"},
      {DESC_STAT_RX_CHECKSUM_IP, "rx_checksum_ip", "frames", "delivered with a wrong IPv4 checksum"},
      {DESC_STAT_RX_CHECKSUM_UDP, "rx_checksum_udp", "frames", "delivered with a wrong UDP checksum"},
      {DESC_STAT_TX_PACKETS, "tx_packets", "frames", "handed to the MAC"},
      {DESC_STAT_TX_BYTES, "tx_bytes", "bytes", "of those, without FCS"},
      {DESC_STAT_TX_DROP_DESCRIPTOR, "tx_drop_descriptor", "frames", "dropped: malformed descriptor"},
      {DESC_STAT_TX_DROP_DMA, "tx_drop_dma", "frames", "dropped: DMA failed"},
      {DESC_STAT_TX_DROP_LINK, "tx_drop_link", "frames", "dropped: link down"},
      {DESC_STAT_INTERRUPTS, "interrupts", "messages", "MSI-X messages asked for"},
      {DESC_STAT_BAD_ACCESS, "bad_access", "accesses", "illegal register accesses"},
      {DESC_STAT_LINK_CHANGES, "link_changes", "changes", "of the carrier"},
  };
  static_assert(std::size(entries) == DESC_STAT_COUNT);
  for (const Entry& e : entries) group.counter(e.name, e.unit, e.meaning, counts_[e.number]);
  const ReceiveEngine::Limited& rx = receive_.limited();
  group.counter("rx_limited_by_cache", "fetches", "of descriptors that rx_cache put off or cut short", rx.by_cache);
  group.counter("rx_limited_by_batch", "fetches", "of descriptors that rx_fetch_batch cut short", rx.by_batch);
  group.counter("rx_below_batch", "fetches", "of less than a batch, made or put off by rx_fetch_threshold",
                rx.by_threshold);
  group.counter("rx_limited_by_writes", "times", "that rx_writes made frames wait", rx.by_writes);
  group.counter("rx_full_writebacks", "write-backs", "of writeback_batch descriptors", rx.by_writeback);
  group.counter("rx_late_writebacks", "write-backs", "at the end of writeback_timeout", rx.by_timeout);
  if (Steering* steering = receive_.steering()) rpc::register_statistics(steering->decoder(), group);
  const TransmitEngine::Limited& tx = transmit_.limited();
  group.counter("tx_limited_by_cache", "fetches", "of descriptors that tx_cache put off or cut short", tx.by_cache);
  group.counter("tx_limited_by_batch", "fetches", "of descriptors that tx_fetch_batch cut short", tx.by_batch);
  group.counter("tx_limited_by_fetches", "fetches", "of descriptors that tx_fetches put off", tx.by_fetches);
  group.counter("tx_limited_by_frames", "times", "that tx_frames made frames wait", tx.by_frames);
  group.counter("tx_limited_by_buffer", "times", "that tx_buffer made frames wait", tx.by_buffer);
  group.counter("tx_limited_by_mac_fifo", "times", "that tx_mac_fifo made frames wait", tx.by_mac_fifo);
  group.resource("rx_busy", "receive pipeline", "its turns for frames",
                 [this] { return receive_.pipeline_busy().femtoseconds(); });
  group.resource("tx_busy", "transmit pipeline", "its turns for frames",
                 [this] { return transmit_.pipeline_busy().femtoseconds(); });
}

}  // namespace sluice::nic
