# SPDX-License-Identifier: Apache-2.0
"""Plain TLM-2.0 modules that a plug-in brings to a system-on-chip's bus. Called as NAME.py SLUICE BUILD-DIRECTORY."""

import json
import os
import re
import unittest

from command import guest, sluice
from plugin_project import PluginTest

BOARD = """extends = ["virt"]
plugins = ["{}"]
[cluster.host]
firmware = "ticker"
interrupts = "plic"
[device.timer]
model = "ticker"
address = 0x1300_0000
interrupts = [40]
"""


class BusPlugins(PluginTest):
    NAME = "ticker"

    def test_its_interrupts_reach_a_hart(self):
        self.board(BOARD)
        run = sluice("run", "my.toml", "--console", cwd=self.directory)
        self.assertEqual(run.returncode, 0, run.stderr)
        # A period of 1 us is ten units of virt's time. The run is the same each time.
        self.assertIn("5 ticks; the last four came 40 time units after the first\n", run.stderr.replace("\r", ""))
        results = []
        for quantum in ("1 us", "10 us"):
            again = sluice("run", "my.toml", "--json", "--set", f"cluster.host.quantum={quantum}", cwd=self.directory)
            self.assertEqual(again.returncode, 0, again.stderr)
            results.append(json.loads(again.stdout))
            self.assertEqual(results[-1]["cores"][0]["name"], "cluster.host.hart0")
        self.assertEqual(results[0]["simulated_ns"], results[1]["simulated_ns"])
        self.assertEqual(results[0]["cores"], results[1]["cores"])

    def test_it_is_described(self):
        self.board(BOARD)
        described = json.loads(self.succeed("describe", "my.toml", "--json", cwd=self.directory))
        self.assertIn({"name": "device.timer", "base": "0x1300_0000", "size_bytes": 16}, described["memory_map"])
        tree = self.succeed("describe", "my.toml", "--device-tree", cwd=self.directory)
        node = tree[tree.index("timer@13000000"):]
        for line in ('compatible = "test,ticker"', "reg = <0x0 0x13000000 0x0 0x10>", "interrupts = <0x28>",
                     'sluice,path = "device.timer"'):
            self.assertIn(line, node)

    def test_its_place_is_checked(self):
        cases = (
            ('address = 0x1300_0000', '', "my.toml:6: device.timer.address must be set: no device is at 0"),
            ('0x1300_0000', '0x1000_0000', "my.toml:8: uart at 0x1000_0000 (256 B) overlaps device.timer at "
             "0x1000_0000 (16 B)"),
            ('[40]', '[]', "my.toml:9: device.timer.interrupts must name a source for each of its interrupt lines, of "
             "which it has 1"),
            ('[40]', '[10]', "my.toml:9: device.timer.interrupts must be sources of its own: 10 is the UART's"),
            ('[40]', '[96]', "my.toml:9: device.timer.interrupts must be at most 95: plic.sources"),
        )
        for old, new, message in cases:
            with self.subTest(message=message):
                self.board(BOARD.replace(old, new))
                self.assert_mistake(["run", "my.toml"], message)


WRONG_BOARD = """extends = ["virt"]
plugins = ["{}"]
[cluster.host]
firmware = "touch.elf"
[device.wrong]
model = "wrong"
address = 0x1300_0000
"""


class WrongModules(PluginTest):
    NAME = "wrong_module"

    def setUp(self):
        super().setUp()
        self.write("touch.elf", guest(0x1300_0537, 0x0005_3583))  # lui a0, 0x13000; ld a1, 0(a0)

    def test_what_the_model_throws_before_the_run(self):
        for what, message in (
                ("size throws", "my.toml: device.wrong cannot be built: no size"),
                ("properties throw", "my.toml: device.wrong cannot be built: something that is no std::exception"),
                ("built throws", "my.toml: device.wrong cannot be built: not today"),
                ("no size", "my.toml:7: device.wrong has no size")):
            with self.subTest(what=what):
                self.board(WRONG_BOARD, f'what = "{what}"')
                self.assert_mistake(["run", "my.toml"], message)

    def test_what_an_access_throws_is_told_of_the_module(self):
        self.board(WRONG_BOARD, 'what = "access throws"')
        run = sluice("run", "my.toml", cwd=self.directory)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertRegex(run.stderr, r"^sluice: my: device\.wrong threw an exception at 500 ps: no access\n")

    def test_an_access_without_an_answer_is_explained(self):
        self.board(WRONG_BOARD, 'what = "never answers"')
        run = sluice("run", "my.toml", cwd=self.directory)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("cluster.host.hart0 waits for device.wrong: an answer", run.stderr)


LINES_BOARD = """extends = ["virt"]
plugins = ["{}"]
[cluster.host]
firmware = "line-box"
[coherent.chip]
model = "on-die"
flight = "0 ns"
host_transmit = "0 ns"
host_receive = "0 ns"
device_transmit = "0 ns"
device_receive = "0 ns"
[device.box]
model = "line-box"
link = "coherent.chip"
address = 0x1300_0000
lines = 0x2000_0000
"""


