// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Drives one verilated block of RTL with packets, with gaps between the beats and cycles in which nothing may move.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "verilated.h"
#include "verilated_cov.h"

namespace sluice::test {

using Bytes = std::vector<std::uint8_t>;

inline std::size_t beats_of(std::size_t bytes) { return std::max<std::size_t>(1, (bytes + 63) / 64); }

/// A verilated module whose registers begin with what a seed says.
template <class Dut>
class RandomDut {
 public:
  explicit RandomDut(std::uint64_t seed) {
    context_.randSeed(static_cast<int>(seed) + 1);
    context_.randReset(2);
    dut_ = std::make_unique<Dut>(&context_);
  }
  ~RandomDut() {
    // For sw/rtl-coverage: a file for each module that was driven.
    if (const char* folder = std::getenv("SLUICE_RTL_COVERAGE"); folder != nullptr && VM_COVERAGE) {
      static int number = 0;
      const std::string name =
          std::string(folder) + "/" + std::to_string(getpid()) + "-" + std::to_string(number++) + ".dat";
      context_.coveragep()->write(name.c_str());
    }
  }
  Dut* operator->() { return dut_.get(); }
  VerilatedContext& context() { return context_; }

 private:
  VerilatedContext context_;
  std::unique_ptr<Dut> dut_;
};

/// A packet that has left, and in which enabled cycles its beats did.
struct Left {
  Bytes bytes;
  bool cut = false;
  std::vector<std::uint64_t> cycles;
};

/// Needs the ports clk, rst, enable, in_valid, in_data, in_count, in_last, in_cut, and the same of `out`.
template <class Dut>
class BlockBench {
 public:
  BlockBench(std::uint64_t seed, unsigned which) : random(seed), dut(seed) {
    quiet();
    dut->which = which & 7;
    dut->rst = 1;
    for (int i = 0; i < 4; ++i) cycle(true);
    dut->rst = 0;
    now = 0;
    gaps_ = one_in(3) ? 0 : upto(3);
    stalls_ = one_in(3) ? 0 : upto(3);
  }

  std::uint32_t upto(std::uint32_t most) { return std::uniform_int_distribution<std::uint32_t>(0, most)(random); }
  bool one_in(unsigned n) { return upto(n - 1) == 0; }
  Bytes bytes(std::size_t count) {
    Bytes b(count);
    for (std::uint8_t& x : b) x = static_cast<std::uint8_t>(random());
    return b;
  }

  /// Puts a packet in. `with` sets what goes with a beat, by its number. Returns the enabled cycles of its beats.
  std::vector<std::uint64_t> put(const Bytes& packet, bool cut, const std::function<void(std::size_t)>& with) {
    std::vector<std::uint64_t> came;
    for (std::size_t i = 0; i < beats_of(packet.size()); ++i) {
      while (upto(9) < gaps_) idle(1);
      const std::size_t at = 64 * i, count = std::min<std::size_t>(64, packet.size() - at);
      std::array<std::uint8_t, 64> beat;
      for (std::uint8_t& b : beat) b = static_cast<std::uint8_t>(random());  // bytes beyond count mean nothing
      std::copy_n(packet.begin() + static_cast<std::ptrdiff_t>(at), count, beat.begin());
      stall();
      dut->in_valid = 1;
      std::memcpy(&dut->in_data[0], beat.data(), 64);
      dut->in_count = static_cast<std::uint8_t>(count);
      dut->in_last = at + count == packet.size();
      dut->in_cut = dut->in_last != 0 ? cut : one_in(2);
      with(i);
      came.push_back(now);
      cycle(true);
      dut->in_valid = 0;
    }
    return came;
  }
  void idle(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) {
      stall();
      dut->in_valid = 0;
      noise();
      cycle(true);
    }
  }

  std::mt19937_64 random;
  RandomDut<Dut> dut;
  std::uint64_t now = 0;  ///< enabled cycles
  std::vector<Left> left;
  std::function<void()> at_beat = [] {};   ///< in each cycle in which a beat leaves
  std::function<void()> at_cycle = [] {};  ///< in each enabled cycle

 private:
  void quiet() {
    dut->clk = 0;
    dut->in_valid = 0;
  }
  void noise() {
    for (int i = 0; i < 16; ++i) dut->in_data[i] = static_cast<std::uint32_t>(random());
    dut->in_count = upto(64);
    dut->in_last = one_in(2);
    dut->in_cut = one_in(2);
  }
  /// Some cycles without enable, in which anything may be at the inputs.
  void stall() {
    while (upto(9) < stalls_) {
      dut->in_valid = one_in(2);
      noise();
      cycle(false);
    }
  }
  void cycle(bool enable) {
    dut->enable = enable;
    dut->clk = 0;
    dut->eval();
    if (enable && dut->rst == 0) {
      if (dut->out_valid != 0) beat();
      at_cycle();
      ++now;
    }
    dut->clk = 1;
    dut->eval();
  }
  void beat() {
    if (!under_way_) left.emplace_back();
    Left& l = left.back();
    const auto* data = reinterpret_cast<const std::uint8_t*>(&dut->out_data[0]);
    l.bytes.insert(l.bytes.end(), data, data + dut->out_count);
    l.cycles.push_back(now);
    if (dut->out_last == 0) REQUIRE(dut->out_count == 64);
    under_way_ = dut->out_last == 0;
    if (!under_way_) l.cut = dut->out_cut != 0;
    at_beat();
  }

  bool under_way_ = false;
  unsigned gaps_ = 0, stalls_ = 0;  ///< of ten cycles
};

/// What stream_strip makes of a packet whose beats came in these cycles.
struct Stripped {
  Bytes bytes;
  bool cut;
  std::vector<std::uint64_t> cycles;
};
inline Stripped strip(const Bytes& in, bool cut, const std::vector<std::uint64_t>& came, std::size_t skip, bool limited,
                      std::size_t limit) {
  const std::size_t kept = limited ? std::min(in.size(), limit) : in.size();
  Stripped s;
  if (kept > skip)
    s.bytes.assign(in.begin() + static_cast<std::ptrdiff_t>(skip), in.begin() + static_cast<std::ptrdiff_t>(kept));
  s.cut = (limited ? in.size() < limit : cut) || kept < skip;
  // A beat leaves when the next one comes that is not behind the limit; the last one when none is to come.
  const std::size_t beats = beats_of(kept);
  const std::size_t first = std::min(skip / 64, beats - 1);
  for (std::size_t i = 0; i < beats_of(s.bytes.size()); ++i)
    s.cycles.push_back(first + i + 1 < beats ? came[first + i + 1] + 1 : came[beats - 1] + 2);
  return s;
}

}  // namespace sluice::test
