// SPDX-License-Identifier: Apache-2.0
#include <sstream>
#include <string>

#include <catch2/catch.hpp>

#include "models/uart/back_ends.h"
#include "models/uart/uart.h"
#include "models/uart/uart_regs.h"
#include "tests/unit/irq/register_access.h"

using namespace sluice;
using namespace sluice::base::literals;
using uart::ExpectScript;
using uart::Uart;

namespace {

struct Bench {
  explicit Bench(base::Frequency clock = 0_Hz) : model((start(), "uart0"), {clock}) { model.attach(text); }
  static void start() {
    base::calendar().clear();
    base::calendar().set_now(0_ns);
  }
  void run_to(base::Time t) {
    while (base::calendar().next() <= t) base::calendar().dispatch();
    base::calendar().set_now(t);
  }
  unsigned get(unsigned offset) {
    std::uint8_t value = 0;
    REQUIRE(model.read(offset, &value, 1) == base::Answer::ok);
    return value;
  }
  void set(unsigned offset, unsigned value) {
    const auto byte = static_cast<std::uint8_t>(value);
    REQUIRE(model.write(offset, &byte, 1) == base::Answer::ok);
  }
  void say(const std::string& s) {
    for (const char c : s) set(UART_THR, static_cast<unsigned char>(c));
  }
  unsigned interrupt() { return get(UART_IIR) & UART_IIR_ID; }
  bool line() const { return model.interrupt.level(); }
  /// 8N1 with a divisor of 1: ten bits of 16 clocks.
  void line_8n1() {
    set(UART_LCR, 0x83);
    set(UART_DLL, 1);
    set(UART_DLM, 0);
    set(UART_LCR, 0x03);
  }

  struct Text : uart::BackEnd {
    void character(char c) override {
      heard += c;
      last = base::now();
    }
    std::string heard;
    base::Time last;
  };
  Uart model;
  Text text;
};

constexpr unsigned kFifos = UART_FCR_FIFO_ENABLE;

}  // namespace

TEST_CASE("characters leave at once when the line has no clock", "[uart]") {
  Bench b;
  b.say("hello");
  CHECK(b.text.heard == "hello");
  CHECK(b.get(UART_LSR) == (UART_LSR_THRE | UART_LSR_TEMT));
}

TEST_CASE("the last line with something in it is kept", "[uart]") {
  Bench b;
  CHECK(b.model.last_line().empty());
  b.say("one\n");
  CHECK(b.model.last_line() == "one");
  b.say("\r\n\ntwo \x1b[1;31mbold\x1b[0m\xff");
  CHECK(b.model.last_line() == "two bold");
  b.say("\r\n");
  CHECK(b.model.last_line() == "two bold");
  b.say("10 %\r20 %");
  CHECK(b.model.last_line() == "20 %");
  b.say("\r");
  CHECK(b.model.last_line() == "20 %");
  b.say("\n");
  b.say(std::string(300, 'x'));
  CHECK(b.model.last_line() == std::string(200, 'x'));
}

TEST_CASE("the divisor latch hides data and interrupt enables", "[uart]") {
  Bench b;
  b.set(UART_IER, UART_IER_ELSI);
  b.set(UART_LCR, UART_LCR_DLAB | 3);
  b.set(UART_DLL, 0x34);
  b.set(UART_DLM, 0x12);
  CHECK(b.get(UART_DLL) == 0x34);
  CHECK(b.get(UART_DLM) == 0x12);
  CHECK(b.text.heard.empty());
  b.set(UART_LCR, 3);
  CHECK(b.get(UART_IER) == UART_IER_ELSI);
  CHECK(b.get(UART_LCR) == 3);
  b.set(UART_SCR, 0xa5);
  CHECK(b.get(UART_SCR) == 0xa5);
}

