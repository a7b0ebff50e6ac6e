# SPDX-License-Identifier: Apache-2.0
"""What a user gets wrong: one sentence that names the place, the key and what would be valid, and exit status 2."""

import os
import resource
import struct
import unittest

import command
from command import BUILD, CommandTest, sluice

OWN = "extends = ['e810-poll']\n"
NO_ELF = "is not an ELF file; an RV64 executable is needed, or raw bytes with their address: FILE@0x8000_0000"


class Commands(CommandTest):
    def test_unknown_commands_and_options(self):
        self.assert_mistake([], "a command must be given; valid: boards, describe, run, compare, sweep, report, "
                                  "reproduce, sensitivity")
        self.assert_mistake(["descrive", "x"], "descrive is not a command; did you mean describe?")
        self.assert_mistake(["--jsn"], "--jsn is not an option of sluice; valid: --help, --version")
        self.assert_mistake(["run", "e810-poll", "--request", "4"],
                            "--request is not an option of sluice run; did you mean --requests?")
        self.assert_mistake(["describe", "e810-poll", "other"], "sluice describe does not take another argument: other")

    def test_missing_arguments(self):
        for name in ("run", "describe", "compare", "sensitivity"):
            self.assert_mistake([name], name + " needs a BOARD: a TOML file, or one of cxl-lauberhorn, e810-echo, e810-irq...")
        self.assert_mistake(["run", "e810-poll", "--requests"], "run: --requests needs a value, N")
        self.assert_mistake(["run", "e810-poll", "--set"], "run: --set needs a value, PATH=VALUE")
        self.assert_mistake(["run", "e810-poll", "--seed=1", "--seed=2"], "run: --seed may be given once")

    def test_values_of_options(self):
        run = ["run", "e810-poll"]
        self.assert_mistake(run + ["--requests", "-1"], "--requests -1: must be 0 to 1000000000000")
        self.assert_mistake(run + ["--requests", "0", "--warmup", "5"],
                            "--warmup 5: --requests 0 makes no calls, nor any before them")
        self.assert_mistake(run + ["--warmup", "-5"], "--warmup -5: must be 0 to 1000000000000")
        self.assert_mistake(run + ["--seed", "-1"], "--seed -1: must not be negative")
        self.assert_mistake(run + ["--seed", "x"], "--seed x: must be a whole number")
        self.assert_mistake(run + ["--quantum", "5"], "--quantum 5: must be a time with a unit...")
        self.assert_mistake(run + ["--until", "abc"], "--until abc: must be a time with a unit "
                            "(fs, ps, ns, us, ms or s)")
        self.assert_mistake(run + ["--until", "-5 ms"], "--until -5 ms: must not be negative")
        self.assert_mistake(run + ["--until", "0 ms"], "--until 0 ms: must be more than 0")
        self.assert_mistake(run + ["--until", "18001 s"], "--until 18001 s: must be at most 18000 s")
        self.assert_mistake(run + ["--trace", "saif"], "--trace saif: must be pcap, tlp, coherence, perfetto, insn or vcd")
        for value in ("pcap,", ",pcap", "pcap,,insn", ","):
            self.assert_mistake(run + ["--trace", value, "--out", "out"],
                                f"--trace {value}: each between commas must be pcap, tlp, coherence, perfetto, insn or vcd")
        self.assert_mistake(run + ["--json=0"], "run: --json takes no value")
        self.assert_mistake(["boards", "--json=false"], "boards: --json takes no value")
        self.assert_mistake(run + ["--trace", "pcap"], "--trace needs --out: the directory that the traces go to")

    def test_empty_values(self):
        values = {"--requests": "N", "--warmup": "N", "--seed": "S", "--quantum": "T", "--firmware": "ELF", "--until": "T",
                  "--tap": "IFNAME", "--replay": "LOG", "--out": "DIR", "--trace": "KIND", "--set": "PATH=VALUE"}
        for option, kind in values.items():
            self.assert_mistake(["run", "e810-poll", option, ""], f"run: {option} must not be empty")
            self.assert_mistake(["run", "e810-poll", option + "="], f"run: {option} needs a value, {kind}")
        self.assert_mistake(["run", ""], "run: BOARD must not be empty")
        self.assert_mistake(["compare", "e810-poll", ""], "compare: BOARD must not be empty")
        self.assert_mistake(["compare", "e810-poll", "e810-irq", "--replications", ""],
                            "compare: --replications must not be empty")
        self.assert_mistake(["describe", "e810-poll", "--set", ""], "describe: --set must not be empty")
        self.assertEqual(os.listdir(self.directory), [])

    def test_no_result_of_an_earlier_run_stays_in_place(self):
        out = os.path.join(self.directory, "out")
        self.succeed("run", "e810-poll", "--requests=5", "--warmup=0", "--out", out)
        result, old = (os.path.join(out, name) for name in ("result.json", "result.json.old"))
        with open(result, encoding="utf-8") as file:
            first = file.read()
        for mistake in (["--set", "nic.eth0.quues=1"], ["--until", "x"], ["--firmware", "none"]):
            self.assertEqual(sluice("run", "e810-poll", "--out", out, *mistake).returncode, 2)
            self.assertEqual(os.listdir(out), ["result.json.old"], mistake)
        self.assertEqual(sluice("run", "e810-pol", "--out", out).returncode, 2)
        with open(old, encoding="utf-8") as file:
            self.assertEqual(file.read(), first)
        self.succeed("run", "e810-poll", "--requests=5", "--warmup=0", "--out", out)
        self.assertEqual(os.listdir(out), ["result.json"])
        # The same for all boards of a comparison, also for one in which nothing is wrong.
        arguments = ("compare", "e810-poll", "e810-irq", "--requests=5", "--warmup=0", "--out", out)
        self.succeed(*arguments)
        self.assertEqual(sluice(*arguments, "--set=nic.eth0.quues=1").returncode, 2)
        for board in ("e810-poll", "e810-irq"):
            self.assertEqual(os.listdir(os.path.join(out, board)), ["result.json.old"])

    def test_comparisons(self):
        self.assert_mistake(["compare", "e810-poll"], "compare needs 2 to 8 boards, not 1")
        self.assert_mistake(["compare", "e810-poll", "e810-irk"], "e810-irk: no such board; did you mean e810-irq?")
        self.assert_mistake(["compare", "e810-poll", "e810-irq", "e810-poll"],
                            "compare: e810-poll is named twice; name different boards")
        self.write("e810-poll.toml", "extends = ['e810-irq']\n")
        self.assert_mistake(["compare", "e810-poll", "./e810-poll.toml"],
                            "compare: e810-poll and ./e810-poll.toml are both called e810-poll; give one file another name")
        self.write("two/my.toml", OWN)
        self.write("my.toml", OWN)
        self.assert_mistake(["compare", "my.toml", "two/my.toml"],
                            "compare: my.toml and two/my.toml are both called my; give one file another name")
        both = ["compare", "e810-poll", "e810-irq"]
        self.assert_mistake(both + ["--replications", "-2"],
                            "--replications -2: must be a whole number, 1 to 1000")
        # What the runs themselves find is said once, not once for each run.
        self.assert_mistake(both + ["--firmware", "none"], "--firmware none: there is no firmware none; give the path "
                            "of an RV64 ELF file or the name of a shipped one")

    def test_a_trace_for_which_there_is_no_room(self):
        for kind, name in (("insn", "trace.insn"), ("perfetto", "trace.perfetto"), ("pcap", "net.wire0.pcap")):
            os.mkdir(os.path.join(self.directory, kind))
            os.symlink("/dev/full", os.path.join(self.directory, kind, name))
            self.assert_mistake(["run", "e810-poll", "--requests=1", "--trace", kind, "--out", kind],
                                f"{kind}/{name}: cannot be written: No space left on device")

    @staticmethod
    def no_large_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))

    def test_output_that_cannot_be_written(self):
        self.write("file", "")
        for name in ("file", "file/below", "/proc/none"):
            self.assert_mistake(["run", "e810-poll", "--requests=1", "--out", name], f"--out {name}: cannot be written...")
        os.makedirs(os.path.join(self.directory, "taken/result.json"))
        self.assert_mistake(["run", "e810-poll", "--requests=1", "--out", "taken"], "--out taken: cannot be written "
                            "(its result.json is a directory); name a directory that can be created")
        self.assert_mistake(["compare", "e810-poll", "e810-irq", "--out", "file"], "--out file: cannot be written...")
        self.assert_mistake(["run", "e810-poll", "--requests=1", "--out", "small"],
                            "--out small: cannot be written (File too large)...", preexec_fn=self.no_large_files)
        with open("/dev/full", "w", encoding="utf-8") as full:
            self.assert_mistake(["describe", "e810-poll"], "standard output cannot be written", stdout=full)


