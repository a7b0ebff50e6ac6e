# SPDX-License-Identifier: Apache-2.0
"""`sluice sweep` goes on after any end: signals, kills, runs that fail, and results that are damaged."""

import json
import os
import resource
import signal
import socket
import time
import unittest

from command import finisher_guest, sluice
from sweep_test import STUDY, SweepTest


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
        self.write("calls.toml", STUDY.format(last=1).replace("requests = 40", "requests = 30000"))
        with self.started("--jobs=1") as process:
            while not (children := self.busy(process, 20)) and process.poll() is None:
                time.sleep(0.02)
            (child,) = children
            os.kill(child, signal.SIGKILL)
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


if __name__ == "__main__":
    unittest.main()
