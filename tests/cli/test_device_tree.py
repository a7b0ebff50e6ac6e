# SPDX-License-Identifier: Apache-2.0
"""The device tree that firmware gets, as `sluice describe --device-tree` gives it. test_device_tree.py SLUICE BUILD."""

import os
import re
import subprocess
import unittest

from command import SOURCE, CommandTest

FINISHER = "regmap = <&{/soc/test@100000}>;"
# Checks of dtc that are off unless they are asked for.
STRICT = ["-Wgraph_endpoint", "-Wnode_name_chars_strict", "-Wproperty_name_chars_strict", "-Wunit_address_format",
          "-Wnode_name_vs_property_name", "-Wunique_unit_address_if_enabled"]
TWO_NICS = os.path.join(SOURCE, "tests/board/boards/two_nics.toml")
BOARDS = {
    "virt": (),
    "virt with four harts": ("--set", "cluster.host.harts=4"),
    "virt with AIA": ("--set", "cluster.host.interrupts=aia", "--set", "cluster.host.harts=2"),
    "e810-poll": (),
    "e810-irq with INTx": ("--set", "cluster.host.interrupts=plic"),
    "haswell-nfp": ("--set", "iommu.enabled=true"),
}


def dtc(*arguments, text):
    """The output of dtc. A warning of dtc is a failure."""
    result = subprocess.run(["dtc", *arguments], input=text, capture_output=True, check=True)
    if result.stderr:
        raise AssertionError(result.stderr.decode())
    return result.stdout


