# SPDX-License-Identifier: Apache-2.0
"""A debugger restarts a board, loads programs and writes registers of devices: test_gdb_restart.py SLUICE
FIRMWARE-DIRECTORY."""

import json
import os
import re
import signal
import socket
import struct
import subprocess
import unittest

from gdb_session import ELF, FIRMWARE, GDB, ONE_HART, TESTS, TWO_HARTS, Session, packet
from board_runs import run


# On bare.toml's memory, a tree below 48 KiB is in the last 64 KiB.
DISK, DATA, TREE = 0x8080_0000, 0x8090_0000, 0x8fff_0000


@unittest.skipUnless(GDB, "no gdb-multiarch")
class Restarting(Session):
    """Resets, programs that are loaded, and registers of devices, on a host that runs `hello`."""

    HELLO = os.path.join(FIRMWARE, "hello.elf")
    IDLE = os.path.join(FIRMWARE, "interrupt-idle.elf")
    ARGUMENTS = (os.path.join(TESTS, "firmware", "bare.toml"), "--firmware", HELLO)

    def session(self, commands, target="remote", arguments=ARGUMENTS, elf=HELLO, status=0):
        """What gdb prints, what the firmware prints, and the result, which a replay gives too."""
        out = self.directory()
        process, port = self.launch(*arguments, "--console", "--out", out)
        script = os.path.join(out, "script.gdb")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"set pagination off\nset confirm off\nset width 0\nset remotetimeout 60\n"
                       f"target {target} localhost:{port}\n{commands}\n")
        gdb = subprocess.run([GDB, "-nx", "-batch", "-x", script, elf], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        result, console = process.communicate(timeout=120)
        self.assertEqual(process.returncode, status, gdb.stdout + console)
        self.assert_same(result, run(*arguments, "--replay", os.path.join(out, "input.log"), status=status))
        return gdb.stdout, console, json.loads(result)

    def test_a_reset_starts_the_board_again(self):
        plain = json.loads(run(*self.ARGUMENTS))
        text, console, result = self.session("""
break tick
continue
continue
monitor reset
maintenance flush register-cache
printf "start is 0x%lx\\n", $pc
printf "entry is 0x%lx\\n", (unsigned long)&_start
printf "privilege is %d\\n", $priv
printf "stack is 0x%lx\\n", $sp
printf "hart is %d\\n", $a0
printf "enabled is 0x%lx\\n", $mie
monitor reg uart lcr
continue
printf "ticks again is %u\\n", ticks
delete
continue
""")
        self.assertEqual(self.value(text, "start"), self.value(text, "entry"))
        self.assertEqual([self.value(text, v) for v in ("privilege", "stack", "hart", "enabled")], [3, 0, 0, 0])
        self.assertRegex(text, r"(?m)^0x0003  lcr +0x00$")
        self.assertEqual(self.value(text, "ticks again"), 0)
        self.assertEqual(text.count("Breakpoint 1, tick"), 3, text)
        self.assertEqual(console.count("hello from supervisor mode"), 2, console)
        self.assertEqual(console.count("timer interrupt 3 times"), 1, console)
        # Time goes on; what follows the reset takes as long as from the start.
        self.assertGreater(result["simulated_ns"], plain["simulated_ns"])

    def test_a_reset_before_anything_changes_nothing(self):
        _, _, result = self.session("monitor reset\ncontinue\n")
        plain = json.loads(run(*self.ARGUMENTS))
        self.assertEqual(result["counters"].pop("reset"), {"resets": 1})
        self.assertEqual(plain["counters"].pop("reset"), {"resets": 0})
        for r in (result, plain):
            del r["host"]
        self.assertEqual(result, plain)

    def test_a_reset_of_several_harts(self):
        arguments = (*self.ARGUMENTS, "--set", "cluster.host.harts=3")
        text, console, _ = self.session("""
break secondary_main
continue
monitor reset
maintenance flush register-cache
thread apply all -q printf "at 0x%lx\\n", $pc
continue
continue
delete
continue
""", arguments=arguments)
        self.assertEqual(len(re.findall(r"(?m)^at 0x80000000$", text)), 3, text)
        self.assertEqual(console.count("all 3 harts in supervisor mode"), 1, console)

    def test_a_reset_under_traffic(self):
        for arguments in (ONE_HART, TWO_HARTS):
            with self.subTest(arguments=arguments):
                text, console, result = self.session("""
break echo
ignore 1 20
continue
monitor reset
delete
continue
""", arguments=arguments, elf=ELF, status=1)
                self.assertRegex(result["failure"], "dropped|lost")
                self.assertGreater(result["requests"]["completed"], 100)

    def test_run_starts_again(self):
        text, console, _ = self.session("""
break tick
continue
run
printf "ticks is %u\\n", ticks
delete
continue
""", target="extended-remote")
        self.assertEqual(text.count("Breakpoint 1, tick"), 2, text)
        self.assertEqual(self.value(text, "ticks"), 0)
        self.assertEqual(console.count("hello from supervisor mode"), 2, console)
        self.assertRegex(text, "exited normally")

    def test_a_loaded_program_starts_as_at_reset(self):
        text, console, _ = self.session(f"""
break tick
continue
continue
delete
file {self.IDLE}
load
maintenance flush register-cache
printf "start is 0x%lx\\n", $pc
printf "privilege is %d\\n", $priv
printf "table is 0x%lx\\n", $stvec
continue
""")
        self.assertEqual([self.value(text, v) for v in ("start", "privilege", "table")], [0x8000_0000, 3, 0])
        self.assertIn("interrupt_idle serves what is pending", console)
        self.assertEqual(console.count("hello from supervisor mode"), 1)

    def small_program(self):
        """An image of 20 bytes that passes."""
        code = struct.pack("<5I", 0x0010_02B7, 0x0000_5337, 0x5553_031B, 0x0062_A023, 0x0000_006F)
        header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 243, 1, 0x8000_0000, 64, 184, 0, 64, 56, 1,
                             64, 3, 2)
        segment = struct.pack("<IIQQQQQQ", 1, 5, 120, 0x8000_0000, 0x8000_0000, len(code), len(code), 4)
        names = b"\0.text\0.shstrtab\0"
        sections = struct.pack("<IIQQQQIIQQ", *(0,) * 10)
        sections += struct.pack("<IIQQQQIIQQ", 1, 1, 6, 0x8000_0000, 120, len(code), 0, 0, 4, 0)
        sections += struct.pack("<IIQQQQIIQQ", 7, 3, 0, 0, 140, len(names), 0, 0, 1, 0)
        path = os.path.join(self.directory(), "small.elf")
        with open(path, "wb") as file:
            file.write((header + segment + code + names).ljust(184, b"\0") + sections)
        return path

    def test_a_small_program_is_one_too(self):
        text, console, _ = self.session(f"""
break tick
continue
delete
file {self.small_program()}
load
maintenance flush register-cache
printf "start is 0x%lx\\n", $pc
printf "privilege is %d\\n", $priv
continue
""")
        self.assertIn("Loading section .text, size 0x14", text)
        self.assertEqual([self.value(text, v) for v in ("start", "privilege")], [0x8000_0000, 3])
        self.assertEqual(console.count("timer interrupt 3 times"), 0)
        self.assertRegex(text, "exited normally")

    def test_a_load_brings_back_what_the_program_is_told(self):
        # The program spoils its device tree, the block for fw_dynamic, its RAM disk and an image that is data.
        text, _, _ = self.session(f"""
break tick
continue
delete
set $tree = *(unsigned int*)0x{TREE:x}
set $block = *(unsigned int*)0x{TREE - 64:x}
set $disk = *(unsigned int*)0x{DISK:x}
set $data = *(unsigned int*)0x{DATA:x}
python
import gdb
for place in (0x{TREE:x}, 0x{TREE - 64:x}, 0x{DISK:x}, 0x{DATA:x}, 0x{DATA + 4:x}):
  gdb.execute(f"set *(unsigned int*){{place}} = 0")
end
stepi
set *(unsigned int*)0x{DATA + 8:x} = 0x12345678
file {self.IDLE}
load
maintenance flush register-cache
printf "start is 0x%lx\\n", $pc
printf "told is %d\\n", $a2 == 0x{TREE - 64:x} && $a1 == 0x{TREE:x}
printf "tree is %d\\n", *(unsigned int*)0x{TREE:x} == $tree
printf "block is %d\\n", *(unsigned int*)0x{TREE - 64:x} == $block
printf "disk is %d\\n", *(unsigned int*)0x{DISK:x} == $disk
printf "data is %d\\n", *(unsigned int*)0x{DATA:x} == $data
printf "patch is 0x%x\\n", *(unsigned int*)0x{DATA + 8:x}
compare-sections .text
monitor reset
monitor reset
continue
""", arguments=(*self.ARGUMENTS, *self.told()))
        self.assertEqual([self.value(text, v) for v in ("start", "told", "tree", "block", "disk", "data")],
                         [0x8000_0000, 1, 1, 1, 1, 1], text)
        # What is written at the same stop as the program belongs to it and stays.
        self.assertEqual(self.value(text, "patch"), 0x1234_5678)
        self.assertRegex(text, r"Section .text, range .*: matched\.")
        self.assertEqual(text.count("and has its own images again in the place of the program that was loaded;"), 1, text)

    def told(self):
        """Options for an image that is data, and a RAM disk."""
        path = os.path.join(self.directory(), "words.bin")
        with open(path, "wb") as file:
            file.write(b"words of which none is zero.." * 40)
        return ("--set", f"cluster.host.images={path}@{DATA:#x}", "--set", f"cluster.host.initrd={path}@{DISK:#x}")

    def test_a_patch_is_no_program(self):
        # Values that are written one by one are no program, however many they are.
        text, _, _ = self.session("""
break tick
continue
delete
set $here = $pc
set $at = 0
while $at < 320
  set $was = *(unsigned long*)($pc + $at)
  set *(unsigned long*)($pc + $at) = $was
  set $at = $at + 8
end
set var $pc = $here + 8
set var $pc = $here
maintenance flush register-cache
printf "privilege is %d\\n", $priv
continue
""")
        self.assertEqual(self.value(text, "privilege"), 1)

    def test_registers_of_devices(self):
        text, console, result = self.session("""
break tick
continue
delete
set *(char*)0x10000000 = 0x41
set *(char*)0x10000000 = 0x42
monitor write uart.rbr 0x43
monitor write uart.scr 90
monitor reg uart scr
monitor write clint.msip[0] 1
maintenance flush register-cache
printf "pending is 0x%lx\\n", $mip & 8
monitor write clint.msip[0] 0
monitor write clint.mtimecmp[0] 0xffffffffffffff00
monitor reg clint mtimecmp
monitor write clint.msip[7] 1
monitor write uart.scr 256
monitor write uart.scr x1
monitor write imsic.hart0.machine.eidelivery 1
monitor write uart
python
for address in ("(long*)0x10000000", "(char*)0x10000009", "(int*)0x4000000000"):
  try:
    gdb.execute("set *" + address + " = 1")
  except gdb.error as e:
    print(e)
end
continue
""", arguments=(*self.ARGUMENTS, "--set", "cluster.host.local_delivery=0 ns"))
        self.assertEqual(console.count("ABC"), 1, console)
        self.assertRegex(text, r"(?m)^0x0007  scr +0x5a$")
        self.assertEqual(self.value(text, "pending"), 8)
        self.assertRegex(text, r"(?m)^0x4000  mtimecmp +0xffffffffffffff00$")
        self.assertIn("clint.msip[7] is no register", text)
        self.assertIn("256: uart.scr has 8 bits", text)
        self.assertIn("x1: must be a number", text)
        self.assertIn("imsic.hart0.machine has no registers that are reached by an address", text)
        self.assertIn("monitor write DEVICE.NAME VALUE", text)
        self.assertEqual(text.count("Cannot access memory at address 0x100000"), 2, text)
        self.assertEqual(text.count("Cannot access memory at address 0x4000000000"), 1, text)
        # What the devices refuse is the debugger's mistake, not the firmware's; the replay's list is compared too.
        self.assertEqual(result["mistakes"], {"list": [], "unlisted": 0})
        plain = json.loads(run(*self.ARGUMENTS))
        self.assertEqual(result["counters"]["uart"]["characters_sent"], plain["counters"]["uart"]["characters_sent"] + 3)

    def test_a_register_of_a_pcie_device(self):
        # From now on the NIC takes no frame as long as a call.
        out = self.directory()
        text, result = self.debug((*ONE_HART, "--out", out), """
break echo
ignore 1 20
continue
monitor write nic.eth0.tx_tail[0] 99999
monitor write nic.eth0.max_frame 100
monitor reg nic.eth0 max_frame
delete
continue
""", 1)
        self.assertRegex(text, r"(?m)^0x001c  max_frame +0x00000064$")
        self.assertGreater(json.loads(result)["requests"]["lost"], 0)
        self.assertEqual([m["what"] for m in json.loads(result)["mistakes"]["list"] if "99999" in m["what"]], [])
        self.assertEqual(json.loads(run(*ONE_HART))["requests"]["lost"], 0)
        self.assert_same(result, run(*ONE_HART, "--replay", os.path.join(out, "input.log"), status=1))

    def test_a_kill_in_extended_mode_ends_the_run_with_the_connection(self):
        process, port = self.launch(*self.ARGUMENTS)
        with socket.create_connection(("127.0.0.1", int(port)), timeout=60) as client:
            client.sendall(packet(b"QStartNoAckMode") + packet(b"!") + packet(b"vKill;1"))
            answer = b""
            while answer.count(b"OK#9a") < 3:
                answer += client.recv(100)
        out, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(json.loads(out)["outcome"], "interrupted")


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    unittest.main()
