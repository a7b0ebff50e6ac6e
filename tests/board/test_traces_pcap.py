# SPDX-License-Identifier: Apache-2.0
"""Captures, as tshark reads them: test_traces_pcap.py SLUICE. Exit status 77: there is no tshark."""

import os
import shutil
import struct
import subprocess
import sys
import unittest

from board_runs import BoardTest, run

CALL, REPLY = "0", "1"
GOOD = "1"  # a checksum's status
FIELDS = ("frame.number", "frame.time_relative", "rpc.msgtyp", "rpc.xid", "rpc.repframe", "rpc.reqframe", "rpc.program",
          "ip.checksum.status", "udp.checksum.status", "_ws.malformed", "_ws.expert.severity")
SLUICE_PROGRAMS = {"calc": 0x20000001, "echo": 0x20000002, "kv": 0x20000003}


def tshark(path, *arguments):
    process = subprocess.run(["tshark", "-r", path, "-o", "rpc.dissect_unknown_programs:TRUE", "-o",
                              "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", *arguments],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    if process.returncode != 0:
        raise AssertionError(process.stderr)
    return process.stdout


def frames(path):
    """The fields of each frame. tshark gives the procedure fields of an RPC frame twice; the first is enough."""
    arguments = [word for field in FIELDS for word in ("-e", field)]
    lines = tshark(path, "-2", "-T", "fields", "-E", "occurrence=f", "-E", "separator=;", *arguments).splitlines()
    return [dict(zip(FIELDS, line.split(";"))) for line in lines]


class Pcap(BoardTest):
    def capture(self, board, *arguments):
        out = self.directory()
        run(board, *arguments, "--trace", "pcap", "--out", out)
        return os.path.join(out, "net.wire0.pcap")

    def assert_sound(self, seen):
        for frame in seen:
            self.assertEqual(frame["_ws.malformed"], "", frame)
            self.assertEqual(frame["_ws.expert.severity"], "", frame)
            if frame["rpc.msgtyp"]:
                self.assertEqual(frame["ip.checksum.status"], GOOD, frame)
                self.assertEqual(frame["udp.checksum.status"], GOOD, frame)

    def assert_paired(self, seen, calls, program):
        """Every call names its reply (rpc.reqframe), and that reply names the call (rpc.repframe); each has the other's
        xid."""
        by_number = {frame["frame.number"]: frame for frame in seen}
        found = [frame for frame in seen if frame["rpc.msgtyp"] == CALL]
        self.assertEqual(len(found), calls)
        self.assertEqual(len([frame for frame in seen if frame["rpc.msgtyp"] == REPLY]), calls)
        for call in found:
            self.assertEqual(int(call["rpc.program"]), program)
            self.assertNotEqual(call["rpc.reqframe"], "", call)
            reply = by_number[call["rpc.reqframe"]]
            self.assertEqual(reply["rpc.msgtyp"], REPLY)
            self.assertEqual(reply["rpc.repframe"], call["frame.number"])
            self.assertEqual(reply["rpc.xid"], call["rpc.xid"])
            self.assertGreater(float(reply["frame.time_relative"]), float(call["frame.time_relative"]))

    def test_calls_and_replies(self):
        for board, name, setting in (("e810-poll", "calc", "workload.call.program=add"),
                                     ("e810-irq", "calc", "workload.call.program=sort"),
                                     ("e810-poll", "echo", "workload.call.bytes=1000"),
                                     ("e810-irq", "kv", "workload.call.program=kv")):
            with self.subTest(board=board, setting=setting):
                path = self.capture(board, "--requests", "300", "--warmup", "20", "--set", setting)
                seen = frames(path)
                self.assert_sound(seen)
                self.assert_paired(seen, 320, SLUICE_PROGRAMS[name])
                # The statistics of tshark itself.
                table = tshark(path, "-q", "-z", "rpc,programs")
                self.assertRegex(table, rf"\({SLUICE_PROGRAMS[name]}\) +1 +320 ")

    def test_four_queues(self):
        path = self.capture("e810-poll", "--requests", "300", "--warmup", "20", "--set", "cluster.host.harts=4", "--set",
                            "nic.eth0.queues=4", "--set", "workload.flows=64")
        seen = frames(path)
        self.assert_sound(seen)
        self.assert_paired(seen, 320, SLUICE_PROGRAMS["echo"])

    def test_stamps_have_nanoseconds(self):
        path = self.capture("e810-poll", "--requests", "20", "--warmup", "0")
        with open(path, "rb") as file:
            self.assertEqual(struct.unpack("<I", file.read(4))[0], 0xa1b23c4d)
        stamps = [frame["frame.time_relative"] for frame in frames(path) if frame["rpc.msgtyp"]]
        self.assertTrue(any(not stamp.endswith("000") for stamp in stamps), stamps)

    def test_a_damaged_capture_is_noticed(self):
        """If it were not, the tests above could not fail."""
        path = self.capture("e810-poll", "--requests", "20", "--warmup", "0")
        with open(path, "rb") as file:
            contents = bytearray(file.read())
        contents[-8] ^= 1  # in the last frame's RPC data
        with open(path, "wb") as file:
            file.write(contents)
        self.assertRaises(AssertionError, self.assert_sound, frames(path))
        last = struct.unpack_from("<I", contents, len(contents) - 134 - 8)[0]
        self.assertEqual(last, 134, "the last frame is not the reply that this test expects")
        with open(path, "wb") as file:
            file.write(contents[:-134 - 16])
        self.assertRaises(AssertionError, self.assert_paired, frames(path), 20, SLUICE_PROGRAMS["echo"])


if __name__ == "__main__":
    if not shutil.which("tshark"):
        print("skipped: there is no tshark")
        sys.exit(77)
    unittest.main()
