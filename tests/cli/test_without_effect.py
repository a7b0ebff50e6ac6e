# SPDX-License-Identifier: Apache-2.0
"""What is set and has no effect is said to have none; and what is not said to have none, has one."""

import json
import re
import unittest

from command import CommandTest, sluice

QUICK = ("--requests=400", "--warmup=50")
SPIN, BIMODAL = ("workload.call.program=spin",), ("workload.call.service_times=bimodal",)
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
    ("e810-poll", ("workload.flows=9",), "nic.eth0.queues=4", "the host has 1 hart, and a hart has one queue"),
    ("e810-echo", (), "workload.flows=3", "workload.format is l2"),
    ("e810-echo", (), "workload.resolution=1 Gb/s", "workload.load is not zero-loss"),
    ("e810-poll", (), "workload.first_port=45000", "no NIC has a second queue for other flows"),
    ("e810-poll", (), "map.plic=0x1800_0000", "cluster.host.interrupts is aia"),
    ("e810-poll", (), "map.iommu=0x0600_0000", "iommu.enabled is false"),
    ("e810-poll", (), "workload.mtu=9000", "workload.call makes no packet above 136 bytes, and only such would be refused"),
    ("e810-poll", (), "workload.call.service=2 us", "workload.call.program is echo"),
    ("e810-poll", SPIN, "workload.call.service_long=20 us", "workload.call.service_times is not bimodal"),
    ("e810-poll", (*SPIN, *BIMODAL, "workload.call.service_long_share=0"), "workload.call.service_long=20 us",
     "workload.call.service_long_share is 0"),
    ("e810-poll", (*SPIN, *BIMODAL, "workload.call.service_long_share=1"), "workload.call.service=2 us",
     "workload.call.service_long_share is 1"),
    ("e810-poll", (*SPIN, "workload.call.service=0 ns"), "workload.call.service_times=constant",
     "workload.call.service is 0 ns"),
    ("e810-poll", (), "workload.popularity=zipf", "workload.services is 1"),
    ("e810-poll", (), "workload.hot_period=2 ms", "workload.services is 1"),
    ("e810-poll", (), "cluster.host.quantum=20 ns", "cluster.host.harts is 1, and it has nobody to run ahead of"),
    # What did not happen in the run.
    ("e810-poll", ("iommu.enabled=true",), "iommu.entries=8", "no request was translated"),
    ("e810-poll", ("iommu.enabled=true",), "iommu.lookup=1 us", "no request was translated"),
    ("e810-poll", ("iommu.enabled=true",), "iommu.walkers=2", "no request began a page walk"),
    ("e810-poll", (), "cluster.host.core.fp_div64.latency=200", "no hart has executed such an instruction"),
    ("e810-poll", (), "cluster.host.costs.interrupt=9", "no hart has taken an interrupt"),
    ("e810-poll", (), "cluster.host.core.load_queue=200", "dispatch never waited for it"),
    ("e810-poll", (), "caches.llc_size=44 MiB", "the LLC was never full where a line was to come"),
    ("e810-poll", (), "caches.snoop_latency=50 ns", "no hart waited for a line of another"),
    ("e810-poll", (), "nic.eth0.tx_frames=64", "no more frames were under way at a time"),
    ("e810-poll", (), "nic.eth0.pcie.tags=128", "no DMA read waited for a tag"),
    ("e810-poll", (), "pcie.slot0.posted_headers=64", "no TLP waited for credits"),
    ("e810-poll", (), "root.peer_to_peer=false", "no device made a request to another's memory"),
    ("e810-poll", (), "workload.timeout=1 s", "no call waited so long"),
    ("e810-poll", (), "run.allow_drops=true", "nothing was dropped"),
    ("e810-poll", (), "run.reboot=restart", "the firmware has asked for no reset"),
    ("e810-poll", (), "run.time_limit=100 s", "the run ended before"),
    ("e810-poll", ("workload.outstanding=1", "workload.think=0 ns"), "nic.eth0.rx_fifo=1 MiB",
     "the receive FIFO was never full"),
    ("e810-irq", (), "aplic.msi_latency=1 us", "no interrupt was sent"),
)
# The same settings where they act.
ACT = (
    ("e810-poll", ("caches.timing=cached",), "cluster.host.core.prefetch_hints=false"),
    ("e810-poll", SPIN, "workload.call.service=2 us"),
    ("e810-poll", SPIN, "workload.call.service_times=constant"),
    ("e810-poll", (*SPIN, *BIMODAL, "workload.call.service_long_share=10 %"), "workload.call.service_long=20 us"),
    ("e810-poll", (*SPIN, *BIMODAL), "workload.call.service_long_share=10 %"),
    ("e810-poll", ("cluster.host.harts=2",), "nic.eth0.queues=2"),
    ("e810-poll", ("cluster.host.harts=2",), "caches.snoop_latency=300 ns"),
    ("e810-poll", (), "caches.ddio_ways=0"),
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
    ("e810-irq", (), "cluster.host.costs.interrupt=9000"),
    ("e810-poll", (), "cluster.host.core.reorder_buffer=32"),
    ("e810-poll", (), "caches.l1d_size=8 KiB"),
    ("e810-poll", ("workload.outstanding=64",), "nic.eth0.pcie.tags=1"),
    ("e810-poll", ("workload.outstanding=64",), "nic.eth0.tx_frames=1"),
    ("e810-poll", (), "nic.eth0.writeback_batch=1"),
    ("e810-poll", (), "pcie.slot0.posted_headers=1"),
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
                self.assertRegex(done.stderr, re.escape(f"sluice: {board}: {path} (--set) ") +
                                 "(has no effect|did not act): " + re.escape(why) + "\n")
                listed = json.loads(done.stdout)["without_effect"]
                self.assertIn((path, "--set", why), [(w["path"], w["set_by"], w["why"]) for w in listed])
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

    def test_what_acts_in_the_warm_up_only_is_said_to(self):
        done = self.run_board("e810-poll", ("cluster.host.costs.csr=200",))
        why = "no hart has executed such an instruction"
        self.assertIn("sluice: e810-poll: cluster.host.costs.csr (--set) acted only in the warm-up: after it, " + why,
                      done.stderr)
        self.assertIn({"path": "cluster.host.costs.csr", "set_by": "--set", "why": why, "known_by": "warm-up"},
                      json.loads(done.stdout)["without_effect"])

    def test_a_limit_that_was_raised_until_it_did_not_act_is_not_said_to_have_no_effect(self):
        one = self.run_board("e810-poll", ("workload.outstanding=64", "nic.eth0.pcie.tags=1"))
        many = self.run_board("e810-poll", ("workload.outstanding=64", "nic.eth0.pcie.tags=256"))
        self.assertNotEqual(without(one.stdout), without(many.stdout))
        self.assertIn("nic.eth0.pcie.tags (--set) did not act: no DMA read waited for a tag\n", many.stderr)

    def test_what_did_not_happen_is_not_said_of_the_boards_own_file(self):
        """A board has what other runs need; the result file lists it."""
        self.write("my.toml", "extends = ['e810-poll']\n[run]\nallow_drops = true\n")
        done = sluice("run", "my.toml", *QUICK, "--json", cwd=self.directory)
        self.assertEqual(done.stderr, "")
        self.assertEqual(json.loads(done.stdout)["without_effect"], [
            {"path": "run.allow_drops", "set_by": "my.toml:3", "why": "nothing was dropped", "known_by": "run"}])

    def test_a_run_that_met_its_limit_does_not_say_that_it_ended_before(self):
        done = sluice("run", "virt", "--set=run.time_limit=100 us", "--set=cluster.host.bootargs=spin")
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("time_limit (--set)", done.stderr)

    def test_compare_says_of_boards_that_did_the_same(self):
        self.write("same.toml", "extends = ['e810-poll']\n[nic.eth0]\ntx_frames = 64\n")
        self.write("other.toml", "extends = ['e810-poll']\n[nic.eth0]\nparse = '21 ns'\n")
        arguments = ("compare", "e810-poll", "same.toml", "other.toml", *QUICK)
        done = sluice(*arguments, cwd=self.directory)
        self.assertIn("  same did the same as e810-poll to the last count: what differs has no effect on this workload.\n",
                      done.stdout)
        self.assertNotIn("other did the same", done.stdout)
        self.assertEqual(json.loads(sluice(*arguments, "--json", cwd=self.directory).stdout)["same_as_reference"], ["same"])

    def test_compare_says_it_once(self):
        done = sluice("compare", "e810-poll", "e810-irq", *QUICK, "--replications=2", "--set=workload.rate=5")
        self.assertEqual(done.stderr.count("workload.rate (--set) has no effect"), 2)  # once for each board


if __name__ == "__main__":
    unittest.main()
