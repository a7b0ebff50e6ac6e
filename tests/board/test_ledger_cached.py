# SPDX-License-Identifier: Apache-2.0
"""The request ledger with cache timing: test_ledger_cached.py LEDGER_TILES SLUICE.

The caches' counters count each wait of a core. A second run reads them at the times at which tiles of the first run
begin and end, in calendar entries, which change nothing. Closed form: a stage of software takes its slots of functional
timing plus the latency of each counted wait. Sensitivity: 100 ns more in a latency make a stage longer by 100 ns for
each of its waits for that level, and move nothing else."""

import unittest
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from math import ceil

from closed_forms import FS_PER_S, Parameters
from ledger_runs import (ADDED, FUNCTIONAL, LONE, NS, PATH, REACTIONS, SLUICE, aligned_pause, counted, is_software,
                         output_of, run, run_all)

# There are miss registers for every store: a wait for one would depend on when the others become free. There is no
# prefetch: the wait for the rest of one would depend on when earlier code ran, and not on a parameter alone.
CACHED = ("caches.timing=cached", "caches.miss_registers=64", "caches.prefetch_depth=0",
          "cluster.host.core.prefetch_hints=false", *LONE)
# The counter of a hart's waits for each latency.
WAITS = {"caches.l2_latency": "l2_waits", "caches.llc_latency": "llc_waits", "caches.snoop_latency": "snoop_waits",
         "caches.dram_latency": "dram_waits"}
ADDER = "caches.dma_dram_adder"
# DMA writes go to DRAM and not to the LLC: the NIC must fetch from DRAM what no core has changed. It reads a reply of
# this size by one request.
NO_DDIO = ("caches.ddio_ways=0", "workload.call.bytes=256")
# Two harts in turn get and put the same value. A window of less than a slot: else counters are read up to a window late.
TWO_HARTS = ("cluster.host.harts=2", "nic.eth0.queues=2", "workload.flows=9", "workload.call.program=kv",
             "workload.call.keys=1", "workload.call.reads_percent=50", "cluster.host.quantum=80 ps")


def waits_of(c, tile):
    """How often a hart waited for each latency within a tile."""
    return {path: c.between(*tile[2:], name) for path, name in WAITS.items()}


def dma_reads(c, request):
    """For each DMA read that a request waits for: the number of its tile `memory`, and how many lines it fetched from
    DRAM. Lines count from the start of the tile before: at its end, entries come in any order."""
    numbers = [n for n, tile in enumerate(request.tiles) if tile[0] == "memory"]
    for n in numbers[1:]:  # the first is a write
        yield n, c.between(request.tiles[n - 1][2], request.tiles[n][3], "dma_read_misses")


class ClosedForms(unittest.TestCase):
    CASES = (
        ("e810-poll", "workload.requests=100"),
        ("e810-irq", "workload.requests=100"),
        ("e810-irq", "workload.requests=20", *NO_DDIO),
        ("e810-poll", "workload.requests=20", *NO_DDIO),
        ("e810-irq", "workload.requests=40", *TWO_HARTS),
        ("e810-irq", "workload.requests=20", "cluster.host.interrupts=plic"),
        # A store that misses would make the load behind it wait for the DRAM channel.
        ("e810-poll", "workload.requests=40", "workload.call.program=kv", "caches.dram_rate=100000 Gb/s"),
        ("e810-poll", "workload.requests=20", "workload.call.program=checksum", "workload.call.bytes=1300"),
        ("e810-irq", "workload.requests=20", "workload.call.program=sort", "workload.call.bytes=256"),
        # Caches that hold little. No store of the many at a rearm makes a load wait for the DRAM channel.
        ("e810-poll", "workload.requests=40", "caches.dram_rate=100000 Gb/s", "caches.l2_size=64 KiB", "caches.llc_size=256 KiB", "caches.llc_ways=1",
         "caches.l1d_size=4 KiB", "caches.l1d_ways=1", "caches.l1i_size=4 KiB", "caches.l1i_ways=1"),
        ("e810-irq", "workload.requests=20", "caches.l2_latency=3 ns", "caches.llc_latency=77.7 ns",
         "caches.dram_latency=123.4 ns"),
    )

    @classmethod
    def setUpClass(cls):
        run_all([(board, *timing, *more) for board, *more in cls.CASES for timing in (CACHED, FUNCTIONAL)])

    def test_software_takes_its_instructions_and_its_waits(self):
        seen = Counter()
        for board, *more in self.CASES:
            with self.subTest([board, *more]):
                c = counted(board, *CACHED, *more)
                functional = run(board, *FUNCTIONAL, *more)
                slots = c.run.slots
                length = {path: slots.next(c.run.parameters.fs(path)) for path in WAITS}
                for request, plain in zip(c.run.requests, functional.requests, strict=True):
                    for tile, without in zip(request.tiles, plain.tiles, strict=True):
                        self.assertEqual(tile[:2], without[:2])
                        if not is_software(*tile[:2]):
                            continue
                        took, instructions = (slots.number(t[3]) - slots.next(t[2]) for t in (tile, without))
                        waits = waits_of(c, tile)
                        self.assertEqual(took, instructions + sum(n * length[path] for path, n in waits.items()),
                                         f"request {request.id}, {tile[0]}: {waits}")
                        seen.update(waits)
        self.assertGreater(min(seen[path] for path in WAITS), 20, seen)

    def test_a_dma_read_takes_longer_when_lines_come_from_dram(self):
        for case in self.CASES:
            with self.subTest(case):
                c = counted(case[0], *CACHED, *case[1:])
                p = c.run.parameters
                line = ceil(Fraction(8 * p["caches.line"] * FS_PER_S, p["caches.dram_rate"]))
                read = p.fs("root.read_latency") + p.fs("caches.dma_read")
                fetched = set()
                for request in c.run.requests:
                    for n, lines in dma_reads(c, request):
                        _, _, start, end = request.tiles[n]
                        self.assertEqual(end - start, read + (p.fs(ADDER) + (lines - 1) * line if lines else 0))
                        fetched.add(lines)
                # Without DDIO, DRAM has all but the descriptor and the headers, which the core has written.
                self.assertEqual(fetched, {0, 4} if set(NO_DDIO) <= set(case) else {0})


