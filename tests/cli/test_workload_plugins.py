# SPDX-License-Identifier: Apache-2.0
"""Workloads that a plug-in brings. Called as NAME.py SLUICE BUILD-DIRECTORY."""

import json
import os
import unittest
import unittest.mock

from command import guest, sluice
from plugin_project import PluginTest

BOARD = """extends = ["hosts/i9-9960x"]
plugins = ["{}"]
[cluster.host]
firmware = "count.elf"
[workload]
model = "ticks"
"""


class WorkloadPlugins(PluginTest):
    NAME = "tick_workload"

    def setUp(self):
        super().setUp()
        self.write("count.elf", guest(0x0015_0513, 0xFFDF_F06F))  # addi a0, a0, 1; j . - 4

    def run_board(self, *options, status=0):
        result = sluice("run", "my.toml", *options, cwd=self.directory)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def test_it_starts_measures_and_ends_a_run(self):
        self.board(BOARD + "[caches]\ntiming = 'cached'\n")
        result = json.loads(self.run_board("--json").stdout)
        self.assertEqual((result["outcome"], result["failure"]), ("finished", ""))
        self.assertEqual(result["ticks"], {"came": 3, "wires": 0})
        # The hart's last instructions end a little later.
        self.assertEqual((int(result["simulated_ns"]), int(result["measured_ns"])), (30_000, 20_000))
        self.assertNotIn("requests", result)
        self.assertTrue(self.run_board().stdout.startswith("my   3 ticks\n\n  cluster.host.hart0: "))
        shorter = json.loads(self.run_board("--json", "--set", "workload.period=1 us").stdout)
        self.assertEqual(int(shorter["simulated_ns"]), 3000)

    def test_it_sees_the_wires_that_nobody_is_at(self):
        self.board(BOARD, "[net.wire0]", "[net.wire1]", "[net.wire2]", "[peer.echo]", "model = 'echo'",
                   "wire = 'net.wire1'")
        self.assertEqual(json.loads(self.run_board("--json").stdout)["ticks"]["wires"], 2)

    def test_the_firmware_is_told(self):
        self.board(BOARD, "ticks = 5")
        self.assertIn("test,ticks = <0x5>;", self.succeed("describe", "my.toml", "--device-tree", cwd=self.directory))

    def test_what_it_finds_wrong_fails_the_run(self):
        self.board(BOARD, "ticks = 7", "wanted = 7")
        self.assertRegex(self.run_board(status=1).stderr, r"^sluice: my: 7 ticks are wrong\n")

    def test_a_stall_is_explained(self):
        self.board(BOARD, "wanted = 4")
        result = self.run_board("--json", status=1)
        self.assertEqual(json.loads(result.stdout)["outcome"], "stalled")
        self.assertRegex(result.stderr, r"^sluice: my: no request has ended for 20 ms of simulated time "
                         r"\(run\.stall_limit\): the clock stands still\nthe clock has ticked 3 times\n"
                         r"cluster\.host\.hart0: pc ")

    def test_a_board_that_it_does_not_take_is_a_mistake(self):
        self.board(BOARD, "wanted = 13")
        self.assert_mistake(["run", "my.toml"], "my.toml: 13 ticks bring bad luck")

    def test_what_it_throws_is_told(self):
        self.board(BOARD, "wanted = 14")
        self.assert_mistake(["run", "my.toml"], "my.toml: workload cannot be built: something that is no std::exception")
        for wanted, sentence in ((20, r"workload threw an exception at 0 ns: no luck today"),
                                 (21, "workload threw an exception: no luck today"),
                                 (22, "workload threw an exception: no luck today"),
                                 (23, "workload threw an exception: no luck today"),
                                 (24, "workload threw an exception: its result has a member board, which every result "
                                  "has"),
                                 (28, "workload threw an exception: its result must be members of the object that it is "
                                  "given"),
                                 (29, r"workload threw an exception: ticks\.mean of its result is not a finite number"),
                                 (30, "workload threw an exception: text of its result is not UTF-8"),
                                 (31, "workload threw an exception: its result has a member whose name is not UTF-8"),
                                 (32, "workload threw an exception: its result has a member plots, which every result "
                                  "has"),
                                 (33, "workload threw an exception: no luck today"),
                                 (34, "workload threw an exception: its plot Ticks must have a name of small letters, "
                                  "digits and hyphens"),
                                 (35, "workload threw an exception: its plot ticks must be of a list in the result"),
                                 (36, "workload threw an exception: its plot ticks must be of a list in the result"),
                                 (37, "workload threw an exception: its plot ticks has a text that is not UTF-8")):
            with self.subTest(wanted=wanted):
                self.board(BOARD, f"ticks = {wanted}", f"wanted = {wanted}")
                self.assertRegex(self.run_board(status=1).stderr, f"^sluice: (my: )?{sentence}\n")

    def test_what_it_cannot_tell_the_firmware_is_a_mistake(self):
        for wanted, sentence in (
                (25, "my.toml: workload cannot say what the firmware must know: no luck today"),
                (26, "my.toml: 26 ticks are too many to tell"),
                (27, 'my.toml: workload cannot say what the firmware must know: its device-tree property "stdout-path" must '
                 "have another name: the board gives the node that one")):
            self.board(BOARD, f"wanted = {wanted}")
            for command in ("run", "describe"):
                self.assert_mistake([command, "my.toml"], sentence)

    def test_a_factory_that_builds_nothing_is_a_mistake(self):
        self.board(BOARD.replace('"ticks"', '"nothing"'))
        with unittest.mock.patch.dict(os.environ, {"PLUGIN_NOTHING": "1"}):
            for command in ("run", "describe"):
                self.assert_mistake([command, "my.toml"], "my.toml: workload cannot be built: its factory built nothing")

    def test_a_factory_that_cannot_explain_an_exit_does_not_hide_it(self):
        # This firmware of the library ends at once with a code that no workload knows.
        self.board(BOARD.replace("count.elf", "sabotage"), "ticks = 1000", "wanted = 1000")
        with unittest.mock.patch.dict(os.environ, {"PLUGIN_NOTHING": "1"}):
            self.assertRegex(self.run_board(status=1).stderr, r"^sluice: my: the firmware failed with code 100: the workload "
                             r"of nothing threw an exception when asked what that means: no words; cluster\.host\.hart0 at ")

    def test_an_option_is_blamed_for_the_workload_that_it_chose(self):
        self.assert_mistake(["run", "e810-irq", "--workload", "dma"], "--workload dma: workload.model is dma, and the board "
                            "has no DMA requester (kind accel)")

    def test_compare_does_not_show_it(self):
        self.board(BOARD)
        self.assert_mistake(["compare", "my.toml", "e810-poll"], "compare: my.toml has the ticking workload, which "
                            "compare does not show; use sluice run for each board")

    def test_compare_shows_what_it_has_drawn(self):
        self.board(BOARD, "ticks = 38", "wanted = 38")
        self.write("slow.toml", "extends = ['my.toml']\n[workload]\nperiod = '20 us'\n")
        text = self.succeed("compare", "my.toml", "slow.toml", cwd=self.directory)
        self.assertTrue(text.startswith("38 ticks\n"), text)
        self.assertRegex(text, r"(?m)^  Ticks\n    came at 1 count +10\.00 us +20\.00 us +x2\.000\n    came at 6 ")
        self.assertNotIn("no tick", text)

    def test_its_parameters_are_checked(self):
        self.board(BOARD, "ticks = 1001")
        self.assert_mistake(["run", "my.toml"], "my.toml:7: workload.ticks must be 0 to 1000...")
        self.board(BOARD.replace('"ticks"', '"tocks"'))
        self.assert_mistake(["run", "my.toml"], "my.toml:6: tocks is not a model of workload; did you mean ticks?")


if __name__ == "__main__":
    unittest.main()
