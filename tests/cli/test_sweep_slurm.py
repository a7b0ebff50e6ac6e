# SPDX-License-Identifier: Apache-2.0
"""`sluice sweep --slurm`, with a Slurm that the test starts: what tasks, nodes and job records do changes no result.
SLUICE_FULL=1: with a study of 200 points."""

import json
import os
import re
import shutil
import sys
import unittest

from command import FULL, CommandTest, finisher_guest, sluice
from slurm_cluster import Cluster, why_not

MOST_TASKS = 20
# The largest number of calls in flight of a study, and the tasks of its jobs, of 4 of its points each.
LAST, TASKS = (34, [20, 20, 11]) if FULL else (15, [20, 3])
CALLS = """
boards = ["e810-poll", "e810-irq"]
seeds = [1, 2, 3]
[settings]
workload.requests = {requests}
workload.warmup = 0
[grid]
workload.outstanding = {{ from = 1, to = {last}, step = 1 }}
"""

SEARCH = """
boards = ["e810-poll", "e810-irq"]
replications = 2
measure = ["latency_ns.mean"]
[settings]
workload.requests = 40
workload.warmup = 0
[grid]
workload.outstanding = { from = 1, to = 16, step = 1, while = "latency_ns.mean <= 9000" }
"""


@unittest.skipIf(why_not(), why_not())
class WithSlurm(CommandTest):
    @classmethod
    def setUpClass(cls):
        # Below /tmp the paths of sockets stay short.
        cls.place = os.path.realpath(f"/tmp/sluice-slurm-{os.getpid()}")
        os.makedirs(cls.place)
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        cls.cluster = Cluster(cls.place, MOST_TASKS)
        cls.addClassCleanup(cls.cluster.close)
        for name in ("SLURM_CONF", "PATH"):
            before = os.environ.get(name)
            os.environ[name] = cls.cluster.environment[name]
            cls.addClassCleanup(lambda n=name, b=before: os.environ.update({n: b}) if b else os.environ.pop(n))

    def setUp(self):
        super().setUp()
        self.addCleanup(self.clear)

    def clear(self):
        """What a test has left must not meet the next one's jobs."""
        for job in {job for job, _, _ in self.cluster.running()}:
            self.cluster.output("scancel", job)
        self.wait_until(lambda: not self.cluster.running())

    def study(self, last, requests=40):
        self.write("calls.toml", CALLS.format(last=last, requests=requests))

    def tables(self, directory):
        contents = []
        for name in ("study.csv", "study.json"):
            with open(os.path.join(self.directory, directory, name), "rb") as file:
                contents.append(file.read())
        return contents

    def submit(self, *arguments):
        return sluice("sweep", "calls.toml", "--slurm", *arguments, cwd=self.directory)

    def wait_until(self, condition):
        self.cluster.wait_for(condition, 90)

    def hasten(self):
        """Slurm lets what it has queued again wait for two minutes."""
        for job, task, state in self.cluster.running():
            if state == "PD":
                self.cluster.output("scontrol", "update", f"jobid={job}_{task}", "starttime=now")

    def test_a_study_gives_the_bytes_of_a_local_one(self):
        self.study(LAST)
        points = 6 * LAST
        self.succeed("sweep", "calls.toml", "--out=local", cwd=self.directory)
        result = self.submit("--wait", "--points-per-task=4")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        jobs = re.match(rf"submitted: {points} points as jobs ([\d, ]+)\n", result.stdout)
        self.assertTrue(jobs, result.stdout)
        sizes = []
        for job in jobs[1].split(", "):
            with open(os.path.join(self.directory, f"calls.sweep/slurm/{job}.json"), encoding="utf-8") as file:
                sizes.append(len(json.load(file)["tasks"]))
        self.assertEqual(sizes, TASKS)
        self.assertEqual(self.tables("calls.sweep"), self.tables("local"))
        again = self.submit("--wait")
        self.assertEqual((again.returncode, again.stdout), (0, f"calls: {points} points: {points} done, 0 failed, 0 missing\n"
                                                               "results: calls.sweep/study.csv, study.json\n"))

    def test_tasks_that_end_badly_cost_only_themselves(self):
        self.study(4, requests=30000)  # 24 points of a second or so
        self.succeed("sweep", "calls.toml", "--out=local", cwd=self.directory)
        self.assertEqual(self.submit("--points-per-task=2", "--sbatch=--requeue").returncode, 0)
        self.wait_until(lambda: sum(state == "R" for _, _, state in self.cluster.running()) >= 3)
        running = [(job, task) for job, task, state in self.cluster.running() if state == "R"]
        (job, killed), (_, requeued), (_, cancelled) = running[:3]
        # A task may end before it is hit: then others are lost by the next ones.
        self.cluster.output("scancel", "--batch", "--signal=KILL", f"{job}_{killed}")
        self.cluster.output("scontrol", "requeue", f"{job}_{requeued}")
        self.cluster.output("scancel", f"{job}_{cancelled}")
        # What waits or runs is not submitted again, and what was lost is.
        self.wait_until(lambda: (job, killed, "R") not in self.cluster.running())
        second = self.submit()
        self.assertEqual(second.returncode, 0, second.stderr)
        self.hasten()
        # The record of the first job is gone by the time that nobody waits for it any more.
        self.wait_until(lambda: not self.cluster.running())
        self.wait_until(lambda: "Invalid job id" in self.cluster.call_for_errors("scontrol", "show", "job", job))
        last = self.submit("--wait")
        self.assertEqual((last.returncode, last.stderr), (0, ""))
        self.assertEqual(self.tables("calls.sweep"), self.tables("local"))

    def test_a_task_beyond_its_time_limit_keeps_what_is_complete(self):
        self.study(2, requests=30000)
        self.succeed("sweep", "calls.toml", "--out=local", cwd=self.directory)
        self.assertEqual(self.submit("--points-per-task=12", "--sbatch=--time=1").returncode, 0)
        self.wait_until(lambda: any(state == "R" for _, _, state in self.cluster.running()))
        self.wait_until(lambda: any("result.json" in names for _, _, names in os.walk(self.directory + "/calls.sweep")))
        # What Slurm sends at the end of a task's time; it would take a minute to come.
        for job, task, _ in self.cluster.running():
            self.cluster.output("scancel", "--signal=TERM", "--full", f"{job}_{task}")
        self.wait_until(lambda: not self.cluster.running())
        last = self.submit("--wait")
        self.assertEqual((last.returncode, last.stderr), (0, ""))
        self.assertEqual(self.tables("calls.sweep"), self.tables("local"))

    def test_failed_points_stay_until_slurm_has_taken_them(self):
        self.write("fails.elf", finisher_guest(0x0001_3333))
        self.write("own.toml", "extends = ['hosts/i9-9960x']\n[cluster.host]\nfirmware = 'fails.elf'\n")
        self.write("calls.toml", "boards = ['./own.toml']\nreplications = 3\n")
        sluice("sweep", "calls.toml", cwd=self.directory)
        before = self.tables("calls.sweep")
        def failed():
            return "3 points: 0 done, 3 failed, 0 missing" in self.succeed_or_fail("--status")
        refused = self.submit("--retry-failed", "--sbatch=--array=1")
        self.assertEqual(refused.returncode, 2)
        self.assertTrue(failed())
        refused = self.submit("--retry-failed", "--sbatch=--partition=nowhere")
        self.assertEqual(refused.returncode, 2)
        self.assertTrue(failed())
        again = self.submit("--retry-failed", "--wait")
        self.assertRegex(again.stdout, r"^submitted: 3 points as job \d+\n")
        self.assertEqual(again.returncode, 1)
        self.assertEqual(self.tables("calls.sweep"), before)

    def succeed_or_fail(self, *arguments):
        return sluice("sweep", "calls.toml", *arguments, cwd=self.directory).stdout

    def test_settings_of_the_command_line_reach_the_tasks(self):
        self.study(1)
        self.assertEqual(self.submit("--wait", "--set=bus.latency=12 ns").returncode, 0)
        slurm = self.tables("calls.sweep")
        self.assertEqual(sluice("sweep", "calls.toml", "--set=bus.latency=12 ns", "--out=local", cwd=self.directory).returncode,
                         0)
        self.assertEqual(slurm, self.tables("local"))
        # Those of another value are no tasks of this one.
        more = self.submit("--wait", "--set=bus.latency=14 ns")
        self.assertRegex(more.stdout, r"^submitted: 6 points as job \d+\n")

    def test_a_node_that_goes_down_and_comes_back(self):
        self.study(2, requests=30000)
        self.succeed("sweep", "calls.toml", "--out=local", cwd=self.directory)
        self.assertEqual(self.submit("--points-per-task=3", "--sbatch=--requeue").returncode, 0)
        self.wait_until(lambda: any(state == "R" for _, _, state in self.cluster.running()))
        node = f"nodename={self.cluster.host}"
        self.cluster.output("scontrol", "update", node, "state=down", "reason=test")
        self.wait_until(lambda: not any(state == "R" for _, _, state in self.cluster.running()))
        # It may have come back by itself.
        self.cluster.output("scontrol", "update", node, "state=resume")
        self.wait_until(lambda: "down" not in self.cluster.output("sinfo", "-h", "-o", "%t"))
        self.hasten()
        # On a loaded machine Slurm may lose the tasks once more; then the sweep says so, and the same command goes on.
        for _ in range(3):
            last = self.submit("--wait")
            if last.returncode == 0:
                break
            self.assertRegex(last.stderr, r"^sluice: sweep: \d+ points have no result; the same command goes on\n$")
        self.assertEqual((last.returncode, last.stderr), (0, ""))
        self.assertEqual(self.tables("calls.sweep"), self.tables("local"))

    def test_a_search_goes_on_as_its_results_come(self):
        self.write("calls.toml", SEARCH)
        self.succeed("sweep", "calls.toml", "--out=local", cwd=self.directory)
        waited = self.submit("--wait", "--out=waited")
        self.assertEqual((waited.returncode, waited.stderr), (0, ""))
        self.assertGreater(waited.stdout.count("submitted: "), 2)
        self.assertEqual(self.tables("waited"), self.tables("local"))
        # Without --wait a job behind the others submits what they make the study need, until nothing is.
        submitted = self.submit("--out=chained", "--sbatch=--time=5")
        self.assertEqual((submitted.returncode, submitted.stderr), (0, ""))
        self.assertEqual(submitted.stdout.count("submitted: "), 1)

        def is_done():
            status = sluice("sweep", "calls.toml", "--status", "--out=chained", cwd=self.directory).stdout
            return " 0 missing" in status and not self.cluster.running()

        self.wait_until(is_done)
        self.assertEqual(self.tables("chained"), self.tables("local"))

    def test_a_chain_ends_where_jobs_bring_no_result(self):
        self.write("calls.toml", SEARCH.replace("requests = 40", "requests = 100000000"))
        self.submit("--out=chained", "--points-per-task=10")
        self.wait_until(lambda: any(state == "R" for _, _, state in self.cluster.running()))
        for job in {job for job, task, _ in self.cluster.running() if task not in ("", "N/A")}:
            self.cluster.output("scancel", job)
        self.wait_until(lambda: not self.cluster.running())
        logs = [name for name in os.listdir(os.path.join(self.directory, "chained/slurm")) if re.fullmatch(r"\d+\.log", name)]
        self.assertEqual(len(logs), 1)
        with open(os.path.join(self.directory, "chained/slurm", logs[0]), encoding="utf-8") as file:
            self.assertIn("sluice: sweep: the jobs before have brought no result; nothing is submitted\n", file.read())

    def test_mistakes_are_one_sentence(self):
        self.study(1)
        self.assert_mistake(["sweep", "calls.toml", "--slurm", "--sbatch=--partition=none"],
                            "--slurm: sbatch refused: sbatch: error: invalid partition specified: none...")
        self.assert_mistake(["sweep", "calls.toml", "--slurm", "--jobs=2"],
                            "--slurm: submits points, and has nothing to do with --list, --count, --status, --command, --run or --jobs")
        self.assert_mistake(["sweep", "calls.toml", "--wait"], "--wait, --sbatch and --points-per-task belong to --slurm")
        self.assert_mistake(["sweep", "calls.toml", "--slurm", "--points-per-task=0"],
                            "--points-per-task 0: must be a whole number, 1 to 10000000")

    def test_a_study_that_changed_since_it_was_submitted_runs_none_of_its_points(self):
        self.study(2, requests=30000)
        self.assertEqual(self.submit("--points-per-task=3", "--sbatch=--begin=now+1hour").returncode, 0)
        self.study(2, requests=50)
        self.hasten()
        self.wait_until(lambda: not self.cluster.running())
        logs = [name for name in os.listdir(os.path.join(self.directory, "calls.sweep/slurm")) if name.endswith(".log")]
        self.assertEqual(len(logs), 4)
        for name in logs:
            with open(os.path.join(self.directory, "calls.sweep/slurm", name), encoding="utf-8") as file:
                self.assertEqual(file.read(), f"sluice: {self.directory}/calls.toml: has changed since its points were "
                                              "submitted; submit them again\n")
        self.assertEqual(self.submit("--wait").returncode, 0)


class WithoutSlurm(CommandTest):
    def test_it_is_one_sentence(self):
        self.write("calls.toml", CALLS.format(last=1, requests=40))
        path, os.environ["PATH"] = os.environ["PATH"], "/nowhere"
        self.addCleanup(os.environ.update, {"PATH": path})
        self.assert_mistake(["sweep", "calls.toml", "--slurm"],
                            "--slurm: this machine has no Slurm: there is no scontrol in PATH")


if __name__ == "__main__":
    if why_not():
        print(f"Slurm is left out: {why_not()}", file=sys.stderr)
    unittest.main()
