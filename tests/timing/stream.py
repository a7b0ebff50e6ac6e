# SPDX-License-Identifier: Apache-2.0
"""A stream of loads, one in each line of ascending addresses, by the rules of docs/models/memory.md and
docs/models/riscv-window.md for miss registers, the DRAM channel and the two prefetchers. Written for these tests from
those rules; it knows nothing of tags, for every line is new to the caches in front of its level."""

import heapq
from fractions import Fraction
from itertools import islice

from core import whole

PAGE = 64  # lines


class Stream:
    def __init__(self, core, level):
        self.core, self.level = core, level
        self.registers = [Fraction(0)] * core.miss_registers  # a heap: when each is free
        self.channel = Fraction(0)  # when it is free
        self.l1d, self.l2 = {}, {}  # when lines that have been asked for are there
        self.ahead = 0  # the L2 prefetcher has asked for lines below
        self.prefetches = {"l1d_prefetches": 0, "prefetches": 0}  # as the counters of a hart

    def from_level(self, at):
        if self.level != "dram":
            return at + self.core.latency(self.level)
        start = max(at, self.channel)
        self.channel = start + self.core.line
        return start + self.core.dram

    def bring(self, line, at):
        """L1D asks for a line. Returns when it has it."""
        start = max(at, self.registers[0])
        if line in self.l2:
            there = max(start + self.core.l2, self.l2[line])
        else:
            there = self.from_level(start)
        armed = line - 1 in self.l1d and self.level != "l2"
        for n in range(max(line + 1, self.ahead), line + 1 + self.core.prefetch_depth * armed):
            if n // PAGE != line // PAGE:
                break
            self.l2[n] = self.from_level(start)
            self.prefetches["prefetches"] += 1
            self.ahead = n + 1
        heapq.heapreplace(self.registers, there)
        self.l1d[line] = there
        return there

    def load(self, line, at):
        """A load that is issued in this cycle. Returns the cycle in which it has its value."""
        done = at + self.core.load
        if line in self.l1d:
            ascends = self.l1d[line] > done  # the first load of a line under way
        else:
            ascends = line - 1 in self.l1d
            self.bring(line, at)
        done = max(done, whole(self.l1d[line]))
        if self.core.l1d_prefetch and ascends and line % PAGE != PAGE - 1 and line + 1 not in self.l1d:
            self.prefetches["l1d_prefetches"] += 1
            self.bring(line + 1, at)
        return done

    def chase(self, work, skip=0):
        """Loads that wait for each other, with this many cycles of work in between; `skip` lines at the start of a page
        are left out. Yields what has been when a page ends: cycles, prefetches."""
        at, line = 0, 0
        while True:
            if line % PAGE >= skip:
                at = self.load(line, at) + work
            line += 1
            if line % PAGE == 0:
                yield at, dict(self.prefetches)

    def sweep(self):
        """Independent loads, two a cycle, as many as the load queue holds. Yields as chase() does."""
        retired, issued = [], []
        line = 0
        while True:
            at = issued[-2] + 1 if line > 1 else 0
            if line >= self.core.load_queue:
                # The place is free in the cycle after the load has retired. The next load is dispatched then, and
                # issued in the cycle after that.
                at = max(at, retired[line - self.core.load_queue] + 2)
            issued.append(at)
            retired.append(max(self.load(line, at), retired[-1] if retired else 0))
            line += 1
            if line % PAGE == 0:
                yield retired[-1], dict(self.prefetches)


def page_of(progress, first=20, pages=1):
    """(cycles, prefetches) of a page, on average over `pages`, after the `first` ones."""
    (start, before), (end, after) = (list(islice(progress, n, n + 1))[0] for n in (first, pages - 1))
    return Fraction(end - start, pages), {k: Fraction(after[k] - before[k], pages) for k in after}
