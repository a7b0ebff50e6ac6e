# SPDX-License-Identifier: Apache-2.0
"""A page of `sluice report`, taken apart for tests."""

import csv
import html.parser
import io
import json
import os
import re

LIBRARIES = ("vega.min.js", "vega-lite.min.js", "vega-interpreter.js")
VOID = {"meta", "link", "base", "br", "img", "hr", "input", "wbr"}
# What may follow src=, href= and the like.
INSIDE = re.compile(r"#|data:")
OUTSIDE = re.compile(r"https?://|@import|\burl\((?!#)|fetch\(|XMLHttpRequest|importScripts|//# source", re.IGNORECASE)


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.elements = []   # (name, attributes)
        self.plots = {}      # name: specification with its columns and rows
        self.texts = []      # text that a reader sees
        self.scripts = []    # text of each script that is a program
        self.styles = []
        self.unbalanced = []
        self._open = []
        self._buffer = None
        self._figure = None
        with open(path, encoding="utf-8") as file:
            self.source = file.read()
        self.feed(self.source)
        self.close()

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "figure":
            self._figure = attributes["id"]
        if tag in ("script", "style"):
            self._buffer = [attributes.get("type", tag), ""]

    def handle_endtag(self, tag):
        if not self._open or self._open.pop() != tag:
            self.unbalanced.append(tag)
        if tag in ("script", "style"):
            kind, text = self._buffer
            self._buffer = None
            if kind == "application/json":
                self.plots[self._figure] = json.loads(text)
            else:
                (self.scripts if tag == "script" else self.styles).append(text)

    def handle_data(self, data):
        if self._buffer is not None:
            self._buffer[1] += data
        else:
            self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts)

    def references(self):
        """What the page would take from elsewhere. The libraries' own code is not looked at: it is theirs, and the page's
        policy lets it load nothing."""
        found = []
        for tag, attributes in self.elements:
            if tag in ("link", "base", "iframe", "object", "embed", "img", "audio", "video", "source"):
                found.append(tag)
            for name, value in attributes.items():
                if name in ("src", "href", "srcset", "action", "data", "poster", "xlink:href") and not INSIDE.match(value):
                    found.append(f"{tag} {name}={value}")
                if name.startswith("on") or (name == "style" and OUTSIDE.search(value)):
                    found.append(f"{tag} {name}={value}")
        own = [s for s in self.scripts if "Copyright" not in s]
        return found + [m.group() for text in own + self.styles for m in OUTSIDE.finditer(text)]


def specifications(spec):
    """The specification and all that are inside it."""
    yield spec
    for inner in spec.get("layer", []) + ([spec["spec"]] if "spec" in spec else []):
        yield from specifications(inner)


def axes_of(plot):
    """(channel, title) of everything in a plot that has an axis, legend or header."""
    for spec in specifications(plot["spec"]):
        for channel, definition in spec.get("encoding", {}).items():
            if channel in ("x", "y", "color", "shape"):
                yield channel, definition.get("title")
        if "facet" in spec:
            yield "facet", spec["facet"].get("title")


def fields_of(plot):
    for spec in specifications(plot["spec"]):
        made = {t["as"] for t in spec.get("transform", []) if "as" in t}
        for definition in spec.get("encoding", {}).values():
            if definition["field"] not in made:
                yield definition["field"]
        if "facet" in spec:
            yield spec["facet"]["field"]


def csv_rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(io.StringIO(file.read())))


def folder_of(page):
    return os.path.splitext(page)[0]
