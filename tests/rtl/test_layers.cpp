// SPDX-License-Identifier: Apache-2.0
// The layers of the RPC decoder, each alone: what is taken off, what they tell, why they refuse, and in which cycles.

#include "Vlayers_bench.h"
#include "models/net/headers.h"
#include "models/nic/rpc_decoder/rpc_decoder_regs.h"
#include "tests/rtl/block_bench.h"

using namespace sluice;
using namespace sluice::test;

namespace {

enum Layer : unsigned { kEthernet, kIpv4, kUdp, kCall, kVerifier };

void put16(Bytes& b, std::size_t at, std::uint32_t v) {
  for (std::size_t i = 0; i < 2 && at + i < b.size(); ++i) b[at + i] = static_cast<std::uint8_t>(v >> (8 - 8 * i));
}
void put32(Bytes& b, std::size_t at, std::uint32_t v) {
  put16(b, at, v >> 16);
  put16(b, at + 2, v);
}
std::uint32_t get16(const Bytes& b, std::size_t at) { return std::uint32_t{b.at(at)} << 8 | b.at(at + 1); }
std::uint32_t get32(const Bytes& b, std::size_t at) { return get16(b, at) << 16 | get16(b, at + 2); }
std::uint32_t padded(std::uint32_t n) { return (n + 3) & ~3u; }

struct Headers {
  std::uint32_t reason = 0, addresses = 0, length = 0, source_port = 0, port = 0, source = 0, destination = 0, xid = 0,
                program = 0, version = 0, procedure = 0;
  bool operator==(const Headers&) const = default;
};

/// What a layer makes of a packet.
struct Expected {
  Headers headers;
  std::uint32_t skip = 0;
  bool limited = false;
  std::uint32_t limit = 0;
  int wrong = -1;  ///< -1: not told, or of no meaning
};

class LayerBench : public BlockBench<Vlayers_bench> {
 public:
  LayerBench(std::uint64_t seed, Layer layer) : BlockBench(seed, layer) {
    at_beat = [this] {
      if (dut->out_last != 0) seen_.push_back(get());
    };
    at_cycle = [this] {
      if (dut->checked_valid != 0) checked_.emplace_back(now, dut->checked_wrong != 0);
    };
  }

  /// Headers as the layers below may have left them.
  Headers below() {
    Headers h;
    for (std::uint32_t* f : {&h.source, &h.destination, &h.xid, &h.program, &h.version, &h.procedure})
      *f = static_cast<std::uint32_t>(random());
    for (std::uint32_t* f : {&h.length, &h.source_port, &h.port}) *f = upto(0xffff);
    h.addresses = upto(0x3fffc);
    return h;
  }
  /// checked_after: cycles from the first beat, or from the last one of the datagram, to the checksum's result; 0:
  /// none.
  void packet(const Bytes& b, bool cut, const Headers& in, const Expected& e, unsigned first = 0, unsigned last = 0) {
    const std::vector<std::uint64_t> came = put(b, cut, [&](std::size_t beat) {
      if (beat == 0) return set(in);
      Headers other = below();
      other.reason = upto(14);
      set(other);
    });
    stripped_.push_back(strip(b, cut, came, e.skip, e.limited, e.limit));
    expected_.push_back(e);
    if (first != 0) checked_at_.push_back(came[0] + first);
    if (last != 0) checked_at_.push_back(came[beats_of(std::min<std::size_t>(b.size(), e.limit)) - 1] + last);
  }
  void compare() {
    idle(8);
    REQUIRE(left.size() == expected_.size());
    for (std::size_t i = 0; i < left.size(); ++i) {
      INFO("packet " << i);
      REQUIRE(left[i].bytes == stripped_[i].bytes);
      REQUIRE(left[i].cut == stripped_[i].cut);
      REQUIRE(left[i].cycles == stripped_[i].cycles);
      REQUIRE(seen_[i].reason == expected_[i].headers.reason);
      if (seen_[i].reason == RPCD_CALL) REQUIRE(seen_[i] == expected_[i].headers);
      ++reasons[seen_[i].reason];
    }
    REQUIRE(checked_.size() == checked_at_.size());
    for (std::size_t i = 0; i < checked_.size(); ++i) {
      INFO("packet " << i);
      REQUIRE(checked_[i].first == checked_at_[i]);
      if (expected_[i].wrong >= 0) {
        REQUIRE(checked_[i].second == (expected_[i].wrong == 1));
        ++wrongs[static_cast<std::size_t>(expected_[i].wrong)];
      }
    }
  }
  static inline std::array<unsigned, RPCD_VERDICTS> reasons;
  static inline std::array<unsigned, 2> wrongs;

