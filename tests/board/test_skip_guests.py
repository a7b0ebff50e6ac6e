# SPDX-License-Identifier: Apache-2.0
"""Bare guests whose harts wait for each other end in the same state, to the byte, with the skip and without.
SLUICE_FULL=1: 2,000 guests."""

import concurrent.futures
import json
import os
import subprocess
import sys
import unittest

from board_runs import FULL, SLUICE, BoardTest, canonical
from spinning_guests import SpinningGuest

HERE = os.path.dirname(os.path.abspath(__file__))
BARE = os.path.join(HERE, "..", "firmware", "bare.toml")
sys.path.append(os.path.join(HERE, "..", "cli"))
from assembler import assemble  # pylint: disable=wrong-import-position

UNTIL_NS = 200_000
GUESTS = 2000 if FULL else 80


class SkipGuests(BoardTest):
    def outcome(self, guest, elf, *more):
        arguments = [SLUICE, "run", BARE, "--json", f"--set=cluster.host.firmware={elf}", "--until", f"{UNTIL_NS} ns",
                     *(f"--set={s}" for s in guest.settings), *more]
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=240, check=False)
        return done.returncode, done.stderr, canonical(done.stdout) if done.stdout else ""

    def compare(self, number):
        guest = SpinningGuest(number)
        elf = os.path.join(self.directory(), "guest.elf")
        with open(elf, "wb") as file:
            file.write(assemble(guest.source))
        return number, guest, self.outcome(guest, elf), self.outcome(guest, elf, "--no-skip")

    def test_guests_end_in_the_same_state(self):
        ended = 0
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for number, guest, with_skip, without in pool.map(self.compare, range(GUESTS)):
                self.assertEqual(with_skip, without, (number, guest.settings))
                ended += float(json.loads(without[2])["simulated_ns"]) < UNTIL_NS
        self.assertGreater(ended, GUESTS / 4)


if __name__ == "__main__":
    unittest.main()
