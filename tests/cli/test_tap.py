#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Real programs talk to the firmware in the simulator: test_tap.py SLUICE RPC_CLIENT BOARD [TEST...]

Every run has a network namespace of its own. Exit status 77 where namespaces or TAP are not permitted.
"""

import filecmp
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SLUICE, CLIENT, BOARD = sys.argv[1:4]
CLIENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../firmware/test_real_clients.sh")
PATIENCE = 100  # seconds


def alone(*command, **options):
    """The command in a network namespace of its own."""
    return subprocess.Popen(["unshare", "-n", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            **options)


def until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.05)


def read_result(directory):
    """The result file; None while there is none."""
    try:
        with open(os.path.join(directory, "result.json"), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


class Tap(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def path(self, *names):
        return os.path.join(self.directory, *names)

    def assert_mistake(self, arguments, sentence, board=BOARD):
        run = alone(SLUICE, "run", board, *arguments)
        output, errors = run.communicate(timeout=PATIENCE)
        self.assertEqual((run.returncode, output), (2, ""))
        self.assertTrue(errors.startswith("sluice: ") and errors.endswith(f"{sentence}\n"), errors)
        self.assertEqual(errors.count("\n"), 1)

    def check_capture(self, path):
        if not shutil.which("tshark"):
            return

        def frames(wanted):
            listed = subprocess.run(["tshark", "-2", "-n", "-r", path, "-o", "rpc.dissect_unknown_programs:TRUE", "-o",
                                     "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-o",
                                     "tcp.check_checksum:TRUE", "-Y", wanted], capture_output=True, text=True,
                                    check=True)
            return listed.stdout.splitlines()
        self.assertEqual(frames("_ws.malformed || ip.checksum.status == 0 || udp.checksum.status == 0 || "
                                "tcp.checksum.status == 0 || icmp.checksum.status == 0"), [])
        self.assertGreaterEqual(len(frames("rpc.msgtyp == 1")), 2000)
        # tshark sets rpc.reqframe in a call that has a reply, and rpc.repframe in that reply.
        self.assertEqual(frames("(rpc.msgtyp == 0 && !rpc.reqframe) || (rpc.msgtyp == 1 && !rpc.repframe)"), [])

    def test_real_programs_are_served_and_the_run_can_be_repeated(self):
        first, second = self.path("first"), self.path("second")
        clients = subprocess.run([CLIENTS, CLIENT, "tap0", SLUICE, "run", BOARD, "--tap", "tap0", "--trace", "pcap",
                                  "--out", first], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 timeout=PATIENCE, check=False)
        self.assertEqual(clients.returncode, 0, clients.stdout)
        self.assertIn("rpc-client 10.0.0.2 2000", clients.stdout)
        until(lambda: read_result(first))
        live = read_result(first)
        self.assertEqual((live["outcome"], live["failure"]), ("interrupted", ""))
        self.assertGreaterEqual(live["counters"]["tap"]["received"], 2000)
        self.assertNotIn("requests", live)
        self.check_capture(os.path.join(first, "net.wire0.pcap"))

        subprocess.run([SLUICE, "run", BOARD, "--replay", os.path.join(first, "input.log"), "--trace", "pcap", "--out",
                        second], stdout=subprocess.DEVNULL, timeout=PATIENCE, check=True)
        again = read_result(second)
        del live["host"], again["host"]
        self.assertEqual(json.dumps(live), json.dumps(again))
        self.assertTrue(filecmp.cmp(os.path.join(first, "net.wire0.pcap"), os.path.join(second, "net.wire0.pcap"),
                                    shallow=False))

    def test_signals_end_a_run_with_its_report(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            out = self.path(number.name)
            run = alone(SLUICE, "run", BOARD, "--tap", "tap0", "--out", out)
            # Once this file exists, the run catches signals.
            until(lambda: os.path.exists(os.path.join(out, "input.log")))
            time.sleep(0.5)
            run.send_signal(number)
            output, errors = run.communicate(timeout=PATIENCE)
            # e810-irq inherits its workload, e810-poll sets it in its own file.
            told = ("sluice: [workload] of e810-poll.toml has no effect in this run: the TAP interface, at net.wire0, is in "
                    "its place\n") if BOARD == "e810-poll" else ""
            self.assertEqual((run.returncode, errors), (0, told))
            self.assertIn(f"{BOARD}   outside: 0 frames in, ", output)
            self.assertEqual(read_result(out)["outcome"], "interrupted")

    def board_of(self, *lines):
        path = self.path("my.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        return path

    def test_what_the_board_sets_for_the_workload_is_told_to_have_no_effect(self):
        for lines, told in (((), ""), (("[workload]", "outstanding = 4"), "sluice: [workload] of my.toml has no effect in this "
                                      "run: the TAP interface, at net.wire0, is in its place\n")):
            board = self.board_of(f"extends = ['{BOARD}']", *lines)
            run = alone(SLUICE, "run", board, "--tap", "tap0", "--until", "1 us")
            self.assertEqual(run.communicate(timeout=PATIENCE)[1], told.replace("my.toml", board))
            self.assertEqual(run.returncode, 0)

    def test_a_workload_of_another_model_runs_beside_it(self):
        board = self.board_of("extends = ['haswell-nfp']", "[net.wire0]")
        run = alone(SLUICE, "run", board, "--workload", "dma", "--sizes", "64", "--tap", "tap0")
        output, errors = run.communicate(timeout=PATIENCE)
        self.assertEqual((run.returncode, errors), (0, "sluice: the DMA workload runs beside the TAP interface, which is at "
                                                    "net.wire0\n"))
        self.assertIn("\n  outside: 0 frames in, 0 frames out\n", output)

    def test_simulated_time_does_not_run_ahead_of_wall_time(self):
        start = time.monotonic()
        run = alone(SLUICE, "run", BOARD, "--tap", "tap0", "--until", "1 s", "--out", self.path("out"))
        run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, 0)
        self.assertGreater(time.monotonic() - start, 1)
        result = read_result(self.path("out"))
        self.assertEqual(result["outcome"], "limit")
        self.assertEqual(result["simulated_ns"] // 1000, 1_000_000)

    def test_mistakes_are_answered_with_one_sentence(self):
        self.assert_mistake(["--tap", "lo"], "--tap lo: is an interface, but no TAP interface")
        self.assert_mistake(["--tap", "a/b"], "--tap a/b: an interface's name has 1 to 15 characters, and no '/', "
                            "'%', ':' or space")
        for option, value in (("--requests", "9"), ("--workload", "open-loop"), ("--set", "workload.outstanding=2"),
                              ("--set", "workload.model=traffic"), ("--set", "run.stall_limit=5us"),
                              ("--set", "run.allow_drops=true")):
            self.assert_mistake(["--tap", "tap0", option, value], f"{option} {value}: has no effect on {BOARD}: the TAP interface is "
                                "in the workload's place")
        self.assert_mistake(["--tap", "tap0", "--set", "run.time_limit=5us"], f"--set run.time_limit=5us: has no effect on "
                            f"{BOARD}: a run with a TAP interface goes on until --until or a signal ends it")
        for peer, sentence in (("model = 'traffic'", "peer.far.wire cannot have clients in a run whose packets come from a TAP "
                                'interface; the run needs a board without peers of model "traffic"'),
                               ("model = 'echo'\nwire = 'net.wire0'", "peer.far.wire must not be net.wire0, which leads to "
                                "the TAP interface in this run")):
            with open(self.path("peer.toml"), "w", encoding="utf-8") as file:
                file.write(f"extends = ['{BOARD}']\n[peer.far]\n{peer}\n")
            self.assert_mistake(["--tap", "tap0"], sentence, board=self.path("peer.toml"))
        self.assert_mistake(["--replay", "/nowhere"], "--replay /nowhere: /nowhere: cannot be read: No such file or "
                            "directory")
        broken = self.path("broken.log")
        with open(broken, "w", encoding="utf-8") as file:
            file.write("sluice-inputs 1\ninput 5 tap 0\n")
        self.assert_mistake(["--replay", broken], f"--replay {broken}: {broken}:2: is no record of an input")


def permitted():
    return (shutil.which("unshare") and os.access("/dev/net/tun", os.W_OK) and
            subprocess.run(["unshare", "-n", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0)


if __name__ == "__main__":
    if not permitted():
        print("skipped: network namespaces and TAP need root")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
