# SPDX-License-Identifier: Apache-2.0
"""What a client of the debug server may do to a run: test_gdb_client.py SLUICE FIRMWARE-DIRECTORY."""

import json
import os
import re
import signal
import socket
import struct
import subprocess
import unittest

from gdb_session import ONE_HART, TESTS, Session, packet
from board_runs import SLUICE, run
from caught_signals import wait_until_caught


class Client(Session):
    """Without GDB: what a client may do to the run."""

    def connect(self, port):
        client = socket.create_connection(("127.0.0.1", int(port)), timeout=60)
        self.addCleanup(client.close)
        return client

    def test_only_this_machine_can_connect(self):
        process, port = self.launch(*ONE_HART)
        with open("/proc/net/tcp", encoding="ascii") as file:
            listening = [line.split()[1] for line in file if line.split()[3] == "0A"]
        self.assertIn(f"0100007F:{int(port):04X}", listening)
        self.assertNotIn(f"00000000:{int(port):04X}", listening)
        process.kill()

    def test_a_client_that_goes_away_leaves_the_run_alone(self):
        process, port = self.launch(*ONE_HART)
        client = self.connect(port)
        client.sendall(packet(b"Z0,80000000,4") + b"\xff\x00$$$#zz" + packet(b"vCont;c"))
        client.recv(100)
        client.close()
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        self.assert_same(run(*ONE_HART), out)

    def test_a_second_client_is_turned_away(self):
        process, port = self.launch(*ONE_HART)
        first = self.connect(port)
        first.sendall(packet(b"QStartNoAckMode"))
        answer = b""
        while b"OK#9a" not in answer:
            answer += first.recv(100)
        for packets in (b"", packet(b"qSupported") + packet(b"vMustReplyEmpty")):
            second = self.connect(port)
            second.sendall(packets)
            try:
                self.assertEqual(second.recv(100), b"")
            except ConnectionResetError:
                pass  # what it has sent was not read
        first.sendall(packet(b"qC"))
        self.assertEqual(first.recv(100), packet(b"QC1"))
        first.sendall(packet(b"vCont;c"))
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        self.assert_same(run(*ONE_HART), out)

    def test_a_second_client_is_turned_away_from_a_run(self):
        process, port = self.launch("e810-poll", "--requests", "100000000")
        first = self.connect(port)
        first.sendall(packet(b"vCont;c"))
        second = self.connect(port)
        self.assertEqual(second.recv(100), b"")
        first.close()
        third = self.connect(port)
        third.sendall(packet(b"k"))
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0)

    def test_a_dead_board_ends_as_without_a_debugger(self):
        arguments = (os.path.join(TESTS, "firmware", "bare.toml"), "--firmware", self.dead_firmware())
        process, port = self.launch(*arguments)
        client = self.connect(port)
        client.sendall(packet(b"vCont;c"))
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1, err)
        self.assertEqual(json.loads(out)["outcome"], "deadlocked")
        self.assert_same(run(*arguments, status=1), out)

    def dead_firmware(self):
        """Waits for an interrupt that nobody sends."""
        wfi, back = 0x1050_0073, 0xFFDF_F06F  # wfi; j -4
        code = struct.pack("<2I", wfi, back)
        header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 243, 1, 0x8000_0000, 64, 0, 0, 64, 56, 1, 0,
                             0, 0)
        segment = struct.pack("<IIQQQQQQ", 1, 5, 120, 0x8000_0000, 0x8000_0000, len(code), len(code), 4)
        path = os.path.join(self.directory(), "dead.elf")
        with open(path, "wb") as file:
            file.write(header + segment + code)
        return path

    def told(self, *arguments):
        """What a debugger that lets the run go is told of its end, and the status of the process."""
        process, port = self.launch(*arguments)
        client = self.connect(port)
        client.sendall(packet(b"QStartNoAckMode") + packet(b"vCont;c"))
        answer = b""
        while more := client.recv(1000):
            answer += more
        process.communicate(timeout=120)
        return re.findall(rb"\$W(..)#", answer), process.returncode

    def test_the_end_is_told_with_the_status_of_the_process(self):
        self.assertEqual(self.told(*ONE_HART), ([b"00"], 0))
        dead = (os.path.join(TESTS, "firmware", "bare.toml"), "--firmware", self.dead_firmware())
        self.assertEqual(self.told(*dead), ([b"01"], 1))
        # The run itself ends well; what the report finds makes it fail.
        lossy = ("e810-irq", "--requests", "600", "--warmup", "0", "--set", "workload.outstanding=128", "--set",
                 "workload.timeout=1 ms", "--set", "nic.eth0.tx_ring=64", "--set", "nic.eth0.pcie.tags=4")
        self.assertEqual(self.told(*lossy), ([b"01"], 1))

    def test_kill_ends_the_run(self):
        process, port = self.launch(*ONE_HART)
        client = self.connect(port)
        client.sendall(packet(b"k"))
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(json.loads(out)["requests"]["completed"], 0)

    def test_a_signal_ends_a_run_that_waits_for_a_debugger(self):
        process, _ = self.launch(*ONE_HART)
        wait_until_caught(process.pid, signal.SIGINT)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
        self.assertEqual((process.returncode, error), (0, ""))
        result = json.loads(out)
        self.assertEqual((result["outcome"], result["failure"], result["simulated_ns"]), ("interrupted", "", 0))
        self.assertEqual(result["counters"]["cluster.host.hart0"]["instructions"], 0)

    def test_interrupt_stops_a_run(self):
        process, port = self.launch("e810-poll", "--requests", "100000000")
        client = self.connect(port)
        client.sendall(packet(b"QStartNoAckMode") + packet(b"vCont;c"))
        answer = b""
        while b"OK#9a" not in answer:
            answer += client.recv(100)
        client.sendall(b"\x03")
        while b"T02thread:1;" not in answer:
            more = client.recv(100)
            self.assertTrue(more, answer)
            answer += more
        client.sendall(packet(b"k"))
        process.communicate(timeout=120)

    def test_a_port_in_use_is_a_mistake(self):
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        port = taken.getsockname()[1]
        process = subprocess.run([SLUICE, "run", *ONE_HART, "--gdb", str(port)], capture_output=True, text=True,
                                 timeout=60, check=False)
        self.assertEqual(process.returncode, 2)
        self.assertRegex(process.stderr, rf"^sluice: --gdb {port}: cannot listen on 127\.0\.0\.1: [^\n]+\n$")


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    unittest.main()
