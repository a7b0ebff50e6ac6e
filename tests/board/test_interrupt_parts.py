# SPDX-License-Identifier: Apache-2.0
"""What an interrupt costs a lone call, part by part: test_interrupt_parts.py LEDGER_TILES SLUICE.

Each part is a stage: the way to the hart, the exit from the idle state, the entry of the trap. A parameter that is made
longer by a known amount makes its stage longer by that, and nothing else. The calls are so far apart that each of them
finds the hart asleep with its vector armed."""

import subprocess
import unittest
from collections import Counter

from ledger_runs import FUNCTIONAL, INTERVAL, NS, SLUICE, run, run_all

HART = "cluster.host.hart0"
IRQ = ("e810-irq", *FUNCTIONAL, "workload.requests=20")
POLL = ("e810-poll", *FUNCTIONAL, "workload.requests=20")
SLOTS_IN_100_NS = 1240  # 12.4 GHz
DELIVERY, EXIT, ENTRY, RETURN = (("interrupt delivery", "imsic"), ("idle exit", HART), ("trap entry", HART),
                                 ("demultiplex", HART))
NO_STATES = ("cluster.host.idle.exit_latency=[]", "cluster.host.idle.enter_after=[]")
# Each part at its least.
BARE = (*IRQ, *NO_STATES, "imsic.delivery=0 ns", "cluster.host.costs.interrupt=1", "cluster.host.costs.trap_return=1")


def stage_sums(r, request):
    """Femtoseconds by stage and component."""
    sums = Counter()
    for stage, component, start, end in request.tiles:
        sums[stage, component] += end - start
    return sums


