// SPDX-License-Identifier: Apache-2.0
// The RPC decoder in RTL against its twin: the same verdicts, bytes, counters and cycles.

#include <array>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include <catch2/catch.hpp>

#include "Vrpc_decoder.h"
#include "models/net/headers.h"
#include "models/nic/rpc_decoder/call_decoder.h"
#include "models/nic/rpc_decoder/timing.h"
#include "tests/rtl/decoder_bench.h"
#include "tests/rtl/pattern.h"
#include "tests/rtl/rpc_frames.h"

using namespace sluice;
using namespace sluice::nic::rpc;
using DecoderBench = test::DecoderBenchOf<Vrpc_decoder>;
using test::DecoderOutput;
using test::FrameBytes;
using test::RpcFrames;

namespace {

struct Twin {
  Decoded decoded;
  Path path;
};

}  // namespace

TEST_CASE("the RTL and its twin decode the same, in the same cycles") {
  const unsigned total = test::packets_to_test();
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
    test::Pattern offers(random, random.one_in(3), 40), ready(random, random.one_in(3), 40);
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

namespace {

/// Cycles that a frame has at 100 Gb/s, with its frame check sequence, preamble and gap, in hundredths.
std::uint64_t line_time(std::size_t bytes) { return (bytes + 24) * 8 * 100 / 400; }

}  // namespace

TEST_CASE("frames at 100 Gb/s are taken as they come") {
  DecoderBench bench;
  Service s;
  s.key = {0x20000001, 1, 0, 20049};
  bench.set(0, s);
  const FrameBytes small(60), large(1514), call = test::plain_call(s.key);
  std::vector<FrameBytes> mix;
  RpcFrames random(1);
  for (unsigned i = 0; i < 2000; ++i) {
    const unsigned kind = random.upto(3);
    mix.push_back(kind == 0 ? small : kind == 1 ? call : kind == 2 ? large : FrameBytes(76 + random.upto(1438)));
  }
  const std::vector<FrameBytes> loads[] = {std::vector(2000, small), std::vector(2000, call), std::vector(2000, large),
                                           mix};
  for (const std::vector<FrameBytes>& frames : loads) {
    // Each frame is offered when its last bit has come; the next one's beats follow, but never before they are there.
    std::vector<std::uint64_t> from;
    std::uint64_t at = 0;
    for (const FrameBytes& f : frames) from.push_back(((at += line_time(f.size())) + 99) / 100);
    std::size_t frame = 0, beat = 0;
    const auto offers = [&](std::uint64_t cycle) {
      if (frame == frames.size() || cycle < from[frame]) return false;
      if (++beat * 64 >= frames[frame].size()) {
        ++frame;
        beat = 0;
      }
      return true;
    };
    const std::vector<DecoderOutput> out = bench.run(frames, offers, [](std::uint64_t) { return true; });
    REQUIRE(out.size() == frames.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      REQUIRE(out[i].verdict == (frames[i] == call ? RPCD_CALL : RPCD_NOT_IPV4));
      // A frame waits for one before it at most, which has up to 24 beats.
      REQUIRE(out[i].came.back() - out[i].came.front() == out[i].came.size() - 1);
      REQUIRE(out[i].came.front() <= from[i] + 24);
    }
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

TEST_CASE("a counted array has as many elements as it may have, and not one more") {
  DecoderBench bench;
  ServiceTable table;
  for (const Part::Array array : {Part::Array::opaque, Part::Array::scalars, Part::Array::hypers}) {
    INFO("array " << static_cast<int>(array));
    Service s;
    s.key = {0x20000001, 1, 0, 2000};
    s.parts[0].array = array;
    s.parts[0].counted = true;
    s.parts[0].limit = 5;
    bench.set(0, s);
    table.set(0, s);
    const auto always = [](std::uint64_t) { return true; };
    for (const std::uint8_t count : {5, 6}) {
      FrameBytes arguments{0, 0, 0, count};
      arguments.resize(4 + (array == Part::Array::opaque ? 8 : array == Part::Array::scalars ? 4 * count : 8 * count));
      const FrameBytes frame = test::plain_call(s.key, arguments);
      Twin twin;
      decode(frame, table, twin.decoded, twin.path);
      const unsigned expected = count == 5 ? RPCD_CALL : RPCD_ARGUMENTS;
      CHECK(twin.decoded.verdict == expected);
      CHECK(bench.run({frame}, always, always).at(0).verdict == expected);
    }
  }
}

TEST_CASE("of two entries that match the first counts, until it is taken out") {
  DecoderBench bench;
  ServiceTable table;
  Service s;
  s.key = {0x20000001, 1, 0, 2000};
  for (const unsigned entry : {3u, 5u}) {
    s.owner = static_cast<std::uint16_t>(100 + entry);
    bench.set(entry, s);
    table.set(entry, s);
  }
  const auto owners = [&] {
    const auto always = [](std::uint64_t) { return true; };
    Twin twin;
    decode(test::plain_call(s.key), table, twin.decoded, twin.path);
    const DecoderOutput rtl = bench.run({test::plain_call(s.key)}, always, always).at(0);
    REQUIRE(twin.decoded.verdict == RPCD_CALL);
    REQUIRE(rtl.verdict == RPCD_CALL);
    return std::pair(unsigned{rtl.owner}, unsigned{twin.decoded.owner});
  };
  CHECK(owners() == std::pair(103u, 103u));
  bench.write(RPCD_COMMIT, 3);
  table.set(3, std::nullopt);
  CHECK(owners() == std::pair(105u, 105u));
}

TEST_CASE("each entry matches by itself, and before each that is behind it") {
  DecoderBench bench;
  ServiceTable table;
  Service s;
  s.key = {0x20000001, 1, 0, 2000};
  const auto set = [&](unsigned entry) {
    s.owner = static_cast<std::uint16_t>(100 + entry);
    bench.set(entry, s);
    table.set(entry, s);
  };
  const auto take_out = [&](unsigned entry) {
    bench.write(RPCD_COMMIT, entry);
    table.set(entry, std::nullopt);
  };
  const FrameBytes call = test::plain_call(s.key);
  const auto always = [](std::uint64_t) { return true; };
  const auto found = [&](unsigned entry) {
    Twin twin;
    decode(call, table, twin.decoded, twin.path);
    const DecoderOutput rtl = bench.run({call}, always, always).at(0);
    REQUIRE(twin.decoded.verdict == RPCD_CALL);
    REQUIRE(rtl.verdict == RPCD_CALL);
    REQUIRE(twin.decoded.owner == 100 + entry);
    REQUIRE(rtl.owner == 100 + entry);
  };
  for (unsigned first = 0; first < kServices; ++first) {
    set(first);
    INFO("entry " << first);
    found(first);
    for (unsigned second = first + 1; second < kServices; ++second) {
      INFO("and " << second);
      set(second);
      found(first);
      take_out(second);
    }
    take_out(first);
  }
}

TEST_CASE("frames of one beat in every cycle have each the checksum of its own") {
  DecoderBench bench;
  const ServiceTable table;
  RpcFrames random(7);
  std::vector<FrameBytes> frames(300, test::plain_call({}));
  std::vector<unsigned> expected;
  for (FrameBytes& f : frames) {
    f.resize(60);
    f[38] = 0xff;  // the reason of a layer above IPv4
    if (random.one_in(2)) f[24] ^= 1;
    Twin twin;
    decode(f, table, twin.decoded, twin.path);
    expected.push_back(twin.decoded.verdict);
  }
  const auto always = [](std::uint64_t) { return true; };
  const std::vector<DecoderOutput> out = bench.run(frames, always, always);
  REQUIRE(out.size() == frames.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    INFO("frame " << i);
    REQUIRE((expected[i] == RPCD_IPV4_CHECKSUM || expected[i] == RPCD_UDP_LENGTH));
    REQUIRE(out[i].verdict == expected[i]);
    REQUIRE(out[i].came == std::vector<std::uint64_t>{i});
  }
}

TEST_CASE("of several mistakes in a frame the lowest layer's counts") {
  struct Mistake {
    std::size_t at;
    std::uint8_t bits;  ///< that change
  };
  constexpr Mistake kMistakes[] = {{12, 0x01}, {14, 0x10}, {21, 0x01}, {23, 0x01}, {24, 0x01}, {39, 0x80},
                                   {41, 0x01}, {49, 0x01}, {53, 0x01}, {69, 0x02}, {77, 0x01}, {57, 0x01}};
  const ServiceKey key{0x20000001, 1, 0, 2000};
  std::vector<FrameBytes> frames;
  for (unsigned which = 0; which < 1u << std::size(kMistakes); ++which) {
    // The checksums fit, or not, to all but their own mistakes, which come last.
    FrameBytes f = test::plain_call(key);
    for (std::size_t i = 0; i < std::size(kMistakes); ++i)
      if ((which >> i & 1) != 0 && kMistakes[i].at != 24 && kMistakes[i].at != 41)
        f[kMistakes[i].at] ^= kMistakes[i].bits;
    f[24] = f[25] = 0;
    const auto sum = static_cast<std::uint16_t>(~net::internet_sum(&f[14], 20));
    f[24] = static_cast<std::uint8_t>(sum >> 8);
    f[25] = static_cast<std::uint8_t>(sum);
    if ((which >> 4 & 1) != 0) f[24] ^= 1;
    f[40] = f[41] = 0;  // without a checksum, or with one that hardly fits
    if ((which >> 6 & 1) != 0) f[41] = 1;
    frames.push_back(f);
  }
  ServiceTable table;
  DecoderBench bench;
  Service s;
  s.key = key;
  table.set(0, s);
  bench.set(0, s);
  const auto always = [](std::uint64_t) { return true; };
  const std::vector<DecoderOutput> out = bench.run(frames, always, always);
  REQUIRE(out.size() == frames.size());
  std::array<unsigned, RPCD_VERDICTS> verdicts{};
  for (std::size_t i = 0; i < frames.size(); ++i) {
    INFO("mistakes " << i);
    Twin twin;
    decode(frames[i], table, twin.decoded, twin.path);
    REQUIRE(out[i].verdict == twin.decoded.verdict);
    ++verdicts[out[i].verdict];
  }
  CHECK(out[0].verdict == RPCD_CALL);
  CHECK(out[1u << 7 | 1u << 8].verdict == RPCD_NOT_CALL);
  CHECK(out[1u << 8 | 1u << 9].verdict == RPCD_RPC_VERSION);
  CHECK(out[1u << 9 | 1u << 10].verdict == RPCD_CREDENTIAL);
  CHECK(out[1u << 10 | 1u << 11].verdict == RPCD_VERIFIER);
  for (const unsigned v :
       {RPCD_NOT_IPV4, RPCD_IPV4_HEADER, RPCD_IPV4_CHECKSUM, RPCD_FRAGMENT, RPCD_NOT_UDP, RPCD_UDP_LENGTH,
        RPCD_UDP_CHECKSUM, RPCD_NOT_CALL, RPCD_RPC_VERSION, RPCD_CREDENTIAL, RPCD_VERIFIER, RPCD_NO_SERVICE})
    CHECK(verdicts[v] > 0);
}

TEST_CASE("a reset clears the counters and the table") {
  DecoderBench bench;
  Service s;
  s.key = {0x20000001, 1, 0, 2000};
  bench.set(0, s);
  const auto always = [](std::uint64_t) { return true; };
  const std::vector<FrameBytes> frames(3, test::plain_call(s.key));
  CHECK(bench.run(frames, always, always).at(2).verdict == RPCD_CALL);
  CHECK(bench.read(RPCD_COUNTERS + 4 * RPCD_CALL) == 3);
  bench.reset();
  for (unsigned v = 0; v < RPCD_VERDICTS; ++v) CHECK(bench.read(RPCD_COUNTERS + 4 * v) == 0);
  CHECK(bench.run(frames, always, always).at(2).verdict == RPCD_NO_SERVICE);
}

TEST_CASE("the registers of the RTL and of its model say the same") {
  DecoderBench bench;
  const std::unique_ptr<CallDecoder> model = make_model("decoder", 1, kServices, [](const Decoded&) {});
  std::mt19937 random(1);
  unsigned errors = 0;
  for (unsigned i = 0; i < 20'000; ++i) {
    INFO("access " << i);
    const std::uint32_t offset = random() % 3 == 0 ? RPCD_COMMIT : 4 * (random() % (RPCD_SIZE / 4));
    // Entries around the last, and parts of up to 31 words, are often among them.
    const std::uint32_t value =
        random() % 2 == 0 ? random() : (random() & RPCD_COMMIT_VALID) | random() % (kServices + 4);
    bench.write(offset, value);
    model->write(offset, value);
    if (random() % 50 == 0) {
      bench.reset();
      model->reset();
    }
    const std::uint32_t error = bench.read(RPCD_ERROR);
    REQUIRE(error == model->read(RPCD_ERROR));
    errors |= error;
    const std::uint32_t other = 4 * (random() % (RPCD_SIZE / 4));
    REQUIRE(bench.read(other) == model->read(other));
  }
  CHECK(errors == (RPCD_ERROR_ENTRY | RPCD_ERROR_SCHEMA));
}
