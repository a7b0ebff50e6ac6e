# SPDX-License-Identifier: Apache-2.0
"""Branches: test_branches.py SLUICE.

A loop has a chain of operations, a branch that depends on the chain, and the branch that closes it. While both are
predicted rightly, an iteration takes its chain. A misprediction stops that: the chain has ended in cycle t, the bit is
there in t + 1 and the branch is done in t + 2. The right path is dispatched `refill` cycles later, and the chain goes
on in the cycle after that: refill + 3 cycles more.

gshare sees the last `history` outcomes, of which every second one is the closing branch's, which is always taken."""

import unittest
from fractions import Fraction

from bench import TimingTest, iteration, lines
from core import Core

BRANCH = lines("andi t3, s1, 1", "bnez t3, 2f", "nop", "2:")
PERIODIC = lines("mul s1, s1, s3", "srli t1, s1, 1", "sll t2, s1, s4", "or s1, t1, t2", "and s1, s1, s2")
PERIODIC_CHAIN = 3 + 1 + 1 + 1
XORSHIFT = lines("slli t1, s1, 13", "xor s1, s1, t1", "srli t1, s1, 7", "xor s1, s1, t1", "slli t1, s1, 17",
                 "xor s1, s1, t1")
XORSHIFT_CHAIN = 6
# A closing jump without a condition, so that the conditional branch is the only one: to s6, and to s6 + s5 at the end.
INDIRECT_SETUP = lines("la s6, 1f", "la s5, 3f", "sub s5, s5, s6", "li s1, 88172645463325252")
INDIRECT = lines("seqz t4, s0", "mul t4, t4, s5", "add a4, s6, t4", "jr a4")


def periodic(core, pattern):
    """pattern: the outcomes, 1 for taken, over and over."""
    bits = sum(int(outcome) << n for n, outcome in enumerate(pattern))
    setup = lines(f"li s1, {bits}", f"li s2, {(1 << len(pattern)) - 1}", "li s3, 1", f"li s4, {len(pattern) - 1}")
    few = 40 * len(pattern)
    return iteration(core, "\n".join((BRANCH, PERIODIC)), setup, few, 3 * few)


class Branches(TimingTest):
    def assert_mispredicted(self, measured, mispredictions, core, chain, slack=0):
        self.assertEqual(measured["mispredictions"], mispredictions)
        self.assert_takes(measured, chain + mispredictions * (core.refill + 3), slack)

    def test_patterns_within_the_history_are_foreseen_and_those_beyond_cost_one_refill_each_time(self):
        for history in (4, 8, 12):
            for refill in (16, 21):
                core = Core(history=history, refill=refill)
                longest = history // 2 + 1  # its outcomes are different as far as the history reaches
                for pattern in ("1", "0", "10", "110", "1" * (longest - 1) + "0", "1" * longest + "0", "1" * 20 + "0"):
                    with self.subTest(history=history, refill=refill, pattern=pattern):
                        wrong = 0 if len(pattern) <= longest else Fraction(1, len(pattern))
                        self.assert_mispredicted(periodic(core, pattern), wrong, core, PERIODIC_CHAIN)

    def test_each_misprediction_of_outcomes_drawn_at_random_costs_a_refill(self):
        for refill in (1, 16, 40):
            with self.subTest(refill=refill):
                core = Core(refill=refill)
                measured = iteration(core, "\n".join((BRANCH, XORSHIFT)), INDIRECT_SETUP, 1000, 5000, INDIRECT)
                # Nothing foresees them: half of 4000, whose standard deviation is 32.
                self.assertLess(abs(measured["mispredictions"] - Fraction(1, 2)), Fraction(5 * 32, 4000))
                self.assert_mispredicted(measured, measured["mispredictions"], core, XORSHIFT_CHAIN,
                                         slack=2)  # the two runs end with other outcomes

    def test_the_return_stack_foresees_as_many_returns_as_it_holds(self):
        for stack in (16, 5):
            for depth in (1, 5, 6, 16, 17, 30):
                with self.subTest(stack=stack, depth=depth):
                    calls = [f"call function{n}" if n < depth else "nop" for n in range(1, depth + 1)]
                    functions = [lines(f"function{n}: addi sp, sp, -16", "sd ra, 0(sp)", call, "ld ra, 0(sp)",
                                       "addi sp, sp, 16", "ret") for n, call in enumerate(calls)]
                    setup = "\n".join(("j 9f", *functions, "9: li sp, 0x88000000"))
                    measured = iteration(Core(return_stack=stack), "call function0", setup)
                    self.assertEqual(measured["mispredictions"], max(0, depth - stack))


if __name__ == "__main__":
    unittest.main()
