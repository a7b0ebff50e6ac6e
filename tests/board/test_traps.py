# SPDX-License-Identifier: Apache-2.0
"""Which runs of traps are loops without an end, and which only look so: test_traps.py SLUICE GUESTS, the directory of
traps-*.elf."""

import json
import os
import unittest

import board_runs
from board_runs import BoardTest

BOARD = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "firmware", "bare.toml")
RETURNS, NESTS = "each return leads to the same again; ", "no return from one; "
ILLEGAL, LOAD = r"illegal instruction \(cause 2\)", r"load access fault \(cause 5\)"
LOOPS = {
    "before": RETURNS + ILLEGAL + r" at pc 0x800000[0-9a-f]{2} _start\+0x",
    "pingpong": RETURNS + ILLEGAL + r" at pc 0x800000[0-9a-f]{2} _start\+0x",
    "restart": RETURNS + LOAD + r" at pc 0x800000[0-9a-f]{2} _start\+0x",
    "after": NESTS + r"fetch access fault \(cause 1\) at pc 0x0, value 0x0; mtvec is 0x0$",
    "nested": NESTS + LOAD + r" at pc 0x800000[0-9a-f]{2} trap_handler\+0x",
}


class Traps(BoardTest):
    def outcome(self, way, *arguments, status=1):
        elf = os.path.join(board_runs.PROGRAM, f"traps-{way}.elf")
        return json.loads(board_runs.finish(board_runs.start(BOARD, "--firmware", elf, *arguments), status))

    def test_loops_end_the_run_at_the_first_look(self):
        for way, text in LOOPS.items():
            for end in ((), ("--until", "9 ms")):
                with self.subTest(way=way, end=end):
                    r = self.outcome(way, *end)
                    self.assertEqual(r["outcome"], "stalled")
                    self.assertRegex(r["failure"], r"^cluster\.host\.hart0 is in a trap loop: \d+ traps and " + text)
                    self.assertLess(abs(r["simulated_ns"] - (9e6 if end else 1e7)), 100)

    def test_what_has_an_end_comes_to_it(self):
        for way in ("retries", "jumps", "polls"):
            with self.subTest(way=way):
                r = self.outcome(way, status=0)
                self.assertEqual((r["outcome"], r["failure"]), ("finished", ""))

    def test_harts_that_wait_for_each_other_hang(self):
        r = self.outcome("part", "--set", "cluster.host.harts=2", "--until", "1 ms")
        self.assertEqual(r["outcome"], "stalled")
        for hart in (0, 1):
            self.assertIn(f"cluster.host.hart{hart} is in a loop without an end", r["failure"] + r["diagnosis"])


if __name__ == "__main__":
    unittest.main()
