# SPDX-License-Identifier: Apache-2.0
"""Batch threads beside the services of Lauberhorn's kernel: what they get of the cores, and what it costs calls.
test_lauberhorn_batch.py SLUICE"""

import unittest

from board_runs import BoardTest, options, result
from test_loopback import ROUND_TRIP

BOARD = "enzian-lauberhorn"
EXACT = options("run.spread=none")
IDLE = ("--workload", "idle", *options("workload.length=10ms"))
FEW = ("--requests", "100", "--warmup", "20")
OPEN = options("workload.kind=open-loop", "workload.arrivals=poisson")


def batch(threads, *more):
    return options(f"cluster.host.batch_threads={threads}", *more)


def share(core, account):
    return core["time"].get(account, 0)


def units(r):
    """Of work that the batch threads have done, since boot."""
    return r["firmware"][0]["counters"]["batch_units"]


class Batch(BoardTest):
    def test_without_calls_batch_threads_have_all_cores(self):
        r = result(BOARD, *IDLE, *EXACT, *batch(4))
        for core in r["cores"]:
            self.assertEqual(share(core, "batch"), 1)
            self.assertEqual((core["busy_cycles"], core["busy_instructions"]), (0, 0))
        nic = r["counters"]["nic.eth0"]
        self.assertEqual((nic["tryagain"], nic["given_back"], nic["interrupts"]), (0, 0, 0), "nothing of the NIC happens")

    def test_a_core_without_batch_threads_waits_for_calls_as_ever(self):
        r = result(BOARD, *IDLE, *EXACT, *batch(2))
        self.assertEqual([round(share(core, "batch"), 6) for core in r["cores"]], [1, 1, 0, 0])
        self.assertTrue(all(share(core, "parked") > 0.999 for core in r["cores"][2:]))

    def test_threads_of_a_core_take_turns(self):
        """Each has the same share, to a turn of 1 ms, and changes cost little."""
        one, two = (units(result(BOARD, *IDLE, *EXACT, *batch(n, "workload.length=40ms", "cluster.host.harts=1"))) for n in (1, 2))
        self.assertAlmostEqual(two / one, 1, delta=0.005)

    def test_batch_threads_get_every_cycle_that_calls_do_not_need(self):
        """At three loads, where a core that has nothing to do never waits: what is neither batch work nor work for calls is
        the wait for lines, and each of them takes an exchange with the NIC."""
        for rate, requests in ((30_000, 300), (300_000, 1000), (600_000, 2000)):
            with self.subTest(rate=rate):
                r = result(BOARD, "--requests", str(requests), "--warmup", str(requests), *EXACT, *OPEN,
                           *batch(4, f"workload.rate={rate}", "nic.eth0.queue=64", "nic.eth0.give_back=0us"))
                self.assertEqual((r["requests"]["completed"], r["requests"]["errors"]), (requests, 0))
                self.assertEqual([core["time"].get("idle", 0) for core in r["cores"]], [0] * 4)
                nic = r["counters"]["nic.eth0"]
                exchanges = nic["calls"] + nic["yields"] + nic["retires"]
                parked = sum(share(core, "parked") for core in r["cores"]) * r["measured_ns"]
                self.assertLess(parked / exchanges, 2 * ROUND_TRIP + 50)
                self.assertEqual(nic["tryagain"], 0)

    def test_a_call_takes_a_core_from_batch_work_at_once(self):
        """The NIC interrupts it; the call waits for that and for two switches, and not for a turn of batch work to end."""
        r = result(BOARD, "--requests", "100", "--warmup", "20", *EXACT, *batch(8, "workload.think=100us", "workload.think_times=constant"))
        self.assertEqual(r["counters"]["nic.eth0"]["interrupts"], 100)
        self.assertEqual(r["counters"]["nic.eth0"]["given_back"], 99, "between two calls")
        waits = sum(s["mean_ns"] for s in r["stages"] if s["name"] == "wait for a core")
        self.assertGreater(waits, 500)
        self.assertLess(r["latency_ns"]["max"], 10_000)

    def test_a_core_is_given_back_after_the_time_that_is_set(self):
        """A longer wait makes a second call soon after the first one cheaper, and takes time from batch work."""
        means, shares = [], []
        for wait in ("0us", "50us"):
            r = result(BOARD, *FEW, *EXACT, *batch(4, f"nic.eth0.give_back={wait}", "workload.think=20us"))
            means.append(r["latency_ns"]["mean"])
            shares.append(sum(share(core, "batch") for core in r["cores"]))
        self.assertGreater(means[0], means[1] + 500)
        self.assertGreater(shares[0], shares[1] + 0.5)

    def test_what_does_not_read_the_setting_is_named(self):
        self.assertEqual(self.mistake("e810-poll", "cluster.host.batch_threads=4"),
                         "sluice: --set cluster.host.batch_threads=4: has no effect on e810-poll: the firmware rpc-server does not "
                         "read /chosen's sluice,batch-threads")


if __name__ == "__main__":
    unittest.main()
