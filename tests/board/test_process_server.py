# SPDX-License-Identifier: Apache-2.0
"""Processes behind a descriptor NIC: each polls a queue of its own (kernel bypass), or the kernel delivers to its socket.
test_process_server.py SLUICE DISTURBED_RUN"""

import json
import unittest

import board_runs
from board_runs import BoardTest, finish, options, overrides, result, run, start
from lauberhorn_calls import SUCCESS, SYSTEM_ERR, Replay, call

BYPASS, KERNEL = "enzian-bypass", "enzian-kernel"
EXACT = options("run.spread=none")
FEW = ("--requests", "200", "--warmup", "20")
IDLE = ("--workload", "idle")
FOUR = options("cluster.host.services=echo*4", "workload.services=4", "workload.popularity=uniform")
OPEN = options("workload.kind=open-loop", "workload.arrivals=poisson")
MISCHIEF = 0x20000005
NULL, COUNT, CRASH, DEEP, LOOP, LONG, SNOOP, EXIT = range(8)


def counters(r):
    return r["firmware"][0]["counters"]


class Delivery(BoardTest):
    def test_each_call_is_handed_to_its_process_once(self):
        for board in (BYPASS, KERNEL):
            with self.subTest(board=board):
                r = result(board, *FEW, *EXACT, *FOUR)
                self.assertEqual((r["requests"]["completed"], r["requests"]["errors"]), (200, 0))
                self.assertEqual(r["ledger"]["clamped"], 0)
                c = counters(r)
                self.assertEqual((c["calls"], c["udp"], c["no_port"], c["refused"]), (220, 220, 0, 0))
        self.assertEqual((c["delivered"], c["sent"], c["socket_full"], c["held_back"]), (220, 220, 0, 0))

    def test_who_does_which_step(self):
        """By whom: each process finds its calls on its queue, or the kernel finds the process."""
        owners = {}
        for board in (BYPASS, KERNEL):
            r = result(board, *FEW, *EXACT)
            self.assertEqual(r["steps"]["not_known"], [])
            owners[board] = {step: cost["who"] for cost in r["steps"]["costs"] for step in cost["steps"]}, r["steps"]["nobody"]
        steps, nobody = owners[BYPASS]
        # A timer's interrupt may delay a call, and then the host has done that step.
        self.assertEqual([step for step in nobody if step != "interrupt a core"],
                         ["identify the process", "find a core", "schedule", "context switch"])
        self.assertNotIn("kernel", steps.values())
        steps, nobody = owners[KERNEL]
        self.assertEqual(nobody, [])
        for step in ("identify the process", "find a core", "schedule", "context switch"):
            self.assertEqual(steps[step], "kernel", step)
        for step in ("unmarshal", "find the function", "jump"):
            self.assertEqual(steps[step], "application", step)

    def test_a_full_socket_drops_calls_and_counts_each(self):
        """One process that is busy for 100 us with a call."""
        r = result(KERNEL, "--requests", "3000", "--warmup", "0", *EXACT, *OPEN, status=None,
                   *options("cluster.host.services=calc", "workload.call.program=spin", "workload.call.service=100us", "workload.rate=200000",
                            "workload.timeout=1s"))
        c = counters(r)
        full = c["socket_full"] + c["held_back"]
        self.assertGreater(full, 1000)
        self.assertEqual(r["requests"]["dropped"], {"socket full": full})
        self.assertEqual(r["requests"]["completed"] + full, 3000)
        self.assertEqual(c["delivered"], c["sent"])

    def test_without_calls_the_kernel_sleeps(self):
        r = result(KERNEL, *IDLE, *EXACT, *options("workload.length=10ms"))
        for core in r["cores"]:
            self.assertEqual((core["time"]["idle"], core["busy_instructions"]), (1, 0))

    def test_nothing_that_must_not_matter_does(self):
        for board in (BYPASS, KERNEL):
            with self.subTest(board=board):
                arguments = (board, "--requests", "100", "--warmup", "10", *FOUR)
                first = run(*arguments)
                self.assert_same(first, run(*arguments))
                plain = json.loads(first)
                more = board_runs.load(board_runs.run_program("--entries", str(int(plain["simulated_ns"])), board,
                                                              *overrides(arguments[1:])))
                self.assertEqual(more.pop("disturbance")["entries"], 100)
                self.assert_same(first, json.dumps(more))