class Faults(CommandTest):
    def mistake(self, text, sentence, *arguments):
        self.write("my.toml", OWN + "[fault.x]\n" + text)
        self.assert_mistake(["run", "my.toml", *arguments], sentence)

    def test_kinds_and_targets(self):
        self.mistake("kind = 'kil'\n", "my.toml:3: kil is not a kind of fault; did you mean kill?")
        self.mistake("target = 'nic.eth0'\n", "my.toml:3: fault.x.kind must be set; valid: kill...")
        self.mistake("kind = 'kill'\nat = '1 us'\n", "my.toml:2: fault.x.target must be set: hart, cluster, system-on-chip "
                     "beside the host, or device")
        self.mistake("kind = 'kill'\ntarget = 'nic.eth1'\nat = '1 us'\n", "my.toml:4: fault.x.target must name a "
                     "cluster, a hart, a system-on-chip or a device of the board, not \"nic.eth1\"; did you mean nic.eth0?")
        self.mistake("kind = 'link-down'\ntarget = 'net.wire'\nduration = '1 us'\nat = '1 us'\n",
                     "my.toml:4: fault.x.target must name an Ethernet, PCIe or coherent link of the board, not \"net.wire\"; "
                     "did you mean net.wire0?")
        self.mistake("kind = 'lost-tlp'\ntarget = 'pcie.slt0'\nevery = 3\n", "my.toml:4: fault.x.target must name a "
                     "PCIe link of the board, not \"pcie.slt0\"; did you mean pcie.slot0?")

    def test_times(self):
        kill = "kind = 'kill'\ntarget = 'nic.eth0'\n"
        self.mistake(kill, "my.toml:2: fault.x.at must be set, or else every or mean_every")
        self.mistake(kill + "at = '1 us'\nevery = '2 us'\n",
                     "my.toml:5: fault.x.at must be set without every or mean_every")
        self.mistake("kind = 'lost-tlp'\ntarget = 'pcie.slot0'\n",
                     "my.toml:2: fault.x.at must be set, or else every or probability")
        self.mistake(kill + "at = '1'\n", "my.toml:5: fault.x.at must be a time with a unit...")
        self.mistake(kill + "ta = '1 us'\n", "my.toml:5: fault.x.ta is not a parameter of the kill; did you mean "
                     "fault.x.at?")
        self.mistake("kind = 'corrupt-tlp'\ntarget = 'pcie.slot0'\nprobability = 1.5\n",
                     "my.toml:5: fault.x.probability must be 0 to 1, not 1.5")


