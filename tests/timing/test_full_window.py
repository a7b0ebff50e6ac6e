# SPDX-License-Identifier: Apache-2.0
"""A window that is full behind one miss: test_full_window.py SLUICE.

An iteration begins with an empty window. It has a miss of DRAM, many instructions of one kind, and another miss, which
overlaps with the first one only if it enters the window before that has left it. Cycle 0 is that of the first
dispatch."""

import unittest

from bench import DATA, DRAIN, DRAIN_SLOTS, TimingTest, iteration, lines
from core import Core, whole

STEP = 128  # bytes from the two misses of an iteration to those of the next one
SETUP = lines(f"li a0, {DATA}", "li a1, 0x87000000", "ld x0, 0(a1)", "sd x0, 0(a1)")
# Queue: instruction that needs a place; the counter of slots that are lost because there is none.
FILLERS = {"reorder_buffer": "nop", "scheduler": "add t1, t0, t0", "load_queue": "ld t1, 0(a1)",
           "store_buffer": "sd x0, 0(a1)"}
CORES = (Core(), Core(reorder_buffer=64, scheduler=20, load_queue=16, store_buffer=10),
         Core(dram_ns="140.3", reorder_buffer=200, scheduler=60, load_queue=48, store_buffer=40))


def retired(core, completed):
    """The cycle in which the last of these instructions retires, by the cycles in which they complete."""
    cycles = []
    for n, cycle in enumerate(completed):
        before = cycles[-1] if cycles else 0
        width = cycles[-core.width] + 1 if n >= core.width else 0  # retire_width is as large
        cycles.append(max(cycle, before, width))
    return cycles[-1]


class Expected:
    """Cycles of an iteration with so many instructions between the misses."""

    def __init__(self, core, fillers):
        self.core, self.fillers = core, fillers
        self.first = whole(1 + core.dram)  # when the first miss, which is issued in cycle 1, has its value and retires

    def last(self, *completed):
        """Three instructions at the end are done before the others. The next iteration begins in the cycle after the
        last retirement, when the instruction that waits for it has been paid."""
        return retired(self.core, [*completed, 0, 0, 0]) + 1 + DRAIN_SLOTS // self.core.width

    def second(self, issued, first=1):
        """When the second miss has its value. The channel takes the first one's line before."""
        return whole(max(issued, first + self.core.line) + self.core.dram)

    def dispatched(self, fits, room):
        """room: when there is room for the second miss if it does not fit."""
        return (1 + self.fillers) // self.core.width if fits else room

    def reorder_buffer(self):
        dispatched = self.dispatched(1 + self.fillers < self.core.reorder_buffer, self.first + 1)
        return self.last(self.first, *[0] * self.fillers, self.second(dispatched + 1))

    def scheduler(self):
        # They wait for the first miss, and are then issued by four ports.
        dispatched = self.dispatched(self.fillers < self.core.scheduler, self.first + 1)
        fillers = [self.first + 1 + n // 4 for n in range(self.fillers)]
        return self.last(self.first, *fillers, self.second(dispatched + 1))

    def load_queue(self):
        # Two load ports.
        fits = 1 + self.fillers < self.core.load_queue
        return self.last(self.first, *[0] * self.fillers,
                         self.second(1 + (1 + self.fillers) // 2 if fits else self.first + 2))

    def store_buffer(self):
        # One store is issued in each cycle, done and retired in the next one. The first one asks for its line in the
        # cycle after that; the others are written behind it, one in a cycle, and a fence waits for them.
        written = whole(3 + self.core.dram)
        dispatched = self.dispatched(1 + self.fillers <= self.core.store_buffer, written + 1)
        return self.last(2, *[0] * self.fillers, self.second(dispatched + 1, 3), written + self.fillers + 1)


class FullWindow(TimingTest):
    def measure(self, core, queue, fillers):
        store = queue == "store_buffer"
        body = lines(DRAIN, "sd x0, 0(a0)" if store else "ld t0, 0(a0)", *[FILLERS[queue]] * fillers,
                     "ld t2, 64(a0)", *["fence rw, rw"] * store, f"addi a0, a0, {STEP}")
        return iteration(core, body, SETUP)

    def test_the_second_miss_overlaps_as_long_as_there_is_room(self):
        for queue in FILLERS:
            for core in CORES:
                size = getattr(core, queue)
                # The first miss takes a place, too, but it has left the scheduler.
                most = {"reorder_buffer": size - 2, "load_queue": size - 2, "scheduler": size - 1,
                        "store_buffer": size - 1}[queue]
                for fillers in (1, most // 2, most, most + 1):
                    with self.subTest(queue, size=size, fillers=fillers):
                        measured = self.measure(core, queue, fillers)
                        self.assert_takes(measured, getattr(Expected(core, fillers), queue)())
                        if fillers != most:  # then what follows finds no room
                            self.assertEqual(measured[f"lost_{queue}"] > 0, fillers > most)


if __name__ == "__main__":
    unittest.main()
