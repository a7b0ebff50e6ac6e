# SPDX-License-Identifier: Apache-2.0
"""The published loopback experiment on enzian-eci-pio and enzian-pcie-pio: what each stamp must be by the parameters of
the parts, what the workload refuses, and what it does to a run. test_loopback.py SLUICE"""

import unittest

from board_runs import BoardTest, canonical, result, run

BOARD = "enzian-eci-pio"
PCIE = "enzian-pcie-pio"
CYCLE = 4.0  # ns: the NIC's clock of 250 MHz, by which everything is stamped
BUS = 10.0
FLIGHT = 5.0
END = 114.25  # each of the link's four ends
IO = 82.25
BYTE = 8 / (12 * 10 * 7 / 8)  # ns on the link
REQUEST, LINE, REGISTER = 8 * BYTE, 136 * BYTE, 16 * BYTE
# A load of a line, and a line that comes back changed; one that comes back unchanged has no bytes.
ROUND_TRIP = 4 * END + 2 * FLIGHT + REQUEST + LINE
TAKEN_BACK = 4 * END + 2 * FLIGHT + 2 * REQUEST


def loopback(*arguments, board=BOARD):
    rows = result(board, "--set", "run.spread=none", *arguments)["loopback"]
    return {row["bytes"]: row for row in rows}


def beats(size):
    return (size + 63) // 64


def overflow(size):
    """Lines beside the control line."""
    return 0 if size <= 64 else (size - 64 + 127) // 128


class LoopbackTest(BoardTest):
    def assert_time(self, value, expected, within=CYCLE):
        """Both ends of an interval are stamped by whole cycles."""
        self.assertLess(abs(value - expected), within, f"{value} ns, not {expected} ns")


class Loopback(LoopbackTest):
    def test_a_register_takes_the_link_both_ways(self):
        row = loopback()[64]
        self.assert_time(row["register_round_trip_ns"], BUS + 4 * END + 4 * IO + 2 * FLIGHT + REQUEST + REGISTER)

    def test_stamps_inside_the_nic_follow_from_its_stages(self):
        for size, row in loopback("--sizes", "64..9600:1192").items():
            with self.subTest(size=size):
                n = beats(size)
                # The control line comes back first, and then all overflow lines behind each other.
                recalls = ROUND_TRIP
                if overflow(size):
                    recalls += ROUND_TRIP + (overflow(size) - 1) * LINE
                self.assert_time(row["after_dma_read_ns"] - row["after_tx_commit_ns"], recalls + 44 + 8 * n)
                self.assert_time(row["exit_ns"] - row["after_dma_read_ns"], 36 + 4 * n)
                self.assert_time(row["after_rx_queue_ns"], 36 + 4 * n)
                self.assert_time(row["after_dma_write_ns"] - row["after_rx_queue_ns"], 24)

    def test_a_receive_is_answered_when_the_frame_and_the_line_before_are_there(self):
        for size, row in loopback("--sizes", "64,128,256,1500,4096").items():
            with self.subTest(size=size):
                # The line of the frame before is taken back when the host asks for the other one.
                back = row["read_start_ns"] + TAKEN_BACK + overflow(size) * REQUEST
                self.assert_time(row["after_read_ns"], max(row["after_dma_write_ns"], back))

    def test_a_frame_takes_its_time_at_the_line_rate(self):
        fast, slow = (result(BOARD, "--set", "run.spread=none", *rate)
                      for rate in ((), ("--set", "net.wire0.rate=1 Gb/s")))
        # 64 B, the preamble and the FCS, at 100 Gb/s and at 1 Gb/s.
        less = slow["loopback"][0]["read_start_ns"] - fast["loopback"][0]["read_start_ns"]
        self.assert_time(less, -76 * 8 * 0.99)
        self.assertEqual(slow["without_effect"], [])
        self.assertEqual(slow["counters"]["net.wire0.a_to_b"]["looped"] + slow["counters"]["net.wire0.b_to_a"]["looped"], 50)

    def test_each_line_of_a_frame_is_a_fill(self):
        rows = loopback("--sizes", "1088..4160:1024")
        for lesser, greater in ((1088, 2112), (2112, 3136), (3136, 4160)):
            for key in ("host_read_complete_ns", "after_tx_commit_ns"):
                # Eight lines more; the core copies each with 32 loads and stores, at most one a nanosecond.
                more = rows[greater][key] - rows[lesser][key]
                self.assertGreater(more, 8 * ROUND_TRIP)
                self.assertLess(more, 8 * (ROUND_TRIP + 64))

    def test_shared_lines_are_upgraded_by_the_first_store(self):
        shared, exclusive = (loopback("--set", f"nic.eth0.grant={g}")[64] for g in ("shared", "exclusive"))
        self.assert_time(shared["tx_ns"] - exclusive["tx_ns"], TAKEN_BACK)

    def test_the_result_is_the_same_each_time_whatever_is_traced(self):
        plain = canonical(run(BOARD, "--sizes", "64,1500"))
        traced = canonical(run(BOARD, "--sizes", "64,1500", "--trace", "perfetto", "--out",
                               self.directory()))
        self.assertEqual(plain, traced)
        checked = canonical(run(BOARD, "--sizes", "64,1500", "--check"), without=("run.check",))
        self.assertIn("home_checked", checked)
        for setting in ("caches.timing=functional", "caches.protocol=mesi"):
            run(BOARD, "--set", setting, "--sizes", "64..9600:1192")

    def test_every_frame_is_a_message_of_its_own(self):
        counters = result(BOARD, "--sizes", "320")["counters"]
        link, nic = counters["coherent.eci0"], counters["nic.eth0"]
        frames = 50
        self.assertEqual((nic["tx_frames"], nic["rx_frames"]), (frames, frames))
        # Each frame takes two overflow lines: receive loads them, transmit writes them. The control lines are loaded,
        # one for each frame and direction, and one more to begin with.
        self.assertEqual(link["down_read_shared"], 2 * frames + 2 * frames + 1)
        self.assertEqual(link["down_read_unique"], 2 * frames)
        self.assertEqual(link["down_ack_with_data"], 3 * frames)  # what was sent
        self.assertEqual(link["down_ack"], 3 * (frames - 1))  # what was received; the last frame is never freed


