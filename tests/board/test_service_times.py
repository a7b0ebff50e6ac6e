# SPDX-License-Identifier: Apache-2.0
"""Calls that keep the server busy for a time that the client draws."""

import unittest

from board_runs import BoardTest, result

REQUESTS = 2000
# Two turns of the loop that reads the cycle counter, and the marks before and behind it.
LONGER = 200  # cycles


def run(*settings, timing="interval", outstanding=1):
    chosen = (f"caches.timing={timing}", f"workload.outstanding={outstanding}", f"workload.requests={REQUESTS}",
              "workload.call.program=spin", *settings)
    return result("e810-poll", *(word for s in chosen for word in ("--set", s)))


def handler_ns(contents):
    return next(stage["mean_ns"] for stage in contents["stages"] if stage["name"] == "handler")


class ServiceTimes(BoardTest):
    def test_the_hart_is_busy_for_so_long(self):
        for timing in ("functional", "cached", "interval"):
            for clock in (3.1, 2):
                for service in (0, 700, 20_000):
                    with self.subTest(timing=timing, clock=clock, service=service):
                        contents = run("workload.call.service_times=constant", f"workload.call.service={service} ns",
                                       f"cluster.host.clock={clock} GHz", timing=timing)
                        self.assertGreaterEqual(handler_ns(contents), 0.9997 * service)  # the clock's tolerance
                        self.assertLess(handler_ns(contents), service + LONGER / clock)

    def test_two_times(self):
        contents = run("workload.call.service_times=bimodal", "workload.call.service=1 us",
                       "workload.call.service_long=60 us", "workload.call.service_long_share=5 %")
        latency = contents["latency_ns"]
        self.assertLess(latency["p90"] - latency["min"], 1_000)
        self.assertLess(abs(latency["p99"] - latency["p50"] - 59_000), 1_000)
        # 5 % of 2,000 calls, to four standard deviations: p90 is short, and p99 long.
        longer = (handler_ns(contents) - 1_000) / 59_000 * REQUESTS
        self.assertLess(abs(longer - 0.05 * REQUESTS), 4 * (REQUESTS * 0.05 * 0.95) ** 0.5)

    def test_seeds_draw_other_times(self):
        means = {handler_ns(run("workload.call.service=4 us", f"run.seed={seed}")) for seed in (1, 2, 3)}
        self.assertEqual(len(means), 3)
        for mean in means:
            self.assertLess(abs(mean / 4_000 - 1), 4 / REQUESTS ** 0.5)


if __name__ == "__main__":
    unittest.main()
