# SPDX-License-Identifier: Apache-2.0
"""100 ns more in each latency of whole boards: test_ledger_sensitivity.py LEDGER_TILES SLUICE. Functional timing, and
instruction windows; cache timing: test_ledger_cached.py.

One request is outstanding. 100 ns added to a latency move its stage by 100 ns times its traversals and nothing else. To
the femtosecond, but for the two tiles that end when a core, which acts only in whole slots, reacts to an event between
two slots: they may differ by the 1 fs to which a slot's time is rounded. A polling core looks once in an iteration of
its loop: the tests choose the cost of `pause` so that 100 ns are whole iterations.

Traversals are those of a request's path, and those that a core makes when it reads or writes a device within a stage of
software: the latter are counted while the board runs.

With an instruction window, the latencies of the caches and the bus are left out: software's misses overlap, and writes
to the NIC wait in the store buffer, so what such a latency adds to a stage is no multiple of it. All others must move
their stage and leave software's slots as they are."""

import os
import unittest
from collections import Counter
from decimal import Decimal

from closed_forms import Parameters
from ledger_runs import (ACCESSES, ADDED, FUNCTIONAL, INTERVAL, NS, PATH, REACTIONS, SLUICE, aligned_pause, counted,
                         output_of, run, run_all)

PLIC = "cluster.host.interrupts=plic"
BEHIND_SWITCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "boards", "behind_switch.toml")
# The core is asleep when the call comes.
ON_PATH = {**PATH, "cluster.host.idle.exit_latency": {("idle exit", "cluster.host.hart0"): 1}}
# The board's NIC is on the lower link, so each TLP passes the switch and both links.
SWITCHED = {
    **ON_PATH,
    "nic.eth0.pcie.transmit_latency": {("upstream link", "pcie.slot1"): 3},
    "nic.eth0.pcie.receive_latency": {("downstream link", "pcie.slot1"): 3},
    "pcie.slot1.flight": {("upstream link", "pcie.slot1"): 3, ("downstream link", "pcie.slot1"): 3},
    "switch.sw0.latency": {("switch", "switch.sw0"): 6},
}

BY_CACHES = "functional timing: test_ledger_cached.py"
BY_WINDOW = "functional timing refuses it: test_cores.py"
REFUSED = "the firmware of these boards does not read it, and a board that sets it is refused"
# Latencies that no lone request meets: why, and which test has those that are not simply off or never due.
OFF_PATH = {
    "aplic.msi_latency": "the NIC sends messages itself: test_wired_message.py",
    "iommu.lookup": "the board has no IOMMU",
    "iommu.walk_step": "the board has no IOMMU",
    "memory.dram.latency": "loads and stores that are not the harts' own",
    "memory.high.latency": "loads and stores that are not the harts' own",
    "caches.l2_latency": BY_CACHES,
    "caches.llc_latency": BY_CACHES,
    "caches.dram_latency": BY_CACHES,
    "cluster.host.core.posted_store": BY_WINDOW,
    "cluster.host.uncached.combining_drain": "no page is of type NC",
    "caches.snoop_latency": BY_CACHES,
    "caches.refresh_interval": BY_CACHES,
    "caches.refresh_time": BY_CACHES,
    "caches.dma_dram_adder": BY_CACHES,
    "nic.eth0.rx_interval": "there is no frame before it: test_ledger_crowd.py",
    "nic.eth0.tx_interval": "there is no frame before it: test_ledger_crowd.py",
    "nic.eth0.writeback_timeout": "the write-back does not wait: test_ledger_crowd.py",
    "pcie.slot0.credit_update": "credits never run out: test_ledger_crowd.py",
    "pcie.slot1.credit_update": "credits never run out: test_ledger_crowd.py",
    "cluster.host.quantum": "one hart",
    "cluster.host.idle.enter_after": "calls find the core in its first state: test_interrupt_parts.py",
    "cluster.host.idle.wrs_exit_latency": "the firmware has no wrs: test_core_idle.cpp",
    "cluster.host.local_delivery": "no timer and no message of another hart: test_core_idle.cpp",
    "nic.eth0.moderation": "the last interrupt was longer ago: test_ledger.py",
    "root.completion_timeout": "nothing times out",
    "nic.eth0.pcie.completion_timeout": "nothing times out",
    "cluster.host.bus_timeout": "nothing times out",
    "workload.timeout": "nothing times out",
    "run.stall_limit": "nothing stalls",
    "run.time_limit": "the workload ends before",
    "workload.think": "before the request starts",
    "cluster.host.time_slice": REFUSED,
    "workload.hot_period": "one service: tests/unit/net/test_services.cpp",
    "workload.call.service": "the calls are not of spin: test_service_times.py",
    "workload.call.service_long": "the calls are not of spin: test_service_times.py",
    "workload.host.resolve_interval": "before the first request starts",
    "net.wire0.down_at": "no latency but moments, and after the last request",
    "net.wire0.up_at": "no latency but moments, and after the last request",
}
# Steps of parameters that cannot take 100 ns more. They are off the path, where any step will do.
STEPS = {"nic.eth0.moderation": 2000 * NS}
# Lists of moments are empty on the boards: here the carrier goes and comes long after all that is measured. However
# long the board takes to start, it has answered one ARP request when the calls begin.
GIVEN = {"net.wire0.down_at": 10**15, "net.wire0.up_at": 2 * 10**15, "workload.host.resolve_interval": 10**13}
WINDOW = "instruction window"


