// SPDX-License-Identifier: Apache-2.0
#include <random>

#include <catch2/catch.hpp>

#include "tests/unit/platform/gdb_fake_target.h"

using namespace sluice::debug;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::span<const std::uint8_t> bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// A session without acknowledgements, as GDB leads it.
struct Talk {
  Talk() {
    send("$QStartNoAckMode#b0+");
    REQUIRE(session.take_output() == "+$OK#9a");
  }
  void send(std::string_view text) { session.receive(bytes(text)); }
  /// The payload of the answer.
  std::string ask(std::string_view payload) {
    send(make_packet(payload));
    const std::string answer = session.take_output();
    if (answer.empty()) return "nothing";
    PacketReader reader;
    reader.feed(bytes(answer));
    REQUIRE(reader.next() == Received::packet);
    return reader.payload();
  }
  FakeTarget target;
  Session session{target};
};

std::vector<std::string> packets(PacketReader& reader) {
  std::vector<std::string> all;
  for (Received r; (r = reader.next()) != Received::nothing;)
    all.push_back(r == Received::packet ? reader.payload() : r == Received::broken ? "broken" : "other");
  return all;
}

}  // namespace

TEST_CASE("packets are found however the bytes are cut", "[gdb]") {
  const std::string text = "+$g#67\x03$m1000,4#8e" + make_packet("X1000,2:#}") + "-";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    PacketReader reader;
    std::vector<std::string> all;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      reader.feed(bytes(std::string_view(text).substr(at, piece)));
      for (const auto& p : packets(reader)) all.push_back(p);
    }
    CAPTURE(piece);
    CHECK(all == std::vector<std::string>{"other", "g", "other", "m1000,4", "X1000,2:#}", "other"});
  }
}

TEST_CASE("broken packets are told apart", "[gdb]") {
  const auto read = [](std::string_view text) {
    PacketReader reader;
    reader.feed(bytes(text));
    return packets(reader);
  };
  using List = std::vector<std::string>;
  CHECK(read("$g#68") == List{"broken"});
  CHECK(read("$g#zz") == List{"broken"});
  CHECK(read("$g#6") == List{});
  CHECK(read("nonsense$g#67") == List{"g"});
  CHECK(read("$lost$g#67") == List{"g"});  // the first one was cut off
  CHECK(read("$#00") == List{""});
  const std::string longest(PacketReader::kMaxPayload, 'a');
  CHECK(read(make_packet(longest)) == List{longest});
  CHECK(read(make_packet(longest + "a") + "$g#67") == List{"broken", "g"});
}

TEST_CASE("a bad checksum is asked for again, and '-' repeats the answer", "[gdb]") {
  FakeTarget target;
  Session session(target);
  session.receive(bytes("$qC#b5"));
  CHECK(session.take_output() == "-");
  session.receive(bytes("$qC#b4"));
  CHECK(session.take_output() == "+$QC1#c5");
  session.receive(bytes("-"));
  CHECK(session.take_output() == "$QC1#c5");
}

