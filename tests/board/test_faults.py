# SPDX-License-Identifier: Apache-2.0
"""Faults that a board file schedules or draws, on whole boards: test_faults.py SLUICE."""

import json
import os
import unittest

import board_runs
from board_runs import FUNCTIONAL, BoardTest, canonical

SMALL = ("--requests", "2000", "--warmup", "0", "--set", "workload.outstanding=16") + FUNCTIONAL
DROPS = ("--set", "run.allow_drops=true")
IMPATIENT = ("--set", "run.stall_limit=5 ms")  # less than the workload's timeout
ONE = ("--set", "workload.outstanding=1")
NAK_NS, WIRE = 115.0, "net.wire0"


def captured(pcap):
    """The frames of a capture that Sluice wrote."""
    at, frames = 24, []
    while at < len(pcap):
        length = int.from_bytes(pcap[at + 8:at + 12], "little")
        frames.append(pcap[at + 16:at + 16 + length])
        at += 16 + length
    return frames


class Faults(BoardTest):
    def board(self, *faults, extends="e810-poll"):
        path = os.path.join(self.directory(), "faulty.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"extends = ['{extends}']\n" + "".join(faults))
        return path

    def run_with(self, fault, *arguments, extends="e810-poll", status=0):
        arguments = SMALL + arguments
        return json.loads(board_runs.run(self.board(fault, extends=extends), *arguments, status=status))

    def sound(self, result):
        """Every call is accounted for, and each nanosecond of those that came back."""
        r = result["requests"]
        self.assertEqual(r["sent"], r["completed"] + sum(r["dropped"].values()) + r["in_flight"] + r["lost"])
        total = sum(s["mean_ns"] for s in result["stages"])
        self.assertAlmostEqual(total, result["latency_ns"]["mean"], delta=1e-3)

    def test_a_board_without_faults_lists_none(self):
        r = board_runs.result("e810-poll", *SMALL)
        self.assertEqual(r["faults"], [])

    def test_a_fault_that_never_comes_changes_nothing(self):
        def without_faults(text):
            contents = board_runs.load(text)
            contents["board"]["instances"] = {k: v for k, v in contents["board"]["instances"].items()
                                              if not k.startswith("fault.")}
            for key in ("name", "summary", "files"):
                contents["board"][key] = ""
            return canonical(json.dumps(contents))

        faults = [f"[fault.{n}]\nkind='{k}'\ntarget='{t}'\nat='1000 s'\n{more}" for n, k, t, more in (
            ("a", "kill", "nic.eth0", ""), ("b", "pause", "cluster.host", "duration='1 us'\n"),
            ("c", "link-down", WIRE, "duration='1 us'\n"), ("d", "corrupt-tlp", "pcie.slot0", ""),
            ("e", "lost-tlp", "pcie.slot0", "direction='down'\n"),
            ("f", "poisoned-completion", "pcie.slot0", "direction='down'\n"),
            ("g", "completion-timeout", "pcie.slot0", ""), ("h", "corrupt-frame", WIRE, ""),
            ("i", "lost-frame", WIRE, "direction='out'\n"))]
        plain = board_runs.run(self.board(), *SMALL)
        self.assertMultiLineEqual(without_faults(plain), without_faults(board_runs.run(self.board(*faults), *SMALL)))

    def test_a_paused_hart_costs_its_pause(self):
        r = self.run_with("[fault.nap]\nkind='pause'\ntarget='cluster.host.hart0'\nat='200 us'\nduration='50 us'\n")
        (f,) = r["faults"]
        self.assertEqual((f["name"], f["kind"], f["target"]), ("fault.nap", "pause", "cluster.host.hart0"))
        self.assertEqual((f["at_ns"], f["recovered_ns"]), (200_000, 250_000))
        self.assertEqual(f["cost"], {"stopped_ns": 50_000, "requests_dropped": 0, "requests_delayed": 16})
        # All that were outstanding waited for the hart.
        self.assertGreater(r["latency_ns"]["max"], 50_000)
        self.assertLess(r["latency_ns"]["max"], 60_000)
        plain = board_runs.result("e810-poll", *SMALL)
        # After the pause all calls come in one burst, and stay bunched: the rate may change by some per cent.
        self.assertAlmostEqual(r["simulated_ns"], plain["simulated_ns"] + 50_000, delta=0.02 * plain["simulated_ns"])
        self.sound(r)

    def test_a_killed_hart_stalls_the_run_and_is_named(self):
        for kind, why in (("kill", "it was killed"), ("hang", "it hangs")):
            r = self.run_with(f"[fault.end]\nkind='{kind}'\ntarget='cluster.host'\nat='200 us'\n", *IMPATIENT, status=1)
            self.assertEqual(r["outcome"], "stalled")
            self.assertIn(f"cluster.host.hart0 waits for fault.end: nothing: {why}", r["diagnosis"])
            (f,) = r["faults"]
            self.assertIsNone(f["recovered_ns"])
            self.assertEqual(f["cost"]["stopped_ns"], r["simulated_ns"] - 200_000)

    def test_a_call_that_a_fault_has_silenced_counts_as_dropped(self):
        soon = ("--set", "workload.timeout=100 us")
        hang = "[fault.end]\nkind='hang'\ntarget='cluster.host'\nat='200 us'\n"
        nap = "[fault.nap]\nkind='pause'\ntarget='cluster.host'\nat='190 us'\nduration='1 us'\n"
        for extends in ("e810-poll", "e810-irq"):
            with self.subTest(extends):
                r = self.run_with(hang, *soon, *DROPS, extends=extends)
                self.assertGreater(r["requests"]["dropped"]["fault.end"], 0)
                self.assertEqual((r["outcome"], r["failure"], r["requests"]["lost"]), ("finished", "", 0))
                self.sound(r)
                strict = self.run_with(hang, *soon, extends=extends, status=1)
                self.assertEqual(strict["requests"], r["requests"])
                self.assertRegex(strict["failure"], r"^[\d,]+ requests were dropped; first reason: fault.end$")
        r = self.run_with(nap + hang, *soon, *DROPS)
        self.assertGreater(r["requests"]["dropped"]["several faults"], 0)
        # A fault that is still to come explains nothing.
        late = self.run_with(hang.replace("200 us", "1 s"), *soon, *DROPS, "--set", "workload.server_port=9", status=1)
        self.assertEqual((late["requests"]["lost"], late["requests"]["dropped"]), (2000, {}))

    def test_calls_that_faults_of_four_harts_cost_are_accounted_for(self):
        faults = ("[fault.ecc]\nkind='poisoned-completion'\ntarget='pcie.slot0'\ndirection='down'\nfrom='200 us'\nevery=50\n",
                  "[fault.nap]\nkind='pause'\ntarget='nic.eth0'\nat='200 us'\nduration='300 us'\n",
                  f"[fault.cut]\nkind='link-down'\ntarget='{WIRE}'\nat='200 us'\nduration='50 us'\n")
        for fault in faults:
            for seed in ("1", "2"):
                with self.subTest(fault=fault, seed=seed):
                    r = self.run_with(fault, *board_runs.FOUR_HARTS, *DROPS, "--seed", seed, "--set",
                                      "workload.timeout=200 us")
                    self.assertEqual(r["requests"]["lost"], 0)
                    self.assertGreater(sum(r["requests"]["dropped"].values()), 0)
                    self.sound(r)

    def test_a_sweep_may_begin_at_never(self):
        plain = board_runs.result("e810-poll", *SMALL)
        for kind, never in (("corrupt-tlp", "probability=0"), ("lost-tlp", "every=0"), ("corrupt-tlp", "at=[]"),
                            ("kill", "mean_every='0 s'"), ("hang", "every='0 s'")):
            target = "pcie.slot0" if "tlp" in kind else "nic.eth0"
            r = self.run_with(f"[fault.b]\nkind='{kind}'\ntarget='{target}'\n{never}\n")
            self.assertEqual((r["faults"], r["latency_ns"]), ([], plain["latency_ns"]))

    def test_a_board_that_a_fault_has_ended_says_so(self):
        self.assert_names_the_fault("deadlocked", "extends=['hosts/i9-9960x']\n[cluster.host]\nfirmware='hello'\n"
                                    "[fault.end]\nkind='kill'\ntarget='cluster.host'\nat='1 us'\n",
                                    "fault.end: kill of cluster.host, at 1 us, not recovered from\n")
        self.assert_names_the_fault("stalled", "extends=['e810-poll']\n"
                                    "[fault.cut]\nkind='link-down'\ntarget='pcie.slot0'\nat=['200 us', '220 us']\n"
                                    "duration='10 us'\n", "fault.cut: link-down of pcie.slot0, 2 times from 200 us to 220 us\n")

    def assert_names_the_fault(self, outcome, board, line):
        path = os.path.join(self.directory(), "dead.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(board)
        r = board_runs.result(path, "--set", "run.stall_limit=5 ms", status=1)
        self.assertEqual(r["outcome"], outcome)
        self.assertIn(line, r["diagnosis"])

    def test_a_paused_device_answers_late(self):
        r = self.run_with("[fault.nap]\nkind='pause'\ntarget='nic.eth0'\nat='200 us'\nduration='20 us'\n", *DROPS,
                          "--set", "workload.timeout=100 us")
        (f,) = r["faults"]
        self.assertEqual(f["recovered_ns"] - f["at_ns"], 20_000)
        self.assertEqual(r["requests"]["lost"], 0)
        self.assertGreater(r["latency_ns"]["max"], 20_000)
        self.sound(r)

    def test_a_killed_device_takes_its_links_with_it(self):
        r = self.run_with("[fault.end]\nkind='kill'\ntarget='nic.eth0'\nat='200 us'\n", status=1)
        self.assertNotEqual(r["failure"], "")
        (f,) = r["faults"]
        self.assertGreater(r["requests"]["dropped"]["link down"], 0)
        self.assertEqual(f["target"], "nic.eth0")

    def test_a_wire_that_goes_down_loses_its_frames(self):
        r = self.run_with(f"[fault.cut]\nkind='link-down'\ntarget='{WIRE}'\nat=['200 us', '300 us']\n"
                          "duration='10 us'\n", *DROPS)
        self.assertEqual([(f["at_ns"], f["recovered_ns"]) for f in r["faults"]],
                         [(200_000, 210_000), (300_000, 310_000)])
        lost = sum(r["counters"][f"{WIRE}.{way}"]["lost"] for way in ("a_to_b", "b_to_a"))
        self.assertEqual(sum(f["cost"]["frames_lost"] for f in r["faults"]), lost)
        self.assertEqual(sum(f["cost"]["requests_dropped"] for f in r["faults"]), r["requests"]["dropped"]["link down"])
        self.assertEqual(r["counters"]["nic.eth0"]["link_changes"], 4)
        self.sound(r)

    def test_frames_are_lost_and_corrupted_in_either_direction(self):
        for kind, direction, reason, counter in (
                ("lost-frame", "in", "frame lost", f"{WIRE}.a_to_b/lost"),
                ("lost-frame", "out", "frame lost", f"{WIRE}.b_to_a/lost"),
                ("corrupt-frame", "in", "bad FCS", "nic.eth0.mac/rx_bad_fcs"),
                ("corrupt-frame", "out", "fault.noise", "workload/bad_frames")):
            with self.subTest(kind=kind, direction=direction):
                noise = f"[fault.noise]\nkind='{kind}'\ntarget='{WIRE}'\ndirection='{direction}'\nevery=100\n"
                r = self.run_with(noise, *DROPS)
                hits = r["faults"]
                # The first hundred frames of that direction include the ARP frame.
                self.assertEqual(len(hits), (r["requests"]["sent"] + 1) // 100)
                self.assertEqual({(f["target"], f["recovered_ns"], f["cost"]["requests_hit"]) for f in hits},
                                 {(f"{WIRE}.{direction}", None, 1)})
                self.assertEqual(r["requests"]["dropped"], {reason: len(hits)})
                group, name = counter.split("/")
                self.assertEqual(r["counters"][group][name], len(hits))
                self.sound(r)
                # A client that sends again gets all answers.
                again = self.run_with(noise, "--set", "workload.retries=5")
                self.assertEqual((again["requests"]["completed"], again["requests"]["dropped"]), (2000, {}))
                self.assertEqual(again["requests"]["retransmissions"], len(again["faults"]))

    def test_a_capture_shows_what_is_wrong_with_a_frame(self):
        sent, received = [], []
        for fault, frames in (("", sent), (f"[fault.noise]\nkind='corrupt-frame'\ntarget='{WIRE}'\nat='50 us'\n", received)):
            out = self.directory()
            self.run_with(fault, *DROPS, *ONE, "--trace", "pcap", "--out", out)
            with open(os.path.join(out, f"{WIRE}.pcap"), "rb") as file:
                frames += captured(file.read())
        different = [(a, b) for a, b in zip(sent, received) if a != b]
        bits = bin(int.from_bytes(different[0][0], "big") ^ int.from_bytes(different[0][1], "big")).count("1")
        self.assertEqual(bits, 1)

    def test_a_client_that_hears_only_bad_frames_says_so(self):
        r = self.run_with(f"[fault.noise]\nkind='corrupt-frame'\ntarget='{WIRE}'\ndirection='out'\nevery=1\nfrom='200 us'\n",
                          *IMPATIENT, status=1)
        self.assertEqual(r["outcome"], "stalled")
        self.assertIn("\nworkload has received 16 bad frames, which it ignores; first: FCS is wrong\n", r["diagnosis"])
        self.assertRegex(r["diagnosis"], f"fault.noise: corrupt-frame of {WIRE}.out, 16 times from .* us to .* us\n")

    def test_corrupted_tlps_are_replayed_and_nothing_is_lost(self):
        for direction in ("up", "down"):
            plain = board_runs.result("e810-poll", *SMALL, *ONE)
            r = self.run_with("[fault.noise]\nkind='corrupt-tlp'\ntarget='pcie.slot0'\nevery=100\nmost=30\n"
                              f"direction='{direction}'\n", *ONE)
            self.assertEqual(len(r["faults"]), 30)
            self.assertEqual(r["requests"]["completed"], 2000)
            for f in r["faults"]:
                self.assertEqual(f["target"], f"pcie.slot0.{direction}")
                cost = f["cost"]
                self.assertEqual((cost["naks"], cost["replay_timeouts"], cost["retrains"]), (1, 0, 0))
                self.assertGreaterEqual(cost["replayed_tlps"], 1)
                self.assertEqual(cost["delayed_tlps"], cost["replayed_tlps"])
                # The bad TLP's own delay: the Nak's way and its second transmission at least.
                self.assertGreater(cost["added_latency_ns"], NAK_NS + 2 * 5)
                self.assertGreater(f["recovered_ns"], f["at_ns"] + NAK_NS)
            self.assertGreater(r["latency_ns"]["mean"], plain["latency_ns"]["mean"])
            link = next(l for l in r["links"] if l["direction"] == direction)
            self.assertEqual(link["bytes"], link["payload_bytes"] + link["metadata_bytes"])
            self.sound(r)

    def test_a_lost_tlp_waits_for_the_next_or_for_the_timer(self):
        r = self.run_with("[fault.gone]\nkind='lost-tlp'\ntarget='pcie.slot0'\nprobability=0.01\n"
                          "tlps='posted'\n")
        self.assertGreater(len(r["faults"]), 20)
        for f in r["faults"]:
            self.assertEqual(f["cost"]["naks"] + f["cost"]["replay_timeouts"], 1)
        self.assertEqual(r["requests"]["completed"], 2000)
        self.sound(r)

    def test_poisoned_completions_of_dma_lose_frames_or_stop_a_ring(self):
        r = self.run_with("[fault.ecc]\nkind='poisoned-completion'\ntarget='pcie.slot0'\ndirection='down'\n"
                          "from='200 us'\nevery=7\nmost=3\n", *DROPS, *IMPATIENT, status=None)
        self.assertEqual(r["counters"]["nic.eth0.pcie"]["poisoned_completions"], len(r["faults"]))
        self.assertEqual(sum(f["cost"]["requests_dropped"] for f in r["faults"]),
                         r["requests"]["dropped"].get("DMA failed", 0))
        self.assertLess(r["requests"]["completed"], 2000)

    def test_a_missing_completion_ends_in_a_timeout(self):
        r = self.run_with("[fault.mute]\nkind='completion-timeout'\ntarget='pcie.slot0'\ndirection='down'\n"
                          "at='200 us'\n", *DROPS, *IMPATIENT, "--set", "nic.eth0.pcie.completion_timeout=50 us",
                          status=None)
        self.assertEqual(len(r["faults"]), 1)
        self.assertEqual(r["counters"]["nic.eth0.pcie"]["completion_timeouts"], 1)
        self.assertLess(r["requests"]["completed"], 2000)

    def test_a_poisoned_completion_of_a_load_is_a_bus_error(self):
        # The driver reads registers while it starts.
        r = self.run_with("[fault.ecc]\nkind='poisoned-completion'\ntarget='pcie.slot0'\nevery=3\nmost=1\n", status=1)
        self.assertEqual(r["counters"]["cluster.host.hart0"]["bus_errors"], 1)
        self.assertIn("the firmware failed with code", r["failure"])

    def test_a_pcie_link_that_goes_down_resets_what_is_below(self):
        r = self.run_with("[fault.cut]\nkind='link-down'\ntarget='pcie.slot0'\nat='202 us'\nduration='10 us'\n", *IMPATIENT,
                          status=1)
        self.assertEqual(r["outcome"], "stalled")
        (f,) = r["faults"]
        self.assertEqual(f["recovered_ns"], 212_000)
        self.assertIn("tlps_lost", f["cost"])
        # Doorbells into the gap find no link; that is the fault's doing, not the software's.
        self.assertGreater(r["counters"]["root"]["master_aborts"], 0)
        self.assertEqual(r["mistakes"]["list"], [])

    def test_corrupted_messages_of_a_coherent_link_are_sent_again_and_nothing_is_lost(self):
        arguments = (*ONE, "--set", "run.spread=none", "--set", "workload.think_times=constant", "--set", "run.check=true")
        plain = board_runs.result("enzian-eci-rpc", *SMALL, *arguments)
        for direction, bytes_again in (("up", 8 + 128), ("down", 8)):
            with self.subTest(direction=direction):
                r = self.run_with("[fault.noise]\nkind='corrupt-message'\ntarget='coherent.eci0'\nevery=100\nmost=30\n"
                                  f"direction='{direction}'\nretry='35 ns'\n", *arguments, extends="enzian-eci-rpc")
                self.assertEqual(len(r["faults"]), 30)
                self.assertEqual(r["requests"]["completed"], plain["requests"]["completed"])
                self.assertGreater(r["latency_ns"]["mean"], plain["latency_ns"]["mean"])
                for f in r["faults"]:
                    self.assertEqual(f["target"], f"coherent.eci0.{direction}")
                    cost = f["cost"]
                    self.assertEqual((cost["naks"], cost["replay_timeouts"], cost["retrains"]), (1, 0, 0))
                    self.assertEqual(cost["delayed_messages"], cost["replayed_messages"])
                    self.assertGreaterEqual(cost["replayed_bytes"], 8 * cost["replayed_messages"])
                # Of those that nothing follows: the receiver's time, a word back and its flight, and the way once more.
                alone = [f["cost"] for f in r["faults"] if f["cost"]["replayed_messages"] == 1 and
                         f["cost"]["replayed_bytes"] == bytes_again]
                self.assertGreater(len(alone), 3)
                word, way = 8 / 13.125, 5 + 2 * 114.25  # 12 lanes of 10 Gb/s, 7 words of 8
                for cost in alone:
                    self.assertAlmostEqual(cost["added_latency_ns"], 35 + word + 5 + bytes_again / 13.125 + way, places=3)
                self.sound(r)

    def test_each_kind_of_coherent_message_is_hit_alone(self):
        noise = "[fault.noise]\nkind='corrupt-message'\ntarget='coherent.eci0'\nprobability=1\nmost=5\nmessages='{}'\n"
        for messages, expected in (("lines", 5), ("registers", 0), ("host-memory", 0)):
            r = self.run_with(noise.format(messages), *ONE, extends="enzian-eci-rpc")
            self.assertEqual(len(r["faults"]), expected, messages)
        process = board_runs.subprocess.run([board_runs.SLUICE, "run", self.board(noise.format("any"))], text=True,
                                            stderr=board_runs.subprocess.PIPE, check=False)
        self.assertEqual(process.returncode, 2)
        self.assertIn('fault.noise.target must name a coherent link of the board, not "coherent.eci0"; the board has '
                      'none', process.stderr)

    def test_what_waits_for_its_replay_is_lost_with_the_link(self):
        # The Nak comes 120 ns after the bad TLP; the link goes down before.
        noise = "[fault.noise]\nkind='corrupt-tlp'\ntarget='pcie.slot0'\nat='200 us'\n"
        (alone,) = self.run_with(noise)["faults"]
        self.assertGreaterEqual(alone["cost"]["replayed_tlps"], 1)
        cut = "[fault.cut]\nkind='link-down'\ntarget='pcie.slot0'\nduration='10 us'\n"
        cut += f"at='{int(alone['at_ns']) + 80} ns'\n"
        bad, down = self.run_with(noise + cut, *IMPATIENT, status=1)["faults"]
        self.assertEqual((bad["name"], bad["at_ns"]), ("fault.noise", alone["at_ns"]))
        self.assertIsNone(bad["recovered_ns"])
        self.assertEqual(bad["cost"]["replayed_tlps"], 0)
        self.assertGreater(down["cost"]["tlps_lost"], 0)

    def test_faults_that_meet_in_one_message_all_happen(self):
        tlp = "[fault.{}]\nkind='{}'\ntarget='pcie.slot0'\n{}\n"
        frame = "[fault.{}]\nkind='{}'\ntarget='" + WIRE + "'\ndirection='out'\n{}\n"
        for text, kinds in ((tlp, ("corrupt-tlp", "lost-tlp")), (frame, ("corrupt-frame", "lost-frame"))):
            for when, expected in (("at=['200 us', '300 us']", 2), ("every=50\nmost=9\nfrom='200 us'", 9)):
                with self.subTest(kinds=kinds, when=when):
                    r = self.run_with(text.format("a", kinds[0], when) + text.format("b", kinds[1], when), *DROPS,
                                      "--set", "workload.retries=3", "--set", "workload.timeout=100 us")
                    at = {n: [f["at_ns"] for f in r["faults"] if f["name"] == f"fault.{n}"] for n in "ab"}
                    self.assertEqual((len(at["a"]), len(at["b"])), (expected, expected))
                    for a, b in zip(at["a"], at["b"]):
                        self.assertLess(a, b)
                        self.assertLess(b, a + 5_000)

    def test_drawn_times_depend_on_nothing_but_the_name_of_the_fault(self):
        noise = "[fault.noise]\nkind='corrupt-tlp'\ntarget='pcie.slot0'\nprobability=0.002\n"
        drawn = "[fault.nap]\nkind='pause'\ntarget='cluster.host'\nduration='1 us'\nmean_every='50 us'\n"
        both = board_runs.run(self.board(noise, drawn), *SMALL)
        self.assert_same(both, board_runs.run(self.board(noise, drawn), *SMALL))
        alone = self.run_with(drawn)
        naps = [f["at_ns"] for f in json.loads(both)["faults"] if f["name"] == "fault.nap"]
        # Another fault moves none of them, though the run lasts longer.
        shared = min(len(naps), len(alone["faults"]))
        self.assertGreater(shared, 3)
        self.assertEqual(naps[:shared], [f["at_ns"] for f in alone["faults"]][:shared])
        other = self.run_with(drawn, "--seed", "2")
        self.assertNotEqual(naps[:3], [f["at_ns"] for f in other["faults"]][:3])

    def test_overrides_and_report(self):
        board = self.board(f"[fault.cut]\nkind='link-down'\ntarget='{WIRE}'\nat='1 s'\nduration='10 us'\n")
        process = board_runs.subprocess.run(
            [board_runs.SLUICE, "run", board, *SMALL, *DROPS, "--set", "fault.cut.at=100 us,150 us"],
            stdout=board_runs.subprocess.PIPE, text=True, check=True)
        self.assertRegex(process.stdout, r"fault.cut: link-down of net.wire0, 2 times: down 20.* us")
        process = board_runs.subprocess.run([board_runs.SLUICE, "run", board, *SMALL],
                                            stdout=board_runs.subprocess.PIPE, text=True, check=True)
        self.assertIn("fault.cut: link-down of net.wire0, never\n", process.stdout)


if __name__ == "__main__":
    unittest.main()
