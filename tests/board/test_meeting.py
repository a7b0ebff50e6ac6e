# SPDX-License-Identifier: Apache-2.0
"""Harts that meet through memory, timers, messages and DMA on a whole board: how late and how early they see each other,
and that nothing beside them changes it. test_meeting.py SLUICE DISTURBED_RUN; the guest is meeting.c."""

import json
import os
import pty
import re
import threading
import unittest

import board_runs
from board_runs import BoardTest, canonical, overrides, run, start

BOARD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "boards", "meeting.toml")
CYCLES_PER_NS = 3.1
CSR = 10  # cycles that a read of the cycle counter takes: 40 slots, four in a cycle
WRS_EXIT = 100  # cycles of idle.wrs_exit_latency on this host
LINE = re.compile(r"(.+): (\d+) meetings, least (-?\d+), most (-?\d+)")


def meetings(console):
    """{way to meet: (number, least cycles, most cycles)}"""
    return {m[1]: tuple(map(int, m.groups()[1:])) for m in map(LINE.match, console.splitlines()) if m}


def on_terminal(*arguments):
    """A run whose standard error is a terminal, on which progress is shown."""
    ours, terminal = pty.openpty()

    def drain():
        try:
            while os.read(ours, 4096):
                pass
        except OSError:  # the other end is closed
            pass

    reader = threading.Thread(target=drain)
    reader.start()
    process = start(*arguments, stderr=terminal)
    os.close(terminal)
    output = board_runs.finish(process)
    reader.join()
    os.close(ours)
    return output


class Meeting(BoardTest):
    def for_each(self, check):
        for harts in (2, 4):
            for timing in ("functional", "cached"):
                for quantum in ("1 ns", "7 ns", "32.258 ns"):
                    with self.subTest(harts=harts, timing=timing, quantum=quantum):
                        check(harts, timing, quantum)

    def arguments(self, harts, timing, quantum):
        return (BOARD, "--set", f"cluster.host.harts={harts}", "--set", f"caches.timing={timing}", "--set",
                f"cluster.host.quantum={quantum}")

    def test_nothing_beside_them_changes_when_harts_meet(self):
        def check(*cell):
            arguments = self.arguments(*cell)
            plain = run(*arguments)
            self.assert_same(plain, on_terminal(*arguments), message="on a terminal")
            out = self.directory()
            traced = run(*arguments, "--trace", "perfetto,insn", "--out", out)
            self.assert_same(plain, traced, message="traced")
            self.assertGreater(os.path.getsize(os.path.join(out, "trace.insn")), 100_000)
            simulated = str(int(json.loads(plain)["simulated_ns"]))
            for additions in (("--entries", simulated), ("--foreign",)):
                contents = board_runs.load(board_runs.run_program(*additions, BOARD, *overrides(arguments[1:])))
                contents.pop("disturbance")
                self.assertMultiLineEqual(canonical(plain), canonical(json.dumps(contents)), str(additions))

        self.for_each(check)

    def seen(self, *cell):
        contents = board_runs.load(board_runs.run_program(BOARD, *overrides(self.arguments(*cell)[1:])))
        return meetings(contents["disturbance"]["console"])

    def test_what_wakes_a_hart_wakes_it_in_time(self):
        """A store to what harts wait for, a message and a timer for harts that sleep, a DMA write: exact."""
        exact = {}

        def check(harts, timing, quantum):
            seen = self.seen(harts, timing, quantum)
            # The stamp in front of the store takes CSR cycles, and the next one follows the exit from the wait.
            self.assertEqual(seen["wrs"], (24 * (harts - 1), CSR + WRS_EXIT, CSR + WRS_EXIT))
            if harts > 2:
                self.assertEqual(seen["dma"], (24 * (harts - 2), 0, 0))
            if timing != "functional":
                return  # the handlers' code and data miss in the caches
            for way in ("stimecmp asleep", "ipi asleep"):
                number, least, most = seen[way]
                self.assertEqual(least, most)
                self.assertEqual(exact.setdefault((harts, way), (number, least)), (number, least), "another quantum")

        self.for_each(check)
        self.assertEqual(exact[4, "stimecmp asleep"][1], exact[2, "stimecmp asleep"][1])

    def test_what_a_hart_observes_is_less_than_a_quantum_off(self):
        """Plain stores and loads, and interrupts of harts that run."""
        def check(harts, timing, quantum):
            seen = self.seen(harts, timing, quantum)
            window = float(quantum.split()[0]) * CYCLES_PER_NS
            # The stamps stand as far in front of the store that gives a turn as in front of the load that sees it.
            for way in ("lr/sc", "amo"):
                self.assertGreater(seen[way][1], -window - 1)
            # The loop that polls takes 47 slots, and longer where there are caches.
            if timing == "functional":
                self.assertLess(seen["amo"][2], window + 47 / 4 + 2)
                for way in ("stimecmp", "ipi"):
                    spread = seen[f"{way} awake"][2] - seen[f"{way} awake"][1]
                    self.assertLess(spread, window + 2)

        self.for_each(check)

    def test_a_lock_goes_round(self):
        """The guest is lock_order.c."""
        def check(*cell):
            contents = board_runs.load(board_runs.run_program(BOARD, *overrides(self.arguments(4, *cell)[1:]), "cluster.host.firmware=lock-order"))
            self.assertIn("lock:" + " 0 1 2 3" * 5 + "\r\n", contents["disturbance"]["console"])

        for timing in ("functional", "cached"):
            with self.subTest(timing=timing):
                check(timing, "7 ns")


if __name__ == "__main__":
    unittest.main()
