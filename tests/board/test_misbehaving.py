# SPDX-License-Identifier: Apache-2.0
"""Firmware that goes wrong, on whole boards: each way ends the run with a diagnosis that says where: test_misbehaving.py
SLUICE GUESTS, the directory of misbehaving-*.elf."""

import json
import os
import re
import unittest

import board_runs
from board_runs import BoardTest

GUESTS = board_runs.PROGRAM
NOWHERE = "0x123400000000"
BAD_DRIVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "boards", "bad_driver.toml")
FAULT = "neither memory nor a device is there"
# Mistakes that the NIC reports, each with the function of the instruction to blame.
BAD_DRIVER_MISTAKES = [
    ("read of 8 bytes at 0x0: not the register's width (revision)", "wrong_accesses"),
    ("read of 1 bytes at 0x0: not the register's width (revision)", "wrong_accesses"),
    ("read of 4 bytes at 0x7fff0: no register there", "wrong_accesses"),
    ("write of 2 bytes at 0x1c: not the register's width (max_frame)", "wrong_accesses"),
    ("rx_length[0] 0 is not a multiple of 32 from 64 to 4096: ignored", "rings_that_are_none"),
    ("receive queue 0: enabled with rx_length 0", "rings_that_are_none"),
    ("rx_length[0] 7 is not a multiple of 32 from 64 to 4096: ignored", "rings_that_are_none"),
    ("receive queue 0: tail 1 is ignored, the ring is not enabled", "rings_that_are_none"),
    ("transmit queue 0: tail 1 is ignored, the ring is not enabled", "rings_that_are_none"),
    ("receive queue 0: tail 64 is ignored, the ring has 64 descriptors, 0 to 63", "doorbells"),
    ("receive queue 0: tail 4294967295 is ignored, the ring has 64 descriptors, 0 to 63", "doorbells"),
    ("transmit queue 0: tail 2147483648 is ignored, the ring has 64 descriptors, 0 to 63", "doorbells"),
    ("receive queue 0: rx_base_low is written while the ring is active: ignored", "doorbells"),
    ("transmit queue 0: the frame of descriptor 1 is dropped, descriptor 1 has size 0", "descriptors_outside_memory"),
    (f"DMA read of 64 bytes at {NOWHERE} for the data of transmit descriptor 0 of queue 0: {FAULT}",
     "descriptors_outside_memory"),
    (f"DMA write of 64 bytes at {NOWHERE} for the buffer of receive descriptor 0 of queue 0: {FAULT}",
     "descriptors_outside_memory"),
    (f"DMA read of 1024 bytes at {NOWHERE} for receive descriptor 0 of queue 0: {FAULT}", "rings_outside_memory"),
    (f"DMA read of 16 bytes at {NOWHERE} for transmit descriptor 0 of queue 0: {FAULT}", "rings_outside_memory"),
    ("DMA read of 16 bytes at RAM for transmit descriptor 0 of queue 0: bus mastering is off in its command register",
     "no_bus_master"),
    ("interrupt message of vector 0 to RAM: no interrupt controller is there", "masked_vector"),
    ("write of 4 bytes at 0x1400: no register there", "masked_vector"),
    ("rx_interrupt[0] names vector 255, the NIC has 2, 0 to 1: ignored", "masked_vector")]
# On a board without Ethernet nothing but the firmware can end a run.
BARE = """summary = "a hart, memory, and nothing else"
[cluster.host]
firmware = "{elf}"
[memory.dram]
base = 0x8000_0000
size = "16 MiB"
[caches]
timing = "functional"
[run]
stall_limit = "1 ms"
"""


