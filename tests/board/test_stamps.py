# SPDX-License-Identifier: Apache-2.0
"""Hardware time stamps at the MAC, as software sees them: test_stamps.py SLUICE. The firmware's sums of differences are
compared with the capture's stamps, which the wire takes, and with what a round trip to a peer must take."""

import json
import os
import struct
import unittest

import board_runs
from board_runs import BoardTest

# An octet takes 1 ns: nothing is lost when times are rounded down to nanoseconds.
SLOW = ("--set", "run.spread=none", "--set", "net.wire0.rate=8 Gb/s")
PREAMBLE, FCS = 8, 4


def frames(path):
    """(nanoseconds, bytes) of each frame of a capture."""
    with open(path, "rb") as file:
        data = file.read()
    assert struct.unpack_from("<I", data)[0] == 0xA1B23C4D
    at = 24
    while at < len(data):
        seconds, ns, captured, length = struct.unpack_from("<4I", data, at)
        assert captured == length
        yield seconds * 10**9 + ns, data[at + 16:at + 16 + length]
        at += 16 + length


def is_call(frame):
    return frame[12:14] == b"\x08\x00" and frame[46:50] == b"\0\0\0\0"


def is_reply(frame):
    return frame[12:14] == b"\x08\x00" and frame[46:50] == b"\0\0\0\1"


class Residence(BoardTest):
    def stamps(self, *arguments):
        """The firmware's counters; and for each call by the wire's capture, when its first bit behind the SFD arrived
        and when that of its reply left. A received frame is captured at its last bit, a sent one at its preamble."""
        out = self.directory()
        result = json.loads(board_runs.run(*arguments, *SLOW, "--set", "cluster.host.firmware=rpc-residence", "--trace",
                                           "pcap", "--out", out))
        arrivals, residences = {}, []
        for at, frame in frames(os.path.join(out, "net.wire0.pcap")):
            xid = frame[42:46]
            if is_call(frame):
                arrivals[xid] = at - len(frame) - FCS
            elif is_reply(frame):
                residences.append((arrivals[xid], at + PREAMBLE))
        return result["firmware"][0]["counters"], residences

    def test_of_lone_calls(self):
        """The firmware answers ARP first, then calls. The run ends before it reads the stamp of the last reply."""
        for board in ("e810-poll", "e810-irq"):
            counted, wire = self.stamps(board, "--requests", "200", "--set", "workload.outstanding=1")
            measured = counted["residence_frames"] - counted["arp"]
            self.assertGreater(measured, 190)
            self.assertEqual((counted["last_arrival_ns"], counted["last_departure_ns"]), wire[measured - 1])
            rest = counted["residence_ns"] - sum(departure - arrival for arrival, departure in wire[:measured])
            self.assertGreater(rest, counted["arp"] * 1000)
            self.assertLess(rest, counted["arp"] * 20_000)

    def test_of_bursts(self):
        """A server that always has a frame to serve seldom reads stamps, and asks for no more than it has entries."""
        counted, wire = self.stamps("e810-poll", "--requests", "2000", "--set", "workload.outstanding=12")
        self.assertIn((counted["last_arrival_ns"], counted["last_departure_ns"]), wire)
        self.assert_plausible(counted, wire)

    def test_of_several_queues(self):
        self.assert_plausible(*self.stamps("e810-irq", "--requests", "1000", *board_runs.FOUR_HARTS))

    def assert_plausible(self, counted, wire):
        self.assertGreater(counted["residence_frames"], len(wire) / 2)
        shortest, longest = (f(departure - arrival for arrival, departure in wire) for f in (min, max))
        self.assertTrue(shortest <= counted["residence_ns"] / counted["residence_frames"] <= longest)


class Peer(BoardTest):
    FRAME, ROUNDS = 100, 16

    def round_trip(self, *settings):
        path = os.path.join(self.directory(), "peer.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write('extends = ["e810-poll"]\n[cluster.host]\nfirmware = "peer-ping"\n[peer.far]\n')
        options = [word for setting in settings for word in ("--set", setting)]
        result = json.loads(board_runs.run(path, "--until", "1s", *SLOW, *options))
        counters = result["firmware"][0]["counters"]
        self.assertEqual(counters["round_trips"], self.ROUNDS)
        self.assertEqual(counters["round_trip_ns"] % self.ROUNDS, 0)
        return counters["round_trip_ns"] // self.ROUNDS

    def test_a_peer_answers_after_its_delay(self):
        for delay, flight in ((1000, 10), (1100, 10), (0, 10), (3000, 110)):
            self.assertEqual(self.round_trip(f"peer.far.delay={delay} ns", f"net.wire0.flight={flight} ns"),
                             self.FRAME + FCS + flight + delay + PREAMBLE + flight)


if __name__ == "__main__":
    unittest.main()
