// SPDX-License-Identifier: Apache-2.0
// service_table, xdr_part and udp_checksum, each alone.

#include <deque>
#include <optional>

#include "Varguments_bench.h"
#include "models/nic/rpc_decoder/decode.h"
#include "tests/rtl/block_bench.h"

using namespace sluice;
using namespace sluice::test;
using nic::rpc::kServices;
using nic::rpc::Part;
using nic::rpc::ServiceKey;

namespace {

enum Module : unsigned { kTable, kPart, kLine, kChecksum };
using Bench = BlockBench<Varguments_bench>;
using Words = std::vector<std::uint32_t>;

template <class Port>
Words words_of(const Port& port, std::size_t count) {
  Words w(count);
  for (std::size_t i = 0; i < count; ++i) w[i] = port[i];
  return w;
}
template <class Port>
void set_words(Port& port, const Words& w) {
  for (std::size_t i = 0; i < w.size(); ++i) port[i] = w[i];
}
Words random_words(Bench& bench, std::size_t count) {
  Words w(count);
  for (std::uint32_t& x : w) x = static_cast<std::uint32_t>(bench.random());
  return w;
}

constexpr unsigned kKeys = kServices / 2;  ///< of which the table has each about twice
struct Entry {
  ServiceKey key;
  Words service;  ///< parts, function pointer, owner: the lowest bits first
};

/// A beat behind the table.
struct Found {
  unsigned reason;
  Words service;  ///< empty: of no meaning
  std::uint32_t length, port, source_port, source, destination, xid;
  bool operator==(const Found&) const = default;
};

}  // namespace

