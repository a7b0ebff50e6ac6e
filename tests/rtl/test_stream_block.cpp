// SPDX-License-Identifier: Apache-2.0
// StreamBlock around a block that is written here, so that each of its cycles is known.
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include "rtl/adapter/stream_block.h"

using namespace sluice;

namespace {

constexpr unsigned kDelay = 3;
constexpr unsigned kSettle = 10;
constexpr unsigned kResetCycles = 4;
constexpr base::Time kCycle = base::Time::ns(4);

/// What Verilator would make of a block that gives each beat kDelay cycles after it has come, but packets whose first
/// byte is 0 not at all, with the tuser that has come with it. It is ready in every other cycle if it is slow. It has
/// four registers of which each counts how often it was written, in bits 31:16.
struct Model {
  explicit Model(VerilatedContext*) {}

  std::uint8_t clk = 0, rst = 0;
  std::uint8_t s_axis_tvalid = 0, s_axis_tready = 0, s_axis_tlast = 0;
  std::array<std::uint32_t, 16> s_axis_tdata{};
  std::uint64_t s_axis_tkeep = 0;
  std::array<std::uint32_t, 2> s_axis_tuser{7, 7};
  std::uint8_t m_axis_tvalid = 0, m_axis_tready = 0, m_axis_tlast = 0;
  std::array<std::uint32_t, 16> m_axis_tdata{};
  std::uint64_t m_axis_tkeep = 0;
  std::array<std::uint32_t, 2> m_axis_tuser{};
  std::uint8_t s_axil_awvalid = 0, s_axil_wvalid = 0, s_axil_bready = 0, s_axil_arvalid = 0, s_axil_rready = 0;
  std::uint16_t s_axil_awaddr = 0, s_axil_araddr = 0;
  std::uint32_t s_axil_wdata = 0, s_axil_rdata = 0;

  static inline bool slow = false;

  void eval() {
    const bool rises = clk != 0 && !was_;
    was_ = clk != 0;
    if (rises) edge();
    s_axis_tready = !slow || cycle_ % 2 == 0;
    m_axis_tvalid = !beats_.empty() && beats_.front().at == cycle_;
    if (m_axis_tvalid == 0) return;
    m_axis_tdata = beats_.front().data;
    m_axis_tkeep = beats_.front().keep;
    m_axis_tlast = beats_.front().last;
    m_axis_tuser = beats_.front().user;
  }

 private:
  struct Beat {
    std::uint64_t at;
    std::array<std::uint32_t, 16> data;
    std::uint64_t keep;
    std::uint8_t last;
    std::array<std::uint32_t, 2> user;
  };

  void edge() {
    if (s_axil_arvalid != 0) s_axil_rdata = registers_.at(s_axil_araddr / 4u);
    if (s_axil_awvalid != 0 && s_axil_wvalid != 0) {
      std::uint32_t& r = registers_.at(s_axil_awaddr / 4u);
      r = ((r >> 16) + 1) << 16 | s_axil_wdata;
    }
    if (m_axis_tvalid != 0) beats_.pop_front();
    if (rst == 0 && s_axis_tvalid != 0 && s_axis_tready != 0) {
      if (begins_) drops_ = (s_axis_tdata[0] & 0xff) == 0;
      begins_ = s_axis_tlast != 0;
      if (!drops_) beats_.push_back({cycle_ + kDelay, s_axis_tdata, s_axis_tkeep, s_axis_tlast, s_axis_tuser});
    }
    ++cycle_;
  }

  bool was_ = false, begins_ = true, drops_ = false;
  std::uint64_t cycle_ = 0;
  std::deque<Beat> beats_;
  std::array<std::uint32_t, 4> registers_{};
};

struct Left {
  base::Time at;
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint32_t> user;
};

/// Cases in one process share the calendar: times are from `start` on, which is an edge of the clock.
struct Fixture {
  explicit Fixture(unsigned settle) {
    Model::slow = false;
    base::calendar().set_now(start);
    block = std::make_unique<rtl::StreamBlock<Model>>(
        rtl::StreamBlock<Model>::Setup{"block", 1, kCycle, settle},
        [this](std::span<const std::uint8_t> bytes, std::span<const std::uint32_t> user) {
          left.push_back({base::calendar().now() - start, {bytes.begin(), bytes.end()}, {user.begin(), user.end()}});
        });
  }

  void run_to(base::Time end) const {
    while (base::calendar().next() <= start + end) base::calendar().dispatch();
    base::calendar().set_now(start + end);
  }

  const base::Time start = kCycle * (base::calendar().now() / kCycle + 1);
  std::vector<Left> left;
  std::unique_ptr<rtl::StreamBlock<Model>> block;
};

std::vector<std::uint8_t> packet(std::size_t size, std::uint8_t first) {
  std::vector<std::uint8_t> p(size);
  for (std::size_t i = 0; i < size; ++i) p[i] = static_cast<std::uint8_t>(first + i);
  return p;
}

}  // namespace

