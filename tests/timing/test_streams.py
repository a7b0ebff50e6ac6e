# SPDX-License-Identifier: Apache-2.0
"""Streams, with and without the prefetchers: test_streams.py SLUICE."""

import unittest
from fractions import Fraction

from bench import DATA, TimingTest, iteration, lines
from chase import SETS, SMALL_LLC, pointers, sweep
from core import Core, whole
from stream import PAGE, Stream

CORES = {"l2": Core(), "llc": Core(), "dram": Core(**SMALL_LLC)}
PREFETCHERS = {"neither": {}, "L1D's": {"l1d_prefetch": True}, "L2's": {"prefetch_depth": 4},
               "L2's, short": {"prefetch_depth": 1}, "both": {"l1d_prefetch": True, "prefetch_depth": 4}}
MUL = 3  # cycles


class Streams(TimingTest):
    def pages(self, level, core, body, setup):
        """A page, after the first time around the level's working set and within the second."""
        around = SETS[level] // PAGE
        return iteration(core, body, setup, around * 5 // 4, around * 7 // 4)

    def chase(self, level, core, work):
        body = lines(*["ld t0, 0(t0)", *["mul t0, t0, s1"] * work] * PAGE)
        return self.pages(level, core, body, pointers(SETS[level], 1) + lines("", f"li t0, {DATA}", "li s1, 1"))

    def test_loads_that_wait_for_each_other(self):
        for level, core in CORES.items():
            for name, prefetchers in PREFETCHERS.items():
                for work in (0, 4):
                    with self.subTest(level, prefetchers=name, work=work):
                        with_prefetchers = core.but(**prefetchers)
                        expected = Stream(with_prefetchers, level).chase(MUL * work, 20)
                        measured = self.chase(level, with_prefetchers, work)
                        self.assert_takes(measured, expected[-1])

    def test_independent_loads(self):
        for level, core in CORES.items():
            for name, prefetchers in PREFETCHERS.items():
                with self.subTest(level, prefetchers=name):
                    with_prefetchers = core.but(**prefetchers)
                    expected = Stream(with_prefetchers, level).sweep(200)[100:]
                    setup, body = sweep(SETS[level], 32)
                    measured = self.pages(level, with_prefetchers, body + "\n" + body, setup)
                    each = Fraction(sum(expected), len(expected))
                    self.assert_takes(measured, each, slack=measured.iterations * each / 500)


if __name__ == "__main__":
    unittest.main()
