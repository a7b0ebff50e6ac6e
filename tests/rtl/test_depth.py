#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Each block of rtl/ is at most as deep as docs/models/rpc-decoder.md, or rpc-encoder.md, says. Called as test_depth.py
SOURCE-DIRECTORY; exit status 77 without yosys. The whole decoder, which takes minutes, only with SLUICE_FULL=1."""

import concurrent.futures
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import unittest

SOURCE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else os.getcwd()
PAGES = [os.path.join(SOURCE, f"docs/models/rpc-{block}.md") for block in ("decoder", "encoder")]
ROW = re.compile(r"^\| `([a-z0-9_]+)` \| (\d+) \|", re.MULTILINE)
CLOCK_MHZ = 250  # of the published decoder

loader = importlib.machinery.SourceFileLoader("rtl_report", os.path.join(SOURCE, "sw/rtl-report"))
rtl_report = importlib.util.module_from_spec(importlib.util.spec_from_loader("rtl_report", loader))
loader.exec_module(rtl_report)


def stated():
    """The levels that the pages give each block."""
    levels = {}
    for page in PAGES:
        with open(page, encoding="utf-8") as file:
            levels.update((block, int(most)) for block, most in ROW.findall(file.read()))
    return levels


class Depth(unittest.TestCase):
    def test_the_page_has_each_block(self):
        self.assertEqual(sorted(stated()), sorted(rtl_report.blocks(SOURCE)))

    def test_each_block_keeps_to_the_page(self):
        blocks = [b for b in rtl_report.blocks(SOURCE) if b != rtl_report.WHOLE or os.environ.get("SLUICE_FULL") == "1"]
        limits = stated()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for r in pool.map(lambda b: rtl_report.report(b, SOURCE), blocks):
                with self.subTest(block=r["block"], path=(r["from"], r["to"])):
                    self.assertLessEqual(r["levels"], limits[r["block"]])

    def test_a_delay_that_is_none_is_refused(self):
        for option, value in (("--level-ns", "0"), ("--clock-ns", "nan"), ("--level-ns", "inf"), ("--clock-ns", "-1")):
            command = [os.path.join(SOURCE, "sw/rtl-report"), f"{option}={value}", "queue"]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 2)
            self.assertIn(f"{option} {float(value)} is no delay: more than 0 ns", run.stderr)

    def test_the_page_allows_no_block_that_is_too_slow(self):
        for block, levels in stated().items():
            with self.subTest(block=block):
                self.assertGreaterEqual(rtl_report.megahertz(levels), CLOCK_MHZ)


if __name__ == "__main__":
    if shutil.which("yosys") is None:
        print("yosys is missing")
        sys.exit(77)
    unittest.main()
