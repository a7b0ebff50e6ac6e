# SPDX-License-Identifier: Apache-2.0
"""Boards without a workload, and workloads without a call. test_idle.py SLUICE BUILD."""

import json
import unittest

from command import CommandTest, finisher_guest, sluice

NONE = ("--workload", "none"), ("--requests", "0"), ("--set", "workload.requests=0"), ("--set", "workload.model=none")


class Idle(CommandTest):
    def run_board(self, *arguments, board="e810-irq"):
        return json.loads(self.succeed("run", board, "--json", *arguments, cwd=self.directory))

    def test_nobody_calls_until_the_end_that_the_user_sets(self):
        for none in NONE:
            with self.subTest(none):
                r = self.run_board(*none, "--until", "2 ms")
                self.assertEqual((r["outcome"], r["failure"]), ("limit", ""))
                self.assertEqual(r["simulated_ns"], 2e6)
                self.assertNotIn("requests", r)
                # The firmware has brought the NIC up, and nothing has come.
                self.assertEqual(r["counters"]["net.wire0.a_to_b"]["frames"], 0)
                self.assertEqual(r["counters"]["nic.eth0"]["rx_drop_disabled"], 0)
                self.assertGreater(r["cores"][0]["instructions"], 10_000)

    def test_nobody_calls_until_the_firmware_ends_the_run(self):
        self.write("pass.elf", finisher_guest(0x5555))
        for none in NONE:
            with self.subTest(none):
                r = self.run_board(*none, "--firmware", "pass.elf")
                self.assertEqual((r["outcome"], r["failure"]), ("finished", ""))
                self.assertLess(r["simulated_ns"], 1e6)

    def test_the_stall_limit_ends_no_such_run(self):
        r = self.run_board("--requests=0", "--until=3 ms", "--set=run.stall_limit=1 ms")
        self.assertEqual(r["outcome"], "limit")

    def test_a_board_says_so_itself(self):
        self.write("idle.toml", "extends = ['e810-irq']\n[workload]\nmodel = 'none'\n")
        self.assertEqual(self.run_board("--until=1 ms", board="idle.toml")["outcome"], "limit")
        self.assertIn("idle", self.succeed("run", "idle.toml", "--until=1 ms", cwd=self.directory))
        self.assert_mistake(["run", "idle.toml", "--requests=5"],
                            "--requests 5: workload.requests is not a parameter of the board without a workload...")

    def test_what_does_not_go_with_no_calls(self):
        self.assert_mistake(["run", "e810-poll", "--requests=0", "--warmup=7"],
                            "--warmup 7: --requests 0 makes no calls, nor any before them")
        for option in (("--set", "workload.outstanding=3"), ("--set", "workload.call.bytes=8"), ("--workload", "open-loop")):
            self.assert_mistake(["run", "e810-poll", "--requests=0", "--until=1 us", *option],
                                f"{option[0]} {option[1]}: has no effect on e810-poll: workload.requests is 0")
        self.write("calls.pcap", "no capture")
        self.assert_mistake(["run", "e810-poll", "--requests=0", "--workload=replay", "--set=workload.pcap=calls.pcap"],
                            "--set workload.pcap=calls.pcap: cannot be replayed...")

    def test_what_a_board_without_an_ethernet_link_has_no_use_for(self):
        self.assert_mistake(["run", "virt", "--set", "workload.outstanding=4", "--until=1 us"],
                            "--set workload.outstanding=4: has no effect on virt: it has no Ethernet link")
        self.write("bare.toml", "extends = ['virt']\n[workload]\noutstanding = 4\n")
        self.assert_mistake(["run", "bare.toml", "--until=1 us"],
                            "bare.toml:3: workload.outstanding has no effect on bare: it has no Ethernet link")


if __name__ == "__main__":
    unittest.main()
