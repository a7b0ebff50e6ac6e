# SPDX-License-Identifier: Apache-2.0
"""What becomes of calls, and of other processes, where a process of Lauberhorn's kernel crashes, loops, leaves or answers
what it should not. test_lauberhorn_faults.py SLUICE"""

import itertools
import random
import struct
import unittest

from board_runs import options
from lauberhorn_calls import SUCCESS, SYSTEM_ERR, Replay, call

MISCHIEF, ECHO = 0x20000005, 0x20000002
NULL, COUNT, CRASH, DEEP, LOOP, LONG, SNOOP, EXIT, PRINT, STAY, HANG, LINE = range(12)
PORTMAPPER, CALLIT = 100000, 5
CALC, SPIN = 0x20000001, 4


def frame_of(xid, program, procedure):
    if procedure == CALLIT and program == PORTMAPPER:
        count = struct.pack(">4I", MISCHIEF, 1, COUNT, 0)
        return call(xid, PORTMAPPER, CALLIT, count, version=2, port=111)
    arguments = {(ECHO, 1): b"\0\0\0\0", (CALC, SPIN): struct.pack(">I", 3_000_000)}
    return call(xid, program, procedure, arguments.get((program, procedure), b""))


class Faults(Replay):
    firmware = "lauberhorn-mischief"
    frame_of = staticmethod(frame_of)

    def test_a_fault_loses_its_own_call_only_and_the_next_call_begins_the_process_again(self):
        for bad in (CRASH, DEEP, SNOOP, EXIT):
            with self.subTest(procedure=bad):
                calls = [(10_000, MISCHIEF, COUNT), (10_100, MISCHIEF, COUNT), (10_200, MISCHIEF, bad), (10_201, ECHO, 1),
                         (10_202, MISCHIEF, COUNT), (10_400, MISCHIEF, COUNT), (10_500, ECHO, 1)]
                r, replies = self.replay(calls)
                self.assertEqual(len(replies), len(calls))
                self.assertEqual(replies[2], (SYSTEM_ERR, b""))
                self.assertEqual([replies[n][0] for n in range(len(calls)) if n != 2], [SUCCESS] * (len(calls) - 1))
                counts = [struct.unpack(">I", replies[n][1])[0] for n in (0, 1, 4, 5)]
                self.assertEqual(counts, [1, 2, 1, 2], "the new process has its own memory")
                self.assertEqual(r["counters"]["nic.eth0"]["replies"], len(calls))

    def test_a_lost_call_is_dropped_where_the_board_says_so(self):
        calls = [(10_000, MISCHIEF, NULL), (10_100, MISCHIEF, CRASH), (10_200, MISCHIEF, NULL)]
        r, replies = self.replay(calls, *options("nic.eth0.lost=drop"))
        self.assertEqual(sorted(replies), [0, 2])
        self.assertEqual(r["counters"]["nic.eth0"]["lost"], 1)

    def test_a_result_that_is_no_result_is_an_error(self):
        _, replies = self.replay([(10_000, MISCHIEF, NULL), (10_100, MISCHIEF, LONG), (10_200, MISCHIEF, COUNT)])
        self.assertEqual(replies[0], (SUCCESS, b""))
        self.assertEqual(replies[1], (SUCCESS, struct.pack(">I", 0)))  # what is behind the schema is thrown away
        self.assertEqual(replies[2], (SUCCESS, struct.pack(">I", 1)))

    def test_a_loop_is_preempted_for_others_and_goes_on(self):
        """On one core: each call of another process interrupts the loop after the time for which a handler may go on."""
        calls = [(10_000, MISCHIEF, LOOP)] + [(10_500 + 1000 * n, ECHO, 1) for n in range(5)]
        r, replies = self.replay(calls, *options("cluster.host.harts=1"))
        self.assertEqual(sorted(replies), [1, 2, 3, 4, 5])
        self.assertTrue(all(replies[n][0] == SUCCESS for n in replies))
        nic = r["counters"]["nic.eth0"]
        self.assertEqual(nic["interrupts"], 5)

    def test_a_process_that_does_not_go_when_it_is_told_to_is_interrupted(self):
        calls = [(10_000, MISCHIEF, NULL), (10_100, MISCHIEF, STAY)] + [(10_500 + 1000 * n, ECHO, 1) for n in range(5)]
        r, replies = self.replay(calls, *options("cluster.host.harts=1"))
        self.assertEqual(sorted(replies), [0, 2, 3, 4, 5, 6])
        self.assertTrue(all(status == SUCCESS for status, _ in replies.values()))
        self.assertGreaterEqual(r["counters"]["nic.eth0"]["interrupts"], 5)

    def test_a_loop_leaves_the_other_cores_to_others(self):
        calls = [(10_000, MISCHIEF, LOOP)] + [(10_500 + 100 * n, ECHO, 1) for n in range(20)]
        r, replies = self.replay(calls)
        self.assertEqual(sorted(replies), list(range(1, 21)))
        self.assertEqual(r["counters"]["nic.eth0"]["interrupts"], 0)

    def test_two_loops_take_turns_and_leave_the_core_to_others(self):
        """The second call of the looping process is served when the first one has been set aside."""
        for second, served in ((LOOP, []), (COUNT, [1])):
            with self.subTest(second=second):
                calls = [(10_000, MISCHIEF, LOOP), (10_100, MISCHIEF, second)]
                calls += [(10_500 + 1000 * n, ECHO, 1) for n in range(5)]
                _, replies = self.replay(calls, *options("cluster.host.harts=1"))
                self.assertEqual(sorted(replies), served + [2, 3, 4, 5, 6])
                self.assertTrue(all(status == SUCCESS for status, _ in replies.values()))

    def test_any_number_of_loops_leaves_the_core_to_others(self):
        """A call that finds all threads of its process in the middle of a handler gets an error."""
        for workers, refused in ((16, []), (4, [4, 5, 6, 7, 8, 9, 10, 11])):
            with self.subTest(workers=workers):
                calls = [(10_000 + 100 * n, MISCHIEF, LOOP) for n in range(12)] + [(18_000 + 1000 * n, ECHO, 1) for n in range(5)]
                _, replies = self.replay(calls, *options("cluster.host.harts=1", f"nic.eth0.workers={workers}", "nic.eth0.processes=4"), until="30 ms")
                self.assertEqual(sorted(xid for xid in replies if replies[xid] == (SYSTEM_ERR, b"")), refused)
                self.assertEqual([xid for xid in replies if replies[xid][0] == SUCCESS], [12, 13, 14, 15, 16])

    def test_handlers_that_were_set_aside_go_on_when_the_core_has_nothing_else_to_do(self):
        """Two of 3 ms, each preempted for an echo. The core that has finished the first waits at its line, and looks for the
        other when TRYAGAIN comes."""
        calls = [(10_000, CALC, NULL), (10_100, CALC, SPIN), (10_200, ECHO, 1), (10_250, CALC, SPIN), (10_900, ECHO, 1)]
        calls += [(40_000, ECHO, 1)]
        _, replies = self.replay(calls, *options("cluster.host.harts=1", "workload.timeout=100ms"), until="20 ms",
                                 firmware="lauberhorn-server")
        self.assertEqual(list(replies), [0, 2, 4, 1, 3])

    def test_processes_that_crash_again_and_again_lose_no_other_call(self):
        draw = random.Random(7)
        for harts, workers, queue in itertools.product((1, 2, 4), (1, 4), (2, 64)):
            with self.subTest(harts=harts, workers=workers, queue=queue):
                what = ((MISCHIEF, COUNT), (MISCHIEF, CRASH), (ECHO, 1), (ECHO, 1))
                times = itertools.accumulate(draw.choice((1, 3, 20, 200)) for _ in range(100))
                calls = [(10_000 + at, *draw.choice(what)) for at in times] + [(30_000, MISCHIEF, COUNT), (30_100, ECHO, 1)]
                r, replies = self.replay(calls, *options(f"cluster.host.harts={harts}", f"nic.eth0.workers={workers}",
                                                         f"nic.eth0.queue={queue}"), until="40 ms")
                self.assertEqual(len(replies), len(calls) - r["counters"]["nic.eth0"]["dropped_queue"])
                echoes = {replies[n][0] for n, (_, program, _) in enumerate(calls) if program == ECHO and n in replies}
                self.assertEqual(echoes, {SUCCESS})
                self.assertEqual((replies[100][0], replies[101][0]), (SUCCESS, SUCCESS))

    def test_an_indirect_call_of_a_service_is_not_served_in_the_kernel(self):
        calls = [(10_000, MISCHIEF, COUNT), (10_100, PORTMAPPER, CALLIT), (10_200, MISCHIEF, COUNT)]
        _, replies = self.replay(calls)
        self.assertEqual({xid: struct.unpack(">I", results)[0] for xid, (_, results) in replies.items()}, {0: 1, 2: 2})

    def test_the_kernel_does_not_print_what_is_no_memory(self):
        r, replies = self.replay([(10_000, MISCHIEF, NULL), (10_100, MISCHIEF, PRINT), (10_200, MISCHIEF, COUNT)])
        self.assertEqual(replies[1], (SUCCESS, b"\xff\xff\xff\xff"))
        self.assertEqual(replies[2], (SUCCESS, struct.pack(">I", 1)))
        self.assertEqual(r["counters"]["nic.eth0"]["calls"], 3)

    def test_a_process_begins_again_when_its_threads_on_other_cores_are_back(self):
        """One of them never comes back by itself. What waits while the process ends goes to the new one; each core had at most
        one call in hand."""
        for queue, gap in ((2, 20), (8, 1), (8, 3), (64, 1)):
            with self.subTest(queue=queue, gap=gap):
                calls = [(10_000, MISCHIEF, LOOP), (10_050, MISCHIEF, COUNT), (10_100, MISCHIEF, CRASH)]
                calls += [(10_101 + gap * n, MISCHIEF, COUNT) for n in range(60)] + [(15_000, MISCHIEF, COUNT)]
                r, replies = self.replay(calls, *options(f"nic.eth0.queue={queue}"))
                self.assertEqual(len(replies), 64 - r["counters"]["nic.eth0"]["dropped_queue"])
                lost = {xid for xid in replies if replies[xid] == (SYSTEM_ERR, b"")}
                self.assertLessEqual({0, 2}, lost)
                self.assertLessEqual(len(lost), 4)
                counts = [struct.unpack(">I", replies[n][1])[0] for n in sorted(replies) if n not in lost]
                self.assertLess(counts[-1], len(counts) - 1, "a new process counts from 1")
                self.assertEqual(counts.count(1), 2)

    def test_a_stalled_run_names_the_process_that_loops(self):
        calls = [(10_000, MISCHIEF, NULL), (10_100, MISCHIEF, LOOP)]
        r, _ = self.replay(calls, *options("cluster.host.harts=1", "run.stall_limit=20 ms", "workload.timeout=1 s"), until="80 ms")
        self.assertEqual(r["outcome"], "stalled")
        self.assertRegex(r["diagnosis"], r"(?m)^cluster\.host\.hart0: pc 0x3fc001[0-9a-f]{4} loop(\+0x[0-9a-f]+)? in process "
                                         r"service-mischief \(2\), \d+ instructions, \d+\.?\d* ns$")

    def test_an_endless_loop_is_its_process(self):
        """Without interrupts, nothing can end it."""
        calls = [(10_000, MISCHIEF, NULL), (10_100, MISCHIEF, HANG)]
        r, _ = self.replay(calls, *options("cluster.host.harts=1", "cluster.host.interrupts=plic", "workload.timeout=1 s"))
        self.assertEqual(r["outcome"], "stalled")
        self.assertRegex(r["failure"], r"^cluster\.host\.hart0 is in a loop without an end, with interrupts off, at pc "
                                       r"0x3fc001[0-9a-f]{4} hang in process service-mischief \(2\)$")

    def test_a_mistake_is_its_process(self):
        calls = [(10_000, MISCHIEF, NULL), (10_100, MISCHIEF, LINE), (10_200, MISCHIEF, LINE)]
        what = "nic.eth0: line 0x102f00 is neither a control line nor an overflow line"  # of end-point 8
        one = options("cluster.host.harts=1")
        r, replies = self.replay(calls, *one)
        self.assertEqual(replies, {0: (SUCCESS, b""), 1: (SYSTEM_ERR, b""), 2: (SYSTEM_ERR, b"")})
        mistake, = r["mistakes"]["list"]
        self.assertEqual({key: mistake[key] for key in mistake if key not in ("at_ns", "pc", "symbol")},
                         {"what": what, "hart": "cluster.host.hart0", "process": "service-mischief", "asid": 2, "times": 2})
        self.assertRegex(mistake["symbol"], r"^take_line\+0x[0-9a-f]+$")


if __name__ == "__main__":
    unittest.main()
