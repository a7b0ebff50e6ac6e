# SPDX-License-Identifier: Apache-2.0
"""A wired interrupt, the UART's, from the register write that raises it to its handler: test_wired_message.py SLUICE.
The guest, wired_message.c, counts cycles; no request is on its way."""

import json
import unittest

import board_runs
from board_runs import BoardTest

AIA, PLIC = "cluster.host.interrupts=aia", "cluster.host.interrupts=plic"
ROUNDS = 16
CYCLES = 310  # in 100 ns, at 3.1 GHz


class WiredMessage(BoardTest):
    def cycles(self, *settings):
        options = [word for setting in ("cluster.host.firmware=wired-message", "caches.timing=functional", *settings)
                   for word in ("--set", setting)]
        # The board's traffic finds no server; the guest ends the run.
        result = json.loads(board_runs.run("e810-poll", *options, status=1))
        self.assertEqual(result["outcome"], "finished", result["failure"])
        counters = result["firmware"][0]["counters"]
        self.assertEqual(counters["interrupts"], ROUNDS)
        return counters["interrupt_cycles"]

    def test_100_ns_more_come_once_with_each_interrupt(self):
        before = self.cycles(AIA, "aplic.msi_latency=20 ns")
        for added in (100, 200, 1000):
            self.assertEqual(self.cycles(AIA, f"aplic.msi_latency={20 + added} ns"), before + ROUNDS * CYCLES * added // 100)

    def test_a_plic_sends_no_message(self):
        """Its line rises at once: the hart takes the interrupt before it can sleep. The register write that raises it and
        the handler's claim each take the bus once."""
        at_once = (PLIC, "plic.delivery=0 ns")
        before = self.cycles(*at_once)
        self.assertEqual(self.cycles(*at_once, "aplic.msi_latency=120 ns"), before)
        self.assertEqual(self.cycles(*at_once, "bus.latency=110 ns"), before + ROUNDS * CYCLES * 2)

    def test_the_line_of_a_plic_takes_its_delivery(self):
        """Each interrupt finds the hart asleep."""
        before = self.cycles(PLIC, "plic.delivery=20 ns")
        self.assertEqual(self.cycles(PLIC, "plic.delivery=120 ns"), before + ROUNDS * CYCLES)


if __name__ == "__main__":
    unittest.main()
