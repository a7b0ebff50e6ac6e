# SPDX-License-Identifier: Apache-2.0
"""Parameters of shipped boards act, or the run says why they do not.

Each is set to two values other than the board's. What a board does is the result of its run, and what it is its memory
map, its PCIe tree, its device tree, and the frames on its wires. A part of the parameters is tried, drawn at random; all
with SLUICE_FULL=1."""

import concurrent.futures
import json
import os
import random
import re
import subprocess
import tempfile
import unittest

from board_runs import FULL, SLUICE, BoardTest

SHARE_OF_FIRST, SHARE_OF_OTHERS = (1, 1) if FULL else (0.4, 0.1)
# What a run needs to be short.
WORKLOADS = {
    "e810-poll": "requests = 1500\nwarmup = 100\n",
    "e810-irq": "requests = 1000\nwarmup = 100\n",
    "e810-echo": "requests = 1000\nwarmup = 100\n",
    "haswell-nfp": "transactions = 50\nwarmup = 50\nsizes = \"512\"\nwindow = \"16 KiB\"\n",
    "enzian-eci-pio": "frames = 3\nsizes = \"64,500\"\n",
    "enzian-pcie-pio": "frames = 3\nsizes = \"64,500\"\n",
    "enzian-eci-rpc": "requests = 200\nwarmup = 10\n",
    "enzian-pcie-rpc": "requests = 200\nwarmup = 10\n",
    "enzian-lauberhorn": "requests = 200\nwarmup = 10\n",
    "enzian-dma-irq": "requests = 200\nwarmup = 10\n",
    "virt": "",
}
ARGUMENTS = {"virt": ("--until", "1 ms")}
# They name a file or another part of the board, of which a shipped board has one.
NAMES = ("firmware", "images", "initrd", "device_tree", "expect", "slot", "wire", "attach", "port", "pcap", "partner",
         "sync")
VALUES = {
    "mac": ("02:00:00:00:00:77", "02:00:00:00:00:78"),
    "address": ("02:53:4c:00:00:77", "10.0.0.77", "02:53:4c:00:00:78", "10.0.0.78"),
    "ipv4": ("10.0.0.77", "10.0.0.78"),
    "bootargs": ("quiet", "debug"),
    "moderation": ("4 us", "20 us"),
    "rates": ("[100000]", "[200000]"),
    "down_at": ("[30 us]", "[35 us]"),
    "up_at": ("[30 us]", "[35 us]"),
    "sizes": ("64", "128"),
}
UNITS = {"ns": " ns", "b/s": " b/s", "Hz": " Hz", "B": " B"}
# It takes minutes.
SLOW = (("load", "zero-loss"), ("kind", "zero-loss"))
# Other limits may hide these, a threshold has nothing near it, a division may fall into a wait, and a millionth of a few
# frames is too little: another value may change nothing.
HIDDEN = re.compile(r"\.core\.|\.clock_tolerance$|\.costs\.div32$|\.rx_(cache|fetch_threshold)$|^caches\.\w+_ways$|\.idle\.enter_after$")