TEST_CASE("service_table finds the first entry that matches and is valid") {
  unsigned found[kServices] = {}, of_two = 0, missed = 0;
  for (unsigned seed = 0; seed < 12; ++seed) {
    Bench bench(seed, kTable);
    bench.dut->table_write = 0;
    std::array<std::optional<Entry>, kServices> table;
    std::vector<ServiceKey> keys;
    for (unsigned i = 0; i < kKeys; ++i)
      keys.push_back({static_cast<std::uint32_t>(bench.random()), bench.upto(9), bench.upto(20),
                      static_cast<std::uint16_t>(bench.random())});
    std::deque<Found> expected;
    bench.at_beat = [&] {
      REQUIRE_FALSE(expected.empty());
      Found f{bench.dut->out_reason,      {},
              bench.dut->out_length,      bench.dut->out_port,
              bench.dut->out_source_port, bench.dut->out_source,
              bench.dut->out_destination, bench.dut->out_xid};
      if (!expected.front().service.empty()) {
        f.service = words_of(bench.dut->out_parts, 8);
        f.service.push_back(static_cast<std::uint32_t>(bench.dut->out_function));
        f.service.push_back(static_cast<std::uint32_t>(bench.dut->out_function >> 32));
        f.service.push_back(bench.dut->out_owner);
      }
      REQUIRE(f == expected.front());
      expected.pop_front();
    };
    std::vector<std::uint64_t> cycles;
    std::vector<Bytes> packets;
    for (unsigned round = 0; round < 30; ++round) {
      // After a reset no entry matches. Then software writes some.
      for (unsigned i = 0; round != 0 && i < (round == 1 ? kServices : 4); ++i) {
        const unsigned at = round == 1 ? i : bench.upto(kServices - 1);
        Entry e{keys[bench.upto(kKeys - 1)], random_words(bench, 11)};
        // The last entry alone has the last key.
        if (at != kServices - 1 && e.key == keys.back()) e.key = keys[0];
        if (at == kServices - 1 && bench.one_in(2)) e.key = keys.back();
        e.service[10] &= 0xffff;
        const bool valid = !bench.one_in(4);
        bench.dut->table_write = 1;
        bench.dut->table_entry = static_cast<std::uint8_t>(at);
        bench.dut->table_valid = valid;
        set_words(bench.dut->table_key, {e.key.procedure, e.key.version, e.key.program, e.key.port});
        set_words(bench.dut->table_service, e.service);
        bench.idle(1);
        bench.dut->table_write = 0;
        // What is not written is not taken.
        set_words(bench.dut->table_service, random_words(bench, 11));
        table[at] = valid ? std::optional(e) : std::nullopt;
      }
      for (unsigned i = 0; i < 30; ++i) {
        packets.push_back(bench.bytes(bench.upto(150)));
        Found f;
        const std::vector<std::uint64_t> came = bench.put(packets.back(), false, [&](std::size_t beat) {
          ServiceKey key = keys[bench.upto(kKeys - 1)];
          if (bench.one_in(4)) {  // another key, by one bit
            const unsigned bit = bench.upto(111);
            if (bit < 32)
              key.program ^= 1u << bit;
            else if (bit < 64)
              key.version ^= 1u << (bit - 32);
            else if (bit < 96)
              key.procedure ^= 1u << (bit - 64);
            else
              key.port = static_cast<std::uint16_t>(key.port ^ 1u << (bit - 96));
          }
          const unsigned reason = bench.one_in(4) ? 1 + bench.upto(11) : 0;
          const Words r = random_words(bench, 5);
          bench.dut->in_reason = static_cast<std::uint8_t>(reason);
          bench.dut->in_program = key.program;
          bench.dut->in_version = key.version;
          bench.dut->in_procedure = key.procedure;
          bench.dut->in_port = key.port;
          bench.dut->in_length = static_cast<std::uint16_t>(r[0]);
          bench.dut->in_source_port = static_cast<std::uint16_t>(r[1]);
          bench.dut->in_source = r[2];
          bench.dut->in_destination = r[3];
          bench.dut->in_xid = r[4];
          if (beat != 0) {  // what goes with the first beat counts
            expected.push_back(f);
            return;
          }
          f = {reason, {}, r[0] & 0xffff, key.port, r[1] & 0xffff, r[2], r[3], r[4]};
          unsigned matches = 0;
          for (unsigned e = 0; e < kServices; ++e)
            if (table[e] && table[e]->key == key && matches++ == 0) {
              f.service = table[e]->service;
              ++found[e];
            }
          of_two += matches > 1;
          if (matches == 0) {
            if (reason == 0) f.reason = RPCD_NO_SERVICE;
            ++missed;
          }
          expected.push_back(f);
        });
        for (const std::uint64_t c : came) cycles.push_back(c + 3);
      }
      bench.idle(4);
    }
    REQUIRE(expected.empty());
    REQUIRE(bench.left.size() == packets.size());
    std::size_t at = 0;
    for (std::size_t i = 0; i < packets.size(); ++i) {
      REQUIRE(bench.left[i].bytes == packets[i]);
      for (const std::uint64_t c : bench.left[i].cycles) REQUIRE(c == cycles[at++]);
    }
  }
  for (unsigned e = 0; e < kServices; ++e) {
    INFO("entry " << e << " was found " << found[e] << " times");
    CHECK(found[e] > 10);
  }
  CHECK(of_two > 1000);
  CHECK(missed > 1000);
}

