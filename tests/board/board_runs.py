# SPDX-License-Identifier: Apache-2.0
"""Runs of the sluice binary for the board tests, as dictionaries and as canonical text without what depends on the
host. SLUICE and PROGRAM are the paths that the test got as its first arguments: test_x.py SLUICE [PROGRAM]. A PROGRAM
runs a board too, and prints its result file with a member of its own; or it is another build of sluice."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

SLUICE = os.path.abspath(sys.argv.pop(1))
PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None

FULL = os.environ.get("SLUICE_FULL") == "1"  # the acceptance counts

SMALL = ("--requests", "400", "--warmup", "50")
FOUR_HARTS = ("--set", "cluster.host.harts=4", "--set", "nic.eth0.queues=4", "--set", "workload.flows=64")
FUNCTIONAL = ("--set", "caches.timing=functional")

# The determinism matrix is run for each of these.
BOARDS = ("e810-poll", "e810-irq")
VARIANTS = {
    "one hart": (),
    "four harts": FOUR_HARTS,
    "one hart, functional": FUNCTIONAL,
    "four harts, functional": FOUR_HARTS + FUNCTIONAL,
    "four harts, cached": (*FOUR_HARTS, "--set", "caches.timing=cached"),
}


def load(text):
    """Keeps numbers with a point or an exponent as the digits that were written, so that a comparison loses nothing."""
    return json.loads(text, parse_float=str)


def start(*arguments, program=None, cwd=None, stderr=subprocess.PIPE):
    return subprocess.Popen([program or SLUICE, "run", *arguments, "--json"], stdout=subprocess.PIPE, stderr=stderr,
                            text=True, cwd=cwd)


def finish(process, status=0):
    """What the process prints; status None: the simulated system may have failed or not."""
    out, err = process.communicate(timeout=240)
    if process.returncode != status and (status is not None or process.returncode not in (0, 1)):
        raise AssertionError(f"exit status {process.returncode}: {' '.join(process.args)}\n{err}")
    return out


def run(*arguments, status=0, **options):
    """The result file's text."""
    return finish(start(*arguments, **options), status)


def result(*arguments, **options):
    """The result file with numbers as numbers."""
    return json.loads(run(*arguments, **options))


def canonical(text, without=()):
    """A result as text, without `host`, and without these parameters and what they are said to do without effect (in
    which two boards differ on purpose)."""
    contents = load(text)
    host = contents.pop("host")
    assert host["build"], "the result has no host part"
    if without:
        del contents["without_effect"]
    for path in without:
        instance, key = path.rsplit(".", 1)
        del contents["board"]["instances"][instance]["parameters"][key]
    return json.dumps(contents, indent=1)


def run_program(*arguments, status=0):
    """What PROGRAM prints."""
    process = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return finish(process, status)


def overrides(arguments):
    """The options --set, --requests and --warmup as the words PATH=VALUE that PROGRAM takes."""
    names = {"--requests": "workload.requests=", "--warmup": "workload.warmup=", "--set": ""}
    return [names[option] + value for option, value in zip(arguments[::2], arguments[1::2])]


def options(*settings):
    """Words PATH=VALUE as the options --set."""
    return [word for setting in settings for word in ("--set", setting)]


def figures(text):
    """A result as a dictionary of what was simulated alone, without what it was asked for: whoever shows that something
    counts must compare these, since `seed` and `board` tell two settings apart."""
    contents = load(text)
    for name in ("host", "board", "seed", "without_effect", "quantum_ns"):
        contents.pop(name, None)
    contents["counters"]["caches"].pop("home_checked", None)
    return contents


class BoardTest(unittest.TestCase):
    maxDiff = 4000

    def directory(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        return made.name

    def mistake(self, board, *settings):
        """The error text of a run with these settings, which must end with exit status 2, a mistake of the user."""
        arguments = [part for setting in settings for part in ("--set", setting)]
        process = subprocess.run([SLUICE, "run", board, *arguments], capture_output=True, text=True, timeout=60,
                                 check=False)
        self.assertEqual(process.returncode, 2, process.stderr)
        return process.stderr.rstrip("\n")

    def assert_deterministic(self, board, settings, small=SMALL, traces="pcap,perfetto"):
        """A second run, one with traces, and one by PROGRAM with 100 entries that do nothing and a foreign module give
        the same result. Returns it."""
        arguments = (board, *small, *settings)
        first = run(*arguments)
        self.assert_same(first, run(*arguments))
        self.assert_same(first, run(*arguments, "--trace", traces, "--out", self.directory()))
        simulated = str(int(json.loads(first)["simulated_ns"]))
        more = load(run_program("--entries", simulated, "--foreign", board, *overrides((*small, *settings))))
        seen = more.pop("disturbance")
        self.assertEqual(seen["entries"], 100)
        self.assertGreater(seen["ticks"], 100)
        self.assertGreaterEqual(more["host"]["calendar_entries"], json.loads(first)["host"]["calendar_entries"] + 100)
        self.assertMultiLineEqual(canonical(first), canonical(json.dumps(more)))
        return first

    def assert_same(self, first, second, without=(), message=None):
        self.assertMultiLineEqual(canonical(first, without), canonical(second, without), message)
