# SPDX-License-Identifier: Apache-2.0
"""What the tests of the request ledger share: runs of boards, request by request. LEDGER_TILES and SLUICE are the paths
that the test got as its first arguments."""

import json
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import lru_cache

from closed_forms import Parameters, Slots

LEDGER_TILES, SLUICE = sys.argv.pop(1), sys.argv.pop(1)
NS = 10**6
ADDED = 100 * NS
BOARDS = ("e810-poll", "e810-irq")
# A call finds a core asleep, if that sleeps at all: its vector is armed, and the interrupt that a call before it may have
# left pending is over.
# Firmware has booted by the second ARP request, whatever the timing: the rings turn at the same calls.
LONE = ("workload.outstanding=1", "workload.warmup=3", "workload.think=5 us", "workload.host.resolve_interval=300 us")
# Closed forms hold where nothing is drawn.
IDEAL = ("run.spread=none", "workload.think_times=constant", "workload.think=0 ns")
FUNCTIONAL, CACHED, INTERVAL = ((f"caches.timing={timing}", *LONE) for timing in ("functional", "cached", "interval"))
# Tiles that begin with an event, at any time, and end when a core reacts, in a whole slot.
REACTIONS = (("wait for a core", "nic.eth0"), ("interrupt delivery", "imsic"), ("interrupt delivery", "plic"))
# What a core does by itself takes no instructions.
HARDWARE = ("interrupt delivery", "idle exit", "trap entry")

# How often one request meets each latency, by stage and component.
PATH = {
    "net.wire0.flight": {("wire", "net.wire0"): 2},
    "nic.eth0.mac.rx_latency": {("MAC", "nic.eth0.mac"): 1},
    "nic.eth0.mac.tx_latency": {("MAC", "nic.eth0.mac"): 1},
    "nic.eth0.parse": {("parse", "nic.eth0"): 1},
    "nic.eth0.rx_pipeline": {("NIC queue", "nic.eth0"): 1},
    "nic.eth0.tx_doorbell": {("NIC queue", "nic.eth0"): 1},
    "nic.eth0.tx_pipeline": {("transmit", "nic.eth0"): 1},
    # Up: data with descriptor, two read requests. Down: doorbell, two completions.
    "nic.eth0.pcie.transmit_latency": {("upstream link", "pcie.slot0"): 3},
    "nic.eth0.pcie.receive_latency": {("downstream link", "pcie.slot0"): 3},
    "pcie.slot0.flight": {("upstream link", "pcie.slot0"): 3, ("downstream link", "pcie.slot0"): 3},
    "root.write_latency": {("memory", "root"): 1},
    "root.read_latency": {("memory", "root"): 2},
    "root.outbound_latency": {("doorbell", "root"): 1},
    "imsic.delivery": {("interrupt delivery", "imsic"): 1},
    "plic.delivery": {("interrupt delivery", "plic"): 1},
    "caches.dma_write": {("memory", "root"): 1},
    "caches.dma_read": {("memory", "root"): 2},
}
# How often an access of a core meets each latency. A read of a register behind PCIe goes there and back.
READ = {"core_reads": 1}
ACCESSES = {
    "bus.latency": {"bus_accesses": 1},
    "root.outbound_latency": READ,
    "root.completion_latency": READ,
    "nic.eth0.pcie.receive_latency": READ,
    "nic.eth0.pcie.transmit_latency": READ,
    "pcie.slot0.flight": {"core_reads": 2},
    "pcie.slot1.flight": {"core_reads": 2},
    "switch.sw0.latency": {"core_reads": 2},
}


def output_of(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout, parse_float=Decimal)


def ideal(overrides):
    """The overrides, and IDEAL as far as they do not say otherwise."""
    said = {o.split("=")[0] for o in overrides}
    calls = "workload.model" not in said
    return (*(s for s in IDEAL if s.split("=")[0] not in said and (calls or not s.startswith("workload."))), *overrides)


class Request:
    """tiles: (stage, component, start, end)."""

    def __init__(self, entry):
        ends = [start for _, _, start in entry["tiles"][1:]] + [entry["end"]]
        self.id = entry["id"]
        self.tiles = [(*tile, end) for tile, end in zip(entry["tiles"], ends)]
        self.start, self.end = self.tiles[0][2], entry["end"]
        # A call that is due while the line is busy waits in its client first.
        self.first_bit = next((start for stage, _, start, _ in self.tiles if stage == "wire"), None)


