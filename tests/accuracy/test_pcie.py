# SPDX-License-Identifier: Apache-2.0
"""Measured PCIe: haswell-nfp against pcie-bench's figures and against the TLP arithmetic of pcie-model.

    test_pcie.py SLUICE POINTS     writes the points to the file POINTS (README.md)
"""

import json
import math
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from points import Points  # noqa: E402

POINTS = os.path.abspath(sys.argv.pop(2))
SLUICE = os.path.abspath(sys.argv.pop(1))

BROADWELL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "boards", "broadwell-nfp.toml")
BENCH = "pcie-bench, Haswell E5-2637 v3 with NFP-6000 gen3 x8"
BENCH_BROADWELL = "pcie-bench, Broadwell E5-2630 v4 with NFP-6000"
ARITHMETIC = "pcie-model, mem_bw.py and pcie.py"
SPLITS = "PCI Express Base Specification: whole DWs, MPS, MRRS, completion size, 4 KiB; rate and headers as pcie-model"
UNCAPPED = ("accel.nfp.read_rate=0", "accel.nfp.write_rate=0")
WARM = ("workload.cache=warm",)
COMPLETIONS = (64, 128, 256)  # bytes: the RCB, what was measured on Intel CPUs, MPS


def run(*settings, sizes, board="haswell-nfp"):
    """A run's result file, with its rows by (bytes, state of the caches)."""
    arguments = [SLUICE, "run", board, "--workload", "dma", "--sizes", sizes, "--json"]
    process = subprocess.run(arguments + [f"--set={s}" for s in settings], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, timeout=280, check=False)
    if process.returncode != 0:
        raise AssertionError(process.stderr)
    result = json.loads(process.stdout)
    result["rows"] = {(r["bytes"], r["cache"]): r for r in result["dma"]}
    return result


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


