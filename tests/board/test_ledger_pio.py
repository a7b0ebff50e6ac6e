# SPDX-License-Identifier: Apache-2.0
"""The request ledger of the boards with a PIO NIC: test_ledger_pio.py LEDGER_TILES SLUICE. With one request outstanding,
each tile of each request lasts what closed_forms_pio.py computes from the board's parameters, to the femtosecond, also
with 100 ns more in any of the parts' latencies. Software's tiles are whole issue slots."""

import json
import os
import subprocess
import tempfile
import unittest

from closed_forms import SOFTWARE
from closed_forms_pio import CoherentRequest, PcieRequest
from ledger_runs import NS, SLUICE, ideal, run, run_all

LONE = ("workload.requests=20", "workload.warmup=3", "workload.think=20 us", "workload.host.resolve_interval=300 us")
ECI, PCIE = "enzian-eci-rpc", "enzian-pcie-rpc"
FORMS = {ECI: CoherentRequest, PCIE: PcieRequest}
CASES = (
    *((board, f"workload.call.bytes={size}") for board in (ECI, PCIE) for size in (1, 64, 200, 1400)),
    *((board, "workload.call.program=null") for board in (ECI, PCIE)),
    *((board, "caches.timing=functional") for board in (ECI, PCIE)),
    *((board, "caches.timing=interval") for board in (ECI,)),
    (ECI, "nic.eth0.grant=shared"),
    (ECI, "nic.eth0.grant=shared", "workload.call.bytes=600"),
    (ECI, "coherent.eci0.lanes=1", "coherent.eci0.lane_rate=1 Gb/s", "workload.call.bytes=600"),
    (ECI, "coherent.eci0.lanes=24", "cluster.host.clock=2.718 GHz", "cluster.host.issue_width=3"),
    (ECI, "caches.protocol=mesi"),
    (PCIE, "pcie.slot0.generation=1", "pcie.slot0.lanes=1", "net.wire0.rate=7 Gb/s"),
)
# Latencies that a lone request does not meet.
OFF_PATH = {
    "nic.eth0.rx_block": "a frame comes before",
    "nic.eth0.read": "within software's copies and its wait",
    "nic.eth0.pcie.completion_timeout": "the NIC reads nothing",
    "coherent.eci0.host_io": "no register is accessed",
    "coherent.eci0.device_io": "no register is accessed",
    "coherent.eci0.credit_update": "credits never run out",
    "pcie.slot0.credit_update": "credits never run out",
    "root.completion_timeout": "nothing times out",
    "root.read_latency": "the NIC reads nothing",
    "root.write_latency": "the NIC writes nothing",
    "net.wire0.down_at": "no latency", "net.wire0.up_at": "no latency",
}
PARTS = {ECI: ("coherent.", "nic.", "net."), PCIE: ("nic.", "pcie.", "root.", "bus.", "net.")}


class Tiles(unittest.TestCase):
    def check(self, case):
        r = run(case[0], *LONE, *case[1:])
        self.assertEqual(len(r.requests), 20)
        for request in r.requests:
            form = list(FORMS[case[0]](r.parameters).tiles(r.result["ledger"]["writes"]))
            got = [(stage, component, end - start) for stage, component, start, end in request.tiles]
            # What ends when a core goes on depends on when it began.
            expected = [(s, c, length(tile[2]) if callable(length) else length)
                        for (s, c, length), tile in zip(form, request.tiles)] + form[len(got):]
            shown = [(s, c, SOFTWARE if e[2] is SOFTWARE else t) for (s, c, t), e in zip(got, expected)]
            self.assertEqual(shown + got[len(shown):], expected, f"{case}, request {request.id}")
            for _, component, start, end in request.tiles:
                if component.startswith("cluster."):
                    self.assertIsNotNone(r.slots.number(start))
                    self.assertIsNotNone(r.slots.number(end))
        return r

    def test_each_tile_lasts_what_its_parts_say(self):
        run_all([(case[0], *LONE, *case[1:]) for case in CASES])
        for case in CASES:
            with self.subTest(case):
                self.check(case)

    def test_each_latency_of_a_part_is_in_its_tile(self):
        met = set()
        for board in (ECI, PCIE):
            base = self.check((board,))
            times = {path: fs for path, fs in base.parameters.times().items() if path.startswith(PARTS[board])}
            cases = [(board, f"{path}={(fs + 100 * NS) / NS} ns") for path, fs in times.items() if path not in OFF_PATH]
            run_all([(case[0], *LONE, *case[1:]) for case in cases])
            for case in cases:
                with self.subTest(case):
                    after = self.check(case)
                    self.assertNotEqual(after.sums(after.requests[0]), base.sums(base.requests[0]))
            met |= times.keys()
        self.assertEqual(OFF_PATH.keys() - met, set())


