# SPDX-License-Identifier: Apache-2.0
"""Harts that share lines of a device, cached memory, and memory of types NC and IO, watched by --check:
test_memory_stress.py SLUICE. With SLUICE_FULL=1 ten million checked accesses."""

import itertools
import os
import unittest

from board_runs import FULL, BoardTest, canonical, options, result, run
from stress_counts import stress_counts

BOARD = ("enzian-eci-pio", "--workload", "none", "--firmware", "memory-stress", "--set", "run.time_limit=100s")


class MemoryStress(BoardTest):
    def test_nobody_reads_what_nobody_wrote(self):
        checked = 0
        cases = itertools.product((1, 4), ("functional", "cached", "interval"), ("mesi", "moesi"),
                                  ("shared", "exclusive"))
        for harts, timing, protocol, grant in cases:
            with self.subTest(harts=harts, timing=timing, protocol=protocol, grant=grant):
                contents = result(*BOARD, "--check", *options(
                    f"cluster.host.harts={harts}", f"caches.timing={timing}", f"caches.protocol={protocol}",
                    f"nic.eth0.grant={grant}", f"cluster.host.bootargs={220_000 if FULL else 6_000}"))
                self.assertEqual(contents["outcome"], "finished")
                checked += contents["counters"]["caches"]["home_checked"]
                hart = contents["counters"]["cluster.host.hart0"]
                for counter in ("combined_stores", "combined_full", "combined_parts", "uncached_reads", "atomics"):
                    if counter != "combined_full":
                        self.assertGreater(hart[counter], 0, counter)
        self.assertGreater(checked, 10_000_000 if FULL else 250_000)

    def test_dma_writes_into_lines_that_harts_have_cached(self):
        board = os.path.join(os.path.dirname(os.path.abspath(__file__)), "boards", "lines_and_dma.toml")
        for harts, timing in itertools.product((1, 4), ("functional", "cached", "interval")):
            with self.subTest(harts=harts, timing=timing):
                counters = result(board, *BOARD[1:], "--check", *options(
                    f"cluster.host.harts={harts}", f"caches.timing={timing}",
                    f"cluster.host.bootargs={100_000 if FULL else 10_000}"))["counters"]
                self.assertGreater(counters["caches"]["dma_writes"], 300)
                self.assertGreater(counters["caches"]["dma_reads"], 300)

    def test_the_packet_buffer_behind_pcie(self):
        turns = 100_000 if FULL else 6_000
        for harts, timing in itertools.product((1, 2, 4), ("functional", "cached", "interval")):
            with self.subTest(harts=harts, timing=timing):
                counters = result("enzian-pcie-pio", *BOARD[1:], *options(
                    f"cluster.host.harts={harts}", f"caches.timing={timing}",
                    f"cluster.host.bootargs={turns}"))["counters"]
                for n in range(harts):
                    combined, _ = stress_counts(n, harts, turns, behind_pcie=True)
                    self.assertEqual(counters[f"cluster.host.hart{n}"]["combined_stores"], combined)
                self.assertGreater(counters["nic.eth0"]["reads"], turns / 6)

    def test_translations_that_hardly_ever_hit(self):
        """TLBs of one page, and none: what harts read stays right, and each walk is of one gigapage."""
        for harts, timing, entries, code in itertools.product((1, 4), ("cached", "interval"), (0, 1), (0, 2)):
            with self.subTest(harts=harts, timing=timing, entries=entries, code=code):
                contents = result(*BOARD, "--check", *options(
                    f"cluster.host.harts={harts}", f"caches.timing={timing}", "cluster.host.bootargs=2000",
                    f"cluster.host.tlb.entries={entries}", "cluster.host.tlb.ways=1",
                    "cluster.host.tlb.second_entries=0", f"cluster.host.tlb.code_entries={code}",
                    "cluster.host.tlb.code_ways=2"))
                self.assertEqual(contents["outcome"], "finished")
                for n in range(harts):
                    hart = contents["counters"][f"cluster.host.hart{n}"]
                    # All code lies in one of these pages, which stays in the TLB.
                    walks = hart["tlb_misses"] + hart["tlb_code_misses"]
                    self.assertEqual((hart["tlb_misses"] > 2000, hart["tlb_walks"], hart["tlb_reads"]),
                                     (entries == 1, walks, walks))
                    self.assertEqual(hart["tlb_code_misses"] > 0, code == 2)
                    self.assertLess(hart["tlb_code_misses"], 10)

    def test_few_buffers_and_wide_blocks(self):
        for buffers, block, read in ((0, 64, 8), (1, 8, 64), (2, 128, 32)):
            with self.subTest(buffers=buffers, block=block, read=read):
                result(*BOARD, "--check", *options(
                    "cluster.host.harts=4", "cluster.host.bootargs=600",
                    f"cluster.host.uncached.combining_buffers={buffers}",
                    f"cluster.host.uncached.combining_block={block}B",
                    f"cluster.host.uncached.read_block={read}B"))

    def test_the_result_is_the_same_each_time(self):
        four = options("cluster.host.harts=4", "cluster.host.bootargs=400")
        once = canonical(run(*BOARD, *four))
        self.assertEqual(once, canonical(run(*BOARD, *four)))
        self.assertEqual(once, canonical(run(*BOARD, *four, "--no-skip")))


if __name__ == "__main__":
    unittest.main()
