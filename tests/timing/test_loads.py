# SPDX-License-Identifier: Apache-2.0
"""Loads that each level answers: test_loads.py SLUICE.

A load that waits for the one before it takes the level's latency. Independent ones overlap: two a cycle, by the load
ports, that L1D answers, and as many at once as there are miss registers that it does not. An instruction has its value
in the first whole cycle; a miss register is free as soon as the line is there."""

import unittest
from fractions import Fraction

from bench import TimingTest, iteration, lines
from chase import MISSES, SETS, SMALL_LLC, pointers, starts, sweep
from core import Core, whole

CORES = {"l1d": Core(), "l2": Core(), "llc": Core(), "dram": Core(**SMALL_LLC)}
NUMBER = 32  # loads in an iteration
REGISTERS = [f"x{n}" for n in (5, 6, 7, *range(9, 32))]  # x8 counts iterations


class Loads(TimingTest):
    def assert_answered_by(self, measured, level, loads):
        self.assertEqual(tuple(measured[name] for name in ("l1d_misses", "l2_misses", "llc_misses")),
                         tuple(n * loads for n in MISSES[level]), level)

    def around(self, level, loads, core, body, setup):
        """An iteration after the first time around the level's working set, which fetches it."""
        few = max(SETS[level] // loads * 5 // 4, 100)
        return iteration(core, body, setup, few, few + min(few, 1024))

    def chase(self, level, core, chains):
        """Lists of pointers, `chains` at a time."""
        number = SETS[level]
        used = REGISTERS[:chains]
        begin = [f"li {x}, {at}" for x, at in zip(used, starts(number, chains))]
        times = NUMBER if chains == 1 else 1
        return self.around(level, times * chains, core, lines(*[f"ld {x}, 0({x})" for x in used] * times),
                           pointers(number) + "\n" + lines(*begin))

    def test_a_pointer_chase_takes_the_latency_of_each_level(self):
        for level, core in CORES.items():
            for other in (core, core.but(load=4, l2_ns="6.3", llc_ns="33.1", dram_ns="102.7")):
                with self.subTest(level, latency=str(other.latency(level))):
                    measured = self.chase(level, other, 1)
                    self.assert_answered_by(measured, level, NUMBER)
                    self.assert_takes(measured, whole(other.latency(level)) * NUMBER)

    def test_independent_hits_take_the_load_ports(self):
        setup, body = sweep(SETS["l1d"], NUMBER)
        self.assert_takes(self.around("l1d", NUMBER, Core(), body, setup), Fraction(NUMBER, 2))

    def test_independent_misses_take_the_miss_registers(self):
        for level in ("l2", "llc", "dram"):
            for registers in (1, 4, 12, 24):
                core = CORES[level].but(miss_registers=registers)
                with self.subTest(level, registers=registers):
                    setup, body = sweep(SETS[level], NUMBER)
                    measured = self.around(level, NUMBER, core, body, setup)
                    self.assert_answered_by(measured, level, NUMBER)
                    self.assert_takes(measured, NUMBER * core.latency(level) / registers,
                                      slack=core.latency(level))

    def test_independent_misses_take_the_channel_where_it_is_slower(self):
        core = CORES["dram"].but(dram_gbps="20")
        setup, body = sweep(SETS["dram"], NUMBER)
        self.assertGreater(core.line, core.dram / core.miss_registers)
        self.assert_takes(self.around("dram", NUMBER, core, body, setup), NUMBER * core.line, slack=1)

    def test_so_many_chases_overlap_as_there_are_miss_registers(self):
        for level in ("l2", "llc", "dram"):
            for chains in (2, 3, 8, 11, 12, 13, 16, 24):
                core = CORES[level]
                with self.subTest(level, chains=chains):
                    measured = self.chase(level, core, chains)
                    self.assert_answered_by(measured, level, chains)
                    latency = core.latency(level)
                    self.assert_takes(measured, max(whole(latency), latency * chains / core.miss_registers),
                                      slack=0 if chains <= core.miss_registers else latency)


if __name__ == "__main__":
    unittest.main()
