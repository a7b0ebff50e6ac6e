# SPDX-License-Identifier: Apache-2.0
"""Switches that a plug-in brings. Called as NAME.py SLUICE BUILD-DIRECTORY."""

import json
import unittest

from command import sluice
from plugin_project import PluginTest

BOARD = """extends = ["e810-poll"]
plugins = ["{}"]
[workload]
requests = 500
warmup = 100
[pcie.slot1]
attach = "switch.fabric"
[nic.eth0]
slot = "pcie.slot1"
[switch.fabric]
slot = "pcie.slot0"
"""


class SwitchPlugins(PluginTest):
    NAME = "delaying_switch"

    def results(self, *lines):
        self.board(BOARD, *lines)
        run = sluice("run", "my.toml", "--json", cwd=self.directory)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def test_it_keeps_each_tlp_exactly_as_long_as_it_says(self):
        plain = self.results("latency = '165 ns'")
        delaying = self.results("model = 'delaying'", "fabric.latency = '115 ns'", "extra = '50 ns'")
        self.assertEqual(plain["latency_ns"], delaying["latency_ns"])
        self.assertEqual(plain["simulated_ns"], delaying["simulated_ns"])
        counted = delaying["counters"]["switch.fabric"]
        # No call is answered without a descriptor, its data and a completion entry each way.
        self.assertGreater(int(counted["forwarded"]), 600 * 4)
        self.assertEqual(counted["forwarded"], plain["counters"]["switch.fabric"]["forwarded"])
        # After the warm-up no TLP is for the switch's own functions.
        self.assertEqual(counted["kept"], counted["forwarded"])

    def test_it_is_described(self):
        self.board(BOARD, "model = 'delaying'", "fabric.downstream_ports = 3", "extra = '7 ns'")
        text = self.succeed("describe", "my.toml", cwd=self.directory)
        self.assertRegex(text, r'extra +7 ns')

    def test_mistakes_are_named(self):
        self.board(BOARD.replace('attach = "switch.fabric"', 'attach = "switch.fabric"\nport = 2'),
                   "model = 'delaying'", "fabric.downstream_ports = 2")
        self.assert_mistake(["run", "my.toml"], "my.toml:8: pcie.slot1.port must be less than "
                            "switch.fabric.downstream_ports, which is 2")
        self.board(BOARD, "model = 'delaying'", "fabric.downstream_ports = 13")
        self.assert_mistake(["run", "my.toml"],
                            "my.toml: switch.fabric cannot be built: 13 ports bring bad luck")
        self.board(BOARD, "model = 'delaying'", "wrong = 'ports'")
        self.assert_mistake(["run", "my.toml"], "my.toml: switch.fabric cannot be built: it has not as many downstream "
                            "ports as its model says")
        self.board(BOARD, "model = 'delaying'", "wrong = 'ports throw'")
        self.assert_mistake(["run", "my.toml"], "my.toml: switch.fabric cannot be built: no ports")
        for wrong, message in (("port 99", "it has no port 99 to send a TLP through"),
                               ("null", "it sends a TLP that it no longer has")):
            self.board(BOARD, "model = 'delaying'", f"wrong = '{wrong}'")
            run = sluice("run", "my.toml", cwd=self.directory)
            self.assertEqual(run.returncode, 1)
            self.assertRegex(run.stderr, rf"^sluice: my: switch\.fabric threw an exception at \S+ us: {message}\n")
        self.board(BOARD, "model = 'delaying'", "wrong = 'elaboration'")
        run = sluice("run", "my.toml", cwd=self.directory)
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, r"^sluice: my: switch\.fabric threw an exception at 0 ns: no time\n")
        self.board(BOARD, "model = 'programmable'")
        self.assert_mistake(["run", "my.toml"], "my.toml:12: programmable is not a model of switch; valid: plain, delaying")


if __name__ == "__main__":
    unittest.main()
