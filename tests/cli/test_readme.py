"""README.md shows what sw/run prints. Called as test_readme.py SLUICE BUILD-DIRECTORY."""

import os
import re
import unittest

from command import SOURCE, CommandTest


class Readme(CommandTest):
    def test_the_comparison_is_what_is_printed(self):
        with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as file:
            shown = re.search(r"^```\n(echo 64 B.*?)^```$", file.read(), re.DOTALL | re.MULTILINE).group(1)
        # As sw/run calls it.
        printed = self.succeed("compare", "e810-poll", "e810-irq", "--requests", "100000")
        self.maxDiff = None
        self.assertEqual(printed.strip(), shown.strip(), "README.md is to show what sw/run prints now")


if __name__ == "__main__":
    unittest.main()
