# SPDX-License-Identifier: Apache-2.0
"""`sluice reproduce`: published values beside modelled ones, verdicts, the rules that keep claims honest, mistakes."""

import csv
import json
import os
import signal
import subprocess
import time
import unittest

from command import SLUICE, SOURCE, CommandTest, sluice

STUDY = """
boards = ["e810-poll", "e810-irq"]
seeds = [1, 2, 3, 4, 5]
[settings]
workload.requests = 60
workload.warmup = 0
[grid]
workload.outstanding = [1, 4]
"""
CLAIM = """
[[claim]]
name = "{name}"
role = "tested"
source = "a paper"
study = "calls.toml"
board = "e810-poll"
at = {{ workload.outstanding = 1 }}
"""
VALUE = 'value = "latency_ns.mean / 1000"\nunit = "us"\npublished = 2\n'
ORDERING = """
unit = "us"
ordering = "poll < irq"
terms.poll.value = "latency_ns.mean / 1000"
terms.irq = {{ board = "{irq}", value = "latency_ns.mean / 1000" }}
"""


class ReproduceTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("calls.toml", STUDY)

    def claims(self, *texts):
        self.write("own.toml", "".join(texts))

    def reproduce(self, *arguments, status=0, **options):
        if not any(a.startswith("--out") for a in arguments):
            arguments = ("--out=out", *arguments)
        process = sluice("reproduce", "--claims=own.toml", *arguments, cwd=self.directory, **options)
        self.assertEqual(process.returncode, status, process.stdout + process.stderr)
        return process

    def results(self):
        """The paths of all result files, with when each was written."""
        return {os.path.join(place, "result.json"): os.stat(os.path.join(place, "result.json")).st_mtime_ns
                for place, _, names in os.walk(os.path.join(self.directory, "out/calls/points")) if "result.json" in names}

    def outcome(self, name, status=0, *arguments):
        (claim,) = json.loads(self.reproduce(name, "--json", *arguments, status=status).stdout)["claims"]
        return claim

    def refuse(self, sentence, *arguments):
        process = sluice("reproduce", "--claims=own.toml", "--out=out", *arguments, cwd=self.directory)
        self.assertEqual((process.returncode, process.stderr), (2, f"sluice: {sentence}\n"))


