# SPDX-License-Identifier: Apache-2.0
"""An installation works outside the build tree: it brings its boards and its firmware."""

import json
import os
import subprocess
import unittest

from command import BUILD, SOURCE, CommandTest


class Installed(CommandTest):
    def test_installed_sluice_finds_boards_and_firmware(self):
        prefix = os.path.join(self.directory, "prefix")
        subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        program = os.path.join(prefix, "bin/sluice")
        elsewhere = {"program": program, "cwd": "/"}
        names = [b["name"] for b in json.loads(self.succeed("boards", "--json", **elsewhere))["boards"]]
        self.assertIn("e810-poll", names)
        self.succeed("describe", "e810-poll", **elsewhere)
        result = json.loads(self.succeed("run", "e810-poll", "--requests=200", "--json", **elsewhere))
        self.assertEqual(result["requests"]["completed"], 200)
        in_tree = json.loads(self.succeed("run", "e810-poll", "--requests=200", "--json"))
        for run in (result, in_tree):
            del run["host"]
        self.assertEqual(result, in_tree)
        # And what a page has inside.
        out = os.path.join(self.directory, "out")
        self.succeed("run", "e810-poll", "--requests=200", "--out", out, "--report", **elsewhere)
        with open(os.path.join(out, "report.html"), "rb") as file:
            page = file.read()
        self.succeed("report", out)
        with open(os.path.join(out, "report.html"), "rb") as file:
            self.assertEqual(file.read(), page)
        for folder in ("share", "lib/cmake"):
            for directory, _, files in os.walk(os.path.join(prefix, folder)):
                for name in files:
                    with open(os.path.join(directory, name), "rb") as file:
                        self.assertFalse(SOURCE.encode() in file.read(), name)


if __name__ == "__main__":
    unittest.main()