class MeasuredPcie(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.points = Points()

    @classmethod
    def tearDownClass(cls):
        cls.points.save(POINTS)
        print(cls.points.table())

    def tearDown(self):
        self.assertEqual(self.points.failures(), [])

    def test_latency_and_capped_rates(self):
        r = run(sizes="8..2048")
        rows = r["rows"]
        add = self.points.add
        for size, published in ((8, 586), (64, 600)):
            add(f"pcie.read.warm.{size}", "fitted", rows[size, "warm"]["read_p50_ns"], published, "ns", BENCH,
                result=r, within=0.05)
        add("pcie.read.warm.64.p999", "tested", rows[64, "warm"]["read_p999_ns"], 626, "ns", BENCH, result=r,
            note="SKP ordered sets are all that spreads it: the model has no jitter")
        add("pcie.read.cold-adder.64", "tested",
            rows[64, "cold"]["read_p50_ns"] - rows[64, "warm"]["read_p50_ns"], 40, "ns", "pcie-bench, cold against warm",
            result=r, note="modelled: DRAM less LLC latency, both assumed")
        add("pcie.read.warm.128", "tested", rows[128, "warm"]["read_p50_ns"], 900, "ns",
            "Accio 7, which cites pcie-bench: round trip of 128 B, about 0.9 us", result=r,
            note="host, device and state of the caches are not given")
        for name, published in (("read", 62.0e6), ("write", 47.4e6)):
            row = rows[64, "warm"]
            add(f"pcie.{name}-rate.64", "input", row[f"{name}_per_s"], published, "1/s", BENCH_BROADWELL, result=r,
                within=0.005, parameters=[f"accel.nfp.{name}_rate"], note="the engine's cap")
            self.assertEqual(row[f"{name}_bottleneck"], "engine")
        for size in (8, 64, 512, 2048):
            for cache in ("warm", "cold"):
                add(f"pcie.wrrd.{cache}.{size}", "reported", rows[size, cache]["wrrd_p50_ns"], None, "ns",
                    "no published value in the calibration", result=r)

    def test_direct_interface(self):
        r = run(*WARM, "workload.interface=direct", sizes="8,64")
        self.points.add("pcie.direct-read.warm.8", "fitted", r["rows"][8, "warm"]["read_p50_ns"], 506, "ns", BENCH,
                        result=r, within=0.05)

    def test_the_default_of_the_read_latency_is_fitted_to_one_figure(self):
        r = run(*WARM, sizes="64", board=BROADWELL)
        self.points.add("pcie.read.broadwell.64", "fitted", r["rows"][64, "warm"]["read_p50_ns"], 546, "ns",
                        BENCH_BROADWELL, result=r, within=0.005)
        default = json.loads(subprocess.check_output([SLUICE, "describe", "e810-poll", "--json"]))
        self.points.boards.append(default)
        mine, default = (b["instances"]["root"]["parameters"]["read_latency"] for b in (r["board"], default))
        self.assertEqual([mine[k] for k in ("value", "kind", "points")], [default[k] for k in ("value", "kind", "points")])

    def test_bandwidth_without_the_cap_is_the_arithmetic(self):
        for split in COMPLETIONS:
            r = run(*WARM, *UNCAPPED, f"root.completion_size={split}B", sizes="64..1024,1500,2048..4096")
            for (size, _), row in r["rows"].items():
                rate, direction = read_rate(size, split)
                self.points.add(f"pcie.read-bandwidth.completions-{split}.{size}", "arithmetic", row["read_gbps"], round(rate, 6),
                                "Gb/s", ARITHMETIC, result=r, within=0.02)
                self.assertEqual(row["read_bottleneck"], direction, size)
                if split != COMPLETIONS[0]:  # the size of completions does not change writes
                    continue
                self.points.add(f"pcie.write-bandwidth.{size}", "arithmetic", row["write_gbps"],
                                round(write_rate(size), 6), "Gb/s", ARITHMETIC, result=r, within=0.02)
                self.assertEqual(row["write_bottleneck"], "up", size)

    def test_bandwidth_of_unaligned_transactions_is_the_arithmetic(self):
        for size in (64, 256, 512):
            self.assertAlmostEqual(unaligned_write_rate(size, 0), write_rate(size))
            self.assertAlmostEqual(unaligned_read_rate(size, 0, 64), read_rate(size, 64)[0])
        for offset in (1, 4):
            for split in COMPLETIONS:
                r = run(*WARM, *UNCAPPED, f"root.completion_size={split}B", f"workload.offset={offset}B",
                        "workload.pattern=sequential", sizes="64,256,512,1024")
                for (size, _), row in r["rows"].items():
                    point = f"{size}.offset-{offset}"
                    self.points.add(f"pcie.read-bandwidth.completions-{split}.{point}", "arithmetic", row["read_gbps"],
                                    round(unaligned_read_rate(size, offset, split), 6), "Gb/s", SPLITS, result=r,
                                    within=0.02)
                    if split != COMPLETIONS[0]:
                        continue
                    self.assertLess(row["read_gbps"], 0.99 * read_rate(size, split)[0])  # not as if it were aligned
                    self.points.add(f"pcie.write-bandwidth.{size}.offset-{offset}", "arithmetic", row["write_gbps"],
                                    round(unaligned_write_rate(size, offset), 6), "Gb/s", SPLITS, result=r,
                                    within=0.02)

    def test_bandwidth_of_sixteen_lanes(self):
        r = run(*WARM, *UNCAPPED, "pcie.slot0.lanes=16", "workload.outstanding=256", sizes="64")
        row = r["rows"][64, "warm"]
        for name, published in (("write", 82.7), ("read", 86.6)):
            self.points.add(f"pcie.{name}-bandwidth.x16.64", "arithmetic", row[f"{name}_gbps"], published, "Gb/s",
                            "calibration 1.1, effective 64 B at g3x16", result=r, within=0.02)

    def test_iommu_is_reported(self):
        for name, settings in (("hit", ("workload.window=64KiB",)), ("miss", ("workload.window=8MiB",)),
                               ("2MiB-pages", ("workload.window=8MiB", "iommu.page=2MiB"))):
            r = run(*WARM, "iommu.enabled=true", *settings, sizes="64")
            row = r["rows"][64, "warm"]
            self.assertTrue(row["iommu"])
            self.points.add(f"pcie.read.iommu-{name}.64", "reported", row["read_p50_ns"], None, "ns",
                            "no published value in the calibration", result=r)
            self.points.add(f"pcie.read-rate.iommu-{name}.64", "reported", row["read_per_s"], None, "1/s",
                            "no published value in the calibration", result=r)


if __name__ == "__main__":
    unittest.main()
