# SPDX-License-Identifier: Apache-2.0
"""What each stage of one lone request takes on a board with a PIO NIC, calculated from the board's parameters. Times are
integer femtoseconds. closed_forms.py has the wire, the PCIe link and the slots.

Sources: docs/models/nic-pio.md for who waits for which line, docs/models/coherent-links.md for the messages' sizes."""

from fractions import Fraction
from math import ceil

from closed_forms import FRAMING, FS_PER_S, SOFTWARE, PcieLink, Slots, Wire, call_bytes

LINE, INLINE, BEAT = 128, 64, 64
WORD = 8  # bytes of an ECI message without a line
# The stack's stages between the copy of the call and that of the reply.
STACK = ("demultiplex", "kernel protocol", "unmarshal", "handler", "marshal", "kernel protocol")


def overflow_lines(frame):
    return (max(frame, INLINE) - INLINE + LINE - 1) // LINE


class EciLink:
    """One direction of the link: messages of one word, and of a word and a line."""

    def __init__(self, p):
        self.byte = Fraction(8 * FS_PER_S * 8, p["coherent.eci0.lanes"] * p["coherent.eci0.lane_rate"] * 7)
        times = {name: p.fs(f"coherent.eci0.{name}") for name in
                 ("flight", "host_transmit", "host_receive", "device_transmit", "device_receive")}
        self.to_device = times["host_transmit"] + times["flight"] + times["device_receive"]
        self.to_host = times["device_transmit"] + times["flight"] + times["host_receive"]

    def time(self, count):
        return ceil(count * self.byte)

    def down(self, count):
        return self.time(count) + self.to_device

    def up(self, count):
        return self.time(count) + self.to_host

    def take_back(self, lines):
        """From the first recall of lines that the host has changed to the last one's arrival. Recalls leave one behind
        the other; each is answered when it arrives."""
        sent = free = 0
        for _ in range(lines):
            sent += self.time(WORD)
            free = max(free, sent + self.to_host) + self.time(WORD + LINE)
        return free + self.to_device


class PioRequest:
    """The tiles of a request that finds the host's load waiting in the NIC: (stage, component, femtoseconds)."""

    nic, hart = "nic.eth0", "cluster.host.hart0"

    def __init__(self, p):
        self.p, self.wire, self.slots = p, Wire(p), Slots(p)
        self.call, self.reply = call_bytes(p["workload.call.program"], p["workload.call.bytes"])

    def fs(self, name):
        return self.p.fs(f"{self.nic}.{name}")

    def until_slot(self, length):
        """A core goes on in the first slot behind what it waits for."""
        return lambda start: ceil(self.slots.next(start + length) * self.slots.period) - start

    def arrival(self):
        beats = -(-self.call // BEAT)
        yield "wire", "net.wire0", self.wire.last_bit(self.call)
        yield "MAC", self.nic + ".mac", self.fs("mac.rx_latency")
        yield "NIC queue", self.nic, self.fs("rx_queue") + self.fs("rx_queue_beat") * beats + self.fs("rx_stream")
        yield "wait for a core", self.nic, 0

    def departure(self):
        beats = -(-self.reply // BEAT)
        yield "transmit", self.nic, (self.fs("tx_stream") + self.fs("tx_queue") +
                                     (self.fs("tx_stream_beat") + self.fs("tx_queue_beat")) * beats)
        yield "MAC", self.nic + ".mac", self.fs("mac.tx_latency")
        yield "wire", "net.wire0", self.wire.last_bit(self.reply)


class CoherentRequest(PioRequest):
    def __init__(self, p):
        super().__init__(p)
        self.link = EciLink(p)

    def copy(self, waits):
        yield "copy", self.hart, SOFTWARE
        for wait in waits:
            yield "coherence message", "coherent.eci0", self.until_slot(wait)
            yield "copy", self.hart, SOFTWARE

    def tiles(self, _):
        fill = self.link.down(WORD) + self.link.up(WORD + LINE)
        upgrade = self.link.down(WORD) + self.link.up(WORD)
        yield from self.arrival()
        yield "coherence message", "coherent.eci0", self.until_slot(self.link.up(WORD + LINE))
        yield "poll", self.hart, SOFTWARE
        yield from self.copy([fill] * overflow_lines(self.call))
        for stage in STACK:
            yield stage, self.hart, SOFTWARE
        lines = overflow_lines(self.reply)
        shared = self.p[self.nic + ".grant"] == "shared"
        yield from self.copy([upgrade] * shared + [fill] * lines)
        yield "doorbell", self.hart, SOFTWARE
        # The commit, the control line, and then the overflow lines, as many as its word says.
        back = self.link.take_back(1) + (self.link.take_back(lines) if lines else 0)
        yield "coherence message", "coherent.eci0", self.link.down(WORD) + back
        yield from self.departure()


class PcieRequest(PioRequest):
    REGISTER = 8  # bytes
    COMMIT = 0x118  # PIO_HOST_TX_ACK

    def __init__(self, p):
        super().__init__(p)
        self.link = PcieLink(p)

    def tiles(self, writes):
        """writes: what the run says of the core's writes. The commit's waits on the link for those of the frame."""
        yield from self.arrival()
        yield "upstream link", "pcie.slot0", (self.link.time(12 + FRAMING + self.REGISTER) +
                                              self.fs("pcie.transmit_latency") + self.link.flight)
        # The core goes on when the bus has it, too.
        yield "memory", "root", self.until_slot(self.p.fs("root.completion_latency") + self.p.fs("bus.latency"))
        for stage in ("poll", "copy", *STACK, "copy", "doorbell"):
            yield stage, self.hart, SOFTWARE
        yield "doorbell", "root", self.p.fs("root.outbound_latency")
        # A write to a 64-bit BAR above 4 GiB: a header of four DWs.
        time = self.link.time(16 + FRAMING + self.REGISTER)
        way = self.link.flight + self.fs("pcie.receive_latency")

        def commit(start):
            own = next(n for n, w in enumerate(writes) if w["address"] % 2**20 == self.COMMIT and w["at"] >= start + time)
            return max(start, writes[own - 1]["at"]) + time + way - start
        yield "downstream link", "pcie.slot0", commit
        yield from self.departure()
