# SPDX-License-Identifier: Apache-2.0
"""The core and caches of the host i9-9960x in figures: what docs/models/riscv-window.md, docs/models/memory.md and the
board file say. The expectations of these tests are calculated from them, and from no run."""

from dataclasses import dataclass, fields, replace
from fractions import Fraction
from math import ceil

GHZ = Fraction("3.1")


@dataclass(frozen=True)
class Core:
    width: int = 4  # dispatch
    fetch_width: int = 6
    reorder_buffer: int = 224
    scheduler: int = 97
    load_queue: int = 72
    store_buffer: int = 56
    refill: int = 16
    history: int = 12
    return_stack: int = 16
    load: int = 5  # cycles of an L1D hit
    l1d_prefetch: bool = False
    prefetch_depth: int = 0
    miss_registers: int = 12
    llc_ways: int = 11
    llc_size: str = "22 MiB"
    l2_ns: str = "4.516"
    llc_ns: str = "21.935"
    dram_ns: str = "85"
    dram_gbps: str = "682.6"

    def but(self, **changes):
        return replace(self, **changes)

    # Cycles, which are no whole numbers. An instruction has its value in the first whole cycle.
    l2 = property(lambda self: Fraction(self.l2_ns) * GHZ)
    llc = property(lambda self: Fraction(self.llc_ns) * GHZ)
    dram = property(lambda self: Fraction(self.dram_ns) * GHZ)
    # A line on the DRAM channel.
    line = property(lambda self: 64 * 8 / Fraction(self.dram_gbps) * GHZ)

    def latency(self, level):
        return self.load if level == "l1d" else getattr(self, level)

    def settings(self):
        """What --set must say for such a core, and always of the prefetchers, which these tests have off by default."""
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default or field.name in ("l1d_prefetch", "prefetch_depth"):
                yield PATHS[field.name].format(str(value).lower() if isinstance(value, bool) else value)


PATHS = {"width": "cluster.host.issue_width={}", "load": "cluster.host.core.load.latency={}",
         "l2_ns": "caches.l2_latency={} ns", "llc_ns": "caches.llc_latency={} ns",
         "dram_ns": "caches.dram_latency={} ns", "dram_gbps": "caches.dram_rate={} Gb/s",
         **{name: f"cluster.host.core.{name}={{}}" for name in
            ("fetch_width", "reorder_buffer", "scheduler", "load_queue", "store_buffer", "refill", "history",
             "return_stack", "l1d_prefetch")},
         **{name: f"caches.{name}={{}}" for name in ("prefetch_depth", "miss_registers", "llc_ways", "llc_size")}}


def whole(cycles):
    return ceil(cycles)
