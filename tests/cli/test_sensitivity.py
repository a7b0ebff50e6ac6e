# SPDX-License-Identifier: Apache-2.0
"""`sluice sensitivity`: effects that are known beforehand, the report, and mistakes."""

import json
import os
import signal
import subprocess
import sys
import unittest

from assembler import FAIL, PASS, assemble
from command import SLUICE, SOURCE, CommandTest, finisher_guest, sluice

sys.path.insert(0, os.path.join(SOURCE, "tests"))
from caught_signals import wait_until_caught  # noqa: E402

# Calls so rare that what delays one moves hardly anything else.
RARE = ("e810-irq", "--requests=300", "--warmup=50", "--set=workload.kind=open-loop", "--set=workload.rate=50000",
        "--set=run.spread=none")
WAITS = """
  li a1, 1000
wait:
  rdtime a0
  bltu a0, a1, wait
  rdcycle a0
  li a1, 350000
  bgtu a0, a1, late
"""
TINY = "extends = ['hosts/i9-9960x']\n[run]\nspread = 'none'\n[cluster.host]\nfirmware = 'hello'\n[caches]\n"


class Sensitivity(CommandTest):
    def mean_of(self, *arguments):
        return json.loads(self.succeed("run", *RARE, "--json", *arguments))["latency_ns"]["mean"]

    def tiny(self, more=""):
        return self.write("tiny.toml", TINY + more)

    def test_effects_that_are_known_beforehand(self):
        # At regular times, no call comes just before or just after the core has fallen asleep, and all meet the core's clock
        # at one phase: what the call's wait for a cycle of 0.32 ns hides or adds is the same for all.
        regular = json.loads(self.succeed("sensitivity", *RARE, "--set=workload.arrivals=constant",
                                          "--replications=1", "--json"))
        rows = {p["path"]: p for p in regular["parameters"]}
        for path, factor, value in (("net.wire0.flight", 2, 10), ("nic.eth0.tx_pipeline", 1, 100), ("nic.eth0.parse", 1, 20)):
            expected = factor * value * 0.25
            self.assertAlmostEqual(rows[path]["less"]["effect"]["mean"], -expected, delta=0.33, msg=path)
            self.assertAlmostEqual(rows[path]["more"]["effect"]["mean"], expected, delta=0.33, msg=path)
            self.assertAlmostEqual(rows[path]["half_range"]["mean"], expected, delta=0.33, msg=path)
        unused = rows["nic.eth0.pcie.completion_timeout"]
        self.assertEqual((unused["less"]["effect"]["mean"], unused["more"]["effect"]["mean"], unused["share"]), (0, 0, 0))

        found = json.loads(self.succeed("sensitivity", *RARE, "--replications=2", "--json"))
        rows = {p["path"]: p for p in found["parameters"]}
        # The result is that of `sluice run`, and effects are paired by replication.
        exits, longer_exits = "cluster.host.idle.exit_latency", "[2.5 us, 12.5 us, 166.25 us]"
        reference, longer = ([self.mean_of(f"--set=run.replication={r}", *setting) for r in range(2)]
                             for setting in ((), (f"--set={exits}={longer_exits}",)))
        self.assertNotEqual(reference[0], reference[1])
        self.assertAlmostEqual(found["reference"]["mean"], sum(reference) / 2, places=5)
        row = rows[exits]
        self.assertEqual((row["more"]["value"], row["uncertainty"], row["uncertainty_by"]), (longer_exits, 0.25, "source"))
        differences = [b - a for a, b in zip(reference, longer)]
        effect = row["more"]["effect"]
        self.assertAlmostEqual(effect["mean"], sum(differences) / 2, places=5)
        self.assertAlmostEqual(effect["half_width_95"], 12.7062 * abs(differences[1] - differences[0]) / 2, places=4)

        self.assertRegex(rows["cluster.host.costs.mul"]["less"]["why_none"], r"^has no effect on e810-irq: ")
        self.check_ranking(found)

    def check_ranking(self, found):
        rows = found["parameters"]
        ranges = [p["half_range"]["mean"] for p in rows]
        self.assertEqual(ranges, sorted(ranges, reverse=True))
        squares = sum(r * r for r in ranges)
        self.assertAlmostEqual(found["combined_standard_uncertainty"], (squares / 3)**0.5)
        cumulated = 0
        for p in rows:
            self.assertEqual(p["carries_90_percent"], cumulated < 0.9, p["path"])
            cumulated += p["share"]
            self.assertAlmostEqual(p["share"], p["half_range"]["mean"]**2 / squares)
            self.assertAlmostEqual(p["cumulated"], cumulated)
        self.assertAlmostEqual(cumulated, 1)
        why = {p["path"]: p["why"] for p in found["not_varied"]}
        self.assertEqual((why["pcie.slot0.lanes"], why["caches.llc_size"], why["cluster.host.core.alu.ports"],
                          why["pcie.slot0.credit_update"]), ("setting", "exact", "no-number", "no-other-value"))
        self.assertFalse(set(why) & {p["path"] for p in rows})

    def test_an_end_whose_run_fails_is_left_out(self):
        # 1000 ticks are 100 us, or 310,000 cycles, at 10 MHz; at 7.5 MHz they take too long, and at 12.5 MHz 80 us.
        self.write("guest.elf", assemble(WAITS + PASS + "late:" + FAIL.format(code=7)))
        path = self.write("waits.toml", "extends = ['hosts/i9-9960x']\n[cluster.host]\nfirmware = 'guest.elf'\n")
        found = json.loads(self.succeed("sensitivity", path, "--json"))
        row = next(p for p in found["parameters"] if p["path"] == "cluster.host.timebase")
        self.assertEqual(row, found["parameters"][0])
        self.assertEqual((row["less"]["value"], row["more"]["value"]), ("7.5 MHz", "12.5 MHz"))
        self.assertIn("code 7", row["less"]["why_none"])
        self.assertAlmostEqual(row["more"]["effect"]["mean"], -20_000, delta=100)
        self.assertEqual(row["half_range"]["mean"], -row["more"]["effect"]["mean"])
        self.assertGreater(row["share"], 0.99)
        text = self.succeed("sensitivity", path)
        self.assertRegex(text, r"\n  \*  cluster\.host\.timebase +10 MHz +assumed +25 % +- +-20\.\d\d us ")
        self.assertIn("\n  Run with more only, whose effect stands for both:\n", text)
        self.assertIn("Of the spread, 90 % comes from 1 parameter; 1 of them is assumed (*): cluster.host.timebase.", text)

    def test_the_report(self):
        path = self.tiny("dram_latency = { value = '80 ns', kind = 'measured', source = 'us', uncertainty = '50 %' }\n")
        text = self.succeed("sensitivity", path)
        self.assertTrue(text.startswith("tiny: what the simulated time hangs on\n"), text)
        self.assertRegex(text, r"\n  simulated time [\d.]+ [mu]s, over 5 replications; \d+ runs in all\n")
        self.assertIn("All 5 replications gave the same: nothing here is random, so there are no intervals.", text)
        self.assertRegex(text, r"(?m)^     caches\.dram_latency +80 ns +measured +50 %  +-[\d.]+ [nu]s \(-[\d.]+ %\)  "
                         r"+\+[\d.]+ [nu]s \(\+[\d.]+ %\) ")
        carrying, assumed = text.split("\n  Of the spread, 90 % comes from ")[1].split("\n")[0].split(" parameters; ")
        marked = [line.split()[1] for line in text.splitlines() if line.startswith("  *  ")]
        self.assertGreater(int(carrying), len(marked) - 1)
        self.assertEqual(assumed.split("assumed (*): ")[1].rstrip("."), ", ".join(marked))
        self.assertIn("\n  Could not be varied:\n", text)
        self.assertNotIn("root.completion_timeout", text)
        self.assertIn("\n    root.completion_timeout\n", self.succeed("sensitivity", path, "--all"))

    def test_the_uncertainty_of_a_board_file_acts(self):
        def dram(uncertainty):
            path = self.tiny("dram_latency = { value = '80 ns', kind = 'measured', source = 'us', "
                             f"uncertainty = '{uncertainty}' }}\n")
            found = json.loads(self.succeed("sensitivity", path, "--json"))
            return next((p for p in found["parameters"] if p["path"] == "caches.dram_latency"), None)

        wide, narrow = dram("50 %"), dram("25 %")
        self.assertEqual((wide["less"]["value"], wide["more"]["value"]), ("40 ns", "120 ns"))
        self.assertEqual((narrow["less"]["value"], narrow["more"]["value"]), ("60 ns", "100 ns"))
        self.assertAlmostEqual(wide["half_range"]["mean"] / narrow["half_range"]["mean"], 2, delta=0.4)
        self.assertIsNone(dram("0 %"))

    def test_the_same_board_gives_the_same_report(self):
        path = self.tiny()
        once = self.succeed("sensitivity", path, "--json", "--replications=1")
        self.assertEqual(once, self.succeed("sensitivity", path, "--json", "--replications=1", cwd="/"))

    def test_a_board_that_fails_is_not_varied(self):
        self.write("fails.elf", finisher_guest(7 << 16 | 0x3333))
        path = self.write("fails.toml", "extends = ['hosts/i9-9960x']\n[cluster.host]\nfirmware = 'fails.elf'\n")
        run, varied = sluice("run", path), sluice("sensitivity", path)
        self.assertEqual((run.returncode, varied.returncode, varied.stdout), (1, 1, ""))
        self.assertEqual(varied.stderr, run.stderr)

    def test_an_interruption_ends_it_without_a_report(self):
        with subprocess.Popen([SLUICE, "sensitivity", self.tiny()], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            wait_until_caught(process.pid, signal.SIGINT)
            process.send_signal(signal.SIGINT)
            output, error = process.communicate(timeout=60)
        self.assertEqual((process.returncode, output), (1, ""))
        self.assertRegex(error, r"^sluice: sensitivity: interrupted by SIGINT when \d+ of \d+ runs .* had ended\n$")

    def test_mistakes(self):
        path = self.tiny()
        self.assert_mistake(["sensitivity", "e810-poll", "--of=speed"],
                            "--of speed: must be one of mean, p50, p90, p99, throughput, time")
        self.assert_mistake(["sensitivity", path, "--of=p99"], f"--of p99: the runs of {path} have neither calls nor "
                            "packets, so it must be time")
        self.assert_mistake(["sensitivity", path, "--replications=0"], "--replications 0: must be a whole number, 1 to 1000")
        self.assert_mistake(["sensitivity", path, "--requests=5"],
                            "--requests 5: the board has no Ethernet link to make calls on")
        self.assert_mistake(["sensitivity", "e810-pol"], "e810-pol: no such board; did you mean e810-poll?")
        self.assert_mistake(["sensitivity", path, "--set=caches.llc_ways=7"], "--set caches.llc_ways=7: caches.llc_size must be a multiple of 448 B...")
        # What only a run finds is said once, whatever the number of runs.
        self.assert_mistake(["sensitivity", path, "--firmware=none.elf"], "--firmware none.elf: ...")
        for uncertainty, what in (("'120 %'", "must be 0 % to 100 % of the value"), ("'-1 %'", "must not be negative"),
                                  ("'5 ns'", 'must be a ratio such as 0.39, "39 %" or "128/130"')):
            wrong = self.tiny(f"dram_latency = {{ value = '80 ns', source = 'us', uncertainty = {uncertainty} }}\n")
            self.assert_mistake(["sensitivity", wrong], f"{wrong}:7: caches.dram_latency.uncertainty {what}")
        wrong = self.tiny("timing = { value = 'cached', source = 'us', uncertainty = '1 %' }\n")
        self.assert_mistake(["describe", wrong], f"{wrong}:7: caches.timing has an uncertainty, but a choice of the board "
                            "has none: leave it out")


if __name__ == "__main__":
    unittest.main()
