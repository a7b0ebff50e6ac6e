# SPDX-License-Identifier: Apache-2.0
"""A first run finds the warm-up: what MSER-5 finds in the latencies of its calls is cut, and the result says how much.

    test_first_run.py SLUICE
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SLUICE = os.path.abspath(sys.argv.pop(1))


def run(*arguments, status=0):
    process = subprocess.run([SLUICE, "run", *arguments, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, timeout=280, check=False)
    if process.returncode != status:
        raise AssertionError(process.stdout[-2000:] + process.stderr)
    return json.loads(process.stdout)


def mean(*arguments):
    return run(*arguments)["latency_ns"]["mean"]


def cut_of(batches):
    """MSER-5 over the means of batches: how many are cut. Of the cuts whose standard error is within 1 % of the least the
    first counts, and the last five batches are never alone (transient.h)."""
    statistics = []
    for cut in range(len(batches) - 4):
        kept = batches[cut:]
        middle = sum(kept) / len(kept)
        statistics.append(sum((b - middle) ** 2 for b in kept) / len(kept) ** 2)
    return next(i for i, s in enumerate(statistics) if s <= 1.02 * min(statistics))


# A lone caller: no call depends on those behind it, so that runs of any length begin alike.
LONE = ("e810-poll", "--set=workload.outstanding=1", "--set=workload.think=0ns")
# More calls than a core answers: its queue fills, and then drops.
FLOOD = ("e810-poll", "--workload=open-loop", "--set=workload.rate=30000000", "--set=workload.arrivals=constant",
         "--set=run.allow_drops=true")


class FirstRun(unittest.TestCase):
    def test_what_is_cut_is_what_the_method_says_of_the_latencies(self):
        for timing in ("functional", "cached"):
            with self.subTest(timing=timing):
                board = (*LONE, f"--set=caches.timing={timing}")
                batches = [mean(*board, f"--warmup={5 * i}", "--requests=5") for i in range(40)]
                found = run(*board, "--warmup=auto", "--requests=200")
                self.assertEqual(found["warm_up"], {"calls": 5 * cut_of(batches), "batch": 5, "too_short": False})

    def test_a_cold_cache_is_cut(self):
        found = run(*LONE, "--set=caches.timing=cached", "--warmup=auto", "--requests=200")
        calls = found["warm_up"]["calls"]
        self.assertGreater(calls, 0)
        warm = ("--set=caches.timing=cached",)
        # The result is that of the same warm-up by hand, but for what says so.
        by_hand = run(*LONE, *warm, "--requests=200", f"--warmup={calls}")
        for key in ("latency_ns", "requests", "throughput_per_s", "stages", "links", "cores", "counters", "measured_ns"):
            self.assertEqual(found[key], by_hand[key], key)
        self.assertNotIn("warm_up", by_hand)
        self.assertGreater(mean(*LONE, *warm, "--warmup=0", "--requests=5"), mean(*LONE, *warm, f"--warmup={calls}", "--requests=5"))

    def test_a_queue_that_fills_is_cut_to_a_batch(self):
        found = run(*FLOOD, "--warmup=auto", "--requests=40000")["warm_up"]
        self.assertFalse(found["too_short"])
        batch = f"--requests={found['batch']}"
        full = mean(*FLOOD, "--warmup=36000", batch)
        at = {calls: mean(*FLOOD, f"--warmup={calls}", batch) for calls in (found["calls"] - 2 * found["batch"], found["calls"])}
        before, behind = at.values()
        # The queue is full where the cut ends, and still grows two batches before.
        self.assertLess(abs(behind / full - 1), 0.02, (at, full))
        self.assertLess(before, behind)
        half = mean(*FLOOD, f"--warmup={found['calls'] // 2}", batch)
        self.assertLess(half, 0.8 * full)

    def test_a_run_that_is_too_short_says_so(self):
        for requests in ("50", "5000"):
            found = run(*FLOOD, "--warmup=auto", f"--requests={requests}")["warm_up"]
            self.assertEqual((found["calls"], found["too_short"]), (0, True))
        process = subprocess.run([SLUICE, "run", *FLOOD, "--warmup=auto", "--requests=50"], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, check=True)
        self.assertEqual(process.stderr.splitlines()[0], "sluice: e810-poll: the first run was too short to tell where its "
                                                         "start-up ends, so no call is cut")
        compared = subprocess.run([SLUICE, "compare", "e810-poll", "e810-irq", "--warmup=auto", "--requests=50"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
        for board in ("e810-poll", "e810-irq"):
            self.assertIn(f"sluice: {board}: the first run was too short", compared.stderr)

    def test_a_run_that_fails_says_why(self):
        found = run(*LONE, "--warmup=auto", "--requests=200", "--set=run.time_limit=50us", status=1)
        self.assertEqual((found["warm_up"]["calls"], found["warm_up"]["too_short"]), (0, True))
        self.assertNotEqual(found["failure"], "")

    def test_a_study_may_ask_for_it(self):
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "s.toml"), "w", encoding="utf-8") as file:
                file.write('boards = ["e810-poll"]\nmeasure = ["warm_up.calls", "warm_up.too_short", "latency_ns.mean"]\n'
                           '[settings]\nworkload.find_warmup = true\nworkload.requests = 300\nworkload.think = "0 ns"\n'
                           '[grid]\nworkload.outstanding = [1, 2]\n')
            subprocess.run([SLUICE, "sweep", "s.toml", "--jobs=2"], cwd=directory, stdout=subprocess.DEVNULL, check=True)
            with open(os.path.join(directory, "s.sweep/study.csv"), encoding="utf-8") as file:
                lines = [line.rstrip().split(",") for line in file]
        found = run(*LONE, "--warmup=auto", "--requests=300")
        row = dict(zip(lines[0], lines[1]))
        self.assertEqual([float(row[key]) for key in ("warm_up.calls", "warm_up.too_short", "latency_ns.mean")],
                         [found["warm_up"]["calls"], 0, found["latency_ns"]["mean"]])

    @staticmethod
    def children_of(pid):
        """The processes that one has started, once there are any."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            found = subprocess.run(["pgrep", "-P", str(pid)], stdout=subprocess.PIPE, text=True, check=False).stdout.split()
            if found:
                return found
            time.sleep(0.05)
        return []

    def test_a_signal_ends_the_first_run(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen([SLUICE, "run", *LONE, "--warmup=auto", "--requests=20000000"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as process:
                children = self.children_of(process.pid)
                process.send_signal(number)
                said = process.communicate(timeout=30)
            self.assertEqual((process.returncode, *said),
                             (1, "", "sluice: e810-poll: interrupted in the first run, which finds the warm-up\n"))
            self.assertEqual(len(children), 1)
            for child in children:
                self.assertFalse(os.path.exists(f"/proc/{child}"), "the first run goes on")

    def test_mistakes(self):
        def refuse(sentence, *arguments):
            process = subprocess.run([SLUICE, "run", *arguments, "--warmup=auto"], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual((process.returncode, process.stderr), (2, f"sluice: {sentence}\n"))

        refuse("--warmup auto: belongs to a closed or an open loop", "e810-poll", "--workload=load-sweep",
               "--set=workload.rates=1000")
        refuse("--warmup auto: workload.find_warmup is not a parameter of the DMA workload; valid: sizes, cache, pattern, "
               "interface, window, offset, transactions, warmup, outstanding, model", "haswell-nfp")
        refuse("--warmup auto: --set workload.find_warmup=false sets workload.find_warmup, too; give one of them", "e810-poll",
               "--set=workload.find_warmup=false")
        process = subprocess.run([SLUICE, "run", "e810-poll", "--warmup=auto", "--set=workload.warmup=7", "--requests=1000"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
        self.assertEqual(process.stderr,
                         "sluice: e810-poll: workload.warmup (--set) has no effect: workload.find_warmup is true\n")


if __name__ == "__main__":
    unittest.main()