TEST_CASE("a block that gives a packet for each one sleeps when the last has left") {
  Fixture f(0);
  CHECK(f.block->cycles() == kResetCycles);
  f.block->put(packet(100, 1));
  f.run_to(base::Time::us(1));
  // Beats are taken in cycles 1 and 2, and leave in 4 and 5; what leaves is out at its cycle's end.
  REQUIRE(f.left.size() == 1);
  CHECK(f.left[0].at == kCycle * 6);
  CHECK(f.left[0].bytes == packet(100, 1));
  CHECK(f.block->cycles() == kResetCycles + 5);
  f.run_to(base::Time::us(2));
  f.block->put(packet(1, 1));
  f.run_to(base::Time::us(3));
  REQUIRE(f.left.size() == 2);
  CHECK(f.left[1].at == base::Time::us(2) + kCycle * (1 + kDelay + 1));
  CHECK(f.block->cycles() == kResetCycles + 5 + 1 + kDelay);
  CHECK(f.block->late() == 0);
}

TEST_CASE("a block that may keep packets sleeps some cycles after its last input and output") {
  Fixture f(kSettle);
  f.block->put(packet(100, 0));
  f.run_to(base::Time::us(1));
  CHECK(f.left.empty());
  CHECK(f.block->cycles() == kResetCycles + 2 + kSettle);
  f.block->put(packet(100, 1));
  f.run_to(base::Time::us(2));
  REQUIRE(f.left.size() == 1);
  CHECK(f.left[0].at == base::Time::us(1) + kCycle * 6);
  CHECK(f.block->cycles() == kResetCycles + 2 + kSettle + 5 + kSettle);
}

TEST_CASE("a packet that is not taken at once keeps a block awake") {
  Fixture f(kSettle);
  Model::slow = true;
  f.block->put(packet(64 * 20, 1));
  f.run_to(base::Time::us(1));
  REQUIRE(f.left.size() == 1);
  CHECK(f.left[0].bytes == packet(64 * 20, 1));
  // Its beats are taken in every other cycle, from the first on: the reset takes an even number.
  CHECK(f.left[0].at == kCycle * (1 + 2 * 19 + kDelay + 1));
  CHECK(f.block->cycles() == kResetCycles + 1 + 2 * 19 + kDelay + kSettle);
}

TEST_CASE("a block that is reset forgets what is inside, and sleeps") {
  for (const unsigned settle : {0u, kSettle}) {
    INFO("settle " << settle);
    Fixture f(settle);
    for (unsigned i = 0; i < 3; ++i) f.block->put(packet(640, 1));
    f.run_to(base::Time::ns(20));
    f.block->reset();
    const std::uint64_t cycles = f.block->cycles();
    f.run_to(base::Time::us(1));
    CHECK(f.left.empty());
    CHECK(f.block->cycles() == cycles);
    f.block->put(packet(1, 1));
    f.run_to(base::Time::us(2));
    REQUIRE(f.left.size() == 1);
    CHECK(f.left[0].at == base::Time::us(1) + kCycle * (1 + kDelay + 1));
  }
}

TEST_CASE("registers of a block that sleeps are written and read in no time") {
  Fixture f(0);
  f.run_to(kCycle * 100);
  for (std::uint32_t i = 0; i < 4; ++i) f.block->write(4 * i, 7 + i);
  for (std::uint32_t i = 0; i < 4; ++i) CHECK(f.block->read(4 * i) == (0x10000u | (7 + i)));
  f.block->write(4, 1);
  f.block->write(4, 2);
  CHECK(f.block->read(4) == 0x30002u);
  f.block->put(packet(64, 1));
  f.run_to(kCycle * 200);
  REQUIRE(f.left.size() == 1);
  CHECK(f.left[0].at == kCycle * (100 + 1 + kDelay + 1));
  CHECK(f.block->late() == 0);
}

TEST_CASE("registers of a block that is awake are written one after the other, and read behind the writes") {
  Fixture f(0);
  f.block->put(packet(640, 1));  // ten beats, so that it is awake in cycles 1 to 13
  base::calendar().at(f.start + kCycle * 5, 2, [&f] {
    for (std::uint32_t i = 0; i < 3; ++i) f.block->write(8, i);
  });
  std::uint32_t value = 0;
  base::calendar().at(f.start + kCycle * 6, 2, [&] {
    value = f.block->read(8);
    f.block->write(12, 5);
  });
  f.run_to(kCycle * 100);
  CHECK(value == 0x30002u);
  CHECK(f.block->read(12) == 0x10005u);
  // The packet does not see them.
  REQUIRE(f.left.size() == 1);
  CHECK(f.left[0].at == kCycle * (1 + 9 + kDelay + 1));
  CHECK(f.left[0].bytes == packet(640, 1));
}

TEST_CASE("a packet brings its tuser, whose bits that are left out are 0, and may have no bytes") {
  using Words = std::vector<std::uint32_t>;
  Fixture f(0);
  f.block->put(packet(100, 1), Words{1, 2});
  f.block->put(packet(1, 5), Words{3});
  f.block->put({}, Words{4, 5, 6});  // there are no bits for the 6
  f.block->put(packet(1, 9));
  f.run_to(kCycle * 100);
  REQUIRE(f.left.size() == 4);
  CHECK(f.left[0].user == Words{1, 2});
  CHECK(f.left[1].user == Words{3, 0});
  CHECK(f.left[2].user == Words{4, 5});
  CHECK(f.left[3].user == Words{0, 0});
  CHECK(f.left[2].bytes.empty());
  // Beats are offered in the cycles 1 and 2, 3, 4 and 5, and each leaves kDelay cycles later, at its cycle's end.
  for (unsigned i = 0; i < 4; ++i) CHECK(f.left[i].at == kCycle * (2 + i + kDelay + 1));
}
