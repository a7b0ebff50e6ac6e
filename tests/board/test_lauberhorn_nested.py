# SPDX-License-Identifier: Apache-2.0
"""Handlers of Lauberhorn's processes that call services: chains, many at a time, and what becomes of results whose caller
is gone. test_lauberhorn_nested.py SLUICE"""

import struct
import unittest

from board_runs import options
from lauberhorn_calls import SUCCESS, SYSTEM_ERR, Replay, call

CHAIN = 0x20000006
NULL, DESCEND, RELAY, WIDE, ORPHAN, FORGET = range(6)


def opaque(data):
    return struct.pack(">I", len(data)) + data + bytes(-len(data) % 4)


class Nested(Replay):
    firmware = "lauberhorn-chain"

    @staticmethod
    def frame_of(xid, procedure, argument):
        if procedure == RELAY:
            return call(xid, CHAIN, procedure, opaque(bytes(n * 3 & 255 for n in range(argument))))
        return call(xid, CHAIN, procedure, struct.pack(">I", argument) if procedure in (DESCEND, WIDE) else b"")

    def test_a_chain_comes_back_from_any_depth(self):
        for harts in (1, 4):
            with self.subTest(harts=harts):
                calls = [(10_000 + 200 * n, DESCEND, depth) for n, depth in enumerate((0, 1, 4, 4, 20))]
                r, replies = self.replay(calls, *options(f"cluster.host.harts={harts}"))
                self.assertEqual([replies[n] for n in range(5)],
                                 [(SUCCESS, struct.pack(">I", depth)) for _, _, depth in calls])
                nic = r["counters"]["nic.eth0"]
                self.assertEqual((nic["nested_calls"], nic["late_results"], nic["replies"]), (29, 0, 5))

    def test_another_process_answers_with_data_of_any_length(self):
        sizes = (0, 1, 92, 93, 200, 1400)
        _, replies = self.replay([(10_000 + 200 * n, RELAY, size) for n, size in enumerate(sizes)])
        for n, size in enumerate(sizes):
            with self.subTest(size=size):
                self.assertEqual(replies[n], (SUCCESS, opaque(bytes(n * 3 & 255 for n in range(size)))))

    def test_many_calls_at_a_time_of_many_requests(self):
        calls = [(10_000 + 2 * n, WIDE, 1 + n % 16) for n in range(20)]
        r, replies = self.replay(calls, *options("nic.eth0.queue=1024", "nic.eth0.sessions=1024"))
        self.assertEqual([replies[n] for n in range(20)], [(SUCCESS, struct.pack(">I", n)) for _, _, n in calls])
        self.assertEqual(r["counters"]["nic.eth0"]["late_results"], 0)

    def test_a_full_table_refuses_calls_and_is_empty_again(self):
        calls = [(10_000, WIDE, 9), (10_500, WIDE, 8), (11_000, DESCEND, 8), (11_500, DESCEND, 9)]
        r, replies = self.replay(calls, *options("nic.eth0.continuations=8"))
        self.assertEqual([replies[n][0] for n in range(4)], [SYSTEM_ERR, SUCCESS, SUCCESS, SYSTEM_ERR])
        self.assertEqual(r["counters"]["nic.eth0"]["nested_refused"], 2)

    def test_a_result_whose_caller_is_gone_goes_nowhere(self):
        """The process begins again, and serves what comes then. It takes what other handlers of it have kept with it."""
        for harts in (1, 4):
            with self.subTest(harts=harts):
                calls = [(10_000, DESCEND, 2), (11_000, ORPHAN, 0), (12_000, DESCEND, 3), (13_000, DESCEND, 300), (13_001, ORPHAN, 0),
                         (14_000, DESCEND, 1)]
                r, replies = self.replay(calls, *options(f"cluster.host.harts={harts}"))
                self.assertEqual([replies[n] for n in range(6)],
                                 [(SUCCESS, struct.pack(">I", 2)), (SYSTEM_ERR, b""), (SUCCESS, struct.pack(">I", 3)),
                                  (SYSTEM_ERR, b""), (SYSTEM_ERR, b""), (SUCCESS, struct.pack(">I", 1))])
                self.assertGreaterEqual(r["counters"]["nic.eth0"]["lost"], 3)
                self.assertEqual(r["counters"]["nic.eth0"]["message_errors"], 0)

    def test_an_answer_that_will_never_come_is_an_error_at_once(self):
        """Whether the call comes by a process's line or by the kernel's."""
        for first in ([(10_000, NULL, 0)], []):
            calls = [*first, (10_500, FORGET, 0), (11_000, NULL, 0)]
            _, replies = self.replay(calls)
            self.assertEqual([replies[n][0] for n in range(len(calls))], [SUCCESS] * len(first) + [SYSTEM_ERR, SUCCESS])

    def test_a_full_session_table_leaves_handlers_their_calls(self):
        calls = [(10_000, NULL, 0)] + [(10_500, RELAY, 8) for _ in range(4)]
        r, replies = self.replay(calls, *options("nic.eth0.sessions=4"))
        self.assertEqual({status for status, _ in replies.values()}, {SUCCESS})
        self.assertEqual(len(replies), 5)

    def test_a_result_for_the_process_before_is_none_for_the_next(self):
        """The result is in another core's kernel line when its process ends."""
        for delay in range(0, 6000, 200):
            with self.subTest(delay=delay):
                calls = [(10_000, NULL, 0), (11_000, RELAY, 8), (15_000, RELAY, 8), (15_000 + delay / 1000, ORPHAN, 0), (16_000, NULL, 0)]
                console = self.console(calls, *options("cluster.host.harts=3", "nic.eth0.queue=1"))
                self.assertIn("Lauberhorn, 2 processes", console)
                self.assertNotIn("ended", console, "no process has faulted")

    def test_the_decoder_and_the_encoder_in_rtl_change_nothing(self):
        calls = [(10_000, DESCEND, 3), (10_050, RELAY, 700), (10_060, WIDE, 5), (10_300, DESCEND, 1)]
        model, rtl = (self.replay(calls, *options(f"nic.eth0.decoder={decoder}"), until="12 ms") for decoder in ("tlm", "rtl"))
        self.assertEqual(model[1], rtl[1])
        self.assertEqual(model[0]["counters"], rtl[0]["counters"])

    def test_a_run_is_the_same_again(self):
        calls = [(10_000 + 3 * n, (DESCEND, RELAY, WIDE)[n % 3], 1 + n % 7) for n in range(60)]
        first, second = (self.replay(calls, *more, until="12 ms")[0]["counters"] for more in ((), ("--quantum", "7 ns")))
        self.assertEqual(first["nic.eth0"]["nested_calls"], second["nic.eth0"]["nested_calls"])


if __name__ == "__main__":
    unittest.main()
