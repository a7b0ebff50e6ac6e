# SPDX-License-Identifier: Apache-2.0
"""Bursts of stores: test_stores.py SLUICE.

Stores are written to L1D in order, one in a cycle. One whose line L1D does not own asks for it in the cycle after it
has retired, before its turn, so as many are under way as there are miss registers and places in the store buffer."""

import unittest

from bench import DATA, TimingTest, iteration, lines
from chase import LINE, SETS, SMALL_LLC
from core import Core, whole

CORES = {"l1d": Core(), "l2": Core(), "llc": Core(), "dram": Core(**SMALL_LLC)}
NUMBER = 32  # stores in an iteration


def sweep(number):
    """(set-up, instructions): a store to each of `number` lines, over and over."""
    return (lines(f"li a1, {DATA + 1024}", f"li a2, {LINE * number - 1}", "li a3, 0", "mv a0, a1"),
            lines(*[f"sd x0, {LINE * n - 1024}(a0)" for n in range(NUMBER)], "addi a3, a3, 1024", "addi a3, a3, 1024",
                  "and a3, a3, a2", "add a0, a1, a3"))


class Stores(TimingTest):
    def around(self, level, core):
        """An iteration after the first time around the level's working set."""
        setup, body = sweep(SETS[level])
        few = max(SETS[level] // NUMBER * 5 // 4, 100)
        return iteration(core, body, setup, few, few + min(few // 2, 1024))

    def test_lines_that_l1d_owns_take_a_store_in_a_cycle(self):
        self.assert_takes(self.around("l1d", Core()), NUMBER)

    def test_other_lines_take_the_miss_registers(self):
        for level in ("l2", "llc"):
            for registers in (2, 8, 12):
                core = CORES[level].but(miss_registers=registers)
                with self.subTest(level, registers=registers):
                    measured = self.around(level, core)
                    self.assertEqual(measured["l1d_misses"], NUMBER)
                    self.assert_takes(measured, NUMBER * core.latency(level) / registers, slack=core.latency(level))

    def test_a_line_of_dram_crosses_the_channel_twice(self):
        """Once on its way to L1D, and once when the LLC displaces it, changed."""
        core = CORES["dram"].but(dram_gbps="20")
        self.assertGreater(2 * core.line, core.dram / core.miss_registers)
        measured = self.around("dram", core)
        self.assertEqual(measured["llc_misses"], NUMBER)
        self.assert_takes(measured, NUMBER * 2 * core.line, slack=core.dram)

    def test_a_short_store_buffer_is_full_behind_one_store(self):
        """With one place, each store waits until the one before it is written, and its place is free in the cycle after
        that. It is dispatched, issued, done and retired, and asks for its line: in cycles 0, 1, 2, 2 and 3."""
        for level in ("l1d", "l2", "llc"):
            with self.subTest(level):
                core = CORES[level].but(store_buffer=1)
                asks = 3
                written = asks if level == "l1d" else whole(asks + core.latency(level))
                self.assert_takes(self.around(level, core), NUMBER * (written + 1))


if __name__ == "__main__":
    unittest.main()
