# SPDX-License-Identifier: Apache-2.0
"""The determinism matrix: what must not change a result, does not change a byte of it.

test_determinism.py SLUICE DISTURBED_RUN; test_determinism_builds.py compares builds."""

import json
import os
import pty
import struct
import subprocess
import unittest

import board_runs
from board_runs import BOARDS, FOUR_HARTS, SMALL, VARIANTS, BoardTest, figures, finish, overrides, run, start

QUANTUM = "cluster.host.quantum"
RPC_PORT = (20049).to_bytes(2, "big")  # UDP destination port of calls


def disturbed(*arguments):
    """The result of a run with things added that must not matter, and what they saw."""
    contents = board_runs.load(board_runs.run_program(*arguments))
    seen = contents.pop("disturbance")
    return json.dumps(contents), seen


def frames(path):
    """(nanoseconds, bytes) of each frame of a capture."""
    with open(path, "rb") as file:
        data = file.read()
    magic, = struct.unpack_from("<I", data)
    assert magic == 0xa1b23c4d, "stamps are not in nanoseconds"
    at = 24
    while at < len(data):
        seconds, nanoseconds, length, _ = struct.unpack_from("<4I", data, at)
        yield seconds * 10**9 + nanoseconds, data[at + 16:at + 16 + length]
        at += 16 + length


class Determinism(BoardTest):
    def for_each(self, check, variants=VARIANTS):
        for board in BOARDS:
            for name in variants:
                with self.subTest(board=board, variant=name):
                    check((board, *SMALL, *VARIANTS[name]))

    def test_a_second_run_beside_another(self):
        def check(arguments):
            first = run(*arguments)
            beside = start(*arguments, "--seed", "7")
            self.assert_same(first, run(*arguments))
            self.assertNotEqual(figures(first), figures(finish(beside)), "the seed changes nothing")
            self.assertEqual(json.loads(first)["requests"]["completed"], 400)

        self.for_each(check)

    def test_traces(self):
        def check(arguments):
            out = self.directory()
            traced = run(*arguments, "--trace", "pcap,perfetto", "--out", out)
            self.assert_same(run(*arguments), traced)
            with open(os.path.join(out, "result.json"), encoding="utf-8") as file:
                self.assert_same(traced, file.read())
            self.assertGreater(os.path.getsize(os.path.join(out, "net.wire0.pcap")), 10_000)
            self.assertGreater(os.path.getsize(os.path.join(out, "trace.perfetto")), 10_000)

        self.for_each(check)

    def test_traces_are_the_same_too(self):
        def files(*arguments):
            out = self.directory()
            run("e810-irq", *SMALL, *FOUR_HARTS, *arguments, "--out", out)
            contents = {}
            for name in ("net.wire0.pcap", "trace.perfetto"):
                path = os.path.join(out, name)
                if os.path.exists(path):
                    with open(path, "rb") as file:
                        contents[name] = file.read()
            return contents

        both = files("--trace", "pcap,perfetto")
        self.assertEqual(both, files("--trace", "pcap", "--trace", "perfetto"))
        self.assertEqual(both["net.wire0.pcap"], files("--trace", "pcap")["net.wire0.pcap"])

    def test_another_directory_and_the_console(self):
        arguments = ("e810-poll", *SMALL)
        first = run(*arguments)
        self.assert_same(first, run(*arguments, cwd=self.directory()))
        self.assert_same(first, run(*arguments, "--console"))
        self.assertNotIn(os.path.dirname(board_runs.SLUICE), first)

    def test_progress(self):
        """Progress is shown on a terminal only, and makes calendar entries."""
        arguments = ("e810-irq", *SMALL, *FOUR_HARTS)
        ours, terminal = pty.openpty()
        self.addCleanup(os.close, ours)
        shown = finish(start(*arguments, stderr=terminal))
        os.close(terminal)
        hidden = run(*arguments)
        self.assert_same(hidden, shown)
        entries = [json.loads(text)["host"]["calendar_entries"] for text in (hidden, shown)]
        self.assertGreater(entries[1], entries[0], "the run with progress was none")

    def test_a_hundred_entries_more(self):
        def check(arguments):
            plain = run(*arguments)
            board, *rest = arguments
            simulated = str(int(json.loads(plain)["simulated_ns"]))
            more, seen = disturbed("--entries", simulated, board, *overrides(rest))
            self.assert_same(plain, more)
            self.assertEqual(seen["entries"], 100)
            self.assertGreaterEqual(json.loads(more)["host"]["calendar_entries"],
                                    json.loads(plain)["host"]["calendar_entries"] + 100)

        self.for_each(check)

    def test_foreign_activity(self):
        """A SystemC module on the board that nothing uses, with its own events and thread."""
        def check(arguments):
            board, *rest = arguments
            more, seen = disturbed("--foreign", board, *overrides(rest))
            self.assert_same(run(*arguments), more)
            self.assertGreater(seen["ticks"], 1000)

        self.for_each(check)

    def test_any_quantum_on_one_hart(self):
        def check(arguments):
            default = run(*arguments)
            for quantum in ("3 ns", "100 ns", "10 us", "1 ms"):
                self.assert_same(default, run(*arguments, "--quantum", quantum), [QUANTUM], quantum)

        self.for_each(check, ("one hart", "one hart, functional"))

    def test_a_quantum_counts_between_harts(self):
        """With four harts the quantum is part of the model. If it changed nothing, the test above could not fail."""
        arguments = ("e810-poll", *SMALL, *FOUR_HARTS)
        first, second = (figures(run(*arguments, "--quantum", q)) for q in ("3 ns", "30 ns"))
        self.assertNotEqual(first, second)

    def test_compare_gives_what_runs_give(self):
        process = subprocess.run([board_runs.SLUICE, "compare", *BOARDS, *SMALL, "--json"], capture_output=True,
                                 text=True, timeout=120, check=True)
        compared = board_runs.load(process.stdout)["results"]
        for board, one in zip(BOARDS, compared):
            self.assert_same(run(board, *SMALL), json.dumps(one))

    def test_open_loop_arrivals_are_the_same_on_every_board(self):
        """Common random numbers: with the same seed, two boards see the same calls at the same times after the first. Not
        so with `kv`, which puts a key until a put of it has been answered."""
        open_loop = ("--set", "workload.kind=open-loop", "--set", "workload.rate=500_000", "--set",
                     "workload.call.program=sort")

        def calls(board, *arguments):
            """(nanoseconds since the first, bytes) of each; a capture's stamps are rounded to nanoseconds."""
            out = self.directory()
            run(board, *SMALL, *open_loop, *arguments, "--trace", "pcap", "--out", out)
            seen = [(at, frame) for at, frame in frames(os.path.join(out, "net.wire0.pcap")) if frame[36:38] == RPC_PORT]
            self.assertEqual(len(seen), 450)
            return [at - seen[0][0] for at, _ in seen], [frame for _, frame in seen]

        def apart(first, second):
            return max(abs(a - b) for a, b in zip(first, second))

        first, second = (calls(board) for board in BOARDS)
        self.assertLessEqual(apart(first[0], second[0]), 1)
        self.assertEqual(first[1], second[1])
        other = calls(BOARDS[0], "--seed", "7")
        self.assertNotEqual(first[1], other[1])
        self.assertGreater(apart(first[0], other[0]), 1000)


if __name__ == "__main__":
    unittest.main()
