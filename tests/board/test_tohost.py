# SPDX-License-Identifier: Apache-2.0
"""Guests that end their run by a store to tohost: test_tohost.py SLUICE GUESTS, the directory of tohost-*.elf."""

import json
import os
import subprocess
import unittest

import board_runs
from board_runs import BoardTest

GUESTS = board_runs.PROGRAM
BOARD = """summary = "harts, memory, and nothing else"
[cluster.host]
firmware = "{elf}"
harts = {harts}
[memory.dram]
base = 0x8000_0000
size = "16 MiB"
[caches]
timing = "functional"
"""


def assembled(directory, name, source, address):
    """The path of an executable whose text begins with _start and lies at the address."""
    elf = os.path.join(directory, name + ".elf")
    subprocess.run(["riscv64-unknown-elf-gcc", "-march=rv64gc_zicsr", "-mabi=lp64d", "-nostdlib", "-static",
                    "-Wl,--build-id=none", "-Wl,--nmagic", "-Wl,--no-warn-rwx-segments", f"-Wl,-Ttext={address:#x}",
                    "-x", "assembler", "-", "-o", elf],
                   input="  .globl _start\n_start:\n" + source, text=True, check=True)
    return elf


class ToHost(BoardTest):
    def end(self, way, *arguments, status=1, harts=1):
        """The result of the guest that ends its run in this way, and what it said."""
        board = os.path.join(self.directory(), "bare.toml")
        with open(board, "w", encoding="utf-8") as file:
            file.write(BOARD.format(elf=os.path.join(GUESTS, f"tohost-{way}.elf"), harts=harts))
        process = board_runs.start(board, "--until=1 ms", *arguments)
        return json.loads(board_runs.finish(process, status))

    def assert_failed(self, way, sentence, **options):
        r = self.end(way, **options)
        self.assertEqual(r["outcome"], "failed")
        self.assertRegex(r["failure"], f"^the firmware {sentence}; cluster.host.hart. at pc 0x8000[0-9a-f]{{4}} ")
        return r

    def test_one_is_a_pass(self):
        r = self.end("pass", status=0)
        self.assertEqual((r["outcome"], r["failure"]), ("finished", ""))
        self.assertEqual(r["cores"][0]["instructions"], 4)
        self.assertLess(r["simulated_ns"], 100)

    def test_another_odd_value_is_the_number_of_a_test(self):
        self.assert_failed("fail", "wrote 7 to tohost: test 3 failed")
        self.assert_failed("atomic", "wrote 9 to tohost: test 4 failed")

    def test_a_value_that_is_no_command_fails_the_run(self):
        self.assert_failed("even", "wrote 6 to tohost: no system call that is served")
        self.assert_failed("device", "wrote 0x500000000000003 to tohost: no command, of device 5")

    def test_two_stores_of_32_bits_are_one_command(self):
        self.end("halves", status=0)

    def test_a_lower_half_alone_counts_after_a_microsecond(self):
        # The fourth instruction of both guests is the store, and the guest that passes ends with it.
        stored = self.end("pass", status=0)["simulated_ns"]
        r = self.assert_failed("lower", "wrote 5 to tohost: test 2 failed")
        self.assertEqual(r["simulated_ns"], round(1000 + stored, 6))

    def test_every_hart_in_every_mode(self):
        self.assert_failed("user", "wrote 13 to tohost: test 6 failed")
        self.assert_failed("paged", "wrote 15 to tohost: test 7 failed")
        r = self.assert_failed("second", "wrote 11 to tohost: test 5 failed", harts=2)
        self.assertIn("; cluster.host.hart1 at pc ", r["failure"])

    def test_the_console_and_the_system_call_that_writes(self):
        for way, said in (("console", "Hi you\n"), ("call", "Hi you")):
            script = os.path.join(self.directory(), "talk.txt")
            with open(script, "w", encoding="utf-8") as file:
                file.write('expect "Hi you"\n')
            r = self.end(way, "--expect", script, status=0)
            self.assertEqual(r["outcome"], "finished", said)
        self.assert_failed("exit", "asked by tohost to exit with 42")

    def test_each_image_has_a_tohost_of_its_own(self):
        # The first image jumps to the second one, which lies a megabyte further and writes to its own tohost.
        guests = self.directory()
        first = "  ld a2, 16(a2)\n  jr a2\n  .data\n  .globl tohost\n  .balign 64\ntohost: .dword 0\n"
        second = ("  la a2, tohost\n  li a1, {}\n  sd a1, 0(a2)\n  j .\n  .data\n  .globl tohost\n  .balign 64\n"
                  "tohost: .dword 0\n")
        board = os.path.join(guests, "bare.toml")
        with open(board, "w", encoding="utf-8") as file:
            file.write(BOARD.format(elf=assembled(guests, "first", first, 0x8000_0000), harts=1))
        for value, status in ((1, 0), (7, 1)):
            elf = assembled(guests, f"second{value}", second.format(value), 0x8010_0000)
            out = board_runs.run(board, "--until=1 ms", "--set", "cluster.host.images=" + elf, status=status)
            r = json.loads(out)
            self.assertEqual(r["outcome"], "failed" if status else "finished", r["failure"])
        self.assertRegex(r["failure"], "^the firmware wrote 7 to tohost: test 3 failed; cluster.host.hart0 at pc 0x80100")

    def test_a_write_of_nothing_answers_0(self):
        self.assertEqual(self.end("nothing", status=0)["outcome"], "finished")


if __name__ == "__main__":
    unittest.main()
