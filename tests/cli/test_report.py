# SPDX-License-Identifier: Apache-2.0
"""`sluice report`: pages of runs, comparisons and studies. Called as test_report.py SLUICE BUILD-DIRECTORY."""

import base64
import copy
import json
import os
import random
import re
import resource
import shutil
import subprocess
import time
import unittest

from command import SOURCE, CommandTest, sluice
from report_page import LIBRARIES, Page, axes_of, csv_rows, fields_of, folder_of
from report_studies import large_study, run, small_study

UNIT = re.compile(r"^\S.* \([^()]+\)$", re.DOTALL)
NASTY = "</script><b>\"'&\n\u2028 {{x}}"
CHROMIUM = shutil.which("chromium")


class ReportTest(CommandTest):
    def report(self, directory, *arguments, **options):
        page = self.succeed("report", directory, *arguments, **options).strip()
        return os.path.join(options.get("cwd") or "", page)

    def path(self, name):
        return os.path.join(self.directory, name)

    def assert_says(self, page, text):
        self.assertTrue(text in page.text, text)

    def assert_sound(self, path):
        """What holds for every page: it stands alone, axes have units, and numbers are those of the CSV files."""
        page = Page(path)
        self.assertEqual(page.references(), [])
        self.assertEqual(page.unbalanced, [])
        policy = [a["content"] for t, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"]
        self.assertTrue(policy and policy[0].startswith("default-src 'none'"), policy)
        identifiers = [a["id"] for _, a in page.elements if "id" in a]
        self.assertEqual(len(identifiers), len(set(identifiers)))
        for tag, attributes in page.elements:
            if tag == "a":
                self.assertIn(attributes["href"][1:], identifiers)
        self.assertTrue(page.plots)
        for name, plot in page.plots.items():
            with self.subTest(plot=name):
                axes = dict(axes_of(plot))
                self.assertLessEqual({"x", "y"}, set(axes))
                for channel, title in axes_of(plot):
                    self.assertRegex(title, UNIT, channel)
                fields = [c["field"] for c in plot["columns"]]
                self.assertLessEqual(set(fields_of(plot)), set(fields))
                rows = [[c["title"] for c in plot["columns"]], *plot["rows"]]
                self.assertEqual(csv_rows(os.path.join(folder_of(path), name + ".csv")), rows)
                for row in plot["rows"]:
                    for column, cell in zip(plot["columns"], row, strict=True):
                        if column["number"] and cell:
                            float(cell)
                self.assertTrue(plot["rows"])
        self.assertEqual(sorted(os.listdir(folder_of(path))), sorted(n + ".csv" for n in page.plots))
        return page


class OfPages(ReportTest):
    def test_what_is_wrong_is_found(self):
        """The tests' own look at pages."""
        for wrong in ("<img src='http://x/y.png'>", "<link href='#a'>", "<base href='#'>", "<iframe></iframe>",
                      "<a href='https://x/'>x</a>", "<a href='//x/'>x</a>", "<script src='x.js'></script>",
                      "<style>@import 'x.css';</style>", "<style>p { background: url(x.png); }</style>",
                      "<script>fetch('x')</script>", "<p onclick='f()'>x</p>", "<script>\n//# sourceMappingURL=x</script>"):
            path = self.write("page.html", f"<html><body>{wrong}</body></html>")
            self.assertTrue(Page(path).references(), wrong)
        right = self.write("page.html", "<html><body><a href='#x'>x</a><a href='data:,x'>y</a></body></html>")
        self.assertEqual((Page(right).references(), Page(right).unbalanced), ([], []))
        self.assertTrue(Page(self.write("page.html", "<html><p><b></p></b></html>")).unbalanced)
        for title in ("latency p99", "latency p99 ()", "(ns)", ""):
            self.assertNotRegex(title, UNIT)


class OfARun(ReportTest):
    def test_a_page_has_the_numbers_of_the_run(self):
        out = self.path("out")
        self.succeed("run", "e810-irq", "--requests=200", "--out", out, "--set=workload.think=2 us")
        with open(os.path.join(out, "result.json"), encoding="utf-8") as file:
            result = json.load(file)
        page = self.assert_sound(self.report(out))
        stages = page.plots["stages"]["rows"]
        self.assertAlmostEqual(sum(float(r[4]) for r in stages), result["latency_ns"]["mean"], delta=1e-3)
        # The sum of the parts of a stage, which several components may have.
        memory = sum(s["mean_ns"] for s in result["stages"] if s["name"] == "memory")
        self.assertEqual([float(r[4]) for r in stages if r[1] == "memory"], [memory])
        latency = {r[1]: float(r[2]) for r in page.plots["quantiles"]["rows"]}
        expected = {("p99.9" if k == "p999" else k): v for k, v in result["latency_ns"].items()
                    if k in ("min", "p50", "p90", "p99", "p999", "max")}
        self.assertEqual(latency, expected)
        cores = {r[1]: float(r[4]) for r in page.plots["cores"]["rows"]}
        self.assertEqual(cores, {k.replace("_", " "): v for k, v in result["cores"][0]["time"].items() if v})
        links = {r[1]: float(r[2]) for r in page.plots["links"]["rows"]}
        self.assertEqual(links, {f"{l['name']} {l['direction']}": l["utilisation"] for l in result["links"]})
        self.assert_says(page, "sluice run e810-irq --set 'workload.think=2 us' --set workload.requests=200")
        self.assert_says(page, result["firmware"][0]["sha256"])
        self.assert_says(page, "seed 1, replication 0")

    def test_every_parameter_has_its_value_kind_and_source(self):
        out = self.path("out")
        self.succeed("run", "e810-poll", "--requests=200", "--out", out)
        with open(os.path.join(out, "result.json"), encoding="utf-8") as file:
            board = json.load(file)["board"]
        page = Page(self.report(out))
        kinds = {}
        for path, instance in board["instances"].items():
            self.assert_says(page, path)
            for key, p in instance["parameters"].items():
                kinds[p["kind"]] = kinds.get(p["kind"], 0) + 1
                for text in (key, p["text"], p["source"], p["set_by"]):
                    self.assert_says(page, text)
        self.assert_says(page, ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())))
        self.assertRegex(page.source, r"<b>nic\.eth0</b><span>descriptor, driver poll</span>")
        self.assertRegex(page.source, r"<b>root port 0: pcie\.slot0</b><span>PCIe 3\.0 x16</span>")

    def test_a_histogram_is_drawn_as_a_distribution(self):
        result = run("e810-poll")
        result["latency_ns"]["histogram"] = {"count": 10, "sum_fs": "1", "min_fs": 1, "max_fs": 3,
                                             "first_fs": [2000000, 3000000, 4500000], "counts": [5, 4, 1]}
        self.write("out/result.json", json.dumps(result))
        page = self.assert_sound(self.report(self.path("out")))
        self.assertEqual(page.plots["distribution"]["rows"], [["e810-poll", "2", "10", "1"], ["e810-poll", "3", "5", "0.5"],
                                                              ["e810-poll", "4.5", "1", "0.1"]])
        del result["latency_ns"]["histogram"]["counts"][0]
        self.write("out/result.json", json.dumps(result))
        self.assert_mistake(["report", "out"], "out/result.json: latency_ns.histogram must have as many counts as first_fs")

    def test_a_run_writes_its_page(self):
        out = self.path("out")
        printed = self.succeed("run", "e810-poll", "--requests=200", "--out", out, "--report")
        self.assertTrue(printed.endswith(f"\n\n  Plots of this are on the page {out}/report.html\n"), printed)
        with open(os.path.join(out, "report.html"), "rb") as file:
            page = file.read()
        with open(self.report(out), "rb") as file:
            self.assertEqual(file.read(), page)
        json.loads(self.succeed("run", "e810-poll", "--requests=200", "--out", out, "--report", "--json"))
        for command in (("run", "e810-poll"), ("compare", "e810-poll", "e810-irq")):
            self.assert_mistake([*command, "--report"], "--report needs --out: the directory that the page goes to")

    def test_other_workloads(self):
        for name, arguments, plots in (
                ("dma", ("haswell-nfp", "--workload=dma", "--sizes=8..32"), ("dma-latency", "dma-throughput")),
                ("packets", ("e810-echo", "--requests=2000"), ("packets", "stages")),
                ("loopback", ("enzian-eci-pio", "--sizes=64..256:64"), ("loopback", "loopback-transmit",
                                                                        "loopback-receive")),
                ("message-rtt", ("enzian-lauberhorn", "--workload=message-rtt", "--sizes=64,128", "--set=workload.messages=20"),
                 ("message-rtt", "stages")),
                ("sweep", ("e810-poll", "--requests=200", "--set=workload.kind=load-sweep",
                           "--set=workload.rates=[1000000, 4000000]"), ("load-latency",))):
            with self.subTest(name=name):
                out = self.path(name)
                sluice("run", *arguments, "--out", out)
                page = self.assert_sound(self.report(out))
                self.assertLessEqual(set(plots), set(page.plots))

    def test_a_workload_says_what_of_its_lists_is_drawn(self):
        out = self.path("out")
        self.succeed("run", "enzian-pcie-pio", "--sizes=64,128", "--out", out)
        page = self.assert_sound(self.report(out))
        with open(os.path.join(out, "result.json"), encoding="utf-8") as file:
            result = json.load(file)
        expected = {(line, r["bytes"], r[key]) for r in result["loopback"]
                    for key, line in (("tx_ns", "transmit"), ("rx_ns", "receive"))}
        self.assertEqual({(line, float(x), float(y)) for _, line, x, y in page.plots["loopback"]["rows"]}, expected)
        for key, value, why in (
                ("list", "/rows", "plots[0].list must be the place of a list in the result"),
                ("list", "/loopback/rows", "loopback must be an object"),
                ("list", "loopback", "plots[0].list must begin with /"),
                ("name", "../x", "plots[0].name must be of small letters, digits and hyphens"),
                ("lines", {}, "plots[0].lines must be a list")):
            changed = json.loads(json.dumps(result))
            changed["plots"][0][key] = value
            self.write("out/result.json", json.dumps(changed))
            self.assert_mistake(["report", "out"], f"out/result.json: {why}...")

    def test_a_run_that_failed_says_why(self):
        out = self.path("out")
        run_of = sluice("run", "e810-poll", "--requests=200", "--out", out, "--set=run.stall_limit=1 us")
        self.assertEqual(run_of.returncode, 1)
        page = self.assert_sound(self.report(out))
        with open(os.path.join(out, "result.json"), encoding="utf-8") as file:
            self.assert_says(page, "The run failed: " + json.load(file)["failure"])


