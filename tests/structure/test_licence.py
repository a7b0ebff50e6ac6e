# SPDX-License-Identifier: Apache-2.0
"""Every source says its licence at its top. Called as NAME.py SOURCE-DIRECTORY."""

import os
import sys
import unittest

SOURCE = os.path.abspath(sys.argv.pop(1))
FOLDERS = ("models", "platform", "protocols", "firmware", "rtl", "tests", "sw", ".ci")
LINE = "SPDX-License-Identifier: Apache-2.0"


def is_source(path):
    if path.endswith((".h", ".cpp", ".c", ".S", ".inc", ".py", ".sh", ".sv")):
        return True
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def without_licence(root):
    missing = []
    for folder in FOLDERS:
        for directory, folders, names in os.walk(os.path.join(root, folder)):
            folders[:] = [f for f in folders if f != "__pycache__"]
            for name in names:
                path = os.path.join(directory, name)
                if not is_source(path):
                    continue
                with open(path, encoding="utf-8") as file:
                    lines = [file.readline(), file.readline()]
                if not any(LINE in line for line in lines):
                    missing.append(os.path.relpath(path, root))
    return missing


class Licence(unittest.TestCase):
    def test_every_source_names_it(self):
        self.assertEqual(without_licence(SOURCE), [])

    def test_a_source_without_it_is_found(self):
        here = os.path.relpath(os.path.abspath(__file__), SOURCE)
        global LINE
        kept, LINE = LINE, "SPDX-License-Identifier: None"
        self.addCleanup(globals().__setitem__, "LINE", kept)
        self.assertIn(here, without_licence(SOURCE))


if __name__ == "__main__":
    unittest.main()
