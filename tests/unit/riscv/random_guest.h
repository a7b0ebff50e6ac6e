// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A hart that runs drawn instruction words, and a picture of what has become of it.

#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/riscv/iss_machine.h"

namespace sluice::riscv {

using Draw = std::mt19937;  // its sequence is fixed by the standard, unlike that of distributions

inline std::uint32_t below(Draw& draw, std::uint32_t n) { return static_cast<std::uint32_t>(draw() % n); }

/// Mostly legal instructions that use x8 to x15, half of which point into RAM.
inline std::uint32_t draw_word(Draw& draw) {
  static constexpr std::uint32_t csrs[] = {0x001, 0x002, 0x003, 0x100, 0x104, 0x105, 0x140, 0x141, 0x144, 0x14d, 0x180,
                                           0x300, 0x302, 0x303, 0x304, 0x305, 0x306, 0x30a, 0x320, 0x340, 0x341, 0x344,
                                           0x3a0, 0x3b0, 0x3b1, 0xb00, 0xb02, 0xc00, 0xc01, 0xc02, 0xf14};
  const std::uint32_t registers = (8 + below(draw, 8)) << 7 | (8 + below(draw, 8)) << 15 | (8 + below(draw, 8)) << 20;
  const std::uint32_t funct3 = below(draw, 8) << 12;
  const std::uint32_t any = static_cast<std::uint32_t>(draw());
  switch (below(draw, 20)) {
    case 0:
      return any | 3;
    case 1:
      return any;
    case 2:
      return 0x13 | registers | funct3 | (any & 0xfff0'0000);
    case 3:
      return 0x33 | registers | funct3 | (any & 0x4200'0000);
    case 4:
      return 0x3b | registers | funct3 | (any & 0x4200'0000);
    case 5:
    case 6:
      return 0x03 | registers | funct3 | (any & 0x0ff0'0000);
    case 7:
    case 8:
      return 0x23 | registers | (funct3 & 0x3000) | (any & 0x0600'0000);
    case 9:
      return 0x63 | registers | funct3 | (below(draw, 16) << 8);
    case 10:
      return 0x6f | 1 << 7 | below(draw, 64) << 21;
    case 11:
      return 0x2f | registers | (0x2000 + (any & 0x1000)) | (any & 0xf800'0000);
    case 12:
      return 0x53 | registers | funct3 | (any & 0xfe00'0000);
    case 13:
      return 0x43 | registers | funct3 | (any & 0xfa00'000c);
    case 14:
      return 0x07 | registers | 0x2000 | (any & 0x0010'1020);
    case 15:
      return 0x73 | registers % 0x10'0000 | funct3 | csrs[below(draw, std::size(csrs))] << 20;
    case 16: {
      static constexpr std::uint32_t system[] = {0x0000'0073, 0x0010'0073, 0x3020'0073, 0x1020'0073,
                                                 0x1200'0073, 0x0000'100f, 0x0100'000f, 0x01d0'0073};
      return system[below(draw, std::size(system))];
    }
    case 17:
      return 0x17 | (8 + below(draw, 8)) << 7 | (any & 0x7000);
    case 18:
      return 0x67 | 1 << 7 | (8 + below(draw, 8)) << 15 | (any & 0x3f0'0000);
    default:
      return (any & 0xffff'0000) | (below(draw, 3) | (any & 0xfffc));
  }
}

/// Skips the instruction that trapped, or goes on somewhere in the drawn code after a failed fetch. Drawn code may
/// overwrite the handler.
inline const std::vector<std::uint32_t> kHandler = {
    0x34029073, 0x342022f3, 0xfff28293, 0x02028063, 0xff528293, 0x00028c63, 0x341022f3,  // mcause 1 or 12?
    0x00428293, 0x34129073, 0x340022f3, 0x30200073,                                      // mepc += 4; mret
    0xb00022f3, 0x03229293, 0x0322d293, 0xffc2f293, 0x00100313, 0x01f31313, 0x006282b3, 0x34129073, 0x30200073,
};
constexpr std::uint64_t kHandlerAt = IssMachine::kRam + 0x8000;

struct RandomMachine {
  RandomMachine(std::uint32_t seed, Timing timing, MakeEngine engine = IssMachine::default_engine)
      : machine(config(timing), engine) {
    Draw draw(seed);
    std::vector<std::uint32_t> words(4096);
    for (std::uint32_t& w : words) w = draw_word(draw);
    machine.load_words(words);
    HartState& s = machine.hart.state();
    for (unsigned i = 8; i < 16; ++i)
      s.x[i] = i & 1 ? std::uint64_t{draw()} << 32 | draw() : IssMachine::kRam + below(draw, 0x6000);
    for (std::uint64_t& f : s.f) f = std::uint64_t{draw()} << 32 | draw();
    machine.device_slots = 9;
    machine.load_words(kHandler, kHandlerAt);
    machine.hart.privileged().csr_poke(csr::kMtvec, kHandlerAt);
    machine.hart.privileged().csr_poke(csr::kMstatus, mstatus::kFs);
  }
  HartConfig config(Timing timing) {
    HartConfig c;
    c.costs.exception = 7;
    c.costs.interrupt = 9;
    c.costs.trap_return = 6;
    c.costs.of(CostClass::csr) = 3;
    c.costs.of(CostClass::system) = 5;
    parts.give_to(c, timing);
    return c;
  }
  void run_to(std::uint64_t limit) {
    machine.limit = limit;
    // run() also returns when the hart waits in wfi or wrs: let 50 slots pass and run on.
    while (machine.hart.run() != StopReason::slot_limit) machine.hart.state().slots += 50;
  }
  /// As run_to(), one instruction at a time.
  void run_one_by_one_to(std::uint64_t limit) {
    machine.limit = limit;
    for (;;) {
      const StopReason reason = machine.hart.run_one();
      if (reason == StopReason::slot_limit) return;
      breakpoints += reason == StopReason::breakpoint;
      if (reason != StopReason::stepped && reason != StopReason::breakpoint) machine.hart.state().slots += 50;
    }
  }
  std::string picture() {
    const HartState& s = machine.hart.state();
    std::string out = std::to_string(s.slots) + " " + std::to_string(s.instret) + " " + std::to_string(s.pc);
    for (unsigned i = 0; i < 32; ++i) out += " " + std::to_string(s.x[i]) + " " + std::to_string(s.f[i]);
    const HartCounters& c = machine.hart.counters();
    for (std::uint64_t v : {c.traps, c.l1d_accesses, c.l1d_misses, c.l1i_accesses, c.l1i_misses, c.branches,
                            c.mispredictions, c.forwarded})
      out += " " + std::to_string(v);
    std::uint64_t sum = s.fflags + s.frm * 8u;
    for (std::uint64_t a = IssMachine::kRam; a < IssMachine::kRam + 0x10000; a += 8) {
      std::uint64_t v = 0;
      machine.ram.read(a, &v, 8);
      sum = (sum ^ v) * 0x9e37'79b9'7f4a'7c15 + (sum >> 29);
    }
    return out + " " + std::to_string(sum);
  }
  unsigned breakpoints = 0;
  TimingParts parts;
  IssMachine machine;
};

}  // namespace sluice::riscv
