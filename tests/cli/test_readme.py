# SPDX-License-Identifier: Apache-2.0
"""README.md shows what sw/run prints. Values may differ by what a small change of the firmware moves: by 5 %, or
5 ns, or a point of a share. Counts, which have no fraction, are exact. Called as test_readme.py SLUICE BUILD-DIRECTORY."""

import os
import re
import unittest

from command import SOURCE, CommandTest

NUMBER = re.compile(r"([x+-]?)(\d[\d,]*(?:\.\d+)?)( ns| us| %| M/s)?")
FLOOR = {" ns": 5, " us": 0.005, " %": 1, " M/s": 0}


INTERVAL = re.compile(r"\+- \d+\.\d+|\(\d+\.\d+ to \d+\.\d+\)")


def split(text):
    """Intervals are not looked at, for they are of what is random. The words line by line, with # for each number, and the numbers."""
    # A mean that an interval follows has its unit behind that.
    text = INTERVAL.sub("us", text)
    lines = [NUMBER.sub("#", line).split() for line in text.strip().splitlines()]
    return lines, [(mark + unit, float(mark.strip("x") + n.replace(",", "")), unit)
                   for mark, n, unit in NUMBER.findall(text)]


def is_close(old, new):
    (_, shown, unit), (_, printed, _) = old, new
    if unit in FLOOR:
        return abs(printed - shown) <= max(FLOOR[unit], abs(shown) * 0.05)
    is_count = "x" not in old[0] and shown.is_integer() and printed.is_integer()
    return printed == shown if is_count else abs(printed - shown) <= abs(shown) * 0.05


class Readme(CommandTest):
    def compare(self, begin, *arguments):
        """Holds the block of README.md that begins so to what `sluice compare` prints, but for drawings."""
        with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as file:
            shown = re.search(rf"^```\n({begin}.*?)^```$", file.read(), re.DOTALL | re.MULTILINE).group(1)
        printed = self.succeed("compare", "e810-poll", "e810-irq", *arguments, cwd=self.directory)
        self.maxDiff = None
        drawing = "mean latency, logarithmic"
        (shown_words, shown_numbers), (words, numbers) = (split(t.split(drawing)[0]) for t in (shown, printed))
        self.assertEqual(words, shown_words)
        for old, new in zip(shown_numbers, numbers, strict=True):
            self.assertTrue(is_close(old, new), f"{new} is not {old}; README.md is to show:\n{printed}")

    # As sw/run calls it.

    def test_the_comparison_is_what_is_printed(self):
        self.compare("echo 64 B, closed", "--requests", "100000", "--out", "build/closed-loop", "--report")

    def test_the_curve_is_what_is_printed(self):
        self.compare("echo 64 B, load sweep", "--loads", "10..90", "--replications", "10", "--requests", "5000", "--out",
                     "build/load", "--report")

    def test_what_is_wrong_is_not_close(self):
        for shown, printed in (("2.64 us", "7.60 us"), ("x1.157", "x6.000"), ("3.027 M/s", "0.500 M/s"), ("0 / 0", "5 / 0"),
                               ("30.1 %", "33.0 %"), ("100,000", "99,999"), ("44.6 ns", "50.0 ns"), ("23.7", "25.7")):
            pairs = list(zip(split(shown)[1], split(printed)[1], strict=True))
            self.assertFalse(all(is_close(*p) for p in pairs), (shown, printed))
            self.assertTrue(all(is_close(*p) for p in zip(split(shown)[1], split(shown)[1], strict=True)), shown)


if __name__ == "__main__":
    unittest.main()
