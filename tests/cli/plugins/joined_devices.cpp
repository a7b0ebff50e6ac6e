// SPDX-License-Identifier: Apache-2.0
/// A NIC and an accelerator that are also on a system-on-chip's bus and join it to the host's PCIe: a plug-in of
/// test_joined_plugins.py. `mistake` says what is wrong with them.
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
  unsigned lines() const override { return 0; }
  void on_line(unsigned, base::Callback<void(bool)>) override {}
  base::Model* model() override { return this; }
  base::Resettable* resettable() override { return nullptr; }

 private:
  void access(tlm::tlm_generic_payload& trans, sc_core::sc_time&) { trans.set_response_status(tlm::TLM_OK_RESPONSE); }
  void mmio_read(unsigned, std::uint64_t, unsigned, pcie::MmioReply reply) override { reply.value(0); }
  void mmio_write(unsigned, std::uint64_t, std::span<const std::uint8_t>, const base::Journey&) override {}
  void function_reset() override {}
  tlm_utils::simple_target_socket<OnChip> socket_{"socket"};
};

class NicCard : public nic::Nic, private net::Mac::Client {
 public:
  NicCard(sc_core::sc_module_name name, const Own& p, net::Wire& wire, net::Wire::End end)
      : Nic(name, p.pcie, function_of(p)), mac_(base::module_name(path() + ".mac").c_str(), p.mac, wire, end) {
    mac_.set_client(*this);
  }
  net::Mac& mac() override { return mac_; }

 private:
  void mac_received(net::PacketPtr, base::Time) override {}
  void mac_dropped(Drop) override {}
  void link_changed(bool) override {}
  net::Mac mac_;
};

class AccelCard : public pcie::Endpoint {
 public:
  AccelCard(sc_core::sc_module_name name, const Own& p) : Endpoint(name, p.pcie, function_of(p)) {}
};

template <class Side>
class Factory : public Side, public memory::BusDeviceFactory {
 public:
  std::vector<part::FirmwareProperty> firmware_properties(const void*) const override { return {}; }
  memory::BusPlace bus_place(const void* parameters) const override {
    if (wrong(parameters, "no place")) throw std::logic_error("it is nowhere");
    const auto& p = at(parameters).chip;
    return {p.soc, p.address, p.interrupts, 0, wrong(parameters, "no keys") ? "" : "chip."};
  }
  std::uint64_t size(const void*) const override { return 16; }
  std::string compatible() const override { return {}; }
  std::optional<memory::Joint> joint(const void* parameters) const override {
    const auto& p = at(parameters).own.pcie;
    return memory::Joint{p.transmit_latency, p.receive_latency};
  }
};

class JoinedNic final : public Factory<nic::NicFactory> {
 public:
  nic::NicPlace place(const void* parameters) const override {
    if (wrong(parameters, "no wire")) throw std::logic_error("it has no wire");
    const OnBoard& p = at(parameters);
    return {p.slot, p.wire, "10.0.0.9", p.own.address};
  }
  std::uint64_t buffered_frames(const void*, std::uint64_t) const override { return 0; }
  std::unique_ptr<nic::Nic> build(const char* name, const void* parameters, base::RandomSeed, net::Wire& wire,
                                  net::Wire::End end) const override {
    return std::make_unique<OnChip<NicCard>>(name, at(parameters).own, wire, end);
  }
};

class JoinedAccel final : public Factory<pcie::DeviceFactory> {
 public:
  const std::string& slot(const void* parameters) const override {
    if (wrong(parameters, "no slot")) throw std::logic_error("it has no slot");
    return at(parameters).slot;
  }
  std::unique_ptr<pcie::Endpoint> build(const char* name, const void* parameters, base::RandomSeed) const override {
    return std::make_unique<OnChip<AccelCard>>(name, at(parameters).own);
  }
};

}  // namespace

SLUICE_PLUGIN(devices) {
  devices.add_nic<OnBoard>("joined", "NIC that joins systems", std::make_shared<const JoinedNic>());
  devices.add<OnBoard>("joined", "accelerator that joins systems", std::make_shared<const JoinedAccel>());
}
