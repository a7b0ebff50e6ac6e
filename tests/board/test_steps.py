# SPDX-License-Identifier: Apache-2.0
"""Who does which step of receiving a call, on each board of an RPC workload, as the run itself tells.
test_steps.py SLUICE"""

import unittest

from board_runs import SMALL, BoardTest, options, result

ALONE = options("workload.outstanding=1", "workload.think=5 us")
FRAMES = ("e810-poll", "e810-irq", "enzian-dma", "enzian-dma-irq", "enzian-eci-rpc", "enzian-pcie-rpc")
LAUBERHORN = ("enzian-lauberhorn", "cxl-lauberhorn")
TWELVE = ("read the packet", "protocol processing", "demultiplex", "interrupt a core", "general protocol", "identify the process",
          "find a core", "schedule", "context switch", "unmarshal", "find the function", "jump")


def steps(board, *arguments):
    return result(board, *SMALL, *arguments)["steps"]


def who(s):
    """Of each step those who do it, in the order of the file."""
    doers = {step: ["nobody"] for step in s["nobody"]} | {step: ["not known"] for step in s["not_known"]}
    for cost in s["costs"]:
        for step in cost["steps"]:
            doers.setdefault(step, []).append(cost["who"])
    return {step: doers[step] for step in TWELVE}


def cost(s, step, doer):
    return next(c for c in s["costs"] if step in c["steps"] and c["who"] == doer)


SOFTWARE = {"general protocol": ["application"], "identify the process": ["nobody"], "find a core": ["nobody"], "schedule": ["nobody"],
            "context switch": ["nobody"], "unmarshal": ["application"], "find the function": ["application"], "jump": ["application"]}
POLLED = {"read the packet": ["NIC", "application"], "protocol processing": ["NIC"], "demultiplex": ["NIC", "application"],
          "interrupt a core": ["nobody"], **SOFTWARE}


class Steps(BoardTest):
    def test_a_polled_ring_leaves_to_the_program_what_is_not_in_headers(self):
        for board in ("e810-poll", "enzian-dma"):
            with self.subTest(board=board):
                self.assertEqual(who(steps(board)), POLLED)

    def test_interrupts_are_the_nics_the_hosts_and_the_kernels(self):
        """The driver's interrupt handler is a kernel's; its frames are then the program's."""
        for board in ("e810-irq", "enzian-dma-irq"):
            with self.subTest(board=board):
                self.assertEqual(who(steps(board, *ALONE)), POLLED | {"interrupt a core": ["NIC", "host", "kernel"],
                                                                      "demultiplex": ["NIC", "kernel", "application"]})

    def test_a_nic_that_only_has_frames_leaves_everything_to_the_program(self):
        for board in ("enzian-eci-rpc", "enzian-pcie-rpc"):
            with self.subTest(board=board):
                self.assertEqual(who(steps(board)), POLLED | {"protocol processing": ["application"], "demultiplex": ["application"]})

    def test_lauberhorn_leaves_the_jump(self):
        for board in LAUBERHORN:
            with self.subTest(board=board):
                s = steps(board)
                self.assertEqual(who(s), {step: ["NIC"] for step in TWELVE} |
                                 {"interrupt a core": ["nobody"], "context switch": ["nobody"], "jump": ["application"]})
                passes = [c["steps"] for c in s["costs"] if len(c["steps"]) > 1]
                self.assertEqual(passes, [["protocol processing", "demultiplex", "general protocol", "identify the process", "unmarshal",
                                           "find the function"], ["find a core", "schedule"]])
                # Of the eleven between the load and the handler, those before the ledger's hint, and the load.
                self.assertEqual(cost(s, "jump", "application")["instructions"], 7)

    def test_a_call_by_the_kernel_line_is_scheduled_and_switched_to_by_the_kernel(self):
        """The first call finds all cores in the kernel; its core then stays in the process."""
        s = result("enzian-lauberhorn", "--requests", "10", "--warmup", "0")["steps"]
        self.assertEqual(who(s), {step: ["NIC"] for step in TWELVE} |
                         {"read the packet": ["NIC", "kernel"], "schedule": ["NIC", "kernel"], "interrupt a core": ["nobody"],
                          "context switch": ["kernel"], "jump": ["kernel", "application"]})
        for step in ("read the packet", "schedule", "context switch"):
            self.assertEqual(cost(s, step, "kernel")["visits"], 1)
            self.assertGreater(cost(s, step, "kernel")["instructions"], 0)

    def test_they_sum_to_the_latency(self):
        """To the femtosecond in the run itself, which would fail otherwise; here to what the file rounds."""
        for board in FRAMES + LAUBERHORN:
            with self.subTest(board=board):
                r = result(board, *SMALL)
                parts = r["steps"]["costs"] + r["steps"]["rest"]
                self.assertAlmostEqual(sum(p["mean_ns"] for p in parts), r["latency_ns"]["mean"], delta=1e-4)
                stage = sum(s["mean_ns"] for s in r["stages"] if s["name"] in ("decode", "parse"))
                hardware = sum(c["mean_ns"] for c in r["steps"]["costs"] if c["who"] == "NIC" and "protocol processing" in c["steps"])
                self.assertAlmostEqual(hardware, stage, delta=1e-5)

    def test_software_executes_what_it_says(self):
        """A call takes no more instructions to receive than its cores have executed."""
        for board in FRAMES + LAUBERHORN:
            with self.subTest(board=board):
                r = result(board, *SMALL)
                received = sum(c.get("instructions", 0) for c in r["steps"]["costs"] + r["steps"]["rest"])
                busy = sum(core["busy_instructions"] for core in r["cores"]) / r["ledger"]["completed"]
                self.assertGreater(received, 0)
                self.assertLess(received, busy)
                for core in r["cores"]:
                    self.assertLessEqual(core["busy_instructions"], core["instructions"])
                    self.assertLessEqual(core["busy_cycles"], core["cycles"])

    def test_more_arguments_cost_unmarshalling_and_not_the_search(self):
        few, many = (steps("e810-poll", *ALONE, *options("workload.call.program=sort", f"workload.call.bytes={n}")) for n in (64, 640))
        for step in ("find the function", "jump"):
            self.assertEqual(cost(few, step, "application")["instructions"], cost(many, step, "application")["instructions"])


if __name__ == "__main__":
    unittest.main()
