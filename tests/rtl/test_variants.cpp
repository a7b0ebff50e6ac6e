// SPDX-License-Identifier: Apache-2.0
// The decoder with its assertions and with random values where none is defined gives what the plain one gives: no
// result depends on what a register begins with.

#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "Vrpc_decoder.h"
#include "Vrpc_decoder_checked.h"
#include "models/net/headers.h"
#include "tests/rtl/decoder_bench.h"
#include "tests/rtl/rpc_frames.h"
#include "verilated_cov.h"

using namespace sluice::nic::rpc;
using sluice::test::DecoderBenchOf;
using sluice::test::DecoderOutput;
using sluice::test::FrameBytes;
using sluice::test::RpcFrames;

namespace {

/// A call as long as IPv4 allows: 1,024 beats. Empty if the one that is given has more than its fixed headers.
FrameBytes longest(FrameBytes call) {
  if (call.size() != 82) return {};
  call.resize(14 + 65'535, 0x5a);
  const auto put16 = [&](std::size_t at, unsigned value) {
    call[at] = static_cast<std::uint8_t>(value >> 8);
    call[at + 1] = static_cast<std::uint8_t>(value);
  };
  put16(16, 65'535);
  put16(38, 65'515);
  put16(40, 0);  // no checksum
  put16(24, 0);
  put16(24, 0xffffu - sluice::net::internet_sum(&call[14], 20));
  return call;
}

}  // namespace

TEST_CASE("the decoder gives the same for the longest call that there is") {
  RpcFrames random(1);
  DecoderBenchOf<Vrpc_decoder> plain;
  DecoderBenchOf<Vrpc_decoder_checked> checked(1);
  Service null;
  null.key = {0x20000001, 1, 0, 2000};
  plain.set(0, null);
  checked.set(0, null);
  FrameBytes frame;
  while (frame.empty()) frame = longest(random.call(null));
  const auto always = [](std::uint64_t) { return true; };
  const std::vector<DecoderOutput> a = plain.run({frame}, always, always), b = checked.run({frame}, always, always);
  REQUIRE(a.size() == 1);
  REQUIRE(b.size() == 1);
  CHECK(a[0].verdict == RPCD_CALL);
  CHECK(b[0].verdict == RPCD_CALL);
  CHECK(a[0].line.size() == RPCD_LINE_HEAD_BYTES + 65'535 - 20 - 8 - 40);
  CHECK(a[0].line == b[0].line);
  CHECK(a[0].left == b[0].left);
}

TEST_CASE("the decoder gives the same with assertions and from any values of its registers") {
  constexpr unsigned kFrames = 300;
  for (unsigned seed = 1; seed <= 16; ++seed) {
    INFO("seed " << seed);
    RpcFrames random(seed);
    DecoderBenchOf<Vrpc_decoder> plain;
    DecoderBenchOf<Vrpc_decoder_checked> checked(seed);
    std::vector<Service> services;
    for (unsigned i = 0; i < kServices; ++i) {
      // Some entries are as a reset leaves them.
      services.push_back(random.service(i));
      if (random.one_in(8)) continue;
      plain.set(i, services.back());
      checked.set(i, services.back());
    }
    std::vector<FrameBytes> frames;
    for (unsigned i = 0; i < kFrames; ++i) {
      const Service& s = services[random.upto(kServices - 1)];
      frames.push_back(random.one_in(2) ? random.call(s) : random.changed(s));
    }
    std::vector<bool> offers, ready;
    const unsigned offered = 1 + random.upto(9), taken = 1 + random.upto(9);  // of ten cycles
    for (unsigned i = 0; i < 4096; ++i) {
      offers.push_back(random.upto(9) < offered);
      ready.push_back(random.upto(9) < taken);
    }
    const auto offers_in = [&](std::uint64_t cycle) { return offers[cycle % offers.size()]; };
    const auto ready_in = [&](std::uint64_t cycle) { return ready[cycle % ready.size()]; };
    const std::vector<DecoderOutput> a = plain.run(frames, offers_in, ready_in),
                                     b = checked.run(frames, offers_in, ready_in);
    REQUIRE(a.size() == frames.size());
    REQUIRE(b.size() == frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      INFO("frame " << i << " of " << frames[i].size() << " bytes");
      REQUIRE(a[i].verdict == b[i].verdict);
      REQUIRE(a[i].came == b[i].came);
      REQUIRE(a[i].left == b[i].left);
      // What comes with a frame that is no call of a service means nothing.
      if (a[i].verdict != RPCD_CALL) continue;
      REQUIRE(a[i].line == b[i].line);
      REQUIRE(a[i].owner == b[i].owner);
      REQUIRE(a[i].source == b[i].source);
      REQUIRE(a[i].source_port == b[i].source_port);
      REQUIRE(a[i].destination == b[i].destination);
      REQUIRE(a[i].port == b[i].port);
    }
    for (unsigned v = 0; v <= RPCD_VERDICTS; ++v)
      REQUIRE(plain.read(RPCD_COUNTERS + 4 * v) == checked.read(RPCD_COUNTERS + 4 * v));
    REQUIRE_FALSE(checked.context().gotError());
    if (const char* folder = std::getenv("SLUICE_RTL_COVERAGE"); folder != nullptr && VM_COVERAGE)
      checked.context().coveragep()->write(
          (std::string(folder) + "/decoder-" + std::to_string(getpid()) + "-" + std::to_string(seed) + ".dat").c_str());
  }
}
