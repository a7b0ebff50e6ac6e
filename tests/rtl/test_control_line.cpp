// SPDX-License-Identifier: Apache-2.0
// The RPC decoder's last stage alone: the control line, how its words are turned, and the verdict.

#include "Varguments_bench.h"
#include "models/nic/rpc_decoder/rpc_decoder_regs.h"
#include "tests/rtl/block_bench.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr unsigned kLine = 2;
using Bench = BlockBench<Varguments_bench>;

/// The order of verdicts: the first that holds. `reason` is what the layers found.
unsigned verdict(unsigned reason, bool ipv4, bool udp, bool cut, bool arguments) {
  for (unsigned v = RPCD_TRUNCATED; v <= RPCD_ARGUMENTS; ++v) {
    if (reason == v || (v == RPCD_IPV4_CHECKSUM && ipv4) || (v == RPCD_UDP_CHECKSUM && udp) ||
        (v == RPCD_ARGUMENTS && reason == RPCD_CALL && arguments))
      return v;
    // That a datagram has been cut off is known behind its headers.
    if (v == RPCD_UDP_LENGTH && cut) return RPCD_TRUNCATED;
  }
  return RPCD_CALL;
}

}  // namespace

TEST_CASE("of several reasons control_line gives the one that goes first") {
  Bench bench(1, kLine);
  std::vector<unsigned> expected, seen;
  bench.at_beat = [&] {
    if (bench.dut->out_last != 0) seen.push_back(bench.dut->out_reason);
  };
  // None of the layers before it says ARGUMENTS.
  for (unsigned reason = 0; reason <= RPCD_NO_SERVICE; ++reason)
    for (unsigned bits = 0; bits < 64; ++bits) {
      const bool ipv4 = bits & 1, udp = bits & 2, cut = bits & 4, wrong = bits & 8, known = bits & 16,
                 beyond = bits & 32;
      bench.put(Bytes(20), cut, [&](std::size_t) {
        bench.dut->in_reason = static_cast<std::uint8_t>(reason);
        bench.dut->ipv4_is_wrong = ipv4;
        bench.dut->udp_is_wrong = udp;
        bench.dut->in_wrong = wrong;
        bench.dut->in_known = known;
        bench.dut->in_begins = 1;
        bench.dut->in_number = 3;
        bench.dut->in_start = beyond ? 54 : 53;  // 48 words and 5
      });
      expected.push_back(verdict(reason, ipv4, udp, cut, wrong || !known || beyond));
    }
  bench.idle(3);
  REQUIRE(seen == expected);
}

