# SPDX-License-Identifier: Apache-2.0
"""Harts that wait in a loop are left to arithmetic, and results are the same bytes as when every turn is executed.
SLUICE_FULL=1: 2,000 drawn configurations."""

import concurrent.futures
import os
import random
import subprocess
import unittest

from board_runs import FULL, SLUICE, BoardTest, canonical

CONFIGURATIONS = 2000 if FULL else 100


def drawn(number):
    """A board and settings."""
    draw = random.Random(number)
    board = draw.choice(("e810-poll", "e810-poll", "e810-poll", "e810-irq", "e810-echo"))
    harts = draw.choice((1, 1, 2, 4, 16))
    settings = [f"caches.timing={draw.choice(('functional', 'cached', 'interval'))}", f"run.seed={draw.randrange(100)}",
                f"workload.requests={draw.choice((40, 200, 600))}", f"workload.warmup={draw.choice((0, 1, 37))}",
                f"run.spread={draw.choice(('none', 'drawn'))}", "run.allow_drops=true"]
    if harts > 1:
        settings += [f"cluster.host.harts={harts}", f"nic.eth0.queues={draw.choice((2, harts))}",
                     f"workload.flows={draw.choice((1, 64))}"]
        if draw.random() < 0.5:
            settings.append(f"cluster.host.quantum={draw.choice((1, 7, 20, 61, 100, 333))} ns")
    if board != "e810-echo":
        settings += [f"workload.call.program={draw.choice(('null', 'echo', 'add', 'kv'))}"]
        if draw.random() < 0.3:
            settings += ["workload.kind=open-loop", f"workload.rate={draw.choice((10_000, 500_000, 4_000_000))}"]
        else:
            settings += [f"workload.outstanding={draw.choice((1, 8, 16, 64))}", f"workload.think={draw.choice((0, 1000))} ns"]
    if draw.random() < 0.15:
        down = draw.randrange(150_000, 300_000)
        settings += [f"net.wire0.down_at=[{down} ns]", f"net.wire0.up_at=[{down + draw.randrange(1, 30_000)} ns]",
                     "workload.timeout=200 us"]
    more, fault = [], ""
    if draw.random() < 0.2:
        pause = draw.randrange(100, 5_000)
        fault = (f'[fault.pause]\nkind = "pause"\ntarget = "cluster.host.hart{draw.randrange(harts)}"\n'
                 f'duration = "{pause} ns"\nevery = "{2 * pause + draw.randrange(20_000)} ns"\nfrom = "150 us"\n')
    if draw.random() < 0.3:
        more += ["--until", f"{draw.randrange(1_000, 400_000)} ns"]
    return board, settings, more, fault


class Skip(BoardTest):
    def outcome(self, board, settings, more, fault, *, skip):
        if fault:
            path = f"{self.directory()}/my.toml"
            with open(path, "w", encoding="utf-8") as file:
                file.write(f'summary = "with a fault"\nextends = ["{board}"]\n{fault}')
            board = path
        arguments = [SLUICE, "run", board, "--json", *(f"--set={s}" for s in settings), *more]
        done = subprocess.run(arguments + ([] if skip else ["--no-skip"]), capture_output=True, text=True, timeout=300,
                              check=False)
        return done.returncode, done.stderr, canonical(done.stdout) if done.stdout else ""

    def compare(self, number):
        configuration = drawn(number)
        return configuration, self.outcome(*configuration, skip=True), self.outcome(*configuration, skip=False)

    def test_results_are_the_same_bytes(self):
        ran = 0
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for configuration, with_skip, without in pool.map(self.compare, range(CONFIGURATIONS)):
                self.assertEqual(with_skip, without, configuration)
                ran += without[2] != ""
        self.assertGreater(ran, 0.8 * CONFIGURATIONS)

    def test_traces_are_the_same_bytes(self):
        for harts in (1, 4):
            contents = []
            for option in ([], ["--no-skip"]):
                out = self.directory()
                subprocess.run([SLUICE, "run", "e810-poll", "--requests=200", f"--set=cluster.host.harts={harts}",
                                "--set=workload.outstanding=1", "--set=caches.timing=cached", "--trace=pcap,perfetto",
                                f"--out={out}", *option], check=True, stdout=subprocess.DEVNULL)
                for name in ("net.wire0.pcap", "trace.perfetto"):
                    with open(f"{out}/{name}", "rb") as file:
                        contents.append(file.read())
            self.assertEqual(contents[:2], contents[2:])


if __name__ == "__main__":
    unittest.main()
