# SPDX-License-Identifier: Apache-2.0
"""The RPC decoder in RTL and its model are the same on a board, and calls reach their service's queue.

test_decoder.py SLUICE; skipped where the program was built without Verilator."""

import hashlib
import json
import os
import subprocess
import sys
import unittest

from board_runs import FOUR_HARTS, FUNCTIONAL, SLUICE, SMALL, BoardTest, canonical, options, result, run

PROGRAMS = ("add", "echo", "kv")  # in the order of the firmware's RPC_PROGRAMS
TLM, RTL = options("nic.eth0.decoder=tlm"), options("nic.eth0.decoder=rtl")


def decoder_counters(r):
    return {k: v for k, v in r["counters"]["nic.eth0"].items() if k.startswith("rpc_")}


class Decoders(BoardTest):
    def assert_same(self, *arguments):
        tlm, rtl = (canonical(run(*arguments, *which), ["nic.eth0.decoder"]) for which in (TLM, RTL))
        self.assertEqual(tlm, rtl)
        r = json.loads(rtl)
        self.assertEqual(r["counters"]["nic.eth0"]["rpc_late"], 0)
        self.assertGreaterEqual(r["counters"]["nic.eth0"]["rpc_calls"], 400)
        return r

    def test_results_are_the_same(self):
        for board in ("e810-poll", "e810-irq"):
            for variant in ((), FOUR_HARTS, FUNCTIONAL, options("workload.outstanding=64"), options("workload.call.bytes=1200"),
                            options("workload.call.program=kv"), options("workload.call.program=null", "workload.outstanding=64")):
                with self.subTest(board=board, variant=variant):
                    self.assert_same(board, *SMALL, *variant)

    def test_packets_are_no_calls_and_the_same(self):
        packets = ("e810-echo", "--requests", "2000")
        tlm, rtl = (canonical(run(*packets, *which), ["nic.eth0.decoder"]) for which in (TLM, RTL))
        self.assertEqual(tlm, rtl)

    def test_each_call_reaches_its_services_queue(self):
        for number, program in enumerate(PROGRAMS):
            r = result("e810-poll", *SMALL, *FOUR_HARTS, *RTL, *options(f"workload.call.program={program}"))
            served = [core["requests"]["completed"] for core in r["cores"]]
            self.assertEqual(served, [400 if hart == number else 0 for hart in range(4)], program)
        spread = result("e810-poll", *SMALL, *FOUR_HARTS)
        self.assertGreater(min(core["requests"]["completed"] for core in spread["cores"]), 50)

    def test_a_call_takes_the_decoders_cycles(self):
        """A null call alone has two beats: 25 cycles of 4 ns from the first to the edge at which the control line leaves, and up
        to one to the first edge; the header parser, 20 ns, works beside it."""
        null = (*SMALL, *options("workload.call.program=null", "workload.outstanding=1"), *FUNCTIONAL)
        without, with_it = (result("e810-poll", *null, *which) for which in ((), RTL))
        parse = [sum(s["mean_ns"] * s["visits"] for s in r["stages"] if s["name"] == "parse") / 400 for r in (without, with_it)]
        self.assertEqual(parse[0], 20)
        self.assertGreater(parse[1], 25 * 4)
        self.assertLessEqual(parse[1], 27 * 4)

    def test_waveforms(self):
        out = self.directory()
        sizes = []
        for more in ((), ("--trace-request", "7"), ("--trace-from", "100 ms")):
            run("e810-poll", "--requests", "40", *RTL, "--trace", "vcd", "--out", out, *more)
            with open(os.path.join(out, "nic.eth0.decoder.fst"), "rb") as file:
                contents = file.read()
            self.assertEqual(contents[0], 0, "an FST file begins with its header block")
            sizes.append(len(contents))
        self.assertGreater(sizes[0], 2 * sizes[1])
        self.assertGreater(sizes[1], sizes[2])
        traced = canonical(run("e810-poll", *SMALL, *RTL, "--trace", "vcd", "--out", out))
        self.assertEqual(traced, canonical(run("e810-poll", *SMALL, *RTL)))

    def test_an_empty_waveform_is_explained(self):
        for more, why in (((), None), (("--trace-request", "7"), None),
                          (("--trace-request", "41"), r"the block never had --trace-request 41 while it was traced"),
                          (("--trace-from", "1 s"), r"the run ended at \d\S* us, before --trace-from 1 s"),
                          (("--trace-from", "1 ns", "--trace-until", "2 ns"), "the block slept in all the time that is traced")):
            with self.subTest(more=more):
                command = [SLUICE, "run", "e810-poll", "--requests", "40", "--warmup", "0", *RTL, "--trace", "vcd", *more]
                ran = subprocess.run([*command, "--out", self.directory()], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                     text=True, timeout=120, check=True)
                self.assertRegex(ran.stderr, rf"^sluice: nic\.eth0\.decoder\.fst has no cycle: {why}\n$" if why else "^$")

    def test_a_waveform_on_a_full_disk(self):
        out = self.directory()
        traced = [SLUICE, "run", "e810-poll", "--requests", "400", *RTL, "--out", out, "--trace"]

        def on_a_disk_of(kibibytes, *command):
            mounted = ["unshare", "-rm", "sh", "-c", f'mount -t tmpfs -o size={kibibytes}k none "$0" && exec "$@"', out]
            return subprocess.run([*mounted, *command], capture_output=True, text=True, check=False)

        if on_a_disk_of(100, "true").returncode != 0:
            self.skipTest("no small file system can be mounted")
        subprocess.run([*traced, "vcd,perfetto"], check=True, capture_output=True)
        needed, other = (os.path.getsize(os.path.join(out, name)) // 1024 for name in ("nic.eth0.decoder.fst", "trace.perfetto"))
        self.assertGreater(needed, 4200)  # so that it begins on all of these disks but the first
        refused = rf"{out}/nic\.eth0\.decoder\.fst: less than 4 MiB are free in {out}, so that it may not be complete\n"
        # A disk without room at the start; one that is full during the run, or within the last block that is written.
        for kibibytes in (100, 4200, needed - 100, needed - 1, needed + 1, needed + 100):
            with self.subTest(kibibytes=kibibytes):
                ended = on_a_disk_of(kibibytes, *traced, "vcd")
                self.assertEqual(ended.returncode, 2, ended.stderr)
                self.assertRegex(ended.stderr, refused)
        self.assertEqual(on_a_disk_of(needed + 8 * 1024, *traced, "vcd").returncode, 0)
        # The other traces are complete all the same.
        with open(os.path.join(out, "trace.perfetto"), "rb") as file:
            whole = hashlib.sha256(file.read()).hexdigest()
        ended = on_a_disk_of(needed + other + 1024, "sh", "-c", '"$@"; sha256sum "$0"', os.path.join(out, "trace.perfetto"),
                             *traced, "vcd,perfetto")
        self.assertRegex(ended.stderr, refused)
        self.assertEqual(ended.stdout.split()[-2], whole)

    def test_mistakes(self):
        self.assertIn("nic.eth0.decoder=rtk: must be none, tlm or rtl", self.mistake("e810-poll", "nic.eth0.decoder=rtk"))
        for arguments, sentence in (
                (["--trace", "vcd", "--out", self.directory()], "--trace vcd: the board has no block in RTL"),
                (["--trace-request", "1"], "--trace-request belongs to --trace vcd"),
                ([*RTL, "--trace", "vcd", "--out", self.directory(), "--trace-request", "x"], "--trace-request x: must be a whole number")):
            ended = subprocess.run([SLUICE, "run", "e810-poll", *arguments], capture_output=True, text=True, check=False)
            self.assertEqual(ended.returncode, 2)
            self.assertIn(sentence, ended.stderr)


if __name__ == "__main__":
    built = subprocess.run([SLUICE, "run", "e810-poll", "--requests", "1", *RTL, "--json"], capture_output=True, text=True, check=False)
    if "was built where Verilator was" in built.stderr:
        sys.exit(77)
    unittest.main()
