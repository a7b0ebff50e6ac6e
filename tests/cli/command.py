# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command line share. Each is called as NAME.py SLUICE BUILD-DIRECTORY."""

import os
import struct
import subprocess
import sys
import tempfile
import unittest

BUILD = os.path.abspath(sys.argv.pop(2))
SLUICE = os.path.abspath(sys.argv.pop(1))
FULL = os.environ.get("SLUICE_FULL") == "1"  # the acceptance counts
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def sluice(*arguments, program=SLUICE, stdout=subprocess.PIPE, cwd=None, boards=None, preexec_fn=None):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SLUICE_")}
    if boards:
        environment["SLUICE_BOARDS"] = boards
    return subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE,
                          text=True, cwd=cwd, env=environment, preexec_fn=preexec_fn, timeout=120, check=False)


class CommandTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def write(self, name, content):
        path = os.path.join(self.directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return path

    def succeed(self, *arguments, **options):
        result = sluice(*arguments, **options)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def assert_mistake(self, arguments, sentence, **options):
        """One sentence on standard error, nothing on standard output, exit status 2. sentence may end in "..."."""
        result = sluice(*arguments, **{"cwd": self.directory, **options})
        expected = "sluice: " + sentence
        if sentence.endswith("..."):
            self.assertTrue(result.stderr.startswith(expected[:-3]), result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        else:
            self.assertEqual(result.stderr, expected + "\n")
        self.assertFalse(result.stdout)
        self.assertEqual(result.returncode, 2)


def guest(*instructions):
    """An RV64 executable at the start of the shipped boards' memory."""
    code = struct.pack(f"<{len(instructions)}I", *instructions)
    start = 0x8000_0000
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 243, 1, start, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 120, start, start, len(code), len(code), 4)
    return header + segment + code


SPIN = 0x0000_006F  # j .


def finisher_guest(word):
    """Writes a word to the test finisher: 0x5555 passes, code << 16 | 0x3333 fails."""
    upper = (word + 0x800) >> 12
    lower = (word - (upper << 12)) & 0xFFF
    return guest(0x0010_02B7, upper << 12 | 0x337, lower << 20 | 0x3_0313, 0x0062_A023, SPIN)  # lui, lui, addi, sw
