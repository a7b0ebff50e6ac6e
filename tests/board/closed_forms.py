# SPDX-License-Identifier: Apache-2.0
"""What each stage of one lone request takes, calculated from the parameters of a board with a descriptor NIC. Only the
effective parameters come from a run. Times are integer femtoseconds.

Sources: the PCI Express Base Specification for TLP sizes, IEEE 802.3 for frames, RFC 5531 for calls and replies, the
docstrings of the parameters for what each latency covers, and two facts about the firmware, below."""

from decimal import Decimal
from fractions import Fraction
from math import ceil

FS_PER_S = 10**15
SOFTWARE = None  # a tile that ends in a whole issue slot of a core: the firmware's work, or a core's own

# Facts about the firmware: frames start 130 bytes into a buffer of 2 KiB; a reply's results lie where the call's
# arguments lay, so that the reply's frame starts 16 bytes behind the call's: call header less reply header.
HEADROOM = 130
ETHERNET_IP_UDP = 14 + 20 + 8
CALL_HEADER = 10 * 4
REPLY_HEADER = 6 * 4

FRAMING = 8  # bytes: start, sequence number, LCRC, end
DESCRIPTOR_TX = 16
DESCRIPTOR_RX = 32
PAGE = 4096


class Parameters:
    """The effective board of a result file."""

    def __init__(self, board):
        self.instances = board["instances"]

    def __getitem__(self, path):
        instance = max((i for i in self.instances if path.startswith(i + ".")), key=len)
        return self.instances[instance]["parameters"][path[len(instance) + 1:]]["value"]

    def fs(self, path):
        """A parameter that is a time: the result file has nanoseconds."""
        return round(Decimal(self[path]) * 10**6)

    def times(self):
        """The paths of all parameters that are times, and their values in femtoseconds, as lists for lists of times."""
        def fs(value):
            return [fs(v) for v in value] if isinstance(value, list) else round(Decimal(value) * 10**6)
        return {f"{path}.{key}": fs(p["value"]) for path, i in self.instances.items()
                for key, p in i["parameters"].items() if p["unit"] == "ns"}


def call_bytes(program, opaque):
    """Frame lengths without FCS of a call and of its reply."""
    padded = (opaque + 3) // 4 * 4
    argument, result = {"null": (0, 0), "add": (8, 4), "checksum": (4 + padded, 4), "echo": (4 + padded, 4 + padded),
                        "sort": (4 + padded, 4 + padded)}[program]
    return (max(60, ETHERNET_IP_UDP + CALL_HEADER + argument), max(60, ETHERNET_IP_UDP + REPLY_HEADER + result))


class Wire:
    PREAMBLE, FCS = 8, 4

    def __init__(self, p):
        self.octet = Fraction(8 * FS_PER_S, p["net.wire0.rate"])
        self.flight = p.fs("net.wire0.flight")

    def last_bit(self, frame):
        """From the first bit at the sender to the last at the receiver."""
        return ceil((self.PREAMBLE + frame + self.FCS) * self.octet) + self.flight


class PcieLink:
    """One direction: rate = generation x lanes x 128b/130b, less SKP, ACK and flow-control traffic."""

    def __init__(self, p):
        transfers = {1: 2500, 2: 5000, 3: 8000, 4: 16000, 5: 32000}[p["pcie.slot0.generation"]] * 10**6
        lanes = p["pcie.slot0.lanes"]
        self.mps = p["pcie.slot0.max_payload"]
        code = Fraction(130, 128) if p["pcie.slot0.generation"] > 2 else Fraction(10, 8)
        raw = Fraction(8 * FS_PER_S, transfers * lanes) * code
        # The specification's limit for ACK and UpdateFC, in symbol times.
        if self.mps >= 512:
            factor = Fraction(2) if lanes >= 12 else Fraction(1)
        else:
            factor = Fraction(3) if lanes >= 12 else Fraction(5, 2) if lanes >= 8 else Fraction(7, 5)
        limit = int((self.mps + 28) * factor / lanes) + 115
        # In each `limit` bytes two DLLPs of 8, in each 1538 a SKP of 4.
        self.byte = raw / (1 - Fraction(16, limit) - Fraction(4, 1538))
        self.flight = p.fs("pcie.slot0.flight")

    def time(self, tlp_bytes):
        return ceil(tlp_bytes * self.byte)


class Slots:
    """The issue slots of the harts: slot n starts at n / (clock x width), rounded up to a femtosecond."""

    def __init__(self, p):
        self.period = Fraction(FS_PER_S, p["cluster.host.clock"] * p["cluster.host.issue_width"])

    def number(self, at):
        """Number of the slot that starts exactly then; None when none does."""
        n = int(at / self.period)
        return n if ceil(n * self.period) == at else None

    def next(self, at):
        """Number of the first slot that starts then or later."""
        n = int(at / self.period)
        return n if ceil(n * self.period) >= at else n + 1


def dwords(address, count):
    return (address % 4 + count + 3) // 4