class OfAComparison(ReportTest):
    def compare(self, *arguments):
        out = self.path("out")
        printed = self.succeed("compare", "e810-poll", "e810-irq", "--json", "--out", out, *arguments)
        with open(os.path.join(out, "compare.json"), encoding="utf-8") as file:
            self.assertEqual(file.read(), printed)
        return json.loads(printed), self.assert_sound(self.report(out))

    def test_boards_lie_side_by_side(self):
        compared, page = self.compare("--requests=200", "--replications=3")
        mean = [r["latency_ns"]["mean"] for r in compared["results"]]
        self.assert_says(page, f"x{mean[1] / mean[0]:.3f}")
        self.assert_says(page, "nic.eth0.driver")
        rows = page.plots["quantiles"]["rows"]
        self.assertEqual({(b, float(v)) for b, q, v in rows if q == "p99"},
                         {(r["board"]["name"], r["latency_ns"]["p99"]) for r in compared["results"]})
        for paired in compared["paired"]:
            self.assert_says(page, paired["quantity"])

    def test_load_against_latency_has_intervals(self):
        compared, page = self.compare("--requests=200", "--replications=2", "--loads=20,60")
        rows = [[b, *map(float, numbers)] for b, *numbers in page.plots["load-mean"]["rows"]]
        expected = []
        for point in compared["curve"]:
            for board, cell in zip(("e810-poll", "e810-irq"), point["boards"]):
                mean, half = cell["mean_ns"]["mean"], cell["mean_ns"]["half_width_95"]
                expected.append([board, point["rate_per_s"], mean, mean - half, mean + half])
        self.assertEqual(rows, expected)

    def test_intervals_may_be_given_by_their_ends(self):
        out = self.path("out")
        self.succeed("compare", "e810-poll", "e810-irq", "--requests=200", "--loads=50", "--out", out)
        with open(os.path.join(out, "compare.json"), encoding="utf-8") as file:
            compared = json.load(file)
        compared["curve"][0]["boards"][1]["p99_ns"] = {"value": 7.5, "interval_95": [7, 9]}
        compared["paired"] = [{"board": "e810-irq", "quantity": "latency p99", "unit": "ns", "reference": 5, "difference": 2.5,
                               "interval": [-1.5, 6.25], "level": 0.9875, "verdict": "none"}]
        self.write("out/compare.json", json.dumps(compared))
        page = self.assert_sound(self.report(out))
        self.assertEqual(page.plots["load-p99"]["rows"][1][2:], ["7.5", "7", "9"])
        self.assertIn('<td class="number">-1.5 to 6.25</td><td>no difference</td>', page.source)

    def test_an_earlier_comparison_is_no_later_one(self):
        out = self.path("out")
        self.succeed("compare", "e810-poll", "e810-irq", "--requests=200", "--out", out)
        self.assert_mistake(["compare", "e810-poll", "e810-nothing", "--out", out], "...")
        self.assertEqual([n for n in os.listdir(out) if n.startswith("compare.json")], ["compare.json.old"])


