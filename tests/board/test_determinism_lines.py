# SPDX-License-Identifier: Apache-2.0
"""The determinism matrix, and that of several harts, for lines whose home is a device and memory of types NC and IO:
test_determinism_lines.py SLUICE DISTURBED_RUN. The stress is memory_stress.c, whose counts are calculated. Each load meets
each number of harts and each timing; all three together with SLUICE_FULL=1."""

import itertools
import json
import os
import unittest

import board_runs
from board_runs import FULL, BoardTest, figures, options, run
from stress_counts import stress_counts

TIMINGS = ("functional", "cached", "interval")
QUANTUM = "cluster.host.quantum"
ECI, SLOT = "coherent.eci0", "pcie.slot0"
CYCLE = 4.0  # ns, of the NIC's clock, by which everything is stamped
LINE, MESSAGE = 128, 8  # bytes on ECI
BOTH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "boards", "lines_and_dma.toml")
TURNS = 400
STRESS = ("workload.model=none", "cluster.host.firmware=memory-stress", f"cluster.host.bootargs={TURNS}")
LOOPBACK = ("workload.sizes=64,1500", "workload.frames=20")
CALLS = ("workload.requests=200", "workload.warmup=10", "workload.call.bytes=300")
# What is run: the board, its settings, and the traces that it has.
LOADS = {
    "loopback over ECI": ("enzian-eci-pio", LOOPBACK, "coherence,perfetto"),
    "loopback over PCIe": ("enzian-pcie-pio", LOOPBACK, "tlp,perfetto"),
    "stress over ECI": ("enzian-eci-pio", STRESS, "coherence,perfetto"),
    "stress over PCIe": ("enzian-pcie-pio", STRESS, "tlp,perfetto"),
    "stress and DMA": (BOTH, STRESS, "tlp,coherence,perfetto"),
    "calls over ECI": ("enzian-eci-rpc", CALLS, "coherence,perfetto"),
    "calls over PCIe": ("enzian-pcie-rpc", CALLS, "tlp,perfetto"),
    "calls by Lauberhorn": ("enzian-lauberhorn", (*CALLS, "workload.outstanding=8"), "coherence,perfetto"),
}
LOOPBACKS, STRESSES = tuple(LOADS)[:2], tuple(LOADS)[2:5]


def settings(load, harts, timing, *more):
    return (*LOADS[load][1], f"cluster.host.harts={harts}", f"caches.timing={timing}", *more)


def run_load(load, harts, timing, *more, arguments=(), **keywords):
    return run(LOADS[load][0], *options(*settings(load, harts, timing, *more)), *arguments, **keywords)


def disturbed(load, harts, timing, *more):
    """The result of a run with 100 entries and a foreign module more."""
    text = board_runs.run_program("--entries", "100000", "--foreign", LOADS[load][0],
                                  *settings(load, harts, timing, *more))
    contents = board_runs.load(text)
    assert contents.pop("disturbance")["entries"] == 100
    return json.dumps(contents)


def check_of(load):
    """The option --check, where the board has lines to check."""
    return ("--check",) if "coherence" in LOADS[load][2] else ()


