# SPDX-License-Identifier: Apache-2.0
"""Lauberhorn on its boards: what a call takes by the parameters of the parts, the published order of three ways to
deliver it, and what the firmware does with calls of every program and size. test_lauberhorn.py SLUICE"""

import json
import os
import unittest

from board_runs import BoardTest, canonical, options, result, run
from test_loopback import ROUND_TRIP

BOARD = "enzian-lauberhorn"
PROTOTYPE = "enzian-lauberhorn-prototype"
EXACT = ("--set", "run.spread=none")
FEW = ("--requests", "400", "--warmup", "50")
NULL = options("workload.call.program=null")
NOC = 4.0  # ns: the NIC's clock of 250 MHz


def stages(r):
    """ns of each stage in a call, by name."""
    total = {}
    for s in r["stages"]:
        total[s["name"]] = total.get(s["name"], 0) + s["mean_ns"]
    return total


class Lauberhorn(BoardTest):
    def test_a_call_takes_what_its_parts_say(self):
        """A null call, alone, of two beats, at a core that waits in its process."""
        s = stages(result(BOARD, *FEW, *EXACT, *NULL))
        # The call's line comes down; the load of the next one goes up, the recall down, and the reply's line up.
        self.assertAlmostEqual(s["coherence message"], 2 * ROUND_TRIP, delta=0.5)
        self.assertAlmostEqual(s["MAC"], 2 * 184, delta=0.5)
        # Receive queue, 36 ns and 4 ns a beat; packet buffer, 24 ns.
        self.assertAlmostEqual(s["NIC queue"], 36 + 2 * 4 + 24, delta=0.5)
        # 26 cycles to the edge at which the line leaves, and up to one to the first edge of the clock.
        self.assertGreater(s["decode"], 26 * NOC)
        self.assertLessEqual(s["decode"], 27 * NOC)
        self.assertEqual(s.get("unattributed", 0), 0)

    def test_the_published_order_of_three_ways_to_deliver(self):
        means = [result(board, *FEW, *EXACT)["latency_ns"]["mean"] for board in (BOARD, "enzian-dma", "enzian-dma-irq")]
        self.assertEqual(means, sorted(means))
        self.assertGreater(means[1] - means[0], 100)
        self.assertGreater(means[2] - means[1], 50)

    def test_the_decoder_and_the_encoder_in_rtl_change_nothing(self):
        for variant in ((), NULL, options("workload.call.program=kv"), options("workload.outstanding=64", "nic.eth0.queue=64"),
                        options("workload.call.bytes=1200")):
            with self.subTest(variant=variant):
                tlm, rtl = (canonical(run(BOARD, *FEW, *variant, *options(f"nic.eth0.decoder={which}")), ["nic.eth0.decoder"])
                            for which in ("tlm", "rtl"))
                self.assertEqual(tlm, rtl)
                self.assertEqual(json.loads(tlm)["counters"]["nic.eth0"]["rpc_late"], 0)

    def test_each_program_is_served_and_every_reply_is_right(self):
        """The clients check results."""
        for board in (BOARD, "cxl-lauberhorn"):
            for program in ("null", "add", "echo", "checksum", "sort", "spin", "kv"):
                with self.subTest(board=board, program=program):
                    r = result(board, *FEW, *options(f"workload.call.program={program}"))
                    self.assertEqual((r["requests"]["completed"], r["requests"]["lost"]), (400, 0))

    def test_calls_of_any_size_are_served(self):
        for size in (0, 1, 91, 92, 93, 94, 220, 221, 1400):
            with self.subTest(size=size):
                r = result(BOARD, *FEW, *options(f"workload.call.bytes={size}"))
                self.assertEqual(r["requests"]["completed"], 400)

    def test_jumbo_calls_are_served_in_each_way(self):
        """An IPv4 packet of a call has 72 bytes in front of the call's. Lauberhorn's encoder has room for 9,216 of a result."""
        for board in (BOARD, "enzian-dma", "enzian-dma-irq", "enzian-eci-rpc", "cxl-lauberhorn"):
            for size in (1429, 2047, 4096, 9000, 9212 if "lauberhorn" in board else 9528):
                with self.subTest(board=board, size=size):
                    r = result(board, "--requests", "40", "--warmup", "0", *options("workload.mtu=9600", f"workload.call.bytes={size}"))
                    self.assertEqual((r["requests"]["completed"], r["requests"]["errors"]), (40, 0))

    def test_a_call_on_a_waiting_core_takes_few_instructions(self):
        few, many = (result(BOARD, "--requests", str(n), "--warmup", "50", *EXACT, *NULL) for n in (400, 800))
        instructions = [sum(core["instructions"] for core in r["cores"]) for r in (few, many)]
        self.assertLess((instructions[1] - instructions[0]) / 400, 30)

    def test_eleven_instructions_lie_between_a_call_and_its_handler(self):
        out = self.directory()
        run(BOARD, *NULL, "--requests", "100", "--warmup", "10", "--trace", "insn", "--out", out)
        with open(os.path.join(out, "trace.insn"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        # In user mode: the loads of a call's word from a line of the process, and the jumps to code that the line has named.
        waits = [n for n, line in enumerate(lines) if " U:service-" in line and "c.lw" in line and " [0x3fe" in line]
        jumps = [n for n, line in enumerate(lines) if " U:service-" in line and "c.jalr" in line]
        pairs = list(zip(waits[-40:-1], [min(n for n in jumps if n > w) for w in waits[-40:-1]]))
        self.assertEqual({jump - load for load, jump in pairs}, {11})

    def test_cores_that_wait_exchange_one_line_in_each_block_time(self):
        """A load, TRYAGAIN, the recall of the opposite line and its acknowledgement, every 15 ms; the first needs no recall."""
        r = result(BOARD, *EXACT, *options("workload.model=none"), "--until", "1 s")
        link, nic, caches = (r["counters"][name] for name in ("coherent.eci0", "nic.eth0", "caches"))
        self.assertEqual(nic["tryagain"], 4 * 66)
        self.assertEqual(r["firmware"][0]["counters"]["quiescent"], 4 * 66, "each passes the kernel's scheduling point")
        self.assertEqual(link["down_read_shared"], 4 * 67)
        self.assertEqual(link["up_grant_exclusive"], 4 * 66)
        self.assertEqual((link["up_snoop_unique"], link["down_ack"]), (4 * 66, 4 * 66))
        self.assertEqual((caches["home_requests"], caches["home_recalls"]), (4 * 67, 4 * 66))
        for core in r["cores"][1:]:
            self.assertLess(core["instructions"], 10_000)

    def test_an_idle_second_has_one_exchange_in_each_block_time(self):
        """15 ms fit 66.7 times into it."""
        counted = result(BOARD, *EXACT, "--workload", "idle")["idle"]["counted"]
        once = 4 * 67
        self.assertEqual(counted["nic.eth0"], {"tryagain": once})
        self.assertEqual({k: v for k, v in counted["coherent.eci0"].items() if "bytes" not in k},
                         {k: once for k in ("up_grant_exclusive", "up_snoop_unique", "down_read_shared", "down_ack")})
        instructions = {counted[f"cluster.host.hart{n}"]["instructions"] for n in range(4)}
        self.assertEqual(len(instructions), 1)
        self.assertEqual(max(instructions) % 67, 0)
        self.assertLess(max(instructions), 67 * 30)

    def test_idleness_may_last_longer_than_a_run_without_requests(self):
        """run.time_limit is 10 s."""
        r = result(BOARD, "--workload", "idle", *options("workload.length=30s"))
        self.assertEqual((r["outcome"], r["idle"]["measured_ns"]), ("finished", 30e9))

    def test_one_core_stays_in_the_process_while_it_keeps_up(self):
        r = result(BOARD, *FEW)
        served = sorted(core["requests"]["completed"] for core in r["cores"])
        self.assertEqual(served, [0, 0, 0, 400])
        self.assertEqual(r["counters"]["nic.eth0"]["calls"], 400)
        self.assertEqual(r["counters"]["nic.eth0"]["queued"], 0)

    def test_a_queue_that_is_half_full_brings_all_cores(self):
        r = result(BOARD, *FEW, *options("workload.outstanding=64", "nic.eth0.queue=64"))
        self.assertEqual(r["requests"]["completed"], 400)
        self.assertEqual(r["requests"]["lost"], 0)
        self.assertGreater(min(core["requests"]["completed"] for core in r["cores"]), 20)

    def test_fewer_cores_or_threads_lose_no_call(self):
        for variant in ("nic.eth0.workers=1", "nic.eth0.workers=2", "nic.eth0.cores=1", "nic.eth0.cores=2",
                        "cluster.host.harts=1"):
            with self.subTest(variant=variant):
                r = result(BOARD, *FEW, *options("workload.outstanding=64", "nic.eth0.queue=64", variant))
                self.assertEqual((r["requests"]["completed"], r["requests"]["lost"]), (400, 0))
                self.assertEqual(r["counters"]["nic.eth0"]["error_replies"], 0)
                cores = sum(core["requests"]["completed"] > 0 for core in r["cores"])
                self.assertEqual(cores, 2 if variant.endswith("=2") else 1)

    def test_tables_without_room_leave_calls_to_the_kernel_which_answers_that_it_has_no_such_program(self):
        r = result(BOARD, *FEW, *options("nic.eth0.services=3"), status=1)
        nic = r["counters"]["nic.eth0"]
        self.assertEqual((r["requests"]["errors"], nic["calls"], nic["unknown_calls"]), (400, 0, 400))

    def test_a_table_of_fewer_services_takes_as_many_in_rtl_as_in_its_model(self):
        for program, status in (("sort", 0), ("kv", 1)):
            tlm, rtl = (canonical(run(PROTOTYPE, *FEW, *options(f"workload.call.program={program}", f"nic.eth0.decoder={which}"),
                                      status=status), ["nic.eth0.decoder"]) for which in ("tlm", "rtl"))
            self.assertEqual(tlm, rtl)

    def test_the_prototype_serves_its_eight_services_and_leaves_calls_of_others_to_the_kernel(self):
        """The five procedures of calc, the two of echo, and of kv the one that does nothing."""
        for program in ("null", "add", "echo", "checksum", "sort", "spin"):
            with self.subTest(program=program):
                r = result(PROTOTYPE, *FEW, *options(f"workload.call.program={program}"))
                self.assertEqual((r["requests"]["completed"], r["requests"]["errors"]), (400, 0))
                self.assertEqual((r["counters"]["nic.eth0"]["calls"], r["counters"]["nic.eth0"]["unknown_calls"]), (400, 0))
        r = result(PROTOTYPE, *FEW, *options("workload.call.program=kv"), status=1)
        self.assertEqual(r["requests"]["errors"], 400)
        self.assertEqual((r["counters"]["nic.eth0"]["calls"], r["counters"]["nic.eth0"]["unknown_calls"]), (0, 400))

    def test_the_prototype_has_sixteen_calls_in_hand_and_no_more(self):
        """All clients call before any call is answered; a client whose call is dropped waits for it until the end."""
        for clients in (16, 17, 40):
            with self.subTest(clients=clients):
                r = result(PROTOTYPE, "--requests", "400", "--warmup", "0", *options(f"workload.outstanding={clients}"),
                           status=1 if clients > 16 else 0)
                self.assertEqual(r["counters"]["nic.eth0"]["dropped_sessions"], clients - 16)
                self.assertEqual((r["requests"]["completed"], r["requests"]["lost"]), (416 - clients, 0))

    def test_a_table_larger_than_the_decoders_is_refused(self):
        self.assertEqual(self.mistake(BOARD, "nic.eth0.services=65"), "sluice: --set nic.eth0.services=65: must be 1 to 64")

    def test_a_run_is_the_same_again(self):
        for variant in ((), options("workload.outstanding=16")):
            self.assertEqual(canonical(run(BOARD, *FEW, *variant)), canonical(run(BOARD, *FEW, *variant)))


if __name__ == "__main__":
    unittest.main()
