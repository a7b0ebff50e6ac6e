// SPDX-License-Identifier: Apache-2.0
/// A NIC and an accelerator that are also on a system-on-chip's bus and join it to the host's PCIe: a plug-in of
/// test_joined_plugins.py. `mistake` says what is wrong with them.
#include <cstdlib>
#include <stdexcept>

#include <tlm_utils/simple_target_socket.h>

#include "platform/plugin/plugin.h"
using namespace sluice;

namespace {

struct Own {
  std::string mistake;
  std::string address = "02:00:00:00:00:09";
  net::Mac::Parameters mac;
  pcie::Endpoint::Parameters pcie;
  static void describe(base::Schema<Own>& s) {
    s.summary("device that joins systems");
    s.add("mistake", &Own::mistake, "what is wrong with it").setting();
    s.add("address", &Own::address, "station address").setting();
    s.include("mac", &Own::mac);
    s.include("pcie", &Own::pcie);
  }
};

/// The place on the bus has a prefix, because the NIC has an `address` of its own.
struct OnBoard {
  std::string slot = "pcie.slot0";
  std::string wire = "net.wire0";
  Own own;
  memory::OnBus<memory::NoParameters> chip;
  static void describe(base::Schema<OnBoard>& s) {
    s.summary("device that joins systems, and its places");
    s.add("slot", &OnBoard::slot, "PCIe slot").refers_to("pcie").setting();
    s.add("wire", &OnBoard::wire, "Ethernet link").may_refer_to("net").setting();
    s.include("", &OnBoard::own);
    s.include("chip", &OnBoard::chip);
  }
};

const OnBoard& at(const void* parameters) { return *static_cast<const OnBoard*>(parameters); }

bool wrong(const void* parameters, const char* what) { return at(parameters).own.mistake == what; }

pcie::Endpoint::Function function_of(const Own& p) {
  pcie::Endpoint::Function f;
  f.identity = {.vendor = 0x534c, .device = 0x0998, .class_code = 0x020000};
  f.bars[0] = {pcie::Bar::Kind::kMemory64, true, 4096};
  f.intx = p.mistake == "INTx";
  return f;
}

/// The bus's side: one register, which is 0.
template <class Card>
class OnChip : public Card, public memory::BusDevice {
 public:
  using Card::Card;
  void connect(const memory::ChipPorts& chip, memory::SocBus::Region region) override {
    socket_.register_b_transport(this, &OnChip::access);
    chip.bus.map(region, socket_);
  }
  unsigned lines() const override {
    if (mistake == "lines") throw std::logic_error("no lines");
    return 0;
  }
  void on_line(unsigned, base::Callback<void(bool)>) override {}
  base::Model* model() override {
    if (mistake == "model") throw std::logic_error("no model");
    return this;
  }
  base::Resettable* resettable() override {
    if (mistake == "resettable") throw std::logic_error("no reset");
    return nullptr;
  }
  std::string mistake;

 private:
  void access(tlm::tlm_generic_payload& trans, sc_core::sc_time&) { trans.set_response_status(tlm::TLM_OK_RESPONSE); }
  void mmio_read(unsigned, std::uint64_t, unsigned, pcie::MmioReply reply) override { reply.value(0); }
  void mmio_write(unsigned, std::uint64_t, std::span<const std::uint8_t>, const base::Journey&) override {}
  void function_reset() override {}
  tlm_utils::simple_target_socket<OnChip> socket_{"socket"};
};

class NicCard : public nic::PcieNic, private net::Mac::Client {
 public:
  NicCard(sc_core::sc_module_name name, const Own& p, net::Wire& wire, net::Wire::End end)
      : PcieNic(name, p.pcie, function_of(p)),
        mac_(base::module_name(path() + ".mac").c_str(), p.mac, wire, end),
        no_mac_(p.mistake == "mac") {
    mac_.set_client(*this);
    if (p.mistake == "sc_stop") sc_core::sc_stop();
  }
  net::Mac& mac() override {
    if (no_mac_) throw std::logic_error("no MAC");
    return mac_;
  }

