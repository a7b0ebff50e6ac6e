# SPDX-License-Identifier: Apache-2.0
"""`sluice compare`: boards side by side, replications, and runs that fail."""

import json
import math
import os
import re
import signal
import subprocess
import unittest

from command import SLUICE, CommandTest, sluice

QUICK = ("--requests=200", "--warmup=50")
NOT_RANDOM = ("--set=run.spread=none", "--set=workload.think=0 ns")
# What is told of a board whose firmware, hello, ended the run.
HART = r"cluster\.host\.hart0: pc 0x[0-9a-f]+ \S+, \d+ instructions, \S+ ns\nuart printed last: .+\n"


def quantile(histograms, share):
    """That of the merged histograms, in fs, as docs/reference/result.md says."""
    buckets = {}
    for h in histograms:
        for first, count in zip(h["first_fs"], h["counts"]):
            buckets[first] = buckets.get(first, 0) + count
    least, most = min(h["min_fs"] for h in histograms), max(h["max_fs"] for h in histograms)
    values = sum(buckets.values())
    rank = max(1, math.ceil(round(share * values, 6)))
    if rank in (1, values):
        return least if rank == 1 else most
    for first in sorted(buckets):
        rank -= buckets[first]
        if rank <= 0:
            width = 1 if first < 512 else 2**(first.bit_length() - 9)
            return min(max(first + (width - 1) // 2, least), most)
    raise AssertionError


class Comparing(CommandTest):
    def test_side_by_side_with_ratios_and_differences(self):
        text = self.succeed("compare", "e810-poll", "e810-irq", *QUICK)
        self.assertRegex(text, r"(?m)^  latency mean +\d\.\d\d us +\d\.\d\d us +x1\.\d{3}$")
        self.assertRegex(text, r"(?m)^    sum +\d\.\d\d us +\d\.\d\d us +\+(\d\.\d\d us|\d+\.\d ns)$")
        self.assertTrue(text.endswith("  The boards differ in:\n    nic.eth0.driver: poll on e810-poll, interrupt on "
                                      "e810-irq\n"), text)
        self.assertNotIn("half the quantum", text)

    def test_every_parameter_that_differs_is_listed(self):
        path = self.write("narrow.toml", "extends = ['e810-irq']\n[pcie.slot0]\nlanes = 4\n[nic.eth0]\nqueues = 2\n")
        # Its second queue is for a hart that it does not have, which a run would say without a setting.
        out = os.path.join(self.directory, "out")
        compared = json.loads(self.succeed("compare", "e810-poll", "e810-irq", path, *QUICK, "--set=workload.think=2 us", "--json",
                                           "--out", out))
        self.assertEqual({(d["board"].rsplit("/", 1)[-1], d["path"], d["reference_value"], d["value"])
                          for d in compared["differences"]},
                         {("e810-irq", "nic.eth0.driver", "poll", "interrupt"),
                          ("narrow", "nic.eth0.driver", "poll", "interrupt"), ("narrow", "nic.eth0.queues", "1", "2"),
                          ("narrow", "pcie.slot0.lanes", "16", "4")})
        self.assertEqual(sorted(os.listdir(out)), ["compare.json", "e810-irq", "e810-poll", "narrow"])
        for name, result in zip(("e810-poll", "e810-irq", "narrow"), compared["results"]):
            with open(os.path.join(out, name, "result.json"), encoding="utf-8") as file:
                self.assertEqual(json.load(file), result)

    def test_paired_confidence_intervals(self):
        load = ("--requests=2000", "--warmup=50", "--set=workload.kind=open-loop", "--set=workload.rate=1000000")
        compared = json.loads(self.succeed("compare", "e810-poll", "e810-irq", *load, "--replications=5", "--json"))
        self.assertEqual([p["quantity"] for p in compared["paired"]],
                         ["latency mean", "latency p99", "latency p99.9", "throughput"])
        mean, p99, p999, throughput = compared["paired"]
        self.assertEqual((mean["board"], mean["unit"], compared["replications"]), ("e810-irq", "ns", 5))
        runs = [[json.loads(self.succeed("run", board, *load, "--json", f"--set=run.replication={replication}"))
                 for replication in range(5)] for board in ("e810-poll", "e810-irq")]
        # Student's t of 4 degrees of freedom, for four intervals that hold together with 95 %.
        for row, value in ((mean, lambda r: r["latency_ns"]["mean"]), (throughput, lambda r: r["throughput_per_s"])):
            differences = [value(b) - value(a) for a, b in zip(*runs)]
            self.assertGreater(len(set(differences)), 1)
            average = sum(differences) / 5
            error = (sum((d - average)**2 for d in differences) / 4 / 5)**0.5
            self.assertAlmostEqual(row["level"], 1 - 0.05 / 4)
            self.assertAlmostEqual(row["difference"] / average, 1, places=5)
            self.assertAlmostEqual((row["interval"][1] - row["difference"]) / error, 4.31466, places=3)
            self.assertAlmostEqual((row["difference"] - row["interval"][0]) / error, 4.31466, places=3)
        self.assertEqual(mean["verdict"], "more")
        # p99 is that of all calls together, within a bucket of each board; p99.9 is that of ten calls.
        merged = [quantile([r["latency_ns"]["histogram"] for r in of_board], 0.99) / 1e6 for of_board in runs]
        self.assertAlmostEqual(p99["difference"], merged[1] - merged[0], delta=(merged[0] + merged[1]) / 512)
        self.assertAlmostEqual(p99["reference"], merged[0], delta=merged[0] / 512)
        self.assertTrue(p99["interval"][0] < p99["difference"] < p99["interval"][1])
        self.assertEqual((p999["interval"], p999["level"], p999["verdict"]), (None, None, "unknown"))
        # Fewer than 5 replications say too little of a tail.
        few = json.loads(self.succeed("compare", "e810-poll", "e810-irq", *load, "--replications=4", "--json"))
        self.assertEqual([p["interval"] is None for p in few["paired"]], [False, True, True, False])

    def test_a_histogram_has_the_quantiles_of_its_file(self):
        latency = json.loads(self.succeed("run", "e810-poll", "--requests=2000", "--json"))["latency_ns"]
        histogram = latency["histogram"]
        self.assertEqual(histogram["count"], sum(histogram["counts"]))
        self.assertEqual(histogram["count"], 2000)
        self.assertEqual(round(int(histogram["sum_fs"]) / 2000) / 1e6, latency["mean"])
        for key, share in (("min", 0), ("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999), ("max", 1)):
            self.assertEqual(quantile([histogram], share) / 1e6, latency[key])

    def test_boards_that_are_the_same_have_no_difference(self):
        same = self.write("same.toml", "extends = ['e810-poll']\n")
        # The timeout of calls that are all answered in time.
        unused = self.write("unused.toml", "extends = ['e810-poll']\n[workload]\ntimeout = '900 us'\n")
        arguments = ("compare", "e810-poll", same, unused, *QUICK, "--replications=3")
        for row in json.loads(self.succeed(*arguments, "--json"))["paired"]:
            self.assertEqual((row["difference"], row["interval"], row["verdict"]), (0, [0, 0], "none"))
        self.assertEqual(self.succeed(*arguments).count(": no difference\n"), 8)

    def test_common_random_numbers_narrow_the_interval(self):
        widths = []
        for name, seed in (("common", 1), ("independent", 77)):
            path = self.write(f"{name}.toml", f"extends = ['e810-poll']\n[pcie.slot0]\nlanes = 8\n[run]\nseed = {seed}\n")
            rows = json.loads(self.succeed("compare", "e810-poll", path, "--requests=1000", "--replications=10", "--json",
                                           "--set=workload.kind=open-loop", "--set=workload.rate=3000000"))["paired"]
            widths.append([r["interval"][1] - r["interval"][0] for r in rows if not r["quantity"].startswith("latency p")])
        for common, independent in zip(*widths):
            self.assertLess(1.5 * common, independent)  # the mean's is 1.9 to 2.7 times as wide, by the seed

    def test_replications_of_what_is_not_random(self):
        arguments = ("compare", "e810-poll", "e810-irq", *QUICK, *NOT_RANDOM, "--replications=3")
        text = self.succeed(*arguments)
        self.assertIn("  All 3 replications gave the same: nothing in this workload and these boards is random, so there is "
                      "no confidence interval to give.", text)
        self.assertNotIn("+- ", text)
        for row in json.loads(self.succeed(*arguments, "--json"))["paired"]:
            self.assertIsNone(row["interval"])
            self.assertIn(row["verdict"], ("less", "more"))

    def test_latency_against_load(self):
        arguments = ("compare", "e810-poll", "e810-irq", "--loads=20,80", "--requests=300")
        compared = json.loads(self.succeed(*arguments, "--replications=3", "--json"))
        capacity = compared["capacity_per_s"]
        self.assertTrue(15e6 < capacity < 35e6, capacity)
        self.assertEqual([p["rate_per_s"] for p in compared["curve"]], [round(capacity * 0.2), round(capacity * 0.8)])
        for point in compared["curve"]:
            poll, interrupt = point["boards"]
            self.assertGreater(interrupt["mean_ns"]["mean"], poll["mean_ns"]["mean"])
            for board in (poll, interrupt):
                self.assertGreater(board["mean_ns"]["half_width_95"], 0)
                # 9 of 900 calls are beyond it.
                self.assertIsNone(board["p99_ns"]["interval_95"])
                self.assertEqual(board["unanswered"], 0)
                self.assertRegex(board["busiest"], r"^cluster\.host\.hart0 \d+ %$")
        text = self.succeed(*arguments)
        self.assertRegex(text, r"(?m)^ +\d\.\d{3} M/s   20 %  e810-poll +\d\.\d{3} us +\d\.\d{3} us ")
        self.assertIn("\n  mean latency, logarithmic\n", text)
        for loads in ("0", "10..", "..10", "90..10", "20,20", "20,10", "1001", "a", "10;20", "1.5"):
            self.assert_mistake(["compare", "e810-poll", "e810-irq", f"--loads={loads}"],
                                f"--loads {loads}: must be rising percentages of 1 to 1000, such as 20,50,90 or 10..90")
        for key in ("kind=open-loop", "arrivals=constant", "rate=5", "rates=[5]"):
            self.assert_mistake(["compare", "e810-poll", "e810-irq", "--loads=50", f"--set=workload.{key}"],
                                f"--set workload.{key}: has no effect on e810-poll: --loads says how calls are "
                                "offered")
        self.write("two.toml", "extends = ['e810-poll']\n[net.wire1]\n[peer.more]\nmodel = 'traffic'\nwire = 'net.wire1'\n")
        self.assert_mistake(["compare", "e810-poll", "two.toml", "--loads=50"], "compare: --loads is for boards whose calls "
                            "have one source, and two.toml has peer.more, too")

    def test_latency_against_size(self):
        arguments = ("compare", "e810-poll", "e810-irq", "--workload=size-sweep", "--sizes=64,1000", "--requests=300")
        compared = json.loads(self.succeed(*arguments, "--replications=3", "--json"))
        self.assertEqual([p["call_bytes"] for p in compared["curve"]], [64, 1000])
        means = [[board["mean_ns"]["mean"] for board in point["boards"]] for point in compared["curve"]]
        self.assertTrue(means[0][0] < means[0][1] < means[1][1] and means[0][0] < means[1][0] < means[1][1], means)
        text = self.succeed(*arguments)
        self.assertRegex(text, r"(?m)^ +size +board .*\n +64 B  e810-poll +\d\.\d{3} us .*\n +e810-irq .*\n +1,000 B  e810-poll ")
        self.assertRegex(text, r"(?m)^ +B +64 +1000$")
        for sizes, sentence in (("''", "must have a size for a size sweep"),
                                ("0", "must be sizes of 1 to 65536 bytes, not 0"),
                                ("64,2000", "has 2000, which makes IPv4 packets of 2072 bytes; the MTU is 1500")):
            self.assert_mistake([*arguments[:4], f"--set=workload.sizes={sizes}"], f"--set workload.sizes={sizes}: {sentence}")
        self.assert_mistake([*arguments[:3], "--sizes=64"], "--sizes 64: belongs to a size sweep of calls, --workload size-sweep")
        self.assert_mistake([*arguments, "--set=workload.call.bytes=70"], "--set workload.call.bytes=70: must not be set for a "
                            "size sweep, whose calls are of workload.sizes")

    def test_boards_with_several_harts_run_again_at_half_the_quantum(self):
        arguments = ("compare", "e810-poll", "e810-irq", *QUICK, "--set=cluster.host.harts=2")
        compared = json.loads(self.succeed(*arguments, "--json"))
        for full, half in zip(compared["results"], compared["half_quantum"]):
            self.assertEqual(half["quantum_ns"], full["quantum_ns"] / 2)
        self.assertRegex(self.succeed(*arguments), r"At half the quantum:\n    e810-poll, 16\.1 ns: latency mean ")

    def test_boards_without_a_wire_are_compared_by_time_links_and_cores(self):
        for name, issue in (("plain", 4), ("narrow", 1)):
            self.write(f"{name}.toml", "extends = ['hosts/i9-9960x']\n[cluster.host]\nfirmware = 'hello'\n"
                       f"issue_width = {issue}\n")
        both = ("compare", "plain.toml", "narrow.toml")
        text = self.succeed(*both, cwd=self.directory)
        self.assertRegex(text, r"(?m)^  simulated time +\d[\d.]* [mun]s +\d[\d.]* [mun]s +x1\.\d{3}$")
        self.assertRegex(text, r"(?m)^    pcie\.slot0 up +\d+ B +\d+ B")
        self.assertIn("  core 0's time\n", text)
        self.assertNotIn("calls sent", text)
        compared = json.loads(self.succeed(*both, "--json", "--replications=2", "--set=run.spread=none",
                                              cwd=self.directory))
        times = [r["simulated_ns"] for r in compared["results"]]
        (row,) = compared["paired"]
        self.assertEqual((row["quantity"], row["reference"]), ("simulated time", times[0]))
        self.assertAlmostEqual(row["difference"], times[1] - times[0], places=3)
        # Nothing is simulated for a comparison that cannot be shown.
        for boards, why in ((("plain.toml", "e810-poll"), "compare: e810-poll.toml has an Ethernet link and is put to "
                             "calls, and plain.toml has none: there is nothing to compare"),
                            ((*both[1:], "--requests=10"), "--requests 10: the board has no Ethernet link to make calls on"),
                            ((*both[1:], "--set=workload.model=dma"), "compare: plain.toml has the DMA workload, which "
                             "compare does not show; use sluice run for each board")):
            self.assert_mistake(["compare", *boards, "--out=out"], why)
            self.assertFalse(os.path.exists(os.path.join(self.directory, "out")))
        for settings, why in (("requests = 0", "requests, 0"), ("model = 'none'", "model, none")):
            self.write("quiet.toml", f"extends = ['e810-poll']\n[workload]\n{settings}\n")
            self.assert_mistake(["compare", "e810-poll", "quiet.toml"], "compare: e810-poll.toml has an Ethernet link and is put "
                                f"to calls, and quiet.toml makes no calls, by workload.{why}: there is nothing to compare")
        for option in ("--requests", "--warmup"):
            self.assert_mistake(["run", "plain.toml", option, "10"],
                                f"{option} 10: the board has no Ethernet link to make calls on")

    def test_lists_that_a_workload_draws_lie_side_by_side(self):
        both = ("compare", "enzian-eci-pio", "enzian-pcie-pio", "--set=workload.frames=4")
        sizes = "--sizes=64..1344:64"
        text = self.succeed(*both, sizes)
        self.assertTrue(text.startswith("4 frames of 64..1344:64 B each through the NIC's loopback\n"), text)
        results = json.loads(self.succeed(*both, sizes, "--json"))["results"]
        eci, pcie = ({row["bytes"]: row for row in r["loopback"]} for r in results)
        shown = re.findall(r"(?m)^    transmit at (\d+) B +(\S+ [mun]s) +(\S+ [mun]s) +x(\S+)$", text)
        self.assertEqual([int(s[0]) for s in shown], [64, 192, 384, 576, 768, 960, 1152, 1344])
        for size, _, _, ratio in shown:
            self.assertEqual(ratio, f"{pcie[int(size)]['tx_ns'] / eci[int(size)]['tx_ns']:.3f}")
        self.assertEqual(len(re.findall(r"(?m)^    asked for at ", text)), 8)
        # Over PCIe the host has asked before the frame comes, and then there is no ratio.
        self.assertRegex(text, r"(?m)^    asked for at 64 B +\S+ ns +-\S+ ns$")
        self.assertNotIn("  links", text)  # they have none in common
        # Each board's own sizes: what both have is shown.
        self.write("few.toml", "extends = ['enzian-pcie-pio']\n[workload]\nsizes = '128,640'\nframes = 1\n")
        text = self.succeed("compare", "enzian-eci-pio", "few.toml", "--set=workload.frames=4", cwd=self.directory)
        self.assertTrue(text.startswith("enzian-eci-pio: 4 frames of 64 B each through the NIC's loopback\n"
                                        "few: 4 frames of 128,640 B each through the NIC's loopback\n"), text)
        self.assertNotIn("transmit at", text)
        self.assertIn("  Transmit and receive through a loopback\n    the boards have no size of a frame (B) in common\n",
                      text)

    def test_workloads_that_differ_are_each_named(self):
        self.write("more.toml", "extends = ['e810-poll']\n[workload]\noutstanding = 2\n")
        text = self.succeed("compare", "e810-poll", "more.toml", *QUICK, cwd=self.directory)
        self.assertTrue(text.startswith("e810-poll: echo 64 B, closed loop, 8 outstanding\n"
                                        "more: echo 64 B, closed loop, 2 outstanding\n"), text)

    def test_a_long_search_is_announced_before_it_runs(self):
        path = self.write("other.toml", "summary = 'the same'\nextends = ['e810-poll']\n")
        search = ("--workload", "zero-loss", "--set=workload.rate=20000000", "--set=workload.resolution=20000")
        cost = (r"the search will make up to [\d,]+ calls, which takes (about a minute|some \d+ to \d+ minutes); a larger "
                r"workload\.resolution makes it shorter\n")
        with subprocess.Popen([SLUICE, "compare", "e810-poll", path, *search, "--replications=4"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            said = {process.stderr.readline() for _ in range(2)}
            for board in ("e810-poll", "other"):
                self.assertTrue(any(re.fullmatch(f"sluice: {board}: before the run: {cost}", s) for s in said), said)
            self.assertIsNone(process.poll())
            process.send_signal(signal.SIGINT)
            rest = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 1)
        # Said once, whatever the number of replications, and not again at the end.
        self.assertNotIn("before the run", rest)
        self.assertIn("interrupted by SIGINT", rest)

    def test_failures_name_their_replications(self):
        arguments = ("compare", "e810-poll", "e810-irq", *QUICK, *NOT_RANDOM, "--replications=2")
        result = sluice(*arguments, "--firmware", "hello")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, "^" + "".join(
            rf"sluice: {b}, replications 0, 1: the firmware ended the run after 0 of 250 calls\n{HART}"
            for b in ("e810-poll", "e810-irq")) + "$")
        # Each replication loses another number of calls.
        board = self.write("faulty.toml", "extends = ['e810-poll']\n[workload]\ntimeout = '100 us'\n[fault.a]\n"
                           "kind = 'poisoned-completion'\ntarget = 'pcie.slot0'\ndirection = 'down'\n"
                           "from = '100 us'\nprobability = 0.05\n")
        result = sluice("compare", "e810-poll", board, *QUICK, "--replications=2")
        self.assertRegex(result.stderr, r"(?m)^sluice: \S*faulty, replication 1: .")

    def test_a_failing_board_fails_the_comparison(self):
        result = sluice("compare", "e810-poll", "e810-irq", *QUICK, "--firmware", "hello")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, "^" + "".join(
            rf"sluice: {b}: the firmware ended the run after 0 of 250 calls\n{HART}" for b in ("e810-poll", "e810-irq")) + "$")


if __name__ == "__main__":
    unittest.main()
