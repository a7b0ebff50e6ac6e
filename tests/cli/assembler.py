# SPDX-License-Identifier: Apache-2.0
"""Guests from assembly source, for tests of the command: the cross compiler that builds the firmware makes them."""

import os
import subprocess
import tempfile

PASS = """
  li t0, 0x100000
  li t1, 0x5555
  sw t1, 0(t0)
  j .
"""

FAIL = """
  li t0, 0x100000
  li t1, {code} << 16 | 0x3333
fails:
  sw t1, 0(t0)
  j .
"""


def assemble(source, base=0x8000_0000):
    """An RV64 executable that lies and starts at base."""
    with tempfile.TemporaryDirectory() as directory:
        return _read(_link(source, base, directory))


def assemble_raw(source, base=0x8000_0000):
    """The same as bare bytes."""
    with tempfile.TemporaryDirectory() as directory:
        elf = _link(source, base, directory)
        subprocess.run(["riscv64-unknown-elf-objcopy", "-O", "binary", elf, elf + ".bin"], check=True)
        return _read(elf + ".bin")


def _link(source, base, directory):
    path = os.path.join(directory, "guest")
    subprocess.run(["riscv64-unknown-elf-gcc", "-march=rv64gc_zicsr", "-mabi=lp64d", "-nostdlib", "-static",
                    "-Wl,--build-id=none", "-Wl,--nmagic", "-Wl,--no-warn-rwx-segments", f"-Wl,-Ttext={base:#x}",
                    "-x", "assembler", "-", "-o", path],
                   input=".globl _start\n_start:\n" + source, text=True, check=True)
    return path


def _read(path):
    with open(path, "rb") as file:
        return file.read()