TEST_CASE("registers are those of the chosen thread", "[gdb]") {
  Talk talk;
  talk.target.registers[{1, 10}] = 0x1122;
  talk.target.registers[{2, 10}] = 0x3344;
  CHECK(talk.ask("pa") == "2211000000000000");
  CHECK(talk.ask("Hg2") == "OK");
  CHECK(talk.ask("pa") == "4433000000000000");
  CHECK(talk.ask("g").size() == 33 * 16);
  CHECK(talk.ask("g").substr(160, 16) == "4433000000000000");
  CHECK(talk.ask("P20=0000008000000000") == "OK");
  CHECK(talk.target.registers[{2, register_number::kPc}] == 0x8000'0000);
  CHECK(talk.ask("Hg3") == "E03");
  CHECK(talk.ask("T2") == "OK");
  CHECK(talk.ask("T3") == "E03");
  CHECK(talk.ask("T0") == "E03");
  for (const char* bad : {"p", "pzz", "p1042", "pffffffffffffffff", "p11111111111111111", "P", "P20", "P20=", "P20=00",
                          "P1042=0000000000000000", "G00", "Gxx"}) {
    CAPTURE(bad);
    CHECK(talk.ask(bad) == "E01");
  }
}

TEST_CASE("a register without a value is unavailable, and no error", "[gdb]") {
  Talk talk;
  talk.target.without_value = register_number::kCsr0 + 0x151;
  CHECK(talk.ask("p192") == "xxxxxxxxxxxxxxxx");
  CHECK(talk.ask("p191") == "0000000000000000");
  CHECK(talk.ask("p1042") == "E01");
}

TEST_CASE("memory is read and written", "[gdb]") {
  Talk talk;
  CHECK(talk.ask("M1000,4:01020304") == "OK");
  CHECK(talk.ask("m1000,6") == "010203040000");
  CHECK(talk.ask("X1002,3:#}$") == "OK");
  CHECK(talk.ask("m1000,6") == "0102237d2400");
  CHECK(talk.ask("m10fe,8") == "0000");  // as far as there is memory
  CHECK(talk.ask("m1000,0").empty());
  CHECK(talk.ask("m0,4") == "E0e");
  CHECK(talk.ask("mffffffffffffffff,ffffffffffffffff") == "E0e");
  CHECK(talk.ask("X1000,0:") == "OK");
  for (const char* bad : {"m", "m1000", "m1000,", "m,4", "M1000,4:010203", "M1000,4:0102030", "M1000,4:0102030g",
                          "M1000,4", "X1000,2:abc"}) {
    CAPTURE(bad);
    CHECK(talk.ask(bad) == "E01");
  }
  CHECK(talk.ask("M1,1:00") == "E.no memory");
  talk.target.read_only = true;
  CHECK(talk.ask("M1000,1:00") == "E.nothing may be changed");
}

TEST_CASE("break- and watchpoints reach the target", "[gdb]") {
  Talk talk;
  CHECK(talk.ask("Z0,80000000,2") == "OK");
  CHECK(talk.ask("Z1,80000004,4") == "OK");
  CHECK(talk.target.breakpoints == std::set<std::uint64_t>{0x8000'0000, 0x8000'0004});
  CHECK(talk.ask("z0,80000000,2") == "OK");
  CHECK(talk.ask("Z2,1000,8") == "OK");
  CHECK(talk.target.watchpoints == std::set<std::uint64_t>{0x1000});
  CHECK(talk.ask("Z3,0,8") == "E0e");
  CHECK(talk.ask("Z5,1000,8") == "");
  CHECK(talk.ask("Z0,80000000") == "E01");
  CHECK(talk.ask("Z") == "E01");
  CHECK(talk.ask("D") == "OK");
  CHECK(talk.session.state() == Session::State::detached);
  CHECK(talk.target.breakpoints.empty());
  CHECK(talk.target.watchpoints.empty());
}

TEST_CASE("threads go on as vCont says", "[gdb]") {
  using Kind = Action::Kind;
  Talk talk;
  CHECK(talk.ask("vCont?") == "vCont;c;C;s;S;r");
  CHECK(talk.ask("vCont;s:2;c") == "nothing");
  REQUIRE(talk.session.state() == Session::State::running);
  CHECK(talk.session.actions()[0].kind == Kind::go);
  CHECK(talk.session.actions()[1].kind == Kind::step);

  // What comes while the machine runs is answered at its stop.
  CHECK(talk.ask("qC") == "nothing");
  talk.session.stopped({Stop::Kind::trap, 2, WatchKind::write, 0});
  CHECK(talk.session.take_output() == make_packet("T05thread:2;") + make_packet("QC2"));

  CHECK(talk.ask("vCont;r80000000,80000010:1") == "nothing");
  CHECK(talk.session.actions()[0].from == 0x8000'0000);
  CHECK(talk.session.actions()[0].to == 0x8000'0010);
  CHECK(talk.session.actions()[1].kind == Kind::hold);
  talk.send("\x03");
  CHECK(talk.session.interrupted());
  talk.session.stopped({Stop::Kind::interrupt, 1, WatchKind::write, 0});
  CHECK(talk.session.take_output() == make_packet("T02thread:1;"));

  CHECK(talk.ask("vCont;c") == "nothing");
  CHECK(!talk.session.interrupted());
  talk.session.stopped({Stop::Kind::watch, 1, WatchKind::access, 0x1010});
  CHECK(talk.session.take_output() == make_packet("T05awatch:1010;thread:1;"));

  for (const char* bad : {"vCont;", "vCont;x", "vCont;r1", "vCont;r1,", "vCont;c:1x", "vCont;;"}) {
    CAPTURE(bad);
    CHECK(talk.ask(bad) == "E01");
  }
  CHECK(talk.ask("vCont;c:9") == "E03");
  CHECK(talk.ask("s80000020") == "nothing");
  CHECK(talk.target.registers[{1, register_number::kPc}] == 0x8000'0020);
  talk.session.ended(1);
  CHECK(talk.session.take_output() == make_packet("W01"));
}

TEST_CASE("long answers come in parts", "[gdb]") {
  Talk talk;
  CHECK(talk.ask("qXfer:features:read:target.xml:0,8") == "m<target>");
  CHECK(talk.ask("qXfer:features:read:target.xml:8,ffff") == "l}#$*</target>");
  CHECK(talk.ask("qXfer:features:read:target.xml:fff,8") == "E01");
  CHECK(talk.ask("qXfer:features:read:other.xml:0,8") == "E00");
  CHECK(talk.ask("qXfer:threads:read::0,1000") ==
        "l<?xml version=\"1.0\"?>\n<threads>\n<thread id=\"1\" name=\"hart0\">&lt;idle> &amp; well</thread>\n"
        "<thread id=\"2\" name=\"hart1\">&lt;idle> &amp; well</thread>\n</threads>\n");
  CHECK(talk.ask("qfThreadInfo") == "m1,2");
}

TEST_CASE("monitor commands and odd packets are answered", "[gdb]") {
  Talk talk;
  talk.send(make_packet("qRcmd," + to_hex("time")));
  CHECK(talk.session.take_output() == make_packet("O" + to_hex("said time\n")) + make_packet("OK"));
  CHECK(talk.ask("qRcmd,7") == "E01");
  CHECK(talk.ask("qqemu.PhyMemMode") == "0");
  CHECK(talk.ask("Qqemu.PhyMemMode:1") == "OK");
  CHECK(talk.target.physical);
  CHECK(talk.ask("Qqemu.PhyMemMode:2") == "E01");
  CHECK(talk.ask("vMustReplyEmpty") == "");
  CHECK(talk.ask("") == "");
  CHECK(talk.ask("H") == "E01");
  CHECK(talk.ask("k") == "nothing");
  CHECK(talk.session.state() == Session::State::killed);
}

TEST_CASE("drawn bytes do no harm", "[gdb]") {
  std::mt19937 random(7);
  const std::string_view letters = "gGpPmMXZzHTcsCSDkqv?,;:=#$}+-0123456789abcdef\x03vCont;qSupported";
  for (unsigned round = 0; round < 20'000; ++round) {
    std::string text(1, static_cast<char>(random()));
    while (text.size() < 2 + random() % 60) {
      std::string payload;
      for (unsigned i = random() % 24; i-- > 0;) payload += letters[random() % letters.size()];
      text += random() % 8 == 0 ? payload : make_packet(payload);
    }
    LLVMFuzzerTestOneInput(bytes(text).data(), text.size());
  }
}

TEST_CASE("an extended debugger kills the program and runs it again", "[gdb]") {
  Talk talk;
  CHECK(talk.ask("!") == "OK");
  CHECK(talk.ask("vKill;1") == "OK");
  CHECK(talk.session.state() == Session::State::stopped);
  CHECK(talk.session.abandoned());
  CHECK(talk.ask("?") == "X09");
  CHECK(talk.ask("vRun;") == "T05thread:1;");
  CHECK(talk.target.restarts == 1);
  CHECK_FALSE(talk.session.abandoned());
  CHECK(talk.ask("R00") == "nothing");
  CHECK(talk.target.restarts == 2);
  CHECK(talk.ask("k") == "nothing");
  CHECK(talk.session.abandoned());
}

TEST_CASE("a plain debugger's kill ends the run", "[gdb]") {
  Talk talk;
  talk.ask("vKill;1");
  CHECK(talk.session.state() == Session::State::killed);
}
