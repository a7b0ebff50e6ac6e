# SPDX-License-Identifier: Apache-2.0
"""Builds with other compiler options give the same results: test_determinism_builds.py SLUICE OTHER_SLUICE."""

import json
import os
import unittest

import board_runs
from board_runs import BOARDS, SMALL, VARIANTS, BoardTest, canonical, run


class Builds(BoardTest):
    def test_results_do_not_depend_on_compiler_options(self):
        for board in BOARDS:
            for name, variant in VARIANTS.items():
                with self.subTest(board=board, variant=name):
                    arguments = (board, *SMALL, *variant)
                    ours, theirs = run(*arguments), run(*arguments, program=board_runs.PROGRAM)
                    self.assert_same(ours, theirs)
                    builds = [json.loads(text)["host"]["build"] for text in (ours, theirs)]
                    self.assertNotEqual(builds[0], builds[1], "both are the same build")

    def test_harts_that_meet(self):
        meeting = os.path.join(os.path.dirname(os.path.abspath(__file__)), "boards", "meeting.toml")
        for timing in ("functional", "cached", "interval"):
            with self.subTest(timing=timing):
                arguments = (meeting, "--set", f"caches.timing={timing}")
                self.assert_same(run(*arguments), run(*arguments, program=board_runs.PROGRAM))

    def test_traces_too(self):
        contents = []
        for program in (board_runs.SLUICE, board_runs.PROGRAM):
            out = self.directory()
            run("e810-irq", *SMALL, "--trace", "pcap,perfetto", "--out", out, program=program)
            for name in ("net.wire0.pcap", "trace.perfetto"):
                with open(f"{out}/{name}", "rb") as file:
                    contents.append(file.read())
            with open(f"{out}/result.json", encoding="utf-8") as file:
                contents.append(canonical(file.read()))
        self.assertEqual(contents[:3], contents[3:])


if __name__ == "__main__":
    unittest.main()
