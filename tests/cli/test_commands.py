# SPDX-License-Identifier: Apache-2.0
"""What a user types, on the shipped boards."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
import unittest

from assembler import FAIL, assemble
from command import SLUICE, SOURCE, SPIN, CommandTest, finisher_guest, guest, sluice

sys.path.insert(0, os.path.join(SOURCE, "tests"))
from caught_signals import wait_until_caught  # noqa: E402

WFI, BACK = 0x1050_0073, 0xFFDF_F06F  # wfi; jump to it
QUICK = ("--requests=200", "--warmup=50")
HART = r"cluster\.host\.hart0: pc 0x[0-9a-f]+ \S+, \d+ instructions, \S+ ns\n"


class Looking(CommandTest):
    def test_help_is_everywhere(self):
        for arguments in (["--help"], ["-h"], *[[c, "--help"] for c in ("boards", "describe", "run", "compare", "sensitivity", "sweep",
                                                              "report", "reproduce")]):
            self.assertIn("--help", self.succeed(*arguments))
        self.assertIn("Exit status: 0 success, 1 the simulated system failed", self.succeed("--help"))
        self.assertRegex(self.succeed("--version"), r"^sluice \d+\.\d+\.\d+\n$")

    def test_boards_lists_boards_and_workloads_but_no_parts(self):
        listed = json.loads(self.succeed("boards", "--json"))
        names = [b["name"] for b in listed["boards"]]
        self.assertEqual(names, sorted(names))
        self.assertLessEqual({"e810-irq", "e810-poll"}, set(names))
        self.assertNotIn("e810", names)
        text = self.succeed("boards")
        for entry in listed["boards"] + listed["workloads"]:
            self.assertRegex(text, rf"(?m)^  {re.escape(entry['name'])} +{re.escape(entry['summary'])}$")

    def test_the_workloads_listed_are_those_that_a_board_may_have(self):
        names = [w["name"] for w in json.loads(self.succeed("boards", "--json"))["workloads"]]
        answer = sluice("run", "e810-poll", "--set", "workload.kind=x").stderr
        self.assertEqual(re.findall(r"[a-z]+-[a-z]+|replay", answer.split("must be ")[1]) + ["dma", "loopback", "idle", "message-rtt", "packets", "none"], names)

    def test_a_broken_board_does_not_hide_the_others(self):
        self.write("bad.toml", "[[[")
        self.write("good.toml", "summary = 'fine'")
        listed = json.loads(self.succeed("boards", "--json", boards=self.directory))["boards"]
        self.assertIn({"name": "good", "summary": "fine"}, listed)
        self.assertTrue(listed[0]["summary"].startswith("not usable: bad.toml:1: not valid TOML"))

    def test_describe_shows_every_parameter_and_its_origin(self):
        text = self.succeed("describe", "e810-poll", "--set", "nic.eth0.queues=4")
        lines = {line.split()[0]: line.split() for line in text.splitlines() if line}
        self.assertEqual(lines["queues"][1:5], ["4", "queues", "assumed", "--set"])
        self.assertEqual(lines["generation"][1:3], ["3", "stated"])
        self.assertRegex(lines["generation"][3], r"^hosts/i9-9960x\.toml:\d+$")
        self.assertEqual(lines["rx_fifo"][3:7], ["assumed", "+-25", "%", "default"])
        self.assertEqual(lines["llc_size"][3:5], ["stated", "exact"])

    def test_an_override_may_have_the_quotes_and_brackets_of_a_file(self):
        def described(*settings):
            return self.succeed("describe", "e810-irq", *(f"--set={s}" for s in settings))

        quoted = described('nic.eth0.driver="poll"', 'pcie.slot0.flight="7 ns"', 'net.wire0.down_at=["1 ms", "3 ms"]',
                           'net.wire0.up_at="2 ms","4 ms"', 'workload.model="traffic"')
        self.assertEqual(quoted, described("nic.eth0.driver=poll", "pcie.slot0.flight=7ns", "net.wire0.down_at=1ms,3ms",
                                           "net.wire0.up_at=2ms,4ms", "workload.model=traffic"))
        self.assertRegex(quoted, r"(?m)^ +down_at +\[1 ms, 3 ms\] ")

    def test_describe_shows_the_memory_map_and_the_pcie_tree(self):
        text = self.succeed("describe", "e810-poll")
        self.assertRegex(text, r"(?m)^ +0x8000_0000 to 0x8fff_ffff +256 MiB  memory.dram$")
        self.assertRegex(text, r"(?m)^  00:01.0  root port 0 -- pcie.slot0 \(PCIe 3.0 x16\) -- 01:00.0 nic.eth0 "
                         r"\(descriptor NIC\)$")
        board = json.loads(self.succeed("describe", "e810-poll", "--json", "--set", "root.root_ports=2", "--set",
                                        "cluster.host.interrupts=plic"))
        self.assertEqual(board["pcie"], [
            {"root_port": 0, "address": "00:01.0", "slot": "pcie.slot0", "device": "nic.eth0",
             "device_address": "01:00.0"},
            {"root_port": 1, "address": "00:02.0", "slot": None, "device": None}])
        regions = [(int(r["base"].replace("_", ""), 16), r["size_bytes"], r["name"]) for r in board["memory_map"]]
        self.assertIn((0x0C00_0000, 64 << 20, "plic"), regions)
        self.assertEqual(regions, sorted(regions))
        for (base, size, _), (above, _, _) in zip(regions, regions[1:]):
            self.assertLessEqual(base + size, above)

    def test_describe_as_json_is_the_same_from_every_directory(self):
        first = self.succeed("describe", "e810-poll", "--json")
        self.assertEqual(first, self.succeed("describe", "e810-poll", "--json", cwd="/"))
        path = os.path.join(SOURCE, "platform/boards")
        self.assertEqual(first, self.succeed("describe", "./e810-poll.toml", "--json", cwd=path))
        self.assertNotIn(SOURCE, first)
        flight = json.loads(first)["instances"]["pcie.slot0"]["parameters"]["flight"]
        self.assertEqual((flight["value"], flight["text"], flight["unit"]), (5, "5 ns", "ns"))
        self.assertEqual((flight["uncertainty"], flight["uncertainty_by"]), (0.25, "kind"))


class Running(CommandTest):
    def run_json(self, *arguments):
        return json.loads(self.succeed("run", "e810-poll", "--json", *QUICK, *arguments))

    def test_the_result_file_is_what_json_prints_and_stands_alone(self):
        out = os.path.join(self.directory, "a/b")
        printed = json.loads(self.succeed("run", "e810-poll", "--json", *QUICK, "--out", out))
        self.assertEqual(os.listdir(out), ["result.json"])
        with open(os.path.join(out, "result.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file), printed)

    def test_the_result_file_has_the_documented_keys(self):
        with open(os.path.join(SOURCE, "docs/reference/result.md"), encoding="utf-8") as file:
            page = file.read()
        documented = set()
        for row in re.findall(r"(?m)^\| ((?:`\w+`(?:, )?)+)( [^|]*)? \|", page.split("## Inside")[0]):
            documented |= set(re.findall(r"`(\w+)`", row[0]))
        sometimes = {"clients", "dma", "idle", "loopback", "message_rtt", "packets", "phases", "plots", "services", "zero_loss_rate_per_s",
                     "quantum_ns", "warm_up"}
        self.assertLessEqual(sometimes, documented)
        self.assertEqual(set(self.run_json()), documented - sometimes)
        searched = self.run_json("--set=workload.kind=zero-loss", "--set=workload.rate=1000", "--set=cluster.host.harts=2")
        self.assertEqual(set(searched), documented - (sometimes - {"phases", "zero_loss_rate_per_s", "quantum_ns"}))

    def test_every_call_is_accounted_for_and_the_stages_sum_to_the_latency(self):
        for kind in ("closed-loop", "open-loop"):
            result = self.run_json("--set=workload.kind=" + kind)
            requests = result["requests"]
            self.assertEqual((requests["sent"], requests["completed"], requests["lost"]), (200, 200, 0))
            self.assertEqual(result["ledger"], {"completed": 200, "clamped": 0})
            total = sum(s["mean_ns"] for s in result["stages"])
            self.assertAlmostEqual(total, result["latency_ns"]["mean"], delta=1e-4)
            self.assertAlmostEqual(sum(s["share"] for s in result["stages"]), 1, places=9)

    def test_until_ends_a_run(self):
        result = json.loads(self.succeed("run", "e810-poll", "--json", "--until", "300 us"))
        self.assertEqual(result["outcome"], "limit")
        self.assertAlmostEqual(result["simulated_ns"], 300_000, delta=3_000)  # an access under way is finished
        requests = result["requests"]
        self.assertEqual(requests["sent"], requests["completed"] + requests["in_flight"])

    def test_a_sweep_reports_its_phases(self):
        arguments = ("run", "e810-poll", *QUICK, "--set=workload.kind=load-sweep", "--set=workload.rates=500000,2000000")
        phases = json.loads(self.succeed(*arguments, "--json"))["phases"]
        self.assertEqual([(p["rate_per_s"], p["sent"], p["completed"]) for p in phases],
                         [(500_000, 200, 200), (2_000_000, 200, 200)])
        for p in phases:
            self.assertAlmostEqual(p["throughput_per_s"] / p["rate_per_s"], 1, delta=0.3)
        self.assertRegex(self.succeed(*arguments), r"(?m)^ +offered +accepted +achieved +sent +dropped +lost .*\n +500\.0 k/s "
                         r".* cluster.host.hart0 \d %\n +2\.000 M/s .*\n\n  offered +500\.0 k/s +2\.000 M/s$")
        for p in phases:
            self.assertAlmostEqual(sum(s["mean_ns"] for s in p["stages"]), p["latency_ns"]["mean"], delta=1e-4)
            self.assertEqual({link["direction"] for link in p["links"]}, {"up", "down"})
            self.assertAlmostEqual(sum(p["cores"][0]["time"].values()), 1, places=9)

    def test_a_sweep_that_ends_before_its_first_call_has_no_phase(self):
        arguments = ("run", "e810-poll", "--workload=load-sweep", "--set=workload.rates=1", "--requests=5", "--warmup=0",
                     "--seed=2", "--until=1 ms")
        self.assertEqual(json.loads(self.succeed(*arguments, "--json"))["phases"], [])
        self.assertRegex(self.succeed(*arguments), r"(?m)^ +offered +accepted .* busiest\n\n  cluster")

    def test_a_size_sweep_is_a_closed_loop_for_each_size(self):
        closed = ("run", "e810-poll", "--requests=300", "--warmup=0", "--json")
        for outstanding in (1, 8):
            with self.subTest(outstanding=outstanding):
                some = f"--set=workload.outstanding={outstanding}"
                alone = json.loads(self.succeed(*closed, some))
                swept = json.loads(self.succeed(*closed, some, "--workload=size-sweep", "--sizes=64,200,1000"))
                phases = swept["phases"]
                self.assertEqual([(p["call_bytes"], p["sent"], p["completed"]) for p in phases],
                                 [(64, 300, 300), (200, 300, 300), (1000, 300, 300)])
                self.assertEqual(phases[0]["latency_ns"], alone["latency_ns"], "the first size is a run of its own")
                means = [p["latency_ns"]["mean"] for p in phases]
                self.assertEqual(means, sorted(means))
                for p in phases:
                    self.assertAlmostEqual(sum(s["mean_ns"] for s in p["stages"]), p["latency_ns"]["mean"], delta=1e-4)
        self.assertRegex(self.succeed(*closed[:-1], "--workload=size-sweep", "--sizes=64,1000"),
                         r"(?m)^ +bytes +accepted +achieved .*\n +64 .*\n +1,000 .*\n\n  bytes +64 +1,000$")

    def test_a_search_ends_at_a_rate_without_loss_and_its_drops_are_no_failure(self):
        # A small receive FIFO and ring, so that few calls are enough to overrun them.
        arguments = ("run", "e810-poll", "--requests=3000", "--set=workload.kind=zero-loss",
                     "--set=workload.rate=40000000", "--set=workload.resolution=4000000",
                     "--set=nic.eth0.rx_ring=64", "--set=nic.eth0.rx_fifo=16KiB")
        result = json.loads(self.succeed(*arguments, "--json"))
        rate = result["zero_loss_rate_per_s"]
        lossy = [p["rate_per_s"] for p in result["phases"] if p["completed"] < p["sent"]]
        sound = [p["rate_per_s"] for p in result["phases"] if p["completed"] == p["sent"]]
        self.assertEqual(rate, max(sound))
        self.assertLess(rate, min(lossy))
        self.assertGreater(sum(result["requests"]["dropped"].values()), 0)
        self.assertIn("highest rate without loss:", self.succeed(*arguments))
        # Frames of 150 B that the NIC can hold: in FIFOs of 16 KiB for receive and transmit, in 32 DMA writes, 128 for
        # transmit, and in both rings.
        held = 2 * 16384 // 150 + 32 + 128 + 64 + 512
        for p in result["phases"]:
            needed = held * p["rate_per_s"] // 4_000_000 + 1
            if p["completed"] == p["sent"]:
                self.assertEqual(p["sent"], max(3000, needed))
            else:
                self.assertLessEqual(3000, p["sent"])

    def test_a_search_with_short_trials_is_no_more_hopeful(self):
        """Rings that hold more than a trial's calls must not hide a loss."""
        def search(*more):
            arguments = ("run", "e810-poll", "--warmup=0", "--set=workload.kind=zero-loss", "--set=workload.rate=12800000",
                         "--set=workload.resolution=800000", "--json", *more)
            return json.loads(self.succeed(*arguments))
        short, long = search("--requests=200"), search("--requests=40000")
        self.assertLessEqual(abs(short["zero_loss_rate_per_s"] - long["zero_loss_rate_per_s"]), 800_000)

    @staticmethod
    def progress_of(*arguments):
        """The first line of progress that a terminal shows."""
        ours, theirs = pty.openpty()
        with subprocess.Popen([SLUICE, "run", *arguments], stdout=subprocess.DEVNULL, stderr=theirs) as process:
            os.close(theirs)
            shown = os.read(ours, 200).decode()
            process.kill()
        os.close(ours)
        return shown

    def test_progress_without_traffic_is_time_alone(self):
        # When such firmware ends is unknown without --until. Skipped, it is over before anything is shown.
        spin = (os.path.join(SOURCE, "tests/firmware/bare.toml"), "--no-skip", "--firmware", self.write("spin.elf", guest(SPIN)))
        self.assertRegex(self.progress_of(*spin), r"bare: \d+\.\d+ ms simulated")
        self.assertRegex(self.progress_of(*spin, "--until=9 s"), r"bare: \d+ %, \d+\.\d+ ms simulated")

    def test_progress_is_shown_on_a_terminal_only(self):
        arguments = [SLUICE, "run", "e810-poll", "--requests=100000000"]
        self.assertRegex(self.progress_of(*arguments[2:]), r"e810-poll: \d+ %, \d+\.\d+ ms simulated")
        with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            with self.assertRaises(subprocess.TimeoutExpired):
                process.wait(timeout=3)
            process.kill()
            self.assertEqual(process.stderr.read(), b"")