ROOT = 344.0  # each way through the root complex
READ = 376.0  # in the NIC, before it reads for a read
ENDPOINT = 100.0  # each way
LANES = 8 * 128 / 130  # GB/s of PCIe 3.0 x8
SKIP = 1 + 20 / 1538 + 16 / 203  # what DLLPs take


def tlp(payload, header=24):
    return (header + payload) / LANES


def load(payload):
    """A load from the NIC: there, and back with the bytes."""
    return BUS + 2 * ROOT + 2 * FLIGHT + 2 * ENDPOINT + READ + tlp(0) + tlp(payload, 20)


class PcieLoopback(LoopbackTest):
    def test_a_register_takes_the_link_both_ways(self):
        row = loopback(board=PCIE)[64]
        self.assert_time(row["register_round_trip_ns"], load(8))

    def test_stamps_inside_the_nic_follow_from_its_stages(self):
        for size, row in loopback("--sizes", "64..9600:1192", board=PCIE).items():
            with self.subTest(size=size):
                n = beats(size)
                self.assert_time(row["after_dma_read_ns"] - row["after_tx_commit_ns"], 32 + 4 * n)
                self.assert_time(row["exit_ns"] - row["after_dma_read_ns"], 36 + 4 * n)
                self.assert_time(row["after_rx_queue_ns"], 36 + 4 * n)
                self.assert_time(row["after_dma_write_ns"] - row["after_rx_queue_ns"], 16)
                self.assert_time(row["after_read_ns"], max(row["after_dma_write_ns"], row["read_start_ns"]))

    def test_transmit_is_the_way_back_of_the_stamp_and_the_way_of_a_store(self):
        row = loopback(board=PCIE)[64]
        back = ENDPOINT + tlp(8, 20) + FLIGHT + ROOT
        # The frame and its commit are one write each; half of the bus is on the way of a store, too.
        there = BUS + ROOT + tlp(64) + tlp(8) + FLIGHT + ENDPOINT
        copied = row["after_tx_commit_ns"] - back - there
        self.assertGreater(copied, 8)  # 16 loads and stores at one a cycle, and what goes with them
        self.assertLess(copied, 40)

    def test_receive_takes_a_read_for_each_block_one_at_a_time(self):
        for block in (8, 16, 32, 64):
            rows = loopback("--sizes", "1088,2112", "--set", f"cluster.host.uncached.read_block={block}B", board=PCIE)
            with self.subTest(block=block):
                copy = [rows[size]["host_read_complete_ns"] - rows[size]["after_read_ns"] for size in (1088, 2112)]
                reads = 1024 // min(block, 32)  # the loads of one turn follow directly, those of the next do not
                # The core copies with a load and a store for 8 B, and 32 B a turn.
                self.assertGreater(copy[1] - copy[0], reads * load(block) - CYCLE)
                self.assertLess(copy[1] - copy[0], reads * load(block) + reads + 1024 / 8 * 4)

    def test_transmit_beyond_64_b_is_the_slower_of_copy_and_link(self):
        rows = loopback("--sizes", "1088..9600:1024", board=PCIE)
        for lesser in (1088, 4160, 7232):
            more = rows[lesser + 1024]["after_tx_commit_ns"] - rows[lesser]["after_tx_commit_ns"]
            self.assertGreater(more, 8 * tlp(128) - CYCLE)
            self.assertLess(more, 8 * tlp(128) * SKIP + 64)
        single = loopback("--sizes", "1088,2112", "--set", "cluster.host.uncached.combining_buffers=0", board=PCIE)
        # Each store is a write of its own, which the next one waits for: bus and combining_drain, 40 ns.
        more = single[2112]["after_tx_commit_ns"] - single[1088]["after_tx_commit_ns"]
        self.assertGreater(more, 128 * (BUS + 40))
        self.assertLess(more, 128 * (BUS + 40 + 6))

    def test_each_block_is_a_tlp(self):
        counters = result(PCIE, "--sizes", "320")["counters"]
        hart, nic, frames = counters["cluster.host.hart0"], counters["nic.eth0"], 50
        self.assertEqual((nic["tx_frames"], nic["rx_frames"]), (frames, frames))
        self.assertEqual(hart["uncached_reads"], 10 * frames)
        self.assertEqual(hart["block_loads"], 30 * frames)
        self.assertEqual(hart["combined_stores"], 40 * frames)
        self.assertEqual((hart["combined_full"], hart["combined_parts"]), (2 * frames, frames))
        # Registers: the buffer, two stamps and the receive for each frame; the round trip, twice; the last read.
        self.assertEqual(nic["reads"], 14 * frames + 2 * 101 + 1)

    def test_a_hart_that_waits_for_posted_writes_stands_still(self):
        for timing in ("cached", "interval"):
            counters = result(PCIE, "--sizes", "9600", "--set", "root.posted_writes=1", "--set",
                              f"caches.timing={timing}", "--set", "workload.frames=3")["counters"]
            hart = counters["cluster.host.hart0"]
            self.assertGreater(counters["root"]["posted_stalls"], 50)
            self.assertLessEqual(hart["stall_slots"], hart["slots"])

    def test_a_receive_that_the_root_complex_gives_up_fails_the_run(self):
        late = (PCIE, "--set", "nic.eth0.mac.tx_latency=20us", "--set")
        self.assertIn("a receive was answered with no frame",
                      result(*late, "root.completion_timeout=10us", status=1)["failure"])
        result(*late, "root.completion_timeout=50ms")

    def test_the_result_is_the_same_each_time_whatever_is_traced(self):
        plain = canonical(run(PCIE, "--sizes", "64,1500"))
        traced = canonical(run(PCIE, "--sizes", "64,1500", "--trace", "perfetto", "--out", self.directory()))
        self.assertEqual(plain, traced)
        for timing in ("functional", "interval"):
            rows = loopback("--sizes", "64,1536", "--set", f"caches.timing={timing}", board=PCIE)
            self.assert_time(rows[64]["register_round_trip_ns"], load(8), 4 * CYCLE)


if __name__ == "__main__":
    unittest.main()
