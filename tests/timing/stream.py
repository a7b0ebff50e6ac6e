# SPDX-License-Identifier: Apache-2.0
"""A stream of loads, one in each line of ascending addresses, by the rules of docs/models/memory.md and
docs/models/riscv-window.md for miss registers, the DRAM channel and the two prefetchers. Written for these tests from
those rules; it knows nothing of tags, for every line is new to the caches in front of its level."""

import heapq
from fractions import Fraction

from core import whole

PAGE = 64  # lines


class Stream:
    def __init__(self, core, level):
        self.core, self.level = core, level
        self.registers = [Fraction(0)] * core.miss_registers  # a heap: when each is free
        self.channel = Fraction(0)  # when it is free
        self.l1d, self.l2 = {}, {}  # when lines that have been asked for are there
        self.ahead = 0  # the L2 prefetcher has asked for lines below

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
        for n in range(max(line + 1, self.ahead), line + 1 + self.core.prefetch_depth):
            if n // PAGE != line // PAGE:
                break
            self.l2[n] = self.from_level(start)
            self.ahead = n + 1
        heapq.heapreplace(self.registers, there)
        self.l1d[line] = there
        return there

    def load(self, line, at):
        """A load that is issued in this cycle. Returns the cycle in which it has its value."""
        done = at + self.core.load
        hits = line in self.l1d and self.l1d[line] <= done
        if line not in self.l1d:
            self.bring(line, at)
        done = max(done, whole(self.l1d[line]))
        if self.core.l1d_prefetch and not hits and line % PAGE != PAGE - 1 and line + 1 not in self.l1d:
            self.bring(line + 1, at)
        return done

    def chase(self, work, pages):
        """Loads that wait for each other, with this many cycles of work in between. Returns the cycles of each page."""
        at, edges = 0, [0]
        for line in range(PAGE * pages):
            at = self.load(line, at) + work
            if line % PAGE == PAGE - 1:
                edges.append(at)
        return [b - a for a, b in zip(edges, edges[1:])]

    def sweep(self, pages):
        """Independent loads, two a cycle, as many as the load queue holds. Returns the cycles of each page."""
        retired, issued = [], []
        for line in range(PAGE * pages):
            at = issued[-2] + 1 if line > 1 else 0
            if line >= self.core.load_queue:
                # The place is free in the cycle after the load has retired. The next load is dispatched then, and issued
                # in the cycle after that.
                at = max(at, retired[line - self.core.load_queue] + 2)
            issued.append(at)
            retired.append(max(self.load(line, at), retired[-1] if retired else 0))
        edges = [0, *retired[PAGE - 1::PAGE]]
        return [b - a for a, b in zip(edges, edges[1:])]
