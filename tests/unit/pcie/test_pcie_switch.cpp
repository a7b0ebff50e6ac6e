// SPDX-License-Identifier: Apache-2.0
/// Switches of another kind, derived from the plain one: what they see, change, take, answer and keep.
#include <catch2/catch.hpp>

#include "models/pcie/completions.h"
#include "tests/unit/pcie/pcie_bench.h"

using namespace sluice;
using namespace sluice::pcie;

namespace {

/// Doubles the first byte of what devices write, answers reads at and above kOwn itself, and keeps writes of 64 B for
/// 1 us.
class Programmed : public Switch {
 public:
  static constexpr std::uint64_t kOwn = 0x7000'0000'0000;
  using Switch::Switch;
  unsigned dropped = 0;

 private:
  void before_routing(unsigned ingress, TlpPtr& t) override {
    if (ingress == 0) return;
    if (t->type == TlpType::kMRd && t->address >= kOwn) {
      const TlpPtr request = std::move(t);
      request->release_buffer();
      make_completions(*request, 0, request->first_byte(), request->enabled_bytes(), 64, 64,
                       [&](TlpPtr c, std::uint32_t, std::uint32_t bytes) {
                         std::memset(c->payload(), 0xab, bytes);
                         forward(ingress, std::move(c));
                       });
    } else if (t->type == TlpType::kMWr) {
      t->payload()[0] = static_cast<std::uint8_t>(t->payload()[0] * 2);
      if (t->enabled_bytes() != 64) return;
      base::calendar().after(1_us, key(), [this, ingress, kept = std::move(t), resets = resets_]() mutable {
        if (resets == resets_)
          route(ingress, std::move(kept));
        else
          ++dropped;
      });
    }
  }
  void fabric_reset() override { ++resets_; }

  std::uint64_t resets_ = 0;
};

using ProgrammedBench = BelowSwitchBench<Programmed>;

}  // namespace

TEST_CASE("a derived switch changes what passes", "[pcie]") {
  ProgrammedBench b;
  b.device.dma_write(FlatMemory::kBase, std::vector<std::uint8_t>(8, 0x21), {});
  b.settle();
  REQUIRE(b.memory.ram.at(FlatMemory::kBase)[0] == 0x42);
  REQUIRE(b.memory.ram.at(FlatMemory::kBase)[1] == 0x21);
}

TEST_CASE("a derived switch answers a read itself", "[pcie]") {
  ProgrammedBench b;
  const std::uint64_t passed = b.trunk.up().statistics().bytes;
  std::vector<std::uint8_t> got;
  b.device.dma_read(Programmed::kOwn, 128, {},
                    [&](const DmaCompletion& c) { got.assign(c.data.begin(), c.data.end()); });
  b.settle();
  REQUIRE(got == std::vector<std::uint8_t>(128, 0xab));
  REQUIRE(b.trunk.up().statistics().bytes == passed);
  REQUIRE(b.leaf.up().available(TlpClass::kNonPosted).messages == 128);  // its buffer is free again
}

TEST_CASE("what a derived switch keeps goes on later, or is lost with a reset", "[pcie]") {
  ProgrammedBench b;
  const std::vector<std::uint8_t> line(64, 0x21);
  const base::Time sent = base::now();
  b.device.dma_write(FlatMemory::kBase, line, {});
  b.scheduler.run_until(sent + 1_us);
  REQUIRE(b.memory.ram.at(FlatMemory::kBase)[1] == 0);
  b.settle();
  REQUIRE(b.memory.ram.at(FlatMemory::kBase)[1] == 0x21);
  REQUIRE(b.leaf.up().available(TlpClass::kPosted).messages == 128);

  b.device.dma_write(FlatMemory::kBase + 64, line, {});
  b.scheduler.run_until(base::now() + 500_ns);
  b.trunk.reset();
  b.settle();
  REQUIRE(b.fabric.dropped == 1);
  REQUIRE(b.memory.ram.at(FlatMemory::kBase + 64)[1] == 0);
}
