# SPDX-License-Identifier: Apache-2.0
"""How the firmware's kernel ends a run that its application has spoilt: test_bad_end.py SLUICE. The guest is
tests/board/guests/bad_end.c; bootargs tell it what to do."""

import json
import re
import unittest

import board_runs
from board_runs import BoardTest

FAILED = "the firmware failed with code "


class BadEnds(BoardTest):
    def end(self, way, *arguments, status=1):
        """The result and what the firmware has printed."""
        process = board_runs.start("virt", "--firmware", "bad-end", "--set", f"cluster.host.bootargs={way}", "--until",
                                   "5 ms", "--console", *arguments)
        out, console = process.communicate(timeout=120)
        self.assertEqual(process.returncode, status, console)
        return json.loads(out), console

    def test_a_stack_pointer_to_nowhere(self):
        # The trap's frame cannot be pushed either, so machine mode reports the trap that found the stack so.
        r, console = self.end("nowhere")
        self.assertRegex(r["failure"], rf"^{FAILED}6: a stack of cluster\.host\.hart0 has overflowed, sp was 0x10: store "
                         r"access fault \(cause 7\) at pc 0x[0-9a-f]+ bad_end_store, value 0x10$")
        self.assertRegex(console, r"(?m)^panic: the stack of hart 0 has overflowed: sp 10, cause 7, pc [0-9a-f]+, tval 10"
                         r"\r?$")
        self.assertEqual([m["symbol"].split("+")[0] for m in r["mistakes"]["list"]],
                         ["bad_end_store", "supervisor_trap_entry"])

    def test_an_interrupt_on_such_a_stack_pointer(self):
        r, _ = self.end("interrupted")
        self.assertRegex(r["failure"], rf"^{FAILED}6: a stack of cluster\.host\.hart0 has overflowed, sp was 0x10: store "
                         r"access fault \(cause 7\) at pc 0x[0-9a-f]+ supervisor_trap_entry\+0x[0-9a-f]+, "
                         r"value 0xffffffffffffff80$")

    def test_a_stack_that_keeps_nothing(self):
        # The report's own calls cannot return, so a second panic ends the run, with the reason of the first one.
        r, console = self.end("window")
        self.assertRegex(r["failure"], rf"^{FAILED}3, a trap that it does not handle: breakpoint \(cause 3\) at pc "
                         r"0x[0-9a-f]+ bad_end_trap, value 0x[0-9a-f]+, on cluster\.host\.hart0$")
        self.assertLessEqual(len(re.findall("(?m)^panic", console)), 1)

    def test_a_return_value_is_the_code_of_the_failure(self):
        for value, code in ((1, 1), (7, 7), (65535, 65535), (65536, 65535), (70000, 65535), (131072, 65535), (-1, 65535),
                            (-65536, 65535), (-2147483648, 65535)):
            with self.subTest(value=value):
                r, _ = self.end(value)
                self.assertRegex(r["failure"], f"^{FAILED}{code}; cluster.host.hart0 at pc ")
        r, _ = self.end(0, status=0)
        self.assertEqual((r["outcome"], r["failure"]), ("finished", ""))


if __name__ == "__main__":
    unittest.main()
