# SPDX-License-Identifier: Apache-2.0
"""Single frames that the firmware frame-echo gets, and what it sends back, byte by byte: test_echoed_frames.py SLUICE

The frames come from a log of inputs, as a TAP interface's would; what leaves is read from the wire's capture."""

import os
import struct
import unittest

from board_runs import BoardTest, result

BOARD_MAC, PEER_MAC = bytes.fromhex("02534c000001"), bytes.fromhex("020000000001")
BOARD_IP, PEER_IP = bytes((10, 0, 0, 2)), bytes((10, 0, 0, 1))
PADDING = bytes(range(0x90, 0x90 + 60))  # no zeros, so that a byte that is touched shows


def checksum(data):
    """The Internet checksum."""
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total > 0xffff:
        total = (total & 0xffff) + (total >> 16)
    return 0xffff - total


def frame(payload, back=False, absent=False, behind=b"", ip_error=0, udp_error=0):
    """A UDP frame to the board, or what comes back. `behind`: bytes of the IPv4 datagram after UDP's; `absent`: without
    a UDP checksum; errors are added to the length fields."""
    macs, addresses, ports = (BOARD_MAC, PEER_MAC), (PEER_IP, BOARD_IP), (40000, 9)
    if back:
        macs, addresses, ports = macs[::-1], addresses[::-1], ports[::-1]
    length = 8 + len(payload)
    udp = struct.pack(">HHH", *ports, length + udp_error)
    pseudo = b"".join(addresses) + struct.pack(">HH", 17, length)
    value = 0 if absent else checksum(pseudo + udp + bytes(2) + payload) or 0xffff
    udp += struct.pack(">H", value) + payload + behind
    ip = struct.pack(">HHHHBB", 0x4500, 20 + len(udp) + ip_error, 7, 0, 64, 17)
    ip += struct.pack(">H", checksum(ip + bytes(2) + b"".join(addresses))) + b"".join(addresses)
    whole = b"".join(macs) + b"\x08\x00" + ip + udp
    return whole + PADDING[len(whole):]


class EchoedFrames(BoardTest):
    def send(self, *frames):
        """The result of a run that gets these frames, and the frames that leave the board."""
        out = self.directory()
        log = os.path.join(out, "frames.log")
        with open(log, "w", encoding="utf-8") as file:
            file.write("sluice-inputs 1\nchannel tap\n")
            for i, sent in enumerate(frames):
                file.write(f"input {2_000_000_000_000 + i * 20_000_000_000} tap {sent.hex()}\n")
            file.write("end 4000000000000 limit\n")
        contents = result("e810-poll", "--set", "cluster.host.firmware=frame-echo", "--replay", log, "--trace", "pcap", "--out", out)
        self.assertEqual(contents["counters"]["tap"]["received"], len(frames))
        with open(os.path.join(out, "net.wire0.pcap"), "rb") as file:
            capture = file.read()
        captured, at = [], 24
        while at < len(capture):
            (length,) = struct.unpack_from("<8xI4x", capture, at)
            captured.append(capture[at + 16:at + 16 + length])
            at += 16 + length
        for sent in frames:
            self.assertIn(sent, captured)
            captured.remove(sent)
        return contents, captured

    def assert_echoed(self, sent, expected):
        contents, back = self.send(sent)
        self.assertEqual([b.hex() for b in back], [expected.hex()])
        self.assertEqual(contents["firmware"][0]["counters"]["echoed"], 1)
        self.assertEqual(contents["counters"]["nic.eth0"]["tx_packets"], 1)

    def test_an_empty_payload_has_no_first_byte(self):
        for absent in (False, True):
            with self.subTest(absent=absent):
                # The NIC inserts a checksum in either case.
                self.assert_echoed(frame(b"", absent=absent), frame(b"", back=True))

    def test_the_first_byte_of_a_payload_grows(self):
        for payload, grown in ((b"\x41", b"\x42"), (b"\xff", b"\x00"), (b"\x07abcdef", b"\x08abcdef")):
            for absent in (False, True):
                with self.subTest(payload=payload, absent=absent):
                    self.assert_echoed(frame(payload, absent=absent), frame(grown, back=True))

    def test_a_datagram_that_ends_before_its_packet_keeps_what_lies_behind(self):
        for payload, grown in ((b"", b""), (b"\x41", b"\x42"), (b"\x07abcdef", b"\x08abcdef")):
            for absent in (False, True):
                with self.subTest(payload=payload, absent=absent):
                    self.assert_echoed(frame(payload, absent=absent, behind=b"behind"),
                                       frame(grown, back=True, absent=absent, behind=b"behind"))

    def test_lengths_that_cannot_be_are_counted_and_not_echoed(self):
        for errors, counter in (({"udp_error": -1}, "udp_malformed"), ({"udp_error": 1}, "udp_malformed"),
                                ({"ip_error": -1}, "udp_malformed"), ({"ip_error": 19}, "ipv4_malformed")):
            with self.subTest(**errors):
                contents, back = self.send(frame(b"", **errors))
                self.assertEqual(back, [])
                counters = contents["firmware"][0]["counters"]
                self.assertEqual((counters["echoed"], counters[counter]), (0, 1))
        # The longest packet that the frame has room for.
        self.assert_echoed(frame(b"", behind=bytes(18)), frame(b"", back=True, behind=bytes(18)))


if __name__ == "__main__":
    unittest.main()