class DeviceTree(CommandTest):
    def describe(self, board, *arguments):
        return self.succeed("describe", board.split()[0], "--device-tree", *BOARDS[board], *arguments)

    def node(self, text, name):
        """The lines of a node, its own properties only."""
        found = re.search(rf"(?m)^(\t*){name} \{{\n((?:\1\t[^\t\n]*;\n)*)", text)
        self.assertTrue(found, name)
        return [line.strip() for line in found[2].splitlines()]

    def test_dtc_has_nothing_to_say(self):
        for board in BOARDS:
            with self.subTest(board):
                text = self.describe(board).encode()
                dtc("-I", "dts", "-O", "dtb", *STRICT, text=text)

    def test_the_compiled_tree_is_the_same(self):
        for board in BOARDS:
            with self.subTest(board):
                path = os.path.join(self.directory, "tree.dtb")
                text = self.describe(board)
                self.assertEqual(self.describe(board, "--out", path), "")
                with open(path, "rb") as file:
                    compiled = file.read()
                again = dtc("-I", "dts", "-O", "dtb", text=text.encode())
                self.assertEqual(*(dtc("-I", "dtb", "-O", "dts", text=tree) for tree in (again, compiled)))

    def test_every_device_has_its_node_below_the_ports_above_it(self):
        text = self.succeed("describe", TWO_NICS, "--device-tree")
        dtc("-I", "dts", "-O", "dtb", *STRICT, text=text.encode())
        names = [(len(tabs) - 2, name) for tabs, name in re.findall(r"(?m)^(\t*)((?:pci|ethernet)@\S+) \{", text)]
        self.assertEqual(names, [(0, "pci@30000000"), (1, "pci@1,0"), (2, "ethernet@0,0"),
                                 (1, "pci@3,0"), (2, "pci@0,0"), (3, "pci@1,0"), (4, "ethernet@0,0")])
        self.assertEqual(re.findall(r'sluice,path = "(.*)";', text), ["nic.eth0", "switch.sw0", "nic.back"])
        self.assertEqual(re.findall(r'sluice,driver = "(.*)";', text), ["poll", "interrupt"])
        self.assertEqual(re.findall(r"local-mac-address = \[(.*)\];", text), ["02 53 4c 00 00 01", "02 53 4c 00 00 02"])
        self.assertIn("reg = <0x1800 0x0 0x0 0x0 0x0>;", self.node(text, "pci@3,0"))
        self.assertNotIn("sluice,", " ".join(self.node(text, "chosen")))
        accel = self.describe("haswell-nfp")
        self.assertRegex(accel, r'accel@0,0 \{\n\t*reg = <0x0 0x0 0x0 0x0 0x0>;\n\t*sluice,path = "accel\.')

    def test_wires_turn_at_each_bridge(self):
        """Pin A of a device behind ports 3 and 1 becomes the first source plus (0 + 3 + 1) % 4."""
        text = self.succeed("describe", TWO_NICS, "--device-tree")
        maps = re.findall(r"interrupt-map = <0x0 0x0 0x0 0x1 0x\d+ 0x(\d+) ", text)
        self.assertEqual(maps, ["20", "21", "23", "23", "20"])

    def test_what_a_kernel_looks_for(self):
        text = self.describe("virt with four harts")
        self.assertEqual(self.node(text, "poweroff"), ['compatible = "syscon-poweroff";', FINISHER,
                                                       "offset = <0x0>;", "value = <0x5555>;"])
        self.assertEqual(self.node(text, "reboot"), ['compatible = "syscon-reboot";', FINISHER,
                                                     "offset = <0x0>;", "value = <0x7777>;"])
        self.assertIn('compatible = "sifive,test1", "sifive,test0", "syscon";', self.node(text, "test@100000"))
        self.assertIn("timebase-frequency = <0x989680>;", self.node(text, "cpus"))
        self.assertEqual(len(re.findall(r"\t\tcpu@\d \{", text)), 4)
        self.assertEqual(len(re.findall(r"\t\t\t\tcore\d \{", text)), 4)
        self.assertIn('stdout-path = "/soc/serial@10000000";', self.node(text, "chosen"))
        self.assertIn("reg = <0x0 0x80000000 0x0 0x20000000>;", self.node(text, "memory@80000000"))
        plic = self.node(text, "interrupt-controller@c000000")
        self.assertIn('compatible = "sifive,plic-1.0.0", "riscv,plic0";', plic)
        harts = [f"&{{/cpus/cpu@{h}/interrupt-controller}}" for h in range(4)]
        self.assertIn("interrupts-extended = <" + " ".join(f"{h} 0xb {h} 0x9" for h in harts) + ">;", plic)
        bridge = self.node(text, "pci@30000000")
        self.assertIn("bus-range = <0x0 0xff>;", bridge)
        self.assertIn("ranges = <0x2000000 0x0 0x40000000 0x0 0x40000000 0x0 0x40000000 0x43000000 0x4 0x0 0x4 0x0 0x4 0x0>;",
                      bridge)
        self.assertNotIn("sluice,", text.replace('"sluice,board"', ""))

    def test_the_uart_has_the_clock_that_the_board_gives_it(self):
        text = self.describe("virt", "--set", "uart.clock=1.8432 MHz")
        self.assertIn("clock-frequency = <0x1c2000>;", self.node(text, "serial@10000000"))
        self.assertIn("clock-frequency = <0x384000>;", self.node(self.describe("virt"), "serial@10000000"))

    def test_each_core_has_its_clock(self):
        for clock, cells in (("2.5 GHz", "0x9502f900"), ("5 GHz", "0x1 0x2a05f200")):
            text = self.describe("virt", "--set", f"cluster.host.clock={clock}", "--set", "cluster.host.harts=2")
            for hart in range(2):
                self.assertIn(f"clock-frequency = <{cells}>;", self.node(text, f"cpu@{hart}"))

    def test_messages_go_to_the_supervisor_s_interrupt_files(self):
        text = self.describe("virt with AIA")
        files = self.node(text, "interrupt-controller@28000000")
        self.assertIn("#msi-cells = <0x0>;", files)
        to_files = "msi-parent = <&{/soc/interrupt-controller@28000000}>;"
        self.assertIn(to_files, self.node(text, "pci@30000000"))
        self.assertIn(to_files, self.node(text, "interrupt-controller@d000000"))

    def test_each_cluster_has_a_tree_of_its_own(self):
        two = os.path.join(SOURCE, "tests/board/boards/two_clusters.toml")
        first = self.succeed("describe", two, "--device-tree")
        self.assertEqual(first, self.succeed("describe", two, "--device-tree", "--cluster", "host"))
        self.assertIn("memory@80000000 {", first)
        self.assertNotIn("memory@90000000 {", first)
        plic = ("--set", "cluster.host.interrupts=plic", "--set", "cluster.second.interrupts=plic")
        for arguments in ((), plic):
            second = self.succeed("describe", two, "--device-tree", "--cluster", "second", *arguments)
            dtc("-I", "dts", "-O", "dtb", *STRICT, text=second.encode())
            self.assertEqual(re.findall(r"(?m)^\t(?:\t)?((?:memory|cpu)@.*) \{", second),
                             ["memory@90000000", "memory@100000000", "cpu@1", "cpu@2"])
        # The contexts of hart 0, which is the other cluster's, come first.
        one, other = (f"&{{/cpus/cpu@{h}/interrupt-controller}}" for h in (1, 2))
        self.assertIn(f"interrupts-extended = <{one} 0xffffffff {one} 0xffffffff {one} 0xb {one} 0x9 {other} 0xb {other} 0x9>;",
                      self.node(second, "interrupt-controller@c000000"))
        self.assert_mistake(["describe", "virt", "--device-tree", "--cluster", "hst"],
                            "--cluster hst: the board has no such cluster; it has host")
        self.assert_mistake(["describe", "virt", "--device-tree", "--out", "no/where.dtb"],
                            "--out no/where.dtb: cannot be written: No such file or directory")


if __name__ == "__main__":
    unittest.main()
