"""Plain TLM-2.0 modules that a plug-in brings to a system-on-chip's bus. Called as NAME.py SLUICE BUILD-DIRECTORY."""

import json
import unittest

from command import sluice
from plugin_project import PluginTest

BOARD = """extends = ["virt"]
plugins = ["{}"]
[cluster.host]
firmware = "ticker"
interrupts = "plic"
[device.timer]
model = "ticker"
address = 0x1300_0000
interrupts = [40]
"""


class BusPlugins(PluginTest):
    NAME = "ticker"

    def test_its_interrupts_reach_a_hart(self):
        self.board(BOARD)
        run = sluice("run", "my.toml", "--console", cwd=self.directory)
        self.assertEqual(run.returncode, 0, run.stderr)
        # A period of 1 us is ten units of virt's time. The run is the same each time.
        self.assertIn("5 ticks; the last four came 40 time units after the first\n", run.stderr.replace("\r", ""))
        results = []
        for quantum in ("1 us", "10 us"):
            again = sluice("run", "my.toml", "--json", "--set", f"cluster.host.quantum={quantum}", cwd=self.directory)
            self.assertEqual(again.returncode, 0, again.stderr)
            results.append(json.loads(again.stdout))
            self.assertEqual(results[-1]["cores"][0]["name"], "cluster.host.hart0")
        self.assertEqual(results[0]["simulated_ns"], results[1]["simulated_ns"])
        self.assertEqual(results[0]["cores"], results[1]["cores"])

    def test_it_is_described(self):
        self.board(BOARD)
        described = json.loads(self.succeed("describe", "my.toml", "--json", cwd=self.directory))
        self.assertIn({"name": "device.timer", "base": "0x1300_0000", "size_bytes": 16}, described["memory_map"])
        tree = self.succeed("describe", "my.toml", "--device-tree", cwd=self.directory)
        node = tree[tree.index("timer@13000000"):]
        for line in ('compatible = "test,ticker"', "reg = <0x0 0x13000000 0x0 0x10>", "interrupts = <0x28>",
                     'sluice,path = "device.timer"'):
            self.assertIn(line, node)

    def test_its_place_is_checked(self):
        cases = (
            ('address = 0x1300_0000', '', "my.toml:6: device.timer.address must be set: no device is at 0"),
            ('0x1300_0000', '0x1000_0000', "my.toml:8: uart at 0x1000_0000 (256 B) overlaps device.timer at "
             "0x1000_0000 (16 B)"),
            ('[40]', '[]', "my.toml:9: device.timer.interrupts must name a source for each of its interrupt lines, of "
             "which it has 1"),
            ('[40]', '[10]', "my.toml:9: device.timer.interrupts must be sources of its own: 10 is the UART's"),
            ('[40]', '[96]', "my.toml:9: device.timer.interrupts must be at most 95: plic.sources"),
        )
        for old, new, message in cases:
            with self.subTest(message=message):
                self.board(BOARD.replace(old, new))
                self.assert_mistake(["run", "my.toml"], message)


if __name__ == "__main__":
    unittest.main()
