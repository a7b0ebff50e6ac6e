# SPDX-License-Identifier: Apache-2.0
"""What the harts of guests/memory_stress.c draw, and so what the counters of its run must be."""


def stress_counts(hart, harts, turns, behind_pcie=False, with_dma=False):
    """Stores that are combined, and atomics if every SC succeeds, of a hart's turns. behind_pcie: the NIC is; with_dma:
    there is a requester."""
    kinds, lines, device, nc = 4, 16, 0, 2
    combining = {nc, device} if behind_pcie else {nc}
    state, mask = 0x9e3779b97f4a7c15 * (hart + 1) % 2**64, 2**64 - 1
    combined = atomics = 0
    for _ in range(turns):
        state ^= state << 13 & mask
        state ^= state >> 7
        state ^= state << 17 & mask
        what, kind, line = state % 8, state >> 8 & 3, state >> 16 & lines - 1
        if what < 2:
            # The buffer behind PCIe takes no atomics: its counter is read instead, and told by one.
            atomics += 1 if what == 0 or behind_pcie and kind == device else 2
        elif what == 2:
            if hart // 2 * 2 + 1 < harts:
                combined += 3 * (kind in combining) + ((kind + 1) % kinds in combining)
        elif what == 4 or what == 3 and not with_dma:
            combined += 2 * (kind in combining)  # what lies across two blocks is not combined
        elif what != 3 and line % harts == hart:
            combined += (line % kinds in combining) + (line // kinds in combining)
    return combined, atomics
