# SPDX-License-Identifier: Apache-2.0
"""The published loopback experiment on enzian-eci-pio: what each stamp must be by the parameters of the parts, what the
workload refuses, and what it does to a run. test_loopback.py SLUICE"""

import unittest

from board_runs import BoardTest, canonical, result, run

BOARD = "enzian-eci-pio"
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


def loopback(*arguments):
    rows = result(BOARD, "--set", "run.spread=none", *arguments)["loopback"]
    return {row["bytes"]: row for row in rows}


def beats(size):
    return (size + 63) // 64


def overflow(size):
    """Lines beside the control line."""
    return 0 if size <= 64 else (size - 64 + 127) // 128


class Loopback(BoardTest):
    def assert_time(self, value, expected):
        """Both ends of an interval are stamped by whole cycles."""
        self.assertLess(abs(value - expected), CYCLE, f"{value} ns, not {expected} ns")

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


if __name__ == "__main__":
    unittest.main()
