// SPDX-License-Identifier: Apache-2.0
#include <random>

#include <catch2/catch.hpp>

#include "models/base/parameters/quantity.h"

using namespace sluice::base;
using namespace sluice::base::literals;
using Catch::Matchers::Message;

TEST_CASE("a quantity is read exactly, whatever its unit", "[quantity]") {
  CHECK(parse_time("379 ns") == 379_ns);
  CHECK(parse_time("2.5us") == 2'500_ns);
  CHECK(parse_time("33.3 ns") == 33'300_ps);
  CHECK(parse_time("0.000001 ns") == 1_fs);
  CHECK(parse_time(" 15 ms ") == 15_ms);
  CHECK(parse_time("1e3 ns") == 1_us);
  CHECK(parse_time("1.25E+2ns") == 125_ns);
  CHECK(parse_time("1500e-3 us") == 1'500_ns);
  CHECK(parse_time("0e99 s") == 0_ns);
  CHECK(parse_time("100000000000000000000000000000e-25 s") == 10'000_s);
  CHECK(parse_time("1e-5 ns") == Time::fs(10));
  CHECK(parse_bit_rate("1e11 b/s").bits_per_second() == 100'000'000'000);
  CHECK(parse_time("18446 s") == 18'446_s);
  CHECK(parse_bytes("64 KiB") == 64_KiB);
  CHECK(parse_bytes("22 MB").count() == 22'000'000);
  CHECK(parse_bytes("1.5 MiB").count() == 1'572'864);
  CHECK(parse_bytes("100_000 B").count() == 100'000);
  CHECK(parse_bit_rate("100 Gb/s").bits_per_second() == 100'000'000'000);
  for (const char* text :
       {"200 Gb/s", "200Gbps", "200 Gbps", "200 Gbit/s", " 200Gbit/s ", "0.2 Tbps", "200000000 kbit/s"})
    CHECK(parse_bit_rate(text).bits_per_second() == 200'000'000'000);
  CHECK(parse_bit_rate("7 bps").bits_per_second() == 7);
  CHECK(parse_frequency("3.1 GHz").hertz() == 3'100'000'000);
  CHECK(parse_frequency("322.265625 MHz").hertz() == 322'265'625);
  CHECK(parse_ratio("39 %") == Ratio(39, 100));
  CHECK(parse_ratio("0.390") == Ratio(39, 100));
  CHECK(parse_ratio("1e-7") == Ratio(1, 10'000'000));
  CHECK(parse_ratio("2.5E-1 %") == Ratio(1, 400));
  CHECK(parse_ratio("1.5e3") == Ratio(1'500));
  CHECK(parse_ratio("128/130") == Ratio(64, 65));
  CHECK(parse_ratio("2") == Ratio(2));
}

TEST_CASE("a missing or foreign unit is answered with the valid ones", "[quantity]") {
  const auto time_units = Message("must be a time with a unit (fs, ps, ns, us, ms or s)");
  for (const char* text : {"",       "5",     "5 KiB",   "14 cycles", "ns",      "5 NS",   "5 n s",  "1e ns",
                           "1e+ ns", "e3 ns", "1e3",     "1e3.5 ns",  "5. ns",   ".5 ns",  "5,5 ns", "+5 ns",
                           "_5 ns",  "5_ ns", "1__0 ns", "0x10 ns",   "five ns", "5 ns ns"}) {
    CAPTURE(text);
    CHECK_THROWS_MATCHES(parse_time(text), ValueError, time_units);
  }
  for (const char* text : {"100 GB/s", "100 GBps", "100 gbps", "100 Gbps/s", "100 Gbits/s", "100", "bps", "100 G"}) {
    CAPTURE(text);
    CHECK_THROWS_MATCHES(parse_bit_rate(text), ValueError,
                         Message("must be a data rate with a unit (b/s, kb/s, Mb/s, Gb/s or Tb/s)"));
  }
  for (const char* text : {"64k", "64 K", "64M"}) {
    CAPTURE(text);
    CHECK_THROWS_MATCHES(parse_bytes(text), ValueError,
                         Message("must be a size with a unit (B, kB, MB, GB, TB, KiB, MiB, GiB or TiB)"));
  }
  CHECK_THROWS_MATCHES(parse_bytes("64 Kib"), ValueError,
                       Message("must be a size with a unit (B, kB, MB, GB, TB, KiB, MiB, GiB or TiB)"));
  CHECK_THROWS_MATCHES(parse_frequency("3.1"), ValueError,
                       Message("must be a frequency with a unit (Hz, kHz, MHz, GHz or THz)"));
}

TEST_CASE("what an integer of the smallest unit cannot hold is refused, not rounded", "[quantity]") {
  CHECK_THROWS_MATCHES(parse_time("0.5 fs"), ValueError, Message("must be a whole number of fs"));
  CHECK_THROWS_MATCHES(parse_bytes("0.3 KiB"), ValueError, Message("must be a whole number of B"));
  CHECK_THROWS_MATCHES(parse_time("-5 ns"), ValueError, Message("must not be negative"));
  CHECK_THROWS_MATCHES(parse_time("18447 s"), ValueError, Message("must be at most 18446 s"));
  CHECK_THROWS_MATCHES(parse_time("1e100 ns"), ValueError, Message("must be at most 18446 s"));
  CHECK_THROWS_MATCHES(parse_bytes("99999999999999999999999999999 TiB"), ValueError,
                       Message("must be at most 16777215 TiB"));
  CHECK_THROWS_AS(parse_bytes("9999999999999999999999999999999 B"), ValueError);  // 31 digits
  for (const char* text : {"1/0", "", "/", "1/", "1.5/2", "-1", "1 2", "%", "1/2/3", "99999999999999999999", "1e",
                           "1e-20", "1e20", "1e999999999999", "1e1/2"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_ratio(text), ValueError);
  }
}

TEST_CASE("a quantity is written in its natural unit", "[quantity]") {
  CHECK(to_text(379_ns) == "379 ns");
  CHECK(to_text(33'300_ps) == "33.3 ns");
  CHECK(to_text(2'500_ns) == "2.5 us");
  CHECK(to_text(0_ns) == "0 ns");
  CHECK(to_text(Time::max()) == "18446.744073709551615 s");
  CHECK(to_text(64_KiB) == "64 KiB");
  CHECK(to_text(Bytes(22'000'000)) == "22 MB");
  CHECK(to_text(Bytes(1'572'864)) == "1536 KiB");
  CHECK(to_text(0_B) == "0 B");
  CHECK(to_text(100_Gbps) == "100 Gb/s");
  CHECK(to_text(Frequency(3'100'000'000)) == "3.1 GHz");
  CHECK(to_text(Ratio(39, 100)) == "0.39");
  CHECK(to_text(Ratio(128, 130)) == "64/65");
}

TEST_CASE("every quantity reads back from its own text", "[quantity]") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t n = random() >> (random() % 64);
    CAPTURE(n);
    REQUIRE(parse_time(to_text(Time::fs(n))) == Time::fs(n));
    REQUIRE(parse_bytes(to_text(Bytes(n))) == Bytes(n));
    REQUIRE(parse_bit_rate(to_text(BitRate(n))) == BitRate(n));
    REQUIRE(parse_frequency(to_text(Frequency(n))) == Frequency(n));
    const Ratio ratio(n, (random() >> (random() % 64)) | 1);
    REQUIRE(parse_ratio(to_text(ratio)) == ratio);
  }
}

TEST_CASE("random text never does worse than a ValueError", "[quantity]") {
  std::mt19937_64 random(2);
  const std::string alphabet = "0123456789._-/% fpnumskKMGTiBbHzt/";
  for (int i = 0; i < 50'000; ++i) {
    std::string text(random() % 12, ' ');
    for (char& c : text) c = alphabet[random() % alphabet.size()];
    for (auto read : {+[](std::string_view s) { parse_time(s); }, +[](std::string_view s) { parse_bytes(s); },
                      +[](std::string_view s) { parse_ratio(s); }, +[](std::string_view s) { parse_bit_rate(s); }}) {
      try {
        read(text);
      } catch (const ValueError&) {
      }
    }
  }
}

TEST_CASE("cycles and time convert by an exact ratio", "[quantity]") {
  const Clock host = Frequency(3'100'000'000).clock();
  CHECK(host.period() == Ratio(10'000'000, 31));
  CHECK(host.time_of(31) == 10_ns);
  CHECK(host.time_of(31'000'000'000'000) == 10'000_s);  // needs 128 bits on the way
  CHECK(host.time_of(1) == 322'581_fs);                 // 322,580.6 rounded up
  CHECK(host.cycles_at(322'580_fs) == 0);
  CHECK(host.cycles_at(322'581_fs) == 1);
  CHECK(host.next_cycle(0_ns) == 0);
  CHECK(host.next_cycle(1_fs) == 1);
  CHECK(host.next_cycle(322'581_fs) == 1);
  CHECK(host.next_cycle(322'582_fs) == 2);

  for (std::uint64_t hertz : {1ull, 50'000'000ull, 322'265'625ull, 3'100'000'000ull, 2'999'999'999ull}) {
    const Clock clock(hertz);
    std::mt19937_64 random(3);
    for (int i = 0; i < 5'000; ++i) {
      const std::uint64_t n = random() % (18'000 * hertz);  // within the range of Time
      CAPTURE(hertz, n);
      REQUIRE(clock.cycles_at(clock.time_of(n)) == n);
      REQUIRE(clock.next_cycle(clock.time_of(n)) == n);
      if (n > 0) REQUIRE(clock.cycles_at(clock.time_of(n) - 1_fs) == n - 1);
    }
  }
}

TEST_CASE("a rate gives the time that bytes occupy a link, never too short", "[quantity]") {
  CHECK((100_Gbps).time_of(84_B) == 6'720_ps);
  CHECK(BitRate(113'700'000'000).time_of(64_B) == 4'503'079_fs);  // 4,503,078.3 rounded up
  CHECK(BitRate(3).time_of(1_B) == Time::fs(2'666'666'666'666'667));
  CHECK((100_Gbps).femtoseconds_per_byte() == Ratio(80'000));
}

TEST_CASE("ratios are in lowest terms and ordered", "[quantity]") {
  CHECK(Ratio(6, 4) == Ratio(3, 2));
  CHECK(Ratio(1, 3) < Ratio(34, 100));
  CHECK(Ratio(~0ull, 2) > Ratio(~0ull, 3));
  CHECK(Ratio(2, 3).of(10) == 6);
  CHECK(Ratio(2, 3).of_rounded_up(10) == 7);
  CHECK_THROWS_AS(Ratio(1, 0), ValueError);
}