 private:
  void set(const Headers& h) {
    dut->in_reason = static_cast<std::uint8_t>(h.reason);
    dut->in_addresses = h.addresses;
    dut->in_length = static_cast<std::uint16_t>(h.length);
    dut->in_source_port = static_cast<std::uint16_t>(h.source_port);
    dut->in_port = static_cast<std::uint16_t>(h.port);
    dut->in_source = h.source;
    dut->in_destination = h.destination;
    dut->in_xid = h.xid;
    dut->in_program = h.program;
    dut->in_version = h.version;
    dut->in_procedure = h.procedure;
  }
  Headers get() {
    return {dut->out_reason,  dut->out_addresses, dut->out_length,      dut->out_source_port,
            dut->out_port,    dut->out_source,    dut->out_destination, dut->out_xid,
            dut->out_program, dut->out_version,   dut->out_procedure};
  }

  std::vector<Expected> expected_;
  std::vector<Stripped> stripped_;
  std::vector<Headers> seen_;
  std::vector<std::pair<std::uint64_t, bool>> checked_;
  std::vector<std::uint64_t> checked_at_;
};

/// The layer refuses the packet: an empty one goes on.
Expected refuse(Headers h, std::uint32_t reason, bool limited) {
  h.reason = reason;
  return {h, 0, limited, 0, -1};
}

/// Runs packets of many seeds, and wants every reason of the layer among them.
template <class Packet>
void run(Layer layer, std::initializer_list<unsigned> reasons, const Packet& packet) {
  LayerBench::reasons = {};
  LayerBench::wrongs = {};
  for (unsigned seed = 0; seed < 15; ++seed) {
    INFO("seed " << seed);
    LayerBench bench(seed, layer);
    for (unsigned i = 0; i < 200; ++i) packet(bench);
    bench.compare();
  }
  for (const unsigned reason : reasons) {
    INFO("reason " << reason);
    CHECK(LayerBench::reasons[reason] > 40);
  }
}

}  // namespace

TEST_CASE("the Ethernet layer takes off the header and one tag") {
  run(kEthernet, {RPCD_CALL, RPCD_TRUNCATED, RPCD_NOT_IPV4}, [](LayerBench& bench) {
    Bytes b = bench.bytes(bench.one_in(4) ? bench.upto(20) : bench.one_in(3) ? 64 * bench.upto(3) : bench.upto(300));
    const bool tagged = bench.one_in(2);
    put16(b, 12, tagged ? 0x8100 : bench.one_in(5) ? bench.upto(0xffff) : 0x0800);
    if (tagged) put16(b, 16, bench.one_in(5) ? 0x8100 : 0x0800);
    Expected e;
    const std::uint32_t head = b.size() >= 14 && get16(b, 12) == 0x8100 ? 18 : 14;
    if (b.size() < head)
      e = refuse({}, RPCD_TRUNCATED, true);
    else if (get16(b, head - 2) != 0x0800)
      e = refuse({}, RPCD_NOT_IPV4, true);
    else
      e.skip = head;
    bench.packet(b, false, {}, e);
  });
}