class Homes(PluginTest):
    NAME = "line_box"

    def test_a_load_waits_for_the_home_and_what_was_stored_is_recalled(self):
        for settings in ((), ("--set", "caches.timing=cached"), ("--set", "cluster.host.harts=2")):
            with self.subTest(settings=settings):
                self.board(LINES_BOARD)
                run = sluice("run", "my.toml", "--console", *settings, cwd=self.directory)
                self.assertEqual(run.returncode, 0, run.stderr)
                match = re.search(r"0 wrong, (\d+) cycles for ten loads", run.stderr)
                self.assertTrue(match, run.stderr)
                # Each load ends at the end of a period of 2 us, and the next round begins right then. virt has 1 GHz.
                self.assertAlmostEqual(int(match[1]), 20_000, delta=300)
                result = json.loads(sluice("run", "my.toml", "--json", *settings, cwd=self.directory).stdout)
                self.assertEqual(result["counters"]["device.box"]["answers"], 11)
                self.assertEqual(result["counters"]["caches"]["home_requests"], 21)  # and ten stores

    def test_links_count_their_messages(self):
        for model, request, line in (("on-die", 8, 8 + 64), ("cxl", 16, 16 + 64)):
            with self.subTest(model=model):
                self.board(LINES_BOARD.replace("on-die", model))
                result = json.loads(self.succeed("run", "my.toml", "--json", cwd=self.directory))
                counters = result["counters"]["coherent.chip"]
                # The first line is read eleven times, and recalled each time; the second is written and recalled ten times.
                self.assertEqual(counters["down_read_shared"], 11)
                self.assertEqual(counters["down_read_unique"], 10)
                self.assertEqual(counters["up_grant_exclusive"], 21)
                self.assertEqual(counters["up_snoop_unique"], 21)
                self.assertEqual(counters["down_ack"], 11)
                self.assertEqual(counters["down_ack_with_data"], 10)
                links = {l["direction"]: l for l in result["links"] if l["name"] == "coherent.chip"}
                self.assertEqual(links["down"]["bytes"], (21 + 11) * request + 10 * line)
                self.assertEqual(links["up"]["bytes"], 21 * line + 21 * request)
                self.assertEqual(links["up"]["payload_bytes"], 21 * 64)

    def stopped(self, *arguments, board=""):
        """The result of a run whose hart loads the first line at once, and stops at a trap."""
        # lui a0, 0x20000; ld a1, 0(a0)
        self.write("loads.elf", guest(0x2000_0537, 0x0005_3583))
        self.board(LINES_BOARD.replace('"line-box"\n[', '"loads.elf"\n[') + board)
        run = sluice("run", "my.toml", "--until", "10 us", "--json", *arguments, cwd=self.directory)
        return json.loads(run.stdout)

    def test_a_line_that_does_not_come_in_time_is_an_access_fault(self):
        result = self.stopped("--set", "cluster.host.bus_timeout=1us")
        self.assertEqual(result["mistakes"]["list"][0]["what"],
                         "cluster.host.hart0: load at 0x20000000: access fault, no answer has come within 1 us")
        self.assertEqual(result["counters"]["cluster.host.hart0"]["lines_unanswered"], 1)
        self.assertEqual(result["counters"]["device.box"]["answers"], 1)  # it comes all the same

    def test_a_link_that_goes_down_is_an_access_fault(self):
        fault = '[fault.cut]\nkind = "link-down"\ntarget = "coherent.chip"\nat = ["1 us"]\nduration = "2 us"\n'
        result = self.stopped(board=fault)
        self.assertEqual(result["mistakes"]["list"][0]["what"],
                         "cluster.host.hart0: load at 0x20000000: access fault, coherent.chip went down")
        cut, = result["faults"]
        self.assertEqual(cut["cost"]["messages_lost"], 0)  # the request had arrived, and its answer is never sent

    def test_a_checked_run_has_the_same_result(self):
        self.board(LINES_BOARD)
        plain, checked = (json.loads(self.succeed("run", "my.toml", "--json", *arguments, cwd=self.directory))
                          for arguments in ((), ("--check",)))
        self.assertEqual(checked["counters"]["caches"].pop("home_checked"), 21)  # eleven loads, ten stores
        for member in ("simulated_ns", "counters", "cores", "links"):
            self.assertEqual(plain[member], checked[member])

    def test_what_a_home_refuses_is_an_access_fault(self):
        self.write("bad.elf", guest(0x2000_0537, 0x0805_0513, 0x0005_3583))  # lui a0; addi a0, 128; ld a1, 0(a0)
        self.board(LINES_BOARD.replace('"line-box"\n[', '"bad.elf"\n['))
        run = sluice("run", "my.toml", "--until", "10 us", "--json", cwd=self.directory)
        mistakes = json.loads(run.stdout)["mistakes"]["list"]
        self.assertEqual(mistakes[0]["what"], "cluster.host.hart0: load at 0x20000080: access fault, device.box does not "
                         "take it")

    def test_it_is_described(self):
        self.board(LINES_BOARD)
        described = json.loads(self.succeed("describe", "my.toml", "--json", cwd=self.directory))
        self.assertIn({"name": "device.box.lines", "base": "0x2000_0000", "size_bytes": 4096}, described["memory_map"])
        tree = self.succeed("describe", "my.toml", "--device-tree", cwd=self.directory)
        self.assertIn("reg = <0x0 0x13000000 0x0 0x10 0x0 0x20000000 0x0 0x1000>", tree[tree.index("box@13000000"):])

    def test_its_place_is_checked(self):
        cases = (
            ("lines = 0x2000_0000\n", "", "my.toml:12: device.box.lines must be set: no device is at 0"),
            ("0x2000_0000", "0x8000_0000", "my.toml:16: memory.dram at 0x8000_0000 (512 MiB) overlaps "
             "device.box.lines at 0x8000_0000 (4 KiB)"),
            ("address =", "lines_size = \"0 B\"\naddress =",
             "my.toml: device.box cannot be built: it is a home of cache lines and has 0 bytes of them"),
            ('link = "coherent.chip"\n', "", "my.toml:12: device.box.link must be set: coherent link that it and its "
             "registers are behind"),
            ('"coherent.chip"', '"pcie.slot0"', "my.toml:14: device.box.link must name a coherent link of the board, not "
             '"pcie.slot0"; valid: coherent.chip'),
            ('"on-die"', '"eci"', "my.toml:14: device.box.link must name a link with lines of 64 B, as its system's "
             "caches.line says; ECI has lines of 128 B"),
        )
        for old, new, message in cases:
            with self.subTest(message=message):
                self.board(LINES_BOARD.replace(old, new))
                self.assert_mistake(["run", "my.toml"], message)


