# SPDX-License-Identifier: Apache-2.0
"""Streams, with and without the prefetchers: test_streams.py SLUICE."""

import unittest

from bench import DATA, TimingTest, iteration, lines
from chase import LINE, SETS, SMALL_LLC, pointers, sweep
from core import Core
from stream import PAGE, Stream, page_of

CORES = {"l2": Core(), "llc": Core(), "dram": Core(**SMALL_LLC)}
PREFETCHERS = {"neither": {}, "L1D's": {"l1d_prefetch": True}, "L2's": {"prefetch_depth": 4},
               "L2's, short": {"prefetch_depth": 1}, "both": {"l1d_prefetch": True, "prefetch_depth": 4}}
MUL = 3  # cycles


class Streams(TimingTest):
    def pages(self, level, core, body, setup):
        """A page, after the first time around the level's working set and within the second."""
        around = SETS[level] // PAGE
        return iteration(core, body, setup, around * 5 // 4, around * 7 // 4)

    def chase(self, level, core, work, skip):
        pointers_to_all = lines("", f"li t0, {DATA}", "li s1, 1")
        # The last line of a page points to the first one of the next, and `skip` lines further.
        skipping = lines(f"addi t0, t0, {skip * LINE}") if skip else ""
        body = lines(*["ld t0, 0(t0)", *["mul t0, t0, s1"] * work] * (PAGE - skip))
        return self.pages(level, core, "\n".join((skipping, body)), pointers(SETS[level], 1) + pointers_to_all)

    def assert_prefetches(self, measured, expected):
        self.assertEqual({name: measured[name] for name in expected}, expected)

    def test_loads_that_wait_for_each_other(self):
        for level, core in CORES.items():
            for name, prefetchers in PREFETCHERS.items():
                for work, skip in ((0, 0), (4, 0), (0, 2)):
                    with self.subTest(level, prefetchers=name, work=work, skip=skip):
                        with_prefetchers = core.but(**prefetchers)
                        cycles, prefetches = page_of(Stream(with_prefetchers, level).chase(MUL * work, skip))
                        measured = self.chase(level, with_prefetchers, work, skip)
                        self.assert_takes(measured, cycles + (skip > 0))  # an addition skips
                        self.assert_prefetches(measured, prefetches)

    def test_independent_loads(self):
        for level, core in CORES.items():
            for name, prefetchers in PREFETCHERS.items():
                with self.subTest(level, prefetchers=name):
                    with_prefetchers = core.but(**prefetchers)
                    cycles, prefetches = page_of(Stream(with_prefetchers, level).sweep(), 100, 100)
                    setup, body = sweep(SETS[level], 32)
                    measured = self.pages(level, with_prefetchers, body + "\n" + body, setup)
                    self.assert_takes(measured, cycles, slack=measured.iterations * cycles / 500)
                    self.assert_prefetches(measured, prefetches)


if __name__ == "__main__":
    unittest.main()
