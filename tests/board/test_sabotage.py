# SPDX-License-Identifier: Apache-2.0
"""Some seventy mistakes of a driver, one guest each: every one is named in one sentence, with its instruction, and
nothing else is. The guest is tests/board/guests/sabotage.c."""

import json
import os
import re
import struct
import subprocess
import unittest

import board_runs
from board_runs import BoardTest

HERE = os.path.dirname(os.path.abspath(__file__))
# platform/cli/sluice in the build tree, beside firmware/.
ELF = os.path.join(os.path.dirname(board_runs.SLUICE), "../../firmware/sabotage.elf")
BOARD = os.path.join(HERE, "boards", "bad_driver.toml")
NOWHERE = 0x123400000000
TOOLS = "riscv64-unknown-elf-"

HART = "cluster.host.hart0: "
NOTHING = "access fault, neither memory nor a device is there"
MMIO = "access fault, root.mmio64 is a device, and "
TX = "nic.eth0: transmit queue 0: the frame of descriptor 0 is dropped, "
TX_DESCRIPTOR = " for transmit descriptor 0 of queue 0: "
FAULT = "neither memory nor a device is there"
LOW_BITS = "the low bits are dropped"
MASKED = "it has not been unmasked since reset, so its message waits"
# The sentence for each function of sabotage.c, in the order of its table. If the instruction to blame is not in that
# function: the function that has it, or None where the instruction is not known. {} are addresses of the guest.
MISTAKES = {
    "load_nowhere": (HART + "load of 8 bytes at 0x10: " + NOTHING, "sabotage_load"),
    "store_beyond_memory": (HART + "store of 8 bytes at {end:#x}: " + NOTHING, "sabotage_store"),
    "load_across_end": (HART + "access of 8 bytes at {end_less_4:#x}: access fault, it reaches across the end of memory",
                        "sabotage_load"),
    "misaligned_device": (HART + "access of 4 bytes at {bar_2:#x}: " + MMIO + "outside memory an address must be a "
                          "multiple of the size", "sabotage_load_word"),
    "atomic_device": (HART + "atomic access of 4 bytes at {bar_8:#x}: " + MMIO + "only memory takes atomics",
                      "sabotage_atomic_word"),
    "misaligned_atomic": (HART + "atomic access of 8 bytes at {frame_4:#x}: the address is not a multiple of the size",
                          "sabotage_atomic"),
    "jump_to_null": (HART + "jump to 0x0: " + NOTHING, "sabotage_jump"),
    "jump_to_device": (HART + "jump to 0x10000000: access fault, uart is a device, and instructions come from memory",
                       "sabotage_jump"),
    "illegal_instruction": (HART + "0xc0001073 is no instruction here", "sabotage_illegal"),
    "forgotten_fence_i": (HART + "runs code that it has changed since its last fence.i", "own_code"),

    "wrong_width": "nic.eth0: read of 8 bytes at 0x0: not the register's width (revision)",
    "no_register": "nic.eth0: read of 4 bytes at 0x7fff0: no register there",
    "read_only_register": "nic.eth0: write of 4 bytes at 0x0: the register is read-only (revision)",
    "hole_in_msix_bar": "nic.eth0: read of 4 bytes at 0x4000: no register there (BAR 2)",
    "max_frame_range": "nic.eth0: max_frame 20000 is not 64 to 9724: ignored",
    "buffer_range": "nic.eth0: rx_buffer[0] 1000 is not a multiple of 128 from 1024 to 16256: ignored",
    "moderation_range": "nic.eth0: vector_moderation[1] 5000 is not 0 to 4095: ignored",
    "uart_width": "uart: read of 8 bytes at 0x0: not the register's width",
    "clint_width": "clint: read of 1 bytes at 0x0: not the register's width (msip)",
    "finisher_action": "finisher: 0x1234 names no action: ignored",
    "config_width": "root: read of 8 bytes at 0x30100000: PCIe has no such access, configuration space takes what lies "
                    "within an aligned word of 4 bytes",

    "device_memory_off": "nic.eth0: read of 4 bytes at {bar:#x}: memory space is off in its command register",
    "bridge_memory_off": "root: read of 4 bytes at {bar:#x}: memory space is off in the command register of the root "
                         "port 00:01.0",
    "bar_outside_window": "root: read of 4 bytes at {elsewhere:#x}: the window of no root port holds the address",
    "bar_moved": "nic.eth0: read of 4 bytes at {bar:#x}: none of its BARs holds all of it",

    "base_is_cut": "nic.eth0: rx_base_low[0] {rx_ring_40:#x} is cut to {rx_ring:#x}, a ring starts at a multiple of 128 "
                   "bytes",
    "ring_length": "nic.eth0: rx_length[0] 7 is not a multiple of 32 from 64 to 4096: ignored",
    "ring_without_length": "nic.eth0: transmit queue 0: enabled with tx_length 0",
    "ring_changed_under_way": "nic.eth0: receive queue 0: rx_base_low is written while the ring is active: ignored",
    "doorbell_before_enable": "nic.eth0: transmit queue 0: tail 1 is ignored, the ring is not enabled",
    "tail_beyond_ring": "nic.eth0: receive queue 0: tail 64 is ignored, the ring has 64 descriptors, 0 to 63",
    "tail_overtakes": "nic.eth0: receive queue 0: tail 39 is ignored, it gives more than the 23 descriptors that are "
                      "free",
    "cause_without_vector": "nic.eth0: rx_interrupt[0] names vector 200, the NIC has 2, 0 to 1: ignored",

    "empty_descriptor": TX + "descriptor 0 has size 0",
    "frame_too_long": TX + "it has 2000 bytes and not 14 to 1514, max_frame",
    "frame_too_short": TX + "it has 13 bytes and not 14 to 1514, max_frame",
    "status_without_end": TX + "descriptor 0 has RS or STAMP without EOP",
    "unknown_descriptor": TX + "descriptor 0 has type 3 and not 0, data",
    "too_many_pieces": TX + "it has more than 8 descriptors without EOP",
    "checksum_of_nothing": TX + "its lengths fit no IPv4 header, or no unfragmented UDP datagram, to put a checksum in",

    "tx_ring_nowhere": f"nic.eth0: DMA read of 16 bytes at {NOWHERE:#x}" + TX_DESCRIPTOR + FAULT,
    "rx_ring_nowhere": f"nic.eth0: DMA read of 32 bytes at {NOWHERE:#x} for receive descriptor 0 of queue 0: " + FAULT,
    "tx_buffer_nowhere": f"nic.eth0: DMA read of 1500 bytes at {NOWHERE:#x} for the data of transmit descriptor 0 of "
                         "queue 0: " + FAULT,
    "rx_buffer_nowhere": f"nic.eth0: DMA write of 1500 bytes at {NOWHERE:#x} for the buffer of receive descriptor 0 of "
                         "queue 0: " + FAULT,
    "buffer_in_code": "nic.eth0: DMA write of 1500 bytes at {victim:#x} for the buffer of receive descriptor 0 of queue "
                      "0: code lies there",
    "buffer_in_loaded_code": "nic.eth0: DMA write of 64 bytes at {own_code:#x} for the buffer of receive descriptor 0 of "
                             "queue 0: code lies there",
    "buffer_in_device": "nic.eth0: DMA write of 1500 bytes at 0x2000000 for the buffer of receive descriptor 0 of queue 0: "
                        "clint: write of 256 bytes at 0x0: not the register's width (msip)",
    "data_in_device": "nic.eth0: DMA read of 64 bytes at 0x10000000 for the data of transmit descriptor 0 of queue 0: "
                      "uart cannot be read by devices",
    "buffer_in_configuration_space": "nic.eth0: DMA write of 64 bytes at 0x30008018 for the buffer of receive descriptor "
                                     "0 of queue 0: devices do not reach configuration space",
    "buffer_in_empty_window": "nic.eth0: DMA write of 1500 bytes at 0x60000000 for the buffer of receive descriptor 0 of "
                              "queue 0: the window of no root port holds the address",
    "buffer_in_bar": "nic.eth0: DMA read of 64 bytes at {bar:#x} for the data of transmit descriptor 0 of queue 0: the "
                     "address leads back to the port that it comes from",
    "device_bus_master_off": "nic.eth0: DMA read of 16 bytes at {tx_ring:#x}" + TX_DESCRIPTOR +
                             "bus mastering is off in its command register",
    "bridge_bus_master_off": "nic.eth0: DMA read of 16 bytes at {tx_ring:#x}" + TX_DESCRIPTOR +
                             "bus mastering is off in the command register of the root port above it",

    "message_to_nowhere": "nic.eth0: interrupt message of vector 0 to 0x50000: no interrupt controller is there",
    "message_to_finisher": "nic.eth0: interrupt message of vector 0 to 0x100000: no interrupt controller is there",
    "message_to_memory": "nic.eth0: interrupt message of vector 0 to {rx_ring:#x}: no interrupt controller is there",
    "message_without_identity": "imsic: message with identity 4000 to hart 0's supervisor file is ignored, it has 1 to "
                                "255",
    "message_to_configuration_space": "nic.eth0: interrupt message of vector 0 to 0x30000000: devices do not reach "
                                      "configuration space",
    "message_misaligned": "nic.eth0: message address 0x28000002 of vector 0 is not a multiple of 4: " + LOW_BITS,
    "vector_never_set_up": "nic.eth0: interrupt of vector 1: " + MASKED,
    "vector_never_unmasked": "nic.eth0: interrupt of vector 1: " + MASKED,
    "message_without_bus_master": "nic.eth0: interrupt of vector 0: bus mastering is off in its command register, so it "
                                  "is dropped",
    "table_width": "nic.eth0: write of 2 bytes at 0x8: not the register's width (MSI-X table)",
    "pending_bits_written": "nic.eth0: write of 8 bytes at 0x8000: the register is read-only (MSI-X PBA)",
    "imsic_page": "imsic: message at byte 0x10 of hart 0's supervisor file is ignored, only 0x0 and 0x4 take one",
    "imsic_width": "imsic: write of 2 bytes at 0x0: not the register's width",
    "wired_message_without_identity": ("imsic: message with identity 0 to hart 0's supervisor file is ignored, it has 1 "
                                       "to 255", None),
    "completion_unclaimed": "plic: completion of source 10 by context 1, which nobody has claimed",
    "completion_not_enabled": "plic: completion of source 11 by context 1, which has not enabled it: ignored",
}
PLIC = ("completion_unclaimed", "completion_not_enabled")
NUMBERS = {name: number for number, name in enumerate([*MISTAKES, "a_thousand_loads"], 1)}


