# SPDX-License-Identifier: Apache-2.0
"""Plug-in devices that join systems-on-chip. Called as NAME.py SLUICE BUILD-DIRECTORY."""

import unittest

from command import guest
from plugin_project import PluginTest

BOARD = """extends = ["hosts/i9-9960x"]
plugins = ["{}"]
[cluster.host]
firmware = "loop.elf"
[cluster.card]
firmware = "loop.elf"
[memory.card]
base = 0x8000_0000
size = "64 MiB"
[soc.card]
clusters = ["cluster.card"]
memories = ["memory.card"]
[pcie.slot0]
[net.wire0]
"""
KINDS = {kind: BOARD + f"[{kind}.x]\nmodel = 'joined'\nchip.address = 0x4000_0000\n" for kind in ("nic", "accel")}
CHIP = ("chip.soc = 'soc.card'",)


class JoinedPlugins(PluginTest):
    NAME = "joined_devices"

    def setUp(self):
        super().setUp()
        self.write("loop.elf", guest(0x0015_0513, 0xFFDF_F06F))  # addi a0, a0, 1; j . - 4

    def assert_mistakes(self, kind, cases):
        for lines, message in cases:
            with self.subTest(kind=kind, lines=lines):
                self.board(KINDS[kind], *lines)
                self.assert_mistake(["run", "my.toml", "--until=1us"], message.replace("KIND", kind))

    def test_the_keys_of_its_place_are_named_as_the_board_writes_them(self):
        for kind in KINDS:
            self.assert_mistakes(kind, (
                ((), "my.toml:15: KIND.x.chip.soc must be a system-on-chip beside the host..."),
                (CHIP + ("chip.interrupts = [40]",),
                 "my.toml:19: KIND.x.chip.interrupts must name a source for each of its interrupt lines, of which it has 0"),
                (CHIP + ("chip.interrupts = [1023]",),
                 "my.toml:19: KIND.x.chip.interrupts must be at most 95: soc.card.aplic.sources"),
                (CHIP + ("mistake = 'no keys'", "chip.interrupts = [1023]"),
                 "my.toml:15: KIND.x: interrupts must be at most 95: soc.card.aplic.sources"),
            ))

    def test_a_joint_has_no_intx(self):
        for kind in KINDS:
            self.assert_mistakes(kind, (
                (CHIP + ("mistake = 'INTx'",),
                 "my.toml: KIND.x cannot be built: it joins systems and has INTx, so it must use MSI-X alone"),))
            self.board(KINDS[kind], *CHIP)
            self.succeed("run", "my.toml", "--workload=none", "--until=1us", cwd=self.directory)

    def test_an_exception_about_its_places_names_it(self):
        self.assert_mistakes("nic", ((("mistake = 'no place'",), "my.toml: nic.x cannot be built: it is nowhere"),
                                     (CHIP + ("mistake = 'no wire'",), "my.toml: nic.x cannot be built: it has no wire")))
        self.assert_mistakes("accel", ((CHIP + ("mistake = 'no slot'",),
                                        "my.toml: accel.x cannot be built: it has no slot"),))


if __name__ == "__main__":
    unittest.main()
