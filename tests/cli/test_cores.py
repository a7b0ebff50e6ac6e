# SPDX-License-Identifier: Apache-2.0
"""Hosts with out-of-order cores, and what a user has wrong with a core. test_cores.py SLUICE BUILD."""

import json
import os
import tomllib
import unittest

from assembler import PASS, assemble
from command import SOURCE, CommandTest, sluice

HOSTS = os.path.join(SOURCE, "platform", "boards", "hosts")
CALLS = """extends = ["hosts/{}", "nics/e810"]
[cluster.host]
firmware = "rpc-server"
[nic.eth0]
queues = 1
driver = "poll"
[workload]
kind = "closed-loop"
outstanding = 4
call = {{ program = "echo", bytes = 64 }}
requests = 300
warmup = 20
"""


class Cores(CommandTest):
    @staticmethod
    def is_out_of_order(file):
        with open(os.path.join(HOSTS, file), "rb") as host:
            return tomllib.load(host)["caches"].get("timing", "interval") == "interval"

    def run_host(self, host, *settings, ends=0):
        self.write("my.toml", CALLS.format(host))
        done = sluice("run", "my.toml", "--json", *(f"--set={s}" for s in settings), cwd=self.directory)
        self.assertEqual(done.returncode, ends, done.stderr)
        return json.loads(done.stdout)

    def test_each_host_serves_calls_on_its_core(self):
        names = sorted(os.path.splitext(f)[0] for f in os.listdir(HOSTS) if self.is_out_of_order(f))
        self.assertGreaterEqual(len(names), 5)
        means = {}
        for name in names:
            with self.subTest(name):
                result = self.run_host(name)
                self.assertEqual(result["requests"]["completed"], 300)
                core = result["counters"]["cluster.host.hart0"]
                lost = sum(n for key, n in core.items() if key.startswith("lost_"))
                # What is neither an instruction nor lost is the cost of instructions that are not for the window.
                self.assertLessEqual(core["instructions"] + lost, core["slots"])
                self.assertGreater(core["instructions"] + lost, 0.9 * core["slots"])
                self.assertGreaterEqual(core["stall_slots"], lost)
                means[name] = result["latency_ns"]["mean"]
        self.assertEqual(len(set(means.values())), len(means), means)

    def test_a_smaller_window_is_slower(self):
        times = [self.run_host("i9-9960x", f"cluster.host.core.reorder_buffer={n}")["latency_ns"]["mean"]
                 for n in (224, 32, 8)]
        self.assertEqual(times, sorted(times))
        self.assertLess(times[0], times[-1])

    def test_costs_have_an_effect_where_they_are_not_refused(self):
        times = [self.run_host("i9-9960x", *settings)["simulated_ns"]
                 for settings in ((), ("cluster.host.costs.csr=1000",),
                                  *(("caches.timing=cached", f"cluster.host.costs.alu={n}") for n in (1, 2)))]
        self.assertEqual(len(set(times)), len(times), times)

    def cycles_of_posted_stores(self, count, *settings):
        self.write("stores.elf", assemble(f"li t0, 0x40000000\n.rept {count}\nsw zero, 0(t0)\n.endr\n" + PASS))
        result = self.run_host("i9-9960x", "cluster.host.firmware=stores.elf", "workload.requests=1", "workload.warmup=0",
                               *settings, ends=1)
        return result["counters"]["cluster.host.hart0"]["slots"] // 4

    def test_a_posted_store_is_accepted_before_the_next_is_written(self):
        # 50 ns are 155 cycles, the 10 ns of the bus among them, and the next store is written in the cycle after them.
        for settings, cycles in (((), 156), (("cluster.host.core.posted_store=15 ns",), 79),
                                 (("cluster.host.core.posted_store=90 ns",), 311),
                                 (("cluster.host.core.posted_store=90 ns", "bus.latency=20 ns"), 342)):
            with self.subTest(settings=settings):
                more, fewer = (self.cycles_of_posted_stores(n, *settings) for n in (300, 200))
                self.assertEqual(more - fewer, 100 * cycles)

    def test_mistakes(self):
        self.write("my.toml", CALLS.format("i9-9960x"))
        for settings, sentence in (
                (["core.reorder_buffer=3"], "--set cluster.host.core.reorder_buffer=3: must be at least issue_width, "
                 "which is 4"),
                (["issue_width=8", "core.fetch_width=8", "core.reorder_buffer=7"],
                 "--set cluster.host.core.reorder_buffer=7: must be at least issue_width, which is 8"),
                (["issue_width=8"], "--set cluster.host.issue_width=8: must be at most core.fetch_width, which is 6"),
                (["idle.exit_latency=1 us"], "--set cluster.host.idle.exit_latency=1 us: cluster.host.idle.enter_after must "
                 "have as many elements as idle.exit_latency, which has 1"),
                (["core.fetch_width=3"], "--set cluster.host.core.fetch_width=3: must be at least issue_width, which "
                 "is 4"),
                (["core.fetch_queue=1"], "--set cluster.host.core.fetch_queue=1: must be at least issue_width, which "
                 "is 4"),
                (["core.scheduler=0"], "--set cluster.host.core.scheduler=0: must be 1 to 1024"),
                (["core.load_queue=0"], "--set cluster.host.core.load_queue=0: must be 1 to 1024"),
                (["core.load.ports=[]"], "--set cluster.host.core.load.ports=[]: must have 1 to 16 elements"),
                (["core.load.ports=16"], "--set cluster.host.core.load.ports=16: must be 0 to 15"),
                (["costs.mul=9"], "--set cluster.host.costs.mul=9: has no effect on my: with caches.timing = "
                 "\"interval\", cluster.host.core.* says how long such instructions take"),
                (["core.rob=5"], "--set cluster.host.core.rob=5: cluster.host.core.rob is not a parameter of the "
                 "RISC-V cluster...")):
            with self.subTest(settings):
                self.assert_mistake(["run", "my.toml", *(f"--set=cluster.host.{s}" for s in settings)], sentence)
        for timing, setting in (("cached", "core.reorder_buffer=16"), ("functional", "core.reorder_buffer=16"),
                                ("functional", "core.prefetch_hints=false"), ("cached", "core.load.ports=2")):
            with self.subTest((timing, setting)):
                self.assert_mistake(["run", "my.toml", f"--set=caches.timing={timing}", f"--set=cluster.host.{setting}"],
                                    f"--set cluster.host.{setting}: has no effect on my: only caches.timing = "
                                    "\"interval\" describes the core by cluster.host.core.*")
        # Without a window a core has no parts that a group of instructions must fit into.
        self.run_host("i9-9960x", "caches.timing=cached", "cluster.host.issue_width=8")
        self.write("other.toml", CALLS.format("i9-9961x"))
        self.assert_mistake(["run", "other.toml"], "other.toml:1: extends hosts/i9-9961x, which is no file beside it and no shipped "
                            "part; did you mean hosts/i9-9960x?")


if __name__ == "__main__":
    unittest.main()
