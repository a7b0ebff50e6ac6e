# SPDX-License-Identifier: Apache-2.0
"""A host and a system behind an endpoint controller: test_joined_systems.py SLUICE DISTURBED_RUN. A second cluster of
the host rings the card's doorbells while the first serves calls."""

import json
import os
import subprocess
import unittest

import board_runs
from board_runs import FOUR_HARTS, FUNCTIONAL, SMALL, BoardTest, overrides, result, run

BOARD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "boards", "joined_systems.toml")
INTERRUPT_DRIVER = ("--set", "nic.eth0.driver=interrupt")
CARD_WITH_PLIC = ("--set", "cluster.card.interrupts=plic")
TWO_ON_CARD = ("--set", "cluster.card.harts=2")
# If a doorbell overtook its question, the card would find the previous question.
SLOW_MEMORY = ("--set", "soc.card.caches.dma_write=5 us")
MORE = ("--requests", "2000", "--warmup", "50")
GIGAHERTZ = 2  # the clock of the cluster that asks


def asked(contents):
    """What the cluster that asks has counted since the warm-up."""
    return next(f["counters"] for f in contents["firmware"] if f["cluster"] == "bell")


def questions(controller):
    """Number of questions by doorbells and messages. One doorbell resets the card and asks nothing."""
    return controller["rung_by_host"] - 1 + controller["messages"]


