# SPDX-License-Identifier: Apache-2.0
"""Two systems-on-chip on one board, which nothing joins: test_systems.py SLUICE DISTURBED_RUN."""

import json
import os
import subprocess
import unittest

import board_runs
from board_runs import FOUR_HARTS, FUNCTIONAL, SMALL, BoardTest, overrides, run

BOARD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "boards", "two_systems.toml")
INTERRUPT_DRIVER = ("--set", "nic.eth0.driver=interrupt")
ONE_HART = ("--set", "cluster.second.harts=1")
CARD = "soc.card."


def calls(text):
    """The parts of a result that end with the last call; harts run on to the end of the simulation."""
    result = board_runs.load(text)
    return json.dumps({key: result[key] for key in ("requests", "latency_ns", "throughput_per_s", "stages")}, indent=1)


class Systems(BoardTest):
    def host_alone(self):
        """The host without the second system. The file has the same name, because the device tree has it."""
        path = os.path.join(self.directory(), os.path.basename(BOARD))
        with open(path, "w", encoding="utf-8") as file:
            file.write('extends = ["e810-poll"]\n')
        return path

    def describe(self, *arguments):
        out = subprocess.run([board_runs.SLUICE, "describe", BOARD, *arguments], capture_output=True, text=True,
                             timeout=60, check=True)
        return out.stdout

    def test_both_run_their_firmware(self):
        for settings in ((), INTERRUPT_DRIVER, ("--set", "cluster.second.interrupts=plic")):
            with self.subTest(settings=settings):
                contents = board_runs.load(board_runs.run_program(BOARD, *overrides(SMALL + settings)))
                console = contents.pop("disturbance")["console"]
                self.assertEqual(contents["requests"]["completed"], 400)
                # The second system has hart ids, memory and a UART of its own, and takes its timer's interrupts.
                self.assertIn("second cluster: 16 MiB at 90000000, harts 0 to 1", console)
                self.assertIn("second cluster: 20 ticks", console)
                self.assertIn("serving on 10.0.0.2", console)

    def test_a_second_system_changes_nothing_of_the_first(self):
        """Harts that share no memory run ahead of each other, and neither can tell."""
        for settings in ((), FUNCTIONAL, INTERRUPT_DRIVER, FOUR_HARTS):
            alone = calls(run(self.host_alone(), *SMALL, *settings))
            for harts in ((), ONE_HART):
                with self.subTest(settings=settings, harts=harts):
                    self.assertMultiLineEqual(alone, calls(run(BOARD, *SMALL, *settings, *harts)))

    def test_a_second_system_is_reset_alone(self):
        restarts = ("--set", "cluster.second.firmware=second-restarts", "--set", "run.reboot=restart")
        contents = board_runs.load(board_runs.run_program(BOARD, *overrides(SMALL + restarts)))
        console = contents.pop("disturbance")["console"]
        for time in (1, 2, 3):
            self.assertEqual(console.count(f"second system: begins for the {time}. time"), 1, console)
        self.assertEqual(console.count("serving on"), 1)
        self.assertMultiLineEqual(calls(run(self.host_alone(), *SMALL)), calls(json.dumps(contents)))

    def test_a_second_system_is_paused_and_killed_alone(self):
        for kind in ("kill", "pause"):
            with self.subTest(kind=kind):
                board = os.path.join(self.directory(), os.path.basename(BOARD))  # as in host_alone()
                with open(board, "w", encoding="utf-8") as file:
                    file.write(f'extends = ["{BOARD}"]\n[fault.stop]\nkind = "{kind}"\ntarget = "cluster.second"\n'
                               'at = "200 us"\n' + ('duration = "60 us"\n' if kind == "pause" else ""))
                text = run(board, *SMALL)
                self.assertMultiLineEqual(calls(run(self.host_alone(), *SMALL)), calls(text))
                stopped = json.loads(text)["faults"][0]
                self.assertEqual((stopped["target"], stopped["at_ns"]), ("cluster.second", 200000))
                instructions = {c["name"]: c["instructions"] for c in json.loads(text)["cores"]}
                undisturbed = {c["name"]: c["instructions"] for c in json.loads(run(BOARD, *SMALL))["cores"]}
                self.assertLess(instructions["cluster.second.hart1"], undisturbed["cluster.second.hart1"] * 3 // 4)

    def test_each_has_its_window(self):
        """Four harts take turns in steps of their caches' snoop latency, beside a system that has one hart."""
        both = json.loads(run(BOARD, *SMALL, *FOUR_HARTS, *ONE_HART))
        self.assertEqual(both["quantum_ns"], 32.258)
        card = json.loads(run(BOARD, *SMALL, "--set", "soc.card.caches.snoop_latency=40 ns"))
        self.assertEqual(card["quantum_ns"], 40)
        self.assertNotIn("quantum_ns", json.loads(run(BOARD, *SMALL, *ONE_HART)))

    def test_results_are_deterministic(self):
        for settings in ((), ONE_HART):
            with self.subTest(settings=settings):
                self.assert_deterministic(BOARD, settings)

    def test_each_has_its_memory_map(self):
        maps = json.loads(self.describe("--json"))
        names = [region["name"] for region in maps["memory_map"]]
        self.assertIn("memory.dram", names)
        self.assertNotIn("memory.second", names)
        card = {region["name"]: region["base"] for region in maps["memory_maps"]["soc.card"]}
        self.assertEqual(card[CARD + "uart"], "0x1200_0000")
        self.assertEqual(set(card), {CARD + part for part in ("finisher", "clint", "uart", "aplic_m", "aplic_s",
                                                             "imsic_m", "imsic_s")} | {"memory.second"})
        self.assertIn("memory map of soc.card\n", self.describe())
        tree = self.describe("--device-tree", "--cluster", "second")
        self.assertIn("serial@12000000", tree)
        self.assertNotIn("pci@", tree)

    def test_mistakes_are_named(self):
        self.assertEqual(self.mistake(BOARD, "soc.card.clusters=[]"),
                         "sluice: --set soc.card.clusters=[]: must name at least one")
        self.assertIn("must name a cluster of the board", self.mistake(BOARD, "soc.card.clusters=cluster.none"))
        self.assertEqual(self.mistake(BOARD, "soc.card.clusters=cluster.host,cluster.second"),
                         "sluice: --set soc.card.clusters=cluster.host,cluster.second: leaves no cluster to the host, "
                         "whose are those that no soc names")
        self.assertIn("may have cluster.second only once",
                      self.mistake(BOARD, "soc.card.clusters=cluster.second,cluster.second"))
        self.assertIn("soc.card.map.iommu", self.mistake(BOARD, "soc.card.map.iommu=0x301_0000"))
        self.assertIn("soc.card.plic.sources",
                      self.mistake(BOARD, "cluster.second.interrupts=plic", "soc.card.plic.sources=4"))
        self.assertIn("overlap", self.mistake(BOARD, "soc.card.map.uart=0x10_0000"))
        self.assertIn("soc.card.finisher at 0x0010_0000 (4 KiB) overlaps memory.second",
                      self.mistake(BOARD, "memory.second.base=0x10_0000"))


if __name__ == "__main__":
    unittest.main()