class TimeSlices(BoardTest):
    """One hart, and processes that poll."""

    def idle(self, *more):
        return counters(result(BYPASS, *IDLE, *EXACT, *options("cluster.host.harts=1", *more)))

    def test_turns_are_as_long_as_the_board_says(self):
        for slice_us in (100, 500):
            with self.subTest(slice=slice_us):
                short, long = (self.idle("cluster.host.services=echo*3", f"cluster.host.time_slice={slice_us}us",
                                         f"workload.length={length}ms") for length in (10, 30))
                self.assertEqual(short["yields"] + long["yields"], 0)
                # A turn is some microseconds longer than its slice: the timer's trap, and the kernel's look at its queue.
                turns = long["turns"] - short["turns"]
                self.assertGreater(turns, 20_000 / (slice_us + 10))
                self.assertLessEqual(turns, 20_000 / slice_us)

    def test_a_call_waits_for_its_process_to_have_its_turn(self):
        """With three processes, for up to two slices; alone, for none."""
        longest = {}
        for services in (1, 3):
            r = result(BYPASS, "--requests", "300", "--warmup", "10", *EXACT, *OPEN,
                       *options("cluster.host.harts=1", f"cluster.host.services=echo*{services}", "workload.rate=20000",
                                "cluster.host.time_slice=200us"))
            self.assertEqual(r["requests"]["completed"], 300)
            longest[services] = r["latency_ns"]["max"]
        self.assertLess(longest[1], 10_000)
        self.assertGreater(longest[3], 350_000)
        self.assertLess(longest[3], 450_000)

    def test_a_process_that_finds_nothing_gives_its_turn_up_where_the_board_says_so(self):
        r = result(BYPASS, *FEW, *EXACT, *options("cluster.host.harts=1", "cluster.host.services=echo*3", "cluster.host.idle_polls=1"))
        self.assertLess(r["latency_ns"]["max"], 10_000)
        self.assertGreater(counters(r)["yields"], 1000)

    def test_batch_threads_have_a_share_of_turns(self):
        """One process and one batch thread: half of the time each."""
        r = result(BYPASS, *IDLE, *EXACT, *options("cluster.host.harts=1", "cluster.host.batch_threads=1", "workload.length=40ms"))
        time = r["cores"][0]["time"]
        self.assertAlmostEqual(time["batch"], 0.5, delta=0.03)
        self.assertAlmostEqual(time["polling"], 0.5, delta=0.03)

    def test_behind_the_kernel_batch_threads_have_what_calls_do_not_need(self):
        r = result(KERNEL, *IDLE, *EXACT, *options("cluster.host.batch_threads=4", "workload.length=10ms"))
        self.assertEqual([core["time"]["batch"] for core in r["cores"]], [1] * 4)
        r = result(KERNEL, *FEW, *EXACT, *options("cluster.host.batch_threads=4"))
        self.assertEqual([core["time"].get("idle", 0) for core in r["cores"]], [0] * 4)
        self.assertLess(r["latency_ns"]["max"], 10_000, "a call does not wait for batch work")


class Mischief(Replay):
    """Calls of instances of a program that misbehaves."""
    firmware = "process-mischief"
    source = 700  # UDP port

    def frame_of(self, xid, program, procedure):
        """program: the instance."""
        return call(xid, MISCHIEF, procedure, port=20049 + program, source=self.source)


class Faults(Mischief):
    def test_a_process_that_ends_takes_its_own_calls_with_it_only(self):
        for self.board, bad in ((board, bad) for board in (BYPASS, KERNEL) for bad in (CRASH, DEEP, SNOOP, EXIT)):
            with self.subTest(board=self.board, procedure=bad):
                calls = [(20_000, 0, COUNT), (20_100, 1, COUNT), (20_200, 0, bad), (20_400, 0, COUNT), (20_500, 1, COUNT)]
                r, replies = self.replay(calls, *options("cluster.host.services=mischief*2"), until="40 ms")
                lost = {3: SYSTEM_ERR} if self.board == KERNEL else {}  # the kernel answers for a process that is no more
                self.assertEqual({xid: status for xid, (status, _) in replies.items()},
                                 {0: SUCCESS, 1: SUCCESS, 4: SUCCESS, **lost})
                self.assertEqual(replies[4][1], b"\0\0\0\2")
                self.assertEqual(counters(r)["ended"], 1)

    def test_a_loop_leaves_the_hart_to_others_after_its_slice(self):
        for self.board in (BYPASS, KERNEL):
            with self.subTest(board=self.board):
                calls = [(20_000, 0, LOOP), (21_000, 1, COUNT), (25_000, 1, COUNT)]
                _, replies = self.replay(calls, *options("cluster.host.services=mischief*2", "cluster.host.harts=1"), until="40 ms")
                self.assertEqual(sorted(replies), [1, 2])


