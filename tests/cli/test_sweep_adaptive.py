# SPDX-License-Identifier: Apache-2.0
"""`sluice sweep` with searches and precisions: what has run decides what runs, and the bytes stay the same."""

import json
import os
import signal
import time
import unittest

from command import sluice
from sweep_test import SweepTest

SEARCH = """
boards = ["e810-poll", "e810-irq"]
replications = 2
measure = ["latency_ns.p99", "latency_ns.mean"]
[settings]
workload.requests = 60
workload.warmup = 0
[grid]
workload.call.bytes = [64, 1024]
workload.outstanding = {{ from = 1, to = 16, step = 1, while = "latency_ns.mean <= {limit}" }}
"""
PRECISION = """
boards = ["e810-poll", "e810-irq"]
replications = {{ quantity = "{quantity}", within = "{within}", least = 3, most = 12 }}
measure = ["latency_ns.p99", "latency_ns.mean"]
[settings]
workload.requests = 60
workload.warmup = 0
"""


class Adaptive(SweepTest):
    """What runs depends on results, in the order of points alone."""

    def cases(self, directory="calls.sweep"):
        with open(os.path.join(self.directory, directory, "study.json"), encoding="utf-8") as file:
            return json.load(file)

    def test_a_search_finds_what_all_values_say(self):
        # All values, to know the answer: the mean grows with the calls in flight.
        self.write("calls.toml", SEARCH.format(limit=0).replace(', while = "latency_ns.mean <= 0"', ""))
        self.sweep("--out=all")
        means = {(c["board"], c["settings"]["workload.call.bytes"], int(c["settings"]["workload.outstanding"])):
                 c["quantities"]["latency_ns.mean"]["value"] for c in self.cases("all")["cases"]}
        self.assertEqual(len(means), 64)
        for limit in (1, 3000, 9000, 1000000):
            self.write("calls.toml", SEARCH.format(limit=limit))
            said = self.sweep(f"--out=limit-{limit}")
            searches = self.cases(f"limit-{limit}")["searches"]
            self.assertEqual(len(searches), 4)
            for s in searches:
                of = [means[s["board"], s["settings"]["workload.call.bytes"], n] for n in range(1, 17)]
                held = [n for n, mean in enumerate(of, 1) if mean <= limit]
                self.assertEqual(held, list(range(1, len(held) + 1)), "the means rise")
                self.assertEqual((s["state"], s["found"], s["at_end"]),
                                 ("done", str(len(held)) if held else None, len(held) == 16), s)
                self.assertLessEqual(len(s["tried"]), 5)
            points = sum(len(c["points"]) for c in self.cases(f"limit-{limit}")["cases"])
            self.assertEqual(points, 2 * sum(len(s["tried"]) for s in searches))
            self.assertIn(f"{points} done, 0 failed, 0 missing, {128 - points} not needed\n", said)

    def test_a_search_has_the_same_bytes_whatever_ran_before_and_in_which_order(self):
        self.write("calls.toml", SEARCH.format(limit=9000))
        self.sweep("--jobs=1")
        tables = self.tables()
        self.sweep("--jobs=4", "--out=four")
        self.assertEqual(self.tables("four"), tables)
        # Results of points that are not needed change nothing.
        for number in (0, 31, 64, 127):
            self.sweep(f"--run={number}", "--out=more")
        self.sweep("--out=more")
        self.assertEqual(self.tables("more"), tables)
        # Killed again and again, it goes on.
        for attempt in range(6):
            with self.started("--out=killed", start_new_session=True) as process:
                time.sleep(0.05 + 0.05 * attempt)
                process.send_signal(signal.SIGKILL)
        self.sweep("--out=killed")
        self.assertEqual(self.tables("killed"), tables)
        before = self.results()
        self.sweep()
        self.assertEqual(self.results(), before)

    def test_a_precision_takes_as_many_replications_as_it_needs(self):
        self.write("calls.toml", PRECISION.format(quantity="latency_ns.mean", within="0.2 %"))
        self.sweep("--jobs=1")
        runs = {}
        for c in self.cases()["cases"]:
            q = c["quantities"]["latency_ns.mean"]
            low, high = q["interval_95"]
            runs[c["board"]] = q["runs"]
            self.assertTrue((high - low) / 2 / q["value"] <= 0.002 or q["runs"] == 12, q)
            self.assertEqual(len(c["points"]), q["runs"])
        self.assertGreater(max(runs.values()), 3)
        tables = self.tables()
        self.sweep("--jobs=4", "--out=four")
        self.assertEqual(self.tables("four"), tables)
        # More of them than are needed change nothing.
        for number in range(12):
            self.sweep(f"--run={number}", "--out=more")
        self.sweep("--out=more")
        self.assertEqual(self.tables("more"), tables)
        # A precision that is easy takes the least, and one that cannot be had the most.
        for within, count in (("50 %", 3), ("0.0001 %", 12)):
            self.write("calls.toml", PRECISION.format(quantity="latency_ns.mean", within=within))
            self.sweep(f"--out={count}")
            self.assertEqual([len(c["points"]) for c in self.cases(str(count))["cases"]], [count] * 2)

    def test_nothing_random_needs_no_more_than_the_least(self):
        self.write("calls.toml", PRECISION.format(quantity="simulated_ns", within="0.0001 %").replace(
            "[settings]", '[settings]\nrun.spread = "none"\nworkload.think = "0 ns"\nworkload.outstanding = 1'))
        self.sweep()
        self.assertEqual([len(c["points"]) for c in self.cases()["cases"]], [3, 3])

    def test_a_run_that_fails_is_none_at_which_a_condition_holds(self):
        self.write("calls.toml", SEARCH.format(limit=9000).replace("[settings]", '[settings]\nrun.time_limit = "60 us"'))
        process = sluice("sweep", "calls.toml", cwd=self.directory)
        self.assertEqual(process.returncode, 1)
        self.assertIn("found: latency_ns.mean <= 9000 does not hold at e810-poll, workload.call.bytes = 64, "
                      "workload.outstanding = 1, the first one\n", process.stdout)
        # Tried again, the same.
        again = sluice("sweep", "calls.toml", "--retry-failed", cwd=self.directory)
        self.assertEqual((again.returncode, again.stdout), (1, process.stdout))

    def test_a_quantity_that_no_result_has_is_a_mistake(self):
        self.write("calls.toml", SEARCH.format(limit=9000).replace("latency_ns.mean <=", "latency_ns.maen <="))
        self.assert_mistake(["sweep", "calls.toml"], "calls.toml:10: the results have no latency_ns.maen; did you mean "
                                                     "latency_ns.mean?", cwd=self.directory)
        self.write("calls.toml", PRECISION.format(quantity="latency_ns.maen", within="1 %"))
        self.assert_mistake(["sweep", "calls.toml", "--out=p"], "calls.toml:3: the results have no latency_ns.maen; did you mean "
                                                                "latency_ns.mean?", cwd=self.directory)

    def test_what_a_failure_made_it_need_is_forgotten_with_it(self):
        self.write("calls.toml", SEARCH.format(limit=9000))
        self.sweep("--out=fresh")
        # The middle of the first search fails, as it may on a machine without memory, and bisection goes below it.
        self.sweep("--run=14", "--out=retried")
        path = next(iter(self.results("retried")))
        os.remove(path)
        with open(os.path.join(os.path.dirname(path), "mistake.txt"), "w", encoding="utf-8") as file:
            file.write("it was so")
        self.assertEqual(sluice("sweep", "calls.toml", "--out=retried", cwd=self.directory).returncode, 1)
        self.assertNotEqual(self.tables("retried"), self.tables("fresh"))
        self.sweep("--retry-failed", "--out=retried")
        self.assertEqual(self.tables("retried"), self.tables("fresh"))

    def test_a_damaged_result_is_run_again_before_a_search_goes_on(self):
        self.write("calls.toml", SEARCH.format(limit=9000))
        self.sweep()
        tables = self.tables()
        path = max(self.results())
        with open(path, "r+b") as file:
            contents = file.read()
            file.seek(contents.index(b'"latency_ns"') + 12)
            file.write(b"!")
        result = sluice("sweep", "calls.toml", cwd=self.directory)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("is damaged, and now called result.json.broken, so the point runs again\n", result.stderr)
        self.assertEqual(self.tables(), tables)

    def test_a_result_without_a_quantity_that_others_have_holds_nothing(self):
        self.write("calls.toml", SEARCH.format(limit=1000000))
        self.sweep()
        case = self.cases()["searches"][0]["tried"][0]
        (point,) = (p for p in self.cases()["points"] if p["case"] == case and p["replication"] == 0)
        path = os.path.join(self.directory, "calls.sweep/points", point["id"][:2], point["id"], "result.json")
        with open(path, encoding="utf-8") as file:
            contents = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(contents.replace('"mean":', '"maen":', 1))
        self.sweep()
        self.assertEqual(self.cases()["searches"][0]["found"], "7")  # the middle, 8, does not hold
        self.assertEqual(self.cases()["searches"][1]["found"], "16")

    def test_a_point_that_is_killed_waits_for_the_next_sweep(self):
        text = PRECISION.format(quantity="latency_ns.mean", within="0.0001 %").replace(', "e810-irq"', "").replace(
            "workload.requests = 60\n", "") + "[grid]\nworkload.requests = [60, 100000000]\n"
        self.write("calls.toml", text)
        killed = set()
        with self.started("--jobs=3") as process:
            deadline = time.monotonic() + 60
            while process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.3)
                for child in self.busy(process, 50) - killed:  # the long runs
                    os.kill(child, signal.SIGKILL)
                    killed.add(child)
            process.communicate()
        self.assertEqual(process.returncode, 1)
        self.assertEqual(len(killed), 3, "each of the first replications once")

    def test_results_that_are_not_needed_are_no_strangers(self):
        self.write("calls.toml", SEARCH.format(limit=9000))
        self.sweep("--run=0")
        self.assertIn("1 other result in calls.sweep belongs to no point that is needed, or to boards, files or a program as "
                      "they were\n", self.sweep())

    def test_a_precision_that_is_not_reached_is_told(self):
        self.write("calls.toml", PRECISION.format(quantity="latency_ns.mean", within="0.0001 %"))
        self.assertIn("2 of 2 cases: latency_ns.mean is not within 0.0001 %, with all the runs that the study allows\n",
                      self.sweep())
        self.assertEqual([c["is_precise"] for c in self.cases()["cases"]], [False] * 2)
        self.assertEqual(self.cases()["precision"], {"quantity": "latency_ns.mean", "within": 1e-6, "least": 3, "most": 12})

    def test_the_page_has_what_a_search_found(self):
        self.write("calls.toml", SEARCH.format(limit=9000))
        self.sweep("--report")
        with open(os.path.join(self.directory, "calls.sweep/report.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertIn("Searches", page)
        self.assertIn("latency_ns.mean &lt;= 9000", page)


if __name__ == "__main__":
    unittest.main()
