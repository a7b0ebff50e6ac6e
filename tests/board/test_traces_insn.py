# SPDX-License-Identifier: Apache-2.0
"""The instruction trace against the firmware's disassembly and the result file: test_traces_insn.py SLUICE FIRMWARE."""

import json
import os
import re
import subprocess
import sys
import unittest

FIRMWARE = os.path.abspath(sys.argv.pop(2))

from board_runs import SLUICE, SMALL, BoardTest, run  # noqa: E402

ELF = os.path.join(FIRMWARE, "rpc-server.elf")
TWO_HARTS = ("--set", "cluster.host.harts=2", "--set", "nic.eth0.queues=2", "--set", "workload.flows=64")
LINE = re.compile(r" *(?P<ns>\d+)\.(?P<fs>\d{6}) (?P<hart>\S+) (?P<privilege>[USM]) (?P<pc>0x[0-9a-f]+)(?: <(?P<symbol>"
                  r"[^>]+)>)?(?: (?P<code>[0-9a-f]{4}|[0-9a-f]{8}) (?P<text>[^|]*?))? \|(?P<results>.*)\n")


def lines(path):
    with open(path, encoding="ascii") as file:
        assert file.readline().startswith("# time/ns hart privilege pc")
        for text in file:
            match = LINE.fullmatch(text)
            assert match, text
            yield match


class InstructionTrace(BoardTest):
    def trace(self, *arguments):
        """Lines of a run's trace, and its result."""
        out = self.directory()
        result = run(*arguments, "--trace", "insn", "--out", out)
        self.assert_same(result, run(*arguments), message="a trace must change nothing")
        return list(lines(os.path.join(out, "trace.insn"))), json.loads(result)

    def test_every_instruction_is_there(self):
        trace, result = self.trace("e810-poll", "--requests", "60", "--warmup", "0", *TWO_HARTS)
        for core in result["cores"]:
            executed = sum(line["hart"] == core["name"] and line["text"] is not None and " trap " not in line["results"]
                           for line in trace)
            # The result counts from the first request.
            self.assertGreater(executed, core["instructions"])
        for hart in ("cluster.host.hart0", "cluster.host.hart1"):
            times = [int(line["ns"] + line["fs"]) for line in trace if line["hart"] == hart]
            self.assertEqual(times, sorted(times))
        completed = {int(r) for line in trace for r in re.findall(r" request (\d+)$", line["results"])}
        self.assertEqual(len(completed), 60)
        handlers = {int(re.search(r" request (\d+)$", line["results"])[1])
                    for line in trace if line["symbol"] == "echo+0x48" or (line["symbol"] or "").startswith("net_reply")}
        self.assertGreaterEqual(completed, handlers)

    def test_text_and_symbols_are_the_tools(self):
        trace, _ = self.trace("e810-irq", "--requests", "40", "--warmup", "0")
        tool = subprocess.run(["riscv64-unknown-elf-objdump", "-d", "-M", "no-aliases", ELF], capture_output=True,
                              text=True, check=True).stdout
        expected = {}
        for line in tool.splitlines():
            match = re.fullmatch(r" *([0-9a-f]+):\t([0-9a-f]+) *\t(.*?)", line)
            if match:
                text = re.sub(r" *(<[^>]*>|# .*)", "", match[3]).rstrip().replace("\t", " ")
                # The image's attributes name a privileged specification that has no menvcfg yet.
                expected[int(match[1], 16)] = (match[2], text.replace(",0x30a,", ",menvcfg,"))
        compared = 0
        for line in trace:
            if line["text"] is None:
                continue
            got = (line["code"], line["text"].replace("\t", " "))
            self.assertEqual(got, expected[int(line["pc"], 16)], line.string)
            compared += 1
        self.assertGreater(compared, 10000)
        # Functions by the tool's own headings: "80001f32 <echo>:".
        heads = {int(a, 16): name for a, name in re.findall(r"(?m)^([0-9a-f]{16}) <([^>]+)>:$", tool)}
        starts = sorted(heads)
        for line in trace[::97]:
            name = line["symbol"].split("+")[0]
            self.assertIn(name, heads.values())
        self.assertTrue(any(" interrupt " in line["results"] for line in trace))
        self.assertTrue(any(re.search(r" [sm]cause=|sstatus=", line["results"]) for line in trace))
        self.assertTrue(starts)

    def test_values_hang_together(self):
        # What a store writes, the next load of the same bytes by the only hart reads, unless a device came between.
        trace, _ = self.trace("e810-poll", "--requests", "20", "--warmup", "0")
        stack = {}
        loads = 0
        for line in trace:
            if line["text"] is None:
                continue
            access = re.search(r"\[(0x[0-9a-f]+)\]=(0x[0-9a-f]+)", line["results"])
            if not access:
                continue
            address, value = int(access[1], 16), access[2]
            is_store = re.match(r"(c\.)?f?s[bhwd]", line["text"])
            if is_store:  # also by another base register, and of a part of the bytes
                for word in range(address - 7, address + len(value) // 2 - 1):
                    stack.pop((word, 18), None)
            if "(sp)" not in line["text"]:
                continue
            if is_store:
                stack[address, len(value)] = value
            elif (address, len(value)) in stack and re.match(r"(c\.)?(ld|fld)", line["text"]):
                self.assertEqual(stack[address, len(value)], value, line.string)
                loads += 1
        self.assertGreater(loads, 500)

    def test_a_window_of_time(self):
        out = self.directory()
        result = run("e810-poll", *SMALL, "--trace", "insn", "--trace-from", "150 us", "--trace-until", "153 us",
                     "--out", out)
        self.assert_same(result, run("e810-poll", *SMALL))
        times = [int(line["ns"]) for line in lines(os.path.join(out, "trace.insn"))]
        self.assertGreater(len(times), 500)  # calls come in bursts, less than 3 us apart
        self.assertGreaterEqual(min(times), 150_000)
        self.assertLess(min(times), 150_100)  # a load may wait for memory
        self.assertLess(max(times), 153_000)

    def test_an_empty_trace_is_explained(self):
        def said(*window):
            out = self.directory()
            ran = subprocess.run([SLUICE, "run", "e810-poll", *SMALL, "--trace", "insn", *window, "--out", out],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=120, check=True)
            with open(os.path.join(out, "trace.insn"), encoding="ascii") as file:
                self.assertEqual(len(file.readlines()) > 1, ran.stderr == "", ran.stderr)
            return ran.stderr

        self.assertRegex(said("--trace-from", "1 s"), r"^sluice: trace\.insn has no instruction: the run ended at \d\S* us, "
                                                      r"before --trace-from 1 s\n$")
        self.assertEqual(said("--trace-from", "1 ns", "--trace-until", "2 ns"),
                         "sluice: trace.insn has no instruction: no hart has started one between --trace-from and "
                         "--trace-until\n")
        self.assertEqual(said("--trace-from", "100 us", "--trace-until", "101 us"), "")


if __name__ == "__main__":
    unittest.main()
