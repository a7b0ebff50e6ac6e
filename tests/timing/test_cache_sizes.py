# SPDX-License-Identifier: Apache-2.0
"""Caches of any number of sets: what a stream that goes around and around misses in them. test_cache_sizes.py SLUICE."""

import unittest

from bench import DATA, TimingTest, iteration, lines

LINE = 64


class Caches:
    """A hart's caches, without prefetching, in which accesses come in order."""
    width = 4

    def __init__(self, **values):
        self.values = {"timing": "cached", "prefetch_depth": 0, **values}

    def settings(self):
        return (f"caches.{key}={value}" for key, value in self.values.items())


def around(caches, count):
    """One time around `count` lines, when all have been accessed before."""
    body = lines(f"li t0, {DATA}", f"li t1, {count}", "2: ld t2, 0(t0)", f"addi t0, t0, {LINE}", "addi t1, t1, -1",
                 "bnez t1, 2b")
    return iteration(caches, body, few=3, many=5)


def missed(sets, ways, count):
    """Of lines in a row, those in sets that get more of them than they have ways: each is displaced, as the least
    recently used one, before it comes again."""
    most, sets_with_one_more = divmod(count, sets)
    return ((most + 1) * sets_with_one_more if most + 1 > ways else 0) + (
        most * (sets - sets_with_one_more) if most > ways else 0)


class CacheSizes(TimingTest):
    def test_l1d(self):
        for size, ways, sets in (("48 KiB", 12, 64), ("48 KiB", 16, 48), ("6 KiB", 32, 3), ("15 KiB", 5, 48)):
            for count in (sets * ways, sets * ways + 2, sets * (ways + 1)):
                with self.subTest(size=size, ways=ways, lines=count):
                    measured = around(Caches(l1d_size=size, l1d_ways=ways), count)
                    self.assertEqual(measured["l2_accesses"], missed(sets, ways, count))

    def test_l2(self):
        for size, ways, sets in (("1.5 MiB", 12, 2048), ("1.5 MiB", 16, 1536), ("1280 KiB", 40, 512)):
            for count in (sets * ways, sets * ways + 7):
                with self.subTest(size=size, ways=ways, lines=count):
                    measured = around(Caches(l2_size=size, l2_ways=ways), count)
                    self.assertEqual((measured["l2_accesses"], measured["l2_misses"]),
                                     (count, missed(sets, ways, count)))

    def test_llc(self):
        # L2 holds less than one line for each set of the LLC, and gives them to the LLC before the next line of their
        # sets comes: the lines that are too many are more than L2 has.
        for size, ways, sets in (("33 MiB", 11, 49152), ("2.25 MiB", 12, 3072), ("1.25 MiB", 1, 20480)):
            for count in (sets * ways, sets * ways + 2000):
                with self.subTest(size=size, ways=ways, lines=count):
                    measured = around(Caches(l2_size="64 KiB", llc_size=size, llc_ways=ways), count)
                    self.assertEqual((measured["l2_misses"], measured["llc_misses"]),
                                     (count, missed(sets, ways, count)))


if __name__ == "__main__":
    unittest.main()
