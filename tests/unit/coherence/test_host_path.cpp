// SPDX-License-Identifier: Apache-2.0
/// A device behind a coherent link that reads and writes its host's memory, and interrupts its harts.
#include <map>
#include <optional>

#include <catch2/catch.hpp>

#include "models/base/fabric/interrupt_line.h"
#include "models/base/measure/mistakes.h"
#include "models/coherence/link/host_path.h"
#include "tests/unit/fresh_kernel.h"

using namespace sluice;
using namespace sluice::base::literals;
using coherence::CoherentLink;
using coherence::HostPath;

namespace {

constexpr std::uint64_t kRam = 0x8000'0000, kController = 0x2800'0000;
constexpr coherence::CoherentLatencies kLatencies{5_ns, 10_ns, 40_ns, 30_ns, 20_ns, {}, {}, 0, {}};
constexpr base::Time kDown = 10_ns + 5_ns + 20_ns, kUp = 30_ns + 5_ns + 40_ns;
/// A byte takes 100 ps on the wire.
const base::Ratio kRate(100'000);

struct Memory : base::MemoryPath {
  base::GuestRam ram{kRam, 1u << 20};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> told;
  base::GuestRam* ram_at(std::uint64_t a, std::uint64_t n) override { return ram.contains(a, n) ? &ram : nullptr; }
  base::Time read_latency(std::uint64_t, std::uint64_t) override { return 80_ns; }
  base::Time write_latency(std::uint64_t, std::uint64_t) override { return 60_ns; }
  void written(std::uint64_t address, std::uint64_t length) override { told.emplace_back(address - kRam, length); }
};

struct Bench {
  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 100_ns};
  Memory memory;
  CoherentLink link;
  std::vector<std::pair<base::Time, std::uint32_t>> interrupts;
  std::vector<base::RequestId> waiting;
  HostPath path;
  std::map<std::string, unsigned> sent;

  explicit Bench(const coherence::Dialect& dialect = coherence::kEci)
      : link("link", dialect, kRate, kLatencies),
        path(
            "path", link, memory, dialect.line_bytes == 0 ? 64 : dialect.line_bytes,
            [this](std::uint64_t to, std::uint32_t value) {
              if (to != kController) return false;
              interrupts.emplace_back(base::now(), value);
              for (const base::RequestId id : base::InterruptRequests::now()) waiting.push_back(id);
              return true;
            },
            "device.d") {
    const auto note = [this](const coherence::CoherentMessage& m, base::Time, base::Time) { ++sent[m.format.name]; };
    base::mistakes().clear();
    link.up().add_tap(note);
    link.down().add_tap(note);
  }
  void at(base::Time t, std::function<void()> f) {
    base::calendar().at(t, base::path_key("test"),
                        [f = std::make_shared<std::function<void()>>(std::move(f))] { (*f)(); });
  }
  void run() { scheduler.run_until(base::Time::max()); }
  void put(std::uint64_t offset, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) *memory.ram.at(kRam + offset + i) = static_cast<std::uint8_t>(offset + i);
  }
};

/// How a transfer ended.
struct Ended {
  std::optional<bool> ok;
  base::Time when;
  std::vector<std::uint8_t> bytes;
  base::RequestId of = 0;
};

void read(Bench& b, std::uint64_t offset, std::uint32_t bytes, Ended& e) {
  b.path.read(kRam + offset, bytes, [&e](const base::HostRead& r) {
    e = {r.ok, base::now(), {r.bytes.begin(), r.bytes.end()}, r.of};
  });
}

void write(Bench& b, const base::HostWrite& w, Ended& e) {
  b.path.write(w, [&e](bool ok) { e = {ok, base::now(), {}, 0}; });
}

std::vector<std::uint8_t> count(std::size_t bytes, unsigned from = 0) {
  std::vector<std::uint8_t> all(bytes);
  for (std::size_t i = 0; i < bytes; ++i) all[i] = static_cast<std::uint8_t>(from + i);
  return all;
}

}  // namespace

