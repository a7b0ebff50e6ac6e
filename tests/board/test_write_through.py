# SPDX-License-Identifier: Apache-2.0
"""Write-through memory of a device: what a hart sees of it, and what it costs. test_write_through.py SLUICE"""

import re
import subprocess
import unittest

import board_runs
from board_runs import BoardTest, result, run

BOARD = ("enzian-pcie-pio", "--workload", "none", "--firmware", "write-through", "--set", "run.spread=none")
LINES = ("--set", "cluster.host.uncached.write_through_lines=4")
TIMINGS = ("functional", "cached", "interval")
LINE_BYTES = 128


def cycles(*arguments):
    """What the guest's last pass has printed."""
    process = subprocess.run([board_runs.SLUICE, "run", *BOARD, *LINES, *arguments, "--console"], capture_output=True,
                             text=True, timeout=60, check=True)
    line = [text for text in process.stderr.splitlines() + process.stdout.splitlines() if "uncached" in text][-1]
    return {name: int(value) for name, value in re.findall(r"(\w+) (\d+)", line[line.index("uncached"):])}


class WriteThrough(BoardTest):
    def test_a_line_costs_one_read_and_hits_cost_none(self):
        for timing in TIMINGS:
            with self.subTest(timing=timing):
                seen = cycles("--set", f"caches.timing={timing}")
                self.assertLess(seen["hit"], 40)
                self.assertEqual(seen["hidden"], seen["hit"])
                # A line has 120 bytes more than a word, of one completion on 8 lanes of gen3: 7.88 GB/s, 2 GHz.
                self.assertLess(abs(seen["miss"] - seen["uncached"] - 120 / 7.88 * 2), 10)
                # A load right behind the prefetch waits for what is left of it.
                self.assertLess(abs(seen["awaited"] - (seen["miss"] - seen["hit"])), 40)
                self.assertLess(abs(seen["serial"] - 4 * seen["miss"]), 160)
                # Four lines come behind each other on the link.
                self.assertLess(abs(seen["beside"] - (seen["awaited"] + 3 * (LINE_BYTES + 24) / 7.88 * 2)), 60)

    def test_a_prefetched_line_takes_the_bus_as_others_do(self):
        for timing in TIMINGS:
            with self.subTest(timing=timing):
                near, far = (cycles("--set", f"caches.timing={timing}", "--set", f"bus.latency={latency}")
                             for latency in ("10 ns", "1 us"))
                for access in ("miss", "awaited"):
                    self.assertLess(abs(far[access] - near[access] - 2 * 990), 12, access)
                self.assertEqual((near["hit"], near["hidden"]), (far["hit"], far["hidden"]))

    def test_reads_are_counted(self):
        for timing in TIMINGS:
            with self.subTest(timing=timing):
                counters = result(*BOARD, *LINES, "--set", f"caches.timing={timing}")["counters"]
                hart = counters["cluster.host.hart0"]
                # Two passes, each with 1 + 1 + 4 + 1 loads that read a line, and 1 + 1 + 4 prefetches. In the second
                # pass the lines of the first have been dropped.
                self.assertEqual(hart["line_prefetches"], 2 * 6)
                self.assertEqual(hart["line_reads"], 2 * 6)
                self.assertEqual(hart["block_operations"], 2 * (3 + 8) + 4)

    def test_without_lines_the_type_is_reserved(self):
        contents = result(*BOARD, status=1)
        self.assertEqual(contents["counters"]["cluster.host.hart0"]["line_reads"], 0)

    def test_results_repeat_themselves(self):
        for timing in TIMINGS:
            arguments = (*BOARD, *LINES, "--set", f"caches.timing={timing}")
            first = run(*arguments)
            self.assert_same(first, run(*arguments))
            for quantum in ("3 ns", "1 us"):
                self.assert_same(first, run(*arguments, "--quantum", quantum), ["cluster.host.quantum"])


if __name__ == "__main__":
    unittest.main()
