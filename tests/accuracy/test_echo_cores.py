# SPDX-License-Identifier: Apache-2.0
"""Cores that echo frames: the link up bounds them, as the bytes of each frame say.

    test_echo_cores.py SLUICE
"""

import json
import os
import subprocess
import sys
import unittest

SLUICE = os.path.abspath(sys.argv.pop(1))


def run(*settings):
    arguments = [SLUICE, "run", "e810-echo", "--json", *(f"--set={s}" for s in settings)]
    process = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=280,
                             check=False)
    if process.returncode != 0:
        raise AssertionError(process.stderr)
    return json.loads(process.stdout)


# Bytes of a 64 B frame's echo on the link up, headers of 16 B and 8 B of framing included: the frame; a quarter of the
# write-back of four descriptors, and the descriptors; the request to read the frame; shares of one request for 32
# transmit descriptors, of two for 32 receive descriptors, and of one report for 32 frames.
UP = (24 + 60) + (24 / 4 + 32) + 24 + 24 / 32 + 2 * 24 / 32 + (24 + 8) / 32
USABLE = 113.7e9  # of PCIe 3.0 x16, bits per second


class Echo(unittest.TestCase):
    def test_no_link_limits_one_core_and_no_frame_is_lost_at_the_published_load(self):
        result = run("workload.load=constant", "workload.rate=40 Gb/s", "workload.requests=200000", "workload.warmup=20000",
                     "workload.addresses=kept")
        self.assertEqual(result["packets"]["trials"][0]["dropped"], 0)
        self.assertLess(max(link["utilisation"] for link in result["links"]), 0.7, "a link limits, not the core")

    def test_more_cores_are_bounded_by_the_link_up(self):
        returned = {}
        for harts in (1, 2, 4, 8):
            result = run("workload.format=udp", f"cluster.host.harts={harts}", f"nic.eth0.queues={harts}",
                         "workload.requests=200000", "workload.warmup=50000")
            returned[harts] = result["packets"]["trials"][0]["returned_per_s"]
            busiest = max(result["links"], key=lambda link: link["utilisation"])
            self.assertEqual((busiest["name"], busiest["direction"]), ("pcie.slot0", "up"))
            if harts == 1:
                self.assertLess(busiest["utilisation"], 0.7)
            else:
                self.assertGreater(busiest["utilisation"], 0.95, harts)
        self.assertGreater(returned[2], 1.5 * returned[1])
        bound = USABLE / 8 / UP
        self.assertAlmostEqual(bound / 1e6, 95.2, places=1)
        for harts in (2, 4, 8):
            self.assertLess(returned[harts], bound)
            self.assertGreater(returned[harts], 0.9 * bound)


if __name__ == "__main__":
    unittest.main()