class Values(ReproduceTest):
    def test_a_value_is_that_of_the_study(self):
        self.claims(CLAIM.format(name="own.mean"), VALUE)
        claim = self.outcome("own.mean")
        self.assertEqual((claim["verdict"], claim["runs"], claim["published"]), ("shown", 5, 2))
        self.assertEqual(claim["terms"][0]["settings"], {"workload.outstanding": "1"})
        self.succeed("sweep", "calls.toml", cwd=self.directory)
        with open(os.path.join(self.directory, "calls.sweep/study.csv"), newline="", encoding="utf-8") as file:
            means = [float(row["latency_ns.mean"]) / 1000 for row in csv.DictReader(file)
                     if (row["board"], row["workload.outstanding"]) == ("e810-poll", "1")]
        self.assertEqual(len(means), 5)
        self.assertAlmostEqual(claim["modelled"], sum(means) / 5, places=9)
        self.assertAlmostEqual(claim["error"], claim["modelled"] / 2 - 1, places=9)
        low, high = claim["interval_95"]
        self.assertTrue(low < claim["modelled"] < high)

    def test_only_what_a_claim_needs_is_run_and_nothing_twice(self):
        self.claims(CLAIM.format(name="own.mean"), VALUE)
        self.reproduce("own.mean")
        results = [os.path.join(place, name) for place, _, names in os.walk(os.path.join(self.directory, "out/calls/points"))
                   for name in names if name == "result.json"]
        self.assertEqual(len(results), 5)
        written = [os.stat(path).st_mtime_ns for path in results]
        self.reproduce("own.mean")
        self.assertEqual([os.stat(path).st_mtime_ns for path in results], written)

    def test_the_same_bytes_whatever_the_jobs(self):
        self.claims(CLAIM.format(name="own.mean"), VALUE)
        contents = []
        for jobs in (1, 3):
            self.reproduce("own.mean", f"--jobs={jobs}", f"--out=jobs-{jobs}")
            contents.append([])
            for name in ("claims.json", "claims.csv", "report.html"):
                with open(os.path.join(self.directory, f"jobs-{jobs}", name), "rb") as file:
                    contents[-1].append(file.read())
        self.assertEqual(contents[0], contents[1])

    def test_a_setting_without_effect_is_told(self):
        self.claims(CLAIM.format(name="own.mean"), VALUE)
        self.assertEqual(self.reproduce("own.mean", "--set=workload.rate=1 M/s", "--set=workload.think=1 us").stderr,
                         "sluice: reproduce: in every run, workload.rate (--set) has no effect: workload.kind is "
                         "closed-loop\n")

    def test_a_setting_where_nothing_runs(self):
        self.claims(CLAIM.format(name="own.mean"), VALUE)
        self.refuse("--set a.b=1: none of these claims runs, so it has no effect", "nagare", "--set=a.b=1")

    def test_a_quantity_alone_has_its_unit(self):
        self.claims(CLAIM.format(name="own.mean"), VALUE.replace(" / 1000", ""))
        self.refuse("own.toml:2: own.mean: latency_ns.mean is in ns, and the claim's unit is us", "own.mean")

    def test_a_study_that_is_not_there_is_named_with_the_claim(self):
        self.claims(CLAIM.format(name="own.mean").replace("calls.toml", "cals.toml"), VALUE)
        self.refuse("own.toml:2: there is no study cals.toml", "own.mean")

    def test_a_ratio_of_boards_is_paired(self):
        self.claims(CLAIM.format(name="own.ratio"), 'unit = "1"\npublished = [1, 9]\nvalue = "irq / poll"\n',
                    'terms.poll.value = "latency_ns.mean"\nterms.irq = { board = "e810-irq", value = "latency_ns.mean" }\n')
        claim = self.outcome("own.ratio")
        poll, irq = (t["modelled"] for t in claim["terms"])
        self.assertAlmostEqual(claim["modelled"], irq / poll, delta=0.01 * claim["modelled"])
        self.assertEqual((claim["error"], claim["published"], claim["published_range"]), (0, None, [1, 9]))
        # The mean of the runs' ratios, which is not the ratio of the means.
        self.succeed("sweep", "calls.toml", cwd=self.directory)
        with open(os.path.join(self.directory, "calls.sweep/study.csv"), newline="", encoding="utf-8") as file:
            means = {(row["board"], row["seed"]): float(row["latency_ns.mean"]) for row in csv.DictReader(file)
                     if row["workload.outstanding"] == "1"}
        ratios = [means["e810-irq", str(seed)] / means["e810-poll", str(seed)] for seed in range(1, 6)]
        self.assertAlmostEqual(claim["modelled"], sum(ratios) / 5, places=12)
        self.assertIsNotNone(claim["interval_95"])

    def test_a_tolerance_that_is_left_ends_with_one(self):
        limited = VALUE + 'within = "{within}"\n'
        claim = CLAIM.format(name="own.limited").replace('"tested"', '"arithmetic"')
        self.claims(claim, limited.format(within="1 %"))
        modelled = self.outcome("own.limited", 1)["modelled"]
        process = self.reproduce("own.limited", status=1)
        self.assertEqual(process.stderr,
                         f"sluice: reproduce: off: own.limited is {modelled:.6g} us, not 2 within 1 %\n")
        within = f"{abs(modelled / 2 - 1) * 100 + 0.1:.1f} %"
        self.claims(claim, limited.format(within=within))
        self.assertEqual(self.outcome("own.limited")["verdict"], "holds")

    def test_an_order_that_flips_ends_with_one(self):
        self.claims(CLAIM.format(name="own.order"), ORDERING.format(irq="e810-irq"))
        self.assertEqual(self.outcome("own.order")["verdict"], "holds")
        self.claims(CLAIM.format(name="own.order"), ORDERING.format(irq="e810-irq").replace("poll < irq", "irq < poll"))
        process = self.reproduce("own.order", status=1)
        self.assertRegex(process.stderr, r"^sluice: reproduce: flipped: own.order irq \(\S+\) is not below poll \(\S+\)\n$")
        # The same board is neither below nor above itself.
        self.claims(CLAIM.format(name="own.order"), ORDERING.format(irq="e810-poll"))
        self.assertEqual(self.outcome("own.order", 1)["verdict"], "flipped")

    def test_an_order_that_the_runs_do_not_tell_is_undecided(self):
        # The same board with other seeds: nothing but chance orders the two.
        self.write("others.toml", STUDY.replace("[1, 2, 3, 4, 5]", "[6, 7, 8, 9, 10]"))
        self.claims(CLAIM.format(name="own.order"), ORDERING.format(irq="e810-poll").replace("{ board", '{ study = "others.toml", board'))
        self.assertEqual(self.outcome("own.order", 1)["verdict"], "undecided")
        process = self.reproduce("own.order", status=1)
        self.assertRegex(process.stderr, r"^sluice: reproduce: undecided: own.order 5 runs do not tell whether poll \(\S+\) is "
                                         r"below irq \(\S+\)\n$")
        # A tail of few runs has no interval, and decides nothing either.
        tails = CLAIM.format(name="own.order") + ORDERING.format(irq="e810-poll").replace(
            "{ board", '{ study = "others.toml", board').replace("latency_ns.mean", "latency_ns.p99")
        self.write("calls.toml", STUDY.replace("[1, 2, 3, 4, 5]", "[1, 2, 3]"))
        self.write("others.toml", STUDY.replace("[1, 2, 3, 4, 5]", "[6, 7, 8]"))
        self.claims(tails)
        self.assertEqual(self.outcome("own.order", 1, "--out=tails")["verdict"], "undecided")
        # Nor does an expression over them have one.
        self.claims(tails.replace('ordering = "poll < irq"', 'published = 1\nvalue = "irq / poll"'))
        self.assertEqual(self.outcome("own.order", 1, "--out=tails")["why"],
                         "has terms whose runs saw other seeds, and an expression over them has no interval")
        self.write("calls.toml", STUDY)
        self.write("others.toml", STUDY.replace("[1, 2, 3, 4, 5]", "[6, 7, 8, 9, 10]"))
        # Boards that differ by more than chance are ordered by runs that are not paired, too.
        self.claims(CLAIM.format(name="own.order"), ORDERING.format(irq="e810-irq").replace("{ board", '{ study = "others.toml", board'))
        self.assertEqual(self.outcome("own.order")["verdict"], "holds")

    def test_one_changed_parameter_flips_an_order_and_leaves_a_tolerance(self):
        """The rule of acceptance: a deliberate change of a parameter is found, by the shipped claims."""
        self.claims(CLAIM.format(name="own.mean"), VALUE)
        process = self.reproduce("pcie.read.warm", "pcie.read.cold-is-slower", "--set=root.read_latency=400ns",
                                 "--jobs=2", status=1)
        self.assertIn("sluice: reproduce: off: pcie.read.warm.8 is ", process.stderr)
        self.assertNotIn("flipped", process.stderr)
        process = self.reproduce("pcie.read.cold-is-slower", "--set=caches.dma_dram_adder=0ns", status=1)
        self.assertRegex(process.stderr,
                         r"^sluice: reproduce: flipped: pcie.read.cold-is-slower.64 warm \(\S+\) is not below cold \(\S+\)\n$")
        with open(os.path.join(self.directory, "out/claims.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["changed"], ["caches.dma_dram_adder=0ns"])

    def test_a_run_that_fails_is_a_verdict(self):
        self.claims(CLAIM.format(name="own.mean"), VALUE)
        process = self.reproduce("own.mean", "--set=run.time_limit=1us", status=1)
        self.assertIn("sluice: reproduce: failed: own.mean has a run that failed: ", process.stderr)
        self.assertIn("1 failed", process.stdout)

    def test_the_page_and_the_tables(self):
        self.claims(CLAIM.format(name="own.<b>&quot;"), VALUE)
        self.reproduce("own")
        with open(os.path.join(self.directory, "out/report.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertIn("own.&lt;b&gt;&amp;quot;", page)
        self.assertNotIn("own.<b>", page)
        with open(os.path.join(self.directory, "out/claims.csv"), newline="", encoding="utf-8") as file:
            (row,) = csv.DictReader(file)
        self.assertEqual((row["claim"], row["role"], row["verdict"], row["runs"]), ("own.<b>&quot;", "tested", "shown", "5"))
        self.assertEqual(self.succeed("report", "out", cwd=self.directory), "out/report.html\n")

    def test_an_interruption_keeps_what_is_complete(self):
        self.write("calls.toml", STUDY.replace("requests = 60", "requests = 100000"))
        self.claims(CLAIM.format(name="own.mean"), VALUE)
        with subprocess.Popen([SLUICE, "reproduce", "--claims=own.toml", "--out=out", "--jobs=1", "own.mean"], cwd=self.directory,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            while not self.results():
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        self.assertEqual((process.returncode, said),
                         (1, "sluice: reproduce: interrupted by SIGINT; the same command goes on\n"))
        before = self.results()
        self.assertLess(len(before), 5)
        self.reproduce("own.mean")
        self.assertEqual({path: at for path, at in self.results().items() if path in before}, before)
        self.assertEqual(len(self.results()), 5)

    def test_a_damaged_result_is_named_and_runs_again(self):
        self.claims(CLAIM.format(name="own.mean"), VALUE)
        good = self.outcome("own.mean")
        with open(next(iter(self.results())), "w", encoding="utf-8") as file:
            file.write("garbage")
        process = self.reproduce("own.mean", "--json")
        self.assertRegex(process.stderr, r"^sluice: reproduce: out/calls/points/\S+/result.json [^\n]*, so the point runs again\n$")
        self.assertEqual(json.loads(process.stdout)["claims"], [good])


class Lists(ReproduceTest):
    def test_claims_are_chosen_by_name_by_beginning_and_by_row(self):
        names = lambda *a: [c["name"] for c in json.loads(self.succeed("reproduce", "--list", "--json", *a))["claims"]]
        self.assertEqual(names("pcie.direct-read.warm.8"), ["pcie.direct-read.warm.8"])
        self.assertEqual(names("pcie.read.warm"), [f"pcie.read.warm.{x}" for x in ("8", "64", "64-p999", "128")])
        self.assertEqual(names("V6"), ["echo.read-metadata-share.64", "enso.metadata"])
        self.assertGreater(len(names()), 100)
        self.assertFalse(os.path.exists(os.path.join(self.directory, "reproduce.sweep")))

    def test_quick_leaves_out_what_is_long_and_says_so(self):
        self.claims(CLAIM.format(name="own.mean"), VALUE, "long = true\n")
        process = self.reproduce("own.mean", "--quick")
        self.assertIn("left out with --quick: own.mean\n", process.stdout)
        self.assertIn("1 claim: 1 left out\n", process.stdout)
        self.assertFalse(os.path.exists(os.path.join(self.directory, "out/calls")))

    def test_what_no_model_holds_is_named(self):
        process = self.reproduce("nagare")
        self.assertIn("no model holds yet, for lack of Nagare's programmable switch:\n  nagare.chain-latency (V12): ",
                      process.stdout)
        self.assertIn("2 claims: 2 lacking\n", process.stdout)

    def setUp(self):
        super().setUp()
        self.claims(CLAIM.format(name="own.mean"), VALUE)


class Mistakes(ReproduceTest):
    def test_of_the_command_line(self):
        self.claims(CLAIM.format(name="own.mean"), VALUE)
        self.refuse("reproduce: there is no claim own.maen; did you mean own.mean?", "own.maen")
        self.refuse("--set foo: must be PATH=VALUE", "own.mean", "--set=foo")
        self.refuse("--set workload.outstanding=3: workload.outstanding is swept by the study calls, so it cannot be set",
                    "own.mean", "--set=workload.outstanding=3")
        self.refuse("none.toml: no such file", "--claims=none.toml")

    def test_of_cases(self):
        self.claims(CLAIM.format(name="a").replace("= 1", "= 2"), VALUE)
        self.refuse("own.toml:2: a: calls.toml has no case with e810-poll, workload.outstanding = 2; `sluice sweep calls.toml "
                    "--list` shows what it has", "a")
        self.claims(CLAIM.format(name="a").replace("e810-poll", "e810-pol"), VALUE)
        self.refuse("own.toml:2: a: calls.toml has no board e810-pol; did you mean e810-poll?", "a")
        self.claims(CLAIM.format(name="a").replace("at = { workload.outstanding = 1 }\n", ""), VALUE)
        self.refuse("own.toml:2: a: calls.toml has 2 such cases, e810-poll, workload.outstanding = 1, seed 1 and e810-poll, "
                    "workload.outstanding = 4, seed 1 among them; say more in `at`", "a")
        self.claims(CLAIM.format(name="a").replace("workload.outstanding", "workload.outstandin"), VALUE)
        self.refuse("own.toml:8: calls.toml does not sweep workload.outstandin; did you mean workload.outstanding?", "a")
        self.claims(CLAIM.format(name="a").replace("calls.toml", "pcie-latenc"), VALUE)
        self.refuse("own.toml:2: there is no study pcie-latenc; did you mean pcie-latency?", "a")

    def test_of_values_before_anything_runs(self):
        for value, sentence in (("+ +", "'latency_ns.mean + +' "), ("+ (", "'latency_ns.mean + (' "),
                                ("== 1", "'latency_ns.mean == 1' gives no number")):
            self.claims(CLAIM.format(name="a"), VALUE.replace("/ 1000", value))
            process = sluice("reproduce", "--claims=own.toml", "--out=out", "a", cwd=self.directory)
            self.assertEqual(process.returncode, 2)
            self.assertTrue(process.stderr.startswith("sluice: own.toml:2: value = " + sentence), process.stderr)
            self.assertEqual(process.stderr.count("\n"), 1)
        self.assertFalse(os.path.exists(os.path.join(self.directory, "out")))

    def test_values_that_results_do_not_give_are_verdicts(self):
        good = CLAIM.format(name="b") + VALUE
        self.claims(good, CLAIM.format(name="a"), VALUE.replace("latency_ns.mean", "latency_ns.maen"))
        process = self.reproduce("a", "b", status=1)
        self.assertEqual(process.stderr, "sluice: reproduce: own.toml:13: no result has latency_ns.maen; did you mean "
                                         "latency_ns.mean?\n"
                                         "sluice: reproduce: failed: a has results without latency_ns.maen\n")
        self.assertIn("2 claims: 1 shown, 1 failed\n", process.stdout)
        self.claims(CLAIM.format(name="a"), VALUE.replace("/ 1000", "/ (latency_ns.mean - latency_ns.mean)"))
        self.assertEqual(self.reproduce("a", status=1).stderr,
                         "sluice: reproduce: failed: a has no finite number as its value: 'latency_ns.mean / (latency_ns.mean - "
                         "latency_ns.mean)'\n")

    def test_an_expression_of_several_lines_is_one(self):
        self.claims(CLAIM.format(name="a"), VALUE)
        one = self.outcome("a")["modelled"]
        self.claims(CLAIM.format(name="a"), VALUE.replace('"latency_ns.mean / 1000"', '"""latency_ns.mean / 1000\n + 1000"""'))
        self.assertAlmostEqual(self.outcome("a")["modelled"], one + 1000, places=6)

    def test_another_commands_directory_is_not_taken(self):
        self.claims(CLAIM.format(name="a"), VALUE)
        self.succeed("sweep", "calls.toml", "--out=out", cwd=self.directory)
        self.refuse("--out out: has the study.json of another command; name another directory", "a")

    def test_a_setting_that_the_study_sets_again_is_refused(self):
        self.claims(CLAIM.format(name="a"), VALUE)
        self.refuse("--set run.seed=9: run.seed is swept by the study calls, so it cannot be set", "a", "--set=run.seed=9")
        self.refuse("--list: nothing is run, so --jobs, --set, --quick and --retry-failed have no use beside it", "--list",
                    "--set=a=b")


class Honesty(ReproduceTest):
    def test_what_a_parameter_was_fitted_to_is_fitted(self):
        self.claims(CLAIM.format(name="pcie.read.broadwell.64"), VALUE)
        self.refuse("own.toml:2: pcie.read.broadwell.64 is claimed twice", "pcie.read.broadwell.64")
        self.claims(CLAIM.format(name="pcie.read"), VALUE)
        self.refuse("own.toml:2: pcie.read has a name that stands for all below it, as pcie.read.broadwell.64", "pcie.read")
        self.claims(CLAIM.format(name="own").replace('"tested"', '"fitted"'), VALUE, 'within = "1 %"\n')
        self.refuse("own.toml:2: own is not fitted: no parameter of its boards says that it was fitted to it", "own")

    def board(self, point):
        self.write("own-board.toml", 'summary = "x"\nextends = ["e810-poll"]\n[root]\nread_latency = '
                   f'{{ value = "100 ns", kind = "fitted", points = ["{point}"], source = "me" }}\n')
        self.write("calls.toml", STUDY.replace('"e810-irq"', '"own-board.toml"'))

    def test_a_parameter_is_fitted_to_a_claim_of_the_list(self):
        self.board("nowhere")
        self.claims(CLAIM.format(name="own").replace("e810-poll", "own-board"), VALUE)
        self.refuse("root.read_latency: fitted to nowhere, which is not in the list of claims", "own")

    def test_a_fitted_claim_is_no_validation(self):
        self.board("own")
        claim = CLAIM.format(name="own").replace("e810-poll", "own-board")
        self.claims(claim, VALUE)
        self.refuse("own.toml:2: own is not tested: root.read_latency was fitted to it", "own")
        self.claims(claim.replace('"tested"', '"arithmetic"'), VALUE, 'within = "1 %"\n')
        self.refuse("own.toml:2: own is not arithmetic: root.read_latency was fitted to it", "own")
        self.claims(claim.replace('"tested"', '"fitted"'), VALUE, 'within = "1 %"\n')
        self.assertEqual(self.outcome("own", 1)["parameters"], ["root.read_latency"])

    def test_an_input_names_its_parameter(self):
        claim = CLAIM.format(name="own").replace('"tested"', '"input"')
        self.claims(claim, VALUE, 'within = "1 %"\n')
        self.refuse("own.toml:2: own is an input, and must say in parameters whose value it is", "own")
        self.claims(claim, VALUE, 'within = "1 %"\nparameters = ["nic.eth0.speed"]\n')
        self.refuse("own.toml:2: own nic.eth0.speed is no parameter of its boards", "own")


class Shipped(unittest.TestCase):
    def test_studies_of_claims_are_shipped(self):
        names = {name[:-5] for name in os.listdir(os.path.join(SOURCE, "studies")) if name.endswith(".toml")}
        self.assertLessEqual({"echo-rate", "echo-caches", "pcie-latency", "pcie-bandwidth", "pcie-iommu"}, names)


if __name__ == "__main__":
    unittest.main()
