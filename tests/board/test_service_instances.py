# SPDX-License-Identifier: Apache-2.0
"""Several instances of an RPC program, each at a UDP port of its own and with a state of its own, on each kind of
server. test_service_instances.py SLUICE"""

import struct
import unittest

from board_runs import BoardTest, options, result
from lauberhorn_calls import SUCCESS, Replay, call

BOARDS = ("enzian-lauberhorn", "enzian-dma", "e810-irq", "enzian-eci-rpc", "enzian-bypass", "enzian-kernel")
FEW = ("--requests", "100", "--warmup", "10")
KV, GET, PUT = 0x20000003, 1, 2
KV_OK, KV_NOT_FOUND = 0, 1
ECHO, CALC = 0x20000002, 0x20000001
PROG_UNAVAIL = 1


def opaque(data):
    return struct.pack(">I", len(data)) + data + bytes(-len(data) % 4)


class Instances(BoardTest):
    def test_each_instance_is_at_its_port(self):
        for board in BOARDS:
            for instance in (0, 1, 7):
                with self.subTest(board=board, instance=instance):
                    r = result(board, *FEW, *options("cluster.host.services=echo*8", f"workload.server_port={20049 + instance}"))
                    self.assertEqual((r["requests"]["completed"], r["requests"]["errors"]), (100, 0))

    def test_behind_the_last_instance_is_nothing(self):
        for board in BOARDS:
            with self.subTest(board=board):
                r = result(board, "--requests", "3", "--warmup", "0",
                           *options("cluster.host.services=echo*8", "workload.server_port=20057", "workload.timeout=100us"), status=1)
                self.assertEqual((r["requests"]["completed"], r["requests"]["lost"]), (0, 3))

    def test_a_program_that_is_not_named_is_not_served(self):
        for board in BOARDS:
            with self.subTest(board=board):
                r = result(board, *FEW, *options("cluster.host.services=echo*2", "workload.call.program=add"), status=1)
                self.assertEqual(r["requests"]["errors"], 100)

    def test_a_process_serves_each_instance(self):
        """All calls but the first of an instance go to the lines of its process."""
        few, more = (result("enzian-lauberhorn", *FEW, *options(f"cluster.host.services=[calc, echo*{n}]"))["counters"]["nic.eth0"]
                     for n in (1, 4))
        self.assertEqual(few["calls"], more["calls"])
        self.assertEqual(few["tryagain"], more["tryagain"])

    def test_what_the_board_may_say(self):
        for services, why in (
                ("echo*65", "has echo*65, and must have the names of RPC programs, each alone or as NAME*1 to NAME*64"),
                ("echo*0", "has echo*0, and must have the names of RPC programs, each alone or as NAME*1 to NAME*64"),
                ("echo*2x", "has echo*2x, and must have the names of RPC programs, each alone or as NAME*1 to NAME*64"),
                ("*2", "has *2, and must have the names of RPC programs, each alone or as NAME*1 to NAME*64"),
                ("[echo, echo*2]", "has echo twice"),
                ("fax", "names fax, and the firmware rpc-server has no such program")):
            with self.subTest(services=services):
                self.assertEqual(self.mistake("e810-poll", f"cluster.host.services={services}"),
                                 f"sluice: --set cluster.host.services={services}: {why}")
        self.assertEqual(self.mistake("e810-echo", "cluster.host.services=echo"),
                         "sluice: --set cluster.host.services=echo: has no effect on e810-echo: the firmware frame-echo does not "
                         "read /chosen's sluice,services")


class States(Replay):
    @staticmethod
    def frame_of(xid, program, procedure):
        """program: (number, instance)."""
        number, instance = program
        key = opaque(b"colour")
        arguments = {PUT: key + opaque(b"red"), GET: key}.get(procedure, b"")
        return call(xid, number, procedure, arguments, port=20049 + instance)

    def test_a_value_is_in_the_instance_that_it_was_put_into(self):
        calls = [(10_000, (KV, 1), PUT), (10_200, (KV, 1), GET), (10_400, (KV, 0), GET), (10_600, (KV, 2), GET)]
        found = struct.pack(">I", KV_OK) + opaque(b"red")
        none = struct.pack(">I", KV_NOT_FOUND)
        for self.board, firmware in (("enzian-lauberhorn", "lauberhorn-server"), ("enzian-bypass", "process-server"),
                                     ("enzian-kernel", "process-server")):
            _, replies = self.replay(calls, *options("cluster.host.services=kv*3"), firmware=firmware)
            self.assertEqual(replies, {0: (SUCCESS, struct.pack(">I", KV_OK)), 1: (SUCCESS, found), 2: (SUCCESS, none),
                                       3: (SUCCESS, none)})

    def test_programs_have_different_numbers_of_instances(self):
        calls = [(10_000, (ECHO, 2), 0), (10_200, (CALC, 0), 0), (10_400, (CALC, 1), 0)]
        _, replies = self.replay(calls, *options("cluster.host.services=[echo*3, calc]"), firmware="lauberhorn-server")
        self.assertEqual(replies, {0: (SUCCESS, b""), 1: (SUCCESS, b""), 2: (PROG_UNAVAIL, b"")})


if __name__ == "__main__":
    unittest.main()