TEST_CASE("the IPv4 layer takes off header, options and padding, and adds up the header") {
  run(kIpv4, {RPCD_CALL, RPCD_TRUNCATED, RPCD_NOT_IPV4, RPCD_IPV4_HEADER, RPCD_FRAGMENT, RPCD_NOT_UDP},
      [](LayerBench& bench) {
        Headers in = bench.below();
        Bytes b = bench.bytes(bench.one_in(6) ? bench.upto(70) : 20 + bench.upto(300));
        const std::uint32_t head = bench.one_in(2) ? 20 : 4 * bench.upto(15);
        const std::uint32_t size = static_cast<std::uint32_t>(b.size());
        put16(b, 0, (bench.one_in(20) ? bench.upto(15) : 4) << 12 | head / 4 << 8 | bench.upto(255));
        put16(b, 2,
              bench.one_in(10)   ? bench.upto(0xffff)
              : bench.one_in(3)  ? size + bench.upto(2) - std::min(size, 1u)
              : bench.one_in(10) ? head + bench.upto(2) - std::min(head, 1u)
              : bench.one_in(4)  ? 64 * (1 + bench.upto(3))
                                 : std::max(head, bench.upto(size)));
        put16(b, 6, bench.one_in(10) ? 1u << bench.upto(15) : bench.one_in(2) ? 0x4000 : bench.one_in(4) ? 0x8000 : 0);
        if (b.size() > 9) b[9] = static_cast<std::uint8_t>(bench.one_in(10) ? 17 ^ 1 << bench.upto(7) : 17);
        if (!bench.one_in(4) && head >= 20 && head <= b.size()) {
          put16(b, 10, 0);
          put16(b, 10, ~std::uint32_t{net::internet_sum(b.data(), head)} & 0xffff);
          if (bench.one_in(4)) b[bench.upto(head - 1)] ^= static_cast<std::uint8_t>(1u << bench.upto(7));
        }
        // A bit that was turned may have made another header of it.
        const std::uint32_t is_head = b.empty() ? 0 : (b[0] & 15u) * 4;
        const std::uint32_t total = b.size() < 4 ? 0 : get16(b, 2);
        Expected e;
        if (bench.one_in(12)) {
          in.reason = RPCD_NOT_IPV4;
          e = refuse(in, in.reason, true);
        } else if (b.size() < 20) {
          e = refuse(in, RPCD_TRUNCATED, true);
        } else if (b[0] >> 4 != 4 || is_head < 20 || total < is_head) {
          e = refuse(in, RPCD_IPV4_HEADER, true);
        } else if (b.size() < is_head) {
          e = refuse(in, RPCD_TRUNCATED, true);
        } else if ((get16(b, 6) & 0x3fff) != 0) {
          e = refuse(in, RPCD_FRAGMENT, true);
        } else if (b[9] != 17) {
          e = refuse(in, RPCD_NOT_UDP, true);
        } else {
          e = {in, is_head, true, total, -1};
          e.headers.length = total - is_head;
          e.headers.source = get32(b, 12);
          e.headers.destination = get32(b, 16);
          e.headers.addresses = 0;
          for (unsigned at = 12; at < 20; at += 2) e.headers.addresses += b[at] + 256u * b[at + 1];
        }
        if (is_head >= 20 && b.size() >= is_head) e.wrong = net::internet_sum(b.data(), is_head) != 0xffff;
        bench.packet(b, bench.one_in(3), in, e, 3);
      });
  CHECK(LayerBench::wrongs[0] > 500);
  CHECK(LayerBench::wrongs[1] > 500);
}

