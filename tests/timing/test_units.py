# SPDX-License-Identifier: Apache-2.0
"""Chains of operations and independent ones: test_units.py SLUICE.

A chain takes the latency of each operation. Of independent operations, each port takes one in a cycle; a unit that is
not pipelined takes one in each interval."""

import unittest
from fractions import Fraction

from bench import TimingTest, iteration, lines
from core import Core

# Operation: latency, cycles for each of many independent ones. Agner Fog's tables for Skylake-X; ports by Intel 248966.
INTEGER = {
    "add": (1, Fraction(1, 4)),  # ports 0, 1, 5, 6
    "mul": (3, 1),               # port 1
    "divw": (26, 6),
    "div": (42, 24),
}
FLOAT = {
    "fsgnj.d": (1, Fraction(1, 3)),  # ports 0, 1, 5
    "fadd.d": (4, Fraction(1, 2)),   # ports 0, 1
    "fmul.d": (4, Fraction(1, 2)),
    "fdiv.s": (11, 3),
    "fdiv.d": (14, 4),
}
UNARY = {"fsqrt.s": (12, 3), "fsqrt.d": (18, 6)}
THREE = {"fmadd.d": (4, Fraction(1, 2))}
OPERATIONS = {**INTEGER, **FLOAT, **UNARY, **THREE}
FLOAT_ON = lines("li t0, 0x6000", "csrs mstatus, t0")
NUMBER = 24  # operations in an iteration; two more instructions close the loop


def text(operation, target, source):
    """target = target OP source, or OP of the source alone."""
    register = "t{}" if operation in INTEGER else "ft{}"
    target, source = register.format(target), register.format(source)
    operands = {**dict.fromkeys(UNARY, (source,)), **dict.fromkeys(THREE, (source, source, source))}
    return f"{operation} {', '.join((target, *operands.get(operation, (source, source))))}"


class Units(TimingTest):
    def test_a_chain_takes_its_latencies(self):
        for operation, (latency, _) in OPERATIONS.items():
            with self.subTest(operation):
                body = lines(*[text(operation, 1, 1)] * NUMBER)
                self.assert_takes(iteration(Core(), body, FLOAT_ON), latency * NUMBER)

    def test_independent_operations_take_their_port_or_their_interval(self):
        for operation, (_, each) in OPERATIONS.items():
            with self.subTest(operation):
                body = lines(*[text(operation, 1, 0)] * NUMBER)
                # No faster than instructions are dispatched.
                expected = max(NUMBER * each, Fraction(NUMBER + 2, Core().width))
                self.assert_takes(iteration(Core(), body, FLOAT_ON), expected)


if __name__ == "__main__":
    unittest.main()
