# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of PCIe: what the list of claims has of it is what the formulas give, and the link limits where they
say so.

    test_arithmetic.py SLUICE RESULTS     RESULTS: the directory of `sluice reproduce`, which test_claims.py has made
"""

import json
import math
import os
import subprocess
import sys
import unittest

RESULTS = os.path.abspath(sys.argv.pop(2))
SLUICE = os.path.abspath(sys.argv.pop(1))

COMPLETIONS = (64, 128, 256)  # bytes: the RCB, what was measured on Intel CPUs, MPS
SIZES = (64, 128, 256, 512, 1024, 1500, 2048, 4096)
UNALIGNED_SIZES = (64, 256, 512, 1024)


# The arithmetic of the calibration page.
RAW = {3: 8.0}  # GT/s
LIMIT = {8: 203, 16: 168}  # bytes between ACKs and between FC updates, MPS 256
WRITE_HEADER, READ_HEADER, COMPLETION_HEADER = 24, 24, 20  # bytes on the wire; 64-bit addresses


def usable(lanes):
    return RAW[3] * lanes * 128 / 130 * (1 - 4 / 1538 - 8 / LIMIT[lanes] - 8 / LIMIT[lanes])


def write_rate(size, lanes=8, mps=256):
    return usable(lanes) * size / (math.ceil(size / mps) * WRITE_HEADER + size)


def read_rate(size, split, lanes=8, mrrs=512):
    """Gb/s and the direction that bounds it."""
    up = math.ceil(size / mrrs) * READ_HEADER
    down = math.ceil(size / split) * COMPLETION_HEADER + size
    return usable(lanes) * size / max(up, down), "up" if up > down else "down"


WINDOW, LINE, PAGE = 64 << 10, 64, 4096


def slots(size, offset):
    """Addresses of a window's transactions, relative to a page."""
    unit = math.ceil((offset + size) / LINE) * LINE
    return [slot * unit + offset for slot in range(WINDOW // unit)]


def requests(address, size, most):
    """(address, bytes) of the TLPs: whole DWs, at most `most` bytes of them, none across a page."""
    while size > 0:
        piece = min(size, most - address % 4, PAGE - address % PAGE)
        yield address, piece
        address, size = address + piece, size - piece


def completions(address, size, split):
    """Each but the last ends at a multiple of the completion size."""
    while size > 0:
        piece = min(size, (address // split + 1) * split - address)
        yield address, piece
        address, size = address + piece, size - piece


def wire(tlps, header, payload=True):
    """Bytes on the link: a payload is whole DWs."""
    return sum(header + ((at % 4 + n + 3) // 4 * 4 if payload else 0) for at, n in tlps)


def unaligned_write_rate(size, offset, lanes=8, mps=256):
    each = [wire(requests(a, size, mps), WRITE_HEADER) for a in slots(size, offset)]
    return usable(lanes) * size * len(each) / sum(each)


def unaligned_read_rate(size, offset, split, lanes=8, mrrs=512):
    starts = slots(size, offset)
    up = sum(wire(requests(a, size, mrrs), READ_HEADER, payload=False) for a in starts)
    down = sum(wire(completions(*r, split), COMPLETION_HEADER) for a in starts for r in requests(a, size, mrrs))
    return usable(lanes) * size * len(starts) / max(up, down)


def expected():
    """The claims of arithmetic by name: Gb/s."""
    claims = {f"pcie.write-bandwidth.{size}": write_rate(size) for size in SIZES}
    for split in COMPLETIONS:
        claims |= {f"pcie.read-bandwidth.completions-{split}.{size}": read_rate(size, split)[0] for size in SIZES}
    for offset in (1, 4):
        claims |= {f"pcie.write-bandwidth.offset-{offset}.{size}": unaligned_write_rate(size, offset)
                   for size in UNALIGNED_SIZES}
        for split in COMPLETIONS:
            claims |= {f"pcie.read-bandwidth.completions-{split}.offset-{offset}.{size}":
                       unaligned_read_rate(size, offset, split) for size in UNALIGNED_SIZES}
    return claims


class Arithmetic(unittest.TestCase):
    def test_the_list_has_what_the_formulas_give(self):
        listed = json.loads(subprocess.check_output([SLUICE, "reproduce", "--list", "--json"]))["claims"]
        published = {c["name"]: c["published"] for c in listed
                     if c["role"] == "arithmetic" and "-bandwidth." in c["name"] and ".x16." not in c["name"]}
        formulas = expected()
        self.assertEqual(set(published), set(formulas))
        for name, value in formulas.items():
            self.assertAlmostEqual(published[name], value, places=6, msg=name)

    def test_unaligned_formulas_are_the_others_where_nothing_is_unaligned(self):
        for size in (64, 256, 512):
            self.assertAlmostEqual(unaligned_write_rate(size, 0), write_rate(size))
            self.assertAlmostEqual(unaligned_read_rate(size, 0, 64), read_rate(size, 64)[0])

    def points(self, study):
        """Of each point of a study that ran: (settings, result file)."""
        directory = os.path.join(RESULTS, study)
        with open(os.path.join(directory, "study.json"), encoding="utf-8") as file:
            contents = json.load(file)
        for point in contents["points"]:
            self.assertEqual(point["state"], "done")
            with open(os.path.join(directory, "points", point["id"][:2], point["id"], "result.json"),
                      encoding="utf-8") as file:
                yield contents["cases"][point["case"]]["settings"], json.load(file)

    def test_the_link_limits_in_the_direction_that_the_formulas_say(self):
        checked = 0
        for settings, result in self.points("pcie-bandwidth"):
            if settings["pcie.slot0.lanes"] != "8" or settings["workload.offset"] != "0 B":
                continue
            split = int(settings["root.completion_size"].split()[0])
            for row in result["dma"]:
                self.assertEqual(row["read_bottleneck"], read_rate(row["bytes"], split)[1], (split, row["bytes"]))
                self.assertEqual(row["write_bottleneck"], "up")
                checked += 1
        self.assertEqual(checked, len(COMPLETIONS) * len(SIZES))

    def test_unaligned_reads_are_slower(self):
        for settings, result in self.points("pcie-bandwidth"):
            if settings["workload.offset"] == "0 B" or settings["root.completion_size"] != "64 B":
                continue
            for row in result["dma"]:
                self.assertLess(row["read_gbps"], 0.99 * read_rate(row["bytes"], 64)[0])

    def test_the_engine_limits_where_it_has_a_cap(self):
        for settings, result in self.points("pcie-latency"):
            if settings["workload.interface"] == "engine" and result["board"]["name"] == "haswell-nfp":
                (row,) = (r for r in result["dma"] if (r["bytes"], r["cache"]) == (64, "warm"))
                self.assertEqual((row["read_bottleneck"], row["write_bottleneck"]), ("engine", "engine"))

    def test_the_iommu_is_on_where_a_claim_says_so(self):
        rows = [row for _, result in self.points("pcie-iommu") for row in result["dma"]]
        self.assertEqual([row["iommu"] for row in rows], [True] * 3)


if __name__ == "__main__":
    unittest.main()