class Backlog(Mischief):
    board = KERNEL

    def test_frames_behind_a_burst_are_taken_while_a_thread_computes(self):
        """More than the kernel takes before threads have their turn, on a hart that has nothing else ready: of the process's
        two threads one loops, and the other serves on the other hart."""
        calls = [(20_000, 0, LOOP), *((25_000, 0, COUNT) for n in range(200)), *((30_000 + n, 0, COUNT) for n in range(20))]
        for self.source in (700, 701, 702, 703):  # the NIC's hash brings some to the hart that computes
            with self.subTest(source=self.source):
                r, replies = self.replay(calls, *options("cluster.host.services=mischief", "cluster.host.harts=2", "nic.eth0.queues=2"),
                                         until="50 ms")
                self.assertEqual(sorted(replies), list(range(1, len(calls))))
                c = counters(r)
                self.assertEqual((c["socket_full"], c["held_back"], c["bad_calls"]), (0, 0, 0))

    def test_processes_that_take_nothing_do_not_starve_another(self):
        """Five that loop, each with more calls than its socket holds."""
        hogs = [(20_000 + 10 * n, n, LOOP) for n in range(5)]
        flood = [(25_000 + n / 5, n % 5, COUNT) for n in range(2000)]
        late = [(60_000 + 10_000 * n, 5, COUNT) for n in range(5)]
        r, replies = self.replay([*hogs, *flood, *late], *options("cluster.host.services=mischief*6", "cluster.host.harts=1"),
                                 until="150 ms")
        self.assertEqual(sorted(replies), list(range(2005, 2010)))
        self.assertGreater(counters(r)["held_back"], 0)


class Mistakes(BoardTest):
    def fails(self, board, why, *values):
        process = start(board, *FEW, *options(*values), "--console")
        console = process.communicate(timeout=120)[1]
        self.assertEqual(process.returncode, 1)
        self.assertIn(why, console)

    def test_what_the_kernel_cannot_do_it_says(self):
        self.fails(BYPASS, "UDP port 20049 is one process's, and both calc and echo are to be there: sluice,services (cluster.NAME.services) may "
                   "name one program only",
                   "cluster.host.services=[calc, echo*2]")
        self.fails(BYPASS, "4 processes need 5 queues, and nic.eth0 has 4", "cluster.host.services=echo*4", "nic.eth0.queues=4")
        self.fails(KERNEL, "nic.eth0 has 1088 buffers for a queue, and must have 2144", "nic.eth0.buffers=1088")
        self.fails(KERNEL, "sluice,idle-polls is for processes that poll, and nic.eth0 interrupts", "cluster.host.idle_polls=1")

    def test_a_workload_with_a_firmware_of_its_own_runs(self):
        for board in (BYPASS, KERNEL):
            self.assertEqual(result(board, "--workload", "message-rtt", "--sizes", "64")["message_rtt"][0]["messages"], 256)

    def test_what_another_firmware_does_not_read_has_no_effect(self):
        for setting, prop in (("time_slice=2ms", "sluice,time-slice"), ("idle_polls=3", "sluice,idle-polls")):
            self.assertEqual(self.mistake("e810-poll", f"cluster.host.{setting}"),
                             f"sluice: --set cluster.host.{setting}: has no effect on e810-poll: the firmware rpc-server does not "
                             f"read /chosen's {prop}")
        self.assertIn("must be a multiple of 1 us", self.mistake("enzian-bypass", "cluster.host.time_slice=10500ns"))


if __name__ == "__main__":
    unittest.main()
