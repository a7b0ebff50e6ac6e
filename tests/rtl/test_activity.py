# SPDX-License-Identifier: Apache-2.0
"""sw/rtl-activity counts what switches in a waveform by hand, and with SLUICE_FULL=1 as much for each request of a short run
as of a longer one.

test_activity.py RTL_ACTIVITY SLUICE; skipped where yosys or fst2vcd is missing."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

TOOL, SLUICE = (sys.argv.pop(1) for _ in range(2))

MODULES = """
module leaf (input logic [3:0] x, input logic [3:0] state, output logic [3:0] z);
  assign z = x ^ state;
endmodule

module tiny (input logic clk, input logic rst, input logic [3:0] a, input logic sel, output logic [3:0] q);
  logic [3:0] next;
  leaf inner (.x(a), .state(q), .z(next));
  always_ff @(posedge clk)
    if (rst) q <= 4'd0;
    else if (sel) q <= next;
endmodule
"""

HEADER = """$timescale 1ps $end
$scope module TOP $end
$var wire 1 c clk $end
$scope module tiny $end
$var parameter 32 p Depth [31:0] $end
$var wire 1 c clk $end
$var wire 1 r rst $end
$var wire 4 a a [3:0] $end
$var wire 1 s sel $end
$var wire 4 q q [3:0] $end
$var logic 4 n next [3:0] $end
$var logic 1 g ghost $end
$scope module inner $end
$var wire 4 a x [3:0] $end
$var wire 4 q state [3:0] $end
$var wire 4 z z [3:0] $end
$upscope $end
$scope module unnamedblk1 $end
$var integer 32 i i [31:0] $end
$upscope $end
$upscope $end
$upscope $end
$enddefinitions $end
"""

# a, sel, q, z and ghost before each rising edge of the clock. What toggles, and its fan-out: a bit of a goes to one gate; sel
# to four enables; a bit of q to a gate and an output; a bit of z to a flip-flop; ghost is not in the netlist.
CYCLES = (
    ("0", "0", "0", "0", "0"),
    ("11", "1", "0", "11", "1"),  # a 2 * 1, sel 1 * 4, z 2 * 1, ghost 1
    ("11", "1", "11", "0", "1"),  # q 2 * 2, z 2 * 1
    ("11", "0", "0", "11", "1"),  # q 2 * 2, z 2 * 1, sel 1 * 4
)


def waveform():
    text, time = HEADER + "#0\n$dumpvars\n1r\n0c\nb1 p\nb0 i\n$end\n", 0
    for a, sel, q, z, ghost in CYCLES:
        # Of the values between the edges only the last is the cycle's.
        text += f"#{time + 2}\nb1111 a\nb{q} q\nbx z\nb1010 z\n1s\n#{time + 5}\n0c\n0r\nb{a} a\n{sel}s\nb{q} q\nb{z} z\n{ghost}g\nb{z} n\n"
        text += f"b1{time:b} i\n"
        time += 10
        text += f"#{time}\n1c\n"
    return text


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, check=False)


class Counts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.sources = self.write("tiny.sv", MODULES)
        self.vcd = self.write("tiny.vcd", waveform())

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def tiny(self, *more, path=None, top="tiny"):
        return run("--sources", self.sources, "--top", top, *more, path or self.vcd)

    def test_a_waveform_by_hand(self):
        result = self.tiny("--json", "--requests", "2")
        self.assertEqual(result.stderr, "")
        result = json.loads(result.stdout)
        self.assertEqual(result["instances"], {"": {"module": "tiny", "toggles": 9, "weighted": 19},
                                               "inner": {"module": "leaf", "toggles": 6, "weighted": 6}})
        self.assertEqual((result["toggles"], result["weighted"], result["cycles"], result["requests"]), (15, 25, 4, 2))
        self.assertEqual((result["toggles_per_request"], result["weighted_per_request"]), (7.5, 12.5))
        self.assertEqual((result["toggles_per_cycle"], result["weighted_per_cycle"]), (3.75, 6.25))
        self.assertAlmostEqual(result["unmapped"], 1 / 15)

    def test_requests_of_the_result(self):
        self.write("result.json", '{"requests": {"completed": 5}}')
        self.assertEqual(json.loads(self.tiny("--json").stdout)["toggles_per_request"], 3)

    def test_packets_that_leave(self):
        module = "module out (input logic clk, output logic m_axis_tvalid, input logic m_axis_tready, output logic m_axis_tlast);\n" \
                 "always_ff @(posedge clk) {m_axis_tvalid, m_axis_tlast} <= {m_axis_tready, m_axis_tvalid};\nendmodule\n"
        text = "$scope module out $end\n" + "".join(f"$var wire 1 {code} {name} $end\n" for code, name in (
            ("c", "clk"), ("v", "m_axis_tvalid"), ("r", "m_axis_tready"), ("l", "m_axis_tlast"))) + "$upscope $end\n$enddefinitions $end\n"
        time = 0
        for valid, ready, last in ((0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 1, 1), (1, 1, 1)):
            text += f"#{time}\n0c\n{valid}v\n{ready}r\n{last}l\n#{time + 5}\n1c\n"
            time += 10
        result = run("--json", "--sources", self.write("out.sv", module), "--top", "out", self.write("out.vcd", text))
        self.assertEqual(json.loads(result.stdout)["requests"], 2, result.stderr)

    def test_ratio(self):
        other = self.write("other.json", self.tiny("--json", "--requests", "2").stdout)
        lines = self.tiny("--requests", "4", "--against", other).stdout.splitlines()
        self.assertEqual([line.split() for line in lines if line.startswith(("per request ", "inner", "per cycle"))],
                         [["per", "request", "3.8", "6.2", "0.500", "0.500"],
                          ["per", "cycle", "awake", "3.8", "6.2", "1.000", "1.000"],
                          ["inner", "leaf", "1.5", "1.5", "24.0", "%", "0.500", "0.500"]])
        self.assertEqual(lines[-1], "6.67 % of the toggles are of bits that Yosys' netlist does not have; each weighs 1")

    def test_output_that_cannot_be_written(self):
        command = [TOOL, self.vcd, "--top", "tiny", "--requests", "2", "--sources", self.sources]
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr),
                         (2, "rtl-activity: the standard output cannot be written: No space left on device\n"))
        reader, writer = os.pipe()
        os.close(reader)
        with open(writer, "w", encoding="utf-8") as closed:
            result = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (-signal.SIGPIPE, ""))

    def test_mistakes(self):
        def check(result, *words):
            self.assertEqual((result.returncode, result.stdout), (2, ""), result)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertTrue(result.stderr.startswith("rtl-activity: "), result.stderr)
            for word in words:
                self.assertIn(word, result.stderr)

        check(self.tiny(path="/nowhere.fst"), "/nowhere.fst", "No such file")
        check(self.tiny(path=self.sources), "is no waveform")
        check(self.tiny(path=self.write("empty", "")), "is no waveform")
        check(self.tiny(path=self.folder.name), "has 0 waveforms")
        check(self.tiny(top="huge"), "has no module huge; it has TOP, tiny, inner")
        check(self.tiny(top="TOP"), "yosys refuses the module TOP")
        check(self.tiny(top="a b"), "not the name of a module")
        check(self.tiny("--clock", "clock"), "has no clock clock")
        check(self.tiny("--reset", "reset"), "has no reset reset")
        check(self.tiny("--clock", "q", "--requests", "1"), "the clock q never rises")
        check(self.tiny(), "--requests says how many")
        check(self.tiny("--requests", "1", "--against", self.sources), "not what rtl-activity --json prints")
        check(self.tiny("--requests", "1", "--against", "/nowhere.json"), "No such file")
        check(run("--sources", "/nowhere.sv", "--top", "tiny", self.vcd), "/nowhere.sv")


class Runs(unittest.TestCase):
    def activity(self, requests, folder, *more):
        path = os.path.join(folder, str(requests))
        subprocess.run([SLUICE, "run", "e810-poll", "--set", "nic.eth0.decoder=rtl", "--set", "workload.warmup=10", "--set",
                        "workload.host.resolve_interval=10ms", "--requests", str(requests), "--trace", "vcd", "--out", path],
                       check=True, stdout=subprocess.DEVNULL)
        result = run(*more, path)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_runs_of_the_decoder(self):
        with tempfile.TemporaryDirectory() as folder:
            text = self.activity(40, folder, "--json")
            short = json.loads(text)
            self.assertGreaterEqual(short["requests"], 50)
            self.assertLess(short["unmapped"], 0.05)
            self.assertEqual(short["instances"]["udp.strip"]["module"], "stream_strip")
            self.assertGreater(short["instances"]["udp.strip"]["weighted"], short["instances"]["udp.strip"]["toggles"])
            if os.environ.get("SLUICE_FULL") != "1":
                return
            with open(os.path.join(folder, "short.json"), "w", encoding="utf-8") as file:
                file.write(text)
            long = self.activity(160, folder, "--against", file.name)
            line = next(line for line in long.splitlines() if line.startswith("per request "))
            for ratio in line.split()[-2:]:
                self.assertAlmostEqual(float(ratio), 1, delta=0.03, msg=long)


if __name__ == "__main__":
    if not all(map(shutil.which, ("yosys", "fst2vcd"))):
        print("yosys or fst2vcd is missing")
        sys.exit(77)
    unittest.main()
