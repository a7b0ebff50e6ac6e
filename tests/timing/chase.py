# SPDX-License-Identifier: Apache-2.0
"""Working sets for guests: lists of pointers, one in each cache line, that a guest builds before its loop."""

from bench import DATA, lines

LINE = 64
# Working sets, in lines: what L1D holds; what L2 holds and L1D does not; what the LLC holds and L2 does not; and what
# the LLC of SMALL_LLC does not hold. All caches replace what was used least recently, so a larger set, used in turns,
# always misses.
SETS = {"l1d": 256, "l2": 4096, "llc": 1 << 15, "dram": 1 << 16}
SMALL_LLC = {"llc_size": "1408 KiB"}  # of 11 ways
# The counters of an access that each level answers.
MISSES = {"l1d": (0, 0, 0), "l2": (1, 0, 0), "llc": (1, 1, 0), "dram": (1, 1, 1)}


def step_of(number):
    """A permutation of the lines in which no line follows its neighbour within the memory of a prefetcher."""
    step = int(number * 0.618) | 1
    assert 64 < pow(step, -1, number) < number - 64
    return step


def pointers(number, step=None):
    """Each of the `number` lines at DATA points to the one `step` lines on, the last ones to the first ones. Without a
    step, no prefetcher foresees a line."""
    return lines(f"li t0, {DATA}", f"li t1, {number}", f"li t2, {step or step_of(number)}", f"li t3, {number - 1}",
                 "mv t4, t2", "mv t5, t0",
                 "0: and t4, t4, t3", "slli t6, t4, 6", "add t6, t6, t0", "sd t6, 0(t5)",
                 "addi t5, t5, 64", "addi t4, t4, 1", "addi t1, t1, -1", "bnez t1, 0b")


def starts(number, chains):
    """Addresses at which so many chases are as far from each other as they can be."""
    return [DATA + LINE * (n * (number // chains) * step_of(number) % number) for n in range(chains)]


def sweep(number, each=32):
    """(set-up, instructions): `each` independent loads, one in each line, over and over through `number` lines."""
    return (lines(f"li a1, {DATA + LINE * each // 2}", f"li a2, {LINE * number - 1}", "li a3, 0", "mv a0, a1"),
            lines(*[f"ld t0, {LINE * (n - each // 2)}(a0)" for n in range(each)],
                  f"addi a3, a3, {LINE * each // 2}", f"addi a3, a3, {LINE * each // 2}", "and a3, a3, a2",
                  "add a0, a1, a3"))
