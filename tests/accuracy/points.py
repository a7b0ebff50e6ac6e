# SPDX-License-Identifier: Apache-2.0
"""Accuracy points: what a model gives beside what is published, and the rules that keep them honest. README.md has the
format. A test makes its points with Points, and ends with save(), which checks the rules and writes the file."""

import json
import os

ROLES = ("fitted", "input", "arithmetic", "tested", "reported")


class Dishonest(AssertionError):
    """A point that claims more than it may."""


def error_of(modelled, published):
    return None if published is None else round(modelled / published - 1, 6)


def parameters(board):
    """Every parameter of a result file's effective board: (path, description)."""
    for instance, contents in board["instances"].items():
        for key, parameter in contents["parameters"].items():
            yield f"{instance}.{key}", parameter


def fitted_to(boards):
    """The points that parameters of these boards were fitted to: name -> paths of the parameters."""
    points = {}
    for board in boards:
        for path, parameter in parameters(board):
            for name in parameter.get("points", ()):
                paths = points.setdefault(name, [])
                if path not in paths:
                    paths.append(path)
    return points


def check(points, boards, elsewhere=()):
    """Raises Dishonest when a point breaks a rule. A point that a parameter was fitted to must have the role fitted. A
    fitted point must be named by a parameter, and an input must name a parameter. elsewhere: fitted points that another
    test has."""
    fitted = fitted_to(boards)
    known = {path for board in boards for path, _ in parameters(board)}
    by_name = {p["name"]: p for p in points}
    if len(by_name) != len(points):
        raise Dishonest("a point's name is used twice")
    for name, paths in fitted.items():
        if name not in by_name and name not in elsewhere:
            raise Dishonest(f"{', '.join(paths)}: fitted to {name}, of which no test knows")
    for p in points:
        if p["role"] not in ROLES:
            raise Dishonest(f"{p['name']}: {p['role']} is not a role")
        if p["name"] in fitted and p["role"] != "fitted":
            raise Dishonest(f"{p['name']}: {', '.join(fitted[p['name']])} was fitted to it; it is not {p['role']}")
        if p["role"] == "fitted" and p["name"] not in fitted:
            raise Dishonest(f"{p['name']}: no parameter says that it was fitted to it")
        if p["role"] == "input" and not set(p["parameters"]) & known:
            raise Dishonest(f"{p['name']}: {', '.join(p['parameters'])} is no parameter of the board")
        if (p["role"] == "reported") != (p["published"] is None):
            raise Dishonest(f"{p['name']}: only what has no published value is merely reported")
        if not p["source"]:
            raise Dishonest(f"{p['name']}: has no source")


class Points:
    def __init__(self, elsewhere=()):
        self.elsewhere = elsewhere
        self.points = []
        self.boards = []

    def add(self, name, role, modelled, published, unit, source, *, result=None, within=None, parameters=(), note=""):
        """result: the result file that the modelled value is from. within: the largest error that passes; None: any."""
        if result is not None:
            self.boards.append(result["board"])
        self.points.append({
            "name": name, "role": role, "modelled": round(modelled, 6), "published": published, "unit": unit,
            "error": error_of(modelled, published), "within": within,
            "board": result["board"]["name"] if result else None, "parameters": list(parameters), "source": source,
            "note": note})

    def failures(self):
        """Points that are further off than they may be, as sentences."""
        return [f"{p['name']}: {p['modelled']} {p['unit']}, not {p['published']} within {p['within']:.1%}"
                for p in self.points if p["within"] is not None and abs(p["error"]) > p["within"]]

    def save(self, path):
        fitted = fitted_to(self.boards)
        for p in self.points:
            if p["role"] == "fitted":
                p["parameters"] = fitted.get(p["name"], [])
        check(self.points, self.boards, self.elsewhere)
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            for p in self.points:
                file.write(json.dumps(p) + "\n")

    def table(self):
        lines = []
        for p in self.points:
            published = "-" if p["published"] is None else f"{p['published']:.6g}"
            error = "-" if p["error"] is None else f"{p['error']:+.2%}"
            lines.append(f"{p['role']:<10} {p['name']:<44} {p['modelled']:>12.6g} {published:>10} {p['unit']:<5} {error:>8}")
        return "\n".join(lines)
