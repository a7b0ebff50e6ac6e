# SPDX-License-Identifier: Apache-2.0
"""What number, size and order of the driver's packet buffers cost the caches of e810-poll, and what DDIO's ways save:
test_driver_buffers.py SLUICE"""

import subprocess
import unittest

from board_runs import SLUICE, BoardTest, result

CALLS = 10_000
CACHED = ("caches.timing=cached", "run.spread=none")
LITTLE_L2 = ("caches.l2_size=64KiB", "caches.l2_ways=8")
RINGS = ("nic.eth0.rx_ring=512", "nic.eth0.tx_ring=64", "caches.prefetch_depth=0")


def options(*settings):
    return [word for setting in settings for word in ("--set", setting)]


def per_call(*settings):
    """Counters of the hart, and DMA reads that no cache had, for a call."""
    counters = result("e810-poll", "--requests", str(CALLS), *options(*CACHED, *settings))["counters"]
    hart = {key: value / CALLS for key, value in counters["cluster.host.hart0"].items()}
    hart["dma_read_misses"] = counters["caches"]["dma_read_misses"] / CALLS
    return hart


class DriverBuffers(BoardTest):
    def test_more_buffers_cost_l1d_misses(self):
        misses = [per_call(*RINGS, f"nic.eth0.buffers={n}")["l1d_misses"] for n in (192, 224, 256)]
        self.assertEqual(misses, sorted(misses))
        # L1D has 512 lines. A call takes its buffer's line of what is known of the frame and a line of the frame, which
        # the NIC's write has taken away; with 256 buffers that line of the first kind is gone when its turn comes.
        self.assertGreater(misses[2] - misses[0], 0.9)
        self.assertLess(misses[2] - misses[0], 2)
        # What the rings can hold is what the driver has if nothing is said.
        self.assertAlmostEqual(per_call(*RINGS)["l1d_misses"],
                               per_call(*RINGS, "nic.eth0.buffers=608")["l1d_misses"], delta=1e-9)

    def test_few_buffers_are_enough_under_overload(self):
        # frame-echo's driver, then that of rpc-server, whose ring is never full.
        for rings in ((512, 64, 192), (512, 512, 640), (64, 64, 192)):
            with self.subTest(rings=rings):
                rx, tx, buffers = rings
                settings = options(f"nic.eth0.rx_ring={rx}", f"nic.eth0.tx_ring={tx}", f"nic.eth0.buffers={buffers}")
                echo = result("e810-echo", *settings, "--warmup", "0", "--requests", "20000", status=None)
                self.assertEqual(echo["outcome"], "finished")
                self.assertGreater(echo["counters"]["nic.eth0"]["tx_packets"], 2000)
                calls = result("e810-poll", *settings, "--requests", "5000", *options(
                    "workload.outstanding=1000", "workload.think=0ns", "workload.call.bytes=1400",
                    "run.allow_drops=true"))["requests"]
                self.assertEqual(calls["completed"] + sum(calls["dropped"].values()), 5000)
                self.assertGreater(calls["completed"], 2500)

    def test_fewer_than_the_driver_needs_are_refused(self):
        for settings, least in ((("nic.eth0.buffers=639",), "640: tx_ring and 128"),
                                (("nic.eth0.buffers=1087", "nic.eth0.driver=interrupt"),
                                 "1088: a driver that sleeps must always have buffers in the ring")):
            done = subprocess.run([SLUICE, "describe", "e810-poll", *options(*settings)], capture_output=True, text=True,
                                  timeout=60)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"must be 0 or at least {least}", done.stderr)

    def test_buffers_further_apart_share_fewer_sets(self):
        near, far = (per_call(*RINGS, "nic.eth0.buffers=192", f"nic.eth0.buffer_size={size}KiB")["l1d_misses"]
                     for size in (2, 8))
        self.assertGreater(far, near + 0.5)

    def test_what_waits_beyond_the_ways_of_ddio_is_read_from_dram(self):
        # 2,048 sets of 64 B in 11 ways. A value of 512 B lies in the same 10 lines of each buffer of 2 KiB, so calls
        # that wait share 640 sets: 2 ways hold 128 of them, and 8 ways 512.
        base = ("caches.llc_size=1408KiB", "caches.llc_ways=11", *LITTLE_L2, "caches.prefetch_depth=0",
                "nic.eth0.rx_ring=2048", "workload.call.program=kv", "workload.call.bytes=512",
                "workload.call.reads_percent=0", "workload.think=0ns")
        misses = {(waiting, ways): per_call(*base, f"workload.outstanding={waiting}",
                                            f"caches.ddio_ways={ways}")["llc_misses"]
                  for waiting in (32, 256, 1024) for ways in (2, 8)}
        self.assertLess(misses[32, 2], 0.1)
        self.assertLess(misses[32, 8], 0.1)
        self.assertGreater(misses[256, 2], 9)
        self.assertLess(misses[256, 8], 0.5)
        self.assertGreater(misses[1024, 2], 9)
        self.assertGreater(misses[1024, 8], 9)

    def test_replies_that_wait_beyond_the_ways_of_ddio_are_read_from_dram(self):
        base = ("caches.llc_size=1408KiB", "caches.llc_ways=11", *LITTLE_L2, "caches.prefetch_depth=0",
                "nic.eth0.rx_ring=2048", "workload.call.bytes=1400", "workload.think=0ns", "workload.outstanding=256")
        misses = [per_call(*base, f"caches.ddio_ways={ways}")["dma_read_misses"] for ways in (1, 2, 4, 8)]
        self.assertEqual(misses, sorted(misses, reverse=True))
        self.assertGreater(misses[0], 20)  # of the 22 lines of a reply
        self.assertLess(misses[3], 0.1)

    def test_packed_buffers_in_sequence_are_prefetched_and_shuffled_ones_are_not(self):
        base = (*LITTLE_L2, "nic.eth0.rx_ring=4096", "nic.eth0.tx_ring=64")
        misses = {(order, depth): per_call(*base, f"nic.eth0.buffer_order={order}",
                                           f"caches.prefetch_depth={depth}")["l2_misses"]
                  for order in ("sequence", "shuffled") for depth in (0, 4)}
        # With the prefetcher off both miss as often, but for the sets that the shuffled ones meet in.
        self.assertAlmostEqual(misses["sequence", 0], misses["shuffled", 0], delta=0.01 * misses["sequence", 0])
        saved = {order: misses[order, 0] - misses[order, 4] for order in ("sequence", "shuffled")}
        self.assertGreater(saved["sequence"], 1.2 * saved["shuffled"])


if __name__ == "__main__":
    unittest.main()
