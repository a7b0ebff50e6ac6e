# SPDX-License-Identifier: Apache-2.0
"""Bare guests on a whole board: what an iteration of a loop takes. Each test is called as NAME.py SLUICE.

A guest runs twice, with more iterations the second time. What the second run has more is the iterations', and neither
set-up nor end."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "cli"))
from assembler import PASS, assemble  # noqa: E402

SLUICE = os.path.abspath(sys.argv.pop(1))
BOARD = os.path.join(os.path.dirname(HERE), "firmware", "bare.toml")
DATA = 0x8800_0000  # RAM that nothing else is in

LOOP = """
{setup}
  .option push
  .option norvc
  lui s0, {upper}
  addiw s0, s0, {lower}
  .option pop
  .balign 64
1:
{body}
  addi s0, s0, -1
{closing}
3:
{end}
"""
# What lies behind waits until everything before has retired, and costs 40 slots.
DRAIN = "csrr x0, mscratch"
DRAIN_SLOTS = 40


def lines(*instructions):
    return "\n".join(f"  {i}" for i in instructions)


def run(source, core):
    """The counters of the hart that has run a guest."""
    with tempfile.TemporaryDirectory() as directory:
        elf = os.path.join(directory, "guest")
        with open(elf, "wb") as file:
            file.write(assemble(source))
        done = subprocess.run([SLUICE, "run", BOARD, "--firmware", elf, "--json", "--set=run.spread=none",
                               *(f"--set={s}" for s in core.settings())],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)["counters"]["cluster.host.hart0"]


class Iteration:
    """What one iteration of a loop takes, on average."""

    def __init__(self, core, counters, iterations):
        self.counters, self.iterations, self.core = counters, iterations, core

    def __getitem__(self, counter):
        return Fraction(self.counters[counter], self.iterations)

    cycles = property(lambda self: self["slots"] / self.core.width)


def iteration(core, body, setup="", few=100, many=300, closing="  bnez s0, 1b"):
    """few, many: the iterations of the two runs. closing: goes to 1 unless s0 is 0."""
    def counters(n):
        upper = n + 0x800 >> 12  # the code has the same length, whatever the number
        return run(LOOP.format(setup=setup, body=body, upper=upper, lower=n - (upper << 12),
                               closing=closing, end=PASS), core)
    before, after = counters(few), counters(many)
    return Iteration(core, {k: after[k] - before[k] for k in after}, many - few)


class TimingTest(unittest.TestCase):
    def assert_takes(self, measured, cycles, slack=0):
        """slack: cycles by which all measured iterations together may differ, where they begin and end at another place
        of what repeats itself."""
        self.assertLessEqual(abs(measured.cycles - cycles) * measured.iterations, slack,
                             f"{float(measured.cycles)} cycles, expected {float(cycles)}; {measured.counters}")
