# SPDX-License-Identifier: Apache-2.0
"""The mean latency follows each latency of the board, whatever the number of calls under way, and seeds differ.

Calls of a closed loop without think times and with ideal clocks wait for each other in step: then the mean moves with the
phase of the loop, and may fall when a latency grows. SLUICE_FULL=1: every latency at every load."""

import concurrent.futures
import os
import unittest

import board_runs
from board_runs import result

FULL = os.environ.get("SLUICE_FULL") == "1"
BOARDS = ("e810-poll", "e810-irq")
OUTSTANDING = (1, 8, 16, 64) if FULL else (8, 64)
REQUESTS = 20_000 if FULL else 10_000
# With 64 calls under way and 1 us between a reply and the next call, e810-irq's core is always busy: then its rate sets
# the mean, and no latency does.
THINK = {"e810-poll": "1 us", "e810-irq": "5 us"}
MORE = 40  # ns
# The mean's own spread from one setting to the next, with as many calls as here: three standard deviations or more.
NOISE = 12  # ns
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
FEW = (*MET, "caches.dma_read", "caches.dma_write", "caches.llc_latency", "caches.dram_latency", "caches.l2_latency",
       "nic.eth0.tx_doorbell")


def settings(board, outstanding, *more):
    chosen = (f"workload.outstanding={outstanding}", f"workload.think={THINK[board]}", f"workload.requests={REQUESTS}",
              *more)
    return [argument for s in chosen for argument in ("--set", s)]


def mean(board, outstanding, *more):
    return result(board, *settings(board, outstanding, *more))["latency_ns"]["mean"]


def latencies(board):
    """The times of the board's parts that are no periods and no choices, with their values in ns."""
    found = {}
    instances = result(board, "--requests", "10")["board"]["instances"]
    for path, instance in instances.items():
        for key, parameter in instance["parameters"].items():
            name = f"{path}.{key}"
            if (parameter["unit"] == "ns" and parameter["source"] != "choice of the board"
                    and isinstance(parameter["value"], (int, float)) and parameter["value"] > 0
                    and not name.startswith(("workload.", "run."))
                    and not key.endswith(("timeout", "refresh_interval", "refresh_time"))):
                found[name] = parameter["value"]
    return found


class LockStep(unittest.TestCase):
    def check(self, board):
        all_of_board = latencies(board)
        self.assertLessEqual(set(FEW), set(all_of_board))
        names = all_of_board if FULL else {n: all_of_board[n] for n in FEW}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            runs = {}
            for outstanding in OUTSTANDING:
                runs[outstanding, None] = pool.submit(mean, board, outstanding)
                for name, value in names.items():
                    runs[outstanding, name, "more"] = pool.submit(mean, board, outstanding, f"{name}={value + MORE} ns")
                    runs[outstanding, name, "2 %"] = pool.submit(mean, board, outstanding, f"{name}={value * 1.02:.6f} ns")
            means = {key: run.result() for key, run in runs.items()}
        for outstanding in OUTSTANDING:
            reference = means[outstanding, None]
            for name in names:
                with self.subTest(board=board, outstanding=outstanding, parameter=name):
                    change = means[outstanding, name, "more"] - reference
                    self.assertGreater(change, MET.get(name, 0) * MORE * 0.5 - NOISE)
                    self.assertLess(abs(means[outstanding, name, "2 %"] - reference), 0.03 * reference)

    def test_poll(self):
        self.check("e810-poll")

    def test_irq(self):
        self.check("e810-irq")

    def test_seeds_and_tails(self):
        for board in BOARDS:
            means = set()
            for seed in range(1, 4):
                latency = result(board, *settings(board, 8, f"run.seed={seed}"))["latency_ns"]
                means.add(latency["mean"])
                self.assertNotEqual(latency["p50"], latency["p999"])
            self.assertEqual(len(means), 3)
            self.assertEqual(*(board_runs.canonical(board_runs.run(board, *settings(board, 8))) for _ in range(2)))


if __name__ == "__main__":
    unittest.main()
