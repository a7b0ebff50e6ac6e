// SPDX-License-Identifier: Apache-2.0
/// A NIC without rings or interrupts: software reads the oldest frame from its BAR, and writes there what it sends. A
/// plug-in of test_nic_kinds.py.
#include <array>
#include <cstring>
#include <deque>

#include "mailbox_regs.h"
#include "platform/plugin/plugin.h"
using namespace sluice;

struct MailboxParameters {
  std::string address = "02:00:00:00:00:0b";
  net::Mac::Parameters mac;
  pcie::Endpoint::Parameters pcie;
  static void describe(base::Schema<MailboxParameters>& s) {
    s.summary("NIC with room for a frame");
    s.add("address", &MailboxParameters::address, "station address").setting();
    s.include("mac", &MailboxParameters::mac);
    s.include("pcie", &MailboxParameters::pcie);
  }
};

class Mailbox : public nic::PcieNic, private net::Mac::Client {
 public:
  using Parameters = MailboxParameters;
  Mailbox(sc_core::sc_module_name name, const Parameters& p, net::Wire& wire, net::Wire::End end)
      : PcieNic(name, p.pcie, function()),
        address_(net::parse_mac(p.address)),
        mac_(base::module_name(path() + ".mac").c_str(), p.mac, wire, end) {
    mac_.set_client(*this);
  }
  net::Mac& mac() override { return mac_; }
  void register_statistics(base::StatisticsGroup& group) override {
    group.counter("taken", "frames", "that software has read", taken_);
    group.counter("sent", "frames", "that software has written", sent_);
  }

 private:
  static Function function() {
    Function f;
    f.identity = {.vendor = MAILBOX_VENDOR_ID, .device = MAILBOX_DEVICE_ID, .class_code = 0x020000};
    f.bars[0] = {pcie::Bar::Kind::kMemory64, true, MAILBOX_BAR_SIZE};
    return f;
  }
  struct Waiting {
    net::PacketPtr packet;
    base::Time available;
  };
  const net::Packet* oldest() const {
    return waiting_.empty() || waiting_.front().available > base::now() ? nullptr : waiting_.front().packet.get();
  }
  void mac_received(net::PacketPtr p, base::Time available) override { waiting_.push_back({std::move(p), available}); }
  void mac_dropped(Drop) override {}
  void link_changed(bool) override {}
  void mmio_read(unsigned, std::uint64_t at, unsigned size, pcie::MmioReply reply) override {
    std::uint64_t value = 0;
    if (size > sizeof value) return reply.unsupported();
    const net::Packet* p = oldest();
    if (at == MAILBOX_RECEIVED && p) value = p->length;
    if (at == MAILBOX_ADDRESS) std::memcpy(&value, address_.bytes.data(), address_.bytes.size());
    if (p && at >= MAILBOX_RX && at + size <= MAILBOX_RX + net::Packet::kCapacity && at < MAILBOX_TX)
      std::memcpy(&value, p->bytes + (at - MAILBOX_RX), size);
    reply.value(value);
  }
  void mmio_write(unsigned, std::uint64_t at, std::span<const std::uint8_t> data, const base::Journey&) override {
    std::uint64_t value = 0;
    if (data.size() > sizeof value) return;
    std::memcpy(&value, data.data(), data.size());
    if (at == MAILBOX_RECEIVED && oldest()) {
      waiting_.pop_front();
      ++taken_;
    }
    if (at == MAILBOX_SEND && value <= MAILBOX_FRAME_MAX) {
      net::PacketPtr p = net::make_packet(out_.data(), value);
      net::pad(*p);
      mac_.send(std::move(p), base::now());
      ++sent_;
    }
    if (at >= MAILBOX_TX && at - MAILBOX_TX + data.size() <= out_.size())
      std::memcpy(out_.data() + (at - MAILBOX_TX), data.data(), data.size());
  }
  void function_reset() override { waiting_.clear(); }

  net::MacAddress address_;
  net::Mac mac_;
  std::deque<Waiting> waiting_;
  std::array<std::uint8_t, 2048> out_{};
  std::uint64_t taken_ = 0, sent_ = 0;
};

SLUICE_PLUGIN(devices) { devices.add_nic<Mailbox>("mailbox", "mailbox NIC"); }
