# SPDX-License-Identifier: Apache-2.0
"""Who may include whom. Called as NAME.py SOURCE-DIRECTORY."""

import os
import re
import sys
import tempfile
import unittest

SOURCE = os.path.abspath(sys.argv.pop(1))
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)

# A folder, and the folders whose headers its files may include besides their own; "x/" stands for x and all below it.
# "x/y.h" stands for that header. A file follows the first entry whose folder contains it. Any file may include the
# freestanding headers, below.
BASE = "models/base/"
BOARD = ("platform/board", "platform/config", "platform/faults", "platform/firmware", "platform/plugin",
         "platform/workload")
RULES = (
    ("models/base/time", ()),
    ("models/base/files", ()),
    ("models/base/parameters", ("models/base/time",)),
    ("models/base/memory", ("models/base/time", "models/base/parameters")),
    ("models/base/measure", ("models/base/time", "models/base/files", "models/base/memory")),
    ("models/base/fabric", ("models/base/time", "models/base/parameters", "models/base/measure")),
    ("models/base/registers", ("models/base/time", "models/base/measure")),
    ("models/base/systemc", ("models/base/time", "models/base/measure")),
    ("models/base/outside", ("models/base/time", "models/base/files", "models/base/parameters", "models/base/systemc")),
    ("models/part", ("models/base/parameters",)),
    ("models/riscv/iss", ("models/base/measure", "models/base/memory", "models/riscv/iss/")),
    ("models/riscv", (BASE, "models/riscv/iss/")),
    ("models/pcie", (BASE, "models/part", "models/pcie/")),
    ("models/memory", (BASE, "models/part")),
    ("models/net", (BASE, "models/net/")),
    ("models/workload", (BASE, "models/net/", "models/part", "models/pcie/", "models/workload")),
    ("models/nic", (BASE, "models/net/", "models/nic", "models/part", "models/pcie/")),
    ("models/accel", (BASE, "models/memory", "models/part", "models/pcie/", "models/workload")),
    ("models", (BASE,)),
    ("platform/config", ("models/base/parameters", "models/part")),
    # statistics.h: the counters that an image of the firmware library declares.
    ("platform/firmware", ("models/", *BOARD, "firmware/kernel/statistics.h")),
    *((folder, ("models/", *BOARD)) for folder in BOARD),
    ("platform/diagnosis", ("models/", *BOARD, "firmware/kernel/exit_codes.h")),
    ("platform/debug/protocol", ()),
    ("platform/debug", ("models/", *BOARD, "platform/diagnosis", "platform/debug/protocol")),
    ("platform/run", ("models/", *BOARD, "platform/diagnosis", "platform/debug")),
    ("platform/report", ("models/", *BOARD, "platform/diagnosis", "platform/debug", "platform/run")),
    ("platform/cli", ("models/", "platform/")),
    ("firmware", ("firmware/",)),
    ("tests", ("models/", "platform/", "firmware/", "tests/")),
    ("sw", ("models/", "platform/", "firmware/", "tests/", "sw/")),
)
# Freestanding C that models and firmware both include.
FREESTANDING = re.compile(r"^protocols/|^models/base/freestanding\.h$|^models/base/measure/(stages|hints)\.h$|"
                          r"^models/.*_(regs|codes)\.h$")
# All that a file in protocols may include.
STANDARD = ("stdbool.h", "stddef.h", "stdint.h")
FOLDERS = ("models", "platform", "protocols", "firmware", "tests", "sw")
WITHOUT_SYSTEMC = ("models/riscv/iss/", "models/base/time/", "models/base/files/", "models/base/parameters/",
                   "models/base/memory/", "models/base/measure/", "models/base/fabric/", "models/part/",
                   "platform/config/")


# Headers of one part only: the header, and the files that may include it.
OWN = (
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


def wrong_includes(root):
    """Every include of the tree that no rule allows, as text."""
    wrong = []
    for top in FOLDERS:
        for directory, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if not name.endswith((".h", ".c", ".cpp", ".S")):
                    continue
                path = os.path.relpath(os.path.join(directory, name), root)
                with open(os.path.join(root, path), encoding="utf-8") as file:
                    for kind, header in INCLUDE.findall(file.read()):
                        if top == "protocols" or (kind == '"' and header.split("/")[0] in FOLDERS):
                            if not may_include(path, header):
                                wrong.append(f"{path} includes {header}")
                        elif header.startswith(("systemc", "tlm", "sysc/")) and path.startswith(WITHOUT_SYSTEMC):
                            wrong.append(f"{path} includes {header}")
    return wrong


class Includes(unittest.TestCase):
    def test_includes_point_downwards(self):
        self.assertEqual(wrong_includes(SOURCE), [])

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
                           ("models/nowhere/deep/x.h", '#include "models/net/frame.h"')):
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


if __name__ == "__main__":
    unittest.main()