def numbers(value):
    """Other numbers, the nearest to half and twice first."""
    if value == 0:
        return (1, 2, 16, 100, 1000)
    half = value // 2 if isinstance(value, int) else value / 2
    return (2 * value, half, value + 1, value - 1, 4 * value, half / 2 if isinstance(value, float) else half // 2, 1, 2)


def candidates(key, parameter):
    value, unit = parameter["value"], UNITS.get(parameter["unit"], "")
    last = key.rsplit(".", 1)[-1]
    if last in VALUES:
        return VALUES[last]
    if isinstance(value, bool):
        return ("false" if value else "true",)
    if value == []:
        return ("[1 us]",)
    if isinstance(value, list):
        return tuple("[" + ", ".join(f"{change(v)}{unit}" for v in value) + "]"
                     for change in (lambda v: 2 * v, lambda v: v // 2, lambda v: v + 1, lambda v: v + 2))
    if isinstance(value, (int, float)):
        return tuple(f"{n}{unit}" for n in numbers(value) if n >= 0)
    return tuple(w for w in re.split(r", | or ", parameter["valid"]) if w != value and (last, w) not in SLOW)



class Board:
    """A shipped board with a short workload, and what it does and is with a setting."""

    def __init__(self, name, directory):
        self.name = name
        self.directory = directory
        # The board's file has all else, so that the command line has nothing but what is tried.
        self.path = os.path.join(directory, f"my-{name}.toml")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(f'extends = ["{name}"]\n' + ("[workload]\n" + WORKLOADS[name] if WORKLOADS[name] else ""))
        self.instances = json.loads(self.sluice("describe", "--json").stdout)["instances"]
        self.plain = self.result(self.run_with(()))
        self.about = {look: look(self, ()) for look in (Board.description, Board.frames)}

    def sluice(self, command, *arguments):
        return subprocess.run([SLUICE, command, self.path, *arguments], capture_output=True, text=True, timeout=300,
                              check=False)

    def run_with(self, options):
        return self.sluice("run", "--json", *ARGUMENTS.get(self.name, ()), *options)

    @staticmethod
    def result(done):
        contents = json.loads(done.stdout)
        for key in ("host", "board", "without_effect"):
            del contents[key]
        return contents

    def description(self, options):
        board = json.loads(self.sluice("describe", "--json", *options).stdout)
        return board["memory_map"], board["pcie"], self.sluice("describe", "--device-tree", *options).stdout

    def frames(self, options):
        found = {}
        with tempfile.TemporaryDirectory() as traces:
            self.run_with((*options, "--trace", "pcap", "--out", traces))
            for name in os.listdir(traces):
                if name != "result.json":
                    with open(os.path.join(traces, name), "rb") as file:
                        found[name] = file.read()
        return found

    def effect(self, path, value):
        """What the value does: "refused", "acts", "said", "hidden", "false" (said, and acts) or "silent"."""
        option = (f"--set={path}={value}",)
        done = self.run_with(option)
        if done.returncode == 2:
            return "refused" if done.stderr.count("\n") == 1 else "silent"
        said = {w["path"]: w["known_by"] for w in json.loads(done.stdout)["without_effect"]}
        if path in said and f"{path} (--set)" not in done.stderr:
            return "silent"
        if path in said:
            # What the run did not need may be what it would have needed less of.
            return "said" if said[path] != "board" or self.result(done) == self.plain else "false"
        if self.result(done) != self.plain:
            return "acts"
        if any(look(self, option) != plain for look, plain in self.about.items()):
            return "acts"
        return "hidden" if HIDDEN.search(path) else "silent"


class EverySetting(BoardTest):
    def test_of_the_first_board(self):
        self.try_board("e810-poll", SHARE_OF_FIRST)

    def test_of_the_others(self):
        for name in list(WORKLOADS)[1:]:
            with self.subTest(board=name):
                self.try_board(name, SHARE_OF_OTHERS)

    def try_board(self, name, share):
        board = Board(name, self.directory())
        tried = [(f"{instance}.{key}", parameter) for instance, contents in board.instances.items()
                 for key, parameter in contents["parameters"].items() if key.rsplit(".", 1)[-1] not in NAMES]
        tried = random.Random(f"{name} 1").sample(tried, round(share * len(tried)))
        self.assertTrue(tried)
        wrong = []
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for path, effects in pool.map(lambda of: self.two_values(board, *of), tried):
                wrong += [f"{path}: no value tried"] if not effects else []
                wrong += [f"{path}={value}" for value, effect in effects.items() if effect in ("false", "silent")]
        self.assertEqual(wrong, [])

    @staticmethod
    def two_values(board, path, parameter):
        effects = {}
        refused = False
        for value in candidates(path, parameter):
            if len(effects) == 2:
                break
            if value in (parameter["text"], str(parameter["value"])):
                continue
            effect = board.effect(path, value)
            if effect == "refused":
                refused = True
            else:
                effects[value] = effect
        # A rule that leaves the board's value only is an effect, too.
        return path, effects or ({"": "refused"} if refused else {})


if __name__ == "__main__":
    unittest.main()
