"""README.md shows what sw/run prints, but for what a small change of the firmware moves: 5 % of a value, or 5 in the
unit shown. Called as test_readme.py SLUICE BUILD-DIRECTORY."""

import os
import re
import unittest

from command import SOURCE, CommandTest

NUMBER = re.compile(r"[x+-]?\d[\d,]*(?:\.\d+)?")


def split(text):
    """The words with no numbers in them, line by line, and the numbers."""
    lines = [NUMBER.sub("#", line).split() for line in text.strip().splitlines()]
    return lines, [float(n.replace(",", "").lstrip("x")) for n in NUMBER.findall(text)]


class Readme(CommandTest):
    def test_the_comparison_is_what_is_printed(self):
        with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as file:
            shown = re.search(r"^```\n(echo 64 B.*?)^```$", file.read(), re.DOTALL | re.MULTILINE).group(1)
        # As sw/run calls it.
        printed = self.succeed("compare", "e810-poll", "e810-irq", "--requests", "100000")
        self.maxDiff = None
        (shown_words, shown_numbers), (words, numbers) = split(shown), split(printed)
        self.assertEqual(words, shown_words)
        for old, new in zip(shown_numbers, numbers, strict=True):
            self.assertLessEqual(abs(new - old), max(5, abs(old) * 0.05), f"README.md is to show:\n{printed}")


if __name__ == "__main__":
    unittest.main()
