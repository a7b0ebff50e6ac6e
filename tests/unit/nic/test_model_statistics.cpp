// SPDX-License-Identifier: Apache-2.0
/// Who puts what a model counts into the tree of statistics, and under which name.

#include <catch2/catch.hpp>

#include "models/nic/descriptor/descriptor_nic.h"
#include "models/pcie/link.h"
#include "tests/unit/fresh_kernel.h"

using namespace sluice;

namespace {

/// Groups and values as a reader of the tree sees them: "nic.eth0{rx_packets }".
class Names : public base::StatisticsVisitor {
 public:
  void enter(const base::StatisticsGroup& g) override { text += g.name() + "{"; }
  void leave(const base::StatisticsGroup&) override { text += "}"; }
  void integer(const base::StatisticsLabel& l, std::uint64_t) override { text += l.name + " "; }
  void real(const base::StatisticsLabel& l, double) override { text += l.name + " "; }
  void histogram(const base::StatisticsLabel& l, const base::Histogram&) override { text += l.name + " "; }
  std::string text;
};

std::string names() {
  Names n;
  base::statistics().walk(n, base::now());
  return n.text;
}

unsigned times(const std::string& name) {
  const std::string all = names();
  unsigned n = 0;
  for (std::size_t at = all.find(name); at != std::string::npos; at = all.find(name, at + 1)) ++n;
  return n;
}

pcie::Endpoint::Function function() {
  pcie::Endpoint::Function f;
  f.identity = {0x534c, 0x0999, PCIE_CLASS_ETHERNET, 1, 0, 0};
  f.bars[0] = {pcie::Bar::Kind::kMemory64, true, 4096};
  return f;
}

/// As written by an author who believes that register_statistics() has to call that of its base class.
class Device : public pcie::Endpoint {
 public:
  explicit Device(const char* name) : Endpoint(name, {}, function()) {}

 private:
  void register_statistics(base::StatisticsGroup& group) override {
    Endpoint::register_statistics(group);
    group.counter("own", "1", "the device's", own_);
  }
  void mmio_read(unsigned, std::uint64_t, unsigned, pcie::MmioReply reply) override { reply.value(0); }
  void mmio_write(unsigned, std::uint64_t, std::span<const std::uint8_t>, const base::Journey&) override {}
  std::uint64_t own_ = 0;
};

class PlainNic : public nic::PcieNic, private net::Mac::Client {
 public:
  PlainNic(const char* name, net::Wire& wire)
      : PcieNic(name, {}, function()), mac_(base::module_name(path() + ".mac").c_str(), {}, wire, net::Wire::kB) {
    mac_.set_client(*this);
  }
  net::Mac& mac() override { return mac_; }

 private:
  void register_statistics(base::StatisticsGroup& group) override {
    Endpoint::register_statistics(group);
    group.counter("own", "1", "the NIC's", own_);
  }
  void mac_received(net::PacketPtr, base::Time) override {}
  void mac_dropped(Drop) override {}
  void link_changed(bool) override {}
  void mmio_read(unsigned, std::uint64_t, unsigned, pcie::MmioReply reply) override { reply.value(0); }
  void mmio_write(unsigned, std::uint64_t, std::span<const std::uint8_t>, const base::Journey&) override {}
  net::Mac mac_;
  std::uint64_t own_ = 0;
};

}  // namespace

TEST_CASE("a model is counted under its path, once, from when it is published", "[statistics]") {
  fresh_kernel();
  {
    net::Wire wire("net__wire0", {});
    CHECK(names() == "{}");
    wire.publish_statistics();
    CHECK(times("net.wire0{") == 1);
    CHECK(times("a_to_b{") == 1);
    CHECK_THROWS_AS(wire.publish_statistics(), std::logic_error);
    CHECK(times("net.wire0{") == 1);
  }
  CHECK(names() == "{}");
}

TEST_CASE("a device's PCIe function is counted once, before the device's own counters", "[statistics]") {
  fresh_kernel();
  Device device("accel__a");
  device.publish_statistics();
  CHECK(names().starts_with("{accel.a{dma_reads "));
  CHECK(names().ends_with("msix_dropped own }}"));
  CHECK(times("dma_reads ") == 1);
}

TEST_CASE("a NIC's PCIe function is counted once, in a group of its own", "[statistics]") {
  fresh_kernel();
  net::Wire wire("net__wire0", {});
  PlainNic nic("nic__eth0", wire);
  nic.publish_statistics();
  nic.mac().publish_statistics();
  CHECK(names().starts_with("{nic.eth0{own }nic.eth0.pcie{dma_reads "));
  CHECK(times("dma_reads ") == 1);
  CHECK(times("nic.eth0.mac{rx_frames ") == 1);
}

/// Only Model itself may ask a model for its counters, so a model cannot count one that it contains a second time.
template <class M>
concept AsksAnother = requires(M& m, base::StatisticsGroup& g) {
  m.register_statistics(g);
};
static_assert(!AsksAnother<net::Mac> && !AsksAnother<net::Wire> && !AsksAnother<pcie::Endpoint> &&
              !AsksAnother<pcie::Link> && !AsksAnother<nic::DescriptorNic> && !AsksAnother<base::Model>);
