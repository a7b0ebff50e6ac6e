# SPDX-License-Identifier: Apache-2.0
"""Single calls to a board with Lauberhorn, at given times, and the replies to them."""

import os
import struct

from board_runs import BoardTest, options, result, start

SUCCESS, SYSTEM_ERR = 0, 5


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def call(xid, program, procedure, arguments=b"", version=1, port=20049, source=700):
    """A frame with an ONC RPC call, without a UDP checksum."""
    rpc = struct.pack(">10I", xid, 0, 2, program, version, procedure, 0, 0, 0, 0) + arguments
    udp = struct.pack(">4H", source, port, 8 + len(rpc), 0) + rpc
    ip = struct.pack(">2B3H2BH8B", 0x45, 0, 20 + len(udp), 0, 0x4000, 64, 17, 0, 10, 0, 0, 1, 10, 0, 0, 2)
    ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
    return bytes.fromhex("02534c000001" "020000000001" "0800") + ip + udp


def write_capture(path, frames):
    """frames: (time in us, bytes)."""
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
        for at, frame in frames:
            file.write(struct.pack("<4I", int(at // 1000000), int(at % 1000000 * 1000), len(frame), len(frame)) + frame)


def replies_in(path):
    """(xid, accept_stat, results) of each reply in a capture."""
    with open(path, "rb") as file:
        data = file.read()
    found, at = [], 24
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        frame = data[at + 16:at + 16 + length]
        at += 16 + length
        if frame[12:14] == b"\x08\x00" and frame[23] == 17 and 0 <= struct.unpack_from(">H", frame, 34)[0] - 20049 < 64:
            xid, kind, _, _, _, accept_stat = struct.unpack_from(">6I", frame, 42)
            assert kind == 1
            end = 42 + struct.unpack_from(">H", frame, 38)[0] - 8
            found.append((xid, accept_stat, frame[66:end]))
    return found


class Replay(BoardTest):
    """Tests that replay calls. frame_of(xid, program, procedure) makes a call's frame."""

    board = "enzian-lauberhorn"

    def arguments(self, calls, directory, until, firmware):
        capture = os.path.join(directory, "calls.pcap")
        write_capture(capture, [(at, self.frame_of(xid, program, procedure)) for xid, (at, program, procedure) in enumerate(calls)])
        return (self.board, "--set", "run.spread=none", "--firmware", firmware or self.firmware, *options("workload.kind=replay", "workload.warmup=0", f"workload.pcap={capture}"),
                "--until", until)

    def console(self, calls, *more, until="20 ms"):
        """What the firmware prints."""
        process = start(*self.arguments(calls, self.directory(), until, None), "--console", *more)
        return process.communicate(timeout=300)[1]

    def replay(self, calls, *more, until="20 ms", firmware=None):
        """calls: (time in us, program, procedure). Returns the result, and accept_stat and results of each call by its place."""
        directory = self.directory()
        r = result(*self.arguments(calls, directory, until, firmware), "--trace", "pcap", "--out", directory, *more, status=None)
        replies = replies_in(os.path.join(directory, "net.wire0.pcap"))
        self.assertEqual(len({xid for xid, _, _ in replies}), len(replies), "a call has one reply")
        return r, {xid: (accept_stat, results) for xid, accept_stat, results in replies}