class Boards(CommandTest):
    def test_unknown_board(self):
        for name in ("describe", "run"):
            self.assert_mistake([name, "e810-pol"], "e810-pol: no such board; did you mean e810-poll?")
        self.assert_mistake(["run", "./none.toml"], "./none.toml: no such file")
        self.assert_mistake(["run", "/"], "/: is a directory, not a file")
        self.assert_mistake(["run", "x"], "x: no such board; valid: virt, e810-irq, e810-echo...")

    def test_keys_and_values_in_a_file(self):
        for table, line, sentence in (
                ("nic.eth0", "quues = 1",
                 "nic.eth0.quues is not a parameter of the descriptor NIC; did you mean nic.eth0.queues?"),
                ("nic.eth0", "queues = 'two'", 'nic.eth0.queues must be a whole number, not "two"'),
                ("nic.eth0", "queues = 65", "nic.eth0.queues must be 1 to 64, not 65"),
                ("nic.eth0", "queues = -1", "nic.eth0.queues must be 1 to 64, not -1"),
                ("nic.eth0", "slot = 'pcie.slot9'",
                 'nic.eth0.slot must name a PCIe slot of the board, not "pcie.slot9"; did you mean pcie.slot0?'),
                ("nic.eth0", "slot = 'x'",
                 'nic.eth0.slot must name a PCIe slot of the board, not "x"; valid: pcie.slot0'),
                ("nic.eth0", "wire = ''",
                 'nic.eth0.wire must name an Ethernet link of the board, not ""; valid: net.wire0'),
                ("nic.eth0", "model = 'descripter'",
                 "descripter is not a model of nic; did you mean descriptor?"),
                ("pcie.slot0", "flight = '5 KiB'",
                 'pcie.slot0.flight must be a time with a unit (fs, ps, ns, us, ms or s), not "5 KiB"'),
                ("pcie.slot0", "lanes = 3", "pcie.slot0.lanes must be 1, 2, 4, 8, 12 or 16, not 3"),
                ("pcie.slot0", "port = 1", "pcie.slot0.port must be less than root.root_ports, which is 1"),
                ("workload", "kind = 'opened-loop'", "workload.kind must be ..."),
        ):
            path = self.write("my.toml", f"{OWN}[{table}]\n{line}\n")
            for name in ("describe", "run"):
                self.assert_mistake([name, "my.toml"], "my.toml:3: " + sentence)
            self.assert_mistake(["run", path], path + ":3: " + sentence)

    def test_overrides(self):
        for override, sentence in (
                ("nic.eth0.queues=-1", "must be 1 to 64"),
                ("nic.eth0.quues=1",
                 "nic.eth0.quues is not a parameter of the descriptor NIC; did you mean nic.eth0.queues?"),
                ("nic.eth1.queues=1", "the board has no nic.eth1; did you mean nic.eth0?"),
                (".=3", "the path begins with no kind of component: it must be KIND.KEY or KIND.NAME.KEY"),
                ("nik.eth0.queues=1", "nik is not a kind of component; did you mean nic?"),
                ("pcie.slot0.flight=5KiB", "must be a time with a unit (fs, ps, ns, us, ms or s)"),
                ("memory.dram.size=1ns", "must be..."),
                ("nic.eth0.queues", "must be PATH=VALUE"),
                ("uart.expect=", 'has no value; an empty string is "", an empty list []'),
                ("workload.host.partner=", 'has no value; an empty string is "", an empty list []'),
        ):
            self.assert_mistake(["run", "e810-poll", "--set", override], f"--set {override}: {sentence}")
        self.write("my.toml", OWN + "[uart]\nexpect = 'none'\n[net.wire0]\ndown_at = ['1 ms']\n")
        text = self.succeed("describe", "my.toml", "--set", 'uart.expect=""', "--set", "net.wire0.down_at=[]",
                            cwd=self.directory)
        self.assertRegex(text, r'(?m)^  expect +"" +assumed +--set ')
        self.assertRegex(text, r"(?m)^  down_at +\[\] +assumed +--set ")

    def test_many_valid_names_are_cut_with_the_nearest_first(self):
        self.assert_mistake(["describe", "e810-poll", "--set", "caches.latencies=1 ns"], "--set caches.latencies=1 ns: "
                            "caches.latencies is not a parameter of the memory system; valid: line, l2_latency, timing...")
        error = sluice("describe", "e810-poll", "--set", "caches.latencies=1 ns").stderr
        self.assertRegex(error, r"valid: (\w+, ){11}\w+ and 14 more\n$")

    def test_a_default_is_blamed_on_the_line_that_names_its_component(self):
        self.write("my.toml", OWN + "[pcie.slot1]\nlanes = 4\n")
        self.assert_mistake(["describe", "my.toml"], "my.toml:2: pcie.slot1.port must be a root port of its own; "
                            "pcie.slot0 is at it")

    def test_what_was_said_last_is_to_blame(self):
        self.write("my.toml", OWN + "[pcie.slot1]\nport = 1\n[root]\nroot_ports = 2\n[nic.eth1]\n"
                   "model = 'descriptor'\nslot = 'pcie.slot1'\n[net.wire1]\n")
        link = "must be a link of its own; nic.eth0 is at it too"
        for name in ("describe", "run"):
            self.assert_mistake([name, "my.toml"], "my.toml:6: nic.eth1.wire " + link)
            self.assert_mistake([name, "my.toml", "--set=nic.eth1.slot=pcie.slot0", "--set=nic.eth1.wire=net.wire1"],
                                "--set nic.eth1.slot=pcie.slot0: must be a slot of its own; nic.eth0 is in it")
            self.assert_mistake([name, "my.toml", "--set=nic.eth1.wire=net.wire1", "--set=nic.eth0.wire=net.wire1"],
                                "--set nic.eth0.wire=net.wire1: must be a link of its own; nic.eth1 is at it too")
        # A rule belongs to one key; the key that was changed last is named, for it has broken the rule.
        self.assert_mistake(["describe", "e810-poll", "--set=workload.mtu=576", "--set=workload.call.bytes=600"],
                            "--set workload.call.bytes=600: makes IPv4 packets of 672 bytes; the MTU is 576")
        self.write("my.toml", OWN + "[workload]\ncall.bytes = 600\n")
        self.assert_mistake(["describe", "my.toml", "--set=workload.mtu=576"], "--set workload.mtu=576: "
                            "workload.call.bytes makes IPv4 packets of 672 bytes; the MTU is 576")

    def test_one_parameter_has_one_option(self):
        for name, options, path in (("run", ("--requests=5", "--set=workload.requests=7"), "workload.requests"),
                                    ("run", ("--workload=open-loop", "--set=workload.kind=closed-loop"), "workload.kind"),
                                    ("sensitivity", ("--set=run.seed=2", "--seed=3"), "run.seed"),
                                    ("run", ("--expect=a", "--set=uart.expect=b"), "uart.expect")):
            option = next(o for o in options if not o.startswith("--set")).replace("=", " ")
            other = next(o for o in options if o.startswith("--set")).replace("--set=", "--set ")
            self.assert_mistake([name, "e810-poll", *options], f"{option}: {other} sets {path}, too; give one of them")
        self.assert_mistake(["compare", "e810-poll", "e810-irq", "--requests=5", "--set=workload.requests=7"],
                            "--requests 5: --set workload.requests=7 sets workload.requests, too; give one of them")

        # The same value twice is no conflict.
        self.assertEqual(sluice("run", "e810-poll", "--requests=9", "--set=workload.requests=9").returncode, 0)
        for name in (("compare", "e810-poll", "e810-irq"), ("sensitivity", "e810-poll")):
            self.assert_mistake([*name, "--replications=2", "--set=run.replication=7"], "--set run.replication=7: has no "
                                "effect on e810-poll: --replications 2 numbers them")

    def test_services(self):
        hot = ["run", "e810-poll", "--set=workload.popularity=hot-set"]
        for setting, sentence in (("services=65", "must be 1 to 64"), ("services=0", "must be 1 to 64"),
                                  ("popularity=cold", "must be uniform, zipf or hot-set"),
                                  ("zipf_exponent=5", "must be 0 to 4"), ("hot=64", "must be 1 to 63"),
                                  ("hot_share=1.5", "must be 0 to 1"), ("hot_period=3", "must be a time with a unit "
                                                                        "(fs, ps, ns, us, ms or s)")):
            with self.subTest(setting):
                self.assert_mistake([*hot, f"--set=workload.{setting}"], f"--set workload.{setting}: {sentence}")
        self.assert_mistake([*hot, "--set=workload.services=4", "--set=workload.hot=4"],
                            "--set workload.hot=4: must be less than services, 4")
        self.assert_mistake(["run", "e810-poll", "--set=workload.server_port=65500", "--set=workload.services=64"],
                            "--set workload.services=64: needs UDP ports up to 65563, and the highest is 65535")
        self.write("my.toml", OWN + "[workload]\nservices = 2\npopularity = 'hot-set'\nhot = 2\n")
        self.assert_mistake(["run", "my.toml"], "my.toml:5: workload.hot must be less than services, 2")

    def test_serving_peer(self):
        peer = OWN + "[peer.far]\nmodel = 'rpc'\n"
        for line, sentence in (("port = 0", "port must be 1 to 65535, not 0"), ("delays = 'long'", 'delays must be constant or exponential, not "long"'),
                               ("delay = '11 s'", 'delay must be 0 ns to 10 s, not "11 s"'),
                               ("host.address = '10.0.0.2'", "host.address must not be nic.eth0.ipv4 too"),
                               ("wire = 'net.wire7'", 'wire must name an Ethernet link of the board, not "net.wire7"; did you mean net.wire0?')):
            with self.subTest(line):
                self.write("peer.toml", f"{peer}{line}\n")
                self.assert_mistake(["run", "peer.toml", "--until=50us"], f"peer.toml:4: peer.far.{sentence}")
        self.write("peer.toml", peer + "delay = '0 ns'\ndelays = 'exponential'\n")
        self.assertIn("peer.far.delays (peer.toml:5) has no effect: peer.far.delay is 0 ns\n",
                      sluice("run", "peer.toml", "--until=50us", cwd=self.directory).stderr)
        self.write("peer.toml", peer)
        for setting, why in (("delay=5us", "no call was answered"), ("delays=exponential", "no call was answered"),
                             ("port=7", "no frame came that it might have served")):
            said = sluice("run", "peer.toml", "--until=50us", f"--set=peer.far.{setting}", cwd=self.directory).stderr
            self.assertIn(f"peer.far.{setting.split('=')[0]} (--set) did not act: {why}\n", said)

    def test_service_times(self):
        spin = ["run", "e810-poll", "--set=workload.call.program=spin"]
        self.assert_mistake([*spin, "--set=workload.call.service=1.5 ns"],
                            "--set workload.call.service=1.5 ns: must be whole nanoseconds, as a call carries")
        self.assert_mistake([*spin, "--set=workload.call.service=10 ms"],
                            "--set workload.call.service=10 ms: asks for 10 ms, and timeout, 10 ms, is no longer")
        self.assert_mistake([*spin, "--set=workload.call.service=51 ms"],
                            "--set workload.call.service=51 ms: must be 0 ns to 50 ms")
        self.assert_mistake([*spin, "--set=workload.call.service_times=bimodal", "--set=workload.call.service_long_share=1.5"],
                            "--set workload.call.service_long_share=1.5: must be 0 to 1")

    def test_frames_longer_than_nic_or_driver_take(self):
        # 72 bytes of IPv4, UDP and RPC headers and a length go before the bytes of a call.
        large = ["e810-poll", "--requests=20", "--set=workload.mtu=9000"]
        self.assert_mistake(["run", *large, "--set=workload.call.bytes=1432"], "--set workload.call.bytes=1432: makes "
                            "frames of 1518 bytes, and nic.eth0 takes no longer ones than 1514")
        done = sluice("run", *large, "--set=workload.call.bytes=1428")
        self.assertIn("20 calls, 0 lost, 0 dropped", done.stdout)
        self.assert_mistake(["run", "e810-poll", "--set=nic.eth0.mtu=1779"], "--set nic.eth0.mtu=1779: must be at most "
                            "1778, for which a buffer of buffer_size, 2 KiB, has room")
        self.assert_mistake(["run", "e810-echo", "--set=nic.eth0.mtu=1501"], "e810-echo.toml: nic.eth0 is set up for "
                            "frames of 1515 bytes, and the firmware takes no longer ones than 1514")

    def test_overlapping_regions(self):
        sentence = "uart at 0x0c00_0000 (256 B) overlaps plic at 0x0c00_0000 (64 MiB)"
        overlap = ["e810-poll", "--set", "cluster.host.interrupts=plic", "--set", "map.uart=0x0c00_0000"]
        for name in ("describe", "run"):
            self.assert_mistake([name, *overlap], "--set map.uart=0x0c00_0000: " + sentence)
            self.write("my.toml", OWN + "[cluster.host]\ninterrupts = 'plic'\n[map]\nuart = 0x0c00_0000\n")
            self.assert_mistake([name, "my.toml"], "my.toml:5: " + sentence)
            self.write("my.toml", OWN + "[map]\nuart = 0x7fff_f000\n[memory.dram]\nbase = 0x7fff_f000\n")
            self.assert_mistake([name, "my.toml"], "my.toml:5: memory.dram at 0x7fff_f000 (256 MiB) overlaps "
                                "root.mmio32 at 0x4000_0000 (1 GiB)")
        for address in ("0x100_0000_0000_0000", "0xffff_ffff_ffff_ff00"):
            self.assert_mistake(["run", "e810-poll", "--set", "map.uart=" + address], f"--set map.uart={address}: must be "
                                "a multiple of 4096, 0x1000 to 0x00ff_ffff_ffff_f000")
        self.write("my.toml", OWN + "[map]\nuart = 0xffff_ffff_ffff_fff8\n")
        self.assert_mistake(["run", "my.toml"], "my.toml:3: uart must be a whole number below 2^63, as TOML has them")
        self.assert_mistake(["run", "e810-poll", "--set", "root.mmio64_base=0x8000_0000_0000_0000"],
                            "--set root.mmio64_base=0x8000_0000_0000_0000: root.mmio64 at 0x8000_0000_0000_0000 (256 GiB) "
                            "reaches beyond 56-bit physical addresses")
        self.succeed("describe", "e810-poll", "--set", "map.uart=0x0c00_0000", "--set", "map.aplic_m=0x1000_0000")

    def test_cycle_in_extends(self):
        self.write("a.toml", "extends = ['b']\n")
        self.write("b.toml", "extends = ['a']\n")
        self.assert_mistake(["run", "a.toml"], "b.toml:1: extends forms a cycle: a.toml -> b.toml -> a.toml")
        self.write("c.toml", "extends = ['e810-pol']\n")
        self.assert_mistake(["run", "c.toml"], "c.toml:1: extends e810-pol, which is no file beside it and no shipped "
                            "part; did you mean e810-poll?")

    def test_what_no_board_can_be_built_from(self):
        run = ["run", "e810-poll", "--requests=10"]
        self.assert_mistake(run + ["--set", "cluster.host.harts=2", "--set", "caches.snoop_latency=0ns"],
                            "--set caches.snoop_latency=0ns: must be 1 ns to 1 us")
        self.assert_mistake(run + ["--set", "caches.dram_rate=0 b/s"],
                            "--set caches.dram_rate=0 b/s: must be 1 Gb/s to 100 Tb/s")
        self.write("peer.toml", OWN + "[peer.far]\nmodel = 'echo'\n")
        self.assert_mistake(["run", "peer.toml"],
                            "peer.toml: no wire is left for the workload; end the run with --until")
        self.write("peer.toml", OWN + "[peer.far]\nmodel = 'traffic'\nrequests = 10\n")
        self.succeed("run", "peer.toml", cwd=self.directory)
        effect = "has no effect on {}: peers are at the far ends of all its Ethernet links"
        self.assert_mistake(["run", "peer.toml", "--requests=10"], "--requests 10: " + effect.format("peer"))
        self.assert_mistake(["compare", "e810-poll", "peer.toml", "--requests=10"],
                            "--requests 10: " + effect.format("peer"))
        self.write("heir.toml", "extends = ['peer']\n")
        self.succeed("run", "heir.toml", cwd=self.directory)
        self.write("heir.toml", "extends = ['peer']\n[workload]\noutstanding = 2\n")
        self.assert_mistake(["run", "heir.toml"], "heir.toml:3: workload.outstanding " + effect.format("heir"))
        self.write("deep.toml", ".".join(["a"] * 10_000) + " = 1\n")
        self.assert_mistake(["describe", "deep.toml"], "deep.toml:1: a key has more than 64 parts")

    def test_no_toml(self):
        self.write("my.toml", "[[[")
        self.assert_mistake(["run", "my.toml"], "my.toml:1: not valid TOML: ...")

    def test_random_boards_and_overrides_never_crash(self):
        for index, text in enumerate(("", "\0", "[", "[nic.eth0]\nqueues = 99999999999999999999\n", "a" * 5000,
                                      "extends = ['']\n", "extends = ['.']\n", "[workload]\n", "[nic]\n")):
            result = sluice("describe", self.write(f"{index}.toml", text))
            self.assertIn(result.returncode, (0, 2), (text, result.stderr))
        for override in ("", "=", ".=", "nic=", "nic.=", "nic..=", "nic.eth0.=", "workload=", "workload.outstanding=",
                         "workload.outstanding=1e9", "\n=\n"):
            result = sluice("describe", "e810-poll", "--set", override)
            self.assertEqual(result.returncode, 2, (override, result.stderr))


