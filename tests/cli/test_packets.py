# SPDX-License-Identifier: Apache-2.0
"""The packets workload: what a user types, what comes out, and what a user gets wrong."""

import json
import os
import re
import subprocess
import unittest

from command import BUILD, SOURCE, SPIN, CommandTest, guest, sluice

SMALL = ("--requests", "2000", "--warmup", "100")
BELOW = ("--set", "workload.load=constant", "--set", "workload.rate=5 Gb/s")


class Packets(CommandTest):
    def test_the_report_has_rates_and_stages(self):
        text = self.succeed("run", "e810-echo", *SMALL, *BELOW)
        self.assertRegex(text, r"(?m)^e810-echo   packets of 64 B, l2, constant, 5 Gb/s   2,000 packets, 0 lost, 0 dropped$")
        self.assertRegex(text, r"(?m)^ +bytes +offered +Gb/s +returned +Gb/s +sent +dropped +mean +p99 +busiest$")
        self.assertRegex(text, r"(?m)^ +64 +7\.440 M/s +5\.000 +7\.4\d\d M/s +5\.0\d\d +2,000 +0 +\d\.\d\d us +\d\.\d\d us   \S+ \d+ %$")
        self.assertRegex(text, r"(?m)^    unattributed +0\.0 ns +0\.0 %")
        self.assertRegex(text, r"(?m)^  simulated .* requests and \d+ M instructions per wall second$")

    def test_drops_are_a_result_and_have_a_reason(self):
        text = self.succeed("run", "e810-echo", *SMALL, "--set", "nic.eth0.rx_fifo=16 KiB")
        dropped = re.search(r"2,000 packets, 0 lost, ([\d,]+) dropped", text).group(1)
        self.assertNotEqual(dropped, "0")
        self.assertIn(f"\n  dropped, receive FIFO full: {dropped}\n", text)

    def test_the_result_has_what_is_documented(self):
        contents = json.loads(self.succeed("run", "e810-echo", *SMALL, *BELOW, "--sizes", "64,512", "--json"))
        self.assertEqual(set(contents["packets"]), {"format", "load", "wrong", "reordered", "repeated", "late", "trials"})
        self.assertEqual(contents["requests"]["sent"], 4000)
        for size, trial in zip((64, 512), contents["packets"]["trials"], strict=True):
            self.assertEqual(set(trial), {"frame_bytes", "rate_gbps", "offered_per_s", "offered_gbps", "accepted_per_s",
                                          "accepted_gbps", "returned_per_s", "returned_gbps", "sent", "returned", "dropped", "lost", "latency_ns", "measured_ns",
                                          "stages", "links", "cores", "resources"})
            self.assertEqual((trial["frame_bytes"], trial["sent"], trial["returned"]), (size, 2000, 2000))
            self.assertEqual((trial["rate_gbps"], trial["offered_gbps"]), (5, 5))

    def test_a_search_says_what_it_found(self):
        search = ("run", "e810-echo", *SMALL, "--set", "workload.load=zero-loss", "--set", "workload.resolution=10 Gb/s")
        found = json.loads(self.succeed(*search, "--json"))["packets"]["zero_loss"]
        self.assertEqual([f["frame_bytes"] for f in found], [64])
        self.assertIn(f"\n  highest rate of 64 B without loss: {found[0]['gbps']:.3f} Gb/s, ", self.succeed(*search))

    def test_boards_are_compared_by_packets(self):
        self.write("slow.toml", "extends = ['e810-echo']\n[cluster.host]\nclock = '1.5 GHz'\n")
        both = ("compare", "e810-echo", "slow.toml", *SMALL, *BELOW)
        text = self.succeed(*both, cwd=self.directory)
        self.assertRegex(text, r"^packets of 64 B, l2, constant, 5 Gb/s\n\n +e810-echo +slow\n  packets sent +2,000 +2,000\n")
        self.assertRegex(text, r"(?m)^  latency mean +\d\.\d\d us +\d\.\d\d us +x1\.\d{3}$")
        compared = json.loads(self.succeed(*both, "--json", "--replications=2", "--set=run.spread=none",
                                              cwd=self.directory))
        self.assertEqual({p["quantity"] for p in compared["paired"]}, {"latency mean", "latency p99", "latency p99.9", "throughput"})
        self.assertTrue(all(p["interval"] is None for p in compared["paired"]))
        for boards in (("e810-echo", "e810-poll"), ("e810-poll", "e810-echo")):
            titles = {"e810-echo": "packets workload", "e810-poll": "traffic source"}
            self.assert_mistake(["compare", *boards], f"compare: {boards[0]}.toml has the {titles[boards[0]]}, and "
                                f"{boards[1]}.toml has the {titles[boards[1]]}: there is nothing to compare")

    def test_a_table_of_sensitivities(self):
        done = subprocess.run([os.path.join(SOURCE, "sw", "sensitivity"), "--build", BUILD, "workload.requests=20000",
                               "workload.warmup=10000"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=200, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^\d+\.\d M/s, \d+\.\d cycles a packet, L1D misses \d+\.\d %, L2 misses \d+\.\d %")
        self.assertRegex(done.stdout, r"(?m)^\| `cluster.host.clock` \| 3.1 GHz \| 1.55 GHz \| \d+\.\d \(-\d+\.\d%\) \| 6.2 GHz "
                                      r"\| \d+\.\d \(\+\d+\.\d%.*\) \|$")
        self.assertRegex(done.stdout, r"(?m)^\| `cluster.host.core.l1d_prefetch` \| true \|  \|  \| false \| \d")
        self.assertRegex(done.stdout, r"(?m)^\| `nic.eth0.rx_ring` \| 4096 \| 2048 \| \d.* \| 8192 \| - \|$")

    def test_mistakes(self):
        for settings, sentence in (
                (["sizes=64,1519"], "--set workload.sizes=64,1519: must be at most 1518 bytes, the MTU of 1500 with header "
                 "and FCS, not 1519"),
                (["sizes=60"], "--set workload.sizes=60: must be at least 64 bytes, the shortest Ethernet frame with FCS, "
                 "not 60"),
                (["sizes=large"], "--set workload.sizes=large: must be sizes in bytes such as ..."),
                (["load=constant"], "--set workload.load=constant: workload.rate must be set for loads constant and poisson"),
                (["rate=1 Gb/s"], "--set workload.rate=1 Gb/s: must not be set for load saturate, which is the line's rate"),
                (["load=poisson", "rate=101 Gb/s"], "e810-echo.toml: workload.rate is 101 Gb/s, more than that of "
                 "net.wire0; it must be at most 100 Gb/s"),
                (["format=tcp"], "--set workload.format=tcp: must be l2 or udp"),
                (["outstanding=8"], "--set workload.outstanding=8: ..."),
                (["host.address=10.0.0.2"], "e810-echo.toml: workload.host.address must not be 10.0.0.2, the address of "
                 "the NIC at net.wire0"),
                (["host.mac=02:53:4c:00:00:01"], "e810-echo.toml: workload.host.mac must not be 02:53:4c:00:00:01, the "
                 "address of the NIC at net.wire0")):
            with self.subTest(settings=settings):
                self.assert_mistake(["run", "e810-echo", *(f"--set=workload.{s}" for s in settings)], sentence)
        for board in ("haswell-nfp", "virt"):
            self.assert_mistake(["run", board, "--workload", "packets"], "--workload packets: workload.model is packets, "
                                "and the board has no free Ethernet link to send them on")
        self.write("peer.toml", "extends = ['e810-echo']\n[peer.far]\nmodel = 'echo'\nwire = 'net.wire0'\n")
        self.assert_mistake(["run", "peer.toml"], "peer.toml: workload.model is packets, and the board has no free Ethernet "
                            "link to send them on")
        self.write("bare.toml", "extends = ['e810-echo']\n[peer.far]\nmodel = 'echo'\nwire = 'net.wire0'\n[net.wire1]\n")
        self.assert_mistake(["run", "bare.toml"], "bare.toml: workload.model is packets, and no NIC is at a free Ethernet "
                            "link of the board")

    def failure(self, *arguments):
        result = sluice("run", "e810-echo", *SMALL, *arguments)
        self.assertEqual(result.returncode, 1)
        return result.stderr.splitlines()[0]

    def test_failures(self):
        # The RPC server discards frames of a type that it does not know, and tells nobody.
        self.assertEqual(self.failure("--firmware", "rpc-server", *BELOW),
                         "sluice: e810-echo: 2,000 packets were lost: not back within 1 ms (workload.timeout), and no "
                         "component dropped them")
        self.assertEqual(self.failure("--firmware", "hello"),
                         "sluice: e810-echo: the firmware ended the run after 0 of 2100 packets")
        self.assertEqual(self.failure("--firmware", self.write("spin.elf", guest(SPIN))),
                         "sluice: e810-echo: no request has ended for 20 ms of simulated time (run.stall_limit): 10.0.0.2 "
                         "has not answered ARP")


if __name__ == "__main__":
    unittest.main()
