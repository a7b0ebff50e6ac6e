# SPDX-License-Identifier: Apache-2.0
"""A core that echoes frames, against what is published of DPDK on Enso's host.

    test_echo.py SLUICE POINTS     writes the points to the file POINTS (README.md)
"""

import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from points import Points  # noqa: E402

POINTS = os.path.abspath(sys.argv.pop(2))
SLUICE = os.path.abspath(sys.argv.pop(1))

ENSO = "Enso thesis, section 3.3.2, figure 5: DPDK on an E810, one core, zero loss"
CACHES = "Enso thesis, section 3.1.2, figure 3a: DPDK"
KEPT = "workload.addresses=kept"
METADATA = "Enso thesis, section 3.1.2, figure 3b: DPDK, up to 39 %"


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
    def test_points(self):
        points = Points(elsewhere=("pcie.read.broadwell.64",))  # test_pcie.py
        # DPDK's program sends frames back with the addresses that they came with.
        search = run("workload.load=zero-loss", "workload.resolution=1 Gb/s", "workload.requests=20000", KEPT)
        (found,) = search["packets"]["zero_loss"]
        points.add("echo.rate.1-core.64", "tested", found["per_s"] / 1e6, 59, "M/s", ENSO, result=search,
                   note="V2, and V4, which is the same measurement (40 Gb/s); a search with a resolution of 1 Gb/s "
                        "(1.5 M/s); the cost of an uncached store and the latency of the LLC decide, and both are assumed: "
                        "docs/echo.md")

        # The load of the published measurement.
        result = run("workload.load=constant", "workload.rate=40 Gb/s", "workload.requests=200000", "workload.warmup=20000",
                     KEPT)
        core = result["cores"][0]
        nic = result["counters"]["nic.eth0"]
        read = result["counters"]["nic.eth0.pcie"]["dma_read_bytes"]
        self.assertEqual(result["packets"]["trials"][0]["dropped"], 0)
        self.assertLess(max(link["utilisation"] for link in result["links"]), 0.7, "a link limits, not the core")
        points.add("echo.l1d-miss-ratio.64", "tested", 100 * core["l1d_miss_ratio"], 6, "%", CACHES, result=result,
                   note="V5, at 40 Gb/s: 4.5 misses of 40 loads and stores a frame, about every line that it touches "
                        "once; how many accesses DPDK makes is not published")
        points.add("echo.l2-miss-ratio.64", "tested", 100 * core["l2_miss_ratio"], 55, "%", CACHES, result=result,
                   note="V5, at 40 Gb/s")
        points.add("echo.read-metadata-share.64", "tested", 100 * (1 - nic["tx_bytes"] / read), 39, "%", METADATA,
                   result=result, note="V6: of the bytes that the NIC reads, those that are no packets; headers of TLPs "
                                       "are not counted")
        offered = run("workload.requests=100000")["packets"]["trials"][0]["offered_per_s"]
        points.add("wire.rate.64", "arithmetic", offered / 1e6, 148.8, "M/s",
                   "IEEE 802.3: 64 B with 20 B of preamble and gap at 100 Gb/s", result=result, within=0.001,
                   note="V1's rate, which Enso reaches: here it is what the generator offers")
        points.save(POINTS)
        print(points.table())
        self.assertEqual(points.failures(), [])

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