class OfAStudy(ReportTest):
    @classmethod
    def setUpClass(cls):
        cls.study = small_study()

    def setUp(self):
        super().setUp()
        self.study_directory = self.study.write(self.path("study"))

    def test_every_quantity_lies_along_every_parameter(self):
        page = self.assert_sound(self.report(self.study_directory))
        for quantity in self.study.json["measure"]:
            for axis in self.study.json["axes"]:
                plot = page.plots[f"{quantity['quantity']}-by-{axis['path']}"]
                rows = [[r[0], float(r[1]), float(r[3]), r[4] and float(r[4]), r[5] and float(r[5]), int(r[6])] for r in plot["rows"]]
                expected = [[c["board"], c["numbers"][axis["path"]], e["value"], *(e["interval_95"] or ["", ""]), e["runs"]]
                            for c in self.study.json["cases"] for e in [c["quantities"][quantity["quantity"]]]]
                self.assertEqual(rows, expected)
            heat = page.plots[f"{quantity['quantity']}-by-workload.outstanding-and-workload.call.bytes"]
            self.assertEqual(sorted(float(r[3]) for r in heat["rows"]),
                             sorted(c["quantities"][quantity["quantity"]]["value"] for c in self.study.json["cases"]))
        # The unit is that of the boards' parameter, where the study has none.
        self.assertEqual(dict(axes_of(page.plots["latency_ns.p99-by-workload.outstanding"]))["x"], "workload.outstanding (calls)")

    def test_best_and_worst_and_who_wins(self):
        page = Page(self.report(self.study_directory))
        means = {c["quantities"]["latency_ns.mean"]["value"]: c for c in self.study.json["cases"]}
        best, worst = means[min(means)], means[max(means)]
        row = re.search(r"<td>latency_ns\.mean</td><td>ns</td>.*?</tr>", page.source).group()
        places = re.findall(r"<td>(e810-[^<]*)</td>", row)
        self.assertEqual(places, [f"{c['board']}: outstanding {c['settings']['workload.outstanding']}, "
                                  f"bytes {c['settings']['workload.call.bytes']}" for c in (best, worst)])
        wins = re.search(r"<td>latency_ns\.mean</td><td>less</td>(.*?)</tr>", page.source).group(1)
        self.assertEqual(re.findall(r">(\d+)", wins), ["4", "4", "0", "0"])
        self.assertNotIn("best-board-latency_ns.mean", page.plots)  # the same board everywhere

    def test_a_map_says_which_board_is_best_where(self):
        study = copy.deepcopy(self.study)
        best = []
        for case in study.json["cases"]:
            # With 64 B the first board has the lesser mean, with 1024 B the second.
            first = case["board"] == "e810-poll"
            small = case["settings"]["workload.call.bytes"] == "64"
            case["quantities"]["latency_ns.mean"] = {"value": 10 if first == small else 12, "runs": 2,
                                                     "interval_95": [9.5, 10.5] if first == small else [11.5, 12.5]}
            if first:
                best.append(["", case["settings"]["workload.outstanding"], case["settings"]["workload.call.bytes"],
                             "e810-poll" if small else "e810-irq", "yes"])
        page = self.assert_sound(self.report(study.write(self.path("other"))))
        self.assertEqual(page.plots["best-board-latency_ns.mean"]["rows"], best)

    def test_failed_points_are_named(self):
        page = Page(self.report(self.study_directory))
        self.assert_says(page, "16 runs in all: 15 done, 1 failed, 0 missing")
        self.assert_says(page, "the board has stalled")

    def test_a_result_file_that_is_wrong_is_left_out_and_named(self):
        for content in ("", '{"schema": "sluice-result-1"', '{"schema": "sluice-result-9"}', "[]",
                        '{"schema": "sluice-result-1", "board": 7}'):
            path = self.study.result_file(self.study_directory, 0)
            os.remove(path)
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
            done = sluice("report", self.study_directory)
            name = os.path.relpath(path, self.study_directory)
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stderr, rf"^sluice: {re.escape(name)}: .*\n$")
            page = self.assert_sound(done.stdout.strip())
            self.assert_says(page, done.stderr[len("sluice: "):].strip())

    def test_the_same_bytes_from_everywhere(self):
        first = self.report(self.study_directory)
        with open(first, "rb") as file:
            content = file.read()
        names = sorted(os.listdir(folder_of(first)))
        elsewhere = self.path("elsewhere")
        os.makedirs(elsewhere)
        second = self.report(os.path.relpath(self.study_directory, elsewhere), "--out", "page.html", cwd=elsewhere)
        with open(second, "rb") as file:
            self.assertEqual(file.read(), content)
        self.assertEqual(sorted(os.listdir(folder_of(second))), names)
        self.assertNotIn(self.directory.encode(), content)
        self.assertFalse([n for n in os.listdir(elsewhere) if "partial" in n])

    def test_names_stay_text(self):
        study = json.loads(json.dumps(self.study.json).replace("e810-irq", "NASTY"))
        study["name"] = study["summary"] = NASTY
        study["axes"].append({"path": NASTY, "unit": NASTY, "values": [NASTY, "b"]})
        for i, case in enumerate(study["cases"]):
            case["settings"][NASTY] = (NASTY, "b")[i % 2]
            case["board"] = case["board"].replace("NASTY", NASTY)
        for point in study["points"]:
            point["state"], point["failure"] = "failed", NASTY
        self.write("study/study.json", json.dumps(study))
        page = self.assert_sound(self.report(self.study_directory))
        self.assert_says(page, NASTY)
        self.assertEqual(len(page.scripts), len(LIBRARIES) + 1)
        self.assertEqual(page.source.count("</script>"), len(page.scripts) + len(page.plots))
        self.assertNotIn('<b>"', page.source)