TEST_CASE("control_line puts the head before the arguments and turns their words") {
  for (unsigned seed = 0; seed < 30; ++seed) {
    Bench bench(seed, kLine);
    std::vector<std::array<std::uint64_t, 9>> expected_calls, calls;
    std::vector<Bytes> lines;
    std::vector<std::vector<std::uint64_t>> cycles;
    std::vector<bool> cuts;
    bench.at_cycle = [&] {
      REQUIRE((bench.dut->in_ends != 0) == (bench.dut->in_valid != 0 && bench.dut->in_last != 0));
    };
    bench.at_beat = [&] {
      if (bench.dut->out_last != 0)
        calls.push_back({bench.dut->out_reason, bench.dut->out_owner, bench.dut->out_length, bench.dut->out_port,
                         bench.dut->out_source_port, bench.dut->out_source, bench.dut->out_destination,
                         bench.dut->out_xid, bench.dut->out_function});
    };
    for (unsigned i = 0; i < 100; ++i) {
      // Also none, a beat's end, and what just fits behind the head.
      const std::size_t size = bench.one_in(4)   ? bench.upto(600)
                               : bench.one_in(3) ? 64 * bench.upto(4)
                               : bench.one_in(2) ? 64 * bench.upto(4) + 47 + bench.upto(2)
                                                 : 4 * bench.upto(60);
      const Bytes args = bench.bytes(size);
      const bool is_call = !bench.one_in(3), cut = bench.one_in(5);
      const unsigned reason = is_call ? 0 : 1 + bench.upto(12);
      Bytes turned = args;
      std::vector<std::uint32_t> classes(beats_of(size) + 1);
      for (std::size_t w = 0; w < size / 4; ++w) {
        const auto set = [&](std::size_t word, std::uint32_t c) { classes[word / 16] |= c << 2 * (word % 16); };
        const auto turn = [&](std::size_t to, std::size_t from) {
          for (std::size_t b = 0; b < 4; ++b) turned[4 * to + b] = args[4 * from + 3 - b];
        };
        if (w + 1 < size / 4 && bench.one_in(3)) {
          set(w, RPCD_CLASS_HYPER_HIGH);
          set(w + 1, RPCD_CLASS_HYPER_LOW);
          turn(w, w + 1);
          turn(w + 1, w);
          ++w;
        } else if (bench.one_in(2)) {
          set(w, RPCD_CLASS_SWAP);
          turn(w, w);
        }
      }
      const std::uint64_t fields[] = {bench.upto(0xffff),
                                      bench.upto(0xffff),
                                      bench.upto(0xffff),
                                      bench.upto(0xffff),
                                      static_cast<std::uint32_t>(bench.random()),
                                      static_cast<std::uint32_t>(bench.random()),
                                      static_cast<std::uint32_t>(bench.random()),
                                      bench.random()};
      const std::vector<std::uint64_t> came = bench.put(args, cut, [&](std::size_t beat) {
        const bool last = beat + 1 == beats_of(size);
        bench.dut->in_reason = static_cast<std::uint8_t>(reason);
        bench.dut->in_owner = static_cast<std::uint16_t>(fields[0]);
        bench.dut->in_length = static_cast<std::uint16_t>(fields[1]);
        bench.dut->in_port = static_cast<std::uint16_t>(fields[2]);
        bench.dut->in_source_port = static_cast<std::uint16_t>(fields[3]);
        bench.dut->in_source = static_cast<std::uint32_t>(fields[4]);
        bench.dut->in_destination = static_cast<std::uint32_t>(fields[5]);
        bench.dut->in_xid = static_cast<std::uint32_t>(fields[6]);
        bench.dut->in_function = fields[7];
        // A verdict is given with the last beat.
        bench.dut->ipv4_is_wrong = !last;
        bench.dut->udp_is_wrong = !last;
        bench.dut->in_wrong = !last;
        bench.dut->in_known = last;
        bench.dut->in_begins = beat == 0;
        bench.dut->in_number = static_cast<std::uint16_t>(beat);
        bench.dut->in_start = static_cast<std::uint16_t>(size / 4);
        bench.dut->in_classes = classes[beat];
      });
      expected_calls.push_back({verdict(reason, false, false, cut, false)});
      std::copy(std::begin(fields), std::end(fields), expected_calls.back().begin() + 1);
      cuts.push_back(cut);
      Bytes line;
      std::vector<std::uint64_t> leaves;
      if (is_call) {
        const std::uint32_t first = RPCD_LINE_VALID | RPCD_LINE_TYPE_CALL << RPCD_LINE_TYPE_SHIFT |
                                    static_cast<std::uint32_t>(fields[1]) << RPCD_LINE_LENGTH_SHIFT;
        for (unsigned b = 0; b < 4; ++b) line.push_back(static_cast<std::uint8_t>(first >> 8 * b));
        for (unsigned b = 0; b < 4; ++b) line.push_back(static_cast<std::uint8_t>(fields[6] >> 8 * b));
        for (unsigned b = 0; b < 8; ++b) line.push_back(static_cast<std::uint8_t>(fields[7] >> 8 * b));
        line.insert(line.end(), turned.begin(), turned.end());
        for (const std::uint64_t c : came) leaves.push_back(c + 1);
        if (beats_of(line.size()) > came.size()) {
          leaves.push_back(came.back() + 2);
          bench.idle(1);  // its source leaves room for the line's last beat
        }
      } else {
        leaves.push_back(came.back() + 1);
      }
      lines.push_back(line);
      cycles.push_back(leaves);
    }
    bench.idle(3);
    REQUIRE(bench.left.size() == lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      INFO("seed " << seed << " packet " << i);
      REQUIRE(bench.left[i].bytes == lines[i]);
      REQUIRE(bench.left[i].cut == cuts[i]);
      REQUIRE(bench.left[i].cycles == cycles[i]);
      REQUIRE(calls[i] == expected_calls[i]);
    }
  }
}

TEST_CASE("control_line objects to a beat in the cycle in which a line's last beat leaves") {
  for (const bool leaves_room : {true, false}) {
    RandomDut<Varguments_bench> dut(1);
    dut.context().fatalOnError(false);
    const auto edge = [&] {
      dut->clk = 0;
      dut->eval();
      dut->clk = 1;
      dut->eval();
    };
    dut->which = kLine;
    dut->enable = 1;
    dut->in_valid = 0;
    dut->rst = 1;
    edge();
    dut->rst = 0;
    dut->in_valid = dut->in_last = dut->in_begins = 1;
    dut->in_reason = 0;
    dut->in_count = 52;
    edge();
    dut->in_valid = !leaves_room;
    edge();
    CHECK(dut.context().gotError() != leaves_room);
  }
}
