# SPDX-License-Identifier: Apache-2.0
"""`sluice sweep`: the same bytes whatever ran when and where, going on after any end, and mistakes."""

import csv
import json
import os
import random
import resource
import shlex
import shutil
import signal
import socket
import subprocess
import time
import unittest

from command import BUILD, SLUICE, SOURCE, CommandTest, finisher_guest, sluice

STUDY = """
summary = "calls in flight"
boards = ["e810-poll", "e810-irq"]
seeds = [1, 2, 3]
[settings]
workload.requests = 40
workload.warmup = 0
[grid]
workload.outstanding = {{ from = 1, to = {last}, step = 1 }}
"""
TABLES = ("study.csv", "study.json")


class SweepTest(CommandTest):
    def study(self, last=4, more=""):
        return self.write("calls.toml", STUDY.format(last=last) + more)

    def tables(self, directory="calls.sweep"):
        contents = []
        for name in TABLES:
            with open(os.path.join(self.directory, directory, name), "rb") as file:
                contents.append(file.read())
        return contents

    def rows(self, directory="calls.sweep", name="study.csv"):
        with open(os.path.join(self.directory, directory, name), newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def results(self, directory="calls.sweep"):
        """The paths of all result files, with when each was written."""
        found = {}
        for place, _, names in os.walk(os.path.join(self.directory, directory, "points")):
            if "result.json" in names:
                path = os.path.join(place, "result.json")
                found[path] = os.stat(path).st_mtime_ns
        return found

    def started(self, *arguments, **options):
        """A sweep that goes on while the test does."""
        return subprocess.Popen([SLUICE, "sweep", "calls.toml", *arguments], cwd=self.directory, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def sweep(self, *arguments, **options):
        return self.succeed("sweep", "calls.toml", *arguments, cwd=self.directory, **options)


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
                for child in subprocess.run(["pgrep", "-P", str(process.pid)], stdout=subprocess.PIPE, text=True,
                                            check=False).stdout.split():
                    try:
                        with open(f"/proc/{child}/stat", encoding="utf-8") as file:
                            ticks = int(file.read().rsplit(")", 1)[1].split()[11])
                        if ticks > 50:  # half a second: one of the long runs
                            os.kill(int(child), signal.SIGKILL)
                            killed.add(child)
                    except (FileNotFoundError, ProcessLookupError):
                        pass  # one of the short runs, which has ended since it was listed
            process.communicate()
        self.assertEqual(process.returncode, 1)
        self.assertEqual(len(killed), 3, "each of the first replications once")

    def test_results_that_are_not_needed_are_no_strangers(self):
        self.write("calls.toml", SEARCH.format(limit=9000))
        self.sweep("--run=0")
        self.assertIn("1 other result in calls.sweep belongs to no point that is needed, or to boards, files or a program as they "
                      "were\n", self.sweep())

    def test_a_precision_that_is_not_reached_is_told(self):
        self.write("calls.toml", PRECISION.format(quantity="latency_ns.mean", within="0.0001 %"))
        self.assertIn("2 of 2 cases: latency_ns.mean is not within 0.0001 %, with all the runs that the study allows\n", self.sweep())
        self.assertEqual([c["is_precise"] for c in self.cases()["cases"]], [False] * 2)
        self.assertEqual(self.cases()["precision"], {"quantity": "latency_ns.mean", "within": 1e-6, "least": 3, "most": 12})

    def test_the_page_has_what_a_search_found(self):
        self.write("calls.toml", SEARCH.format(limit=9000))
        self.sweep("--report")
        with open(os.path.join(self.directory, "calls.sweep/report.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertIn("Searches", page)
        self.assertIn("latency_ns.mean &lt;= 9000", page)


class Points(SweepTest):
    def test_shipped_studies_are_studies(self):
        names = [name[:-5] for name in os.listdir(os.path.join(SOURCE, "studies")) if name.endswith(".toml")]
        counts = {name: int(self.succeed("sweep", name, "--count")) for name in names}
        self.assertEqual(counts, {"design-space": 480, "link-width": 450, "echo-rate": 10, "echo-rate-fine": 1,
                                  "echo-caches": 5, "pcie-latency": 20, "pcie-bandwidth": 10, "pcie-iommu": 3,
                                  "pio-loopback": 6})
        self.assert_mistake(["sweep", "link-widht", "--count"], "there is no study link-widht; did you mean link-width?")

    def test_points_are_counted_and_listed(self):
        self.study(more='nic.eth0.queues = [1, 2]\nwhere = "workload.outstanding >= nic.eth0.queues"\n')
        self.assertEqual(self.sweep("--count"), "42\n")
        listed = self.sweep("--list").splitlines()
        self.assertEqual(len(listed), 42)
        self.assertEqual(listed[0], "0\te810-poll, workload.outstanding = 1, nic.eth0.queues = 1, seed 1")
        self.assertEqual(listed[41], "41\te810-irq, workload.outstanding = 4, nic.eth0.queues = 2, seed 3")
        self.assertFalse(os.path.exists(os.path.join(self.directory, "calls.sweep")))

    def test_a_point_is_the_run_that_its_settings_say(self):
        self.study()
        self.sweep()
        row = self.rows()[19]
        self.assertEqual((row["board"], row["workload.outstanding"], row["seed"]), ("e810-irq", "3", "2"))
        own = json.loads(self.succeed("run", "e810-irq", "--requests=40", "--warmup=0", "--seed=2", "--json",
                                      "--set=workload.outstanding=3"))
        path = os.path.join(self.directory, "calls.sweep/points", row["id"][:2], row["id"], "result.json")
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        self.assertEqual(float(row["latency_ns.mean"]), own["latency_ns"]["mean"])
        self.assertEqual(float(row["throughput_per_s"]), own["throughput_per_s"])
        for contents in (own, result):
            del contents["host"]
            for parameter in contents["board"]["instances"].values():
                for p in parameter["parameters"].values():
                    del p["set_by"], p["source"]
            del contents["without_effect"]
            contents.pop("identity", None)
        self.assertEqual(result, own)

    def test_the_command_of_a_point_repeats_it(self):
        self.study()
        self.sweep()
        command = self.sweep("--command=17").strip()
        self.assertEqual(command, "sluice run e810-irq --set workload.outstanding=2 --set workload.requests=40 "
                                  "--set workload.warmup=0 --set run.seed=3")
        arguments = shlex.split(command)[1:]
        result = json.loads(self.succeed(*arguments, "--json", cwd=self.directory))
        self.assertEqual(float(self.rows()[17]["latency_ns.mean"]), result["latency_ns"]["mean"])
        # The point's page says where the command is.
        page = self.succeed("report", os.path.join("calls.sweep/points", self.rows()[17]["id"][:2], self.rows()[17]["id"]),
                            cwd=self.directory).strip()
        with open(os.path.join(self.directory, page), encoding="utf-8") as file:
            self.assertIn("`sluice sweep calls.toml --command N` how to repeat it", file.read())

    def test_the_command_of_a_point_means_the_studys_board_and_files(self):
        # A board with the name of a shipped one, and a firmware beside the study.
        self.write("study/e810-poll.toml", "extends = ['e810-irq']\n")
        shutil.copy(os.path.join(BUILD, "firmware/rpc-server.elf"), os.path.join(self.directory, "study/own.elf"))
        self.write("study/calls.toml", "boards = ['./e810-poll.toml']\n[settings]\nworkload.requests = 40\n"
                                       "cluster.host.firmware = 'own.elf'\n")
        self.succeed("sweep", "study/calls.toml", cwd=self.directory)
        command = self.succeed("sweep", "study/calls.toml", "--command=0", cwd=self.directory).strip()
        self.assertEqual(shlex.split(command)[2], os.path.realpath(os.path.join(self.directory, "study/e810-poll.toml")))
        result = json.loads(self.succeed(*shlex.split(command)[1:], "--json", cwd=self.directory))
        self.assertEqual(float(self.rows()[0]["latency_ns.mean"]), result["latency_ns"]["mean"])

    def test_settings_of_the_command_line_are_on_top(self):
        self.study(1)
        self.sweep("--set=bus.latency=12 ns")
        with open(next(iter(self.results())), encoding="utf-8") as file:
            result = json.load(file)
        latency = result["board"]["instances"]["bus"]["parameters"]["latency"]
        self.assertEqual((latency["text"], latency["set_by"]), ("12 ns", "--set"))
        with open(os.path.join(self.directory, "calls.sweep/study.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["changed"], ["bus.latency=12 ns"])
        self.assert_mistake(["sweep", "calls.toml", "--set=workload.outstanding=2"],
                            "--set workload.outstanding=2: workload.outstanding is swept by the study calls, so it cannot be "
                            "set")

    def test_one_point_can_be_run_alone(self):
        self.study()
        said = self.sweep("--run=19")
        self.assertTrue(said.startswith("point 19 (e810-irq, workload.outstanding = 3, seed 2): calls.sweep/points/"), said)
        self.assertEqual(len(self.results()), 1)
        self.assertEqual(self.sweep("--status"), "calls: 24 points: 1 done, 0 failed, 23 missing\n")
        before = self.results()
        self.sweep()
        self.assertEqual({path: at for path, at in self.results().items() if path in before}, before)

    def test_quantities_are_measured_by_name(self):
        self.study(last=1, more="")
        text = STUDY.format(last=1).replace("[settings]", 'measure = ["cores.cluster.host.hart0.time.idle", '
                                            '"links.pcie.slot0.up.bytes", "counters.nic.eth0.rx_packets", "latency_ns.p50", '
                                            '"requests.completed"]\n[settings]')
        self.write("calls.toml", text)
        self.sweep()
        for row in self.rows():
            path = os.path.join(self.directory, "calls.sweep/points", row["id"][:2], row["id"], "result.json")
            with open(path, encoding="utf-8") as file:
                result = json.load(file)
            self.assertEqual(float(row["cores.cluster.host.hart0.time.idle"]), result["cores"][0]["time"]["idle"])
            up = next(link for link in result["links"] if link["direction"] == "up")
            self.assertEqual(float(row["links.pcie.slot0.up.bytes"]), up["bytes"])
            self.assertEqual(float(row["counters.nic.eth0.rx_packets"]), result["counters"]["nic.eth0"]["rx_packets"])
            self.assertEqual(float(row["latency_ns.p50"]), result["latency_ns"]["p50"])
            self.assertEqual(row["requests.completed"], "40.0")

    def test_a_quantity_that_no_result_has_is_told(self):
        self.study()
        self.write("calls.toml", 'measure = ["latency_ns.p98", "latency_ns.p99"]\n' + STUDY.format(last=1))
        result = sluice("sweep", "calls.toml", cwd=self.directory)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "sluice: calls.toml:1: no result has latency_ns.p98; did you mean latency_ns.p90?\n")


class SettingsWithoutEffect(SweepTest):
    RATE = "\nworkload.rate = ['1 M/s', '2 M/s']\n"
    SAYS = "sluice: calls: in every run, workload.rate (calls.toml:{}) has no effect: workload.kind is closed-loop\n"

    def said(self, *arguments):
        result = sluice("sweep", "calls.toml", *arguments, cwd=self.directory)
        self.assertEqual(result.returncode, 0)
        with open(os.path.join(self.directory, "calls.sweep/study.json"), encoding="utf-8") as file:
            return result.stderr, [w["path"] for w in json.load(file)["without_effect"]]

    def test_a_swept_parameter_that_does_nothing_is_told(self):
        self.study(2, self.RATE)
        self.assertEqual(self.said("--report"), (self.SAYS.format(11), ["workload.rate"]))
        with open(os.path.join(self.directory, "calls.sweep/report.html"), encoding="utf-8") as file:
            self.assertIn("<p>In every run, workload.rate (calls.toml:11) has no effect: workload.kind is closed-loop.</p>",
                          file.read())

    def test_so_is_one_of_the_whole_study_and_one_of_a_grid(self):
        self.write("calls.toml", "[settings]\nworkload.requests = 40\nworkload.rate = '1 M/s'\n"
                                 "[[grid]]\nboards = ['e810-poll']\nworkload.outstanding = [1, 2]\n"
                                 "[[grid]]\nboards = ['e810-irq']\nsettings.workload.resolution = '1 M/s'\n"
                                 "workload.outstanding = [1, 2]\n")
        errors, paths = self.said()
        self.assertEqual(paths, ["workload.rate", "workload.resolution"])
        self.assertTrue(errors.startswith(self.SAYS.format(3)), errors)
        self.assertRegex(errors, r"\nsluice: calls: in every run, workload.resolution \(calls.toml:9\) has no effect: ")

    def test_what_did_not_happen_is_told_of_swept_ones_only(self):
        self.study(1, "run.allow_drops = [true, false]\n")
        self.assertEqual(self.said(), ("sluice: calls: in every run, run.allow_drops (calls.toml:10) did not act: nothing was "
                                       "dropped\n", ["run.allow_drops"]))
        # The results of that study stay, and what they say of lines of its file does not count.
        self.write("calls.toml", STUDY.format(last=1).replace("[grid]", "run.allow_drops = true\n[grid]"))
        self.assertEqual(self.said(), ("", []))

    def test_one_that_acts_anywhere_is_not(self):
        self.write("calls.toml", "boards = ['e810-poll']\n[settings]\nworkload.requests = 40\nworkload.rate = '1 M/s'\n"
                                 "[grid]\nworkload.kind = ['closed-loop', 'open-loop']\n")
        self.assertEqual(self.said(), ("", []))


class SameBytes(SweepTest):
    """Acceptance: a study of 200 points on 2 boards with 3 seeds gives the same tables and page however it ran."""
    LAST = 34  # 204 points

    once = None

    def setUp(self):
        super().setUp()
        self.study(self.LAST)
        if SameBytes.once is None:
            self.sweep("--out=once", "--jobs=1", "--report")
            SameBytes.once = self.everything("once")

    def everything(self, directory):
        with open(os.path.join(self.directory, directory, "report.html"), "rb") as page:
            return [*self.tables(directory), page.read()]

    def test_more_jobs_change_no_byte(self):
        for jobs in (4, 13):
            self.sweep(f"--out=jobs{jobs}", f"--jobs={jobs}", "--report")
            self.assertEqual(self.everything(f"jobs{jobs}"), self.once)

    def test_points_in_any_order_give_the_same_bytes(self):
        numbers = list(range(204))
        random.Random(5).shuffle(numbers)
        for n in numbers:
            self.sweep("--out=shuffled", f"--run={n}")
        self.sweep("--out=shuffled", "--report")
        self.assertEqual(self.everything("shuffled"), self.once)

    def test_kill_9_at_any_moment_costs_the_runs_in_flight(self):
        drawn = random.Random(9)
        complete = {}
        for _ in range(20):
            with subprocess.Popen([SLUICE, "sweep", "calls.toml", "--out=killed", "--jobs=3"], cwd=self.directory,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                time.sleep(drawn.uniform(0.02, 0.4))
                process.kill()
            now = self.results("killed")
            self.assertEqual({path: now.get(path) for path in complete}, complete, "what is complete has run again")
            complete = now
        self.sweep("--out=killed", "--report")
        self.assertEqual(self.everything("killed"), self.once)
        # A finished study starts no run, and writes the same again.
        before = self.results("killed")
        self.sweep("--out=killed", "--report")
        self.assertEqual(self.results("killed"), before)
        self.assertEqual(self.everything("killed"), self.once)
        # Nothing is left of those that were killed.
        for place, _, names in os.walk(os.path.join(self.directory, "killed")):
            self.assertFalse([n for n in names if "partial" in n and "points" in place], place)

    def test_two_sweeps_at_once_run_no_point_twice(self):
        both = [self.started("--out=both", "--jobs=2", "--report") for _ in range(2)]
        seen = {}
        while any(p.poll() is None for p in both):
            for path, at in self.results("both").items():
                self.assertEqual(seen.setdefault(path, at), at, f"{path} was written twice")
            time.sleep(0.05)
        for p in both:
            output, errors = p.communicate()
            self.assertEqual((p.returncode, errors), (0, ""))
            self.assertTrue(output.startswith("calls: 204 points: 204 done, 0 failed, 0 missing\n"), output)
        self.assertEqual(self.everything("both"), self.once)


class Ends(SweepTest):
    def test_signals_end_it_and_the_same_command_goes_on(self):
        # Runs that last long enough to be interrupted.
        self.write("calls.toml", STUDY.format(last=4).replace("requests = 40", "requests = 200000"))
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            with self.started("--jobs=2") as process:
                time.sleep(1)
                process.send_signal(getattr(signal, name))
                output, errors = process.communicate(timeout=30)
            self.assertEqual((process.returncode, output), (1, ""))
            done = len(self.results())
            self.assertLess(done, 24)
            self.assertEqual(errors, f"sluice: sweep: interrupted by {name} with {done} of 24 points done; the same command "
                                     "goes on\n")

    def test_a_signal_between_runs_says_how_to_go_on(self):
        # Looking up so many points takes seconds.
        self.write("calls.toml", "boards = ['e810-poll']\n[grid]\nworkload.requests = "
                                 "{ from = 40, to = 200039, step = 1 }\n")
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            with self.started() as process:
                time.sleep(0.5)
                process.send_signal(getattr(signal, name))
                output, errors = process.communicate(timeout=30)
            self.assertEqual((process.returncode, output), (1, ""))
            self.assertEqual(errors, f"sluice: sweep: interrupted by {name}; the same command goes on\n")
        self.assertEqual(self.results(), {})

    def test_more_jobs_than_the_machine_has_pipes_for_are_run_after_each_other(self):
        self.study(4)
        self.sweep("--out=plain")
        few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
        self.sweep("--out=few", "--jobs=24", preexec_fn=few)
        self.assertEqual(self.tables("few"), self.tables("plain"))
        none = sluice("sweep", "calls.toml", "--out=none", cwd=self.directory,
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5)))
        self.assertEqual((none.returncode, none.stdout), (2, ""))
        self.assertIn("Too many open files", none.stderr)

    def test_what_a_killed_sweep_left_of_a_table_is_removed(self):
        self.study(1)
        self.sweep()
        left = self.write(f"calls.sweep/study.csv.{socket.gethostname()}.99999999.partial", "point,")
        self.sweep()
        self.assertFalse(os.path.exists(left))

    def test_a_run_that_is_killed_is_no_result_and_runs_again(self):
        self.write("calls.toml", STUDY.format(last=1).replace("requests = 40", "requests = 300000"))
        with self.started("--jobs=1") as process:
            time.sleep(0.5)
            (child,) = subprocess.check_output(["pgrep", "-P", str(process.pid)], text=True).split()
            os.kill(int(child), signal.SIGKILL)
            _, errors = process.communicate(timeout=100)
        self.assertEqual(process.returncode, 1)
        self.assertEqual(errors, "sluice: sweep: point 0 (e810-poll, workload.outstanding = 1, seed 1) failed: its process "
                                 "was ended by signal 9 (Killed)\nsluice: sweep: 1 point has no result; the same command "
                                 "goes on\n")
        self.assertEqual([row["state"] for row in self.rows()], ["missing"] + ["done"] * 5)
        self.sweep()
        self.assertEqual({row["state"] for row in self.rows()}, {"done"})

    def test_a_failed_run_is_a_result_and_not_the_end(self):
        self.write("fails.elf", finisher_guest(0x0001_3333))
        self.write("own.toml", "extends = ['hosts/i9-9960x']\n[cluster.host]\nfirmware = 'fails.elf'\n")
        self.write("passes.elf", finisher_guest(0x5555))
        self.write("good.toml", "extends = ['hosts/i9-9960x']\n[cluster.host]\nfirmware = 'passes.elf'\n")
        self.write("calls.toml", "boards = ['./own.toml', './good.toml']\nreplications = 2\n")
        failed = sluice("sweep", "calls.toml", cwd=self.directory)
        self.assertEqual(failed.returncode, 1)
        self.assertTrue(failed.stdout.startswith("calls: 4 points: 2 done, 2 failed, 0 missing\n"), failed.stdout)
        self.assertIn("sluice: sweep: point 1 (own, replication 1) failed: the firmware", failed.stderr)
        self.assertEqual([row["state"] for row in self.rows()], ["failed", "failed", "done", "done"])
        self.assertIn("the firmware", self.rows()[0]["failure"])
        # It stays until it is asked for again.
        before = self.results()
        again = sluice("sweep", "calls.toml", cwd=self.directory)
        self.assertEqual((again.returncode, self.results()), (1, before))
        self.assertIn("sluice: sweep: point 1 (own, replication 1) failed: the firmware", again.stderr)
        self.assertTrue(again.stderr.endswith("sluice: sweep: what has failed stays so; --retry-failed runs it again\n"))
        sluice("sweep", "calls.toml", "--retry-failed", cwd=self.directory)
        now = self.results()
        self.assertEqual(sorted(path for path in now if now[path] != before[path]),
                         sorted(path for path in before if self.rows()[0]["id"] in path or self.rows()[1]["id"] in path))

    def test_what_has_failed_stays_until_it_is_replaced(self):
        self.write("calls.toml", STUDY.format(last=4).replace("requests = 40", "requests = 20000")
                   .replace('"e810-poll", "e810-irq"', '"e810-poll"')
                   .replace("workload.warmup = 0", "workload.kind = 'open-loop'\nworkload.rate = 100000000\n"
                                                   "nic.eth0.rx_ring = 64").replace("outstanding", "requests")
                   .replace("from = 1, to = 4, step = 1", "from = 2001, to = 2004, step = 1").replace(
                       "workload.requests = 20000\n", ""))
        result = sluice("sweep", "calls.toml", cwd=self.directory)
        self.assertTrue(result.stdout.startswith("calls: 12 points: 0 done, 12 failed, 0 missing\n"), result.stdout)
        before = self.results()
        with self.started("--retry-failed", "--jobs=1") as process:
            time.sleep(0.3)
            process.kill()
        now = self.results()
        self.assertEqual(set(now), set(before))
        self.assertLess(sum(now[path] != before[path] for path in now), 12)

    def test_two_retries_at_once_run_each_once(self):
        self.write("fails.elf", finisher_guest(0x0001_3333))
        self.write("own.toml", "extends = ['hosts/i9-9960x']\n[cluster.host]\nfirmware = 'fails.elf'\n")
        self.write("calls.toml", "boards = ['./own.toml']\nreplications = 200\n")
        sluice("sweep", "calls.toml", cwd=self.directory)
        seen = {path: [at] for path, at in self.results().items()}
        self.assertEqual(len(seen), 200)
        both = [self.started("--retry-failed", "--jobs=2") for _ in range(2)]
        while any(p.poll() is None for p in both):
            for path, at in self.results().items():
                if at not in seen[path]:
                    seen[path].append(at)
        for p in both:
            p.communicate()
        self.assertEqual({len(times) for times in seen.values()}, {2})

    def test_a_machine_without_room_makes_no_result(self):
        self.study(1)
        small = lambda: resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20))
        result = sluice("sweep", "calls.toml", "--jobs=1", cwd=self.directory, preexec_fn=small)
        self.assertEqual(result.returncode, 1)
        self.assertTrue(result.stdout.startswith("calls: 6 points: 0 done, 0 failed, 6 missing\n"), result.stdout)
        self.assertIn("of address space, which this machine refuses", result.stderr)
        self.assertTrue(result.stderr.endswith("sluice: sweep: 6 points have no result; the same command goes on\n"))
        self.sweep()

    def test_a_board_that_cannot_run_is_told_and_kept(self):
        self.write("own.toml", "extends = ['e810-poll']\n[cluster.host]\nfirmware = 'missing.elf'\n")
        self.write("calls.toml", "boards = ['./own.toml', 'e810-poll']\n[settings]\nworkload.requests = 40\n")
        failed = sluice("sweep", "calls.toml", cwd=self.directory)
        self.assertEqual(failed.returncode, 1)
        self.assertRegex(failed.stderr, r"^sluice: sweep: point 0 \(own\) failed: \./own\.toml:3: there is no firmware missing")
        self.assertEqual([row["state"] for row in self.rows()], ["failed", "done"])
        self.assertEqual(sluice("sweep", "calls.toml", "--status", cwd=self.directory).returncode, 0)

    def test_a_changed_board_or_file_makes_new_points_and_old_ones_are_named(self):
        self.write("own.toml", "extends = ['hosts/i9-9960x']\n[cluster.host]\nfirmware = 'own.elf'\n")
        self.write("own.elf", finisher_guest(0x5555))
        self.write("calls.toml", "boards = ['./own.toml']\n")
        self.sweep()
        for changed in (lambda: self.write("own.elf", finisher_guest(0x5555) + b"more"),
                        lambda: self.write("own.toml", "extends = ['hosts/i9-9960x']\n[cluster.host]\nfirmware = 'own.elf'\n"
                                                       "[run]\nstall_limit = '11 ms'\n")):
            before = len(self.results())
            changed()
            said = self.sweep()
            self.assertEqual(len(self.results()), before + 1)
            self.assertIn(f"{before} other result{'s' if before > 1 else ''} in calls.sweep", said)
        # What only describes a value makes no new point.
        self.write("own.toml", "# said again\nextends = ['hosts/i9-9960x']\n[cluster.host]\nfirmware = 'own.elf'\n"
                               "[run]\nstall_limit = { value = '11 ms', source = 'us', kind = 'assumed' }\n")
        before = self.results()
        self.sweep()
        self.assertEqual(self.results(), before)

    def test_a_full_disk_ends_it_and_leaves_what_is_complete(self):
        self.study()
        # No file may become as large as a result.
        limited = sluice("sweep", "calls.toml", cwd=self.directory,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000)))
        self.assertEqual((limited.returncode, limited.stdout), (2, ""))
        self.assertRegex(limited.stderr, r"^sluice: calls.sweep/points/../[0-9a-f]{32}/result.json: cannot be written: "
                                         r"File too large\n$")
        self.assertEqual(self.results(), {})
        self.sweep()
        self.assertEqual({row["state"] for row in self.rows()}, {"done"})

    def test_result_files_that_are_none_are_named_and_left_out(self):
        self.study(1)
        self.sweep()
        whole = self.tables()
        paths = sorted(self.results())
        with open(paths[0], encoding="utf-8") as file:
            text = file.read()
        for name, content in (("is cut off, or no JSON", text[:-200]), ("is cut off, or no JSON", ""),
                              ("is no result file of schema sluice-result-1", "{}\n"),
                              ("is no result file of schema sluice-result-1", text.replace("result-1", "result-9", 1)),
                              ("is no result file that this program has written", json.dumps(json.loads(text)))):
            with open(paths[0], "w", encoding="utf-8") as file:
                file.write(content)
            status = sluice("sweep", "calls.toml", "--status", cwd=self.directory)
            shown = os.path.relpath(paths[0], self.directory)
            self.assertEqual(status.stderr, f"sluice: sweep: {shown} {name}, so it is left out\n")
            self.assertEqual(status.stdout, "calls: 6 points: 5 done, 0 failed, 1 missing\n")
            again = sluice("sweep", "calls.toml", cwd=self.directory)
            self.assertEqual(again.stderr, f"sluice: sweep: {shown} {name}, so the point runs again\n")
            self.assertEqual(again.returncode, 0)
            self.assertEqual(self.tables(), whole)

    def test_the_result_of_another_point_is_not_taken_for_this_ones(self):
        self.study(1)
        self.sweep()
        whole = self.tables()
        first, *_, last = sorted(self.results())
        with open(last, "rb") as file, open(first, "wb") as other:
            other.write(file.read())
        again = sluice("sweep", "calls.toml", cwd=self.directory)
        shown = os.path.relpath(first, self.directory)
        self.assertEqual(again.stderr, f"sluice: sweep: {shown} is the result of another run, so the point runs again\n")
        self.assertEqual(self.tables(), whole)

    def test_a_result_that_is_damaged_inside_is_set_aside(self):
        self.study(1)
        self.sweep()
        whole = self.tables()
        first = min(self.results())
        with open(first, "r+b") as file:
            file.seek(50000)
            file.write(b"\0\1\2")
        shown = os.path.relpath(first, self.directory)
        found = sluice("sweep", "calls.toml", cwd=self.directory)
        self.assertEqual(found.returncode, 1)
        self.assertEqual(found.stderr, f"sluice: sweep: {shown} is damaged, and now called result.json.broken, so it is "
                                       "left out\nsluice: sweep: 1 point has no result; the same command goes on\n")
        self.sweep()
        self.assertEqual(self.tables(), whole)

    def test_what_is_no_file_is_named(self):
        self.study(1)
        self.sweep()
        whole = self.tables()
        first = min(self.results())
        for make in (os.mkfifo, os.mkdir):
            os.remove(first)
            make(first)
            status = sluice("sweep", "calls.toml", "--status", cwd=self.directory)
            self.assertIn("result.json cannot be read, so it is left out", status.stderr)
            self.assertEqual(sluice("sweep", "calls.toml", cwd=self.directory).returncode, 0)
            self.assertEqual(self.tables(), whole)

    def test_tables_do_not_say_where_the_study_was(self):
        self.write("own.toml", "extends = ['e810-poll']\n[cluster.host]\nfirmware = 'missing.elf'\n")
        self.write("calls.toml", "boards = ['./own.toml']\n")
        sluice("sweep", "calls.toml", cwd=self.directory)
        sluice("sweep", os.path.join(self.directory, "calls.toml"), "--out=" + os.path.join(self.directory, "other"), cwd="/")
        self.assertEqual(self.tables(), self.tables("other"))

    def test_what_it_was_started_to_ignore_does_not_end_it(self):
        self.write("calls.toml", STUDY.format(last=1).replace("requests = 40", "requests = 30000"))
        def ignore():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        with self.started(preexec_fn=ignore) as process:
            time.sleep(0.3)
            process.send_signal(signal.SIGHUP)
            output, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, errors), (0, ""))
        self.assertTrue(output.startswith("calls: 6 points: 6 done"), output)


