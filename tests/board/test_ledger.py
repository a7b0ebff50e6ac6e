# SPDX-License-Identifier: Apache-2.0
"""The request ledger of whole boards: test_ledger.py LEDGER_TILES SLUICE. Cache timing: test_ledger_cached.py;
100 ns more in each latency: test_ledger_sensitivity.py; several requests at once: test_ledger_crowd.py.

Closed forms: with one request outstanding, each tile of each request lasts what closed_forms.py computes from the board's
parameters, to the femtosecond. Software's tiles are whole issue slots, and their number is that of the instructions
executed, by class, times what the class costs.

Tiling: tiles are compared with the times at which the wire saw each frame, and with the latencies that the traffic
source measured. The ledger takes part in neither."""

import unittest
from collections import Counter
from decimal import Decimal

from closed_forms import SOFTWARE, LoneRequest, Wire
from ledger_runs import (BOARDS, CACHED, FUNCTIONAL, INTERVAL, NS, SLUICE, counted, ideal, is_software, output_of, run,
                         run_all)

WIRED = ("e810-irq", *FUNCTIONAL, "workload.requests=1", "cluster.host.interrupts=plic")
HALF = Decimal("0.5")  # femtoseconds: the result file rounds to whole ones


class ClosedForms(unittest.TestCase):
    CASES = (
        ("e810-poll", "workload.requests=100"),
        ("e810-irq", "workload.requests=100"),
        ("e810-poll", "workload.requests=20", "workload.call.program=null"),
        ("e810-irq", "workload.requests=20", "workload.call.program=add"),
        ("e810-poll", "workload.requests=20", "workload.call.program=sort", "workload.call.bytes=256"),
        ("e810-poll", "workload.requests=20", "workload.call.program=checksum", "workload.call.bytes=777"),
        # Wired interrupts, also with memory that is slower than an interrupt or a register's value on its way.
        ("e810-irq", "workload.requests=20", "cluster.host.interrupts=plic"),
        ("e810-irq", "workload.requests=20", "cluster.host.interrupts=plic", "root.write_latency=3 us",
         "root.completion_latency=0 ns"),
        # Several TLPs for a frame, up and down.
        ("e810-poll", "workload.requests=20", "workload.call.bytes=1400"),
        ("e810-poll", "workload.requests=20", "workload.call.bytes=1400", "root.completion_size=256 B"),
        ("e810-irq", "workload.requests=20", "workload.call.bytes=1001", "nic.eth0.pcie.max_read_request=128 B",
         "root.completion_size=64 B"),
        # No memory above 4 GiB: requests of the NIC have headers of three DWs.
        ("e810-poll", "workload.requests=20", "memory.high.base=0x9000_0000"),
        # Other rates.
        ("e810-poll", "workload.requests=20", "pcie.slot0.generation=4", "pcie.slot0.lanes=8",
         "pcie.slot0.max_payload=512 B", "net.wire0.rate=25 Gb/s"),
        ("e810-irq", "workload.requests=20", "pcie.slot0.generation=1", "pcie.slot0.lanes=1",
         "pcie.slot0.max_payload=128 B", "net.wire0.rate=10 Gb/s", "workload.call.bytes=700"),
        ("e810-poll", "workload.requests=20", "pcie.slot0.generation=5", "pcie.slot0.lanes=4", "net.wire0.rate=7 Gb/s",
         "cluster.host.clock=2.718 GHz", "cluster.host.issue_width=3"),
    )

    @classmethod
    def setUpClass(cls):
        cls.cases = [(case[0], *timing, *case[1:]) for timing in (FUNCTIONAL, CACHED, INTERVAL) for case in cls.CASES]
        run_all(cls.cases)

    def test_each_tile_lasts_what_its_parts_say(self):
        for case in self.cases:
            with self.subTest(case):
                r = run(*case)
                form = LoneRequest(r.parameters)
                expected = list(form.tiles())
                for request in r.requests:
                    got = [(stage, component, end - start) for stage, component, start, end in request.tiles]
                    shown = [(s, c, SOFTWARE if e[2] is SOFTWARE else t) for (s, c, t), e in zip(got, expected)]
                    self.assertEqual(shown + got[len(shown):], expected, f"request {request.id}")
                    for reply, length in ((False, form.call), (True, form.reply)):
                        self.assertEqual(r.frames[request.id, reply]["bytes"], length)

    def test_buffers_lie_below_where_the_memory_above_4_gib_is_too_small(self):
        def up(*more):
            r = run("e810-poll", *FUNCTIONAL, "workload.requests=20", *more)
            self.assertEqual(len(r.requests), 20)
            return r.result["counters"]["pcie.slot0"]["up_bytes"]
        above, below = up(), up("memory.high.base=0x9000_0000")
        # The rings have room in 1 MiB, and the buffers, more than 1,000 of 2 KiB, have not.
        self.assertTrue(below < up("memory.high.size=1 MiB") < above)

    def test_moderation_spaces_interrupts_and_is_waited_for_in_notify(self):
        r = run("e810-irq", *FUNCTIONAL, "workload.requests=20", "nic.eth0.moderation=20 us")
        told = []
        for request in r.requests:
            stages = {stage: start for stage, _, start, _ in request.tiles}
            self.assertNotIn("wait for a core", stages)
            self.assertGreater(stages["interrupt"] - stages["notify"], 1000 * NS)
            told.append(stages["interrupt"])
        self.assertEqual({b - a for a, b in zip(told, told[1:])}, {20_000 * NS})

    def test_software_takes_whole_slots(self):
        for case in self.cases:
            with self.subTest(case):
                r = run(*case)
                for request in r.requests:
                    for _, component, start, end in request.tiles:
                        if component.startswith("cluster."):
                            self.assertIsNotNone(r.slots.number(start))
                            self.assertIsNotNone(r.slots.number(end))

    def test_software_takes_the_same_for_each_call(self):
        for case in self.cases:
            if "caches.timing=functional" not in case or "workload.call.program=sort" in case:
                continue  # what these take depends on more than the code
            with self.subTest(case):
                r = run(*case)
                every = [[x for x in r.lengths(request) if x[0][1].startswith("cluster.")] for request in r.requests]
                usual = Counter(map(tuple, every)).most_common(1)[0][0]
                # The driver gives back 32 receive descriptors at a time, between its poll and its work on the frame. It
                # asks for the report of each 32nd transmit descriptor before it hands the descriptor over.
                others = Counter()
                for n, tiles in enumerate(every):
                    for (key, slots), (_, normal) in zip(tiles, usual, strict=True):
                        if slots != normal:
                            self.assertIn(key[0], ("poll", "kernel protocol"), (key, slots, normal))
                            others[key[0], n % 32] += 1
                self.assertLessEqual(len(others), 2, others)

    def test_software_takes_what_its_instructions_cost(self):
        """One more slot for a class of instructions makes a tile longer by its number of instructions of that class.
        The rest of the tile is the core's accesses to devices."""
        for lone in (*((board, *FUNCTIONAL, "workload.requests=1") for board in BOARDS), WIRED):
            c = counted(*lone)
            base = c.run
            costs = {k: int(v["value"]) for k, v in
                     base.result["board"]["instances"]["cluster.host"]["parameters"].items() if k.startswith("costs.")}
            dearer = {k: (*lone, f"cluster.host.{k}={v + 1}") for k, v in costs.items()}
            run_all(dearer.values())
            usual = self.software(base)
            self.assertIn("handler", [stage for stage, _, _ in usual])
            total = [0] * len(usual)
            executed = [0] * len(usual)
            for cost, call in dearer.items():
                for n, ((_, _, slots), (stage, _, before)) in enumerate(zip(self.software(run(*call)), usual, strict=True)):
                    self.assertGreaterEqual(slots, before, (lone, cost, stage))
                    total[n] += (slots - before) * costs[cost]
                    executed[n] += slots - before
            access = base.slots.next(base.parameters.fs("bus.latency"))
            read = base.slots.next(LoneRequest(base.parameters).register_read())
            accesses = reads = 0
            for n, (stage, edges, slots) in enumerate(usual):
                to_bus, to_nic = (c.between(*edges, counter) for counter in ("bus_accesses", "core_reads"))
                self.assertEqual(total[n] + to_bus * access + to_nic * read, slots, (lone, stage))
                self.assertGreater(executed[n], 1, (lone, stage))
                accesses, reads = accesses + to_bus, reads + to_nic
            self.assertEqual(accesses > 0 and reads > 0, lone is WIRED, (accesses, reads))

    @staticmethod
    def software(r):
        """(stage, (start, end), slots) of each tile. Slots count from the first one in which a core can act."""
        tiles = []
        for stage, component, start, end in r.requests[0].tiles:
            if is_software(stage, component):
                tiles.append((stage, (start, end), r.slots.number(end) - r.slots.next(start)))
        return tiles