class Run:
    """What ledger_tiles says of one board."""

    def __init__(self, board, *overrides):
        self.result = output_of(LEDGER_TILES, board, *ideal(overrides))
        self.parameters = Parameters(self.result["board"])
        self.slots = Slots(self.parameters)
        self.requests = [Request(r) for r in self.result["ledger"]["requests"]]
        self.frames = {(f["id"], f["reply"]): f for f in self.result["ledger"]["frames"]}

    def lengths(self, request):
        """((stage, component), length) of each tile; length: slots where both ends are software's, else
        femtoseconds."""
        for stage, component, start, end in request.tiles:
            if component.startswith("cluster."):
                yield (stage, component), self.slots.number(end) - self.slots.number(start)
            else:
                yield (stage, component), end - start

    def sums(self, request):
        sums = Counter()
        for key, length in self.lengths(request):
            sums[key] += length
        return sums

    def longer(self, request, traversals):
        """What sums() gives when each of these traversals takes 100 ns more."""
        sums = self.sums(request)
        for key in sums:
            sums[key] += traversals.get(key, 0) * (self.slots.number(ADDED) if key[1].startswith("cluster.") else ADDED)
        return sums


@lru_cache(maxsize=None)
def run(board, *overrides):
    return Run(board, *overrides)


def run_all(calls):
    """Makes these runs beforehand, two at a time."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda call: run(*call), calls))


class Counted:
    """A run, and what its counters said at the edges of its tiles."""

    def __init__(self, *case):
        self.run = run(*case)
        edges = sorted({edge for r in self.run.requests for _, _, *tile in r.tiles for edge in tile})
        again = Run("--counters-at", ",".join(map(str, edges)), case[0], *ideal(case[1:]))
        assert [r.tiles for r in again.requests] == [r.tiles for r in self.run.requests], "counting changed the run"
        self.counters = again.result["ledger"]["counters"]

    def between(self, start, end, name):
        return self.counters[str(end)][name] - self.counters[str(start)][name]

    def traversals(self, path, request, on_path=PATH):
        """How often a request meets a latency, by stage and component: on the path, and in a core's accesses to
        devices, which the core makes within stages of software and waits for."""
        traversals = Counter(on_path.get(path, {}))
        for counter, times in ACCESSES.get(path, {}).items():
            for tile in request.tiles:
                if is_software(*tile[:2]):
                    traversals[tile[:2]] += times * self.between(*tile[2:], counter)
        return traversals


@lru_cache(maxsize=None)
def counted(*case):
    return Counted(*case)


def is_software(stage, component):
    """Whether a core executes instructions in a tile, which does not depend on where a polling core was in its loop."""
    return component.startswith("cluster.") and stage not in HARDWARE


def aligned_pause():
    """A cost of `pause` with which 100 ns are whole iterations of the firmware's poll loop.

    Two runs that differ in nothing but how long the loop spins tell slots per instruction; how that changes with the
    cost of the loop's one `pause` tells how many instructions an iteration has, and so how many slots."""
    def slots_per_instruction(pause):
        runs = [run("e810-poll", *FUNCTIONAL, "workload.requests=2", f"cluster.host.costs.pause={pause}",
                    f"workload.think={think} us") for think in (100, 2100)]
        slots, instructions = (b - a for a, b in zip(*[(r.result["counters"]["cluster.host.hart0"]["slots"],
                                                        r.result["counters"]["cluster.host.hart0"]["instructions"])
                                                       for r in runs]))
        return Decimal(slots) / instructions

    cost = int(run("e810-poll", *FUNCTIONAL, "workload.requests=1").parameters["cluster.host.costs.pause"])
    at_cost, dearer = slots_per_instruction(cost), slots_per_instruction(cost + 100)
    instructions = round(100 / (dearer - at_cost))
    rest = round(at_cost * instructions) - cost
    added = run("e810-poll", *FUNCTIONAL, "workload.requests=1").slots.number(ADDED)
    return max(n for n in range(rest + 1, 401) if added % n == 0) - rest
