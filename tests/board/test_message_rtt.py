# SPDX-License-Identifier: Apache-2.0
"""The round trip of a message between a core and the NIC: test_message_rtt.py LEDGER_TILES SLUICE. Over coherent lines and
over PCIe, each tile of each message lasts what the board's parameters say, to the femtosecond; software's tiles are whole
issue slots."""

import json
import subprocess
import unittest

from closed_forms import DESCRIPTOR_TX, HEADROOM, SOFTWARE, LoneRequest, Slots
from closed_forms_pio import BEAT, LINE, WORD, EciLink
from ledger_runs import NS, SLUICE, run, run_all

MESSAGES = ("workload.model=message-rtt", "cluster.host.firmware=message-rtt", "workload.messages=40", "workload.uncounted=40")
NIC, HART, ECI = "nic.eth0", "cluster.host.hart0", "coherent.eci0"
NIC_CYCLE = 4 * NS  # 250 MHz
DECODER = 26  # cycles for a frame of one beat, from the edge of the clock at which it is given to the decoder
LAUBERHORN, PIO, DMA = "enzian-lauberhorn", "enzian-eci-pio", "e810-poll"
FUNCTIONAL = "caches.timing=functional"


class LineMessage:
    """The tiles of a message whose bytes all lie in the control line: (stage, component, femtoseconds), or a function of
    when the tile begins."""

    def __init__(self, r, size, is_lauberhorn):
        self.p, self.link, self.slots, self.size = r.parameters, EciLink(r.parameters), Slots(r.parameters), size
        self.decodes = is_lauberhorn
        # Of the line of the message before, which the core has only read, nothing need come back but a word. It is back
        # when the load comes, where software has said that it has done with it.
        self.receive = self.link.down(WORD) + (0 if is_lauberhorn else self.link.up(WORD) + self.link.down(WORD))

    def fs(self, name):
        return self.p.fs(f"{NIC}.{name}")

    def until_slot(self, at):
        return -(-self.slots.next(at) * self.slots.period // 1)

    def exchange(self):
        """A load of the other control line arrives, the line is recalled, and arrives."""
        return self.link.down(WORD) + self.link.take_back(1)

    def pipelines(self, at):
        """When a frame that is complete at `at` lies in the packet buffer."""
        beats = -(-self.size // BEAT)
        yield "transmit", at
        at += self.fs("tx_stream") + self.fs("tx_queue") + beats * (self.fs("tx_stream_beat") + self.fs("tx_queue_beat"))
        yield "NIC queue", at
        at += self.fs("rx_queue") + beats * self.fs("rx_queue_beat")
        if self.decodes:
            yield "decode", at
            at = (at // NIC_CYCLE + 1 + DECODER) * NIC_CYCLE
            yield "NIC queue", at
        yield None, at + self.fs("rx_stream")

    def check(self, test, message):
        tiles = {}
        for stage, component, start, end in message.tiles:
            tiles.setdefault((stage, component), []).append((start, end))
        (commit, answer), copies = tiles[("coherence message", ECI)], tiles[("copy", HART)]
        (doorbell,) = tiles[("doorbell", HART)]
        test.assertEqual((copies[0][0], copies[-1][1]), (message.start, message.end))
        # The commit: up, the recall, and the line.
        test.assertEqual(commit, (doorbell[1], doorbell[1] + self.exchange()))
        ways = list(self.pipelines(commit[1]))
        for (stage, start), (_, end) in zip(ways, ways[1:]):
            test.assertIn((start, end), tiles[(stage, NIC)], stage)
        # The core gets the next line to write to, and asks for the next one to read.
        goes_on = self.until_slot(commit[1] + self.link.up(WORD + LINE))
        (wait,) = tiles[("wait for a core", NIC)]
        test.assertEqual(wait, (ways[-1][1], answer[0]))
        asked = answer[0] - self.receive
        test.assertGreater(asked, goes_on)
        test.assertIsNotNone(self.slots.number(asked), "the core asks in a slot, and nothing waits for the pipelines")
        test.assertGreater(answer[0], ways[-1][1], "the pipelines' time is hidden behind the lines'")
        test.assertEqual(answer[1], self.until_slot(answer[0] + self.link.up(WORD + LINE)))
        # What is left is software, in whole slots.
        slots = sum(self.slots.number(end) - self.slots.number(start) for start, end in
                    (*copies, *tiles[("poll", HART)], doorbell, (goes_on, asked)))
        test.assertEqual(set(tiles), {("copy", HART), ("doorbell", HART), ("coherence message", ECI), ("transmit", NIC),
                                      ("NIC queue", NIC), ("wait for a core", NIC), ("poll", HART)} |
                         ({("decode", NIC)} if self.decodes else set()))
        return slots


class DmaMessage(LoneRequest):
    """The same by a descriptor NIC."""

    def __init__(self, r, size):
        r.parameters.instances["workload"]["parameters"].update(
            {"call.program": {"value": "null"}, "call.bytes": {"value": 0}})
        super().__init__(r.parameters)
        self.call = size

    def tiles(self):
        p = self.p
        yield "copy", HART, SOFTWARE
        yield "doorbell", HART, SOFTWARE
        yield "doorbell", "root", p.fs("root.outbound_latency")
        yield "downstream link", "pcie.slot0", self.link.time(self.data_tlp(0, 4, header=16)) + self.down
        yield "NIC queue", NIC, p.fs(NIC + ".tx_doorbell")
        yield from self.read(0, DESCRIPTOR_TX)
        yield from self.read(HEADROOM, self.call)
        yield "transmit", NIC, p.fs(NIC + ".tx_pipeline")
        yield "parse", NIC, p.fs(NIC + ".parse")
        yield "NIC queue", NIC, p.fs(NIC + ".rx_pipeline")
        yield from self.write_of_frame()
        yield "wait for a core", NIC, SOFTWARE
        yield "poll", HART, SOFTWARE
        yield "copy", HART, SOFTWARE


class Tiles(unittest.TestCase):
    def test_over_lines_it_is_messages_of_the_link_and_software(self):
        cases = [(board, f"workload.sizes={size}", *more) for board in (LAUBERHORN, PIO) for size in (60, 64)
                 for more in ((), (f"{ECI}.device_receive=700 ns",), (f"{ECI}.flight=150 ns",), (f"{NIC}.tx_stream=100 ns",),
                              (f"{NIC}.mac.tx_latency=1 us",), (FUNCTIONAL,))]
        run_all([(board, *MESSAGES, *more) for board, *more in cases])
        for board, *more in cases:
            with self.subTest(board=board, more=more):
                r = run(board, *MESSAGES, *more)
                self.assertEqual(len(r.requests), 40)
                form = LineMessage(r, int(more[0].split("=")[1]), board == LAUBERHORN)
                slots = {form.check(self, message) for message in r.requests}
                self.assertEqual(len(slots), 1, "software does the same for each message")
                self.assertEqual((r.result["ledger"]["error"], r.result["ledger"]["clamped"]), ("", 0))

    def test_by_dma_each_tile_lasts_what_its_parts_say(self):
        cases = [(DMA, FUNCTIONAL, *more) for more in
                 ((), ("workload.sizes=1500",), (f"{NIC}.tx_pipeline=300 ns",), (f"{NIC}.parse=120 ns",),
                  ("root.read_latency=900 ns",), (f"{NIC}.mac.rx_latency=1 us", f"{NIC}.mac.tx_latency=1 us"))]
        run_all([(board, *MESSAGES, *more) for board, *more in cases])
        for board, *more in cases:
            with self.subTest(more=more):
                r = run(board, *MESSAGES, *more)
                size = next((int(m.split("=")[1]) for m in more if "sizes" in m), 64)
                expected = list(DmaMessage(r, size).tiles())
                self.assertEqual(len(r.requests), 40)
                for message in r.requests:
                    got = [(stage, component, end - start) for stage, component, start, end in message.tiles]
                    self.assertEqual([(s, c, SOFTWARE if e[2] is SOFTWARE else t) for (s, c, t), e in zip(got, expected)] +
                                     got[len(expected):], expected)


def result(*arguments):
    done = subprocess.run([SLUICE, "run", *arguments, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    return done, json.loads(done.stdout) if done.stdout else None


class Boards(unittest.TestCase):
    FEW = ("--workload=message-rtt", "--set=workload.messages=40", "--set=workload.uncounted=40")

    def test_each_nic_brings_each_message_back(self):
        for board in (LAUBERHORN, "cxl-lauberhorn", PIO, "enzian-eci-rpc", "enzian-pcie-pio", "enzian-pcie-rpc", "enzian-dma",
                      "enzian-dma-irq", DMA, "e810-irq", "e810-echo"):
            for sizes in ("60,64,65,96,97,128,1514",) + (("1515,4096,9614",) if board.startswith("enzian") else ()):
                with self.subTest(board=board, sizes=sizes):
                    done, r = result(board, *self.FEW, "--sizes", sizes)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual([row["bytes"] for row in r["message_rtt"]], [int(s) for s in sizes.split(",")])
                    self.assertEqual({row["messages"] for row in r["message_rtt"]}, {40})
                    self.assertEqual(r["requests"]["completed"], 40 * len(r["message_rtt"]))
                    self.assertEqual({n for name, n in r["counters"][f"{NIC}.mac"].items()}, {0})

    def test_nothing_of_the_mac_is_in_it(self):
        for board in (LAUBERHORN, PIO, "enzian-dma"):
            times = [result(board, *self.FEW, "--set=run.spread=none", f"--set={NIC}.mac.tx_latency={t}")[1]["message_rtt"]
                     for t in ("0 ns", "900 ns")]
            self.assertEqual(*times)

    def test_the_option_chooses_the_firmware_unless_somebody_else_does(self):
        board = result(DMA, *self.FEW)[1]["board"]["instances"]["cluster.host"]["parameters"]["firmware"]
        self.assertEqual(board["value"], "message-rtt")
        for chosen in ("--firmware=hello", "--set=cluster.host.firmware=hello"):
            done, _ = result(DMA, *self.FEW, chosen)
            self.assertEqual(done.returncode, 1)
            self.assertIn("the firmware ended the run after 0 of 80 messages", done.stderr)
        done, _ = result(DMA, *self.FEW, "--firmware=rpc-server")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cluster.host.firmware must be message-rtt", done.stderr)

    def test_messages_that_the_nic_does_not_take_are_refused(self):
        done, r = result(DMA, *self.FEW, "--sizes=64,1515")
        self.assertEqual((done.returncode, r), (2, None))
        self.assertIn("workload.sizes has messages of 1515 B, and nic.eth0 takes none of more than 1514 B", done.stderr)
        done, _ = result(DMA, *self.FEW, "--sizes=32")
        self.assertEqual(done.returncode, 2)
        self.assertIn("must be at least 60 B", done.stderr)

    def test_a_driver_without_a_buffer_says_so(self):
        done, _ = result(DMA, *self.FEW, f"--set={NIC}.buffers=192", f"--set={NIC}.tx_ring=64")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the driver had no buffer for a message", done.stderr)


if __name__ == "__main__":
    unittest.main()
