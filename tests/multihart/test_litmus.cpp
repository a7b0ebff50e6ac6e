// SPDX-License-Identifier: Apache-2.0
/// Litmus programs: what harts may see of each other's accesses. Harts execute their accesses one at a time in program
/// order, so memory is sequentially consistent, which is more than RVWMO asks; each program's outcomes must be exactly
/// those that sequential consistency allows, over all orders of harts, delays, quanta and timings together.
#include <algorithm>
#include <functional>
#include <set>

#include <catch2/catch.hpp>

#include "tests/multihart/machine.h"
#include "tests/unit/fresh_kernel.h"

using namespace sluice;
using namespace sluice::multihart;

namespace {

constexpr int kX = 0, kY = 256;  // two locations in lines of their own, from s0

using Outcome = std::vector<std::uint64_t>;
using Outcomes = std::set<Outcome>;

struct Litmus {
  unsigned harts;
  /// Adds the code of one role; a1 holds 1, a2 holds 2.
  std::function<void(Code&, unsigned role)> role;
  /// Takes the outcome: what a role's a0 and a3 hold, and memory.
  std::function<Outcome(const std::function<std::uint64_t(unsigned role, unsigned reg)>&, Machine&)> look;
};

void fence(Code& c, bool fenced) {
  if (fenced) c.fence(all, all);
}

Outcome run_once(const Litmus& l, const MachineParameters& p, const std::vector<unsigned>& hart_of,
                 const std::vector<unsigned>& delays) {
  fresh_kernel();
  Machine m(p);
  for (unsigned role = 0; role < l.harts; ++role) {
    const unsigned h = hart_of[role];
    Code c;
    c.nops(delays[role]);
    l.role(c, role);
    m.load(h, c);
    m.x(h, s0) = Machine::kData;
    m.x(h, a1) = 1;
    m.x(h, a2) = 2;
  }
  m.run(2_us);
  REQUIRE(base::calendar().late() == 0);
  return l.look([&](unsigned role, unsigned reg) { return m.x(hart_of[role], reg); }, m);
}

/// Goes on to the next combination of the roles' delays. Returns false after the last one.
bool next_delays(std::vector<unsigned>& delays, const std::vector<unsigned>& choices, std::vector<unsigned>& digits) {
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (++digits[i] < choices.size()) {
      delays[i] = choices[digits[i]];
      return true;
    }
    digits[i] = 0;
    delays[i] = choices[0];
  }
  return false;
}

Outcomes outcomes(const Litmus& l) {
  Outcomes seen;
  std::vector<unsigned> choices{1, 3, 6, 9, 15};
  if (l.harts == 3) choices = {1, 6, 15};
  if (l.harts == 4) choices = {1, 2};
  for (const Time quantum : {1_ns, 8_ns}) {
    for (const Timing timing : {Timing::functional, Timing::cached, Timing::interval}) {
      std::vector<unsigned> hart_of;
      for (unsigned h = 0; h < l.harts; ++h) hart_of.push_back(h);
      do {
        std::vector<unsigned> delays(l.harts, choices[0]), digits(l.harts, 0);
        do seen.insert(run_once(l, {l.harts, quantum, timing}, hart_of, delays));
        while (next_delays(delays, choices, digits));
      } while (std::next_permutation(hart_of.begin(), hart_of.end()));
    }
  }
  return seen;
}

/// What two roles have loaded into a0.
Outcome two_loads(const std::function<std::uint64_t(unsigned, unsigned)>& x, Machine&) { return {x(0, a0), x(1, a0)}; }

}  // namespace

TEST_CASE("store buffering: one of two harts sees the other's store", "[litmus]") {
  for (const bool fenced : {false, true}) {
    const Litmus sb{2,
                    [&](Code& c, unsigned role) {
                      c.sd(a1, s0, role == 0 ? kX : kY);
                      fence(c, fenced);
                      c.ld(a0, s0, role == 0 ? kY : kX);
                    },
                    two_loads};
    REQUIRE(outcomes(sb) == Outcomes{{0, 1}, {1, 0}, {1, 1}});
  }
}