class Limits(ReportTest):
    def results(self):
        return {b: run(b) for b in ("e810-poll", "e810-irq")}

    def test_a_thousand_points_are_at_most_five_mebibytes(self):
        more = [(f"latency_ns.{q}", "ns") for q in ("p50", "p90", "max")]
        for cases, runs in ((1000, 1), (333, 3)):
            study = large_study(cases, runs, self.results(), more).write(self.path(f"study{cases}"))
            page = self.report(study)
            self.assertLess(os.path.getsize(page), 5 << 20)
        self.assert_sound(page)

    def test_ten_thousand_points_within_a_minute_and_a_gibibyte(self):
        study = large_study(5000, 2, self.results()).write(self.path("study"))
        begin = time.monotonic()
        page = self.report(study)
        self.assertLess(time.monotonic() - begin, 60)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 1 << 20)
        self.assert_says(Page(page), "Of 5000 cases, the best and the worst")


class Mistakes(ReportTest):
    def test_directories_without_results(self):
        self.assert_mistake(["report", "nowhere"],
                            "report nowhere: there is no such directory; name the directory of a run, a comparison or a study")
        self.write("file", "")
        self.assert_mistake(["report", "file"],
                            "report file: is no directory; name the directory of a run, a comparison or a study")
        os.makedirs(self.path("empty"))
        self.assert_mistake(["report", "empty"],
                            "report empty: has no result.json, compare.json, study.json or claims.json; name the directory "
                            "that a run, a comparison, a sweep or `sluice reproduce` has written to")
        self.assert_mistake(["report"], "report: DIR is required")

    def test_files_that_are_wrong(self):
        for name, schema in (("study.json", "sluice-study-1"), ("compare.json", "sluice-compare-1"),
                             ("result.json", "sluice-result-1")):
            for content, why in (("", "is no JSON from its beginning to its end; it may have been cut off"),
                                 ('{"schema": "' + schema, "is no JSON from its beginning to its end; it may have been cut off"),
                                 ("\xff", "is no JSON from its beginning to its end; it may have been cut off"),
                                 ("[" * 100000, "is nested deeper than any file that sluice writes"),
                                 ("[]", "its content must be an object"),
                                 ("{}", f"its schema must be {schema}"),
                                 ('{"schema": 5}', f"its schema must be {schema}"),
                                 ('{"schema": "other-1"}', f"its schema must be {schema}, and is other-1"),
                                 ('{"schema": "' + schema + '"}', "...")):
                with self.subTest(name=name, content=content[:30]):
                    self.write(f"one/{name}", content.encode("latin-1"))
                    self.assert_mistake(["report", "one"], f"one/{name}: {why}")
            os.remove(self.path(f"one/{name}"))
            os.makedirs(self.path(f"one/{name}"))
            self.assert_mistake(["report", "one"], f"one/{name}: cannot be read: Is a directory")
            os.rmdir(self.path(f"one/{name}"))

    def test_a_page_that_cannot_be_written(self):
        self.succeed("run", "e810-poll", "--requests=200", "--out", self.path("out"))
        self.assert_mistake(["report", "out", "--out", "page.txt"], "--out page.txt: the page's name must end in .html")
        self.assert_mistake(["report", "out", "--out", "no/where/.html"], "--out no/where/.html: ...")
        self.write("taken", "")
        self.assert_mistake(["report", "out", "--out", "taken/x.html"], "--out taken/x.html: ...")
        os.makedirs(self.path("out/report.html"))
        self.assert_mistake(["report", "out"], "report out: out/report.html: cannot be written: ...")
        self.assertFalse([n for n in os.listdir(self.path("out")) if "partial" in n])

    def test_no_bytes_make_it_crash(self):
        """Inputs with one value, member or byte changed end with a page, or with a sentence."""
        draw = random.Random(1)
        small = {"e810-poll": run("e810-poll")}
        self.succeed("compare", "e810-poll", "e810-irq", "--requests=200", "--loads=50", "--out", self.path("c"))
        with open(self.path("c/compare.json"), encoding="utf-8") as file:
            compared = json.load(file)
        study = large_study(6, 1, small)
        study.write(self.path("study"))
        inputs = (("result.json", small["e810-poll"]), ("compare.json", compared), ("study.json", study.json))
        ended = set()
        for turn in range(int(os.environ.get("SLUICE_MUTANTS", "240"))):
            name, original = inputs[turn % 3]
            content = mutated(original, draw)
            directory = "study" if name == "study.json" else f"fuzz-{name}"
            self.write(f"{directory}/{name}", content)
            done = sluice("report", directory, cwd=self.directory)
            with self.subTest(turn=turn):
                self.assertIn(done.returncode, (0, 2), done.stderr)
                self.assertNotIn("internal error", done.stderr)
                if done.returncode == 2:
                    self.assertRegex(done.stderr, r"^sluice: .+\n$")
                else:
                    self.assertEqual(Page(self.path(f"{directory}/report.html")).unbalanced, [])
            ended.add(done.returncode)
        self.assertEqual(ended, {0, 2})


