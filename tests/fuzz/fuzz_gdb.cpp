// SPDX-License-Identifier: Apache-2.0
/// Bytes of a debugger: gdb_session.cpp is the target, which a unit test runs too. This file makes its inputs: packets
/// that GDB sends, with right checksums three times of four.

#include "platform/debug/protocol/packet.h"
#include "tests/fuzz/fuzz.h"

namespace sluice::fuzz {
namespace {

/// What GDB says from its first packet to its last.
const std::vector<std::string>& packets() {
  static const std::vector<std::string> all = {"qSupported:multiprocess+;swbreak+;hwbreak+;xmlRegisters=riscv",
                                               "QStartNoAckMode",
                                               "vMustReplyEmpty",
                                               "Hg0",
                                               "qXfer:features:read:target.xml:0,ffb",
                                               "qTStatus",
                                               "?",
                                               "qfThreadInfo",
                                               "qsThreadInfo",
                                               "qThreadExtraInfo,1",
                                               "qXfer:threads:read::0,1000",
                                               "qC",
                                               "qAttached",
                                               "g",
                                               "p20",
                                               "P20=0000000000000000",
                                               "G00",
                                               "m1000,40",
                                               "M1000,2:abcd",
                                               "X1000,2:ab",
                                               "Z0,1000,4",
                                               "z0,1000,4",
                                               "Z2,1000,8",
                                               "z2,1000,8",
                                               "Hc-1",
                                               "T1",
                                               "vCont?",
                                               "vCont;c",
                                               "vCont;s:1;c",
                                               "vCont;r1000,1008:1",
                                               "c",
                                               "s",
                                               "qRcmd,74696d65",
                                               "D",
                                               "k",
                                               "vKill;1"};
  return all;
}

std::string framed(const std::string& packet) { return debug::make_packet(packet); }

std::vector<Bytes> corpus() {
  std::string talk;
  for (const std::string& p : packets()) talk += framed(p) + "+";
  return {to_bytes(std::string(1, '\xff') + talk),
          to_bytes(std::string(1, '\x02') + framed("?") + framed("vCont;c") + "\x03")};
}

void mutate(Bytes& input, Random& random) {
  std::string talk(1, static_cast<char>(random.next()));
  for (std::uint64_t n = 1 + random.below(12); n != 0; --n) {
    Bytes packet = to_bytes(packets()[random.below(packets().size())]);
    if (random.chance(3, 4))
      mutate_bytes(packet, random, {"-1", ",", ";", ":", "p1.1", "ffffffffffffffff", "*", "}", "#"}, {});
    const std::string text(packet.begin(), packet.end());
    talk += random.chance(3, 4) ? framed(text) : "$" + text + "#00";
    if (random.chance(1, 8)) talk += random.chance(1, 2) ? "\x03" : "-";
  }
  input = to_bytes(talk);
}

}  // namespace

const Target target{.name = "gdb", .corpus = corpus, .mutate = mutate, .runs = 50'000, .full_runs = 1'000'000};

}  // namespace sluice::fuzz
