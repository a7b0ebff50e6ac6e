# SPDX-License-Identifier: Apache-2.0
"""docs/tutorials/bare-guest.md does what it says (tutorial_test.py)."""

import unittest

from tutorial_test import TutorialTest


class BareGuest(TutorialTest):
    def test_the_page(self):
        self.follow("bare-guest.md", self.in_build_tree(), 4, 5)


if __name__ == "__main__":
    unittest.main()