class Parts(unittest.TestCase):
    # What is added to the board, in which stage it is found, and how much of it in femtoseconds.
    LONGER = (
        (("imsic.delivery=120 ns",), DELIVERY, 100 * NS),
        (("imsic.delivery=1020 ns",), DELIVERY, 1000 * NS),
        (("cluster.host.idle.exit_latency=2.7 us, 10 us, 133 us",), EXIT, 700 * NS),
        ((f"cluster.host.costs.interrupt={800 + SLOTS_IN_100_NS}",), ENTRY, 100 * NS),
        ((f"cluster.host.costs.interrupt={800 + 20 * SLOTS_IN_100_NS}",), ENTRY, 2000 * NS),
        ((f"cluster.host.costs.trap_return={400 + SLOTS_IN_100_NS}",), RETURN, 100 * NS),
    )
    # What no lone call meets while the hart serves it.
    ELSEWHERE = ("cluster.host.local_delivery=120 ns", "plic.delivery=120 ns", "cluster.host.idle.wrs_exit_latency=1 us",
                 "cluster.host.costs.exception=5000", "cluster.host.idle.exit_latency=2 us, 11 us, 200 us")

    @classmethod
    def setUpClass(cls):
        run_all([IRQ, POLL, BARE, *((*IRQ, *more) for more, _, _ in cls.LONGER), *((*IRQ, more) for more in cls.ELSEWHERE)])

    def test_the_parts_are_what_the_parameters_say(self):
        r = run(*IRQ)
        for request in r.requests:
            sums = stage_sums(r, request)
            self.assertAlmostEqual(sums[DELIVERY], 20 * NS, delta=NS // 10)  # up to the next slot
            self.assertAlmostEqual(sums[EXIT], 2000 * NS, delta=1)
            lengths = r.sums(request)
            self.assertEqual(lengths[ENTRY], 800)
            self.assertEqual(lengths[EXIT], 20 * SLOTS_IN_100_NS)
            self.assertEqual(sums["interrupt", "nic.eth0"], 0)

    def test_more_of_a_part_is_found_in_its_stage_and_nowhere_else(self):
        before = run(*IRQ)
        for more, stage, added in self.LONGER:
            with self.subTest(more):
                after = run(*IRQ, *more)
                for a, b in zip(before.requests, after.requests, strict=True):
                    expected = stage_sums(before, a)
                    expected[stage] += added
                    found = stage_sums(after, b)
                    self.assertEqual(set(found), set(expected))
                    for key, length in expected.items():
                        # A slot's time is rounded to a femtosecond at both of a tile's ends.
                        self.assertAlmostEqual(found[key], length, delta=4 if key[1] in (HART, "imsic") else 0, msg=f"{key}")
                    self.assertAlmostEqual(b.end - b.start, a.end - a.start + added, delta=1)

    def test_what_a_lone_call_does_not_meet_changes_nothing(self):
        before = [r.tiles for r in run(*IRQ).requests]
        for more in self.ELSEWHERE:
            after = [[(s, c, b - a) for s, c, a, b in r.tiles] for r in run(*IRQ, more).requests]
            self.assertEqual(after, [[(s, c, b - a) for s, c, a, b in tiles] for tiles in before], more)

    def test_an_interrupt_costs_the_sum_of_its_parts(self):
        parts = 20 * NS + 2000 * NS + (799 + 399) * 100 * NS / SLOTS_IN_100_NS
        for bare, whole in zip(run(*BARE).requests, run(*IRQ).requests, strict=True):
            self.assertAlmostEqual(whole.end - whole.start, bare.end - bare.start + parts, delta=2)

    def test_a_call_that_comes_while_the_hart_wakes_pays_the_rest_of_it(self):
        """Without a time to think, the vector that the last call left pending has rung before the next call comes."""
        at_once = ("e810-irq", *INTERVAL, "workload.requests=20", "workload.think=0 us",
                   "workload.host.resolve_interval=10 us")  # of two ways to go on, this leads to the one that is meant
        before = run(*at_once)
        for request in before.requests:
            sums = stage_sums(before, request)
            self.assertAlmostEqual(sums[ENTRY], 800 * 100 * NS / SLOTS_IN_100_NS, delta=2)
            self.assertTrue(500 * NS < sums[EXIT] < 1000 * NS, sums[EXIT])
            self.assertEqual(sums["wait for a core", "nic.eth0"], 0)
            self.assertNotIn(DELIVERY, sums)
            names = [tile[0] for tile in request.tiles]
            first = names.index("idle exit")
            self.assertEqual(names[first:first + 5], ["idle exit", "interrupt", "trap entry", "interrupt", "demultiplex"])
        for more, stage, added in self.LONGER:
            with self.subTest(more):
                after = run(*at_once, *more)
                for a, b in zip(before.requests, after.requests, strict=True):
                    expected = stage_sums(before, a)
                    # The message comes later to a hart that wakes later.
                    expected[EXIT if stage == DELIVERY else stage] += added
                    for key, length in stage_sums(after, b).items():
                        self.assertAlmostEqual(length, expected[key], delta=4, msg=f"{key}")

    def test_polling_differs_only_from_the_message_to_the_poll(self):
        def without(r, request):
            """Stages up to the data in memory and from the poll on: the same software and hardware on both boards."""
            first = next(n for n, tile in enumerate(request.tiles) if tile[0] == "poll")
            notified = next(n for n, tile in enumerate(request.tiles) if tile[0] in ("notify", "wait for a core"))
            return [end - start for _, _, start, end in request.tiles[:notified]], request.tiles[first:]

        for polled, told in zip(run(*POLL).requests, run(*IRQ).requests, strict=True):
            (up, rest), (up_told, rest_told) = without(run(*POLL), polled), without(run(*IRQ), told)
            self.assertEqual(up, up_told)
            self.assertEqual([t[:2] for t in rest], [t[:2] for t in rest_told])
            for a, b in zip(rest, rest_told):
                if a[0] != "poll":  # the burst's last look depends on what the driver does next
                    self.assertAlmostEqual(a[3] - a[2], b[3] - b[2], delta=2, msg=f"{a[:2]}")

    def test_a_call_after_a_long_time_finds_a_deeper_state(self):
        for think, state, exit_ns in (("15 us", 0, 2_000), ("30 us", 1, 10_000), ("590 us", 1, 10_000), ("1 ms", 2, 133_000)):
            with self.subTest(think):
                r = run("e810-irq", *FUNCTIONAL, "workload.requests=5", f"workload.think={think}")
                for request in r.requests:
                    self.assertAlmostEqual(stage_sums(r, request)[EXIT], exit_ns * NS, delta=1)
                wfi = r.result["cores"][0]["wfi"]
                # The measurement begins with the first call, which finds the hart in its state, and ends when the hart
                # has fallen asleep behind the last one.
                self.assertEqual([s["entered"] for s in wfi["states"]], [5] + [4] * state + [0] * (2 - state))
                self.assertAlmostEqual(float(wfi["leaving_ns"]), 5 * exit_ns, delta=0.1)

    def test_wfi_is_in_the_account_of_idle_time(self):
        """The rest of the account is the instruction wfi itself and the driver's account()."""
        core = run(*IRQ).result["cores"][0]
        wfi = sum(s["time_ns"] for s in core["wfi"]["states"]) + core["wfi"]["leaving_ns"] + core["wfi"]["before_ns"]
        idle = core["time"]["idle"] * core["measured_ns"]
        self.assertTrue(wfi <= idle + 1 <= wfi + 20 * 10 + 1, (wfi, idle))


class Mistakes(unittest.TestCase):
    def test_lists_that_say_no_states_are_refused(self):
        idle = "cluster.host.idle."
        for settings, key, valid in (
                ((idle + "exit_latency=2 us",), idle + "enter_after", "must have as many elements as idle.exit_latency, which has 1"),
                ((idle + "exit_latency=2 us, 10 us, 10 us",), idle + "exit_latency", "must ascend"),
                ((idle + "enter_after=0 ns, 600 us, 20 us",), idle + "enter_after", "must ascend"),
                ((idle + "exit_latency=2 us, 10 us, 11 ms",), idle + "exit_latency", "0 ns to 10 ms"),
                (("cluster.host.costs.interrupt=1000001",), "cluster.host.costs.interrupt", "1 to 1000000"),
                (("imsic.delivery=1 ms",), "imsic.delivery", "0 ns to 100 us")):
            options = [word for setting in settings for word in ("--set", setting)]
            done = subprocess.run([SLUICE, "run", "e810-irq", *options], capture_output=True, text=True, timeout=60, check=False)
            with self.subTest(settings):
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
                self.assertIn(key, done.stderr)
                self.assertIn(valid, done.stderr)


if __name__ == "__main__":
    unittest.main()