class Sums(unittest.TestCase):
    def test_no_step_is_taken_back_or_moved(self):
        for board in (ECI, PCIE):
            for more in ((), ("workload.outstanding=4", "workload.think=0 ns", "workload.requests=500")):
                r = run(board, *LONE, *more)
                self.assertEqual((r.result["ledger"]["error"], r.result["ledger"]["clamped"]), ("", 0), (board, more))


class BlockTime(unittest.TestCase):
    def test_a_receive_that_ends_without_a_frame_is_followed_by_another(self):
        for board in (ECI, PCIE):
            result = run(board, *LONE, "nic.eth0.rx_block=3 us").result
            self.assertEqual(result["requests"]["completed"], 20)
            self.assertGreater(result["counters"]["nic.eth0"]["rx_nacks"], 60)


class Accounts(unittest.TestCase):
    def test_the_time_for_which_the_nic_holds_a_load_back_is_parked(self):
        """Between two calls the hart's load waits in the NIC; what it waits for on the link counts to its account."""
        for board in (ECI, PCIE):
            spent = {}
            for think in (20, 120):
                result = run(board, *LONE, f"workload.think={think} us").result
                (core,) = result["cores"]
                spent[think] = {name: float(share) * float(result["measured_ns"])
                                for name, share in core["time"].items()}
            more = {name: spent[120][name] - spent[20][name] for name in spent[20]}
            self.assertAlmostEqual(more.pop("parked"), 19 * 100_000, delta=1)
            for name, ns in more.items():
                self.assertAlmostEqual(ns, 0, delta=1, msg=(board, name))

    def test_accounts_sum_up_and_never_fall_whenever_a_run_ends(self):
        """Also while a load is under way, held back, or ends because its link goes down."""
        for of, link in ((ECI, "coherent.eci0"), (PCIE, "pcie.slot0")):
            self.check_accounts(of, link)

    def check_accounts(self, of, link):
        whole = run(of, *LONE).result
        end = int(float(whole["simulated_ns"]))
        with tempfile.TemporaryDirectory() as directory:
            cut = os.path.join(directory, "cut.toml")
            with open(cut, "w", encoding="utf-8") as file:
                file.write(f'extends = ["{of}"]\n[fault.cut]\nkind = "link-down"\ntarget = "{link}"\n'
                           f'duration = "10 us"\nat = "{end - 37_000} ns"\n')
            for board in (of, cut):
                before = {}
                for until in range(end - 60_000, end - 100, 371):
                    done = subprocess.run([SLUICE, "run", board, "--json", f"--until={until} ns",
                                           *(f"--set={s}" for s in (*ideal(LONE), "run.allow_drops=true"))],
                                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
                    (core,) = json.loads(done.stdout)["cores"]
                    spent = {name: float(share) * float(core["measured_ns"]) for name, share in core["time"].items()}
                    self.assertAlmostEqual(sum(spent.values()), float(core["measured_ns"]), delta=2, msg=until)
                    for name, ns in spent.items():
                        self.assertGreaterEqual(ns, before.get(name, 0) - 2, (board, until, name))
                    before = spent


class LateFrames(unittest.TestCase):
    def test_frames_that_come_twice_leave_the_ledger_right(self):
        for board, timeout in ((ECI, 15), (PCIE, 40)):
            done = subprocess.run([SLUICE, "run", board, "--json", "--requests=1000", f"--set=workload.timeout={timeout} us",
                                   "--set=workload.retries=5", "--set=workload.outstanding=4",
                                   "--set=run.allow_drops=true"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            result = json.loads(done.stdout)
            self.assertGreater(result["requests"]["retransmissions"], 100)
            self.assertEqual(result["failure"], "")


if __name__ == "__main__":
    unittest.main()
