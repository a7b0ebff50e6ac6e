#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Yosys' SAT solver proves what the FORMAL blocks of rtl/stream say, and refutes it for mutants of the modules.

Called as test_formal.py SOURCE-DIRECTORY; exit status 77 without yosys."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else os.getcwd()
STEPS = 16

# The proof by induction begins with a cycle of reset, from any values of the registers.
SCRIPT = """read_verilog -sv -formal {path}
hierarchy -top {module} -chparam {parameter} {value}
prep -flatten
memory_map
async2sync
opt_clean
sat -tempinduct -prove-asserts -set-assumes -seq 1 -set-at 1 rst 1 -maxsteps {steps}
"""

# A module, its parameter, and mutants: what is replaced by what.
MODULES = {
    "stream_register": ("Bits", 2, (
        # a beat is lost when the output stalls
        ("skid_valid <= 1'b1;", "skid_valid <= 1'b0;"),
        # the beats in the buffer overtake each other
        ("out_data <= skid_valid ? skid_data : in_data;", "out_data <= in_data;"),
        # a beat is repeated
        ("out_valid  <= skid_valid || in_valid;", "out_valid  <= 1'b1;"),
        # an offered beat is taken back
        ("      if (out_ready || !out_valid) begin", "      if (1'b1) begin"),
        # the buffer never empties
        ("        skid_valid <= 1'b0;\n      end else", "      end else"),
        # a beat in the buffer is overwritten
        ("assign in_ready = !skid_valid;", "assign in_ready = 1'b1;"),
        # the buffer is taken as empty
        ("out_valid  <= skid_valid || in_valid;", "out_valid  <= in_valid;"),
        # a beat changes in the buffer
        ("      skid_data <= in_data;", "      if (in_data != '0) skid_data <= in_data;"),
        # a beat is not taken though there is room
        ("assign in_ready = !skid_valid;", "assign in_ready = !skid_valid && !out_valid;"),
        # a reset leaves a beat
        ("      skid_valid <= 1'b0;\n    end else begin", "    end else begin"),
    )),
    "bit_queue": ("Depth", 4, (
        # a bit is written beside its place
        ("bits[written[Bits-1:0]] <= put_bit;", "bits[read[Bits-1:0]] <= put_bit;"),
        # a bit changes
        ("<= put_bit;", "<= put_bit && !get;"),
        # the youngest bit is given
        ("assign got = bits[read[Bits-1:0]];", "assign got = bits[written[Bits-1:0]];"),
        # a bit is put without enable
        ("if (enable && put) bits", "if (put) bits"),
        # a bit is not counted when one leaves
        ("written + {{Bits{1'b0}}, put}", "written + {{Bits{1'b0}}, put && !get}"),
        # a bit stays when another one comes
        ("read + {{Bits{1'b0}}, get}", "read + {{Bits{1'b0}}, get && !put}"),
        # a reset leaves the queue filled
        ("      written <= '0;\n", ""),
    )),
}


def prove(module, text):
    """Whether the module's assertions hold; raises if yosys does not come to a proof or a counterexample."""
    parameter, value, _ = MODULES[module]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"{module}.sv")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        script = os.path.join(folder, "prove.ys")
        with open(script, "w", encoding="utf-8") as file:
            file.write(SCRIPT.format(path=path, module=module, parameter=parameter, value=value, steps=STEPS))
        run = subprocess.run(["yosys", "-Q", "-T", "-s", script], capture_output=True, text=True, check=False, timeout=200)
    output = run.stdout + run.stderr
    if run.returncode == 0 and "Induction step proven: SUCCESS!" in output:
        return True
    if run.returncode == 0 and "model found for base case: FAIL!" in output:
        return False
    raise AssertionError(f"neither proven nor refuted:\n{output[-3000:]}")


def source(module):
    with open(os.path.join(SOURCE, "rtl/stream", f"{module}.sv"), encoding="utf-8") as file:
        return file.read()


class Formal(unittest.TestCase):
    def check(self, module):
        text = source(module)
        self.assertIn("`ifdef FORMAL", text)
        self.assertTrue(prove(module, text))
        # What the assertions are about is changed, and they are not.
        design, _, checks = text.partition("`ifndef SYNTHESIS")
        for number, (old, new) in enumerate(MODULES[module][2]):
            with self.subTest(mutant=number, old=old, new=new):
                self.assertEqual(design.count(old), 1)
                self.assertFalse(prove(module, design.replace(old, new) + "`ifndef SYNTHESIS" + checks))

    def test_stream_register_loses_repeats_and_reorders_no_beat(self):
        self.check("stream_register")

    def test_bit_queue_gives_each_bit_once_and_in_order(self):
        self.check("bit_queue")


if __name__ == "__main__":
    if shutil.which("yosys") is None:
        print("yosys is missing")
        sys.exit(77)
    unittest.main()