class Inputs(CommandTest):
    def setUp(self):
        super().setUp()
        with open(os.path.join(BUILD, "firmware/rpc-server.elf"), "rb") as file:
            self.elf = file.read()

    def assert_refused(self, content, why):
        self.write("guest.elf", content)
        self.assert_mistake(["run", "e810-poll", "--requests=1", "--firmware", "guest.elf", "--out", "out"],
                            f"--firmware guest.elf: firmware guest.elf {why}")
        self.assertFalse(os.path.exists(os.path.join(self.directory, "out/result.json")))
        self.assertEqual(os.listdir(os.path.join(self.directory, "out")), [])

    def changed(self, offset, value):
        return self.elf[:offset] + bytes([value]) + self.elf[offset + 1:]

    def test_missing_firmware(self):
        for name in ("none", "./none.elf"):
            self.assert_mistake(["run", "e810-poll", "--firmware", name], f"--firmware {name}: there is no firmware "
                                f"{name}; give the path of an RV64 ELF file or the name of a shipped one")
        for name, what in ((self.directory, "a directory"), ("/dev/zero", "not a regular file")):
            self.assert_mistake(["run", "e810-poll", "--firmware", name], f"--firmware {name}: {name} is {what}; give the "
                                "path of an RV64 ELF file or the name of a shipped one")
        self.assert_mistake(["run", "e810-poll", "--set", 'cluster.host.firmware=""'], '--set cluster.host.firmware="": the '
                            "firmware has no name; give the path of an RV64 ELF file or the name of a shipped one")
        self.write("my.toml", OWN + "[cluster.host]\nfirmware = 'none'\n")
        self.assert_mistake(["run", "my.toml"], "my.toml:3: there is no firmware none; give the path of an RV64 ELF "
                            "file or the name of a shipped one")

    def test_truncated_firmware(self):
        for length in (64, 100, 3000, len(self.elf) // 8):
            self.assert_refused(self.elf[:length], "is truncated")
        for content in (b"", b"\x7fEL", self.elf[:30]):
            self.assert_refused(content, NO_ELF)

    def test_foreign_firmware(self):
        other = "is an ELF file for another machine; an RV64 executable is needed"
        self.assert_refused(self.changed(18, 62), other)  # e_machine: x86-64
        self.assert_refused(self.changed(4, 1), other)  # 32-bit
        self.assert_refused(self.changed(5, 2), other)  # big endian
        self.assert_refused(self.changed(16, 3), "is not an executable at fixed addresses (ET_EXEC); link it without "
                            "-pie")
        self.assert_refused("#!/bin/sh\n" * 20, NO_ELF)
        # Linked to an address where the board has no memory.
        self.assert_refused(command.guest(command.SPIN).replace(b"\0\0\0\x80\0\0\0\0", b"\0\0\0\x10\0\0\0\0"),
                            "has a segment at 0x10000000 (4 B) outside every memory of the board (0x8000_0000 to "
                            "0x8fff_ffff, 0x0001_0000_0000 to 0x0001_0fff_ffff)")

    def test_captures_that_are_none(self):
        self.write("text.pcap", "hello\n")
        with_capture = ["run", "e810-poll", "--set", "workload.kind=replay", "--set"]
        for name, why in (("text.pcap", "is not a pcap file"), ("none.pcap", "cannot be read: No such file or directory"),
                          (".", "cannot be read: Is a directory")):
            self.assert_mistake(with_capture + ["workload.pcap=" + name],
                                f"--set workload.pcap={name}: cannot be replayed: {name}: {why}")
        os.mkfifo(os.path.join(self.directory, "fifo"))
        for name in ("fifo", "/dev/zero"):
            self.assert_mistake(with_capture + ["workload.pcap=" + name], f"--set workload.pcap={name}: cannot be replayed: "
                                f"{name}: is not a regular file")
            self.assert_mistake(["run", "e810-poll", "--replay", name],
                                f"--replay {name}: {name}: is not a regular file")
        header = struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
        arp = bytes.fromhex("ffffffffffff" "020000000001" "0806" "0001080006040001" "020000000001" "0a000001"
                            "000000000000" "0a000002") + bytes(18)
        self.write("empty.pcap", header)
        self.write("arp.pcap", header + struct.pack("<IIII", 0, 0, len(arp), len(arp)) + arp)
        for name, why in (("empty.pcap", "has no frame"),
                          ("arp.pcap", "has no frame of a client: all 1 are ARP or from 10.0.0.2, the board's address")):
            self.assert_mistake(with_capture + ["workload.pcap=" + name],
                                f"--set workload.pcap={name}: cannot be replayed: {name}: {why}")
        self.write("empty.log", "sluice-inputs 1\n")
        self.assert_mistake(["run", "e810-poll", "--replay", "empty.log"], "--replay empty.log: empty.log:2: has no input "
                            "and no end of a run, so there is nothing to repeat")
        self.assert_mistake(["run", "e810-poll", "--set", "workload.kind=replay"],
                            "--set workload.kind=replay: workload.pcap must name a capture for a replay")
        self.write("my.toml", OWN + "[workload]\nkind = 'replay'\npcap = 'text.pcap'\n")
        self.assert_mistake(["run", "my.toml"],
                            "my.toml:4: workload.pcap cannot be replayed: text.pcap: is not a pcap file")


if __name__ == "__main__":
    unittest.main()
