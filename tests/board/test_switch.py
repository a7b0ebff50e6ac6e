# SPDX-License-Identifier: Apache-2.0
"""A NIC behind a PCIe switch, and a wire whose carrier comes and goes: test_switch.py SLUICE."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

SLUICE = os.path.abspath(sys.argv.pop(1))
# One completion for each read, so that links carry one TLP of the request at a time but for the write-back: the reply's
# frame lies within 256 B.
LONE = ("--set=run.spread=none", "--set=caches.timing=functional", "--set=workload.outstanding=1", "--set=root.completion_size=256 B",
        "--set=workload.call.bytes=24", "--requests=20", "--warmup=3")
SWITCHED = """
extends = ["{board}"]
[switch.sw0]
slot = "pcie.slot0"
downstream_ports = 3
[pcie.slot1]
attach = "switch.sw0"
port = 2
generation = 3
lanes = 16
flight = "5 ns"
[nic.eth0]
slot = "pcie.slot1"
"""
# TLPs of a lone request. Up: data with its descriptor, two reads. Down: doorbell, two completions.
UP, DOWN = 3, 3
WRITE_BACK = 32 + 24  # bytes
# Generation 3, 16 lanes, less two DLLPs in 168 bytes and a SKP in 1538 (docs/models/pcie.md).
BYTES_PER_NS = 8 * 16 / 8 * 128 / 130 * (1 - 16 / 168 - 4 / 1538)


class Boards(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def write(self, text, name="switched.toml"):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_board(self, board, *options, status=0):
        done = subprocess.run([SLUICE, "run", board, "--json", *options], capture_output=True, text=True, timeout=120,
                              check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads(done.stdout)


class Switch(Boards):
    @staticmethod
    def stages(result):
        return {(s["name"], s["component"]): s["mean_ns"] for s in result["stages"]}

    def parameter(self, result, instance, key):
        return result["board"]["instances"][instance]["parameters"][key]["value"]

    def test_its_latency_is_all_that_it_adds_to_a_request(self):
        board = self.write(SWITCHED.format(board="e810-poll"))
        direct = self.run_board("e810-poll", *LONE)
        before = self.stages(direct)
        for latency in (115, 215, 0):
            result = self.run_board(board, *LONE, f"--set=switch.sw0.latency={latency} ns")
            self.assertEqual(result["requests"]["completed"], 20)
            after = self.stages(result)
            self.assertAlmostEqual(after.pop(("switch", "switch.sw0"), 0), latency * (UP + DOWN), places=5)
            # The lower link takes as long as the direct one. The upper link has the same TLPs and no NIC at its end. It
            # is still busy with the frame while the descriptor's write-back arrives from the lower link.
            for stage, owner, meanwhile in (("upstream link", "transmit_latency", WRITE_BACK / BYTES_PER_NS),
                                            ("downstream link", "receive_latency", 0)):
                link = before[stage, "pcie.slot0"]
                self.assertAlmostEqual(after.pop((stage, "pcie.slot1")), link, places=5)
                nic = self.parameter(direct, "nic.eth0", "pcie." + owner)
                self.assertAlmostEqual(after.pop((stage, "pcie.slot0")), link - UP * nic - meanwhile, places=5)
            for key, mean in after.items():
                # The descriptor comes at another place of the poll loop, less than an iteration away.
                near = 60 if key[0] in ("wait for a core", "poll") else 1e-5
                self.assertAlmostEqual(mean, before[key], delta=near, msg=key)
            self.assertEqual(set(after) | {("upstream link", "pcie.slot0"), ("downstream link", "pcie.slot0")}, set(before))
            counters = result["counters"]["switch.sw0"]
            self.assertGreaterEqual(counters["forwarded"], 20 * (UP + DOWN))
            self.assertEqual((counters["unsupported_requests"], counters["unexpected_completions"]), (0, 0))

    def test_everything_works_behind_two_of_them(self):
        for board, more in (("e810-poll", ""), ("e810-irq", ""), ("e810-irq", '[cluster.host]\ninterrupts = "plic"\n')):
            text = SWITCHED.format(board=board).replace('slot = "pcie.slot1"', 'slot = "pcie.slot2"')
            text += '[switch.sw1]\nslot = "pcie.slot1"\ncut_through = true\n[pcie.slot2]\nattach = "switch.sw1"\nlanes = 8\n'
            result = self.run_board(self.write(text + more), "--requests=2000",
                                    "--set=cluster.host.harts=2", "--set=nic.eth0.queues=2", "--set=workload.flows=9")
            self.assertEqual(result["requests"]["completed"], 2000)

    def test_describe_shows_what_the_firmware_finds(self):
        board = self.write(SWITCHED.format(board="e810-poll"))
        described = subprocess.run([SLUICE, "describe", board], capture_output=True, text=True, check=True).stdout
        self.assertTrue(described.endswith("""