TEST_CASE("a character takes its bits at the line's rate", "[uart]") {
  Bench b(16_MHz);  // one bit is 1 us at divisor 1
  b.line_8n1();
  b.set(UART_FCR, kFifos);
  b.say("ab");
  CHECK(b.get(UART_LSR) == 0);  // one in the shift register, one waiting
  b.run_to(10_us - 1_fs);
  CHECK(b.text.heard.empty());
  b.run_to(10_us);
  CHECK(b.text.heard == "a");
  CHECK(b.get(UART_LSR) == UART_LSR_THRE);
  b.run_to(20_us);
  CHECK(b.text.heard == "ab");
  CHECK(b.get(UART_LSR) == (UART_LSR_THRE | UART_LSR_TEMT));
  b.set(UART_LCR, UART_LCR_PEN | UART_LCR_STB);  // 5 bits, parity, one and a half stop bits
  b.say("c");
  b.run_to(40_us);
  CHECK(b.text.last == 20_us + 8'500_ns);
}

TEST_CASE("a full transmit FIFO loses what is written", "[uart]") {
  Bench b(16_MHz);
  b.line_8n1();
  b.set(UART_FCR, kFifos);
  b.say("0123456789abcdefghij");  // one shifting, 16 waiting
  b.run_to(1_ms);
  CHECK(b.text.heard == "0123456789abcdefg");
}

TEST_CASE("an empty transmitter interrupts until IIR is read or a character written", "[uart]") {
  Bench b(16_MHz);
  b.line_8n1();
  b.set(UART_IER, UART_IER_ETBEI);
  CHECK(b.line());  // enabling it while empty interrupts
  CHECK(b.interrupt() == UART_IIR_THR_EMPTY);
  CHECK_FALSE(b.line());
  CHECK(b.interrupt() == UART_IIR_NONE);
  b.set(UART_FCR, kFifos);
  b.say("xyz");
  CHECK_FALSE(b.line());
  b.run_to(20_us);  // z moves to the shift register
  CHECK(b.line());
  b.say("!");
  CHECK_FALSE(b.line());
}

TEST_CASE("received characters interrupt at the trigger level, fewer after a silence", "[uart]") {
  Bench b(16_MHz);
  b.line_8n1();
  b.set(UART_FCR, kFifos | 1u << UART_FCR_RCVR_TRIGGER_SHIFT);  // 4
  b.set(UART_IER, UART_IER_ERBFI);
  b.model.input("abc");
  b.model.input("def");  // the line is busy: def waits for abc
  b.run_to(30_us);
  CHECK_FALSE(b.line());
  CHECK((b.get(UART_LSR) & UART_LSR_DR) != 0);
  b.run_to(40_us);
  CHECK(b.interrupt() == UART_IIR_RECEIVED);
  for (const char c : {'a', 'b'}) CHECK(b.get(UART_RBR) == static_cast<unsigned>(c));
  CHECK(b.interrupt() == UART_IIR_NONE);
  b.run_to(60_us);  // two more
  CHECK(b.interrupt() == UART_IIR_RECEIVED);
  for (const char c : {'c', 'd', 'e'}) CHECK(b.get(UART_RBR) == static_cast<unsigned>(c));
  b.run_to(100_us - 1_fs);
  CHECK_FALSE(b.line());
  b.run_to(100_us);  // four characters of silence since the last read
  CHECK(b.interrupt() == UART_IIR_TIMEOUT);
  CHECK(b.get(UART_RBR) == 'f');
  CHECK_FALSE(b.line());
  CHECK(b.get(UART_RBR) == 0);
  CHECK(b.get(UART_IIR) == (UART_IIR_FIFOS | UART_IIR_NONE));
}

TEST_CASE("the other end waits while the receive FIFO is full", "[uart]") {
  for (const base::Frequency clock : {0_Hz, 16_MHz}) {
    Bench b(clock);
    b.line_8n1();
    b.set(UART_FCR, kFifos);
    const std::string sent = "the quick brown fox jumps over the lazy dog";
    b.model.input(sent);
    std::string got;
    for (int i = 1; i < 1000; ++i) {
      b.run_to(base::Time::us(static_cast<std::uint64_t>(i) * 25));
      if ((b.get(UART_LSR) & UART_LSR_DR) != 0) got += static_cast<char>(b.get(UART_RBR));
    }
    CHECK(got == sent);
  }
}

TEST_CASE("without FIFOs one character is held", "[uart]") {
  Bench b;
  b.set(UART_IER, UART_IER_ERBFI);
  b.model.input("xy");
  CHECK(b.get(UART_IIR) == UART_IIR_RECEIVED);
  CHECK(b.get(UART_RBR) == 'x');
  CHECK(b.get(UART_RBR) == 'y');
  CHECK_FALSE(b.line());
}

TEST_CASE("FCR clears the FIFOs", "[uart]") {
  Bench b(16_MHz);
  b.line_8n1();
  b.set(UART_FCR, kFifos);
  b.model.input("in");
  b.run_to(15_us);
  b.say("out");
  b.set(UART_FCR, kFifos | UART_FCR_RCVR_RESET | UART_FCR_XMIT_RESET);
  CHECK((b.get(UART_LSR) & (UART_LSR_DR | UART_LSR_THRE)) == UART_LSR_THRE);
  b.run_to(100_us);
  CHECK(b.text.heard == "o");     // was in the shift register
  CHECK(b.get(UART_RBR) == 'n');  // was still on the line
}

TEST_CASE("loop-back feeds the receiver and the modem lines, and can overrun", "[uart]") {
  Bench b;
  CHECK(b.get(UART_MSR) == (UART_MSR_CTS | UART_MSR_DSR | UART_MSR_DCD));
  b.set(UART_IER, UART_IER_ELSI | UART_IER_EDSSI);
  b.set(UART_MCR, UART_MCR_LOOP | UART_MCR_RTS | UART_MCR_OUT1);
  CHECK(b.interrupt() == UART_IIR_MODEM_STATUS);
  CHECK(b.get(UART_MSR) == (UART_MSR_CTS | UART_MSR_RI | 0x0a));  // DSR and DCD fell
  CHECK(b.get(UART_MSR) == (UART_MSR_CTS | UART_MSR_RI));
  CHECK_FALSE(b.line());
  b.set(UART_MCR, UART_MCR_LOOP | UART_MCR_RTS);
  CHECK(b.get(UART_MSR) == (UART_MSR_CTS | 0x04));  // trailing edge of RI

  b.set(UART_FCR, kFifos);
  b.say("0123456789abcdefX");
  CHECK(b.text.heard.empty());
  CHECK(b.interrupt() == UART_IIR_LINE_STATUS);
  CHECK((b.get(UART_LSR) & UART_LSR_OE) != 0);
  CHECK((b.get(UART_LSR) & UART_LSR_OE) == 0);
  for (const char c : std::string("0123456789abcdef")) CHECK(b.get(UART_RBR) == static_cast<unsigned>(c));
}

TEST_CASE("an access of 16 or 32 bits reaches the register at its address and no other", "[uart]") {
  Bench b;
  b.set(UART_IER, UART_IER_ERBFI);
  b.set(UART_SCR, 0x5a);
  for (const unsigned size : {2u, 4u}) {
    const std::uint32_t character = 0xffff'ff00u | (size == 2 ? 'a' : 'b');
    CHECK(b.model.write(UART_THR, &character, size) == base::Answer::ok);
    std::uint32_t value = 0xdead'beef;
    CHECK(b.model.read(UART_MCR, &value, size) == base::Answer::ok);
    CHECK(value == (size == 2 ? 0xdead'0000 : 0));
  }
  const std::uint16_t clear = 0xff'00;
  CHECK(b.model.write(UART_MSR, &clear, 2) == base::Answer::ok);
  CHECK(b.text.heard == "ab");
  CHECK(b.get(UART_IER) == UART_IER_ERBFI);
  CHECK(b.get(UART_LCR) == 0);
  CHECK(b.get(UART_SCR) == 0x5a);
}

TEST_CASE("other widths and offsets are refused", "[uart]") {
  Bench b;
  std::uint64_t value = 'x';
  CHECK(b.model.read(8, &value, 1) == base::Answer::unmapped);
  CHECK(b.model.write(~0ull, &value, 1) == base::Answer::unmapped);
  CHECK(b.model.write(UART_THR, &value, 8) == base::Answer::wrong_width);
  CHECK(b.model.read(UART_RBR, &value, 3) == base::Answer::wrong_width);
  CHECK(b.model.read(UART_LSR, &value, 2) == base::Answer::misaligned);
  CHECK(b.model.write(UART_FCR, &value, 4) == base::Answer::misaligned);
  CHECK(b.text.heard.empty());
  b.set(UART_LSR, 0xff);  // read-only: ignored
  b.set(UART_MSR, 0xff);
  CHECK(b.get(UART_LSR) == (UART_LSR_THRE | UART_LSR_TEMT));
}

TEST_CASE("a stream back end passes text on", "[uart]") {
  Bench b;
  std::ostringstream out;
  uart::StreamBackEnd stream(out);
  b.model.attach(stream);
  b.say("one\r\ntwo");
  CHECK(out.str() == "one\r\ntwo");
}

TEST_CASE("further UARTs' lines come whole, between those of the first", "[uart]") {
  std::ostringstream out;
  uart::StreamBackEnd first(out);
  uart::LineBackEnd second("soc.card", first);
  const auto say = [](uart::BackEnd& to, const char* text) {
    for (; *text; ++text) to.character(*text);
  };
  say(first, "on");
  say(second, "up\r\nha");
  say(first, "e\r\n");
  CHECK(out.str() == "one\r\nsoc.card: up\n");
  say(second, "lf\n\n");
  CHECK(out.str() == "one\r\nsoc.card: up\nsoc.card: half\nsoc.card: \n");
  out.str("");
  say(first, "# ");
  say(second, "late\nno end");
  CHECK(out.str() == "# ");
  second.end();
  first.flush();
  first.flush();
  second.end();
  CHECK(out.str() == "# \nsoc.card: late\nsoc.card: no end\n");
  // A line without an end is broken after 4096 characters.
  out.str("");
  say(second, std::string(5000, 'x').c_str());
  CHECK(out.str() == "soc.card: " + std::string(4096, 'x') + "\n");
  second.end();
  out.str("");
  say(second, (std::string(4096, 'x') + "\n").c_str());
  CHECK(out.str() == "soc.card: " + std::string(4096, 'x') + "\n");
}

TEST_CASE("a script answers what it waits for", "[expect]") {
  Bench b;
  int ends = 0;
  ExpectScript script(b.model, {{"login: ", "root\n", 1_s}, {"# ", "ls\n", 1_s}, {"file", "", 1_s}},
                      [&](const ExpectScript&) { ++ends; });
  b.set(UART_FCR, kFifos);
  b.say("welcome\r\nlogin:");
  CHECK((b.get(UART_LSR) & UART_LSR_DR) == 0);
  b.say(" ");
  std::string got;
  while ((b.get(UART_LSR) & UART_LSR_DR) != 0) got += static_cast<char>(b.get(UART_RBR));
  CHECK(got == "root\n");
  b.say("# ");
  CHECK(script.state() == ExpectScript::State::running);
  CHECK(ends == 0);
  b.say("a file");
  CHECK(script.state() == ExpectScript::State::passed);
  CHECK(ends == 1);
  CHECK(script.diagnosis().empty());
  CHECK(base::calendar().next() == base::Time::max());
}

TEST_CASE("a script that waits in vain fails at its timeout and says why", "[expect]") {
  Bench b;
  b.run_to(5_us);
  base::Time ended;
  ExpectScript script(b.model, {{"", "go\n"}, {"ready", "", 10_us}, {"done", "", 20_us}},
                      [&](const ExpectScript&) { ended = base::now(); });
  b.run_to(8_us);
  b.say("ready");
  b.run_to(10_us);
  b.say("\x1bnot \"yet\"\n");
  b.run_to(1_ms);
  CHECK(script.state() == ExpectScript::State::failed);
  CHECK(ended == 28_us);
  CHECK(script.diagnosis() ==
        "uart0: step 3 of 3: \"done\" did not come within 20 us; heard \"\\x1bnot \\\"yet\\\"\\n\"");
  b.say("done");
  CHECK(script.state() == ExpectScript::State::failed);
}

TEST_CASE("a script without steps, or with nothing to wait for, passes at once", "[expect]") {
  Bench b;
  CHECK(ExpectScript(b.model, {}).state() == ExpectScript::State::passed);
}

TEST_CASE("the clock of a UART may be 0 Hz", "[uart]") {
  const auto& schema = base::schema_of<Uart::Parameters>();
  Uart::Parameters p;
  schema.find("clock")->assign_text(&p, "1.8432 MHz");
  CHECK(p.clock.hertz() == 1'843'200);
  schema.find("clock")->assign_text(&p, "0 Hz");
  CHECK(p.clock == 0_Hz);
  CHECK_THROWS_AS(schema.find("clock")->assign_text(&p, "2 GHz"), base::ValueError);
}

TEST_CASE("a debugger takes no character, no error and no interrupt", "[uart]") {
  Bench b;
  b.set(UART_IER, UART_IER_ETBEI | UART_IER_EDSSI);
  b.set(UART_MCR, UART_MCR_LOOP);
  b.set(UART_MCR, UART_MCR_LOOP | UART_MCR_RTS);
  b.say("ab");  // no FIFO: the second one overruns
  b.set(UART_LCR, 0x83);
  b.set(UART_DLL, 0x0c);
  b.set(UART_DLM, 0x01);
  b.set(UART_LCR, 0x03);
  for (int twice = 0; twice < 2; ++twice) {
    auto seen = test::look("uart0");
    CHECK(seen["rbr"] == 'a');
    CHECK(seen["dll"] == 0x0c);
    CHECK(seen["dlm"] == 0x01);
    CHECK(seen["ier"] == (UART_IER_ETBEI | UART_IER_EDSSI));
    CHECK(seen["iir"] == UART_IIR_THR_EMPTY);
    CHECK(seen["lcr"] == 0x03);
    CHECK(seen["mcr"] == (UART_MCR_LOOP | UART_MCR_RTS));
    CHECK(seen["lsr"] == (UART_LSR_DR | UART_LSR_OE | UART_LSR_THRE | UART_LSR_TEMT));
    CHECK((seen["msr"] & UART_MSR_CHANGES) != 0);
  }
  CHECK(b.interrupt() == UART_IIR_THR_EMPTY);
  CHECK((b.get(UART_LSR) & UART_LSR_OE) != 0);
  CHECK((b.get(UART_MSR) & UART_MSR_CHANGES) != 0);
  CHECK(b.get(UART_RBR) == 'a');
  auto seen = test::look("uart0");
  CHECK((seen["lsr"] & (UART_LSR_DR | UART_LSR_OE)) == 0);
  CHECK((seen["msr"] & UART_MSR_CHANGES) == 0);
}
