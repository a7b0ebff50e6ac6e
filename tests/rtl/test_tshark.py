# SPDX-License-Identifier: Apache-2.0
"""Wireshark's dissectors, which nobody here wrote, and the RPC decoder agree on what is a call, and of which procedure.

test_tshark.py FRAMES_FOR_TSHARK; skipped where tshark is missing. SLUICE_FULL=1: more frames."""

import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

FRAMES = sys.argv.pop(1)
COUNT = "20000" if os.environ.get("SLUICE_FULL") == "1" else "3000"
(CALL, TRUNCATED, NOT_IPV4, IPV4_HEADER, IPV4_CHECKSUM, FRAGMENT, NOT_UDP, UDP_LENGTH, UDP_CHECKSUM, NOT_CALL, RPC_VERSION,
 CREDENTIAL, VERIFIER, NO_SERVICE, ARGUMENTS) = range(15)
FIELDS = ("frame.number", "eth.type", "ip.version", "ip.checksum.status", "ip.flags.mf", "ip.frag_offset", "ip.proto", "udp.checksum.status",
          "rpc.msgtyp", "rpc.xid", "rpc.program", "rpc.programversion", "rpc.procedure", "rpc.version", "rpc.auth.flavor",
          "_ws.malformed", "_ws.short", "udp.dstport", "_ws.col.Info")
PORTS = ("2000", "2001")
BAD = "0"  # of a checksum's status


def frames_of(path):
    with open(path, "rb") as file:
        data = file.read()
    at = 24
    while at < len(data):
        length, = struct.unpack_from("<I", data, at + 8)
        yield data[at + 16:at + 16 + length]
        at += 16 + length


def is_lenient(verdict, frame):
    """Wireshark goes on behind a second tag or a tag of another type, and takes an IPv4 length of 0 for one that hardware was
    to fill in."""
    ipv4 = 18 if frame[12:14] == b"\x81\x00" else 14
    if verdict == NOT_IPV4:
        return frame[12:14] != b"\x08\x00" and frame[ipv4 - 2:ipv4] != b"\x08\x00"
    return verdict == IPV4_HEADER and frame[ipv4 + 2:ipv4 + 4] == b"\0\0"


class Tshark(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as directory:
            capture = os.path.join(directory, "frames.pcap")
            ours = subprocess.run([FRAMES, capture, COUNT, "1"], capture_output=True, text=True, check=True).stdout
            cls.ours = [[int(word) for word in line.split()] for line in ours.splitlines()]
            cls.frames = list(frames_of(capture))
            ports = [option for port in PORTS for option in ("-d", f"udp.port=={port},rpc")]
            command = ["tshark", "-r", capture, "-n", "-T", "fields", "-E", "separator=/t", "-E", "occurrence=f", *ports,
                       "-o", "rpc.dissect_unknown_programs:TRUE", "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE",
                       "-o", "ip.defragment:FALSE", "-o", "rpc.defragment_rpc_over_tcp:FALSE"]
            for field in FIELDS:
                command += ["-e", field]
            theirs = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            cls.theirs = [dict(zip(FIELDS, line.split("\t"))) for line in theirs.splitlines()]

    def test_calls_are_the_same(self):
        self.assertEqual(len(self.ours), len(self.theirs))
        calls = 0
        for ours, theirs in zip(self.ours, self.theirs):
            # The decoder does not look at options.
            if ours[0] != CALL or "IPv4" in theirs["_ws.malformed"]:
                continue
            calls += 1
            _, xid, program, version, procedure = ours
            self.assertEqual((theirs["rpc.msgtyp"], int(theirs["rpc.xid"] or "0", 0), theirs["rpc.program"],
                              theirs["rpc.programversion"], theirs["rpc.procedure"]),
                             ("0", xid, str(program), str(version), str(procedure)), theirs)
            self.assertNotEqual(theirs["ip.checksum.status"], BAD, theirs)
            self.assertNotEqual(theirs["udp.checksum.status"], BAD, theirs)
        self.assertGreater(calls, len(self.ours) / 3)

    def test_verdicts_follow_from_the_same_fields(self):
        """What each verdict says of a frame is what Wireshark shows of it."""
        def shows(theirs):
            return {
                NOT_IPV4: theirs["eth.type"] != "0x0800" or theirs["ip.version"] not in ("4", ""),
                IPV4_CHECKSUM: theirs["ip.checksum.status"] == BAD,
                FRAGMENT: theirs["ip.flags.mf"] in ("1", "True") or theirs["ip.frag_offset"] not in ("0", ""),
                NOT_UDP: theirs["ip.proto"] != "17",
                UDP_CHECKSUM: theirs["udp.checksum.status"] == BAD,
                NOT_CALL: theirs["rpc.msgtyp"] != "0",
                # Wireshark is told to look for calls at the two ports that services have, and takes a message for the rest
                # of an earlier one if its program or version is unlikely.
                NO_SERVICE: (theirs["rpc.msgtyp"] == "0" or theirs["udp.dstport"] not in PORTS
                             or "Continuation" in theirs["_ws.col.Info"]),
            }
        differ = {}
        for number, (ours, theirs) in enumerate(zip(self.ours, self.theirs), 1):
            said = shows(theirs).get(ours[0], True) or "IPv4" in theirs["_ws.malformed"]
            if not said:
                differ.setdefault(ours[0], []).append(number)
        self.assertEqual(differ, {})

    def test_what_wireshark_calls_a_call_is_one_or_has_a_reason(self):
        """Of frames in which Wireshark sees a whole call with right checksums, the decoder refuses those whose service is
        not in the table, whose arguments Wireshark cannot know, and what it does not take by its own rules: RPC versions
        other than 2, credentials and verifiers of other flavours, and datagrams that say more bytes than there are."""
        reasons = {}
        for ours, theirs, frame in zip(self.ours, self.theirs, self.frames):
            is_call = (theirs["rpc.msgtyp"] == "0" and not theirs["_ws.malformed"] and not theirs["_ws.short"]
                       and theirs["ip.checksum.status"] != BAD and theirs["udp.checksum.status"] != BAD)
            if is_call and not is_lenient(ours[0], frame):
                reasons[ours[0]] = reasons.get(ours[0], 0) + 1
        self.assertLessEqual(set(reasons), {CALL, TRUNCATED, NO_SERVICE, ARGUMENTS, RPC_VERSION, CREDENTIAL, VERIFIER}, reasons)
        print(f"{COUNT} frames; whole calls for Wireshark, by verdict: {reasons}")


if __name__ == "__main__":
    if shutil.which("tshark") is None:
        sys.exit(77)
    unittest.main()