class Paths(CommandTest):
    """A path in a board file is relative to that file, whoever extends it and wherever the command is called."""

    def test_a_board_files_paths_are_relative_to_it(self):
        self.write("own/own.toml", "extends = ['hosts/i9-9960x']\n[cluster.host]\nfirmware = 'build/guest.elf'\n")
        self.write("own/build/guest.elf", finisher_guest(0x5555))
        self.write("other/other.toml", "extends = ['../own/own']\n")
        # A run of one of these has looked into the wrong directory.
        for place in ("build", "other/build"):
            self.write(place + "/guest.elf", finisher_guest(0x0001_3333))
        for board in ("own/own.toml", "other/other.toml"):
            self.succeed("run", board, cwd=self.directory)
            self.succeed("run", os.path.relpath(os.path.join(self.directory, board), os.path.join(self.directory, "other")),
                         cwd=os.path.join(self.directory, "other"))
        # A path on the command line is relative to the working directory.
        self.assertEqual(sluice("run", "own/own.toml", "--firmware", "build/guest.elf", cwd=self.directory).returncode, 1)
        os.remove(os.path.join(self.directory, "own/build/guest.elf"))
        self.assert_mistake(["run", "other/other.toml"], "own/own.toml:3: there is no firmware build/guest.elf; ...")


