# SPDX-License-Identifier: Apache-2.0
"""A run names the resource that limits it, and measures no more than from its first call to its last answer."""

import os
import unittest

from board_runs import BoardTest, result

# More than any board takes: 14 times what the line does.
OVERLOAD = ("--requests", "20000", "--set", "workload.kind=open-loop", "--set", "workload.rate=1000000000", "--set",
            "run.allow_drops=true")
LIMITS = {
    "net.wire0.a_to_b": ("net.wire0.rate=1 Gb/s",),
    "pcie.slot0 upstream": ("pcie.slot0.lanes=2", "pcie.slot0.generation=1"),
    "pcie.slot0 upstream credits": ("pcie.slot0.posted_headers=1",),
    "nic.eth0 receive pipeline": ("nic.eth0.rx_interval=200 ns",),
    "nic.eth0 transmit pipeline": ("nic.eth0.tx_interval=200 ns",),
    "cluster.host.hart0": (),
    "caches DRAM channels": ("caches.ddio_ways=0", "caches.dram_rate=1 Gb/s", "workload.timeout=100 ms"),
}


def options(settings):
    return [word for s in settings for word in ("--set", s)]


class Limits(BoardTest):
    def test_the_resource_that_is_busy_all_the_time_is_named(self):
        for name, settings in LIMITS.items():
            with self.subTest(resource=name):
                contents = result("e810-poll", *OVERLOAD, *options(settings))
                first = contents["resources"][0]
                if name == "caches DRAM channels":
                    # The core waits for them, and so is busy, too.
                    first = next(r for r in contents["resources"] if r["name"] == name)
                else:
                    self.assertEqual(first["name"], name)
                self.assertGreater(first["busy"], 0.92)
                # From soon after the first call.
                begun = contents["simulated_ns"] - contents["measured_ns"]
                self.assertLess(first["since_ns"], begun + contents["measured_ns"] * 0.3)
                self.assertLess(contents["load"]["achieved_per_s"], contents["load"]["offered_per_s"] / 2)

    def test_the_link_to_the_nic_is_named(self):
        """Gets are short calls with long replies, which the NIC reads."""
        contents = result("e810-poll", "--requests", "5000", *options(
            ("workload.outstanding=64", "workload.call.program=kv", "workload.call.bytes=512", "workload.call.keys=16",
             "workload.call.reads_percent=100", "pcie.slot0.lanes=1", "pcie.slot0.generation=1")))
        first = contents["resources"][0]
        self.assertEqual(first["name"], "pcie.slot0 downstream")
        self.assertGreater(first["busy"], 0.98)
        self.assertLess(next(r for r in contents["resources"] if r["name"] == "pcie.slot0 upstream")["busy"], 0.8)

    def test_without_load_nothing_is(self):
        contents = result("e810-poll", "--requests", "500", *options(("workload.outstanding=1",)))
        self.assertLess(contents["resources"][0]["busy"], 0.2)
        self.assertNotIn("since_ns", contents["resources"][0])

    def test_waiting_for_replies_that_never_come_is_not_measured(self):
        """The carrier goes away under the last calls: nobody says what became of some, and their timeouts take 10 ms."""
        load = ("workload.kind=open-loop", "workload.rate=1000000", "workload.arrivals=constant")
        whole = result("e810-poll", "--requests", "200", "--warmup", "0", *options(load))
        down = whole["simulated_ns"] - whole["measured_ns"] + 100_000
        contents = result("e810-poll", "--requests", "200", "--warmup", "0", status=None, *options(
            (*load, f"net.wire0.down_at={down:.0f} ns", "run.allow_drops=true")))
        self.assertGreater(contents["requests"]["completed"], 20)
        self.assertLess(contents["measured_ns"], 250_000)
        self.assertEqual(contents["requests"]["sent"], 200)

    def test_a_sweep_is_measured_to_its_end_and_by_phases(self):
        contents = result("e810-poll", "--requests", "200", "--warmup", "20", *options(
            ("workload.kind=load-sweep", "workload.rates=[1000000, 100000]")))
        phases = contents["phases"]
        self.assertEqual([len(p["links"]) for p in phases], [2, 2])
        self.assertGreater(contents["measured_ns"], sum(p["measured_ns"] for p in phases) * 0.99)
        up = [p["links"][0]["bytes"] for p in phases]
        self.assertAlmostEqual(sum(up), contents["links"][0]["bytes"], delta=0.05 * sum(up))
        self.assertAlmostEqual(phases[1]["measured_ns"] / 2_000_000, 1, delta=0.2)

    def test_a_sweep_that_ends_between_two_phases_has_those_that_have_begun(self):
        arguments = ("e810-poll", "--requests", "200", "--warmup", "20", "--until", "12 ms", *options(
            ("workload.kind=load-sweep", "workload.rates=[100000, 10]")))
        contents = result(*arguments, status=None)
        self.assertEqual([p["rate_per_s"] for p in contents["phases"]], [100_000])

    def test_a_link_that_goes_down_while_it_has_no_credits_keeps_its_counters(self):
        path = os.path.join(self.directory(), "down.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write('extends = ["e810-poll"]\n[fault.down]\nkind = "link-down"\ntarget = "pcie.slot0"\nat = "266.7 us"\n'
                       'duration = "10 us"\n')
        contents = result(path, "--requests", "400", "--warmup", "100", status=None, *options(
            ("workload.kind=open-loop", "workload.rate=3000000", "run.allow_drops=true", "pcie.slot0.posted_headers=2",
             "pcie.slot0.credit_update=5 us", "workload.timeout=500us")))
        self.assertNotIn("fell from", contents["failure"])
        self.assertIsNotNone(contents["counters"]["pcie.slot0"]["up_starved"])


if __name__ == "__main__":
    unittest.main()