class Misbehaving(BoardTest):
    def outcome(self, way, *arguments, board=None, status=1):
        elf = os.path.join(GUESTS, f"misbehaving-{way}.elf")
        if board is None:
            board = os.path.join(self.directory(), "bare.toml")
            with open(board, "w", encoding="utf-8") as file:
                file.write(BARE.format(elf=elf))
        else:
            arguments += ("--firmware", elf, "--set", "run.stall_limit=1 ms")
        process = board_runs.start(board, *arguments)
        result = json.loads(board_runs.finish(process, status))
        return result

    def test_a_jump_to_nowhere_without_a_handler(self):
        for board in (None, "e810-poll"):
            r = self.outcome("nowhere", board=board)
            self.assertEqual(r["outcome"], "stalled")
            self.assertRegex(r["failure"], r"^cluster.host.hart0 is in a trap loop: \d+ traps and no return from one; "
                             r"fetch access fault \(cause 1\) at pc 0x0, value 0x0; mtvec is 0x0$")
            self.assertIn("cluster.host.hart0: pc 0x0", r["diagnosis"])
            self.assertAlmostEqual(r["simulated_ns"], 1e6, delta=100)  # within the entry of a trap

    def test_a_handler_that_traps_at_its_entry(self):
        r = self.outcome("handler")
        self.assertRegex(r["failure"], r"load access fault \(cause 5\) at pc 0x[0-9a-f]+ trap_handler, value 0x0; "
                         r"mtvec is 0x[0-9a-f]+ trap_handler$")

    def test_a_handler_that_traps_in_its_middle(self):
        r = self.outcome("stack")
        self.assertRegex(r["failure"], r"store access fault \(cause 7\) at pc 0x[0-9a-f]+ trap_handler\+0x[0-9a-f]+, "
                         r"value 0xf")

    def test_a_handler_that_returns_to_what_traps(self):
        looping = (r"^cluster.host.hart0 is in a trap loop: \d+ traps and each return leads to the same again; "
                   r"load access fault \(cause 5\) at pc 0x[0-9a-f]+ _start\+0x[0-9a-f]+, value 0x10; "
                   r"mtvec is 0x[0-9a-f]+ trap_handler$")
        for limit, ended in (("1 ms", 1e6), ("10 s", 1e7)):
            r = self.outcome("retry", "--set", f"run.stall_limit={limit}")
            self.assertEqual(r["outcome"], "stalled")
            self.assertRegex(r["failure"], looping)
            self.assertAlmostEqual(r["simulated_ns"], ended, delta=100)
        # The run ends before the first check for a stall.
        for way in ("retry", "handler"):
            r = self.outcome(way, "--until", "100 us", "--set", "run.stall_limit=1 s")
            self.assertEqual(r["outcome"], "stalled")
            self.assertIn("cluster.host.hart0 is in a trap loop: ", r["failure"])

    def test_a_guest_that_hangs_at_the_end(self):
        for way in ("spin", "sleep"):
            with self.subTest(way=way):
                r = self.outcome(way, "--until", "100 us")
                self.assertEqual(r["outcome"], "stalled")
                self.assertRegex(r["failure"], "^cluster.host.hart0 is in a loop without an end, with interrupts off, "
                                 r"at pc 0x8000000[04] _start(\+0x4)?$")
        for way in ("poll", "armed"):
            with self.subTest(way=way):
                r = self.outcome(way, "--until", "100 us", status=0)
                self.assertEqual((r["outcome"], r["failure"]), ("limit", ""))
                self.assertAlmostEqual(r["simulated_ns"], 1e5, delta=10)
        # One hart that works is enough: the second waits for the first.
        r = self.outcome("poll", "--until", "100 us", "--set", "cluster.host.harts=2", status=0)
        self.assertEqual((r["outcome"], r["failure"]), ("limit", ""))

    def test_a_run_without_an_end(self):
        r = self.outcome("poll", "--set", "run.time_limit=300 us")
        self.assertEqual(r["outcome"], "limit")
        self.assertAlmostEqual(r["simulated_ns"], 3e5, delta=10)
        self.assertEqual(r["failure"], "the run has not ended, and for 300 us of simulated time no request has either "
                         "(run.time_limit; --until ends a run elsewhere)")
        self.assertIn("cluster.host.hart0: pc 0x8000", r["diagnosis"])
        r = self.outcome("poll", "--set", "run.time_limit=300 us", "--until", "700 us", status=0)
        self.assertEqual((r["outcome"], r["failure"]), ("limit", ""))
        self.assertAlmostEqual(r["simulated_ns"], 7e5, delta=10)
        limit = r["board"]["instances"]["run"]["parameters"]["time_limit"]
        self.assertEqual(limit["text"], "300 us")
        # A workload whose requests end meets no limit, however long it lasts.
        r = json.loads(board_runs.run("e810-poll", "--requests", "2000", "--warmup", "50", "--set",
                                      "run.time_limit=200 us"))
        self.assertEqual(r["outcome"], "finished")
        self.assertGreater(r["simulated_ns"], 6e5)

    def test_a_guest_that_resets_its_board(self):
        r = self.outcome("reboot")
        self.assertEqual(r["outcome"], "failed")
        self.assertIn("the firmware asked for a reset, which ends a run; cluster.host.hart0 at pc", r["failure"])
        for harts in (1, 3):
            r = self.outcome("reboot", "--set", "run.reboot=restart", "--set", f"cluster.host.harts={harts}", status=0)
            self.assertEqual((r["outcome"], r["failure"]), ("finished", ""))
            self.assertEqual(r["counters"]["reset"]["resets"], 1)

    def test_a_guest_that_does_nothing_but_reset_its_board(self):
        for end in ((), ("--until", "50 ms")):
            r = self.outcome("reboots", "--set", "run.reboot=restart", *end)
            self.assertEqual(r["outcome"], "stalled")
            self.assertRegex(r["failure"], "^the firmware has reset the board 1000 times, and no request has ended in "
                             r"between; cluster.host.hart0 at pc 0x8000000[0-9a-f] _start\+0x[0-9a-f]$")
            self.assertEqual(r["counters"]["reset"]["resets"], 1000)

    def test_lost_calls_show_where_the_harts_are(self):
        process = board_runs.start("e810-poll", "--requests", "20", "--warmup", "0", "--set", "workload.timeout=2 us",
                                   "--set", "workload.retries=0", "--set", "cluster.host.harts=2")
        out, error = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1)
        r = json.loads(out)
        self.assertGreater(r["requests"]["lost"], 0)
        self.assertIn("lost: no reply within 2 us", r["failure"])
        for hart in (0, 1):
            where = rf"(?m)^cluster\.host\.hart{hart}: pc 0x[0-9a-f]+ \w+.*, \d+ instructions, [\d.]+ ns$"
            self.assertRegex(r["diagnosis"], where)
            self.assertRegex(error, where)

    def test_firmware_that_never_answers(self):
        r = self.outcome("spin", board="e810-poll")
        self.assertEqual(r["outcome"], "stalled")
        self.assertIn("no request has ended for", r["failure"])
        self.assertIn("pc 0x80000000 _start", r["diagnosis"])

    def test_firmware_that_sleeps_for_ever(self):
        r = self.outcome("sleep", board="e810-poll")
        self.assertEqual(r["outcome"], "stalled")
        self.assertRegex(r["diagnosis"], r"cluster.host.hart0 waits for .*an interrupt \(wfi\)")

    def test_a_load_from_nowhere_is_an_access_fault(self):
        r = self.outcome("load")
        self.assertIn("the firmware failed with code 5", r["failure"])
        self.assertEqual(r["counters"]["cluster.host.hart0"]["bus_errors"], 1)
        (mistake,) = r["mistakes"]["list"]
        self.assertRegex(mistake["what"], "^cluster.host.hart0: load of 8 bytes at 0x[0-9a-f]+: access fault, neither memory "
                         "nor a device is there$")
        self.assertEqual((mistake["times"], mistake["hart"]), (1, "cluster.host.hart0"))
        self.assertRegex(mistake["symbol"], "^_start")

    def test_a_stack_that_overflows(self):
        for hart in (0, 1):
            with self.subTest(hart=hart):
                process = board_runs.start("e810-poll", "--set", f"cluster.host.harts={hart + 1}", "--firmware",
                                           "deep-recursion", "--console")
                out, console = process.communicate(timeout=120)
                self.assertEqual(process.returncode, 1, console)
                sp = re.search(rf"(?m)^panic: the stack of hart {hart} has overflowed: sp ([0-9a-f]+), cause 7, "
                               r"pc [0-9a-f]+, tval ([0-9a-f]+)\r?$", console)
                self.assertTrue(sp, console)
                self.assertRegex(json.loads(out)["failure"], f"^the firmware failed with code 6: a stack of "
                                 f"cluster.host.hart{hart} has overflowed, sp was 0x{sp[1]}: store access fault "
                                 rf"\(cause 7\) at pc 0x[0-9a-f]+ recurse\+0x[0-9a-f]+, value 0x{sp[2]}$")
                # It was the first access to the guard: in the last stack frame of its last page.
                self.assertEqual(int(sp[2], 16) >> 12, int(sp[1], 16) >> 12)
                self.assertGreater(int(sp[2], 16) & 0xfff, 0xf00)

    def test_a_driver_that_makes_every_mistake(self):
        # The guest's own checks decide its exit status; what it cannot see is checked here by counters.
        for interrupts in ("aia", "plic"):
            with self.subTest(interrupts=interrupts):
                r = json.loads(board_runs.run(BAD_DRIVER, "--until", "20 ms", "--set",
                                              f"cluster.host.interrupts={interrupts}"))
                self.assertEqual((r["outcome"], r["failure"]), ("finished", ""))
                root, nic, pcie = (r["counters"][c] for c in ("root", "nic.eth0", "nic.eth0.pcie"))
                # DMA to nowhere: a frame to send, a received frame, descriptors of both rings.
                self.assertGreaterEqual(root["unsupported_requests"], 4)
                self.assertEqual(nic["bad_access"], 5)  # the last one names a vector that this NIC does not have
                self.assertEqual((nic["tx_drop_dma"], nic["tx_drop_descriptor"]), (1, 1))
                self.assertEqual((nic["rx_drop_disabled"], nic["rx_drop_no_queue"]), (0, 1))
                self.assertGreaterEqual(pcie["dma_refused"], 1)
                self.assertEqual((pcie["msix_pended"], pcie["msix_dropped"]), (1, 0))
                # Each mistake has the instruction to blame: of an access its own, of DMA that of the doorbell. Each
                # transfer is one mistake.
                done = [(re.sub("0x8[0-9a-f]{7}", "RAM", m["what"].split(": ", 1)[1]), m["symbol"].split("+")[0])
                        for m in r["mistakes"]["list"]]
                self.assertEqual(done, BAD_DRIVER_MISTAKES)
                self.assertEqual({m["times"] for m in r["mistakes"]["list"]}, {1})
                self.assertEqual(r["mistakes"]["unlisted"], 0)
                # Every frame that went out came back, and is in a ring or counted.
                self.assertEqual(nic["tx_packets"], nic["rx_packets"] + sum(v for k, v in nic.items() if "rx_drop" in k))


if __name__ == "__main__":
    unittest.main()