class Streams(CommandTest):
    def status(self, line):
        return subprocess.run(["sh", "-c", f'"$0" {line}', SLUICE], cwd=self.directory, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False).returncode

    def test_messages_that_nobody_can_read_change_no_status(self):
        self.write("fails.elf", finisher_guest(0x0001_3333))
        for where in ("2>&-", "2>/dev/full", ">&- 2>&-", ">/dev/full 2>/dev/full"):
            self.assertEqual(self.status(f"run nosuch {where}"), 2, where)
            self.assertEqual(self.status(f"run e810-poll --firmware fails.elf --json 2>&- {where}"),
                             1 if where.startswith("2") else 2, where)
            self.assertEqual(self.status(f"run e810-poll --requests 50 {where}"), 0 if where.startswith("2") else 2, where)
        # Messages for the closed stream do not get into a file of the run.
        self.status("run e810-poll --firmware fails.elf --out out 2>&-")
        with open(os.path.join(self.directory, "out/result.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["outcome"], "failed")

    def test_two_runs_do_not_share_a_directory(self):
        with subprocess.Popen([SLUICE, "run", "e810-poll", "--requests", "1000000000", "--out", "same"],
                              cwd=self.directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
            wait_until_caught(first.pid, signal.SIGINT)
            self.assert_mistake(["run", "e810-irq", "--requests", "50", "--out", "same"],
                                "--out same: another run writes there; name another directory")
            first.send_signal(signal.SIGINT)
        self.succeed("run", "e810-irq", "--requests", "50", "--out", "same", cwd=self.directory)


class Failing(CommandTest):
    def fail_with(self, *arguments):
        """Exit status 1, and the whole result none the less."""
        out = os.path.join(self.directory, "out")
        result = sluice("run", "e810-poll", "--requests=20", "--warmup=0", "--out", out, *arguments)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("e810-poll", result.stdout)
        with open(os.path.join(out, "result.json"), encoding="utf-8") as file:
            written = json.load(file)
        self.assertEqual(result.stderr.splitlines()[0], "sluice: e810-poll: " + written["failure"])
        return result.stderr, written

    def test_firmware_that_fails(self):
        path = self.write("fails.elf", finisher_guest(7 << 16 | 0x3333))
        error, result = self.fail_with("--firmware", path)
        self.assertEqual(result["failure"], "the firmware failed with code 7; cluster.host.hart0 at pc 0x8000000c")
        self.assertEqual(result["outcome"], "failed")
        self.assertRegex(error, r"(?m)^cluster\.host\.hart0: pc 0x[0-9a-f]+, \d+ instructions")

    def test_what_the_codes_of_our_firmware_mean(self):
        # Like an image of the firmware library: after a load from nowhere in machine mode its handler fails, code 3.
        ours = ".globl sluice_exit_codes\n.set sluice_exit_codes, 1\n"
        trap = ours + "la t0, handler\ncsrw mtvec, t0\nload: ld t1, 0(zero)\nj .\n.balign 4\nhandler:\n" + FAIL.format(code=3)
        _, result = self.fail_with("--firmware", self.write("traps.elf", assemble(trap)))
        self.assertRegex(result["failure"], "^the firmware failed with code 3, a trap that it does not handle: load access "
                         r"fault \(cause 5\) at pc 0x8000000[0-9a-f] load, value 0x0, on cluster.host.hart0$")
        for code, meaning in ((4, ": it found no NIC that it has a driver for"),
                              (5, ": it gave up, and --console shows why"), (7, "")):
            _, result = self.fail_with("--firmware", self.write("fails.elf", assemble(ours + FAIL.format(code=code))))
            self.assertRegex(result["failure"], f"^the firmware failed with code {code}{meaning}; cluster.host.hart0 at "
                             r"pc 0x800000[0-9a-f]{2} fails$")

    def test_what_the_codes_of_another_guest_mean_is_its_own_affair(self):
        for code in (3, 4, 5, 6):
            _, result = self.fail_with("--firmware", self.write("fails.elf", finisher_guest(code << 16 | 0x3333)))
            self.assertEqual(result["failure"], f"the firmware failed with code {code}; cluster.host.hart0 at pc 0x8000000c")

    def test_a_mistake_of_a_guest_without_symbols(self):
        path = self.write("fails.elf", finisher_guest(0x1234))
        text = sluice("run", "virt", "--firmware", path, "--until=1 us").stdout  # the guest hangs afterwards
        self.assertIn("finisher: 0x1234 names no action: ignored, by cluster.host.hart0 at pc 0x8000000c\n", text)

    def test_firmware_that_ends_before_the_workload(self):
        _, result = self.fail_with("--firmware", "hello")
        self.assertEqual(result["failure"], "the firmware ended the run after 0 of 20 calls")

    def test_a_board_without_a_nic(self):
        path = self.write("bare.toml", "extends = ['hosts/i9-9960x']\n[cluster.host]\nfirmware = 'rpc-server'\n")
        result = sluice("run", path)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, r"^sluice: .*bare: the firmware failed with code 4: it found no NIC that it "
                         r"has a driver for; cluster\.host\.hart0 at pc 0x[0-9a-f]+ finish\S*\n")

    def fail_bare(self, *instructions, options=()):
        """On a board without a NIC, whose workload is its firmware."""
        board = os.path.join(SOURCE, "tests/firmware/bare.toml")
        result = sluice("run", board, "--json", "--firmware", self.write("guest.elf", guest(*instructions)), *options)
        self.assertEqual(result.returncode, 1, result.stderr)
        return json.loads(result.stdout)

    def test_a_board_on_which_nothing_can_happen_any_more(self):
        result = self.fail_bare(WFI, BACK)
        self.assertEqual((result["outcome"], result["failure"]), ("deadlocked", "nothing can ever happen again"))
        self.assertIn("cluster.host.hart0 waits for", result["diagnosis"])

    def test_an_endless_loop_without_traffic_ends_from_outside(self):
        board = os.path.join(SOURCE, "tests/firmware/bare.toml")
        spin = ("--firmware", self.write("spin.elf", guest(SPIN)), "--set=run.stall_limit=1us")
        limited = sluice("run", board, *spin, "--until=1ms", "--json")
        self.assertEqual((limited.returncode, json.loads(limited.stdout)["outcome"]), (1, "stalled"))
        self.assertIn("is in a loop without an end, with interrupts off, at pc 0x80000000\n", limited.stderr)
        with subprocess.Popen([SLUICE, "run", board, *spin], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            wait_until_caught(process.pid, signal.SIGINT)
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertRegex(error, r"^sluice: \S*bare: interrupted by SIGINT after .* of simulated time\n"
                         r"cluster\.host\.hart0: pc 0x80000000, \d+ instructions")

    def test_simulated_time_ends(self):
        # A timer at 18,025 s: 1343 << 27 ticks to mtimecmp.
        timer = (0x0200_42B7, 0x53F0_0313, 0x01B3_1313, 0x0062_B023, WFI, BACK)
        result = self.fail_bare(*timer)
        self.assertEqual((result["outcome"], result["simulated_ns"]), ("limit", 10e9))
        self.assertRegex(result["failure"], r"for 10 s of simulated time no request has either \(run\.time_limit;")
        result = self.fail_bare(*timer, options=("--set=run.time_limit=18000 s",))
        self.assertEqual((result["outcome"], result["simulated_ns"]), ("limit", 18_000e9))
        self.assertRegex(result["failure"], "^simulated time ends at 18.?000 s, and the run had not$")

    def test_a_stall_names_functions(self):
        # No server is at this port, and no call times out before the stall limit.
        error, result = self.fail_with("--set=workload.server_port=9", "--set=workload.timeout=1s",
                                       "--set=run.stall_limit=1ms")
        self.assertEqual(result["outcome"], "stalled")
        self.assertEqual(result["failure"], "no request has ended for 1 ms of simulated time (run.stall_limit)")
        self.assertRegex(error, r"(?m)^workload waits for 10\.0\.0\.2: [0-9]+ calls without a reply$")
        self.assertRegex(error, r"(?m)^cluster\.host\.hart0: pc 0x[0-9a-f]+ \w+(\+0x[0-9a-f]+)?, \d+ instructions")

    def test_a_guest_that_answers_nothing_stalls(self):
        error, result = self.fail_with("--firmware", self.write("spin.elf", guest(SPIN)), "--set=run.stall_limit=1ms")
        self.assertEqual(result["outcome"], "stalled")
        self.assertIn("cluster.host.hart0: pc 0x80000000, ", error)

    def test_a_partner_that_does_not_exist_is_named(self):
        _, result = self.fail_with("--set=workload.host.partner=10.0.0.7", "--set=run.stall_limit=1ms")
        self.assertEqual(result["failure"],
                         "no request has ended for 1 ms of simulated time (run.stall_limit): 10.0.0.7 has not answered ARP")
        # The partner has the NIC's address unless the board says otherwise.
        self.succeed("run", "e810-poll", "--set=nic.eth0.ipv4=10.9.8.7", *QUICK)

    def test_a_stall_says_who_waits_for_whom(self):
        sleeps = guest(0x1050_0073, 0xFFDF_F06F)  # wfi; j back
        error, _ = self.fail_with("--firmware", self.write("sleeps.elf", sleeps), "--set=run.stall_limit=1ms")
        self.assertRegex(error, r"(?m)^since \S+ ns: cluster\.host\.hart0 waits for a device, a timer or another hart: an "
                         r"interrupt \(wfi\)$")

    def test_signals_end_a_run_cleanly(self):
        for number, name in ((signal.SIGINT, "SIGINT"), (signal.SIGTERM, "SIGTERM")):
            out = os.path.join(self.directory, name)
            arguments = [SLUICE, "run", "e810-poll", "--requests=1000000000", "--out", out, "--trace=pcap"]
            with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                capture = os.path.join(out, "net.wire0.pcap")
                # Calls that count have ended by then.
                while not (os.path.exists(capture) and os.path.getsize(capture) > 2_000_000):
                    time.sleep(0.02)
                self.assertEqual(os.listdir(out), ["net.wire0.pcap"])
                process.send_signal(number)
                report, error = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 1, error)
            self.assertRegex(error, rf"^sluice: e810-poll: interrupted by {name} after .* of simulated time\n")
            self.assertRegex(report, r"\n  latency +mean ")
            with open(os.path.join(out, "result.json"), encoding="utf-8") as file:
                result = json.load(file)
            self.assertEqual(result["outcome"], "interrupted")
            self.assertEqual(error.split("\n")[0], "sluice: e810-poll: " + result["failure"])
            requests = result["requests"]
            self.assertGreater(requests["completed"], 0)
            self.assertEqual(requests["sent"], requests["completed"] + requests["in_flight"])
            self.assertEqual(sorted(os.listdir(out)), ["net.wire0.pcap", "result.json"])

    def test_signals_end_a_comparison_and_its_runs(self):
        out = os.path.join(self.directory, "out")
        arguments = [SLUICE, "compare", "e810-poll", "e810-irq", "--requests=1000000000", "--out", out]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            children = f"/proc/{process.pid}/task/{process.pid}/children"
            runs = []
            while not runs:
                time.sleep(0.1)
                with open(children, encoding="ascii") as file:
                    runs = file.read().split()
            time.sleep(1)
            for run in runs:
                wait_until_caught(run, signal.SIGTERM)
            process.send_signal(signal.SIGTERM)
            report, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        for run in runs:
            self.assertFalse(os.path.exists("/proc/" + run))
        self.assertIn("sluice: compare: interrupted by SIGTERM when 0 of 2 runs had ended\n", error)
        # With one processor, one of the two had not begun.
        if len(runs) == 2:
            self.assertIn("latency p50", report)
            self.assertRegex(error, r"(?m)^sluice: e810-irq: interrupted by SIGTERM after .* of simulated time$")

    def test_an_interrupted_comparison_shows_the_replications_that_have_ended(self):
        arguments = [SLUICE, "compare", "e810-poll", "e810-irq", *QUICK, "--replications=1000", "--json",
                     "--set=workload.kind=open-loop"]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            time.sleep(3)
            process.send_signal(signal.SIGINT)
            report, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        ended = re.search(r"(?m)^sluice: compare: interrupted by SIGINT when (\d+) of 2000 runs had ended$", error)
        shown = json.loads(report)
        self.assertGreater(shown["replications"], 1)
        # Runs behind a replication that takes long may have ended too, and are not shown.
        self.assertLessEqual(2 * shown["replications"], int(ended[1]))
        self.assertGreater(4 * shown["replications"], int(ended[1]))
        self.assertTrue(shown["paired"])
        self.assertEqual({r["outcome"] for r in shown["results"]}, {"finished"})

    def test_lost_calls(self):
        _, result = self.fail_with("--set=workload.server_port=9", "--set=workload.timeout=100us")
        requests = result["requests"]
        self.assertEqual(requests["sent"], requests["lost"] + sum(requests["dropped"].values()))
        self.assertGreater(requests["sent"], 0)


if __name__ == "__main__":
    unittest.main()
