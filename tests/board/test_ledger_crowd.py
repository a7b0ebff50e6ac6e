# SPDX-License-Identifier: Apache-2.0
"""Latencies that a lone request on a shipped board does not meet: test_ledger_crowd.py LEDGER_TILES SLUICE. Intervals
between frames, a write-back that waits, credits that run out, interrupts for requests that come before software is
ready; each against its closed form, to the femtosecond."""

import unittest

from closed_forms import FRAMING, LoneRequest, requests as tlps_of
from closed_forms import DESCRIPTOR_RX, HEADROOM
from ledger_runs import ADDED, NS, SLUICE, output_of, run, run_all

NIC = "nic.eth0"
# There is no warm-up: the tests look at every request that the NIC serves. Only an ARP exchange comes before them.
ALL = ("e810-irq", "caches.timing=functional", "workload.warmup=0")
FIRST = (*ALL, "workload.host.resolve_interval=10 ms")


def index(request, stage, last=False):
    """The index of a request's first or last tile of a stage."""
    numbers = [n for n, tile in enumerate(request.tiles) if tile[0] == stage]
    return numbers[-1 if last else 0]


class Intervals(unittest.TestCase):
    """A frame's turn comes when it is there, and not before an interval has passed since the last frame's turn."""

    CALLS = (*FIRST, "workload.requests=200", "workload.outstanding=8", "workload.call.program=null")

    def turns(self, interval, tiles):
        """How many frames waited for their turn. tiles: (there, turn) of all frames."""
        waits, earliest = 0, 0
        for there, turn in sorted(tiles):
            self.assertEqual(turn, max(there, earliest))
            waits += turn > there
            earliest = turn + interval
        return waits

    def check(self, parameter, tiles_of):
        cases = {added: (*self.CALLS, f"{NIC}.{parameter}={5 + added} ns") for added in (0, 5, 100, 300)}
        run_all(cases.values())
        waits = []
        for case in cases.values():
            with self.subTest(case):
                r = run(*case)
                interval = r.parameters.fs(f"{NIC}.{parameter}")
                waits.append(self.turns(interval, [tiles_of(r, request) for request in r.requests]))
        return waits

    def test_receive(self):
        def tiles_of(r, request):
            _, _, there, delivered = request.tiles[index(request, "NIC queue")]
            return there, delivered - r.parameters.fs(f"{NIC}.rx_pipeline")
        waits = self.check("rx_interval", tiles_of)
        # 60 B frames come no faster than one in 6.72 ns.
        self.assertEqual(waits[0], 0)
        self.assertGreater(min(waits[1:]), 20)

    def test_transmit(self):
        def tiles_of(_, request):
            n = index(request, "upstream link", last=True)  # of the frame's read
            before = request.tiles[n - 1]
            waited = before[0] == "NIC queue" and request.tiles[n - 2][0] == "downstream link"
            return before[2] if waited else before[3], request.tiles[n][2]
        self.assertGreater(min(self.check("tx_interval", tiles_of)), 20)  # descriptors come several at a time


class WriteBack(unittest.TestCase):
    """A NIC that does not write back when it is idle: the oldest frame's time-out starts with its DMA write."""

    CALLS = (*FIRST, f"{NIC}.writeback_when_idle=false")

    def told(self, request):
        """Times: the frame's DMA write begins, the frame has left, the descriptor's DMA write begins."""
        n = index(request, "notify")
        self.assertEqual([t[0] for t in request.tiles[n - 1:n + 2]], ["upstream link", "notify", "upstream link"])
        return request.tiles[n - 1][2], request.tiles[n][2], request.tiles[n][3]

    def test_a_lone_frame_waits_for_the_time_out(self):
        before, after = (run(*self.CALLS, "workload.outstanding=1", "workload.requests=20",
                             f"{NIC}.writeback_timeout={2000 + added} ns") for added in (0, 100))
        form = LoneRequest(before.parameters)
        leaves = sum(form.link.time(form.data_tlp(a, n, form.header)) for a, n in tlps_of(HEADROOM, form.call, form.link.mps))
        leaves += before.parameters.fs(f"{NIC}.pcie.transmit_latency")
        for a, b in zip(before.requests, after.requests, strict=True):
            begins, left, told = self.told(a)
            self.assertEqual((left - begins, told - begins), (leaves, 2000 * NS))
            self.assertEqual([t[:2] for t in a.tiles], [t[:2] for t in b.tiles])
            longer = [(t[0], (u[3] - u[2]) - (t[3] - t[2])) for t, u in zip(a.tiles, b.tiles)]
            # Less than 1 ns is the core's reaction, which takes a whole slot.
            self.assertEqual([(s, n) for s, n in longer if abs(n) > 10**6], [("notify", ADDED)])

    def test_frames_wait_for_the_oldest_ones(self):
        r = run(*self.CALLS, "workload.outstanding=2", "workload.requests=2")
        (begins, _, told), (later, _, also) = map(self.told, r.requests)
        self.assertGreater(later, begins)
        self.assertEqual((told - begins, also), (2000 * NS, told))

    def test_a_full_batch_does_not_wait(self):
        r = run(*self.CALLS, "workload.outstanding=4", "workload.requests=4", f"{NIC}.rx_interval=200 ns")
        told = [self.told(request)[2] for request in r.requests[:3]]
        last = r.requests[3].tiles[index(r.requests[3], "upstream link")][2]
        self.assertEqual(told, [last] * 3)


