# SPDX-License-Identifier: Apache-2.0
"""Sources stay short, and folders small enough to look through. Called as NAME.py SOURCE-DIRECTORY."""

import collections
import os
import sys
import tempfile
import unittest

SOURCE = os.path.abspath(sys.argv.pop(1))
FOLDERS = ("platform", "models", "firmware", "protocols", "rtl", "sw")
ENDINGS = (".h", ".hpp", ".cpp", ".c", ".S", ".inc", ".py", ".sh", ".sv")
MOST_LINES = 500
MOST_FILES = 24
# Folders that have more today, and how many: they may shrink and not grow.
LARGER = {"firmware/kernel": 25}


def is_source(path):
    if path.endswith(ENDINGS):
        return True
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def lengths(root):
    """The lines of every source, by its path."""
    lines = {}
    for top in FOLDERS:
        for directory, folders, names in os.walk(os.path.join(root, top)):
            folders[:] = [f for f in folders if f != "__pycache__"]
            for name in names:
                path = os.path.join(directory, name)
                if is_source(path):
                    with open(path, "rb") as file:
                        lines[os.path.relpath(path, root)] = file.read().count(b"\n")
    return lines


def too_large(lines):
    wrong = [f"{path} has {n} lines, more than {MOST_LINES}" for path, n in sorted(lines.items()) if n > MOST_LINES]
    files = collections.Counter(os.path.dirname(path) for path in lines)
    return wrong + [f"{folder} has {n} sources, more than {LARGER.get(folder, MOST_FILES)}"
                    for folder, n in sorted(files.items()) if n > LARGER.get(folder, MOST_FILES)]


class Sizes(unittest.TestCase):
    def test_no_source_and_no_folder_is_too_large(self):
        lines = lengths(SOURCE)
        self.assertGreater(len(lines), 300)
        self.assertEqual(too_large(lines), [])

    def test_no_exception_is_larger_than_it_must_be(self):
        files = collections.Counter(os.path.dirname(path) for path in lengths(SOURCE))
        self.assertEqual({folder: files[folder] for folder in LARGER}, LARGER)

    def test_what_is_too_large_is_found(self):
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(os.path.join(root, "models/mine"))
            for i in range(MOST_FILES):
                with open(os.path.join(root, f"models/mine/x{i}.h"), "w", encoding="utf-8") as file:
                    file.write("\n" * MOST_LINES)
            self.assertEqual(too_large(lengths(root)), [])
            with open(os.path.join(root, "models/mine/y.inc"), "w", encoding="utf-8") as file:
                file.write("\n" * (MOST_LINES + 1))
            self.assertEqual(too_large(lengths(root)), ["models/mine/y.inc has 501 lines, more than 500",
                                                        "models/mine has 25 sources, more than 24"])


if __name__ == "__main__":
    unittest.main()