class DeterminismOfLines(BoardTest):
    def for_each(self, check, loads=LOADS, harts=(1, 2, 4), timings=TIMINGS):
        for (i, load), (j, number), (k, timing) in itertools.product(*map(enumerate, (loads, harts, timings))):
            if FULL or (i + j + k) % min(len(harts), len(timings)) == 0:
                with self.subTest(load=load, harts=number, timing=timing):
                    check(load, number, timing)

    def traced(self, load, harts, timing, kinds):
        """The result, and the bytes of each trace."""
        out = self.directory()
        text = run_load(load, harts, timing, arguments=("--trace", kinds, "--out", out))
        contents = {}
        for name in os.listdir(out):
            with open(os.path.join(out, name), "rb") as file:
                contents[name] = file.read()
        self.assert_same(text, contents.pop("result.json").decode())
        return text, contents

    def test_nothing_beside_a_run_changes_it(self):
        def check(load, harts, timing):
            board, _, kinds = LOADS[load]
            first = self.assert_deterministic(board, options(*settings(load, harts, timing)), (), kinds)
            self.assert_same(first, run_load(load, harts, timing, cwd=self.directory()))
            self.assert_same(first, run_load(load, harts, timing, arguments=("--no-skip",)))
            self.assertEqual(json.loads(first)["outcome"], "finished")

        self.for_each(check)

    def test_a_seed_and_a_turn_more_count(self):
        """Else the comparisons above might compare nothing."""
        def check(load, harts, timing):
            plain = figures(run_load(load, harts, timing))
            self.assertEqual(plain, figures(run_load(load, harts, timing, "run.seed=1")))
            self.assertNotEqual(plain, figures(run_load(load, harts, timing, "run.seed=7")))
            one_more = ("workload.frames=21" if load in LOOPBACKS else
                        f"cluster.host.bootargs={TURNS + 1}" if load in STRESSES else "workload.requests=201")
            self.assertNotEqual(plain, figures(run_load(load, harts, timing, one_more)))

        self.for_each(check, harts=(1, 2))

    def test_traces_repeat(self):
        def check(load, harts, timing):
            kinds = LOADS[load][2]
            names = [f"{link}.{kind}" for link, kind in ((ECI, "coherence"), (SLOT, "tlp")) if kind in kinds]
            first, traces = self.traced(load, harts, timing, kinds)
            self.assertEqual({n for n in traces if not n.startswith("net.")},
                             {"trace.perfetto", *(n + end for n in names for end in (".txt", ".pcap"))})
            again, same = self.traced(load, harts, timing, ",".join(reversed(kinds.split(","))))
            self.assert_same(first, again)
            self.assertEqual(traces, same)
            for name in names:
                self.assertGreater(len(traces[name + ".txt"]), 1000)
                alone = self.traced(load, harts, timing, name.rsplit(".", 1)[1])[1]
                self.assertEqual(traces[name + ".pcap"], alone[name + ".pcap"])

        self.for_each(check, harts=(1, 2))

    def test_checking_changes_nothing(self):
        def check(load, harts, timing):
            plain, checked = run_load(load, harts, timing), run_load(load, harts, timing, arguments=("--check",))
            self.assertEqual(figures(plain), figures(checked))
            self.assertNotIn("home_checked", json.loads(plain)["counters"]["caches"])
            self.assertGreater(json.loads(checked)["counters"]["caches"]["home_checked"], 150)

        self.for_each(check, filter(check_of, LOADS))

    def test_the_order_of_a_boards_tables(self):
        with open(BOTH, encoding="utf-8") as file:
            head, slot, device = file.read().split("\n\n")
        board = os.path.join(self.directory(), "other.toml")
        with open(board, "w", encoding="utf-8") as file:
            file.write("\n\n".join((head, device, slot)))
        for timing in TIMINGS:
            same = run(board, *options(*settings("stress and DMA", 2, timing)))
            self.assertEqual(figures(run_load("stress and DMA", 2, timing)), figures(same))

    def test_any_quantum_on_one_hart(self):
        def check(load, harts, timing):
            default = run_load(load, harts, timing)
            for quantum in ("3 ns", "100 ns", "1 ms"):
                self.assert_same(default, run_load(load, harts, timing, arguments=("--quantum", quantum)), [QUANTUM],
                                 quantum)

        self.for_each(check, harts=(1,))

    def test_harts_that_sleep_change_no_figure_of_the_loopback(self):
        """Their device tree is longer, so the frames begin at another phase of the NIC's clock: stamps differ by one
        cycle at most, and what is counted not at all. What the quantum is, nobody can tell."""
        def check(load, harts, timing):
            alone, several = (figures(run_load(load, number, timing)) for number in (1, harts))
            for one, other in zip(alone["loopback"], several["loopback"], strict=True):
                for key in one:
                    self.assertLessEqual(abs(float(one[key]) - float(other[key])), CYCLE, key)
            for name in ("nic.eth0", "nic.eth0.mac", ECI if ECI in alone["counters"] else SLOT):
                one, other = ({k: v for k, v in contents["counters"][name].items() if not k.endswith(("busy", "wait"))}
                              for contents in (alone, several))
                self.assertEqual(one, other, name)
            for n in range(1, harts):
                self.assertEqual(several["counters"][f"cluster.host.hart{n}"]["device_accesses"], 0)
            for quantum in ("1 ns", "7 ns", "33.3 ns"):
                self.assertEqual(several, figures(run_load(load, harts, timing, arguments=("--quantum", quantum))))

        self.for_each(check, LOOPBACKS, (2, 4))

    def test_harts_at_work_at_any_quantum(self):
        """The quantum is part of the model of several harts that work: who comes first may differ, and so may the
        number of messages; what the guest does, and whether it is right, may not."""
        differ = set()

        def check(load, harts, timing):
            seen = set()
            for quantum in ("1 ns", "7 ns", "33.3 ns", "50 ns"):
                plain = run_load(load, harts, timing, f"{QUANTUM}={quantum}")
                self.assert_same(plain, disturbed(load, harts, timing, f"{QUANTUM}={quantum}"))
                seen.add(json.dumps(figures(plain)))
                checked = run_load(load, harts, timing, f"{QUANTUM}={quantum}", arguments=check_of(load))
                self.assertEqual(figures(plain), figures(checked))
                self.assert_stress_is_right(json.loads(checked), harts, load)
            differ.update({load} if len(seen) > 1 else ())

        self.for_each(check, STRESSES, (2, 4))
        self.assertEqual(differ, set(STRESSES), "the quantum changes nothing")

    def test_the_stress_is_right_and_conserves_messages(self):
        def check(load, harts, timing):
            others = ("nic.eth0.grant=shared", "nic.eth0.grant=exclusive") if check_of(load) else ("run.seed=7",)
            for protocol, other in itertools.product(("mesi", "moesi"), others):
                more = (f"caches.protocol={protocol}", other)
                contents = json.loads(run_load(load, harts, timing, *more, arguments=check_of(load)))
                self.assert_stress_is_right(contents, harts, load)
                self.assertEqual(contents["counters"]["caches"].get("home_recalls", 0), 0)

        self.for_each(check, STRESSES)

    def assert_stress_is_right(self, contents, harts, load):
        self.assertEqual((contents["outcome"], contents["failure"], contents["mistakes"]["list"]), ("finished", "", []))
        for n in range(harts):
            counters = contents["counters"][f"cluster.host.hart{n}"]
            combined, atomics = stress_counts(n, harts, TURNS, load == "stress over PCIe", load == "stress and DMA")
            self.assertEqual(counters["combined_stores"], combined)
            # One more says that the hart is done; each SC that fails is one LR and one SC more. Hart 0 reserves memory, which
            # takes a lock: for three kinds of lines, three page tables, and the DMA's lines and registers.
            reserves = (8 if load == "stress and DMA" else 6) if n == 0 else 0
            retries = counters["atomics"] - atomics - 1 - reserves
            self.assertEqual((retries % 2, retries > 0 and harts == 1), (0, False))
            self.assertGreaterEqual(retries, 0)
            self.assertEqual((counters["bus_errors"], counters["lines_unanswered"], counters["traps"]), (0, 0, 0))
        self.assert_conserved(contents["counters"])

    def test_the_loopback_conserves_messages(self):
        """Over ECI also with a cache that is too small for a frame, so that lines leave it."""
        for harts, timing, size in itertools.product((1, 2), TIMINGS, ("4 KiB", "32 KiB")):
            with self.subTest(harts=harts, timing=timing, size=size):
                more = ("workload.sizes=9600", f"caches.l1d_size={size}")
                self.assert_conserved(json.loads(run_load("loopback over PCIe", harts, timing, *more))["counters"])
                counters = json.loads(run_load("loopback over ECI", harts, timing, *more))["counters"]
                self.assert_conserved(counters)
                evictions, recalls = (counters["caches"]["home_" + n] for n in ("evictions", "recalls"))
                if size == "4 KiB":
                    self.assertGreater(evictions, 0)
                    self.assertLess(counters[ECI]["up_snoop_unique"], recalls)  # some lines have left before
                else:
                    self.assertEqual((evictions, counters[ECI]["up_snoop_unique"]), (0, recalls))
                self.assertEqual(counters[ECI]["down_accesses"], 5 * 20 + 205)  # of 20 frames, and before and after

    def assert_conserved(self, counters):
        """Each request, each recall and each line that leaves has one answer, and nothing else is on the links."""
        if SLOT in counters:
            tlps = {k.replace("_tlps", ""): v for k, v in counters[SLOT].items() if "_tlps_" in k}
            self.assertEqual(tlps["down_mrd"] + tlps["down_cfgrd0"] + tlps["down_cfgwr0"],
                             tlps["up_cpl"] + tlps["up_cpld"])
            self.assertEqual(tlps.get("up_mrd", 0), tlps.get("down_cpl", 0) + tlps.get("down_cpld", 0))
            root = counters["root"]
            self.assertEqual((tlps["down_mrd"], tlps["down_mwr"]), (root["core_reads"], root["core_writes"]))
            self.assertEqual(counters["nic.eth0"].get("reads", tlps["down_mrd"]), tlps["down_mrd"])
        if ECI not in counters:
            return
        link, caches = counters[ECI], counters["caches"]
        asked = [link["down_" + kind] for kind in ("read_shared", "read_unique", "upgrade")]
        with_line = link["up_grant_shared"] + link["up_grant_exclusive"]
        snoops, acks = (sum(link[k] for k in kinds) for kinds in (("up_snoop_shared", "up_snoop_unique"),
                                                                  ("down_ack", "down_ack_with_data")))
        victims = link["down_evict"] + link["down_write_back"]
        self.assertEqual(sum(asked), with_line + link["up_grant_upgrade"] + link["up_refuse"])
        self.assertEqual(sum(asked), caches["home_requests"])
        self.assertGreaterEqual(asked[2], link["up_grant_upgrade"])  # with a line where a snoop has taken it meanwhile
        self.assertEqual(snoops, acks)
        self.assertEqual((victims, victims), (link["up_evict_done"], caches["home_evictions"]))
        self.assertEqual(link["down_accesses"], link["up_accesses"])
        data = link["down_ack_with_data"] + link["down_write_back"]
        self.assertEqual((link["up_payload_bytes"], link["down_payload_bytes"]), (LINE * with_line, LINE * data))
        if link["up_accesses"] == 0:  # messages about registers have two lengths
            up, down = sum(asked) + snoops + victims, sum(asked) + acks + victims
            self.assertEqual((link["up_metadata_bytes"], link["down_metadata_bytes"]), (MESSAGE * up, MESSAGE * down))


if __name__ == "__main__":
    unittest.main()