def requests(address, count, most):
    """(address, bytes) of the TLPs of a transfer: at most `most` bytes of whole DWs, none across 4 KiB."""
    end = address + count
    while address < end:
        stop = min(end, address // 4 * 4 + most, (address // PAGE + 1) * PAGE)
        yield address, stop - address
        address = stop


def completions(address, count, most):
    """(address, bytes) of the completions of a read: each but the last ends at a multiple of `most`."""
    end = address + count
    while address < end:
        stop = min(end, (address // most + 1) * most)
        yield address, stop - address
        address = stop


class LoneRequest:
    """The tiles of a request that meets no other: (stage, component, femtoseconds)."""

    def __init__(self, p):
        self.p = p
        self.wire, self.link = Wire(p), PcieLink(p)
        self.up = p.fs("nic.eth0.pcie.transmit_latency") + self.link.flight
        self.down = self.link.flight + p.fs("nic.eth0.pcie.receive_latency")
        self.header = 12 if p["memory.high.base"] < 1 << 32 else 16  # bytes, of a request to the driver's rings
        self.call, self.reply = call_bytes(p["workload.call.program"], p["workload.call.bytes"])

    def data_tlp(self, address, count, header=12):
        return header + FRAMING + 4 * dwords(address, count)

    def write_of_frame(self):
        """The frame's TLPs and, behind them, that of its descriptor; the request waits for the last."""
        tlps = [self.data_tlp(a, n, self.header) for a, n in requests(HEADROOM, self.call, self.link.mps)]
        tlps.append(self.data_tlp(0, DESCRIPTOR_RX, self.header))
        yield "upstream link", "pcie.slot0", sum(map(self.link.time, tlps)) + self.up
        yield "memory", "root", self.p.fs("root.write_latency") + self.p.fs("caches.dma_write")

    def register_read(self):
        """Time of a core's read of four bytes of the NIC, whose BAR is above 4 GiB, without the bus."""
        return (self.p.fs("root.outbound_latency") + self.link.time(16 + FRAMING) + self.down +
                self.link.time(self.data_tlp(0, 4)) + self.up + self.p.fs("root.completion_latency"))

    def message_after_write(self):
        """Time from the write of the descriptor to the interrupt's message, which leaves behind that write and cannot
        pass it. An MSI-X message is a write itself, but not to memory; an INTA message goes to the interrupt controller
        at once."""
        if self.p["cluster.host.interrupts"] == "aia":
            ahead = self.p.fs("caches.dma_write")
            message = self.data_tlp(0, 4)
        else:
            ahead = self.p.fs("root.write_latency") + self.p.fs("caches.dma_write")
            message = 16 + FRAMING
        return max(0, self.link.time(message) - ahead)

    def read(self, address, count):
        """Read requests of at most MRRS leave one behind the other; the completions of each leave together, when memory
        has answered, behind those of the requests before it."""
        memory = self.p.fs("root.read_latency") + self.p.fs("caches.dma_read")
        most = min(self.p["root.completion_size"], self.link.mps)
        leaves = free = 0
        for a, n in requests(address, count, self.p["nic.eth0.pcie.max_read_request"]):
            leaves += self.link.time(self.header + FRAMING)
            answered = leaves + self.up + memory
            free = max(free, answered) + sum(self.link.time(self.data_tlp(b, m)) for b, m in completions(a, n, most))
        yield "upstream link", "pcie.slot0", leaves + self.up
        yield "memory", "root", memory
        yield "downstream link", "pcie.slot0", free - answered + self.down

    def tiles(self):
        p, nic, hart = self.p, "nic.eth0", "cluster.host.hart0"
        yield "wire", "net.wire0", self.wire.last_bit(self.call)
        yield "MAC", nic + ".mac", p.fs(nic + ".mac.rx_latency")
        yield "parse", nic, p.fs(nic + ".parse")
        yield "NIC queue", nic, p.fs(nic + ".rx_pipeline")
        yield from self.write_of_frame()
        if p[nic + ".driver"] == "poll":
            yield "wait for a core", nic, SOFTWARE
        else:
            yield "notify", nic, self.message_after_write()
            yield "interrupt", nic, 0
            yield "interrupt delivery", "imsic" if p["cluster.host.interrupts"] == "aia" else "plic", SOFTWARE
            yield "idle exit", hart, SOFTWARE
            yield "interrupt", hart, SOFTWARE
            yield "trap entry", hart, SOFTWARE
            yield "interrupt", hart, SOFTWARE
            yield "demultiplex", hart, SOFTWARE
        for stage in ("poll", "demultiplex", "kernel protocol", "unmarshal", "handler", "marshal", "kernel protocol",
                      "doorbell"):
            yield stage, hart, SOFTWARE
        yield "doorbell", "root", p.fs("root.outbound_latency")
        # A write of 4 bytes to a 64-bit BAR above 4 GiB: a header of four DWs.
        yield "downstream link", "pcie.slot0", self.link.time(self.data_tlp(0, 4, header=16)) + self.down
        yield "NIC queue", nic, p.fs(nic + ".tx_doorbell")
        yield from self.read(0, DESCRIPTOR_TX)
        yield from self.read(HEADROOM + CALL_HEADER - REPLY_HEADER, self.reply)
        yield "transmit", nic, p.fs(nic + ".tx_pipeline")
        yield "MAC", nic + ".mac", p.fs(nic + ".mac.tx_latency")
        yield "wire", "net.wire0", self.wire.last_bit(self.reply)
