# SPDX-License-Identifier: Apache-2.0
"""What a user has wrong with several systems-on-chip, and faults of one of them. test_systems.py SLUICE BUILD."""

import json
import unittest

from command import SPIN, CommandTest, guest, sluice

BOARD = """extends = ["hosts/i9-9960x"]
[caches]
timing = "functional"
[cluster.host]
firmware = "loop.elf"
[cluster.card]
firmware = "loop.elf"
harts = 2
[memory.card]
base = 0x8000_0000
size = "64 MiB"
[soc.card]
clusters = ["cluster.card"]
memories = ["memory.card"]
"""


class Systems(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("loop.elf", guest(0x0015_0513, 0xFFDF_F06F))  # addi a0, a0, 1; j . - 4
        self.write("spin.elf", guest(SPIN))
        self.write("my.toml", BOARD)

    def test_an_image_outside_its_systems_memory_names_the_system(self):
        self.write("my.toml", BOARD.replace("base = 0x8000_0000", "base = 0x9000_0000"))
        outside = ("firmware {} has a segment at 0x80000000 ({} B) outside every memory of soc.card (0x9000_0000 to "
                   "0x93ff_ffff)")
        self.assert_mistake(["run", "my.toml", "--until=1 us", "--set", "cluster.card.firmware=spin.elf"],
                            "--set cluster.card.firmware=spin.elf: " + outside.format("spin.elf", 4))
        self.assert_mistake(["run", "my.toml", "--until=1 us"],
                            "my.toml:14: soc.card.memories leaves the image no memory: " + outside.format("loop.elf", 8))

    def test_the_memories_that_another_system_takes_are_blamed(self):
        self.assert_mistake(["run", "my.toml", "--until=1 us", "--set", "memory.card.base=0x9000_0000",
                             "--set", "soc.card.memories=memory.dram"],
                            "--set soc.card.memories=memory.dram: leaves the image no memory: firmware loop.elf "
                            "has a segment at 0x80000000 (8 B) outside every memory of the host (0x9000_0000 to "
                            "0x93ff_ffff...")

    def test_a_fault_of_a_system_is_one_of_all_its_harts(self):
        self.write("my.toml", BOARD + "[fault.x]\nkind = 'kill'\ntarget = 'soc.card'\nat = '2 us'\n")
        run = sluice("run", "my.toml", "--json", "--until=10 us", cwd=self.directory)
        result = json.loads(run.stdout)
        self.assertEqual([(f["kind"], f["target"]) for f in result["faults"]], [("kill", "soc.card")])
        instructions = {c["name"]: c["instructions"] for c in result["cores"]}
        host = instructions["cluster.host.hart0"]
        for hart in ("cluster.card.hart0", "cluster.card.hart1"):
            self.assertAlmostEqual(instructions[hart] / host, 0.2, delta=0.01)
        self.write("my.toml", BOARD + "[fault.x]\nkind = 'kill'\ntarget = 'soc.cart'\nat = '2 us'\n")
        self.assert_mistake(["run", "my.toml"], "my.toml:17: fault.x.target must name a cluster, a hart, a system-on-chip or a "
                            'device of the board, not "soc.cart"; did you mean soc.card?')

    def test_resets_without_an_end_name_the_system(self):
        # lui, lui, addi, sw: a reset by the test finisher.
        self.write("reset.elf", guest(0x0010_02B7, 0x0000_7337, 0x7773_0313, 0x0062_A023, SPIN))
        self.write("my.toml", BOARD + "[run]\nreboot = 'restart'\n")
        run = sluice("run", "my.toml", "--set", "cluster.card.firmware=reset.elf", "--set", "cluster.card.harts=1",
                     cwd=self.directory)
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, r"^sluice: my: the firmware has reset soc\.card 1000 times, and no request has ended")

    def test_a_list_of_tables_is_no_table(self):
        self.write("list.toml", "[[nic]]\nmodel = 'descriptor'\n")
        self.assert_mistake(["run", "list.toml"], "list.toml:1: [[nic]] must be a table: [nic.NAME], or [nic] for what a board "
                            "has once")


if __name__ == "__main__":
    unittest.main()