 private:
  void mac_received(net::PacketPtr, base::Time) override {}
  void mac_dropped(Drop) override {}
  void link_changed(bool) override { throw std::logic_error("no carrier"); }
  net::Mac mac_;
  bool no_mac_;
};

class AccelCard : public pcie::Endpoint {
 public:
  AccelCard(sc_core::sc_module_name name, const Own& p) : Endpoint(name, p.pcie, function_of(p)) {}
};

template <class Side>
class Factory : public Side, public memory::BusDeviceFactory {
 public:
  std::vector<part::FirmwareProperty> firmware_properties(const void* parameters) const override {
    if (wrong(parameters, "property name")) return {{"a b", 1u}};
    if (wrong(parameters, "own property")) return {{"reg", 1u}};
    if (wrong(parameters, "property twice")) return {{"a", 1u}, {"a", 2u}};
    return {};
  }
  memory::BusPlace bus_place(const void* parameters) const override {
    if (wrong(parameters, "no place")) throw std::logic_error("it is nowhere");
    if (wrong(parameters, "no reason")) throw std::runtime_error("");
    const auto& p = at(parameters).chip;
    memory::BusPlace place{p.soc, p.address, p.interrupts, 0, wrong(parameters, "no keys") ? "" : "chip."};
    if (wrong(parameters, "soc")) place.soc = "cluster.card";
    if (wrong(parameters, "no address")) place.address = 0;
    if (wrong(parameters, "odd address")) place.address += 3;
    if (wrong(parameters, "lines of no home")) place.lines = 0x5000'0000;
    return place;
  }
  std::uint64_t size(const void*) const override { return 16; }
  std::string compatible() const override { return {}; }
  std::optional<memory::Joint> joint(const void* parameters) const override {
    const auto& p = at(parameters).own.pcie;
    if (wrong(parameters, "joint")) return memory::Joint{base::Time{}, base::Time::max()};
    return memory::Joint{p.transmit_latency, p.receive_latency};
  }
};

class JoinedNic final : public Factory<nic::NicFactory> {
 public:
  nic::NicPlace place(const void* parameters) const override {
    if (wrong(parameters, "no wire")) throw std::logic_error("it has no wire");
    const OnBoard& p = at(parameters);
    nic::NicPlace place{p.slot, p.wire, "10.0.0.9", p.own.address};
    if (wrong(parameters, "slot")) place.slot = "pcie.none";
    if (wrong(parameters, "empty slot")) place.slot = "";
    if (wrong(parameters, "slot of another kind")) place.slot = "net.wire0";
    if (wrong(parameters, "wire")) place.wire = "net.none";
    if (wrong(parameters, "ipv4")) place.ipv4 = "garbage";
    if (wrong(parameters, "empty ipv4")) place.ipv4 = "";
    if (wrong(parameters, "address")) place.address = "garbage";
    return place;
  }
  std::uint64_t buffered_frames(const void*, std::uint64_t) const override { return 0; }
  std::unique_ptr<nic::Nic> build(const char* name, const void* parameters, base::RandomSeed, net::Wire& wire,
                                  net::Wire::End end) const override {
    if (wrong(parameters, "nothing")) return nullptr;
    auto card = std::make_unique<OnChip<NicCard>>(name, at(parameters).own, wire, end);
    card->mistake = at(parameters).own.mistake;
    return card;
  }
};

class JoinedAccel final : public Factory<pcie::DeviceFactory> {
 public:
  const std::string& slot(const void* parameters) const override {
    if (wrong(parameters, "no slot")) throw std::logic_error("it has no slot");
    return at(parameters).slot;
  }
  std::unique_ptr<pcie::Endpoint> build(const char* name, const void* parameters, base::RandomSeed) const override {
    if (wrong(parameters, "nothing")) return nullptr;
    auto card = std::make_unique<OnChip<AccelCard>>(name, at(parameters).own);
    card->mistake = at(parameters).own.mistake;
    return card;
  }
};

}  // namespace

SLUICE_PLUGIN(devices) {
  if (getenv("PLUGIN_NULL_FACTORY")) devices.add<OnBoard>("null", "accelerator without a factory", nullptr);
  if (getenv("PLUGIN_NULL_NIC")) devices.add_nic<OnBoard>("null", "NIC without a factory", nullptr);
  devices.add_nic<OnBoard>("joined", "NIC that joins systems", std::make_shared<const JoinedNic>());
  devices.add<OnBoard>("joined", "accelerator that joins systems", std::make_shared<const JoinedAccel>());
}
