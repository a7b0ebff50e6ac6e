# SPDX-License-Identifier: Apache-2.0
"""Diagnoses, traces and the debugger name the process of an address: test_process_names.py SLUICE FIRMWARE-DIRECTORY. In
process-again.elf process 3 greets and ends, and then another program is process 3, and traps for ever."""

import json
import os
import re
import subprocess
import unittest

from gdb_session import FIRMWARE, GDB, Session
from board_runs import finish, start

LIMITS = ("--set", "run.stall_limit=1 ms")
LINE = re.compile(r" *\d+\.\d{6} \S+ (?P<privilege>\S+) (?P<pc>0x[0-9a-f]+)(?: <(?P<symbol>[^>+]+)(?:\+(?P<offset>0x[0-9a-f]+))?>)?"
                  r"(?: [0-9a-f]{4,8} [^|]*?)? \|(?P<results>.*)\n")


def elf(name):
    return os.path.join(FIRMWARE, name + ".elf")


def functions(path):
    text = subprocess.run(["riscv64-unknown-elf-nm", path], capture_output=True, text=True, check=True).stdout
    return {name: int(address, 16) for address, name in re.findall(r"(?m)^([0-9a-f]{16}) [tT] (\S+)$", text)}


class Names(Session):
    def foreign(self):
        """The image as a kernel that says nothing of its processes."""
        with open(elf("process-again"), "rb") as file:
            image = file.read()
        self.assertIn(b"\0sluice_processes\0", image)
        path = os.path.join(self.directory(), "foreign.elf")
        with open(path, "wb") as file:
            file.write(image.replace(b"\0sluice_processes\0", b"\0silent_processes\0"))
        return path

    def looping(self, image):
        """Address and function in the sentence about the trap loop."""
        r = json.loads(finish(start("virt", "--firmware", image, *LIMITS), 1))
        self.assertEqual(r["outcome"], "stalled")
        sentence = re.fullmatch(r"cluster\.host\.hart0 is in a trap loop: \d+ traps and each return leads to the same again; "
                                r"store page fault \(cause 15\) at pc (0x[0-9a-f]+)(.*), value 0x3ffffffff8; "
                                r"stvec is 0x[0-9a-f]+ \S+", r["failure"])
        self.assertTrue(sentence, r["failure"])
        return int(sentence[1], 16), sentence[2]

    def test_a_trap_loop_names_the_process_that_has_the_number_now(self):
        pc, place = self.looping(elf("process-again"))
        offset = pc - functions(elf("process-trespasses"))["main"]
        self.assertEqual(place, f" main+{offset:#x} in process process-trespasses (3)")

    def test_a_process_of_a_kernel_that_says_nothing_is_called_by_its_address_space(self):
        pc, place = self.looping(self.foreign())
        self.assertEqual((place, pc >> 16), (" in asid 3", 0x3fc001))

    def trace(self, image):
        out = self.directory()
        finish(start("virt", "--firmware", image, *LIMITS, "--until", "400 us", "--trace", "insn", "--out", out), None)
        with open(os.path.join(out, "trace.insn"), encoding="ascii") as file:
            next(file)
            for text in file:
                line = LINE.fullmatch(text)
                self.assertTrue(line, text)
                yield line

    def test_the_trace_names_process_and_function_of_each_instruction(self):
        code = {"S": functions(elf("process-again")), "M": functions(elf("process-again"))}
        for name in ("process-greets", "process-trespasses"):
            code[f"U:{name}(3)"] = functions(elf(name))
        met = []
        for line in self.trace(elf("process-again")):
            if line["symbol"]:
                known = code[line["privilege"]]
                self.assertEqual(known[line["symbol"]] + int(line["offset"] or "0", 16), int(line["pc"], 16), line.string)
            if line["privilege"] not in met:
                met.append(line["privilege"])
            if line["privilege"][0] == "U":
                self.assertTrue(line["symbol"], line.string)
                trap = re.search(r" trap .* to 0x[0-9a-f]+ <(\S+)>", line["results"])
                self.assertEqual(trap[1] if trap else "user_trap", "user_trap")
        self.assertEqual(met, ["M", "S", "U:process-greets(3)", "U:process-trespasses(3)"])

    def test_the_trace_of_a_kernel_that_says_nothing_names_the_address_space(self):
        met = {(line["privilege"], line["symbol"]) for line in self.trace(self.foreign()) if line["privilege"][0] == "U"}
        self.assertEqual(met, {("U:asid-3", None)})

    @unittest.skipUnless(GDB, "no gdb-multiarch")
    def test_a_breakpoint_stops_one_process_where_one_is_chosen(self):
        begin = functions(elf("process-greets"))["_start"]
        self.assertEqual(begin, functions(elf("process-counts"))["_start"])
        text, _ = self.debug(("virt", "--firmware", elf("processes"), *LIMITS), f"""
monitor processes
monitor process process-counts
monitor process
break *{begin:#x}
continue
monitor harts
info threads
monitor processes
monitor where {begin + 4:#x}
monitor process all
continue
monitor harts
monitor process 7
stepi
monitor harts
continue
monitor harts
monitor process everything and more
monitor process all
break *{functions(elf("processes"))["user_run"]:#x}
continue
monitor where {begin:#x}
delete
continue
""")
        self.assertIn("\nno process is known\n"
                      "in user mode, breakpoints stop process process-counts only, which is not there yet\n"
                      "in user mode, breakpoints stop process process-counts only, which is not there yet\n", text)
        harts = re.findall(r"(?m)^cluster\.host\.hart0: (pc .*), \d+ instructions$", text)
        self.assertEqual(harts, [f"pc {begin + step:#x} _start{place} in process process-counts ({n}), kernel, user mode"
                                 for n, step, place in ((5, 0, ""), (6, 0, ""), (6, 4, "+0x4"), (7, 0, ""))])
        self.assertRegex(text, r'Thread 1 "cluster\.host\.hart0" \(kernel, user mode, process process-counts \(5\)\)')
        self.assertIn("\nprocess process-greets (1)\nprocess process-greets (2)\nprocess process-trespasses (3)\n"
                      "process process-recurses (4)\nprocess process-counts (5), breakpoints stop it, in user mode on "
                      "cluster.host.hart0\nprocess process-counts (6), breakpoints stop it\nprocess process-counts (7), "
                      "breakpoints stop it\nprocess process-greets (8)\n", text)
        self.assertIn("\n_start+0x4 in process process-counts (5)\n", text)
        self.assertIn("\nbreakpoints stop every process\n", text)
        self.assertIn("\nand is too much; the command is:\nmonitor process NAME ", text)
        self.assertIn(f"\n{begin:#x} is in no known function of processes.elf\n", text)

    @unittest.skipUnless(GDB, "no gdb-multiarch")
    def test_a_process_is_debugged_by_its_own_file(self):
        run = ("enzian-lauberhorn", "--requests", "20", "--warmup", "0", "--set", "cluster.host.harts=1")
        text, _ = self.debug(run, f"""
file {elf("service-echo")}
break echo
continue
backtrace
info threads
print call->args_length > 0
delete
continue
""")
        self.assertRegex(text, r"(?m)^Breakpoint 1, echo \(call=0x[0-9a-f]+\) at \./firmware/programs/echo\.c:\d+$")
        self.assertRegex(text, r"(?m)^#1 .* in serve_\w+ .* at \./firmware/user/by_lines\.c:\d+")
        self.assertRegex(text, r"\(application, user mode, request 1, process service-echo \(\d\)\) echo \(call=")
        self.assertIn("$1 = 1\n", text)
        self.assertIn("exited normally", text)


if __name__ == "__main__":
    unittest.main()
