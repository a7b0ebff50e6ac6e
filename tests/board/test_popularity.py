# SPDX-License-Identifier: Apache-2.0
"""The calls to several services are the same on all boards, whatever the boards do with them: test_popularity.py SLUICE."""

import collections
import os
import struct
import unittest

from board_runs import BoardTest, options, result

CALLS, SERVICES, FIRST_PORT = 400, 32, 20049
SETTINGS = ("--requests", str(CALLS), "--warmup", "0", *options(
    "workload.kind=open-loop", "workload.rate=2000000", "workload.services=32", "workload.popularity=hot-set",
    "workload.hot=4", "workload.hot_period=25 us", "workload.timeout=200 us"))


def calls(path):
    """Of each UDP frame to a service: nanoseconds since the first, port and payload."""
    with open(path, "rb") as file:
        data = file.read()
    found, at = [], 24
    while at < len(data):
        seconds, nanoseconds, length, _ = struct.unpack_from("<IIII", data, at)
        frame = data[at + 16:at + 16 + length]
        at += 16 + length
        if frame[12:14] != b"\x08\x00" or frame[23] != 17:
            continue
        port, = struct.unpack_from(">H", frame, 36)
        if port >= FIRST_PORT and frame[26:30] == bytes((10, 0, 0, 1)):
            found.append((seconds * 10**9 + nanoseconds, port, frame[42:]))
    return [(time - found[0][0], port, payload) for time, port, payload in found]


class Popularity(BoardTest):
    def run_with(self, board, *more):
        """A run, most of whose calls are lost: the firmware serves the first service only."""
        out = self.directory()
        r = result(board, *SETTINGS, *more, "--trace", "pcap", "--out", out, status=1)
        return r, calls(os.path.join(out, "net.wire0.pcap"))

    def test_two_boards_get_the_same_calls(self):
        first, of_first = self.run_with("e810-poll")
        second, of_second = self.run_with("e810-irq")
        self.assertEqual(len(of_first), CALLS)
        # A capture has whole nanoseconds, and the first call's own time is rounded, too.
        for a, b in zip(of_first, of_second, strict=True):
            self.assertEqual(a[1:], b[1:])
            self.assertLessEqual(abs(a[0] - b[0]), 1)
        self.assertNotEqual(first["latency_ns"], second["latency_ns"])

    def test_each_service_has_what_was_sent_to_it(self):
        r, sent = self.run_with("e810-poll")
        ports = collections.Counter(port for _, port, _ in sent)
        self.assertEqual([s["service"] for s in r["services"]], list(range(SERVICES)))
        for s in r["services"]:
            self.assertEqual(s["port"], FIRST_PORT + s["service"])
            self.assertEqual(s["sent"], ports[s["port"]])
            self.assertEqual(s["sent"], s["completed"] + s["in_flight"] + s["lost"] + sum(s["dropped"].values()))
        self.assertEqual(r["services"][0]["completed"], r["requests"]["completed"])
        self.assertEqual(r["services"][0]["latency_ns"]["p99"], r["latency_ns"]["p99"])
        for key in ("sent", "lost"):
            self.assertEqual(sum(s[key] for s in r["services"]), r["requests"][key])

    def test_where_one_is_called_there_is_no_list(self):
        self.assertNotIn("services", result("e810-poll", "--requests", "50"))


if __name__ == "__main__":
    unittest.main()
