# SPDX-License-Identifier: Apache-2.0
"""docs/tutorials/lauberhorn-service.md does what it says (tutorial_test.py), with a build tree."""

import unittest

from tutorial_test import TutorialTest


class LauberhornService(TutorialTest):
    def test_the_page(self):
        self.follow("lauberhorn-service.md", self.in_build_tree(), 7, 2)


if __name__ == "__main__":
    unittest.main()