TEST_CASE("xdr_part finds where its array ends, and the class of each word") {
  unsigned wrongs = 0, in_last_word = 0, at_beats_end = 0, across = 0, unknown = 0, without_count = 0;
  for (unsigned seed = 0; seed < 30; ++seed) {
    Bench bench(seed, kPart);
    for (unsigned i = 0; i < 100; ++i) {
      Part p;
      p.classes = static_cast<std::uint32_t>(bench.random());
      p.words = static_cast<std::uint8_t>(bench.upto(16));
      p.array = static_cast<Part::Array>(bench.upto(3));
      p.counted = bench.one_in(2);
      p.limit = static_cast<std::uint16_t>(bench.one_in(4) ? bench.upto(0xffff) : bench.upto(100));
      // As part_t has it.
      const std::uint32_t shape = p.words | static_cast<std::uint32_t>(p.array) << 5 | std::uint32_t{p.counted} << 7 |
                                  std::uint32_t{p.limit} << 8;
      // The packet's first beat may have a high number here, so that places near the end of what a word holds are seen.
      const std::uint32_t base = bench.one_in(3) ? 4080 - bench.upto(10) : 0;
      const std::uint32_t start = 16 * base + bench.upto(bench.one_in(2) ? 20 : 150);
      const std::uint32_t known_from = base + bench.upto(start / 16 - base);
      const std::uint32_t array = start + p.words;
      const std::uint32_t count = bench.one_in(6)   ? static_cast<std::uint32_t>(bench.random())
                                  : bench.one_in(6) ? p.limit + bench.upto(2) - std::min<std::uint32_t>(p.limit, 1)
                                                    : bench.upto(std::min<std::uint32_t>(p.limit, 80));
      Bytes packet = bench.bytes(4 * bench.upto(240));
      const std::size_t at = 4 * (array - 16 * base);
      if (at + 4 <= packet.size())
        for (unsigned b = 0; b < 4; ++b) packet[at + b] = static_cast<std::uint8_t>(count >> (24 - 8 * b));
      const std::uint64_t elements = !p.counted                       ? p.limit
                                     : p.array == Part::Array::opaque ? (std::uint64_t{count} + 3) / 4
                                     : p.array == Part::Array::hypers ? 2 * std::uint64_t{count}
                                     : p.array == Part::Array::none   ? 0
                                                                      : count;
      const std::uint64_t begin = array + (p.counted ? 1 : 0), end = begin + elements;
      const bool is_wrong = end > 0xffff || (p.counted && count > p.limit);

      std::vector<std::array<std::uint32_t, 6>> expected, seen;
      bench.left.clear();
      bench.at_beat = [&] {
        seen.push_back({bench.dut->out_known, bench.dut->out_wrong, bench.dut->out_start, bench.dut->out_classes,
                        bench.dut->out_number, bench.dut->out_begins});
        REQUIRE(bench.dut->out_xid == base + start);
        REQUIRE(bench.dut->out_parts[0] == i);
        REQUIRE(bench.dut->out_parts[5] == 5 * i);
        REQUIRE(bench.dut->out_parts[6] == 0);
        REQUIRE(bench.dut->out_parts[7] == 0);
      };
      const std::vector<std::uint64_t> came = bench.put(packet, false, [&](std::size_t beat) {
        const std::uint32_t number = base + static_cast<std::uint32_t>(beat);
        const bool known = number >= known_from;
        const bool before = bench.one_in(8);
        std::uint32_t classes = static_cast<std::uint32_t>(bench.random());
        for (unsigned w = 0; w < 16; ++w)
          if (known && 16 * number + w >= start) classes &= ~(3u << 2 * w);
        bench.dut->in_xid = base + start;
        set_words(bench.dut->in_parts, {p.classes, shape, i, 1, 2, 3, 4, 5 * i});
        bench.dut->in_wrong = before;
        bench.dut->in_begins = beat == 0;
        bench.dut->in_known = known;
        bench.dut->in_number = static_cast<std::uint16_t>(number);
        bench.dut->in_start = static_cast<std::uint16_t>(known ? start : bench.upto(0xffff));
        bench.dut->in_classes = classes;
        const bool ends = p.counted ? number >= array / 16 : known;
        std::uint32_t own = 0;
        for (unsigned w = 0; known && w < 16; ++w) {
          const std::uint32_t word = 16 * number + w;
          std::uint32_t c = 0;
          if (word >= start && word < array) c = p.classes >> 2 * (word - start) & 3;
          if (p.counted && word == array) c = RPCD_CLASS_SWAP;
          if (ends && word >= begin && word < end) {
            if (p.array == Part::Array::scalars) c = RPCD_CLASS_SWAP;
            if (p.array == Part::Array::hypers)
              c = (word - begin) % 2 == 0 ? RPCD_CLASS_HYPER_HIGH : RPCD_CLASS_HYPER_LOW;
            if (p.array == Part::Array::hypers && w == 15 && (word - begin) % 2 == 0) ++across;
          }
          own |= c << 2 * w;
        }
        expected.push_back(
            {ends, before || is_wrong, static_cast<std::uint32_t>(end & 0xffff), classes | own, number, beat == 0});
        unknown += !ends;
        if (ends && p.counted && !is_wrong) {
          in_last_word += array % 16 == 15;
          at_beats_end += end % 16 == 0;
        }
      });
      bench.idle(3);
      REQUIRE(seen.size() == expected.size());
      REQUIRE(bench.left.size() == 1);
      REQUIRE(bench.left[0].bytes == packet);
      for (std::size_t b = 0; b < seen.size(); ++b) {
        INFO("seed " << seed << " packet " << i << " beat " << b << " start " << start << " words " << +p.words
                     << " array " << static_cast<int>(p.array) << " counted " << p.counted << " count " << count
                     << " limit " << p.limit);
        REQUIRE(bench.left[0].cycles[b] == came[b] + 2);
        REQUIRE(seen[b][0] == expected[b][0]);
        REQUIRE(seen[b][4] == expected[b][4]);
        REQUIRE(seen[b][5] == expected[b][5]);
        if (expected[b][0] == 0) {
          // Where the array's end is not known the words before it have their classes.
          REQUIRE(seen[b][3] == expected[b][3]);
          continue;
        }
        if (p.counted && at + 4 > packet.size()) {
          // The packet ends before the count: whatever is in its place, the part ends behind the packet.
          if (seen[b][1] == 0) REQUIRE(seen[b][2] > 16 * base + packet.size() / 4);
          ++without_count;
          continue;
        }
        REQUIRE(seen[b][1] == expected[b][1]);
        wrongs += is_wrong;
        if (is_wrong) continue;
        REQUIRE(seen[b][2] == expected[b][2]);
        REQUIRE(seen[b][3] == expected[b][3]);
      }
    }
  }
  CHECK(wrongs > 500);
  CHECK(in_last_word > 50);
  CHECK(at_beats_end > 50);
  CHECK(across > 50);
  CHECK(unknown > 500);
  CHECK(without_count > 20);
}