TEST_CASE("the UDP layer takes off the header and what is behind the datagram, and adds up both") {
  run(kUdp, {RPCD_CALL, RPCD_TRUNCATED, RPCD_FRAGMENT, RPCD_UDP_LENGTH}, [](LayerBench& bench) {
    Headers in = bench.below();
    const bool ones = bench.one_in(20);  // the largest sums that there are
    Bytes b = ones              ? Bytes(bench.one_in(5) ? 65'515 : 9000, 0xff)
              : bench.one_in(8) ? bench.bytes(bench.upto(10))
              : bench.one_in(4) ? Bytes(bench.upto(400), 0)
                                : bench.bytes(bench.upto(400));
    const std::uint32_t size = static_cast<std::uint32_t>(b.size());
    const std::uint32_t length = bench.one_in(10)  ? bench.upto(10)
                                 : bench.one_in(6) ? size + 1 - bench.upto(size) / 2
                                 : bench.one_in(6) ? std::min(size, 64 * (1 + bench.upto(3)))
                                                   : size;
    put16(b, 4, length);
    in.length = bench.one_in(10) ? length - std::min(1u, length) : length + bench.upto(0xffff - length);
    Bytes addresses(8);
    put32(addresses, 0, ones ? ~0u : in.source);
    put32(addresses, 4, ones ? ~0u : in.destination);
    in.addresses = 0;
    for (unsigned at = 0; at < 8; at += 2) in.addresses += addresses[at] + 256u * addresses[at + 1];
    const std::uint32_t pseudo = net::internet_sum(addresses.data(), 8) + 17u + length;
    const std::size_t added = std::min(size, length);
    if (b.size() >= 8) {
      put16(b, 6, 0);
      std::uint32_t sum = ~std::uint32_t{net::internet_sum(b.data(), added, pseudo)} & 0xffff;
      if (sum == 0) sum = 0xffff;
      put16(b, 6, bench.one_in(6) ? 0 : bench.one_in(6) ? bench.upto(0xffff) : sum);
      if (bench.one_in(4)) {
        const std::uint32_t at = bench.upto(size - 1);
        if (at / 2 != 2) b[at] ^= static_cast<std::uint8_t>(1u << bench.upto(7));
      }
    }
    Expected e;
    if (bench.one_in(12)) {
      in.reason = RPCD_FRAGMENT;
      e = refuse(in, in.reason, true);
    } else if (b.size() < 8) {
      e = refuse(in, RPCD_TRUNCATED, true);
    } else if (length < 8 || length > in.length) {
      e = refuse(in, RPCD_UDP_LENGTH, true);
    } else {
      e = {in, 8, true, length, get16(b, 6) != 0 && net::internet_sum(b.data(), added, pseudo) != 0xffff};
      e.headers.length = length - 8;
      e.headers.source_port = get16(b, 0);
      e.headers.port = get16(b, 2);
    }
    bench.packet(b, bench.one_in(3), in, e, 0, 5);
  });
  CHECK(LayerBench::wrongs[0] > 500);
  CHECK(LayerBench::wrongs[1] > 300);
}

TEST_CASE("the call's layer takes off the call's head and its credential") {
  run(kCall, {RPCD_CALL, RPCD_TRUNCATED, RPCD_UDP_LENGTH, RPCD_NOT_CALL, RPCD_RPC_VERSION, RPCD_CREDENTIAL},
      [](LayerBench& bench) {
        Headers in = bench.below();
        const std::uint32_t credential = bench.one_in(3)   ? bench.upto(400)
                                         : bench.one_in(4) ? 399 + bench.upto(2)
                                         : bench.one_in(6) ? static_cast<std::uint32_t>(bench.random())
                                                           : 4 * bench.upto(8);
        Bytes b = bench.bytes(bench.one_in(8)   ? bench.upto(40)
                              : bench.one_in(4) ? (32 + padded(credential)) % 1000 + bench.upto(2) - 1
                                                : bench.upto(700));
        put32(b, 4, bench.one_in(10) ? 1u << bench.upto(31) : 0);
        put32(b, 8, bench.one_in(10) ? 2 ^ 1u << bench.upto(31) : 2);
        put32(b, 24, bench.one_in(12) ? 2 + bench.upto(5) : bench.upto(1));
        put32(b, 28, credential);
        Expected e;
        if (bench.one_in(12)) {
          in.reason = RPCD_UDP_LENGTH;
          e = refuse(in, in.reason, false);
        } else if (b.size() < 32) {
          e = refuse(in, RPCD_TRUNCATED, false);
        } else if (get32(b, 4) != 0) {
          e = refuse(in, RPCD_NOT_CALL, false);
        } else if (get32(b, 8) != 2) {
          e = refuse(in, RPCD_RPC_VERSION, false);
        } else if (get32(b, 24) > 1 || credential > 400) {
          e = refuse(in, RPCD_CREDENTIAL, false);
        } else {
          e = {in, 32 + padded(credential), false, 0, -1};
          e.headers.length = (in.length - e.skip) & 0xffff;
          e.headers.xid = get32(b, 0);
          e.headers.program = get32(b, 12);
          e.headers.version = get32(b, 16);
          e.headers.procedure = get32(b, 20);
        }
        bench.packet(b, bench.one_in(3), in, e);
      });
}

TEST_CASE("the verifier's layer takes off the verifier") {
  run(kVerifier, {RPCD_CALL, RPCD_TRUNCATED, RPCD_CREDENTIAL, RPCD_VERIFIER}, [](LayerBench& bench) {
    Headers in = bench.below();
    const std::uint32_t verifier = bench.one_in(3)   ? bench.upto(400)
                                   : bench.one_in(4) ? 399 + bench.upto(2)
                                   : bench.one_in(6) ? static_cast<std::uint32_t>(bench.random())
                                                     : 4 * bench.upto(16);
    Bytes b = bench.bytes(bench.one_in(8)   ? bench.upto(10)
                          : bench.one_in(4) ? (8 + padded(verifier)) % 1000 + bench.upto(2) - 1
                                            : bench.upto(700));
    put32(b, 0, bench.one_in(10) ? 1u << bench.upto(31) : 0);
    put32(b, 4, verifier);
    Expected e;
    if (bench.one_in(12)) {
      in.reason = RPCD_CREDENTIAL;
      e = refuse(in, in.reason, false);
    } else if (b.size() < 8) {
      e = refuse(in, RPCD_TRUNCATED, false);
    } else if (get32(b, 0) != 0 || verifier > 400) {
      e = refuse(in, RPCD_VERIFIER, false);
    } else {
      e = {in, 8 + padded(verifier), false, 0, -1};
      e.headers.length = (in.length - e.skip) & 0xffff;
    }
    bench.packet(b, bench.one_in(3), in, e);
  });
}
