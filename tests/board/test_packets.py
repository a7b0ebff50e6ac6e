# SPDX-License-Identifier: Apache-2.0
"""Frames that the board e810-echo sends back: none appears, none vanishes, and each one's time is accounted for.

test_packets.py SLUICE"""

import unittest

from board_runs import BoardTest, result, run

BOARD = "e810-echo"
# Below what one core takes, and above.
BELOW = ("--set", "workload.load=constant", "--set", "workload.rate=10 Gb/s")
# The clocks of the ends are the same, so the line rate is what arithmetic says.
IDEAL = ("--set", "run.spread=none")
ABOVE = IDEAL
SMALL = ("--requests", "8000", "--warmup", "0", "--set", "nic.eth0.rx_fifo=64 KiB")


def harts(n):
    return ("--set", f"cluster.host.harts={n}", "--set", f"nic.eth0.queues={n}")


def format_of(name):
    return ("--set", f"workload.format={name}")


class Packets(BoardTest):
    def check(self, contents, n=8000):
        """What holds for every run without a warm-up."""
        requests, packets = contents["requests"], contents["packets"]
        self.assertEqual(requests["sent"], n)
        self.assertEqual(requests["sent"], requests["completed"] + sum(requests["dropped"].values()))
        for key in ("in_flight", "lost", "errors", "late_duplicates"):
            self.assertEqual(requests[key], 0, key)
        for key in ("sent", "dropped", "lost"):
            total = sum(t[key] for t in packets["trials"])
            expected = requests[key] if key != "dropped" else sum(requests["dropped"].values())
            self.assertEqual(total, expected)
        # The NIC and the firmware have seen the same frames.
        full = requests["dropped"].get("transmit ring full", 0)
        counters = contents["counters"]
        self.assertEqual(counters["nic.eth0.mac"]["rx_frames"], n)
        self.assertEqual(counters["nic.eth0"]["rx_packets"], requests["completed"] + full)
        self.assertEqual(counters["nic.eth0"]["rx_drop_fifo"], requests["dropped"].get("receive FIFO full", 0))
        self.assertEqual(counters["nic.eth0.mac"]["tx_frames"], requests["completed"])
        (image,) = contents["firmware"]
        self.assertEqual(image["counters"]["echoed"], requests["completed"] + full)
        self.assertEqual(image["counters"]["tx_full"], full)
        self.assertEqual(image["counters"]["arp"], 1)
        # Stages tile the latency, and each has a name.
        stages = {}
        for s in contents["stages"]:
            stages[s["name"]] = stages.get(s["name"], 0) + s["mean_ns"]
        self.assertNotIn("unattributed", stages)
        self.assertAlmostEqual(sum(stages.values()), contents["latency_ns"]["mean"], places=4)
        for name in ("wire", "NIC queue", "upstream link", "poll", "handler", "doorbell", "transmit"):
            self.assertGreater(stages[name], 0, name)
        self.assertEqual(contents["ledger"]["completed"], requests["completed"])

    def test_below_what_a_core_takes_every_packet_comes_back(self):
        for name in ("l2", "udp"):
            with self.subTest(format=name):
                contents = result(BOARD, *SMALL, *BELOW, *format_of(name))
                self.check(contents)
                self.assertEqual(contents["requests"]["dropped"], {})
                (trial,) = contents["packets"]["trials"]
                self.assertAlmostEqual(trial["offered_gbps"], 10, places=5)
                # The last frames wait up to 4 us, of 538, for the write-back of a block that is not full.
                self.assertAlmostEqual(trial["returned_gbps"], 10, delta=0.08)

    def test_frames_that_keep_their_addresses_take_less_work(self):
        for name in ("l2", "udp"):
            with self.subTest(format=name):
                work = {}
                for addresses in ("swapped", "kept"):
                    # Work is instructions here: with a window, a frame's work hangs on where its code lies.
                    contents = result(BOARD, *SMALL, *BELOW, *format_of(name), "--set", f"workload.addresses={addresses}",
                                      "--set", "caches.timing=functional")
                    self.check(contents)
                    self.assertEqual(contents["requests"]["dropped"], {})
                    work[addresses] = next(s["mean_ns"] for s in contents["stages"] if s["name"] == "handler")
                self.assertLess(work["kept"], work["swapped"])

    def test_above_it_the_nic_drops_and_says_so(self):
        for name in ("l2", "udp"):
            with self.subTest(format=name):
                contents = result(BOARD, *SMALL, *ABOVE, *format_of(name))
                self.check(contents)
                self.assertEqual(list(contents["requests"]["dropped"]), ["receive FIFO full"])
                (trial,) = contents["packets"]["trials"]
                self.assertEqual(trial["offered_per_s"], 148_809_524)
                self.assertLess(trial["returned_gbps"], 70)

    def test_udp_flows_spread_over_harts_and_more_harts_return_more(self):
        returned = {}
        # With an instruction window, one core nearly fills the link.
        for n in (1, 2, 8):
            contents = result(BOARD, *SMALL, *ABOVE, *format_of("udp"), *harts(n), "--set", "caches.timing=cached")
            self.check(contents)
            returned[n] = contents["packets"]["trials"][0]["returned_per_s"]
            for core in contents["cores"]:
                self.assertGreater(core["time"]["application"], 0.05, core["name"])
        self.assertGreater(returned[2], 1.7 * returned[1])
        self.assertGreater(returned[8], 1.25 * returned[2])

    def test_l2_frames_are_one_flow(self):
        contents = result(BOARD, *SMALL, *ABOVE, *harts(2))
        self.check(contents)
        self.assertGreater(contents["cores"][0]["time"]["application"], 0.1)
        self.assertEqual(contents["cores"][1]["time"]["application"], 0)

    def test_frames_of_all_sizes(self):
        contents = result(BOARD, "--requests", "300", "--warmup", "0", "--sizes", "64..1518:97", *BELOW,
                          *format_of("udp"))
        self.check(contents, 300 * 15)
        self.assertEqual([t["frame_bytes"] for t in contents["packets"]["trials"]], list(range(64, 1519, 97)))

    def test_an_interrupt_instead_of_polling(self):
        contents = result(BOARD, "--requests", "400", "--warmup", "0", *IDEAL, "--set", "nic.eth0.driver=interrupt", "--set",
                          "workload.load=poisson", "--set", "workload.rate=100 Mb/s")
        self.check(contents, 400)
        self.assertIn("interrupt", [s["name"] for s in contents["stages"]])

    def test_a_full_transmit_ring_is_a_reason(self):
        # The NIC reads one frame at a time, so slowly that its short ring fills.
        contents = result(BOARD, *SMALL, "--set", "nic.eth0.tx_ring=64", "--set", "nic.eth0.pcie.tags=2",
                          "--set", "nic.eth0.tx_frames=1")
        self.check(contents)
        self.assertIn("transmit ring full", contents["requests"]["dropped"])

    def test_a_search_ends_between_rates_without_and_with_loss(self):
        contents = result(BOARD, *SMALL, "--set", "workload.load=zero-loss", "--set", "workload.resolution=5 Gb/s")
        self.assertEqual(contents["requests"]["lost"], 0)
        (found,) = contents["packets"]["zero_loss"]
        trials = contents["packets"]["trials"]
        lossless = max(t["rate_gbps"] for t in trials if t["sent"] == t["returned"])
        lossy = min(t["rate_gbps"] for t in trials if t["sent"] != t["returned"])
        self.assertEqual(found["gbps"], lossless)
        self.assertLessEqual(lossy - lossless, 5)
        self.assertGreater(lossy, lossless)
        self.assertEqual(found["per_s"], round(lossless * 1e9 / 672))

    def test_the_seed_alone_decides(self):
        poisson = (BOARD, *SMALL, "--set", "workload.load=poisson", "--set", "workload.rate=15 Gb/s",
                   *format_of("udp"), *harts(2))
        first = run(*poisson)
        self.assert_same(first, run(*poisson))
        self.assertNotEqual(result(*poisson, "--seed", "2")["latency_ns"], result(*poisson)["latency_ns"])


if __name__ == "__main__":
    unittest.main()
