# SPDX-License-Identifier: Apache-2.0
"""The list of claims, reproduced: what must hold holds, and the list is complete.

    test_claims.py SLUICE RESULTS     RESULTS: the directory that `sluice reproduce` writes to
"""

import json
import os
import subprocess
import sys
import unittest

RESULTS = os.path.abspath(sys.argv.pop(2))
SLUICE = os.path.abspath(sys.argv.pop(1))

# Rows of the calibration page's table; there is no V3, V10, V36, V38, V39 and V43.
ROWS = [f"V{n}" for n in range(1, 45) if n not in (3, 10, 36, 38, 39, 43)]
# sw/test --full runs what takes minutes, too.
QUICK = [] if os.environ.get("SLUICE_FULL") == "1" else ["--quick"]


def sluice(*arguments):
    return subprocess.run([SLUICE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=3600,
                          check=False)


class Claims(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.process = sluice("reproduce", "--out", RESULTS, *QUICK)
        with open(os.path.join(RESULTS, "claims.json"), encoding="utf-8") as file:
            cls.claims = json.load(file)["claims"]

    def test_what_must_hold_holds(self):
        self.assertEqual((self.process.returncode, self.process.stderr), (0, ""), self.process.stdout)
        for claim in self.claims:
            if not claim["lacks"] and not (QUICK and claim["long"]):
                self.assertGreater(claim["runs"], 0, claim["name"])
        self.assertEqual([c["name"] for c in self.claims if c["verdict"] == "left out"],
                         [c["name"] for c in self.claims if QUICK and c["long"]])

    def test_every_row_of_the_calibration_page_is_in_the_list(self):
        claims = json.loads(sluice("reproduce", "--list", "--json").stdout)["claims"]
        rows = sorted({row for c in claims for row in c["rows"]}, key=lambda row: int(row[1:]))
        self.assertEqual(rows, ROWS)

    def test_what_any_shipped_board_was_fitted_to_is_a_fitted_claim(self):
        claims = {c["name"]: c for c in json.loads(sluice("reproduce", "--list", "--json").stdout)["claims"]}
        fitted = set()
        for board in json.loads(sluice("boards", "--json").stdout)["boards"]:
            described = json.loads(sluice("describe", board["name"], "--json").stdout)
            for instance in described["instances"].values():
                for parameter in instance["parameters"].values():
                    fitted |= set(parameter.get("points", ()))
        self.assertGreater(len(fitted), 3)
        self.assertEqual({claims[name]["role"] for name in fitted}, {"fitted"})

    def test_the_default_of_the_read_latency_is_the_one_fitted_to_broadwell(self):
        default = json.loads(sluice("describe", "e810-poll", "--json").stdout)
        (claim,) = (c for c in self.claims if c["name"] == "pcie.read.broadwell.64")
        directory = os.path.join(RESULTS, "pcie-latency")
        with open(os.path.join(directory, "study.json"), encoding="utf-8") as file:
            points = json.load(file)["points"]
        (point, *_) = (p for p in points if p["case"] == claim["terms"][0]["case"])
        with open(os.path.join(directory, "points", point["id"][:2], point["id"], "result.json"), encoding="utf-8") as file:
            mine = json.load(file)["board"]
        keys = ("value", "kind", "points")
        mine, default = (b["instances"]["root"]["parameters"]["read_latency"] for b in (mine, default))
        self.assertEqual([mine[k] for k in keys], [default[k] for k in keys])


if __name__ == "__main__":
    unittest.main()
