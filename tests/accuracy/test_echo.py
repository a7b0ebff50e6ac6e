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
METADATA = "Enso thesis, section 3.1.2, figure 3b: DPDK, up to 39 %"


def run(*settings):
    arguments = [SLUICE, "run", "e810-echo", "--json", *(f"--set={s}" for s in settings)]
    process = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=280,
                             check=False)
    if process.returncode != 0:
        raise AssertionError(process.stderr)
    return json.loads(process.stdout)


class Echo(unittest.TestCase):
    def test_points(self):
        points = Points(elsewhere=("pcie.read.broadwell.64",))  # test_pcie.py
        result = run("workload.requests=200000")
        trial = result["packets"]["trials"][0]
        core = result["cores"][0]
        nic = result["counters"]["nic.eth0"]
        read = result["counters"]["nic.eth0.pcie"]["dma_read_bytes"]
        busiest = max(result["links"], key=lambda link: link["utilisation"])
        self.assertGreater(trial["dropped"], 0, "the core is not offered more than it echoes")

        points.add("echo.rate.1-core.64", "tested", trial["returned_per_s"] / 1e6, 59, "M/s", ENSO, result=result,
                   note="V2, and V4, which is the same measurement (40 Gb/s); at line rate, not at the highest rate without "
                        f"loss; {busiest['name']} {busiest['direction']} is {busiest['utilisation']:.0%} busy")
        points.add("echo.l1d-miss-ratio.64", "tested", 100 * core["l1d_miss_ratio"], 6, "%", CACHES, result=result,
                   note="V5")
        points.add("echo.l2-miss-ratio.64", "tested", 100 * core["l2_miss_ratio"], 55, "%", CACHES, result=result,
                   note="V5")
        points.add("echo.read-metadata-share.64", "tested", 100 * (1 - nic["tx_bytes"] / read), 39, "%", METADATA,
                   result=result, note="V6: of the bytes that the NIC reads, those that are no packets; headers of TLPs "
                                       "are not counted")
        points.add("wire.rate.64", "arithmetic", trial["offered_per_s"] / 1e6, 148.8, "M/s",
                   "IEEE 802.3: 64 B with 20 B of preamble and gap at 100 Gb/s", result=result, within=0.001,
                   note="V1's rate, which Enso reaches: here it is what the generator offers")
        points.save(POINTS)
        print(points.table())
        self.assertEqual(points.failures(), [])


if __name__ == "__main__":
    unittest.main()
