# SPDX-License-Identifier: Apache-2.0
"""docs/tutorials/own-rtl-block.md does what it says (tutorial_test.py), with an installation: its files are not all in the
others' tests, as those of a build tree are."""

import shutil
import sys
import unittest

from tutorial_test import TutorialTest


class OwnRtlBlock(TutorialTest):
    def test_with_an_installation(self):
        self.follow("own-rtl-block.md", self.in_installation(), 7, 4)


if __name__ == "__main__":
    if shutil.which("verilator") is None:
        sys.exit(77)
    unittest.main()
