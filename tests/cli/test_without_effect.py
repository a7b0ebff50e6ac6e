# SPDX-License-Identifier: Apache-2.0
"""What is set and has no effect is said to have none; and what is not said to have none, has one."""

import json
import unittest

from command import CommandTest, sluice

QUICK = ("--requests=400", "--warmup=50")
# Board, what else is set, the setting, the reason.
SAID = (
    ("e810-poll", (), "workload.rate=5000", "workload.kind is closed-loop"),
    ("e810-poll", (), "workload.rates=[5000]", "workload.kind is closed-loop"),
    ("e810-poll", (), "workload.resolution=5000", "workload.kind is closed-loop"),
    ("e810-poll", (), "workload.arrivals=constant", "workload.kind is closed-loop"),
    ("e810-poll", ("workload.kind=open-loop",), "workload.outstanding=3", "workload.kind is open-loop"),
    ("e810-poll", ("workload.kind=open-loop",), "workload.think=3 us", "workload.kind is open-loop"),
    ("e810-poll", ("workload.think=0 ns",), "workload.think_times=constant", "workload.think is 0 ns"),
    ("e810-poll", (), "workload.call.keys=3", "workload.call.program is echo"),
    ("e810-poll", ("workload.call.program=null",), "workload.call.bytes=3", "workload.call.program is null"),
    ("e810-poll", (), "nic.eth0.moderation=10 us", "nic.eth0.driver is poll"),
    ("e810-poll", (), "nic.eth0.queues=4", "workload.flows is 1, and a flow has one queue"),
    ("e810-poll", (), "memory.dram.latency=500 ns",
     "only a TLM initiator of a plug-in reads RAM by its socket; harts and DMA go through the caches"),
    ("e810-poll", (), "caches.ddio_ways=30", "caches.llc_ways is 11, and more count as that"),
    ("e810-poll", ("caches.timing=functional",), "caches.dram_latency=5 us", "caches.timing is functional"),
    ("e810-poll", ("caches.refresh_interval=0 ns",), "caches.refresh_time=500 ns", "caches.refresh_interval is 0 ns"),
    ("e810-poll", ("run.spread=none",), "caches.refresh_time=500 ns", "run.spread is none"),
    ("e810-poll", ("run.spread=none",), "pcie.slot0.clock_tolerance=0", "run.spread is none"),
    ("e810-poll", (), "iommu.entries=64", "iommu.enabled is false"),
    ("e810-poll", (), "plic.delivery=1 us", "cluster.host.interrupts is aia"),
    ("e810-irq", ("cluster.host.interrupts=plic",), "imsic.delivery=1 us", "cluster.host.interrupts is plic"),
    ("e810-poll", ("workload.flows=9",), "nic.eth0.queues=4", "the host has 1 hart, and a hart has one queue; more have none"),
    ("e810-echo", (), "workload.flows=3", "workload.format is l2"),
    ("e810-echo", (), "workload.resolution=1 Gb/s", "workload.load is not zero-loss"),
)
# The same settings where they act.
ACT = (
    ("e810-poll", ("workload.kind=open-loop",), "workload.rate=5000"),
    ("e810-poll", ("workload.kind=open-loop",), "workload.arrivals=constant"),
    ("e810-poll", (), "workload.outstanding=3"),
    ("e810-poll", (), "workload.think=3 us"),
    ("e810-poll", (), "workload.think_times=constant"),
    ("e810-poll", ("workload.call.program=kv",), "workload.call.keys=3"),
    ("e810-poll", (), "workload.call.bytes=3"),
    ("e810-irq", (), "nic.eth0.moderation=10 us"),
    ("e810-poll", ("workload.flows=64", "cluster.host.harts=2"), "nic.eth0.queues=2"),
    ("e810-poll", (), "caches.dram_latency=5 us"),
    ("e810-poll", ("caches.ddio_ways=0",), "caches.refresh_time=5 us"),
    ("e810-poll", (), "pcie.slot0.clock_tolerance=0"),
    ("e810-irq", ("cluster.host.interrupts=plic",), "plic.delivery=1 us"),
    ("e810-irq", (), "imsic.delivery=1 us"),
    ("e810-echo", ("workload.format=udp", "workload.load=constant", "workload.rate=5 Gb/s", "cluster.host.harts=2",
                   "nic.eth0.queues=2"), "workload.flows=3"),
)


def without(text, *keys):
    result = json.loads(text)
    for key in ("host", "board", "without_effect", *keys):
        result.pop(key, None)
    return result


class WithoutEffect(CommandTest):
    def run_board(self, board, settings):
        done = sluice("run", board, *QUICK, "--json", *(f"--set={s}" for s in settings))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_it_is_said_and_true(self):
        for board, others, setting, why in SAID:
            with self.subTest(board=board, others=others, setting=setting):
                done = self.run_board(board, (*others, setting))
                path = setting.split("=")[0]
                self.assertIn(f"sluice: {board}: {path} (--set) has no effect: {why}\n", done.stderr)
                self.assertIn({"path": path, "set_by": "--set", "why": why}, json.loads(done.stdout)["without_effect"])
                same = self.run_board(board, others)
                self.assertEqual(without(done.stdout), without(same.stdout))

    def test_what_acts_is_not_said_to_have_no_effect(self):
        for board, others, setting in ACT:
            with self.subTest(board=board, others=others, setting=setting):
                done = self.run_board(board, (*others, setting))
                path = setting.split("=")[0]
                self.assertNotIn(path, [w["path"] for w in json.loads(done.stdout)["without_effect"]])
                other = self.run_board(board, others)
                self.assertNotEqual(without(done.stdout), without(other.stdout))

    def test_shipped_boards_set_nothing_without_effect(self):
        for board in ("e810-poll", "e810-irq", "e810-echo"):
            self.assertEqual(self.run_board(board, ()).stderr, "")

    def test_the_boards_own_file_is_looked_at_unless_the_command_line_changes_the_board(self):
        self.write("my.toml", "extends = ['e810-poll']\n[workload]\nrate = 5\n")
        done = sluice("run", "my.toml", *QUICK, cwd=self.directory)
        self.assertIn("sluice: my: workload.rate (my.toml:3) has no effect: workload.kind is closed-loop\n", done.stderr)
        self.write("inherits.toml", "extends = ['my']\n")
        self.assertNotIn("no effect", sluice("run", "inherits.toml", *QUICK, cwd=self.directory).stderr)

    def test_compare_says_it_once(self):
        done = sluice("compare", "e810-poll", "e810-irq", *QUICK, "--replications=2", "--set=workload.rate=5")
        self.assertEqual(done.stderr.count("workload.rate (--set) has no effect"), 2)  # once for each board


if __name__ == "__main__":
    unittest.main()
