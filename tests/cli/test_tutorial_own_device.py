# SPDX-License-Identifier: Apache-2.0
"""docs/tutorials/own-device.md does what it says (tutorial_test.py) with an installation, and with
SLUICE_FULL=1 also with the build tree."""

import unittest

from command import FULL
from tutorial_test import TutorialTest


class OwnDevice(TutorialTest):
    @unittest.skipUnless(FULL, "SLUICE_FULL=1 asks for it: other tests have plug-ins of it")
    def test_with_the_build_tree(self):
        self.follow("own-device.md", self.in_build_tree(), 10, 11)

    def test_with_an_installation(self):
        self.follow("own-device.md", self.in_installation(), 10, 11)


if __name__ == "__main__":
    unittest.main()