class Libraries(ReportTest):
    def fetch(self, directory):
        done = subprocess.run(["cmake", f"-DSLUICE_PLOT_LIBRARIES={directory}", "-P",
                               os.path.join(SOURCE, "cmake/SluicePlots.cmake")],
                              cwd=self.directory, capture_output=True, text=True, timeout=60, check=False)
        self.assertNotEqual(done.returncode, 0)
        return " ".join(done.stderr.split())

    def test_libraries_that_are_missing_or_others_are_refused(self):
        empty = self.path("empty")
        os.makedirs(empty)
        self.assertIn("SLUICE_PLOT_LIBRARIES names a directory without vega-6.4.0.tgz; it is "
                      "https://registry.npmjs.org/vega/-/vega-6.4.0.tgz", self.fetch(empty))
        self.write("others/vega-6.4.0.tgz", "not Vega")
        self.assertRegex(self.fetch(self.path("others")), r"vega-6\.4\.0\.tgz has the SHA-256 [0-9a-f]{64}, and must have 3521fb6f")


WRONG = (None, True, -1, 0, 1e308, -1e308, 5e-324, 2**64, "", "x", NASTY, [], {}, [[]], {"": None}, "NaN", "../../x")


def mutated(value, draw):
    """The JSON text of a copy in which something is wrong."""
    copy = json.loads(json.dumps(value))
    for _ in range(draw.randint(1, 3)):
        place = copy
        while True:
            keys = list(place) if isinstance(place, dict) else range(len(place))
            if not keys:
                break
            key = draw.choice(list(keys))
            if isinstance(place[key], (dict, list)) and place[key] and draw.random() < 0.85:
                place = place[key]
                continue
            if draw.random() < 0.2:
                del place[key]
            else:
                place[key] = draw.choice(WRONG)
            break
    text = json.dumps(copy).encode()
    how = draw.random()
    if how < 0.1:
        return text[:draw.randrange(len(text))]
    if how < 0.2:
        at = draw.randrange(len(text))
        return text[:at] + bytes([draw.randrange(256)]) + text[at + 1:]
    if how < 0.25:
        return text.replace(b"0.", draw.choice((b"NaN", b"1e999", b"-", b"0x")), 1)
    return text


