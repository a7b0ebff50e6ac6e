# SPDX-License-Identifier: Apache-2.0
"""Two clusters on one board, each with firmware, memory and clock of its own: test_clusters.py SLUICE DISTURBED_RUN."""

import json
import os
import subprocess
import unittest

import board_runs
from board_runs import SMALL, BoardTest, canonical, overrides, run

BOARD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "boards", "two_clusters.toml")
INTERRUPT_DRIVER = ("--set", "nic.eth0.driver=interrupt")
PLIC = ("--set", "cluster.host.interrupts=plic", "--set", "cluster.second.interrupts=plic")


class Clusters(BoardTest):
    def disturbed(self, *arguments):
        contents = board_runs.load(board_runs.run_program(*arguments))
        seen = contents.pop("disturbance")
        return json.dumps(contents), seen

    def test_both_run_their_firmware(self):
        for settings in ((), INTERRUPT_DRIVER, PLIC + INTERRUPT_DRIVER):
            with self.subTest(settings=settings):
                text, seen = self.disturbed(BOARD, *overrides(SMALL + settings))
                result = json.loads(text)
                self.assertEqual(result["requests"]["completed"], 400)
                self.assertEqual([f["name"] for f in result["firmware"]], ["rpc-server", "second-cluster"])
                # The second cluster found its own memory and harts, and its timer interrupts went to it.
                self.assertIn("second cluster: 16 MiB at 90000000, harts 1 to 2", seen["console"])
                self.assertIn("second cluster: 20 ticks", seen["console"])
                self.assertIn("serving on 10.0.0.2", seen["console"])

    def test_each_has_its_clock(self):
        result = json.loads(run(BOARD, *SMALL))
        cores = {core["name"]: core for core in result["cores"]}
        self.assertEqual(list(cores), ["cluster.host.hart0", "cluster.second.hart0", "cluster.second.hart1"])
        for name, ghz in (("cluster.host.hart0", 3.1), ("cluster.second.hart0", 2), ("cluster.second.hart1", 2)):
            self.assertAlmostEqual(cores[name]["cycles"] / ghz, result["measured_ns"], delta=400)
            self.assertGreater(cores[name]["instructions"], 1000)
        # The second cluster's first hart sleeps between its ticks, its other one never does.
        self.assertGreater(cores["cluster.second.hart0"]["time"]["application"], 0.1)
        self.assertGreater(cores["cluster.second.hart1"]["time"]["application"], 0.99)

    def test_results_are_deterministic(self):
        for settings in ((), INTERRUPT_DRIVER):
            with self.subTest(settings=settings):
                arguments = (BOARD, *SMALL, *settings)
                first = run(*arguments)
                self.assert_same(first, run(*arguments))
                self.assert_same(first, run(*arguments, "--trace", "pcap,perfetto", "--out", self.directory()))
                simulated = str(int(json.loads(first)["simulated_ns"]))
                more, seen = self.disturbed("--entries", simulated, "--foreign", BOARD, *overrides(SMALL + settings))
                self.assertEqual(seen["entries"], 100)
                self.assertMultiLineEqual(canonical(first), canonical(more))

    def test_two_images_for_one_memory_are_a_mistake(self):
        process = subprocess.run([board_runs.SLUICE, "run", BOARD, "--set", "cluster.second.firmware=hello"],
                                 capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(process.returncode, 2)
        self.assertEqual(process.stderr, "sluice: --set cluster.second.firmware=hello: must be linked for a memory of "
                         "its own: it starts in that of cluster.host\n")


if __name__ == "__main__":
    unittest.main()