def tool(name, *arguments):
    return subprocess.run([TOOLS + name, *arguments], capture_output=True, text=True, check=True).stdout


class Guest:
    """The image, its symbols, and copies of it that make chosen mistakes."""

    def __init__(self):
        with open(ELF, "rb") as file:
            self.image = file.read()
        self.symbols, self.ends = {}, {}
        for line in tool("nm", "-S", ELF).splitlines():
            fields = line.split()
            address, name = int(fields[0], 16), fields[-1]
            self.symbols[name] = address
            self.ends[name] = address + (int(fields[1], 16) if len(fields) == 4 else 0)
        (self.order,) = re.findall(r"^ *LOAD +(\S+) (\S+) \S+ (\S+) \S+ RW", tool("readelf", "-lW", ELF), re.M)
        with open(os.path.join(HERE, "guests", "sabotage.c"), encoding="utf-8") as file:
            self.source = file.read().splitlines()
        s = self.symbols
        bar, end = 0x4000000000, self.end_of_memory()
        self.places = {"bar": bar, "bar_2": bar + 2, "bar_8": bar + 8, "elsewhere": bar + (1 << 32), "end": end,
                       "end_less_4": end - 4, "frame_4": s["frame"] + 4, "rx_ring": s["rx_ring"],
                       "rx_ring_40": s["rx_ring"] + 0x40, "tx_ring": s["tx_ring"], "own_code": s["own_code"], "victim": s["sabotage_victim"]}

    @staticmethod
    def end_of_memory():
        text = subprocess.run([board_runs.SLUICE, "describe", BOARD], capture_output=True, text=True, check=True).stdout
        (last,) = re.findall(r"(?m)^ +\S+ to (0x\w+) +\S+ MiB +memory\.dram$", text)
        return int(last, 16) + 1

    def making(self, names, path):
        """Writes an image that makes these mistakes, in order."""
        offset, address, size = (int(n, 16) for n in self.order)
        at = self.symbols["sabotage_order"]
        assert address <= at < address + size and len(names) < 16
        at += offset - address
        numbers = struct.pack(f"<{len(names) + 1}I", *(NUMBERS[n] for n in names), 0)
        with open(path, "wb") as file:
            file.write(self.image[:at] + numbers + self.image[at + len(numbers):])
        return path

    def expected(self, name):
        """The sentence, and the function with the instruction to blame (None: not known)."""
        entry = MISTAKES[name]
        sentence, place = entry if isinstance(entry, tuple) else (entry, name)
        return sentence.format(**self.places), place

    def is_guilty(self, pc, function):
        """Whether pc is the instruction to blame: on a marked line, or the first in a function for it alone."""
        if function not in MISTAKES:
            return pc == self.symbols[function]
        where = tool("addr2line", "-fie", ELF, hex(pc)).splitlines()
        line = int(re.search(r":(\d+)", where[-1]).group(1))  # of sabotage.c, which LTO gives an artificial name
        return where[-2] == function and "GUILTY" in self.source[line - 1]


