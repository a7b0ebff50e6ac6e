# SPDX-License-Identifier: Apache-2.0
"""`sluice sweep`: its points, the same bytes whatever ran when and where, and mistakes. SLUICE_FULL=1: with a study of
200 points."""

import json
import os
import random
import shlex
import shutil
import subprocess
import time
import unittest

from command import BUILD, FULL, SLUICE, SOURCE, sluice
from sweep_test import STUDY, SweepTest


class Points(SweepTest):
    def test_shipped_studies_are_studies(self):
        names = [name[:-5] for name in os.listdir(os.path.join(SOURCE, "studies")) if name.endswith(".toml")]
        counts = {name: int(self.succeed("sweep", name, "--count")) for name in names}
        self.assertEqual(counts, {"delivery": 36, "design-space": 480, "link-width": 450, "echo-rate": 10, "echo-rate-fine": 1,
                                  "echo-caches": 5, "pcie-latency": 20, "pcie-bandwidth": 10, "pcie-iommu": 3,
                                  "pio-loopback": 6, "idle": 1, "moving-services": 8, "message-rtt": 21, "dynamic-load": 20})
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

    def test_tables_do_not_say_where_the_study_was(self):
        self.write("own.toml", "extends = ['e810-poll']\n[cluster.host]\nfirmware = 'missing.elf'\n")
        self.write("calls.toml", "boards = ['./own.toml']\n")
        sluice("sweep", "calls.toml", cwd=self.directory)
        sluice("sweep", os.path.join(self.directory, "calls.toml"), "--out=" + os.path.join(self.directory, "other"), cwd="/")
        self.assertEqual(self.tables(), self.tables("other"))


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
    """A study on 2 boards with 3 seeds gives the same tables and page however it ran."""
    LAST = 34 if FULL else 6
    POINTS = 6 * LAST

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
        self.sweep("--out=jobs", "--jobs=13", "--report")
        self.assertEqual(self.everything("jobs"), self.once)

    def test_points_in_any_order_give_the_same_bytes(self):
        numbers = list(range(self.POINTS))
        random.Random(5).shuffle(numbers)
        for n in numbers:
            self.sweep("--out=shuffled", f"--run={n}")
        self.sweep("--out=shuffled", "--report")
        self.assertEqual(self.everything("shuffled"), self.once)

    def test_kill_9_at_any_moment_costs_the_runs_in_flight(self):
        drawn = random.Random(9)
        complete, running = {}, 0
        for _ in range(max(5, self.POINTS // 10)):
            with subprocess.Popen([SLUICE, "sweep", "calls.toml", "--out=killed", "--jobs=3"], cwd=self.directory,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                time.sleep(drawn.uniform(0.02, 0.4))
                process.kill()
            now = self.results("killed")
            running += len(now) < self.POINTS
            self.assertEqual({path: now.get(path) for path in complete}, complete, "what is complete has run again")
            complete = now
        self.assertGreater(running, 1, "no sweep was killed while it ran")
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
            self.assertTrue(output.startswith(f"calls: {self.POINTS} points: {self.POINTS} done, 0 failed, 0 missing\n"), output)
        self.assertEqual(self.everything("both"), self.once)


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
