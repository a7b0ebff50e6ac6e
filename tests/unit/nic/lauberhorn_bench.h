// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Lauberhorn with harts that do what its software does, and a station at the far end of its wire.
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <tlm_utils/simple_initiator_socket.h>

#include "models/base/measure/statistics.h"
#include "models/net/frame.h"
#include "models/nic/lauberhorn/lauberhorn_nic.h"
#include "protocols/rpc/onc_rpc.h"
#include "tests/unit/coherence/line_hart.h"
#include "tests/unit/fresh_kernel.h"

namespace sluice::lauberhorn_test {

using namespace base::literals;
using nic::Lauberhorn;
using nic::rpc::Part;

using Bytes = std::vector<std::uint8_t>;

inline constexpr std::uint64_t kLines = 0x2000'0000;
inline constexpr std::uint32_t kProgram = 0x20000002, kHostAddress = 0x0a000002;
inline constexpr std::uint16_t kPort = 2049;
inline constexpr unsigned kLine = 128;
/// The wire's latency and the NIC's, from a frame's first bit to its call at a line that waits, are less.
inline constexpr base::Time kLong = 2_us;

inline Bytes words(std::initializer_list<std::uint32_t> values) {
  Bytes b;
  for (const std::uint32_t v : values)
    for (int shift = 24; shift >= 0; shift -= 8) b.push_back(static_cast<std::uint8_t>(v >> shift));
  return b;
}

/// A frame with a call, from client n.
inline net::PacketPtr call(std::uint32_t xid, std::uint32_t procedure, const Bytes& arguments = {}, unsigned client = 1,
                           std::uint32_t program = kProgram) {
  net::PacketPtr p = net::make_packet();
  Bytes payload = words({xid, RPC_CALL, RPC_VERSION, program, 1, procedure, 0, 0, 0, 0});
  payload.insert(payload.end(), arguments.begin(), arguments.end());
  std::memcpy(p->bytes + net::kUdpPayload, payload.data(), payload.size());
  const net::Endpoint from{{{2, 0, 0, 0, 0, static_cast<std::uint8_t>(client)}},
                           0x0a000100 + client,
                           static_cast<std::uint16_t>(700 + client)};
  const net::Endpoint to{net::parse_mac("02:53:4c:00:00:01"), kHostAddress, kPort};
  net::finish_udp(*p, from, to, static_cast<std::uint32_t>(payload.size()));
  net::pad(*p);
  return p;
}

/// What a frame's reply says.
struct Reply {
  std::uint32_t xid, accept_stat;
  unsigned client;
  Bytes results;
};

struct Station : net::Wire::Client {
  std::vector<Reply> replies;
  std::vector<Bytes> others;
  void frame_arrived(net::PacketPtr p) override {
    net::FrameView view;
    if (net::parse_frame(p->bytes, p->length, view) != nullptr || view.kind != net::FrameView::Kind::udp) {
      others.emplace_back(p->bytes, p->bytes + p->length);
      return;
    }
    const std::uint8_t* at = p->bytes + view.payload;
    replies.push_back({net::load32(at), net::load32(at + 20), p->bytes[5], Bytes(at + 24, at + view.length)});
  }
};

struct Host : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Host> socket{"socket"};
  explicit Host(sc_core::sc_module_name name) : sc_module(name) {}
};

/// One side of an end-point, as software uses it.
struct Side {
  LineHart& hart;
  std::uint64_t base;
  std::uint64_t which = 0;
  std::uint64_t get(unsigned offset, unsigned bytes = 4) {
    std::uint64_t value = 0;
    const std::uint8_t* line = hart.lines.hold(hart.number, base + which + offset, false);
    REQUIRE(line);
    std::memcpy(&value, line, bytes);
    hart.lines.let_go(hart.number);
    return value;
  }
  void set(unsigned offset, std::uint64_t value, unsigned bytes = 4) {
    std::uint8_t* line = hart.lines.hold(hart.number, base + which + offset, true);
    REQUIRE(line);
    std::memcpy(line, &value, bytes);
    hart.lines.let_go(hart.number);
  }
  /// Loads the line: type of the message, or -1 for TRYAGAIN.
  int wait() {
    const auto word = static_cast<std::uint32_t>(get(0));
    return word == 0 ? -1 : static_cast<int>(word >> LAUB_WORD_TYPE_SHIFT & LAUB_WORD_TYPE_MASK);
  }
  unsigned length() { return get(0) >> LAUB_WORD_LENGTH_SHIFT & LAUB_WORD_LENGTH_MASK; }
  void next() { which ^= kLine; }
  /// Byte n of a message.
  std::uint64_t place(unsigned n) const {
    const unsigned room = kLine - LAUB_HEAD_BYTES;
    return n < room ? base + which + LAUB_HEAD_BYTES + n : base + LAUB_OVERFLOW + n - room;
  }
  void reply(unsigned type, unsigned bytes, std::uint32_t accept_stat = 0) {
    set(LAUB_HEAD_XID, accept_stat);
    set(LAUB_HEAD_WORD, LAUB_WORD_VALID | type << LAUB_WORD_TYPE_SHIFT | bytes << LAUB_WORD_LENGTH_SHIFT);
  }
};