class Sabotage(BoardTest):
    @classmethod
    def setUpClass(cls):
        cls.guest = Guest()

    def start(self, names, number=0):
        elf = self.guest.making(names, os.path.join(self.folder, f"{number}.elf"))
        interrupts = "plic" if names[0] in PLIC else "aia"
        return board_runs.start(BOARD, "--firmware", elf, "--set", f"cluster.host.interrupts={interrupts}", "--until",
                                "20 ms")

    def setUp(self):
        self.folder = self.directory()

    def check(self, mistake, name):
        sentence, place = self.guest.expected(name)
        self.assertEqual(mistake["what"], sentence, name)
        self.assertEqual((mistake["times"], mistake.get("others", 0)), (1, 0), name)
        if place is None:
            self.assertNotIn("hart", mistake, name)
            return
        self.assertEqual(mistake["hart"], "cluster.host.hart0", name)
        pc = int(mistake["pc"], 16)
        self.assertTrue(self.guest.is_guilty(pc, place), f"{name}: pc {pc:#x}")
        offset = pc - self.guest.symbols[place]
        is_code = place != "own_code"
        self.assertEqual(mistake["symbol"], (place + (f"+{offset:#x}" if offset else "")) if is_code else "", name)

    def test_each_mistake_is_named_and_nothing_else_is(self):
        names = list(MISTAKES)
        for first in range(0, len(names), 4):
            some = names[first:first + 4]
            runs = [self.start([name], first + n) for n, name in enumerate(some)]
            for name, process in zip(some, runs):
                with self.subTest(name):
                    result = json.loads(board_runs.finish(process))
                    self.assertEqual((result["outcome"], result["failure"]), ("finished", ""))
                    self.assertEqual(len(result["mistakes"]["list"]), 1, result["mistakes"]["list"])
                    self.check(result["mistakes"]["list"][0], name)

    def test_none_hides_another(self):
        names = ["rx_buffer_nowhere", "tx_buffer_nowhere", "load_nowhere", "no_register", "message_to_nowhere",
                 "buffer_in_code", "device_bus_master_off", "tail_overtakes", "jump_to_null", "frame_too_long",
                 "bar_outside_window", "message_without_identity", "illegal_instruction", "tx_ring_nowhere"]
        result = json.loads(board_runs.finish(self.start(names)))
        self.assertEqual((result["outcome"], result["failure"]), ("finished", ""))
        self.assertEqual(len(result["mistakes"]["list"]), len(names), result["mistakes"]["list"])
        for mistake, name in zip(result["mistakes"]["list"], names):
            self.check(mistake, name)
        self.assertEqual(result["mistakes"]["unlisted"], 0)

    def test_a_loop_of_mistakes_leaves_room_for_others(self):
        result = json.loads(board_runs.finish(self.start(["a_thousand_loads", "no_register"])))
        loads, last = result["mistakes"]["list"][:-1], result["mistakes"]["list"][-1]
        self.assertEqual([(m["what"], m["times"], m.get("others", 0)) for m in loads],
                         [(HART + f"load of 8 bytes at {0x1000 + 8 * n:#x}: " + NOTHING, 1, 0 if n else 996)
                          for n in range(4)])
        self.check(last, "no_register")
        self.assertEqual(result["mistakes"]["unlisted"], 0)
        elf = os.path.join(self.folder, "0.elf")
        report = subprocess.run([board_runs.SLUICE, "run", BOARD, "--firmware", elf, "--until", "20 ms"],
                                capture_output=True, text=True, check=True).stdout
        symbol = "by cluster.host.hart0 at pc {:#x} sabotage_load".format(self.guest.symbols["sabotage_load"])
        self.assertIn(f"    {loads[0]['what']}, {symbol}, and 996 times with other numbers that are not listed\n", report)

    def test_a_guest_without_mistakes_has_none(self):
        result = json.loads(board_runs.finish(self.start_none()))
        self.assertEqual((result["outcome"], result["failure"]), ("finished", ""))
        self.assertEqual(result["mistakes"], {"list": [], "unlisted": 0})

    @staticmethod
    def start_none():
        return board_runs.start(BOARD, "--firmware", ELF, "--until", "20 ms")


if __name__ == "__main__":
    unittest.main()