class Credits(unittest.TestCase):
    """A root complex whose buffers hold one full TLP: the next one starts when the last one's bytes have landed and
    the update is back."""

    CALLS = (*FIRST, "workload.outstanding=1", "workload.requests=20", "workload.call.bytes=1400",
             "pcie.slot0.posted_data=20")

    def test_they_are_waited_for(self):
        cases = [(*self.CALLS, f"pcie.slot0.credit_update={ns} ns") for ns in (50, 150)]
        run_all(cases)
        for case in cases:
            r = run(*case)
            p, form = r.parameters, LoneRequest(r.parameters)
            one = (form.up + p.fs("root.write_latency") + p.fs("caches.dma_write") +
                   p.fs("pcie.slot0.credit_update") + p.fs("pcie.slot0.flight"))
            frame = list(tlps_of(HEADROOM, form.call, form.link.mps))
            stalls = len(frame) - 1
            self.assertEqual(r.result["counters"]["pcie.slot0"]["up_credit_stalls"], stalls * len(r.requests))
            sent = sum(form.link.time(form.data_tlp(a, n, form.header)) for a, n in [*frame, (0, DESCRIPTOR_RX)])
            for request in r.requests:
                n = index(request, "credit wait")
                got = [(t[0], t[3] - t[2]) for t in request.tiles[n - 1:n + 2]]
                self.assertEqual(got[1], ("credit wait", stalls * one))
                self.assertEqual([s for s, _ in got], ["upstream link", "credit wait", "upstream link"])
                self.assertEqual(got[0][1] + got[2][1], sent + form.up)

    def test_the_specification_limits_the_update(self):
        """credit_update = 0 is ((MPS + 28) x 3 / 16 + 115) symbol times of 1 ns on this link."""
        r = run(*self.CALLS, "pcie.slot0.credit_update=0 ns")
        stated = run(*self.CALLS, f"pcie.slot0.credit_update={(256 + 28) * 3 // 16 + 115} ns")
        self.assertEqual([q.tiles for q in r.requests], [q.tiles for q in stated.requests])


class WiredInterrupts(unittest.TestCase):
    PLIC = "cluster.host.interrupts=plic"

    def test_several_harts_and_queues_are_served(self):
        result = output_of(SLUICE, "run", "e810-irq", "--json", "--requests=500", f"--set={self.PLIC}",
                           "--set=cluster.host.harts=2", "--set=nic.eth0.queues=2", "--set=workload.flows=9")
        self.assertEqual(result["requests"]["completed"], 500)

    def test_a_call_that_comes_before_the_driver_is_ready_waits_for_its_unmasking(self):
        """The first call follows the answer to ARP, and is no lone request: on a slower bus the driver is not yet
        through with the ARP frame's interrupt when the call is in memory. It waits for the driver's write to the
        vector, and then for a message of its own; on a fast bus the message follows the call's own write. The core wakes
        and traps so fast that it looks at the ring before the call is there."""
        fast = ("cluster.host.idle.exit_latency=[]", "cluster.host.idle.enter_after=[]", "plic.delivery=0 ns",
                "cluster.host.costs.interrupt=160", "cluster.host.costs.trap_return=80")
        waited = {}
        for bus in (10, 100):
            r = run(*ALL, self.PLIC, "workload.outstanding=1", "workload.requests=20", f"bus.latency={bus} ns",
                    *fast)
            form = LoneRequest(r.parameters)
            alone = form.link.time(16 + FRAMING) + form.up
            first, *others = r.requests
            tiles = {t[0]: t for t in reversed(first.tiles)}
            waited[bus] = "wait for a core" in tiles and tiles["wait for a core"][3] > tiles["wait for a core"][2]
            notify = tiles["notify"]
            if waited[bus]:
                unmasked = [w["at"] + form.down for w in r.result["ledger"]["writes"]
                            if w["bytes"] == 4 and w["address"] % 2**20 == 0x1000 and w["value"] & 1]
                self.assertIn(tiles["wait for a core"][3], unmasked)
                self.assertEqual(notify[3] - notify[2], alone)
            else:
                self.assertEqual(notify[3] - notify[2], form.message_after_write())
            for request in others:
                self.assertNotIn("wait for a core", [t[0] for t in request.tiles])
        self.assertEqual([bus for bus, wait in waited.items() if wait], [100])


if __name__ == "__main__":
    unittest.main()