class JoinedSystems(BoardTest):
    def with_lines(self, *lines):
        path = os.path.join(self.directory(), "more.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'extends = ["{BOARD}"]\n' + "".join(line + "\n" for line in lines))
        return path

    def test_calls_are_served_while_the_card_answers(self):
        for settings in ((), FUNCTIONAL, INTERRUPT_DRIVER, FOUR_HARTS, CARD_WITH_PLIC, TWO_ON_CARD,
                         SLOW_MEMORY):
            with self.subTest(settings=settings):
                contents = result(BOARD, *MORE, *settings)
                self.assertEqual((contents["outcome"], contents["requests"]["completed"]), ("finished", 2000))
                self.assertEqual(contents["mistakes"], {"list": [], "unlisted": 0})
                counted, controller = asked(contents), contents["counters"]["accel.card"]
                self.assertEqual(counted["wrong"], 0)
                # The firmware counts from its start, the controller from the end of the warm-up.
                doorbells, messages = controller["rung_by_host"] - 1, controller["messages"]
                self.assertGreaterEqual(questions(controller), 30 if settings is SLOW_MEMORY else 70)
                self.assertGreaterEqual(counted["rounds"], questions(controller) - 1)
                self.assertIn(questions(controller) - controller["rung_by_system"], (-1, 0, 1))
                if settings is CARD_WITH_PLIC:
                    self.assertEqual((counted["messages"], messages), (0, 0))
                else:
                    self.assertEqual(counted["messages"], counted["rounds"] // 2)
                    self.assertIn(doorbells - messages, (-1, 0, 1))
                self.assertEqual(controller["msix_dropped"], 0)

    def test_the_card_is_reset_alone(self):
        contents = board_runs.load(board_runs.run_program(BOARD, *overrides(MORE)))
        lines = contents.pop("disturbance")["console"].replace("\r", "").split("\n")
        self.assertEqual(lines.count("soc.card: card: waits for doorbells"), 2)
        self.assertEqual(sum("serving on 10.0.0.2" in line for line in lines), 1)
        answers = [line for line in lines if "answers" in line]
        self.assertEqual(answers[:3], [f"host: {n} answers, 0 wrong" for n in (20, 40, 60)])
        self.assertEqual(contents["counters"]["reset"]["resets"], 1)

    def test_the_card_is_paused_alone(self):
        board = self.with_lines("[fault.stop]", 'kind = "pause"', 'target = "cluster.card"', 'at = "700 us"',
                                'duration = "100 us"')
        undisturbed, paused = result(BOARD, *MORE), result(board, *MORE)
        self.assertEqual(paused["requests"], undisturbed["requests"])
        self.assertEqual(asked(paused)["wrong"], 0)
        # One question waits for the pause to end; a round takes 7 to 8 us otherwise.
        fewer = asked(undisturbed)["rounds"] - asked(paused)["rounds"]
        self.assertTrue(10 <= fewer <= 16, fewer)
        waited = [sum(asked(c)[key] for key in ("doorbell_cycles", "message_cycles")) for c in (undisturbed, paused)]
        longer = (waited[1] - waited[0]) / GIGAHERTZ / 1000
        self.assertTrue(70 < longer < 100, longer)

    def test_the_card_is_killed_alone(self):
        board = self.with_lines("[fault.stop]", 'kind = "kill"', 'target = "cluster.card"', 'at = "400 us"')
        every = ("--requests", "2000", "--warmup", "0", "--set", "run.spread=none", "--set", "workload.think=0 ns")
        contents = result(board, *every)
        self.assertEqual((contents["outcome"], contents["requests"]["completed"]), ("finished", 2000))
        undisturbed = result(BOARD, *every)
        self.assertLess(asked(contents)["rounds"], asked(undisturbed)["rounds"] // 2)
        # Nobody answers the last question, however long the host goes on.
        longer = result(board, *every[2:], "--requests", "4000")
        self.assertGreater(longer["simulated_ns"], contents["simulated_ns"] + 100_000)
        self.assertEqual(asked(longer), asked(contents))
        self.assertEqual(longer["counters"]["accel.card"], contents["counters"]["accel.card"])

    def test_every_nanosecond_has_a_stage(self):
        for settings in ((), FOUR_HARTS):
            with self.subTest(settings=settings):
                contents = result(BOARD, *MORE, *settings)
                self.assertEqual(contents["ledger"]["completed"], 2000)
                shares = sum(stage["mean_ns"] for stage in contents["stages"])
                self.assertAlmostEqual(shares, contents["latency_ns"]["mean"], places=3)
                unattributed = [s["mean_ns"] for s in contents["stages"] if s["name"] == "unattributed"]
                self.assertEqual(sum(unattributed), 0)

    def test_results_are_deterministic(self):
        for settings in ((), TWO_ON_CARD):
            with self.subTest(settings=settings):
                self.assert_deterministic(BOARD, settings)

    def test_the_cards_window_is_its_own(self):
        """Results with one hart are the same at any quantum. Two harts see each other late by less than a quantum."""
        quantum = ("--set", "cluster.card.quantum=8 ns")
        without = ("cluster.card.quantum",)
        self.assert_same(run(BOARD, *MORE), run(BOARD, *MORE, *quantum), without)
        of_two, of_two_small = result(BOARD, *MORE, *TWO_ON_CARD), result(BOARD, *MORE, *TWO_ON_CARD, *quantum)
        self.assertEqual(of_two["latency_ns"], of_two_small["latency_ns"])
        self.assert_round_trips_close(of_two, of_two_small)

    def test_the_hosts_window_bounds_how_far_a_round_trip_moves(self):
        self.assert_round_trips_close(result(BOARD, *MORE), result(BOARD, *MORE, "--set", "cluster.bell.quantum=8 ns"))

    def assert_round_trips_close(self, a, b):
        """The hart that asks wakes at the time of its interrupt. Both it and the card may see what they read meanwhile
        early or late by less than a quantum (docs/models/base-time.md)."""
        for kind, number in (("message", lambda c: c["messages"]), ("doorbell", lambda c: c["rounds"] - c["messages"])):
            one, other = (asked(c)[kind + "_cycles"] / number(asked(c)) / GIGAHERTZ for c in (a, b))
            self.assertLess(abs(one - other), 2 * 32.258)

    def test_a_shorter_way_is_a_shorter_separation(self):
        """A round trip is shorter by just the latencies that are taken away, here down to the shortest that are
        allowed."""
        near = ("--set", "accel.card.pcie.transmit_latency=0 ns", "--set", "accel.card.pcie.receive_latency=0 ns",
                "--set", "pcie.slot1.flight=1 ns")
        contents = result(BOARD, *MORE, *near)
        self.assertEqual(asked(contents)["wrong"], 0)
        slower = asked(result(BOARD, *MORE))
        faster = asked(contents)
        saved = (slower["message_cycles"] / slower["messages"] - faster["message_cycles"] / faster["messages"]) / GIGAHERTZ
        # There: 104 ns. Back: the card reads the host's word (there and back: 208 ns) and sends its doorbell (104 ns).
        self.assertAlmostEqual(saved, 416, delta=12)

    def describe(self, *arguments):
        return subprocess.run([board_runs.SLUICE, "describe", BOARD, *arguments], capture_output=True, text=True,
                              timeout=60, check=True).stdout

    def test_it_is_described_on_both_sides(self):
        maps = json.loads(self.describe("--json"))["memory_maps"]["soc.card"]
        self.assertIn({"name": "accel.card", "base": "0x4000_0000", "size_bytes": 0x1010000}, maps)
        card = self.describe("--device-tree", "--cluster", "card")
        node = card[card.index("card@40000000"):]
        for line in ('compatible = "sluice,endpoint-controller"', "reg = <0x0 0x40000000 0x0 0x1010000>",
                     'sluice,path = "accel.card"'):
            self.assertIn(line, node)
        self.assertIn('sluice,path = "accel.card"', self.describe("--device-tree", "--cluster", "host"))

    def test_mistakes_are_named(self):
        of_the_host = ('sluice: --set accel.card.soc="": must be a system-on-chip beside the host, which it joins to the '
                       "host's PCIe")
        self.assertEqual(self.mistake(BOARD, 'accel.card.soc=""', "accel.card.address=0x2000_0000"), of_the_host)
        self.assertEqual(self.mistake(BOARD, 'accel.card.soc=""'), of_the_host)
        self.assertIn("must name a source for each of its interrupt lines, of which it has 1",
                      self.mistake(BOARD, "accel.card.interrupts=[]"))
        self.assertIn("joined_systems.toml: accel.card: latencies of at least 1 ns must lie between its system and "
                      "others, in each direction", self.mistake(BOARD, 
                          "accel.card.pcie.transmit_latency=0 ns", "pcie.slot1.flight=0 ns", "root.write_latency=0 ns"))
        self.assertEqual(self.mistake(BOARD, "accel.card.window=5000 B"),
                         "sluice: --set accel.card.window=5000 B: must be a power of two, 4 KiB to 64 GiB")
        self.assertIn("cluster.card.quantum=40 ns: must be at most soc.card.caches.snoop_latency",
                      self.mistake(BOARD, "cluster.card.harts=2", "cluster.card.quantum=40 ns"))
        self.assertIn("must be at most 30 ns, which a PCIe link takes to the other systems", self.mistake(BOARD, 
            "cluster.card.harts=2", "cluster.card.quantum=31 ns", "accel.card.pcie.transmit_latency=0 ns",
            "root.write_latency=25 ns"))


if __name__ == "__main__":
    unittest.main()
