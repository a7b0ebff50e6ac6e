# SPDX-License-Identifier: Apache-2.0
"""docs/tutorials/architect.md does what it says (tutorial_test.py)."""

import unittest

from tutorial_test import TutorialTest


class Architect(TutorialTest):
    def test_the_page(self):
        self.follow("architect.md", self.in_build_tree(), 3, 7)


if __name__ == "__main__":
    unittest.main()