struct Bench {
  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 100_ns};
  coherence::HomedLines lines{3, kLine, 1024, false};
  coherence::CoherentLink link{"link", coherence::kEci, base::Ratio(0), kNoLatencies};
  net::Wire wire{"wire", {}};
  Station station;
  nic::LauberhornParameters parameters;
  Host host{"host"};
  std::unique_ptr<Lauberhorn> nic;
  std::vector<std::unique_ptr<LineHart>> harts;

  using Script = std::function<void(Bench&, LineHart&)>;
  using Setup = std::function<void(nic::LauberhornParameters&)>;
  explicit Bench(std::vector<Script> scripts, const Setup& setup = {}, base::Time until = 1_ms) {
    parameters.cores = 3;
    parameters.processes = 4;
    parameters.workers = 3;
    parameters.queue = 4;
    parameters.block = 20_us;
    parameters.preempt = 5_us;
    if (setup) setup(parameters);
    nic = std::make_unique<Lauberhorn>("nic", parameters, wire, net::Wire::kB);
    nic->publish_statistics();
    host.socket.bind(nic->socket);
    wire.attach(net::Wire::kA, station);
    lines.add(*nic, kLines, Lauberhorn::lines_size(parameters), "nic", link);
    set(LAUB_IPV4, kHostAddress);
    for (unsigned process = 1; process <= 3; ++process) add_process(process, 2);
    add_service(0, 0, 1);
    add_service(1, 1, 2, {0, 0, Part::Array::opaque, true, 9000});
    add_service(2, 2, 3);
    for (unsigned n = 0; n < scripts.size(); ++n)
      harts.push_back(std::make_unique<LineHart>(("hart" + std::to_string(n)).c_str(), scheduler, lines, n,
                                                 [this, f = scripts[n]](LineHart& h) { f(*this, h); }));
    scheduler.run_until(until);
  }
  void set(std::uint64_t offset, std::uint64_t value) {
    REQUIRE(nic->registers().write(offset, &value, 8) == base::Answer::ok);
  }
  std::uint64_t get(std::uint64_t offset) {
    std::uint64_t value = 0;
    REQUIRE(nic->registers().read(offset, &value, 8) == base::Answer::ok);
    return value;
  }
  void set4(std::uint64_t offset, std::uint32_t value) {
    REQUIRE(nic->registers().write(offset, &value, 4) == base::Answer::ok);
  }
  std::uint32_t get4(std::uint64_t offset) {
    std::uint32_t value = 0;
    REQUIRE(nic->registers().read(offset, &value, 4) == base::Answer::ok);
    return value;
  }
  void add_process(unsigned process, unsigned threads) {
    set(LAUB_PROCESS_ID, 100 + process);
    set(LAUB_PROCESS_THREADS, threads);
    set(LAUB_PROCESS_COMMIT, LAUB_COMMIT_VALID | process);
  }
  /// Arguments and results have one part.
  void add_service(unsigned entry, std::uint32_t procedure, unsigned process, const Part& part = {}) {
    const auto decoder = [&](unsigned offset, std::uint32_t value) { set4(LAUB_DECODER + offset, value); };
    decoder(RPCD_PROGRAM, kProgram);
    decoder(RPCD_VERSION, 1);
    decoder(RPCD_PROCEDURE, procedure);
    decoder(RPCD_PORT, kPort);
    decoder(RPCD_FUNCTION_LOW, 0x1000 + entry);
    decoder(RPCD_FUNCTION_HIGH, 7);
    decoder(RPCD_OWNER, entry);
    decoder(RPCD_PART_CLASSES(0), part.classes);
    decoder(RPCD_PART_SHAPE(0), part.shape());
    decoder(RPCD_COMMIT, RPCD_COMMIT_VALID | entry);
    set4(LAUB_ENCODER + RPCE_PART_CLASSES(0), part.classes);
    set4(LAUB_ENCODER + RPCE_PART_SHAPE(0), part.shape());
    set4(LAUB_ENCODER + RPCE_COMMIT, RPCE_COMMIT_VALID | entry);
    set(LAUB_SERVICE_DATA, 0x5000 + entry);
    set(LAUB_SERVICE_PROCESS, process);
    set(LAUB_SERVICE_RESULT, entry);
    set(LAUB_SERVICE_ARGUMENTS, entry);
    set(LAUB_SERVICE_PORT, kPort);
    set(LAUB_SERVICE_COMMIT, LAUB_COMMIT_VALID | entry);
  }
  void send(net::PacketPtr p) { wire.send(net::Wire::kA, std::move(p)); }
  Side kernel(LineHart& h, unsigned direction = LAUB_RX) const {
    return {h, kLines + LAUB_KERNEL(h.number) + direction};
  }
  Side user(LineHart& h, unsigned process, unsigned direction = LAUB_RX) const {
    return {h, kLines + LAUB_USER(parameters.cores, parameters.workers, process, h.number) + direction};
  }
  /// What the NIC has counted under this name.
  std::uint64_t counter(const std::string& name) const {
    struct Visitor final : base::StatisticsVisitor {
      std::string wanted;
      std::optional<std::uint64_t> found;
      void integer(const base::StatisticsLabel& l, std::uint64_t value) override {
        if (l.name == wanted) found = value;
      }
      void real(const base::StatisticsLabel&, double) override {}
      void histogram(const base::StatisticsLabel&, const base::Histogram&) override {}
    } visitor;
    visitor.wanted = name;
    base::statistics().walk(visitor, base::now());
    REQUIRE(visitor.found);
    return *visitor.found;
  }
};

/// Takes a call from a line and answers it with nothing.
inline void answer(Side& side) {
  REQUIRE(side.wait() == LAUB_CALL);
  side.reply(LAUB_REPLY, 0);
  side.next();
}

}  // namespace sluice::lauberhorn_test
