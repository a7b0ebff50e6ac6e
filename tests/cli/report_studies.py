# SPDX-License-Identifier: Apache-2.0
"""Directories as a sweep writes them, for the tests of reports: few real runs, and copies of them."""

import hashlib
import json
import os
import statistics

from command import sluice

STUDENT_95 = {2: 12.706, 3: 4.303, 4: 3.182}  # two-sided, by the number of runs


def value_at(result, path):
    """The number at a path such as latency_ns.p99; None where there is none."""
    for part in path.split("."):
        result = result.get(part) if isinstance(result, dict) else None
    return result if isinstance(result, (int, float)) else None


def run(board, *settings):
    done = sluice("run", board, "--requests=200", "--warmup=50", "--json", *settings)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def estimate(values):
    half = None
    if len(values) > 1 and len(set(values)) > 1:
        half = STUDENT_95[len(values)] * statistics.stdev(values) / len(values)**0.5
    mean = statistics.fmean(values)
    return {"value": mean, "interval_95": None if half is None else [mean - half, mean + half], "runs": len(values)}


class Study:
    """Cases and points that are added one by one; write() makes the directory."""

    def __init__(self, name, axes, measure):
        self.json = {"schema": "sluice-study-1", "name": name, "summary": "What a test measures",
                     "program": {"version": "0.1.0", "sources": "c0ffee"},
                     "axes": [{"path": p, "unit": u, "values": v} for p, u, v in axes],
                     "measure": [{"quantity": q, "unit": u} for q, u in measure], "cases": [], "points": []}
        self.results = {}

    def add_case(self, board, settings, numbers, results, failure=""):
        """results: one for each run, a result file's content; None: this run has failed."""
        cases, points = self.json["cases"], self.json["points"]
        numbers_of = {}
        first = len(points)
        for replication, result in enumerate(results):
            key = json.dumps([board, settings, replication, len(points)])
            point = {"point": len(points), "id": hashlib.sha256(key.encode()).hexdigest()[:20], "case": len(cases),
                     "seed": 1, "replication": replication, "state": "done" if result else "failed",
                     "failure": "" if result else failure, "quantities": {}}
            for m in self.json["measure"]:
                value = value_at(result, m["quantity"]) if result else None
                if value is not None:
                    point["quantities"][m["quantity"]] = value
                    numbers_of.setdefault(m["quantity"], []).append(value)
            if result:
                self.results[point["id"]] = result
            points.append(point)
        cases.append({"case": len(cases), "board": board, "settings": settings, "numbers": numbers,
                      "points": list(range(first, len(points))),
                      "quantities": {q: estimate(v) for q, v in numbers_of.items()}})

    def result_file(self, directory, point):
        name = self.json["points"][point]["id"]
        return os.path.join(directory, "points", name[:2], name, "result.json")

    def write(self, directory):
        """Writes study.json and each point's result file. A result that several points have is one file with links."""
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, "study.json"), "w", encoding="utf-8") as file:
            json.dump(self.json, file, indent=1)
        written = {}
        for name, result in self.results.items():
            path = os.path.join(directory, "points", name[:2], name, "result.json")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if id(result) in written:
                os.link(written[id(result)], path)
                continue
            with open(path, "w", encoding="utf-8") as file:
                json.dump(result, file)
            written[id(result)] = path
        return directory


MEASURE = [("latency_ns.mean", "ns"), ("latency_ns.p99", "ns"), ("throughput_per_s", "1/s")]


def small_study(failure="the board has stalled"):
    """2 boards x 2 numbers of outstanding calls x 2 sizes, 2 runs each, one of which has failed."""
    study = Study("small", [("workload.outstanding", "", ["1", "8"]), ("workload.call.bytes", "", ["64", "1024"])], MEASURE)
    for board in ("e810-poll", "e810-irq"):
        for outstanding in ("1", "8"):
            for size in ("64", "1024"):
                settings = {"workload.outstanding": outstanding, "workload.call.bytes": size}
                results = [run(board, f"--set=run.replication={r}", *(f"--set={k}={v}" for k, v in settings.items()))
                           for r in range(2)]
                if (board, outstanding, size) == ("e810-irq", "8", "1024"):
                    results[1] = None
                study.add_case(board, settings, {k: float(v) for k, v in settings.items()}, results, failure)
    return study


def large_study(cases, runs, results, extra_measure=()):
    """A study of so many cases, which share real results, on two boards over four parameters."""
    sizes = [str(2**i) for i in range(20)]
    study = Study("large", [("a.size", "B", sizes), ("a.lanes", "lanes", ["1", "2", "4", "8", "16"]),
                            ("a.generation", "", ["3", "4", "5", "6", "7"]), ("a.kind", "", [])], MEASURE + list(extra_measure))
    kinds = max(1, cases // (2 * 20 * 5 * 5))
    study.json["axes"][3]["values"] = [f"kind{i}" for i in range(kinds)]
    n = 0
    for kind in study.json["axes"][3]["values"]:
        for generation in ("3", "4", "5", "6", "7"):
            for lanes in ("1", "2", "4", "8", "16"):
                for size in sizes:
                    for board, result in results.items():
                        if n == cases:
                            return study
                        settings = {"a.size": size, "a.lanes": lanes, "a.generation": generation, "a.kind": kind}
                        study.add_case(board, settings, {k: float(v) for k, v in settings.items() if k != "a.kind"},
                                       [result] * runs)
                        for m, e in study.json["cases"][-1]["quantities"].items():
                            e["value"] *= 1 + n / 1000
                            e["interval_95"] = [e["value"] * 96 / 97, e["value"] * 98 / 97]
                            for p in study.json["cases"][-1]["points"]:
                                study.json["points"][p]["quantities"][m] = e["value"] + p
                        n += 1
    return study
