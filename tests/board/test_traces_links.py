# SPDX-License-Identifier: Apache-2.0
"""Captures of PCIe and coherent links: the text, and what tshark makes of the pcap files with the dissector that is
shipped: test_traces_links.py SLUICE. Exit status 77: there is no tshark."""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from board_runs import SLUICE, BoardTest, canonical, run

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../sw/wireshark/sluice.lua")
LINE = re.compile(r" *(\d+\.\d{3}) ns  (up|down) +(.*)")


def lines(directory, name):
    """Time in ns, way and text of each message."""
    with open(os.path.join(directory, name + ".txt"), encoding="utf-8") as file:
        return [(float(m[1]), m[2], m[3]) for m in (LINE.fullmatch(line.rstrip("\n")) for line in file)]


def dissected(directory, name, *fields):
    """These fields of each record."""
    command = ["tshark", "-X", "lua_script:" + SCRIPT, "-r", os.path.join(directory, name + ".pcap"), "-T", "fields",
               "-E", "separator=;"]
    for field in ("frame.time_epoch", *fields):
        command += ["-e", field]
    out = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    if "Lua" in out.stderr:
        raise AssertionError(out.stderr)
    return [row.split(";") for row in out.stdout.splitlines()]


class Links(BoardTest):
    def capture(self, board, kind, link):
        """The directory and the name of a link's capture, its messages, and what the link has counted."""
        directory, name = self.directory(), f"{link}.{kind}"
        arguments = (board, "--set", "run.spread=none", "--sizes", "320")
        plain = run(*arguments)
        self.assertEqual(canonical(run(*arguments, "--trace", kind, "--out", directory)), canonical(plain))
        text = lines(directory, name)
        times = [time for time, _, _ in text]
        self.assertEqual(times, sorted(times))
        return directory, name, text, json.loads(plain)["counters"][link]

    def test_every_tlp_is_there_with_its_fields(self):
        directory, name, text, counters = self.capture("enzian-pcie-pio", "tlp", "pcie.slot0")
        for way in ("up", "down"):
            self.assertEqual(sum(w == way for _, w, _ in text),
                             sum(v for k, v in counters.items() if re.fullmatch(way + r"_tlps_\w+", k)))
        rows = dissected(directory, name, "sluice_tlp.way", "sluice_tlp.type", "sluice_tlp.address", "sluice_tlp.tag",
                         "sluice_tlp.length", "sluice_tlp.requester", "sluice_tlp.status", "sluice_tlp.byte_count",
                         "sluice_tlp.target", "sluice_tlp.register", "sluice_tlp.data")
        self.assertEqual(len(rows), len(text))
        frames = []
        for (time, way, what), row in zip(text, rows):
            stamp, code, kind, address, tag, dwords, requester, status, count, target, register, data = row
            seconds, fraction = stamp.split(".")
            self.assertEqual(int(seconds) * 10**9 + int(fraction.ljust(9, "0")[:9]), int(time))
            self.assertEqual((("down", "up")[int(code)], kind), (way, what.split()[0]))
            bytes_ = re.search(r"(\d+) B", what)
            if kind in ("MRd", "MWr"):
                self.assertLess(abs(int(address, 16) - int(what.split()[1], 16)), 4)
                self.assertLess(abs(int(dwords) * 4 - int(bytes_[1])), 8)
                self.assertIn("from " + requester, what)
            elif kind in ("Cpl", "CplD"):
                self.assertEqual(status, "0")
                self.assertIn(f" B of {count} B to come  to {requester} tag {tag}", what)
                self.assertEqual(len(data) // 2, int(bytes_[1]))
            else:
                self.assertIn(f"{target}  register {int(register, 16):#x}  from {requester} tag {tag}", what)
            if kind == "MWr" and int(bytes_[1]) == 128:
                frames.append(data)
        # Two blocks of each frame were combined; words of a frame differ, and have its number.
        self.assertEqual(len(frames), 100)
        self.assertEqual(len(set(frames)), 100)

    def test_every_coherent_message_is_there_with_its_fields(self):
        directory, name, text, counters = self.capture("enzian-eci-pio", "coherence", "coherent.eci0")
        unique = [(time, what) for time, way, what in text if "MREQ_RLDX" in what]
        self.assertEqual(len(unique), counters["down_read_unique"])
        rows = dissected(directory, name, "sluice_coherence.way", "sluice_coherence.name", "sluice_coherence.kind",
                         "sluice_coherence.address", "sluice_coherence.cache", "sluice_coherence.data")
        self.assertEqual(len(rows), len(text))
        for (time, way, what), row in zip(text, rows):
            stamp, code, message, kind, address, cache, data = row
            self.assertEqual(("down", "up")[int(code)], way)
            self.assertEqual(message, what[:20].strip())
            at = f"{int(address, 16):#x}"
            self.assertIn(f"register {at}" if kind == "register" else f"line {at}  cache {cache}", what)
            carried = re.search(r"  (\d+) B", what)
            self.assertEqual(len(data) // 2, int(carried[1]) if carried else 0)
        # What the host wrote into a transmit line comes back, and comes up again in a receive line.
        sent = {r[6][128:] for r in rows if r[3] == "ack with data" and int(r[4], 16) in (0x20008000, 0x20008080)}
        received = {r[6][128:] for r in rows
                    if r[3].startswith("grant") and int(r[4], 16) in (0x20000000, 0x20000080)}
        self.assertEqual(len(sent), 50)
        self.assertEqual(sent - received, set())

    def test_messages_of_a_link_that_is_down_are_not_there(self):
        directory = self.directory()
        board = os.path.join(directory, "down.toml")
        with open(board, "w", encoding="utf-8") as file:
            file.write('extends = ["enzian-pcie-pio"]\n[fault.down]\nkind = "link-down"\ntarget = "pcie.slot0"\n'
                       'at = ["200 us"]\nduration = "20 us"\n')
        run(board, "--set", "run.spread=none", "--trace", "tlp", "--out", directory, status=None)
        times = [time for time, _, _ in lines(directory, "pcie.slot0.tlp")]
        self.assertTrue(any(time < 200e3 for time in times))
        self.assertFalse(any(200.5e3 < time < 220e3 for time in times))

    def test_completions_that_a_fault_has_poisoned_or_kept_from_being_sent(self):
        found = {}
        for kind in ("none", "poisoned-completion", "completion-timeout"):
            directory = self.directory()
            board = os.path.join(directory, "fault.toml")
            with open(board, "w", encoding="utf-8") as file:
                file.write('extends = ["enzian-pcie-pio"]\n')
                if kind != "none":
                    file.write(f'[fault.bad]\nkind = "{kind}"\ntarget = "pcie.slot0"\ndirection = "up"\n'
                               'at = ["300 us"]\n')
            run(board, "--set", "run.spread=none", "--until", "320us", "--trace", "tlp", "--out", directory,
                status=None)
            text = [what for time, way, what in lines(directory, "pcie.slot0.tlp") if way == "up" and time > 300e3]
            fields = dissected(directory, "pcie.slot0.tlp", "sluice_tlp.ep")
            found[kind] = (text, sum(ep in ("1", "True") for _, ep in fields))
        sound, poisoned, unsent = (found[k] for k in ("none", "poisoned-completion", "completion-timeout"))
        self.assertEqual(sound[1], 0)
        self.assertEqual((poisoned[0][0], poisoned[1]), (sound[0][0] + "  poisoned", 1))
        self.assertNotIn(sound[0][0], unsent[0][:1])

    def test_a_board_without_such_a_link_is_told(self):
        for board, kind, what in (("enzian-eci-pio", "tlp", "PCIe link"), ("e810-poll", "coherence", "coherent link")):
            out = self.directory()
            done = subprocess.run([SLUICE, "run", board, "--trace", "pcap,tlp,coherence", "--out", out],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr),
                             (2, f"sluice: --trace {kind}: the board has no {what}\n"))
            self.assertEqual(os.listdir(out), [])


if __name__ == "__main__":
    if not shutil.which("tshark"):
        print("skipped: there is no tshark")
        sys.exit(77)
    unittest.main()
