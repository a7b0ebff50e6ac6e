// SPDX-License-Identifier: Apache-2.0
// The RPC decoder in RTL against its twin: the same verdicts, bytes, counters and cycles.

#include <array>
#include <cstdlib>
#include <string_view>

#include <catch2/catch.hpp>

#include "Vrpc_decoder.h"
#include "models/nic/rpc_decoder/timing.h"
#include "tests/rtl/decoder_bench.h"
#include "tests/rtl/rpc_frames.h"

using namespace sluice;
using namespace sluice::nic::rpc;
using DecoderBench = test::DecoderBenchOf<Vrpc_decoder>;
using test::DecoderOutput;
using test::FrameBytes;
using test::RpcFrames;

namespace {

unsigned frames_to_test() {
  const char* full = std::getenv("SLUICE_FULL");
  return full != nullptr && std::string_view(full) == "1" ? 1'000'000 : 20'000;
}

/// When beats are offered or taken: always, or in turns of some cycles.
class Pattern {
 public:
  Pattern(RpcFrames& random, bool always) : random_(random), always_(always) {
    density_ = 1 + random_.upto(9);
    longest_ = 1 + random_.upto(random_.one_in(3) ? 40 : 3);
  }
  bool operator()(std::uint64_t cycle) {
    if (always_) return true;
    while (known_.size() <= cycle)
      known_.insert(known_.end(), 1 + random_.upto(longest_ - 1), random_.upto(9) < density_);
    return known_[cycle];
  }

 private:
  RpcFrames& random_;
  bool always_;
  unsigned density_, longest_;
  std::vector<bool> known_;
};

struct Twin {
  Decoded decoded;
  Path path;
};

}  // namespace

TEST_CASE("the RTL and its twin decode the same, in the same cycles") {
  const unsigned total = frames_to_test();
  DecoderBench bench;
  ServiceTable table;
  std::array<std::uint32_t, RPCD_VERDICTS> counted{};
  unsigned verdicts_of[RPCD_VERDICTS] = {};
  for (unsigned done = 0, batch = 0; done < total; ++batch) {
    INFO("batch " << batch);
    RpcFrames random(batch);
    std::vector<Service> services;
    for (unsigned i = 0; i < kServices; ++i) {
      services.push_back(random.service(i));
      bench.set(i, services.back());
      table.set(i, services.back());
    }
    std::vector<FrameBytes> frames;
    for (unsigned i = 0; i < 200; ++i) {
      const Service& s = services[random.upto(kServices - 1)];
      frames.push_back(random.one_in(2) ? random.call(s) : random.changed(s));
    }
    Pattern offers(random, random.one_in(3)), ready(random, random.one_in(3));
    const std::vector<DecoderOutput> rtl = bench.run(frames, std::ref(offers), std::ref(ready));
    REQUIRE(rtl.size() == frames.size());

    StreamTiming timing(std::ref(ready));
    std::uint64_t next = 0;
    Twin twin;
    std::vector<unsigned> leaving;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      INFO("frame " << i << " of " << frames[i].size() << " bytes");
      decode(frames[i], table, twin.decoded, twin.path);
      timing.begin(twin.path);
      std::vector<std::uint64_t> came;
      for (std::size_t at = 0; at < frames[i].size(); at += 64) {
        while (!offers(next)) ++next;
        came.push_back(timing.offer(next));
        next = came.back() + 1;
      }
      leaving.push_back(timing.leaving());
      REQUIRE(rtl[i].verdict == twin.decoded.verdict);
      REQUIRE(rtl[i].came == came);
      if (twin.decoded.verdict == RPCD_CALL) {
        REQUIRE(rtl[i].line == twin.decoded.line);
        REQUIRE(rtl[i].owner == twin.decoded.owner);
        REQUIRE(rtl[i].source == twin.decoded.source);
        REQUIRE(rtl[i].destination == twin.decoded.destination);
        REQUIRE(rtl[i].source_port == twin.decoded.source_port);
        REQUIRE(rtl[i].port == twin.decoded.port);
      }
      ++counted[twin.decoded.verdict];
      ++verdicts_of[twin.decoded.verdict];
    }
    auto left = timing.finish().begin();
    for (std::size_t i = 0; i < frames.size(); ++i) {
      INFO("frame " << i << " of " << frames[i].size() << " bytes");
      REQUIRE(rtl[i].left == std::vector(left, left + leaving[i]));
      left += leaving[i];
    }
    for (unsigned v = 0; v < RPCD_VERDICTS; ++v) REQUIRE(bench.read(RPCD_COUNTERS + 4 * v) == counted[v]);
    done += static_cast<unsigned>(frames.size());
  }
  // Every verdict was among them.
  for (unsigned v = 0; v < RPCD_VERDICTS; ++v) {
    INFO("verdict " << v);
    CHECK(verdicts_of[v] > total / 2000);
  }
}

TEST_CASE("a null call's control line leaves 25 cycles after the call's first beat has come") {
  RpcFrames random(1);
  DecoderBench bench;
  Service null;
  null.key = {0x20000001, 1, 0, 2000};
  bench.set(0, null);
  const auto always = [](std::uint64_t) { return true; };
  for (unsigned found = 0; found < 5;) {
    const FrameBytes frame = random.call(null);
    if (frame.size() != 82) continue;  // no tag, no options, no credential, nothing behind it
    const std::vector<DecoderOutput> out = bench.run({frame}, always, always);
    REQUIRE(out.size() == 1);
    REQUIRE(out[0].verdict == RPCD_CALL);
    REQUIRE(out[0].left.size() == 1);
    CHECK(out[0].left[0] - out[0].came[0] == 25);
    ++found;
  }
}
