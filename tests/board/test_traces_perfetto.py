# SPDX-License-Identifier: Apache-2.0
"""Perfetto traces, as protoc decodes them: test_traces_perfetto.py SLUICE. Exit status 77: there is no protoc."""

import collections
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from board_runs import BoardTest, run

SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "unit", "base", "perfetto_subset.proto")

# The components that a request to a descriptor NIC passes, in the order of its first visits.
# Where a call may wait before the line is free for it.
CLIENT = "workload"
JOURNEY = ("net.wire0", "nic.eth0.mac", "nic.eth0", "pcie.slot0", "root", "cluster.host.hart0")

Slice = collections.namedtuple("Slice", "track name start end")


def decode(path):
    with open(path, "rb") as file:
        process = subprocess.run(["protoc", "--decode=Trace", "-I", os.path.dirname(SCHEMA), os.path.basename(SCHEMA)],
                                 stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120,
                                 check=False)
    if process.returncode != 0:
        raise AssertionError(process.stderr)
    return process.stdout


def messages(text):
    """protoc's text as nested dictionaries of lists, one for each packet."""
    root = collections.defaultdict(list)
    stack = [root]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            inner = collections.defaultdict(list)
            stack[-1][line[:-1].strip()].append(inner)
            stack.append(inner)
        elif line == "}":
            stack.pop()
        else:
            key, value = re.fullmatch(r"(\w+): (.*)", line).groups()
            stack[-1][key].append(value.strip('"'))
    return root["packet"]


class Tracks:
    def __init__(self, packets):
        self.names, self.parents = {}, {}
        for packet in packets:
            for track in packet["track_descriptor"]:
                uuid = track["uuid"][0]
                self.names[uuid] = track["name"][0] if track["name"] else None
                self.parents[uuid] = track["parent_uuid"][0] if track["parent_uuid"] else None

    def path(self, uuid):
        """The component of a track. Slices that overlap lie on further tracks: "root #2" is one of root."""
        names = []
        while uuid is not None and self.names[uuid] is not None:
            names.append(self.names[uuid])
            uuid = self.parents[uuid]
        return re.sub(r" #\d+$", "", ".".join(reversed(names)))


class Perfetto(BoardTest):
    @classmethod
    def setUpClass(cls):
        cls.traces = {}

    def trace(self, board):
        """Packets, tracks, the slices of each request, and the result."""
        if board not in self.traces:
            out = self.directory()
            self.result = json.loads(run(board, "--requests", "200", "--warmup", "0", "--trace", "perfetto", "--out", out))
            packets = messages(decode(os.path.join(out, "trace.perfetto")))
            tracks = Tracks(packets)
            slices = collections.defaultdict(list)
            for packet in packets:
                for event in packet["track_event"]:
                    if not event["flow_ids"] or event["type"][0] != "TYPE_SLICE_BEGIN":
                        continue
                    note = {a["name"][0]: int(a["uint_value"][0]) for a in event["debug_annotations"]}
                    start = note["start_fs"]
                    slices[note["request"]].append(Slice(tracks.path(event["track_uuid"][0]), event["name"][0], start,
                                                         start + note["duration_fs"]))
                    assert event["flow_ids"] == [str(note["request"])], "a slice tied to another request"
            self.traces[board] = packets, tracks, slices, self.result
        return self.traces[board]

    def test_one_request_from_wire_to_core_and_back(self):
        for board in ("e810-poll", "e810-irq"):
            with self.subTest(board=board):
                _, _, slices, result = self.trace(board)
                self.assertEqual(len(slices), result["requests"]["completed"])
                for request, own in slices.items():
                    met = list(dict.fromkeys(s.track for s in sorted(own, key=lambda s: s.start)))
                    self.assertEqual([t for t in met if t in JOURNEY], list(JOURNEY), f"request {request}")
                    tlps = {(s.track, s.name) for s in own}
                    self.assertIn(("pcie.slot0.up", "MWr"), tlps)
                    self.assertIn(("pcie.slot0.down", "CplD"), tlps)

    def test_the_slices_tile_the_latency(self):
        _, _, slices, result = self.trace("e810-poll")
        total = 0
        for own in slices.values():
            stages = sorted((s for s in own if s.track in (CLIENT, *JOURNEY)), key=lambda s: (s.start, s.end))
            for before, after in zip(stages, stages[1:]):
                self.assertEqual(before.end, after.start)
            self.assertIn(stages[0].name, ("client queue", "wire"))
            self.assertEqual(stages[-1].name, "wire")
            total += stages[-1].end - stages[0].start
        self.assertAlmostEqual(total / len(slices) / 1e6, result["latency_ns"]["mean"], places=5)
        names = {s.name for own in slices.values() for s in own if s.track in (CLIENT, *JOURNEY)}
        self.assertEqual(names, {stage["name"] for stage in result["stages"] if stage["mean_ns"] > 0})

    def test_slices_end_after_they_begin(self):
        """On one track, slices follow each other: a begin, then its end."""
        packets, tracks, _, _ = self.trace("e810-irq")
        events = collections.defaultdict(list)
        for packet in packets:
            for event in packet["track_event"]:
                self.assertIn(event["track_uuid"][0], tracks.names)
                if event["type"][0] != "TYPE_INSTANT":
                    events[event["track_uuid"][0]].append((int(packet["timestamp"][0]), event["type"][0]))
        self.assertGreater(len(events), 10)
        for own in events.values():
            for begin, end in zip(own[::2], own[1::2]):
                self.assertEqual((begin[1], end[1]), ("TYPE_SLICE_BEGIN", "TYPE_SLICE_END"))
                self.assertGreaterEqual(end[0], begin[0])
            self.assertEqual(len(own) % 2, 0)

    def test_a_longer_trace_takes_no_more_memory(self):
        """It is written as the run goes: 6 MB and 22 MB of files, within the same memory, but for what an
        instruction window remembers of the code."""
        peaks = []
        for requests in ("1000", "5000"):
            result = json.loads(run("e810-poll", "--requests", requests, "--set", "caches.timing=cached", "--trace",
                                    "perfetto,pcap", "--out", self.directory()))
            peaks.append(result["host"]["peak_rss_bytes"])
        self.assertLess(peaks[1] - peaks[0], 2 << 20)


if __name__ == "__main__":
    if not shutil.which("protoc"):
        print("skipped: there is no protoc")
        sys.exit(77)
    unittest.main()