class Tiling(unittest.TestCase):
    CASES = tuple((board, f"workload.call.program={program}", *more)
                  for board in BOARDS for program in ("null", "echo", "kv", "sort")
                  for more in (("workload.requests=2000",),
                               ("workload.requests=2000", "cluster.host.harts=4", "nic.eth0.queues=4",
                                "workload.flows=64")))

    @classmethod
    def setUpClass(cls):
        run_all(cls.CASES)

    def each_run(self, check):
        for case in self.CASES:
            with self.subTest(case):
                check(run(*case))

    def test_tiles_follow_each_other_from_the_first_bit_to_the_last(self):
        def check(r):
            wire = Wire(r.parameters)
            self.assertEqual(len(r.requests), 2000)
            self.assertEqual(r.result["ledger"]["error"], "")
            for request in r.requests:
                for _, _, start, end in request.tiles:
                    self.assertLessEqual(start, end)
                call, reply = r.frames[request.id, False], r.frames[request.id, True]
                self.assertEqual(request.first_bit, call["at"] - wire.last_bit(call["bytes"]))
                self.assertEqual(request.end, reply["at"] + wire.last_bit(reply["bytes"]))
        self.each_run(check)

    def test_what_never_waits_takes_as_long_in_a_crowd(self):
        def check(r):
            p, wire = r.parameters, Wire(r.parameters)
            for request in r.requests:
                got = [(stage, component, end - start) for stage, component, start, end in request.tiles
                       if stage != "client queue"]
                call, reply = r.frames[request.id, False]["bytes"], r.frames[request.id, True]["bytes"]
                self.assertEqual(got[0], ("wire", "net.wire0", wire.last_bit(call)))
                self.assertEqual(got[1], ("MAC", "nic.eth0.mac", p.fs("nic.eth0.mac.rx_latency")))
                self.assertEqual(got[2], ("parse", "nic.eth0", p.fs("nic.eth0.parse")))
                self.assertEqual(got[-1], ("wire", "net.wire0", wire.last_bit(reply)))
        self.each_run(check)

    def test_stages_sum_to_the_latency_that_the_traffic_source_saw(self):
        def check(r):
            total = sum(end - start for request in r.requests for _, _, start, end in request.tiles)
            mean = r.result["latency_ns"]["mean"] * NS
            self.assertAlmostEqual(mean, Decimal(total) / len(r.requests), delta=HALF)
            longest = max(request.end - request.start for request in r.requests)
            self.assertEqual(round(r.result["latency_ns"]["max"] * NS), longest)
        self.each_run(check)

    def test_the_stage_table_is_the_sum_of_the_tiles(self):
        def check(r):
            sums, visits = Counter(), Counter()
            for request in r.requests:
                for stage, component, start, end in request.tiles:
                    sums[stage, component] += end - start
                    visits[stage, component] += 1
            table = {(s["name"], s["component"]): s for s in r.result["stages"]}
            self.assertEqual(set(table), set(sums))
            for key, row in table.items():
                mean = Decimal(sums[key]) / len(r.requests)
                self.assertAlmostEqual(row["mean_ns"] * NS, mean, delta=HALF, msg=f"{key}")
                self.assertEqual(row["visits"], visits[key])
            self.assertAlmostEqual(sum(row["share"] for row in table.values()), 1, places=9)
        self.each_run(check)

    def test_little_is_unattributed(self):
        def check(r):
            share = sum(s["share"] for s in r.result["stages"] if s["name"] == "unattributed")
            self.assertLess(share, Decimal("0.01"))
        self.each_run(check)

    def test_sluice_run_says_the_same(self):
        for board in BOARDS:
            case = (board, "workload.call.program=echo", "workload.requests=2000")
            printed = output_of(SLUICE, "run", "--json", board, *[f"--set={o}" for o in ideal(case[1:])])
            self.assertEqual(printed["stages"], run(*case).result["stages"])


if __name__ == "__main__":
    unittest.main()