class Sensitivity(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # More requests than receive descriptors that the driver gives back at a time.
        given = ("workload.requests=40", *(f"{path}={at // NS} ns" for path, at in GIVEN.items()))
        fixed = (*FUNCTIONAL, *given)
        cls.CASES = {"poll": (ON_PATH, "e810-poll", *fixed, f"cluster.host.costs.pause={aligned_pause()}"),
                     "interrupt": (ON_PATH, "e810-irq", *fixed),
                     "wired interrupt": (ON_PATH, "e810-irq", *fixed, PLIC),
                     "wired interrupt, polled": (ON_PATH, "e810-poll", *fixed, PLIC,
                                                 f"cluster.host.costs.pause={aligned_pause()}"),
                     "switch": (SWITCHED, BEHIND_SWITCH, *fixed),
                     "switch, wired interrupt": (SWITCHED, BEHIND_SWITCH, *fixed, PLIC),
                     WINDOW: (ON_PATH, "e810-irq", *INTERVAL, *given),
                     f"{WINDOW}, wired interrupt": (ON_PATH, "e810-irq", *INTERVAL, *given, PLIC),
                     f"{WINDOW}, switch": (SWITCHED, BEHIND_SWITCH, *INTERVAL, *given)}
        cls.times = {}
        for _, board, *_ in cls.CASES.values():
            cls.times[board] = Parameters(output_of(SLUICE, "describe", "--json", board)).times()
        run_all([call for _, *case in cls.CASES.values() for call in (case, *cls.calls(case).values())])

    @classmethod
    def calls(cls, case):
        """The runs with 100 ns more, by parameter."""
        overlap = {"bus.latency", *(path for path, why in OFF_PATH.items() if why == BY_CACHES)}
        times = {path: GIVEN.get(path, value) for path, value in cls.times[case[0]].items()
                 if OFF_PATH.get(path) not in (BY_WINDOW, REFUSED) and (INTERVAL[0] not in case or path not in overlap)}
        return {path: (*case, f"{path}={cls.later(value, STEPS.get(path, ADDED))}") for path, value in times.items()}

    @staticmethod
    def later(value, added):
        return ", ".join(f"{Decimal(v + added) / NS} ns" for v in (value if isinstance(value, list) else [value]))

    def test_every_latency_of_the_boards_is_classified(self):
        for on_path, board, *_ in self.CASES.values():
            known = {*on_path, *ACCESSES, *OFF_PATH}
            self.assertLessEqual(set(self.times[board]), known, board)
        self.assertEqual(set().union(*self.times.values()), {*SWITCHED, *ACCESSES, *OFF_PATH})
        self.assertFalse({*SWITCHED, *ACCESSES} & {*OFF_PATH})

    def test_100_ns_more_move_only_their_stage(self):
        for name, (on_path, *case) in self.CASES.items():
            before = counted(*case)
            moved = Counter()
            for path, call in self.calls(case).items():
                with self.subTest(f"{name}: {path}"):
                    after = run(*call)
                    for a, b in zip(before.run.requests, after.requests, strict=True):
                        traversals = before.traversals(path, a, on_path)
                        self.compare(before.run.longer(a, traversals), after.sums(b))
                        moved[path] += sum(traversals.values())
            # No latency off the path has moved anything.
            self.assertEqual({path for path in moved if moved[path]} - {*ACCESSES}, {*on_path} - {*ACCESSES} & {*moved})

    def compare(self, expected, found):
        self.assertEqual(set(found), set(expected))
        for key, length in expected.items():
            self.assertAlmostEqual(found[key], length, delta=1 if key in REACTIONS else 0, msg=f"{key}")


if __name__ == "__main__":
    unittest.main()
