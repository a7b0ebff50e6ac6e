# SPDX-License-Identifier: Apache-2.0
"""Plug-in devices that join systems-on-chip. Called as NAME.py SLUICE BUILD-DIRECTORY."""

import os
import unittest
import unittest.mock

from command import guest, sluice
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

    def test_a_factory_that_builds_nothing_is_a_mistake(self):
        for kind in KINDS:
            self.assert_mistakes(kind, ((CHIP + ("mistake = 'nothing'",),
                                         "my.toml: KIND.x cannot be built: its factory built nothing"),))
            self.assert_mistake(["describe", "my.toml"], f"my.toml: {kind}.x cannot be built: its factory built nothing")
        for variable, title in (("FACTORY", "accelerator"), ("NIC", "NIC")):
            with unittest.mock.patch.dict(os.environ, {"PLUGIN_NULL_" + variable: "1"}):
                self.assert_mistake(["run", "my.toml"], f"my.toml:2: plugins: {self.library} could not register its models: "
                                    f"model null ({title} without a factory) has no factory")

    def test_what_it_throws_while_it_is_connected_names_it(self):
        for kind in KINDS:
            self.assert_mistakes(kind, (
                (CHIP + ("mistake = 'lines'",), "my.toml: KIND.x cannot be built: no lines"),
                (CHIP + ("mistake = 'model'",), "my.toml: KIND.x cannot be built: no model"),
                (CHIP + ("mistake = 'no reason'",), "my.toml: KIND.x cannot be built: it gives no reason")))
        self.assert_mistakes("nic", (
            (CHIP + ("mistake = 'mac'",), "my.toml: nic.x cannot be built: no MAC"),
            (CHIP + ("mistake = 'sc_stop'",), "my.toml: nic.x cannot be built: it called sc_stop() before the run")))

    def test_what_it_throws_in_a_run_names_it(self):
        self.board(KINDS["nic"], *CHIP, "[fault.x]", "kind = 'link-down'", "target = 'net.wire0'", "at = '1 us'",
                   "duration = '1 us'")
        run = sluice("run", "my.toml", "--workload=none", "--until=3us", cwd=self.directory)
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, r"^sluice: my: nic\.x threw an exception at 1 us: no carrier\n")
        # lui, lui, addi, sw: a reset by the test finisher.
        self.write("loop.elf", guest(0x0010_02B7, 0x0000_7337, 0x7773_0313, 0x0062_A023, 0x0000_006F))
        for kind in KINDS:
            self.board(KINDS[kind], *CHIP, "mistake = 'resettable'", "[run]", "reboot = 'restart'")
            run = sluice("run", "my.toml", "--workload=none", "--until=3us", cwd=self.directory)
            self.assertEqual(run.returncode, 1)
            self.assertRegex(run.stderr, rf"^sluice: my: {kind}\.x threw an exception at \S+ \S+: no reset\n")

    def test_the_places_that_its_factory_gives_are_checked(self):
        slot = 'my.toml:15: nic.x.slot must name a PCIe slot of the board, not "{}"'
        ipv4 = "my.toml:15: nic.x: ipv4 must be an IPv4 address..."
        self.assert_mistakes("nic", tuple((CHIP + (f"mistake = '{mistake}'",), sentence) for mistake, sentence in (
            ("slot", slot.format("pcie.none")), ("empty slot", slot.format("")),
            ("slot of another kind", slot.format("net.wire0")), ("ipv4", ipv4), ("empty ipv4", ipv4),
            ("wire", 'my.toml:15: nic.x.wire must name an Ethernet link of the board, not "net.none"'),
            ("address", "my.toml:15: nic.x.address must be a MAC address..."))))
        for kind in KINDS:
            self.assert_mistakes(kind, tuple((CHIP + (f"mistake = '{mistake}'",), sentence) for mistake, sentence in (
                ("soc", 'my.toml:18: KIND.x.chip.soc must name a system-on-chip of the board, not "cluster.card"'),
                ("no address", "my.toml:17: KIND.x.chip.address must be set: no device is at 0"),
                ("odd address", "my.toml:17: KIND.x.chip.address must be a multiple of 8"),
                ("lines of no home", "my.toml:15: KIND.x: chip.lines must not be set: the device is the home of no cache "
                 "lines"),
                ("joint", "my.toml: KIND.x cannot be built: its link to other systems must have latencies of at most "
                 "1 s"))))

    def test_its_device_tree_properties_are_checked(self):
        for mistake, why in (("property name", '"a b" must have a name of letters, digits and , . _ + ? # -'),
                             ("own property", '"reg" must have another name: the board gives the node that one'),
                             ("property twice", '"a" must be given once')):
            for kind in KINDS:
                self.assert_mistakes(kind, ((CHIP + (f"mistake = '{mistake}'",),
                                             "my.toml: KIND.x cannot be built: its device-tree property " + why),))


if __name__ == "__main__":
    unittest.main()