class Mistakes(SweepTest):
    def test_each_is_one_sentence(self):
        self.study()
        def refused(text, sentence, *arguments):
            self.write("calls.toml", text)
            self.assert_mistake(["sweep", "calls.toml", *arguments], sentence)
        refused("boards = ['e810-pol']\n", "calls.toml:1: e810-pol: no such board; did you mean e810-poll?")
        refused("boards = ['e810-poll']\n[grid]\nnic.eth0.queus = [1]\n",
                "calls.toml:3: nic.eth0.queus is not a parameter of the descriptor NIC; did you mean nic.eth0.queues?")
        refused("boards = ['e810-poll']\nmeasure = ['host.wall_s']\n",
                "calls.toml:2: host.wall_s depends on the machine, and is no quantity of a study; host.csv has it")
        refused("boards = ['e810-poll']\n[grid]\nwhere = ''\n",
                "calls.toml:3: where must be a condition; leave it out for none")
        refused("boards = [\n", "calls.toml:1: not valid TOML: ...")
        good = STUDY.format(last=2)
        refused(good, "--jobs 0: must be a whole number, 1 to 4096", "--jobs=0")
        refused(good, "--run 12: must be a whole number, 0 to 11", "--run=12")
        refused(good, "sweep: --list, --count, --status, --command and --run exclude each other", "--list", "--count")
        refused(good, "--retry-failed: nothing is run with --list, --count, --status or --command", "--retry-failed", "--status")
        refused(good, "--jobs: belongs to a sweep of all points", "--jobs=2", "--run=1")
        refused(good, "--out: nothing is looked up with --list, --count or --command", "--out=x", "--count")
        self.assert_mistake(["sweep", "other.toml"], "other.toml: no such file")
        self.assert_mistake(["sweep"], "sweep needs a STUDY: a TOML file")

    def test_directories_that_are_not_its_own(self):
        self.study(1)
        self.write("others.toml", STUDY.format(last=1))
        self.succeed("sweep", "others.toml", cwd=self.directory)
        self.assert_mistake(["sweep", "calls.toml", "--out=others.sweep"],
                            "--out others.sweep: has results of the study others, not of calls; name another directory")
        self.succeed("run", "e810-poll", "--requests=10", "--out=run", cwd=self.directory)
        self.assert_mistake(["sweep", "calls.toml", "--out=run"],
                            "--out run: has the result.json of another command; name another directory")
        self.assert_mistake(["run", "e810-poll", "--requests=10", "--out=others.sweep"],
                            "--out others.sweep: has the study.json of another command; name another directory")
        self.write("file", "")
        self.assert_mistake(["sweep", "calls.toml", "--out=file"], "--out file: cannot be made: ...")
        self.write("calls.sweep/sweep.json", "{")
        self.assert_mistake(["sweep", "calls.toml"],
                            "calls.sweep/sweep.json: is not what sluice sweep has written; name another directory")

    def test_a_board_that_is_changed_under_a_running_one(self):
        self.write("own.toml", "extends = ['e810-poll']\n")
        self.write("calls.toml", STUDY.format(last=4).replace("requests = 40", "requests = 200000")
                   .replace('"e810-poll", "e810-irq"', '"./own.toml"'))
        with self.started("--jobs=1") as process:
            time.sleep(0.7)
            self.write("own.toml", "extends = ['e810-poll']\n[nic.eth0.pcie]\ntags = 16\n")
            self.assert_mistake(["sweep", "calls.toml"], "calls.toml: has changed, or a board or --set has, since ...")
            process.terminate()
            process.communicate(timeout=30)

    def test_settings_that_each_grid_sets_again(self):
        self.write("calls.toml", STUDY.format(last=2).replace("requests = 40", "outstanding = 3"))
        self.assert_mistake(["sweep", "calls.toml"], "calls.toml:6: workload.outstanding is set again by each grid, so it has "
                                                     "no effect here")
        self.write("calls.toml", STUDY.format(last=1).replace("[grid]", "[[grid]]\nworkload.requests = [50]\n[[grid]]"))
        self.sweep("--count")

    def test_a_precision_that_is_no_share(self):
        for within in ('2', '"2"', '"100 %"'):
            self.write("calls.toml", "boards = ['e810-poll']\nreplications = { quantity = 'latency_ns.mean', within = "
                                     f"{within} }}\n")
            self.assert_mistake(["sweep", "calls.toml"], "calls.toml:2: replications.within must be " +
                                ("more than 0 % and less than 100 %" if "100" in within else
                                 'a share in quotes, such as "5 %"'))

    def test_a_directory_that_cannot_be_read(self):
        self.study(1)
        self.sweep()
        shutil.rmtree(os.path.join(self.directory, "calls.sweep/points"))
        self.write("calls.sweep/points", "")
        self.assert_mistake(["sweep", "calls.toml", "--status"], "calls.sweep/points: cannot be read: Not a directory")

    def test_a_study_that_is_changed_under_a_running_one(self):
        self.write("calls.toml", STUDY.format(last=4).replace("requests = 40", "requests = 200000"))
        with self.started("--jobs=1") as process:
            time.sleep(0.7)
            self.study(2)
            self.assert_mistake(["sweep", "calls.toml"], "calls.toml: has changed, or a board or --set has, since the "
                                                         "sweep that runs in calls.sweep has begun; wait for its end, or "
                                                         "give --out")
            process.terminate()
            process.communicate(timeout=30)
        self.sweep()


if __name__ == "__main__":
    unittest.main()
