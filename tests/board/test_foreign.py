# SPDX-License-Identifier: Apache-2.0
"""A plain TLM-2.0 module, with a thread, an event and a target of its own that makes callers wait, on a whole board:
test_foreign.py SLUICE DISTURBED_RUN. test_determinism.py shows that the module changes nothing where nobody uses it."""

import json
import unittest

import board_runs
from board_runs import BoardTest, canonical

TICK_NS, ANSWER_NS, BUS_NS = 133.7, 21.3, 10.0
GUEST = "cluster.host.firmware=plain-device"
# The board's traffic finds no server; the guest ends the run.
ENDED = "the firmware ended the run"


def use(*settings, board="e810-poll", foreign=True):
    """The result, as canonical text, and what the device saw."""
    text = board_runs.run_program(*(["--foreign"] if foreign else []), board, GUEST, *settings, status=1)
    contents = board_runs.load(text)
    seen = contents.pop("disturbance")
    quantum = contents["board"]["instances"]["cluster.host"]["parameters"].pop("quantum")
    assert quantum
    return canonical(json.dumps(contents)), seen


class Foreign(BoardTest):
    def test_a_guest_uses_it(self):
        for clock in ("3.1 GHz", "1 GHz"):
            with self.subTest(clock=clock):
                text, seen = use(f"cluster.host.clock={clock}")
                result = json.loads(text)
                self.assertEqual(result["outcome"], "finished")
                self.assertIn(ENDED, result["failure"])
                self.assertEqual(seen["accesses"], 3 * 64)
                self.assertEqual(result["counters"]["cluster.host.hart0"]["bus_errors"], 0)
                # An access waits for a tick and for the answer, to the cycle.
                least, most = (int(word) for word in seen["console"].split() if word.isdigit())
                ghz = float(clock.split()[0])
                self.assertGreater(least, (ANSWER_NS + BUS_NS) * ghz)
                self.assertLess(most, (TICK_NS + ANSWER_NS + BUS_NS) * ghz + 20)
                self.assertGreater(most - least, 5)
                # The guest's accesses follow each other: each takes one tick at least.
                self.assertGreaterEqual(seen["ticks"], seen["accesses"])
                # The device saw the kernel's time: a tick and the answer.
                since_tick = seen["last_access_fs"] % round(TICK_NS * 1e6)
                self.assertEqual(since_tick, round(ANSWER_NS * 1e6))

    def test_the_same_result_at_any_quantum(self):
        first = use("cluster.host.quantum=3 ns")
        for quantum in ("100 ns", "10 us", "1 ms"):
            self.assertEqual(first, use(f"cluster.host.quantum={quantum}"), quantum)
        (text, seen), (plain, plain_seen) = first, use()
        set_result, plain_result = json.loads(text), json.loads(plain)
        self.assertEqual([w["path"] for w in set_result.pop("without_effect")], ["cluster.host.quantum"])
        self.assertEqual(plain_result.pop("without_effect"), [])
        self.assertEqual((set_result, seen), (plain_result, plain_seen))

    def test_four_harts_at_once(self):
        settings = ("cluster.host.harts=4", "caches.timing=functional")
        first, seen = use(*settings)
        self.assertEqual(seen["accesses"], (3 + 1 + 1 + 1) * 64)
        self.assertEqual((first, seen), use(*settings))

    def test_interrupt_hardware_of_both_kinds(self):
        for kind in ("aia", "plic"):
            _, seen = use(f"cluster.host.interrupts={kind}")
            self.assertEqual(seen["accesses"], 3 * 64)

    def test_without_it_nothing_answers(self):
        """Else the guest might have used something else."""
        text, seen = use(foreign=False)
        result = json.loads(text)
        self.assertEqual(result["outcome"], "failed")
        self.assertIn("cause", seen["console"])


if __name__ == "__main__":
    unittest.main()
