# SPDX-License-Identifier: Apache-2.0
"""docs/tutorials/batch.md does what it says (tutorial_test.py)."""

import unittest

from tutorial_test import TutorialTest


class Batch(TutorialTest):
    def test_the_page(self):
        self.follow("batch.md", self.in_build_tree(), 1, 5)


if __name__ == "__main__":
    unittest.main()
