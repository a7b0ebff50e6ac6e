# SPDX-License-Identifier: Apache-2.0
"""What the tests of `sluice sweep` share: a study of few calls, and what a sweep has left in its directory."""

import csv
import os
import subprocess

from command import SLUICE, CommandTest

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

    def busy(self, process, hundredths):
        """The runs of a sweep, as process numbers, that have computed for more than so many hundredths of a second."""
        found = set()
        children = subprocess.run(["pgrep", "-P", str(process.pid)], stdout=subprocess.PIPE, text=True, check=False)
        for child in children.stdout.split():
            try:
                with open(f"/proc/{child}/stat", encoding="utf-8") as file:
                    if int(file.read().rsplit(")", 1)[1].split()[11]) > hundredths:
                        found.add(int(child))
            except (FileNotFoundError, ProcessLookupError):
                pass  # it has ended since it was listed
        return found

    def sweep(self, *arguments, **options):
        return self.succeed("sweep", "calls.toml", *arguments, cwd=self.directory, **options)
