# SPDX-License-Identifier: Apache-2.0
"""docs/tutorials/own-rtl-block.md does what it says (tutorial_test.py), with a build tree and with an installation."""

import shutil
import sys
import unittest

from tutorial_test import TutorialTest


class OwnRtlBlock(TutorialTest):
    def test_with_the_build_tree(self):
        self.follow("own-rtl-block.md", self.in_build_tree(), 7, 4)

    def test_with_an_installation(self):
        self.follow("own-rtl-block.md", self.in_installation(), 7, 4)


if __name__ == "__main__":
    if shutil.which("verilator") is None:
        sys.exit(77)
    unittest.main()