TEST_CASE("udp_checksum says four cycles after a datagram whether its sum is wrong") {
  unsigned rights = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    Bench bench(seed, kChecksum);
    std::vector<std::pair<std::uint64_t, bool>> seen, expected;
    bench.at_cycle = [&] {
      if (bench.dut->checked_valid != 0) seen.emplace_back(bench.now, bench.dut->checked_wrong != 0);
    };
    for (unsigned i = 0; i < 200; ++i) {
      Bytes b = bench.one_in(30) ? Bytes(65'535, 0xff) : bench.bytes(8 + (bench.one_in(4) ? 0 : bench.upto(300)));
      if (bench.one_in(20)) std::fill(b.begin(), b.end(), 0);
      // The module adds halfwords as they lie in a beat.
      std::uint32_t pseudo = bench.one_in(4) ? 0x1fffff : bench.one_in(4) ? 0 : bench.upto(0x1fffff);
      const auto sum = [&] {
        std::uint64_t s = pseudo;
        for (std::size_t at = 0; at < b.size(); ++at) s += std::uint64_t{b[at]} << (at % 2 != 0 ? 8 : 0);
        while (s > 0xffff) s = (s & 0xffff) + (s >> 16);
        return static_cast<std::uint32_t>(s);
      };
      b[6] = b[7] = 0;
      if (bench.one_in(2)) {
        const std::uint32_t right = 0xffff - sum();
        b[6] = static_cast<std::uint8_t>(right);
        b[7] = static_cast<std::uint8_t>(right >> 8);
      } else if (!bench.one_in(4)) {
        b[6] = static_cast<std::uint8_t>(bench.random());
        b[7] = static_cast<std::uint8_t>(bench.random());
      }
      if (bench.one_in(4)) pseudo ^= 1u << bench.upto(20);
      const bool without = b[6] == 0 && b[7] == 0;
      const std::vector<std::uint64_t> came = bench.put(b, bench.one_in(2), [&](std::size_t beat) {
        bench.dut->in_begins = beat == 0;
        bench.dut->in_pseudo = beat == 0 ? pseudo : bench.upto(0x1fffff);
      });
      expected.emplace_back(came.back() + 4, !without && sum() != 0xffff);
      rights += !without && sum() == 0xffff;
    }
    bench.idle(6);
    REQUIRE(seen == expected);
  }
  CHECK(rights > 500);
}
