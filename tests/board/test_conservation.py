# SPDX-License-Identifier: Apache-2.0
"""Nothing appears and nothing vanishes: frames, bytes on links, credits, requests, time.

test_conservation.py SLUICE COUNTED_RUN"""

import json
import unittest

import board_runs
from board_runs import FOUR_HARTS, FUNCTIONAL, BoardTest, overrides

INFINITE = 2**32 - 1
CLOSED = ["workload.requests=600", "workload.warmup=50"]
# About twice what one core serves, in bursts that the smallest receive FIFO and ring cannot hold.
OVERLOAD = ["workload.kind=open-loop", "workload.rate=20_000_000", "workload.requests=2000", "workload.warmup=0",
            "workload.timeout=100 us", "run.allow_drops=true", "nic.eth0.rx_fifo=16 KiB", "nic.eth0.rx_ring=64",
            *overrides(FUNCTIONAL)]
# Credits that hold up every burst.
FEW_CREDITS = [f"pcie.slot0.{name}={value}" for name, value in
               (("posted_headers", 4), ("posted_data", 64), ("non_posted_headers", 2), ("completion_headers", 4),
                ("completion_data", 64))]

SCENARIOS = {
    "polling": ("e810-poll", *CLOSED),
    "interrupts": ("e810-irq", *CLOSED),
    "four harts": ("e810-poll", *CLOSED, *overrides(FOUR_HARTS)),
    "four harts, interrupts": ("e810-irq", *CLOSED, *overrides(FOUR_HARTS)),
    "few credits": ("e810-poll", *CLOSED, *FEW_CREDITS),
    "large calls": ("e810-poll", *CLOSED, "workload.call.bytes=1400", "workload.outstanding=64"),
    "full transmit rings": ("e810-irq", *CLOSED, "workload.outstanding=128", "workload.timeout=1 ms",
                            "workload.retries=5", "nic.eth0.tx_ring=64", "nic.eth0.pcie.tags=4"),
    "overload": ("e810-poll", *OVERLOAD),
    # Each call is sent again before its answer comes, so that most answers are to an earlier attempt than the latest.
    "impatient clients": ("e810-poll", *CLOSED, "workload.outstanding=16", "workload.timeout=2 us",
                          "workload.retries=100"),
    "overload, called again": ("e810-irq", *OVERLOAD, "workload.retries=2"),
}