@unittest.skipUnless(CHROMIUM, "there is no chromium that could draw the pages")
class Drawn(ReportTest):
    def chromium(self, *arguments):
        done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                               "--disable-background-networking", "--disable-component-update", "--disable-sync",
                               "--virtual-time-budget=20000", "--enable-logging=stderr",
                               f"--user-data-dir={self.path('profile')}", *arguments],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200, check=True)
        self.assertNotIn("CONSOLE", done.stderr)
        return done.stdout

    def with_script(self, path, script):
        """A copy of the page in which a script runs every 50 ms; what it says is in data-said of the root element."""
        with open(path, encoding="utf-8") as file:
            source = file.read()
        script = f"<script>setInterval(() => {{ document.documentElement.dataset.said = ({script})(); }}, 50)</script>"
        copy_of = self.write("copy.html", source.replace("</body>", script + "</body>"))
        dom = self.chromium("--window-size=1000,800", "--dump-dom", "file://" + copy_of)
        return re.search(r'data-said="([^"]*)"', dom).group(1)

    def assert_drawn(self, path):
        plots = Page(path).plots
        self.assertEqual(self.with_script(path, "() => document.documentElement.scrollWidth - innerWidth <= 0"), "true")
        for scheme in ("0", "1"):  # dark, light
            dom = self.chromium(f"--blink-settings=preferredColorScheme={scheme}", "--dump-dom", "file://" + path)
            self.assertIn('data-drawn="yes"', dom)
            figures = re.findall(r'<figure id="([^"]+)">(.*?)</figure>', dom, re.DOTALL)
            self.assertEqual([name for name, _ in figures], list(plots))
            for name, figure in figures:
                marks = re.findall(r'class="mark-(?:rect|symbol|line) role-mark[^"]*"[^>]*>(?:<g[^>]*>)*<path [^>]*d="M[^"]', figure)
                self.assertTrue(marks, name)
                self.assertNotIn("NaN", figure.split("<figcaption>")[0], name)
        pdf = self.path("page.pdf")
        self.chromium(f"--print-to-pdf={pdf}", "file://" + path)
        with open(pdf, "rb") as file:
            self.assertEqual(file.read(5), b"%PDF-")

    def test_a_study(self):
        study = small_study(NASTY)
        page = self.report(study.write(self.path("study")))
        self.assert_drawn(page)
        # A click sorts by the numbers, and another one the other way round.
        means = [(c["quantities"]["latency_ns.mean"]["value"], c["case"]) for c in study.json["cases"]]
        click = """() => {
          const table = document.querySelector("th button").closest("table");
          if (!table.dataset.clicks) for (let i = 0; i < CLICKS; ++i) table.querySelectorAll("th button")[4].click();
          table.dataset.clicks = "done";
          return Array.from(table.tBodies[0].rows, r => r.cells[0].textContent).join();
        }"""
        for clicks, expected in (("1", sorted(means)), ("2", sorted(means, reverse=True))):
            self.assertEqual(self.with_script(page, click.replace("CLICKS", clicks)), ",".join(str(c) for _, c in expected))

    def test_numbers_leave_the_page_as_in_the_file(self):
        page = self.report(small_study("a, \"b\"").write(self.path("study")))
        for name in ("stages", "latency_ns.p99-by-workload.outstanding"):
            said = self.with_script(page, f"() => btoa(csvOf(tableOf(document.getElementById('{name}'))))")
            with open(os.path.join(folder_of(page), name + ".csv"), "rb") as file:
                self.assertEqual(base64.b64decode(said), file.read())

    def test_a_comparison(self):
        self.succeed("compare", "e810-poll", "e810-irq", "--requests=200", "--loads=20,60", "--replications=2", "--out",
                     self.path("out"))
        self.assert_drawn(self.report(self.path("out")))

    def test_runs(self):
        sluice("run", "haswell-nfp", "--workload=dma", "--sizes=8..32", "--out", self.path("dma"))
        self.assert_drawn(self.report(self.path("dma")))


if __name__ == "__main__":
    unittest.main()
