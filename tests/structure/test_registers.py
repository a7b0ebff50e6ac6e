#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where a model names a register, its offset is the constant of the same name in a register header, and no number."""

import os
import re
import sys

ROOT = sys.argv[1]
DEFINED = re.compile(r"^#define ([A-Z][A-Z0-9]*_[A-Z0-9_]+)(?:\([a-z, ]+\))? \(?(?:0x)?[0-9a-f]+u", re.MULTILINE)
# `"tx_tail", DESC_TX_TAIL`, `.name = fmt::format("claim_context{}", n), .offset = PLIC_CLAIM(n)`
NAMED = re.compile(r'"([a-z][a-z0-9_]*?)(?:"|_context\{\}", \w+\)),\s*(?:\.offset = )?([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b')
OFFSET = re.compile(r"\.offset = ([^,\n]+)")


def sources(ending):
    for folder, _, names in os.walk(os.path.join(ROOT, "models")):
        for name in sorted(names):
            if name.endswith(ending):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as f:
                    yield os.path.relpath(path, ROOT), f.read()


def faults_of(path, text, constants):
    """What is wrong with the registers that a source names, and how many it names."""
    faults, named = [], 0
    for name, constant in NAMED.findall(text):
        if constant not in constants:
            continue
        named += 1
        if re.sub(r"\d+$", "", constant.split("_", 1)[1]) not in (name.upper(), re.sub(r"\d+$", "", name.upper())):
            faults.append(f"{path}: register {name} is at {constant}")
    for offset in OFFSET.findall(text):
        if re.match(r"\d", offset):
            faults.append(f"{path}: a register's offset is {offset}, and no constant of a register header")
    return faults, named


def main():
    constants = {c for _, text in sources("_regs.h") for c in DEFINED.findall(text)}
    faults, named = [], 0
    for path, text in sources(".cpp"):
        found, n = faults_of(path, text, constants)
        faults += found
        named += n
    wrong = '{.name = "tail", .offset = UART_RBR} {.name = "rbr", .offset = 8} {.name = "rbr", .offset = UART_RBR}'
    if len(faults_of("", wrong, constants)[0]) != 2:
        faults.append("this test does not find what is wrong")
    if named < 90:
        faults.append(f"only {named} registers found")
    print("\n".join(faults) or f"{named} registers")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