class Conservation(BoardTest):
    results = {}

    def for_each(self, check):
        for name, (board, *settings) in SCENARIOS.items():
            if name not in self.results:
                self.results[name] = json.loads(board_runs.run_program(board, *settings))
            with self.subTest(scenario=name):
                check(name, self.results[name])

    def test_requests(self):
        def check(name, result):
            requests = result["requests"]
            self.assertEqual(requests["sent"], requests["completed"] + sum(requests["dropped"].values()) +
                             requests["in_flight"] + requests["lost"])
            self.assertEqual(requests["in_flight"], 0)
            self.assertEqual(requests["lost"], 0)
            self.assertEqual(requests["errors"], 0)
            # Each attempt is a request of its own in the ledger.
            ledger = result["counted"]["ledger"]
            self.assertEqual(ledger["opened"], requests["sent"] + requests["retransmissions"])
            self.assertEqual(ledger["opened"], ledger["completed"] + ledger["dropped"] + ledger["in_flight"])
            self.assertEqual(ledger["completed"], requests["completed"])
            if name == "overload":
                self.assertGreater(sum(requests["dropped"].values()), 100)
                self.assertGreater(requests["completed"], 100)
            elif name in ("overload, called again", "impatient clients"):
                self.assertGreater(requests["retransmissions"], 100)
                self.assertGreater(ledger["dropped"], 100)
            else:
                self.assertEqual(requests["completed"], 600)

        self.for_each(check)

    def test_frames(self):
        def check(name, result):
            wire = result["counted"]["wires"]["net.wire0"]
            nic = result["counted"]["nics"]["nic.eth0"]
            for direction in wire.values():
                self.assertEqual(direction["sent"], direction["received"] + direction["lost"])
                self.assertEqual(direction["sent"], direction["frames"])
                self.assertEqual(direction["received"], direction["delivered"])
                self.assertEqual(direction["sent_bytes"], direction["received_bytes"])
            self.assertEqual(wire["a_to_b"]["received"], nic["mac_rx"] + nic["mac_rx_dropped"])
            self.assertEqual(nic["mac_rx"] + nic["mac_rx_dropped"], nic["rx_packets"] + nic["rx_dropped"])
            self.assertEqual(nic["tx_packets"], nic["mac_tx"] + nic["mac_tx_dropped"])
            self.assertEqual(nic["mac_tx"], wire["b_to_a"]["sent"])
            # The firmware answers every frame that reaches it, calls and one ARP request, as long as its ring has room.
            full = result["firmware"][0]["counters"]["tx_full"]
            self.assertEqual(nic["rx_packets"], nic["tx_packets"] + full)
            self.assertEqual(full > 0, name == "full transmit rings")
            if "overload" in name:
                self.assertGreater(nic["rx_drop_fifo"], 100)

        self.for_each(check)

    def test_drops_have_one_reason_each(self):
        result = json.loads(board_runs.run_program(*SCENARIOS["overload"]))
        self.assertEqual(set(result["requests"]["dropped"]), {"receive FIFO full"})
        self.assertEqual(result["requests"]["dropped"]["receive FIFO full"],
                         result["counted"]["nics"]["nic.eth0"]["rx_drop_fifo"])

    def test_answers_that_a_full_transmit_ring_drops_have_that_reason(self):
        result = board_runs.result("e810-irq", "--set", "workload.requests=600", "--set", "workload.warmup=0", "--set",
                                   "workload.outstanding=128", "--set", "workload.timeout=1 ms", "--set",
                                   "nic.eth0.tx_ring=64", "--set", "nic.eth0.pcie.tags=4", "--set",
                                   "run.allow_drops=true")
        full = result["firmware"][0]["counters"]["tx_full"]
        self.assertGreater(full, 0)
        self.assertEqual(result["requests"]["dropped"], {"transmit ring full": full})
        self.assertEqual((result["requests"]["lost"], result["requests"]["completed"]), (0, 600 - full))

    def test_bytes_on_links_are_those_of_their_tlps(self):
        def check(_, result):
            for direction in result["counted"]["links"]["pcie.slot0"].values():
                self.assertEqual(direction["seen_tlps"], direction["tlps"])
                self.assertEqual(direction["seen_bytes"], direction["bytes"])
                self.assertEqual(direction["seen_payload"], direction["payload_bytes"])
                self.assertEqual(direction["bytes"], direction["payload_bytes"] + direction["metadata_bytes"])
                self.assertEqual(direction["seen_busy_fs"], direction["busy_fs"])
                self.assertEqual(direction["overlaps"], 0)
                self.assertGreater(direction["payload_bytes"], 0)
            # Every reply came down, in TLPs of whole DWs.
            answered = result["counted"]["wires"]["net.wire0"]["b_to_a"]["received_bytes"]
            self.assertGreaterEqual(direction["payload_bytes"], answered)
            self.assertLessEqual(direction["payload_bytes"], answered + 6 * direction["tlps"])

        self.for_each(check)

    def test_credits_and_tlps_return(self):
        def check(name, result):
            self.assertEqual(result["counted"]["tlps_held"], 0)
            for direction in result["counted"]["links"]["pcie.slot0"].values():
                for credits in direction["credits"]:
                    self.assertEqual(credits["available"], credits["advertised"])
                    self.assertEqual(credits["queued"], 0)
                self.assertNotEqual(direction["credits"][0]["advertised"], [INFINITE, INFINITE])
            if name == "few credits":
                self.assertEqual(result["counted"]["links"]["pcie.slot0"]["up"]["credits"][0]["advertised"], [4, 64])
                self.assertGreater(result["counters"]["pcie.slot0"]["up_credit_stalls"], 100)

        self.for_each(check)

    def test_time_of_cores(self):
        def check(_, result):
            self.assertGreaterEqual(len(result["cores"]), 1)
            for core in result["cores"]:
                self.assertAlmostEqual(sum(core["time"].values()), 1, places=9)
                # To the cycle, but for the instructions under way at the two ends: one may wait for memory or a device.
                self.assertAlmostEqual(core["cycles"] / 3.1, result["measured_ns"], delta=400)
                self.assertAlmostEqual(core["cycles"] / 3.1, core["measured_ns"], delta=400)
                self.assertLess(core["stall_cycles"], core["cycles"])

        self.for_each(check)

    def test_stages_sum_to_the_latency(self):
        def check(_, result):
            total = sum(stage["mean_ns"] for stage in result["stages"])
            self.assertAlmostEqual(total, result["latency_ns"]["mean"], delta=0.0001 * len(result["stages"]))
            self.assertAlmostEqual(sum(stage["share"] for stage in result["stages"]), 1, places=9)

        self.for_each(check)

    def test_in_flight_at_a_limit(self):
        text = board_runs.run("e810-poll", "--requests", "100000", "--warmup", "50", "--until", "400 us",
                              "--set", "workload.outstanding=16", "--set", "workload.think=0 ns", *FUNCTIONAL)
        requests = json.loads(text)["requests"]
        self.assertEqual(requests["in_flight"], 16)
        self.assertEqual(requests["sent"], requests["completed"] + 16)
        self.assertGreater(requests["completed"], 100)

    def test_lost_without_a_reason(self):
        """A server that never answers in time: calls are given up, and no component reports a drop."""
        text = board_runs.run("e810-poll", "--requests", "40", "--set", "workload.timeout=1 us", status=1)
        result = json.loads(text)
        self.assertEqual(result["requests"]["lost"], 40)
        self.assertEqual(result["requests"]["completed"], 0)
        self.assertIn("lost", result["failure"])

    def test_littles_law(self):
        """Calls under way = throughput x mean latency, but for the first and the last round."""
        for board in ("e810-poll", "e810-irq"):
            for outstanding in (1, 4, 16, 64):
                with self.subTest(board=board, outstanding=outstanding):
                    rounds = 60
                    result = board_runs.result(board, "--requests", str(rounds * outstanding), *FUNCTIONAL, "--set",
                                               f"workload.outstanding={outstanding}", "--set", "workload.think=0 ns",
                                               "--warmup", "100")
                    product = result["throughput_per_s"] * result["latency_ns"]["mean"] * 1e-9
                    self.assertLessEqual(product, outstanding * 1.0001)
                    worst = result["latency_ns"]["max"] / result["latency_ns"]["mean"]
                    self.assertGreater(product, outstanding * (1 - 2 * worst / rounds))


if __name__ == "__main__":
    unittest.main()