TEST_CASE("message passing: who sees the flag sees the message", "[litmus]") {
  for (const bool fenced : {false, true}) {
    const Litmus mp{2,
                    [&](Code& c, unsigned role) {
                      if (role == 0) {
                        c.sd(a1, s0, kX);
                        if (fenced) c.fence(writes, writes);
                        c.sd(a1, s0, kY);
                      } else {
                        c.ld(a0, s0, kY);
                        if (fenced) c.fence(reads, reads);
                        c.ld(a3, s0, kX);
                      }
                    },
                    [](const auto& x, Machine&) {
                      return Outcome{x(1, a0), x(1, a3)};
                    }};
    REQUIRE(outcomes(mp) == Outcomes{{0, 0}, {0, 1}, {1, 1}});
  }
}

TEST_CASE("load buffering: no hart sees a store that follows from it", "[litmus]") {
  const Litmus lb{2,
                  [&](Code& c, unsigned role) {
                    c.ld(a0, s0, role == 0 ? kX : kY);
                    c.sd(a1, s0, role == 0 ? kY : kX);
                  },
                  two_loads};
  REQUIRE(outcomes(lb) == Outcomes{{0, 0}, {0, 1}, {1, 0}});
}

TEST_CASE("coherence: loads of one location never go back", "[litmus]") {
  const Litmus corr{2,
                    [&](Code& c, unsigned role) {
                      if (role == 0) {
                        c.sd(a1, s0, kX);
                        c.sd(a2, s0, kX);
                      } else {
                        c.ld(a0, s0, kX);
                        c.ld(a3, s0, kX);
                      }
                    },
                    [](const auto& x, Machine&) {
                      return Outcome{x(1, a0), x(1, a3)};
                    }};
  REQUIRE(outcomes(corr) == Outcomes{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}});
}

TEST_CASE("two writers of two locations: their stores do not cross", "[litmus]") {
  const Litmus w22{2,
                   [&](Code& c, unsigned role) {
                     c.sd(a1, s0, role == 0 ? kX : kY);
                     c.sd(a2, s0, role == 0 ? kY : kX);
                   },
                   [](const auto&, Machine& m) {
                     return Outcome{m.word(Machine::kData + kX), m.word(Machine::kData + kY)};
                   }};
  REQUIRE(outcomes(w22) == Outcomes{{1, 2}, {2, 1}, {2, 2}});
}

TEST_CASE("write to read causality: what a hart has passed on, the next one sees", "[litmus]") {
  const Litmus wrc{3,
                   [&](Code& c, unsigned role) {
                     if (role == 0) {
                       c.sd(a1, s0, kX);
                     } else if (role == 1) {
                       c.ld(a0, s0, kX);
                       c.sd(a0, s0, kY);
                     } else {
                       c.ld(a0, s0, kY);
                       c.ld(a3, s0, kX);
                     }
                   },
                   [](const auto& x, Machine&) {
                     return Outcome{x(1, a0), x(2, a0), x(2, a3)};
                   }};
  REQUIRE(outcomes(wrc) == Outcomes{{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {1, 0, 1}, {1, 1, 1}});
}

TEST_CASE("independent reads of independent writes: all harts see one order", "[litmus]") {
  const Litmus iriw{4,
                    [&](Code& c, unsigned role) {
                      if (role < 2) {
                        c.sd(a1, s0, role == 0 ? kX : kY);
                      } else {
                        c.ld(a0, s0, role == 2 ? kX : kY);
                        c.ld(a3, s0, role == 2 ? kY : kX);
                      }
                    },
                    [](const auto& x, Machine&) {
                      return Outcome{x(2, a0), x(2, a3), x(3, a0), x(3, a3)};
                    }};
  const Outcomes seen = outcomes(iriw);
  REQUIRE(seen.count({1, 0, 1, 0}) == 0);
  REQUIRE(seen.size() == 15);
}

TEST_CASE("no increment is lost, by LR and SC or by AMO", "[litmus]") {
  for (const bool amo : {false, true}) {
    const Litmus increments{4,
                            [&](Code& c, unsigned) {
                              if (amo) {
                                c.amoadd(3, a0, a1, s0);
                                return;
                              }
                              const int again = c.lr(3, a0, s0);
                              c.add_(a3, a0, a1);
                              c.sc(3, t0, a3, s0);
                              c.bne(t0, zero, again);
                            },
                            [](const auto& x, Machine& m) {
                              Outcome ranks{x(0, a0), x(1, a0), x(2, a0), x(3, a0)};
                              std::sort(ranks.begin(), ranks.end());
                              ranks.push_back(m.word(Machine::kData));
                              return ranks;
                            }};
    REQUIRE(outcomes(increments) == Outcomes{{0, 1, 2, 3, 4}});
  }
}
