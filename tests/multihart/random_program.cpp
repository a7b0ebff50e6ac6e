// SPDX-License-Identifier: Apache-2.0
#include "tests/multihart/random_program.h"

#include "tests/differential/draw.h"

namespace sluice::multihart {
namespace {

using differential::Draw;

// s0: shared memory. s1: the hart's own memory. s2: the CLINT. s3: mie with timer and message. s4: the value to store,
// counted up. s5: where the trap handler makes its next note. s6, s7: devices. a4, a5: for the trap handler.
constexpr std::uint64_t kTrapNotes = 0x800;

class Writer {
 public:
  Writer(Draw& draw, unsigned hart, unsigned harts) : draw_(draw), hart_(hart), harts_(harts) {}

  Code program() {
    c_.csrw(kMie, s3);
    for (std::uint64_t n = 20 + draw_.below(40); n > 0; --n) step();
    // Nothing wakes the hart from here on.
    c_.csrw(kMie, zero);
    const int end = c_.wfi();
    c_.beq(zero, zero, end);
    return c_;
  }

 private:
  void step() {
    switch (draw_.below(17)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return load();
      case 4:
      case 5:
      case 6:
        return store();
      case 7:
      case 8:
        return amo();
      case 9:
      case 10:
        return reservation();
      case 11:
        return fence();
      case 12:
        return wait();
      case 13:
        return message();
      case 14:
        return device();
      default:
        return delay();
    }
  }

  unsigned size() { return static_cast<unsigned>(draw_.below(4)); }
  /// Most accesses are aligned and to few places, so that harts meet.
  int place(unsigned log2_bytes, bool aligned) {
    const unsigned bytes = 1u << log2_bytes;
    if (!aligned && draw_.one_in(6)) return static_cast<int>(draw_.below(RandomProgram::kSharedBytes - bytes + 1));
    const std::uint64_t line = draw_.below(RandomProgram::kSharedBytes / 64);
    return static_cast<int>(line * 64 + draw_.below(2) * 8 + draw_.below(8 / bytes) * bytes);
  }
  void point_at(int offset) { c_.addi(t0, s0, offset); }
  void new_value() { c_.addi(s4, s4, 1); }
  void keep(unsigned reg) {
    c_.sd(reg, s1, static_cast<int>(kept_));
    kept_ = (kept_ + 8) % kTrapNotes;
  }
  Order order() { return draw_.from({relaxed, release, acquire, both}); }

  void load() {
    const unsigned s = size();
    c_.load(s, a0, s0, place(s, false));
    keep(a0);
  }
  void store() {
    const unsigned s = size();
    new_value();
    c_.store(s, s4, s0, place(s, false));
  }
  void amo() {
    const unsigned s = 2 + static_cast<unsigned>(draw_.below(2));
    new_value();
    point_at(place(s, true));
    if (draw_.one_in(2))
      c_.amoadd(s, a0, s4, t0, order());
    else
      c_.amoswap(s, a0, s4, t0, order());
    keep(a0);
  }
  void reservation() {
    const unsigned s = 2 + static_cast<unsigned>(draw_.below(2));
    point_at(place(s, true));
    c_.lr(s, a0, t0, order());
    if (draw_.one_in(4)) delay();
    if (draw_.one_in(4)) load();
    if (draw_.one_in(6)) store();
    new_value();
    if (draw_.one_in(8)) point_at(place(s, true));
    c_.sc(s, a1, s4, t0, order());
    keep(a0);
    keep(a1);
  }
  void fence() { c_.fence(draw_.from({writes, reads, all}), draw_.from({writes, reads, all})); }
  /// Waits until a timer, a message, a store to the reservation, or the end of a short wait.
  void wait() {
    c_.csrr(t1, kTime);
    c_.addi(t1, t1, static_cast<int>(draw_.below(400)));
    const std::uint64_t way = draw_.below(4);
    // A short wait ends by itself, the others need the timer.
    if (way != 3 || draw_.one_in(2)) c_.csrw(kStimecmp, t1);
    switch (way) {
      case 0:
        c_.wfi();
        break;
      case 1:
      case 2:
        point_at(place(3, true));
        c_.lr(3, a0, t0);
        c_.wrs_nto();
        keep(a0);
        break;
      default:
        point_at(place(3, true));
        c_.lr(3, a0, t0);
        c_.wrs_sto();
        break;
    }
    c_.csrr(a0, kCycle);
    keep(a0);
  }
  void message() {
    const std::uint64_t to = draw_.below(harts_);
    c_.addi(a1, zero, 1);
    c_.sw(a1, s2, static_cast<int>(4 * to));
  }
  void device() {
    const unsigned at = draw_.one_in(2) ? s6 : s7;
    if (draw_.one_in(3)) {
      c_.sw(s4, at, static_cast<int>(4 * draw_.below(2)));
      return;
    }
    c_.ld(a0, at, static_cast<int>(8 * draw_.below(2)));
    keep(a0);
  }
  void delay() {
    switch (draw_.below(4)) {
      case 0:
        c_.nops(static_cast<unsigned>(draw_.below(60)));
        break;
      case 1:
        c_.div(t2, t2, s4);
        break;
      default:
        c_.nops(static_cast<unsigned>(draw_.below(8)));
        break;
    }
  }

