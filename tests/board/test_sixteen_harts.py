# SPDX-License-Identifier: Apache-2.0
"""Sixteen harts with a queue each, and uniform flows: each has its share of the calls, and no worse a tail."""

import unittest

from board_runs import BoardTest, result

HARTS = 16
MOST = 0.05  # of the others
SIXTEEN = tuple(word for setting in (f"cluster.host.harts={HARTS}", f"nic.eth0.queues={HARTS}", "workload.flows=256")
                for word in ("--set", setting))
LOADS = {
    "closed loop": ("workload.outstanding=64",),
    "open loop": ("workload.kind=open-loop", "workload.rate=10000000"),
}


class SixteenHarts(BoardTest):
    def test_no_hart_has_more_calls_or_a_longer_tail(self):
        for load, settings in LOADS.items():
            with self.subTest(load=load):
                contents = result("e810-poll", "--requests", "100000", *SIXTEEN,
                                  *(word for s in settings for word in ("--set", s)))
                served = [core["requests"] for core in contents["cores"]]
                self.assertEqual(len(served), HARTS)
                self.assertEqual(sum(s["completed"] for s in served), 100_000)
                for name, values in (("calls", [s["completed"] for s in served]),
                                     ("p99", [s["latency_ns"]["p99"] for s in served])):
                    mean = sum(values) / HARTS
                    for hart, value in enumerate(values):
                        self.assertLess(abs(value / mean - 1), MOST, f"{name} of hart {hart}: {value}, of all {mean}")

    def test_what_a_hart_serves_is_counted_for_it(self):
        """One flow is one queue's, and so one hart's."""
        contents = result("e810-poll", "--requests", "2000", *SIXTEEN[:4], "--set", "workload.flows=1")
        served = sorted(core["requests"]["completed"] for core in contents["cores"])
        self.assertEqual(served, [0] * (HARTS - 1) + [2000])


if __name__ == "__main__":
    unittest.main()
