# SPDX-License-Identifier: Apache-2.0
"""The rules of points.py: each kind of dishonesty is refused."""

import copy
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import points  # noqa: E402

BOARD = {"name": "b", "instances": {
    "root": {"parameters": {"latency": {"kind": "fitted", "points": ["p.fitted"]}}},
    "nic": {"parameters": {"rate": {"kind": "measured"}}}}}
RESULT = {"board": BOARD}


def honest():
    p = points.Points()
    p.add("p.fitted", "fitted", 99, 100, "ns", "paper", result=RESULT, within=0.05)
    p.add("p.input", "input", 10, 10, "1/s", "paper", result=RESULT, parameters=["nic.rate"])
    p.add("p.tested", "tested", 150, 100, "ns", "paper", result=RESULT)
    p.add("p.reported", "reported", 7, None, "ns", "this model", result=RESULT)
    return p


class Rules(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = os.path.join(directory.name, "deep", "points.jsonl")

    def refuse(self, p, sentence):
        with self.assertRaisesRegex(points.Dishonest, sentence):
            p.save(self.path)
        self.assertFalse(os.path.exists(self.path))

    def test_honest_points_are_written_one_a_line(self):
        honest().save(self.path)
        with open(self.path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual([line["name"] for line in lines], ["p.fitted", "p.input", "p.tested", "p.reported"])
        self.assertEqual(lines[0]["parameters"], ["root.latency"])
        self.assertEqual(lines[2]["error"], 0.5)
        self.assertIsNone(lines[3]["error"])

    def test_a_fitted_point_is_no_validation(self):
        for role in ("tested", "arithmetic", "input"):
            p = honest()
            p.points[0]["role"] = role
            p.points[0]["parameters"] = ["nic.rate"]
            self.refuse(p, "root.latency was fitted to it; it is not " + role)

    def test_a_point_that_a_parameter_was_fitted_to_cannot_be_left_out(self):
        p = honest()
        del p.points[0]
        self.refuse(p, "root.latency: fitted to p.fitted, of which no test knows")

    def test_but_another_test_may_have_it(self):
        p = honest()
        del p.points[0]
        points.check(p.points, p.boards, elsewhere=("p.fitted",))
        # It is still no validation here.
        p = honest()
        p.points[0]["role"] = "tested"
        with self.assertRaises(points.Dishonest):
            points.check(p.points, p.boards, elsewhere=("p.fitted",))

    def test_what_no_parameter_names_is_not_fitted(self):
        p = honest()
        p.points[2]["role"] = "fitted"
        self.refuse(p, "no parameter says")

    def test_an_input_names_its_parameter(self):
        p = honest()
        p.points[1]["parameters"] = ["nic.speed"]
        self.refuse(p, "nic.speed is no parameter")

    def test_names_are_unique_and_roles_are_known(self):
        p = honest()
        p.points.append(copy.deepcopy(p.points[2]))
        self.refuse(p, "twice")
        p = honest()
        p.points[2]["role"] = "validated"
        self.refuse(p, "not a role")

    def test_every_point_has_a_source_and_only_unpublished_ones_are_reported(self):
        p = honest()
        p.points[2]["source"] = ""
        self.refuse(p, "no source")
        p = honest()
        p.points[2]["published"] = None
        self.refuse(p, "merely reported")

    def test_errors_beyond_what_is_allowed_are_told(self):
        p = honest()
        self.assertEqual(p.failures(), [])
        p.points[0]["error"] = -0.06
        self.assertRegex(p.failures()[0], "p.fitted")


if __name__ == "__main__":
    unittest.main()