TEST_CASE("a read of a part of a line takes a message there and one back with its 32 B") {
  Bench b;
  Ended e;
  b.put(40, 8);
  b.at(1_us, [&] { read(b, 40, 8, e); });
  b.run();
  REQUIRE(e.ok == true);
  CHECK(e.bytes == count(8, 40));
  // Words of 8 B; the answer has 32 B behind it.
  CHECK(e.when == 1_us + base::Time::ps(800) + kUp + 80_ns + base::Time::ps(4'000) + kDown);
  CHECK(b.sent == std::map<std::string, unsigned>{{"MREQ_RLDT", 1}, {"MRSP_PSHA", 1}});
}

TEST_CASE("bytes are read when memory has had its time") {
  Bench b;
  Ended e;
  b.at(1_us, [&] { read(b, 0, 1, e); });
  const base::Time arrives = 1_us + base::Time::ps(800) + kUp;
  b.at(arrives + 79_ns, [&] { *b.memory.ram.at(kRam) = 7; });
  b.at(arrives + 81_ns, [&] { *b.memory.ram.at(kRam) = 8; });
  b.run();
  CHECK(e.bytes == std::vector<std::uint8_t>{7});
}

TEST_CASE("transfers are divided at the ends of lines and put together again") {
  for (const auto* dialect : {&coherence::kEci, &coherence::kCxl, &coherence::kOnDie}) {
    const unsigned line = dialect->line_bytes == 0 ? 64 : dialect->line_bytes;
    for (const std::uint32_t offset : {0u, 1u, line - 1, line, 3 * line - 5})
      for (const std::uint32_t bytes : {1u, line - 1, line, line + 1, 5 * line + 3, 65536u}) {
        Bench b(*dialect);
        Ended e, w;
        b.put(offset, bytes);
        const auto stored = count(bytes, 99);
        b.at(1_us, [&] { read(b, offset, bytes, e); });
        b.at(1_ms, [&] { write(b, {kRam + 0x40000 + offset, stored}, w); });
        b.run();
        REQUIRE(e.ok == true);
        REQUIRE(e.bytes == count(bytes, offset));
        REQUIRE(w.ok == true);
        REQUIRE(std::equal(stored.begin(), stored.end(), b.memory.ram.at(kRam + 0x40000 + offset)));
        REQUIRE(*b.memory.ram.at(kRam + 0x40000 + offset + bytes) == 0);
        const std::size_t parts = (offset + bytes - 1) / line - offset / line + 1;
        REQUIRE(b.memory.told.size() == parts);
      }
  }
}

TEST_CASE("a write is visible before its sender is told") {
  Bench b;
  Ended e;
  const auto bytes = count(128);
  b.at(1_us, [&] { write(b, {kRam + 256, bytes}, e); });
  const base::Time seen = 1_us + base::Time::ps(13'600) + kUp + 60_ns;
  b.at(seen - base::Time::ps(1), [&] { CHECK(*b.memory.ram.at(kRam + 257) == 0); });
  b.at(seen + base::Time::ps(1), [&] { CHECK(*b.memory.ram.at(kRam + 257) == 1); });
  b.run();
  CHECK(e.ok == true);
  CHECK(e.when == seen + base::Time::ps(800) + kDown);
  CHECK(b.memory.told == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{256, 128}});
  CHECK(b.sent == std::map<std::string, unsigned>{{"MREQ_RSTT", 1}, {"MRSP_PEMD (no data)", 1}});
}

TEST_CASE("over CXL the host asks for the bytes of a write") {
  Bench b(coherence::kCxl);
  Ended e;
  const auto bytes = count(64);
  b.at(1_us, [&] { write(b, {kRam, bytes}, e); });
  b.run();
  CHECK(e.ok == true);
  const base::Time slot = base::Time::ps(1600), data = base::Time::ps(8000);
  CHECK(e.when == 1_us + slot + kUp + slot + kDown + data + kUp + 60_ns + slot + kDown);
  CHECK(b.sent == std::map<std::string, unsigned>{
                      {"D2HReq.WOWrInv", 1}, {"H2DRsp.WritePull", 1}, {"D2HData", 1}, {"H2DRsp.ExtCmp", 1}});
}

TEST_CASE("what no memory holds is a mistake of the device, and its transfer fails") {
  for (const auto* dialect : {&coherence::kEci, &coherence::kCxl}) {
    Bench b(*dialect);
    Ended r, w, across;
    const auto bytes = count(8);
    b.at(1_us, [&] { b.path.read(0x1000, 8, [&](const base::HostRead& read) { r.ok = read.ok; }); });
    b.at(2_us, [&] { write(b, {0x1000, bytes}, w); });
    b.at(3_us, [&] { read(b, (1u << 20) - 64, 256, across); });
    b.run();
    CHECK(r.ok == false);
    CHECK(w.ok == false);
    CHECK(across.ok == false);
    REQUIRE(base::mistakes().list().size() >= 2);
    CHECK(base::mistakes().list()[0].what == "device.d: read of 8 bytes at 0x1000: no memory is there");
    CHECK(base::mistakes().list()[1].what == "device.d: write of 8 bytes at 0x1000: no memory is there");
  }
}

TEST_CASE("a write to code is a mistake of the device, and takes place") {
  static const std::string hart = "hart";
  for (const auto* dialect : {&coherence::kEci, &coherence::kCxl}) {
    Bench b(*dialect);
    Ended e;
    b.memory.ram.add_code(kRam + 4, 4);
    const auto bytes = count(64);
    b.at(1_us, [&] {
      const base::AccessSiteScope by({&hart, 0x40, 0});
      write(b, {kRam, bytes}, e);
    });
    b.run();
    CHECK(e.ok == true);
    const base::Mistake& mistake = base::mistakes().list().at(0);
    CHECK(mistake.what == "device.d: write of 64 bytes at 0x80000000: code lies there");
    CHECK(mistake.pc == 0x40);
    CHECK(*b.memory.ram.at(kRam + 1) == 1);
  }
}

TEST_CASE("transfers of no bytes or too many are the author's mistake") {
  Bench b;
  b.at(1_us, [&] {
    CHECK_THROWS_WITH(b.path.read(kRam, 0, [](const base::HostRead&) {}),
                      "it reads or writes 0 bytes of host memory; a transfer has 1 to 65536");
    CHECK_THROWS_WITH(b.path.read(kRam, 65537, [](const base::HostRead&) {}),
                      "it reads or writes 65537 bytes of host memory; a transfer has 1 to 65536");
  });
  b.run();
}

TEST_CASE("lines belong to the request whose bytes were written, and reads say so") {
  Bench b;
  const base::RequestId x = base::ledger().open(SLUICE_STAGE_nic_queue, base::ledger().component("nic"), 0_ns);
  Ended w, tagged, plain;
  const auto bytes = count(200);
  b.at(1_us, [&] { write(b, {kRam, bytes, x}, w); });
  b.at(2_us, [&] { read(b, 150, 8, tagged); });
  b.at(3_us, [&] { write(b, {kRam, std::span(bytes).first(8)}, w); });  // leaves whom the line belongs to
  b.at(4_us, [&] { read(b, 0, 8, plain); });
  b.run();
  CHECK(tagged.of == x);
  CHECK(plain.of == x);
  CHECK(b.memory.ram.tag(kRam + 192) == x);
  CHECK(b.memory.ram.tag(kRam + 256) == 0);
}

TEST_CASE("a request is on the link, in memory, and then where its write has arrived") {
  for (const auto* dialect : {&coherence::kEci, &coherence::kCxl}) {
    Bench b(*dialect);
    const unsigned line = dialect->line_bytes;
    const auto nic = base::ledger().component("nic");
    const base::RequestId x = base::ledger().open(SLUICE_STAGE_nic_queue, nic, 0_ns);
    Ended e;
    const auto bytes = count(2 * line);
    b.at(1_us, [&] { write(b, {kRam, bytes, x, base::HostWrite::Arrival{SLUICE_STAGE_wait_core, nic}}, e); });
    b.run();
    const auto& tiles = base::ledger().find(x)->tiles;
    REQUIRE(tiles.size() == 4);
    CHECK(tiles[1].stage == SLUICE_STAGE_coherence_message);
    CHECK(tiles[1].start == 1_us);
    CHECK(tiles[2].stage == SLUICE_STAGE_memory);
    CHECK(tiles[3].stage == SLUICE_STAGE_wait_core);
    CHECK(tiles[3].start == tiles[2].start + 60_ns);
    CHECK(base::ledger().clamped() == 0);
  }
}

TEST_CASE("an interrupt reaches its controller one message later, with those who wait for it") {
  Bench b;
  const base::RequestId x = base::ledger().open(SLUICE_STAGE_notify, base::ledger().component("nic"), 0_ns);
  b.at(1_us, [&] { b.path.interrupt(kController, 0x1234'5678, std::array{x}); });
  b.run();
  const base::Time there = 1_us + base::Time::ps(1600) + kUp;
  CHECK(b.interrupts == std::vector<std::pair<base::Time, std::uint32_t>>{{there, 0x1234'5678}});
  CHECK(b.waiting == std::vector<base::RequestId>{x});
  CHECK(base::ledger().find(x)->tiles.back().stage == SLUICE_STAGE_interrupt);
  CHECK(base::ledger().find(x)->tiles.back().start == there);
  CHECK(b.sent == std::map<std::string, unsigned>{{"IREQ_IOBST", 1}});
}

TEST_CASE("an interrupt that nothing takes is a mistake of the device") {
  Bench b;
  b.at(1_us, [&] { b.path.interrupt(0x1000, 1, {}); });
  b.run();
  CHECK(b.interrupts.empty());
  CHECK(base::mistakes().list().at(0).what ==
        "device.d: interrupt of 4 bytes at 0x1000: no interrupt controller takes it");
}

TEST_CASE("what is under way when the link goes down or is reset fails once, and changes nothing later") {
  for (const bool down : {true, false})
    for (unsigned after = 0; after < 400; after += 7) {
      Bench b;
      unsigned ends = 0;
      std::optional<bool> last;
      const auto bytes = count(300, 1);
      b.at(1_us, [&] {
        b.path.read(kRam + 4096, 300, [&](const base::HostRead& r) { ++ends, last = r.ok; });
        b.path.write({kRam, bytes}, [&](bool ok) { ++ends, last = ok; });
      });
      std::vector<std::uint8_t> then(300);
      b.at(1_us + base::Time::ns(after), [&] {
        down ? b.link.hold_down(true) : b.link.reset();
        std::copy_n(b.memory.ram.at(kRam), 300, then.begin());
      });
      b.at(10_us, [&] {
        if (down) b.link.hold_down(false);
        CHECK(ends == 2);
        CHECK(std::equal(then.begin(), then.end(), b.memory.ram.at(kRam)));
        ends = 0;
        b.path.read(kRam, 1, [&](const base::HostRead& r) { ++ends, last = r.ok; });
      });
      b.run();
      CHECK(ends == 1);
      CHECK(last == true);
    }
}

TEST_CASE("a transfer over a link that is down fails, but not inside the call") {
  Bench b;
  Ended r, w;
  const auto bytes = count(8);
  b.at(1_us, [&] {
    b.link.hold_down(true);
    read(b, 0, 8, r);
    write(b, {kRam, bytes}, w);
    b.path.interrupt(kController, 1, {});
    CHECK(!r.ok);
    CHECK(!w.ok);
  });
  b.run();
  CHECK(r.ok == false);
  CHECK(w.ok == false);
  CHECK(r.when == 1_us);
  CHECK(b.interrupts.empty());
}

TEST_CASE("a device that tries again when it is told of an error does so once for each") {
  for (const bool down : {false, true}) {
    Bench b;
    unsigned tries = 0;
    std::function<void()> again = [&] {
      b.path.read(kRam, 8, [&](const base::HostRead& r) {
        ++tries;
        if (!r.ok && tries < 3) again();
      });
    };
    b.at(1_us, again);
    b.at(1_us + 20_ns, [&] {
      down ? b.link.hold_down(true) : b.link.reset();
      CHECK(tries == 1);
    });
    b.run();
    // After a reset the second try succeeds; a link that is down refuses each.
    CHECK(tries == (down ? 3 : 2));
  }
}

TEST_CASE("code that is there when a write becomes visible counts") {
  Bench b;
  Ended e;
  const auto bytes = count(8, 1);
  b.at(1_us, [&] { write(b, {kRam, bytes}, e); });
  b.at(1_us + 110_ns, [&] { b.memory.ram.add_code(kRam, 64); });  // the write has arrived, and memory has had some time
  b.run();
  CHECK(e.ok == true);
  CHECK(base::mistakes().list().size() == 1);
}

TEST_CASE("an interrupt's address is a multiple of 4") {
  Bench b;
  b.at(1_us, [&] {
    CHECK_THROWS_WITH(b.path.interrupt(kController + 126, 1, {}),
                      "it interrupts at 0x2800007e, which is no multiple of 4");
  });
  b.run();
}
