# SPDX-License-Identifier: Apache-2.0
"""Unmodified OpenSBI and U-Boot, as Debian has them, on the board virt: to the prompt, and off again by `poweroff`.
test_opensbi.py SLUICE KERNEL, which is sbi-harts.elf."""

import json
import os
import subprocess
import sys
import unittest

import board_runs
from board_runs import BoardTest

KERNEL = board_runs.PROGRAM
OPENSBI = "/usr/lib/riscv64-linux-gnu/opensbi/generic"
UBOOT = "/usr/lib/u-boot/qemu-riscv64_smode"

# U-Boot starts what it finds two seconds after it has come up, unless a key is pressed.
SCRIPT = r"""
timeout 10 s
expect "OpenSBI v1.1"
expect "Platform HART Count       : {harts}\r"
expect "Platform Reboot Device    : sifive_test"
expect "U-Boot 20"
expect "Hit any key to stop autoboot"
send " "
expect "=> "
{talk}
send "poweroff\n"
"""

TALK = r"""
send "printenv stdin\n"
expect "stdin=serial"
expect "=> "
send "pci\n"
expect "=> "
send "fdt addr -c; fdt addr $fdtcontroladdr; fdt list /chosen\n"
expect "bootargs = \"sluice=yes\""
expect "=> "
"""


class OpenSbi(BoardTest):
    def start(self, firmware, image, harts, *options):
        return board_runs.start("virt", "--firmware", os.path.join(OPENSBI, firmware), "--set", "cluster.host.images=" + image,
                                "--set", f"cluster.host.harts={harts}", *options)

    def start_uboot(self, firmware, uboot, *options, harts=1, talk=""):
        script = os.path.join(self.directory(), "talk.txt")
        with open(script, "w", encoding="utf-8") as file:
            file.write(SCRIPT.format(harts=harts, talk=talk))
        return self.start(firmware, os.path.join(UBOOT, uboot), harts, "--expect", script, *options)

    def assert_powered_off(self, process):
        r = json.loads(board_runs.finish(process))
        self.assertEqual((r["outcome"], r["failure"], r["diagnosis"]), ("finished", "", ""))
        self.assertEqual(r["mistakes"]["list"], [])
        return r

    def test_fw_dynamic_is_told_of_u_boot(self):
        r = self.assert_powered_off(self.start_uboot("fw_dynamic.bin@0x80000000", "u-boot.bin@0x80200000", "--set",
                                                     "cluster.host.bootargs=sluice=yes", talk=TALK))
        self.assertEqual(r["firmware"][0]["name"], "fw_dynamic.bin")
        self.assertEqual([i["name"] for i in r["firmware"][0]["images"]], ["u-boot.bin"])

    def test_fw_jump_knows_where_u_boot_lies(self):
        self.assert_powered_off(self.start_uboot("fw_jump.elf", "uboot.elf"))

    def test_four_harts(self):
        r = self.assert_powered_off(self.start_uboot("fw_dynamic.elf", "uboot.elf", harts=4))
        self.assertEqual(len(r["cores"]), 4)

    def test_a_long_command_line(self):
        # OpenSBI lets the tree grow where it lies: this one ends 64 bytes before a multiple of 64 KiB, or up to 3 more.
        least = len(self.tree("fw_dynamic.elf", "aaa"))
        bootargs = "aaa" + "aaaa" * ((65_536 - 64 - least) // 4)
        self.assertEqual((65_536 - 64 - len(self.tree("fw_dynamic.elf", bootargs))) // 4, 0)
        self.assert_powered_off(self.start("fw_dynamic.elf", KERNEL, 4, "--set", "cluster.host.bootargs=" + bootargs))

    def tree(self, firmware, bootargs):
        """The device tree of a board with four harts and a kernel, compiled."""
        path = os.path.join(self.directory(), "tree.dtb")
        subprocess.run([board_runs.SLUICE, "describe", "virt", "--set", "cluster.host.firmware=" +
                        os.path.join(OPENSBI, firmware), "--set", "cluster.host.images=" + KERNEL, "--set",
                        "cluster.host.harts=4", "--set", "cluster.host.bootargs=" + bootargs, "--device-tree", "--out", path], check=True)
        with open(path, "rb") as file:
            return file.read()

    def test_a_kernel_starts_four_harts_by_sbi(self):
        # Timers, interrupts between harts and remote fences: sbi_harts.S.
        for board in ((), ("--set", "cluster.host.interrupts=aia")):
            r = self.assert_powered_off(self.start("fw_dynamic.elf", KERNEL, 4, *board))
            for core in r["cores"]:
                self.assertGreater(core["instructions"], 10_000)
        # The same, whatever runs beside it.
        again = json.loads(board_runs.finish(self.start("fw_dynamic.elf", KERNEL, 4, *board)))
        self.assertEqual(again["simulated_ns"], r["simulated_ns"])


if __name__ == "__main__":
    if not os.path.exists(OPENSBI) or not os.path.exists(UBOOT):
        print("no Debian packages opensbi and u-boot-qemu here")
        sys.exit(77)
    unittest.main()