class Sensitivity(unittest.TestCase):
    """As in test_ledger_sensitivity.py, with waits added to the path."""

    TIMES = (*PATH, "bus.latency", *WAITS, ADDER)

    @classmethod
    def setUpClass(cls):
        # However long the board takes to start, it has answered one ARP request when the calls begin.
        fixed = (*CACHED, "workload.requests=8", "workload.host.resolve_interval=10 ms")
        cls.CASES = {"poll": ("e810-poll", *fixed, f"cluster.host.costs.pause={aligned_pause()}"),
                     "interrupt": ("e810-irq", *fixed),
                     "wired interrupt": ("e810-irq", *fixed, "cluster.host.interrupts=plic"),
                     "DRAM": ("e810-irq", *fixed, *NO_DDIO), "two harts": ("e810-irq", *fixed, *TWO_HARTS)}
        parameters = Parameters(output_of(SLUICE, "describe", "--json", "e810-poll"))
        cls.later = {path: f"{path}={Decimal(parameters.fs(path) + ADDED) / NS} ns" for path in cls.TIMES}
        run_all([(*case, *more) for case in cls.CASES.values() for more in ([], *([v] for v in cls.later.values()))])

    def test_100_ns_more_move_only_their_stage(self):
        moved = Counter()
        for name, case in self.CASES.items():
            before = counted(*case)
            for path in self.TIMES:
                # With several harts, the access that ends a tile is counted up to a window too early.
                if (name, path) == ("two harts", "bus.latency"):
                    continue
                with self.subTest(f"{name} {path}"):
                    after = run(*case, self.later[path])
                    for a, b in zip(before.run.requests, after.requests, strict=True):
                        traversals = self.traversals(before, path, a)
                        self.compare(before.run, traversals, a, b)
                        moved[path] += sum(traversals.values())
        self.assertGreater(min(moved[path] for path in self.TIMES), 0, moved)

    @staticmethod
    def traversals(before, path, request):
        traversals = before.traversals(path, request)
        if path == ADDER:
            for n, lines in dma_reads(before, request):
                traversals[request.tiles[n][:2]] += lines > 0
        elif path in WAITS:
            for tile in request.tiles:
                if is_software(*tile[:2]) or tile[0] == "wait for a core":
                    traversals[tile[:2]] += waits_of(before, tile)[path]
        return traversals

    def compare(self, r, traversals, before, after):
        self.assertEqual([t[:2] for t in before.tiles], [t[:2] for t in after.tiles])
        found = r.sums(after)
        for key, length in r.longer(before, traversals).items():
            self.assertAlmostEqual(found[key], length, delta=1 if key in REACTIONS else 0,
                                   msg=f"request {before.id}, {key}")


class Landing(unittest.TestCase):
    def test_a_polled_line_is_fetched_after_the_write_has_landed(self):
        """However long the write is on its way: the core must not find new bytes in an old copy of the line."""
        for latency in ("0 ns", "250 ns", "1 us"):
            result = output_of(SLUICE, "run", "e810-poll", "--json", "--requests=200", "--set=run.spread=none", "--set=workload.outstanding=1",
                               "--set=caches.llc_latency=521.9 ns", f"--set=root.write_latency={latency}")
            waits = [s["mean_ns"] for s in result["stages"] if s["name"] == "wait for a core"]
            self.assertGreaterEqual(sum(waits), Decimal("521.9"), latency)


if __name__ == "__main__":
    unittest.main()