COPIER_BOARD = LINES_BOARD.replace("line-box", "host-copier").replace("device.box", "device.copier").replace(
    "[device", "[caches]\nline = \"{line} B\"\n[device").replace("on-die", "{model}")


class HostAccess(PluginTest):
    NAME = "host_copier"

    def test_a_device_reads_and_writes_host_memory_and_interrupts(self):
        for model, line in (("on-die", 64), ("cxl", 64), ("eci", 128)):
            for timing in ("functional", "cached", "interval"):
                with self.subTest(model=model, timing=timing):
                    self.board(COPIER_BOARD.replace("{model}", model).replace("{line}", str(line)))
                    run = sluice("run", "my.toml", "--json", "--console", "--set", f"caches.timing={timing}",
                                 "--set", "cluster.host.interrupts=aia", cwd=self.directory)
                    self.assertIn("0 wrong, 4 interrupts, 1 failed", run.stderr)
                    self.assertEqual(run.returncode, 0, run.stderr)
                    result = json.loads(run.stdout)
                    link, host = result["counters"]["coherent.chip"], result["counters"]["device.copier.host"]
                    self.assertEqual(host, {"reads": 4, "writes": 3, "interrupts": 4, "refused": 1})
                    # From 5 bytes behind a line's start, and to 3.
                    read, written = -(-(5 + 1000) // line), -(-(3 + 1000) // line)
                    pulls = written if model == "cxl" else 0
                    self.assertEqual(link["up_host_accesses"], 3 * (read + written + pulls) + 1 + 4)
                    self.assertEqual(link["down_host_accesses"], 3 * (read + written + pulls) + 1)
                    self.assertEqual([m["what"] for m in result["mistakes"]["list"]],
                                     ["device.copier: read of 8 bytes at 0x1000: no memory is there"])

    def test_captures_have_its_messages(self):
        self.board(COPIER_BOARD.replace("{model}", "eci").replace("{line}", "128"))
        self.succeed("run", "my.toml", "--out=out", "--trace=coherence", "--set", "cluster.host.interrupts=aia",
                     cwd=self.directory)
        with open(os.path.join(self.directory, "out/coherent.chip.coherence.txt"), encoding="utf-8") as file:
            text = file.read()
        for line in (r"up    MREQ_RLDT            memory 0x8\w+\n", r"down  MRSP_PSHA            memory 0x8\w+  123 B\n",
                     r"up    MREQ_RSTT            memory 0x8\w+  128 B\n", r"down  MRSP_PEMD \(no data\)  memory 0x8\w+\n",
                     r"up    IREQ_IOBST           memory 0x28\w+  4 B\n", r"down  MRSP_PEMD.NXM        memory 0x1000\n"):
            self.assertRegex(text, line)


if __name__ == "__main__":
    unittest.main()