  Draw& draw_;
  unsigned hart_, harts_;
  Code c_;
  std::uint64_t kept_ = 0;
};

/// Notes the cycle and cause of a trap, clears the message, and sets the timer again if it has come: a hart that is
/// about to wait must not wait for ever.
Code trap_handler(unsigned hart) {
  Code c;
  c.csrr(a4, kCycle);
  c.csrr(a5, kMcause);
  c.sd(a4, s5);
  c.sd(a5, s5, 8);
  c.addi(s5, s5, 16);
  c.sw(zero, s2, static_cast<int>(4 * hart));
  c.slli(a4, a5, 1);  // without the bit that says interrupt
  c.addi(a5, zero, 2 * riscv::irq::kSti);
  const int other = c.here() + 4;
  c.bne(a4, a5, other);
  c.csrr(a4, kTime);
  c.addi(a4, a4, 500);
  c.csrw(kStimecmp, a4);
  c.mret();
  return c;
}

}  // namespace

RandomProgram RandomProgram::draw(std::uint64_t seed, std::uint64_t index) {
  Draw draw(seed, index);
  RandomProgram p;
  p.machine.harts = draw.one_in(4) ? 2 + static_cast<unsigned>(draw.below(2)) : 4;
  p.machine.quantum = Time::ns(draw.from({1, 3, 17, 32, 64, 100, 1000}));
  p.machine.timing = draw.from({Timing::functional, Timing::cached, Timing::interval});
  p.machine.mixed = draw.one_in(3);
  for (unsigned h = 0; h < p.machine.harts; ++h) {
    p.code.push_back(Writer(draw, h, p.machine.harts).program());
    p.handler.push_back(trap_handler(h));
  }
  for (std::uint64_t n = draw.below(12); n > 0; --n) {
    const std::uint64_t offset = draw.below(kSharedBytes / 8) * 8;
    // Half of them on edges of the harts' clock, where they meet instructions.
    const Time at = draw.one_in(2) ? Time::ps(draw.below(4'000'000)) : Time::ns(draw.below(4'000));
    p.dma.push_back({at, kShared + offset, draw()});
  }
  for (std::uint64_t n = draw.one_in(3) ? draw.below(6) : 0; n > 0; --n)
    p.stops.push_back({Time::ps(draw.below(4'000'000)), static_cast<unsigned>(draw.below(p.machine.harts)),
                       Time::ps(draw.below(300'000))});
  return p;
}

void RandomProgram::load(Machine& m) const {
  for (unsigned h = 0; h < machine.harts; ++h) {
    m.load(h, code[h]);
    m.handle_traps(h, handler[h]);
    m.set_csr(h, kMstatus, h % 2 == 0 ? 8 : 0);  // half of the harts take interrupts, the others only wake by them
    m.x(h, s0) = kShared;
    m.x(h, s1) = kOwn + h * kOwnBytes;
    m.x(h, s2) = Machine::kClint;
    m.x(h, s3) = riscv::irq::bit(riscv::irq::kSti) | riscv::irq::bit(riscv::irq::kMsi);
    m.x(h, s4) = (h + 1) << 20;
    m.x(h, s5) = kOwn + h * kOwnBytes + kTrapNotes;
    m.x(h, s6) = kOwnDevice;
    m.x(h, s7) = kForeignDevice;
  }
  for (const DmaWrite& w : dma) m.write_at(w.at, w.address, w.value);
  for (const Stop& s : stops) {
    riscv::Core& core = *m.cores[s.hart];
    base::calendar().at(s.at, base::path_key("stop"), [&core] { core.stop("a stop", "the test"); });
    base::calendar().at(s.at + s.length, base::path_key("stop"), [&core] { core.resume(); });
  }
}

}  // namespace sluice::multihart
