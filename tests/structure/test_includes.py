# SPDX-License-Identifier: Apache-2.0
"""Who may include whom. Called as NAME.py SOURCE-DIRECTORY."""

import os
import re
import sys
import tempfile
import unittest

SOURCE = os.path.abspath(sys.argv.pop(1))
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*(?:#|%:|\?\?=)[ \t]*(include_next|include|import)\b[ \t]*(.*)$', re.MULTILINE)
NAMED = re.compile(r'(["<])([^">]+)[">]')

# A folder, and the folders whose headers its files may include besides their own; "x/" stands for x and all below it.
# "x/y.h" stands for that header. A file follows the first entry whose folder contains it. Any file may include the
# freestanding headers, below.
BASE = "models/base/"
BOARD = ("platform/board", "platform/config", "platform/config/files", "platform/faults", "platform/firmware", "platform/plugin",
         "platform/workload")
RULES = (
    ("models/base/time", ()),
    ("models/base/files", ()),
    ("models/base/parameters", ("models/base/time",)),
    ("models/base/memory", ("models/base/time", "models/base/parameters")),
    ("models/base/measure", ("models/base/time", "models/base/files", "models/base/memory")),
    ("models/base/fabric", ("models/base/time", "models/base/files", "models/base/parameters", "models/base/measure")),
    ("models/base/registers", ("models/base/time", "models/base/measure")),
    ("models/base/systemc", ("models/base/time", "models/base/measure", "models/base/memory")),
    ("models/base/outside", ("models/base/time", "models/base/files", "models/base/parameters", "models/base/systemc")),
    ("models/part", ("models/base/parameters",)),
    ("models/riscv/iss", ("models/base/measure", "models/base/memory", "models/riscv/iss/")),
    ("models/riscv", (BASE, "models/riscv/iss/")),
    ("models/coherence/protocol", ()),
    ("models/coherence/link", (BASE, "models/coherence/protocol", "models/part")),
    ("models/coherence", (BASE, "models/coherence/")),
    ("models/pcie", (BASE, "models/part", "models/pcie/")),
    ("models/memory", (BASE, "models/part")),
    ("models/net", (BASE, "models/net/")),
    ("models/workload", (BASE, "models/net/", "models/part", "models/pcie/", "models/workload")),
    ("models/nic/rpc_decoder", (BASE, "models/net/")),
    ("models/nic/rpc_encoder", (BASE, "models/net/", "models/nic/rpc_decoder")),
    ("models/nic/lines", (BASE,)),
    ("models/nic", (BASE, "models/memory", "models/net/", "models/nic", "models/nic/lines", "models/nic/rpc_decoder", "models/nic/rpc_encoder", "models/part", "models/pcie/", "models/workload")),
    ("models/accel", (BASE, "models/memory", "models/part", "models/pcie/", "models/workload")),
    ("models", (BASE,)),
    ("platform/config", ("models/base/files", "models/base/parameters", "models/part", "platform/config", "platform/config/files")),
    ("platform/study", ("models/base/parameters", "platform/config", "platform/config/files")),
    # statistics.h: the counters that an image of the firmware library declares; record.h: the list of its processes.
    ("platform/firmware", ("models/", *BOARD, "firmware/kernel/statistics.h", "firmware/process/record.h")),
    *((folder, ("models/", *BOARD)) for folder in BOARD),
    ("platform/diagnosis", ("models/", *BOARD, "firmware/kernel/exit_codes.h")),
    ("platform/debug/protocol", ()),
    ("platform/debug", ("models/", *BOARD, "platform/diagnosis", "platform/debug/protocol")),
    ("platform/run", ("models/", *BOARD, "platform/diagnosis", "platform/debug", "platform/statistics")),
    ("platform/statistics", ("models/base/measure",)),
    ("platform/report", ("models/", *BOARD, "platform/diagnosis", "platform/debug", "platform/run",
                         "platform/report/", "platform/statistics")),
    # list_plot.h: what a workload says of its lists, plain data.
    ("platform/page", ("models/workload/list_plot.h", "platform/config", "platform/config/files", "platform/page/")),
    ("platform/sweep", ("models/", *BOARD, "platform/report", "platform/run", "platform/statistics", "platform/study")),
    ("platform/claims", ("models/base/parameters", "platform/config", "platform/config/files", "platform/report",
                         "platform/statistics", "platform/study", "platform/sweep")),
    ("platform/cli", ("models/", "platform/")),
    ("firmware", ("firmware/",)),
    ("rtl", (BASE, "models/nic/rpc_decoder", "models/nic/rpc_encoder", "models/part", "rtl/")),
    ("tests", ("models/", "platform/", "firmware/", "rtl/", "tests/")),
    ("sw", ("models/", "platform/", "firmware/", "tests/", "sw/")),
)
# Freestanding C that models and firmware both include.
FREESTANDING = re.compile(r"^protocols/|^models/base/freestanding\.h$|^models/base/measure/(stages|hints)\.h$|"
                          r"^models/.*_(regs|codes)\.h$")
# All that a file in protocols may include.
STANDARD = ("stdbool.h", "stddef.h", "stdint.h")
FOLDERS = ("models", "platform", "protocols", "firmware", "rtl", "tests", "sw")
# Top-level folders without sources that are built.
OTHERS = ("build", "cmake", "docs", "out")
# Files that include nothing; Python and Markdown may quote an include.
PLAIN = (".sv", ".css", ".js", ".py", ".md", ".txt", ".toml", ".json", ".proto", ".ld", ".sh", ".in", ".cmake", ".pcap", ".log", ".pyc")
WITHOUT_SYSTEMC = ("models/riscv/iss/", "models/base/time/", "models/base/files/", "models/base/parameters/",
                   "models/base/memory/", "models/base/measure/", "models/base/fabric/", "models/part/",
                   "platform/config/", "platform/statistics/", "platform/study/")


# What comes to boards by factory: a part's own headers, which platform does not include.
PART = re.compile(r"^models/(nic|accel|workload)/[^/]+/")
# The folders with a part.cpp whose headers are interfaces, too: the plain switch is one of many switches.
PART_AND_INTERFACE = ("models/pcie",)
# Headers of one part only: the header, and the files that may include it.
OWN = (
    (PART, re.compile(r"^(?!platform/)")),
    # Other files use an execution engine through engine.h only. Tests of the interpreter's coverage also include the
    # list of what it fuses (OWN_BUT).
    (re.compile(r"^models/riscv/iss/interpreter/"), re.compile(r"^models/riscv/iss/interpreter/")),
)
OWN_BUT = {"models/riscv/iss/interpreter/interpreter_fusion.h": ("tests/differential/coverage.cpp", "tests/differential/systematic.cpp")}


def may_include(path, header):
    for owned, owner in OWN:
        if owned.search(header) and not owner.search(path) and path not in OWN_BUT.get(header, ()):
            return False
    folder = os.path.dirname(header)
    if path.startswith("protocols/"):
        return header in STANDARD
    if folder == os.path.dirname(path) or FREESTANDING.search(header):
        return True
    for owner, allowed in RULES:
        if path.startswith(owner + "/"):
            return any(a in (folder, header) or (a.endswith("/") and (folder + "/").startswith(a)) for a in allowed)
    return False


def without_comments(text):
    """The text with its lines joined where a backslash ends them, and a space for each comment."""
    joined = text.replace("\\\n", "")
    return COMMENT.sub(lambda m: m.group() if m.group().startswith('"') else " ", joined)


def fault_of(path, directive, operand):
    """What is wrong with an include; None where nothing is."""
    if directive != "include":
        return f"{path} has #{directive}, where #include is used"
    named = NAMED.match(operand)
    if not named:
        return f"{path} includes {operand.strip()}, which is no name of a file"
    header = named.group(2)
    if any(part in (".", "..") for part in header.split("/")):
        return f"{path} includes {header}, which is not a path from the top"
    ours = header.split("/")[0] in FOLDERS
    if (path.startswith("protocols/") or ours) and not may_include(path, header):
        return f"{path} includes {header}"
    if header.startswith(("systemc", "tlm", "sysc/")) and path.startswith(WITHOUT_SYSTEMC):
        return f"{path} includes {header}"
    return None


def sources(root):
    """The files of the tree that may include others, in every folder but those of OTHERS."""
    for top in sorted(os.listdir(root)):
        if top.startswith(".") or top.split("-")[0] in OTHERS or not os.path.isdir(os.path.join(root, top)):
            continue
        for directory, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if "." in name and not name.endswith(PLAIN):
                    yield os.path.relpath(os.path.join(directory, name), root)


def wrong_includes(root):
    """Every include of the tree that no rule allows, as text, and every source that no rule is for."""
    wrong = []
    for path in sources(root):
        if path.split("/")[0] not in FOLDERS:
            wrong.append(f"{path} is in a folder that no rule is for")
            continue
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            for directive, operand in INCLUDE.findall(without_comments(file.read())):
                wrong.append(fault_of(path, directive, operand))
    return [w for w in wrong if w]


class Includes(unittest.TestCase):
    def test_includes_point_downwards(self):
        self.assertEqual(wrong_includes(SOURCE), [])

    def test_the_headers_of_every_part_are_its_own(self):
        folders = {os.path.dirname(path) for path in sources(SOURCE)
                   if path.startswith("models/") and os.path.basename(path) == "part.cpp"}
        self.assertGreater(len(folders), 3)
        self.assertEqual({f for f in folders if not PART.search(f + "/")}, set(PART_AND_INTERFACE))

    def test_a_wrong_include_is_found(self):
        for path, line in (("models/pcie/x.h", '#include "models/nic/nic.h"'),
                           ("models/nic/mine/x.cpp", '#include "platform/board/board.h"'),
                           ("models/base/time/x.h", '#include "models/base/measure/ledger.h"'),
                           ("models/riscv/iss/x.h", "#include <systemc>"),
                           ("models/riscv/iss/x.h", '#include "models/base/systemc/model.h"'),
                           ("models/riscv/iss/slow_path.h", '#include "models/riscv/iss/interpreter/block_cache.h"'),
                           ("models/riscv/iss/hart.cpp", '#include "models/riscv/iss/interpreter/interpreter.h"'),
                           ("models/irq/x.h", '#include "firmware/kernel/hart.h"'),
                           ("models/net/x.cpp", '#include "firmware/rpc/xdr.h"'),
                           ("models/net/calls/x.cpp", '#include "firmware/programs/kv_limits.h"'),
                           ("models/accel/mine/x.cpp", '#include "firmware/kernel/exit_codes.h"'),
                           ("platform/board/x.cpp", '#include "firmware/kernel/statistics.h"'),
                           ("protocols/rpc/x.h", '#include "models/base/freestanding.h"'),
                           ("protocols/rpc/x.h", '#include "onc_rpc.h"'),
                           ("protocols/rpc/x.h", '#include <string>'),
                           ("platform/board/x.cpp", '#include "platform/run/simulation.h"'),
                           ("platform/debug/x.cpp", '  #  include "platform/run/outside.h"'),
                           ("platform/debug/protocol/x.cpp", '#include "platform/debug/change.h"'),
                           ("platform/workload/x.cpp", '#include "platform/report/format.h"'),
                           ("platform/config/x.h", '#include "models/pcie/endpoint/endpoint.h"'),
                           ("firmware/net/x.c", '#include "models/net/frame.h"'),
                           ("models/nowhere/deep/x.h", '#include "models/net/frame.h"'),
                           ("platform/board/board.cpp", '#include "models/nic/descriptor/descriptor_nic.h"'),
                           ("platform/board/x.cpp", '#include "models/accel/dma_requester/dma_requester.h"'),
                           ("platform/debug/x.cpp", '#include "models/nic/descriptor/descriptor_regs.h"'),
                           ("models/pcie/x.h", "#include <models/nic/nic.h>"),
                           ("models/pcie/x.h", '#include "../nic/nic.h"'),
                           ("models/pcie/x.h", '#include "./../../platform/board/board.h"'),
                           ("models/pcie/x.h", '#include "models/pcie/../nic/nic.h"'),
                           ("models/pcie/x.h", "#include SOME_HEADER"),
                           ("models/pcie/x.h", '#include /* a */ "models/nic/nic.h"'),
                           ("models/pcie/x.h", '/* a\n */ #include "models/nic/nic.h"'),
                           ("models/pcie/x.h", '#include \\\n"models/nic/nic.h"'),
                           ("models/pcie/x.h", '#import "models/pcie/tlp.h"'),
                           ("models/pcie/x.inc", '#include "models/nic/nic.h"'),
                           ("models/pcie/x.hpp", '#include "models/nic/nic.h"'),
                           ("firmware/boot/x.S", '#include "models/net/frame.h"'),
                           ("extra/x.cpp", '#include "models/net/frame.h"')):
            with self.subTest(path=path, line=line), tempfile.TemporaryDirectory() as root:
                os.makedirs(os.path.dirname(os.path.join(root, path)))
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write("#pragma once\n" + line + "\n")
                self.assertEqual(len(wrong_includes(root)), 1)

    def test_what_is_allowed_is_not_found(self):
        for path, header in (("models/nic/mine/x.h", "models/nic/nic.h"), ("firmware/net/x.c", "models/pcie/pcie_regs.h"),
                             ("models/nic/mine/x.h", "models/nic/mine/y.h"), ("tests/unit/x.cpp", "platform/cli/say.h"),
                             ("models/net/x.cpp", "protocols/rpc/kv.h"), ("firmware/rpc/x.h", "protocols/rpc/kv.h"),
                             ("protocols/rpc/x.h", "stdint.h")):
            self.assertTrue(may_include(path, header), path)
        for text in ('// #include "models/nic/nic.h"', '/*\n#include "models/nic/nic.h"\n*/', 'x = "\\"/*";\n'):
            self.assertEqual(INCLUDE.findall(without_comments(text)), [])


if __name__ == "__main__":
    unittest.main()
