# SPDX-License-Identifier: Apache-2.0
"""The mean latency follows each latency of the board with several calls under way, and seeds differ.

Calls of a closed loop without think times and with ideal clocks wait for each other in step: then the mean moves with the
phase of the loop, and may fall when a latency grows. SLUICE_FULL=1: every latency at every load."""

import concurrent.futures
import os
import unittest

import board_runs
from board_runs import FULL, result

# Latencies that every call meets, and how often.
MET = {
    "net.wire0.flight": 2,
    "nic.eth0.mac.rx_latency": 1,
    "nic.eth0.mac.tx_latency": 1,
    "nic.eth0.parse": 1,
    "nic.eth0.rx_pipeline": 1,
    "nic.eth0.tx_pipeline": 1,
    "nic.eth0.pcie.transmit_latency": 2,
    "nic.eth0.pcie.receive_latency": 2,
    "pcie.slot0.flight": 4,
    "root.write_latency": 1,
    "root.read_latency": 1,
}
OTHERS = ("caches.dma_read", "caches.dma_write", "caches.llc_latency", "caches.dram_latency", "caches.l2_latency")


class Loaded:
    """A board, its loads, and the latencies that are tried on it."""

    def __init__(self, name, loads, met, others, noise, mean=lambda r: r["latency_ns"]["mean"], more=40):
        self.name = name
        self.loads = loads  # settings of each
        self.met = met
        self.others = others
        self.noise = noise  # ns: the mean's own spread from one setting to the next, three standard deviations or more
        self.more = more  # ns, by which latencies grow
        self.mean_of = mean

    def run(self, load, *more):
        return result(self.name, *(word for s in (*self.loads[load], *more) for word in ("--set", s)))

    def mean(self, load, *more):
        return self.mean_of(self.run(load, *more))

    def latencies(self):
        """The times of the board's parts that are no periods and no choices, with their values in ns."""
        found = {}
        instances = self.run(next(iter(self.loads)))["board"]["instances"]
        window = instances["caches"]["parameters"]["timing"]["value"] == "interval"
        for path, instance in instances.items():
            for key, parameter in instance["parameters"].items():
                name = f"{path}.{key}"
                if (parameter["unit"] == "ns" and parameter["source"] != "choice of the board"
                        and isinstance(parameter["value"], (int, float)) and parameter["value"] > 0
                        and not name.startswith(("workload.", "run.")) and (window or ".core." not in name)
                        and not key.endswith(("timeout", "refresh_interval", "refresh_time"))):
                    found[name] = parameter["value"]
        return found


def closed_loops(think, under_way):
    return {f"{n} outstanding": (f"workload.outstanding={n}", f"workload.think={think}",
                                 f"workload.requests={20_000 if FULL else 10_000}")
            for n in ((1, 8, 16, 64) if FULL else (under_way,))}


ALL_SIZES = [(size, cache) for size in (8, 128, 1024, 2048) for cache in ("warm", "cold")]


def mean_of_transactions(contents):
    """Of reads, of writes, and of reads behind writes."""
    (entry,) = contents["dma"]
    return sum(entry[f"{kind}_mean_ns"] for kind in ("read", "write", "wrrd")) / 3


NIC_OTHERS = (*OTHERS, "nic.eth0.tx_doorbell")
BOARDS = (
    Loaded("e810-poll", closed_loops("1 us", 8), MET, NIC_OTHERS, 12),
    # With 64 calls under way and 1 us between a reply and the next call its core is always busy: then its rate sets the
    # mean, and no latency does.
    # The mean of 10,000 calls varies by 14 ns with whatever changes the start.
    Loaded("e810-irq", closed_loops("5 us", 64), MET, NIC_OTHERS, 60, more=160),
    # The core echoes 44 Gb/s.
    Loaded("e810-echo", {rate: ("workload.load=poisson", f"workload.rate={rate}", "workload.requests=20000")
                         for rate in (("5 Gb/s", "25 Gb/s", "38 Gb/s") if FULL else ("25 Gb/s",))},
           MET, NIC_OTHERS, 20),
    # A write is counted up to root.write_latency.
    # Cold reads of 512 B follow each other about as often as a rank is refreshed.
    Loaded("haswell-nfp", {f"{size} B, {cache}": (f"workload.sizes={size}", f"workload.cache={cache}")
                           for size, cache in ((64, "warm"), (512, "cold"), *(ALL_SIZES if FULL else ()))},
           {"pcie.slot0.flight": 5 / 3, "root.read_latency": 2 / 3}, OTHERS, 2, mean_of_transactions),
)


class LockStep(unittest.TestCase):
    def test_the_mean_follows_each_latency(self):
        for board in BOARDS:
            with self.subTest(board=board.name):
                self.check(board)

    def check(self, board):
        all_of_board = board.latencies()
        few = {*board.met, *board.others}
        self.assertLessEqual(few, set(all_of_board))
        names = all_of_board if FULL else {n: all_of_board[n] for n in few}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            runs = {}
            for load in board.loads:
                runs[load, None] = pool.submit(board.mean, load)
                for name, value in names.items():
                    runs[load, name, "more"] = pool.submit(board.mean, load, f"{name}={value + board.more:.6f} ns")
                    runs[load, name, "2 %"] = pool.submit(board.mean, load, f"{name}={value * 1.02:.6f} ns")
            means = {key: run.result() for key, run in runs.items()}
        for load in board.loads:
            reference = means[load, None]
            for name in names:
                with self.subTest(load=load, parameter=name):
                    change = means[load, name, "more"] - reference
                    self.assertGreater(change, board.met.get(name, 0) * board.more * 0.5 - board.noise)
                    self.assertLess(abs(means[load, name, "2 %"] - reference), 0.03 * reference)

    def test_seeds_and_tails(self):
        for board in BOARDS:
            load = list(board.loads)[-1]
            with self.subTest(board=board.name, load=load):
                runs = [board.run(load, f"run.seed={seed}") for seed in range(1, 4)]
                # What a posted write may meet, SKP ordered sets, comes so regularly that a seed's writes may meet none.
                for of_kind in zip(*map(self.latencies_of, runs), strict=True):
                    self.assertTrue(any(latency["p50"] != latency["p999"] for latency in of_kind))
                self.assertEqual(len({board.mean_of(r) for r in runs}), 3)
                settings = [word for s in board.loads[load] for word in ("--set", s)]
                self.assertEqual(*(board_runs.canonical(board_runs.run(board.name, *settings)) for _ in range(2)))

    @staticmethod
    def latencies_of(contents):
        if "dma" not in contents:
            return [contents["latency_ns"]]
        return [{p: entry[f"{kind}_{p}_ns"] for p in ("p50", "p999")}
                for entry in contents["dma"] for kind in ("read", "write", "wrrd")]


if __name__ == "__main__":
    unittest.main()