PCIe
  00:00.0  host bridge (root)
  00:01.0  root port 0 -- pcie.slot0 (PCIe 3.0 x16) -- 01:00.0 switch.sw0 (PCIe switch)
  02:00.0    port 0
  02:01.0    port 1
  02:02.0    port 2 -- pcie.slot1 (PCIe 3.0 x16) -- 05:00.0 nic.eth0 (descriptor NIC)
"""), described)
        said = subprocess.run([SLUICE, "run", board, "--requests=1", "--console"], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, check=True).stderr
        found = [line.split()[1] for line in said.splitlines() if line.startswith("pcie ")]
        self.assertEqual(found, ["00:00.0", "00:01.0", "01:00.0", "02:00.0", "02:01.0", "02:02.0", "05:00.0"])
        shown = [word for line in described.split("\nPCIe\n")[1].splitlines()
                 for word in line.split() if word[2:3] == ":" and word.endswith(".0")]
        self.assertEqual(sorted(shown), found)

    def test_what_is_attached_to_nothing(self):
        loop = '[switch.sw0]\nslot = "pcie.slot1"\n[pcie.slot1]\nattach = "switch.sw0"\n'
        for text, sentence in (
                (loop, "my.toml:5: pcie.slot1.attach must lead to a root port; switch.sw0 hangs from none"),
                ("[switch.sw0]\n", "my.toml:2: switch.sw0.slot must be set: PCIe slot that its upstream port is in"),
                ('[switch.sw0]\nslot = "pcie.slot0"\n',
                 "my.toml:3: switch.sw0.slot must be a slot of its own; nic.eth0 is in it"),
                ('[pcie.slot1]\nattach = "switch.sw1"\n',
                 'my.toml:3: pcie.slot1.attach must name a PCIe switch of the board, not "switch.sw1"; the board has none'),
                ('[switch.sw0]\nslot = "pcie.slot1"\n[pcie.slot1]\nattach = "switch.sw0"\nport = 4\n',
                 "my.toml:6: pcie.slot1.port must be less than switch.sw0.downstream_ports, which is 4"),
                (loop + '[pcie.slot2]\nattach = "switch.sw0"\n', "my.toml:6: pcie.slot2.port must be a downstream port of its "
                 "own; pcie.slot1 is at it")):
            board = self.write('extends = ["e810-poll"]\n' + text, "my.toml")
            for command in ("describe", "run"):
                done = subprocess.run([SLUICE, command, os.path.basename(board)], cwd=self.directory, capture_output=True,
                                      text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (2, f"sluice: {sentence}\n"))


class Carrier(Boards):
    GONE = ("--requests=4000", "--set=workload.timeout=100us", "--set=net.wire0.down_at=1ms,3ms",
            "--set=net.wire0.up_at=1.5ms")

    def test_calls_of_a_link_that_comes_back_are_sent_again(self):
        result = self.run_board("e810-poll", *self.GONE[:2], "--set=net.wire0.down_at=500us", "--set=net.wire0.up_at=1ms",
                                "--set=workload.retries=9", "--set=workload.outstanding=16")
        self.assertEqual(result["requests"]["completed"], 4000)
        self.assertGreaterEqual(result["requests"]["retransmissions"], 4 * 16)
        lost = sum(result["counters"]["net.wire0." + way]["lost"] for way in ("a_to_b", "b_to_a"))
        self.assertGreaterEqual(lost, result["requests"]["retransmissions"])
        # No call is answered while there is no carrier.
        self.assertGreater(result["measured_ns"], 500_000)

    def test_calls_that_nobody_repeats_are_dropped_with_the_reason(self):
        result = self.run_board("e810-poll", *self.GONE, status=1)
        self.assertEqual(list(result["requests"]["dropped"]), ["link down"])
        self.assertIn("first reason: link down", result["failure"])


if __name__ == "__main__":
    unittest.main()
