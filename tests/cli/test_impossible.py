# SPDX-License-Identifier: Apache-2.0
"""Boards on which nothing can run, and workloads without a possible result: refused before the run, by describe too."""

import json
import resource
import struct
import subprocess
import unittest

import command
from command import SLUICE, CommandTest

OWN = "extends = ['e810-poll']\n"


def udp(payload, source="0a000001", target="0a000002", port=40000):
    """An Ethernet frame with a UDP datagram: the IPv4 checksum is right, and there is no UDP checksum."""
    header = bytearray.fromhex("4500000000000000401100000a0000010a000002")
    header[2:4] = struct.pack(">H", 28 + len(payload))
    header[12:20] = bytes.fromhex(source + target)
    total = sum(struct.unpack(">10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    header[10:12] = struct.pack(">H", ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF)
    return (bytes.fromhex("0253 4c00 0001 0200 0000 0001 0800") + bytes(header)
            + struct.pack(">HHHH", port, 111, 8 + len(payload), 0) + payload)


def null_call(xid):
    return struct.pack(">IIIIII", xid, 0, 2, 100000, 2, 0) + bytes(16)


def capture(*frames):
    data = struct.pack("<IHHIIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
    for i, frame in enumerate(frames):
        data += struct.pack("<IIII", 0, 20_000 * i, len(frame), len(frame)) + frame
    return data


class Boards(CommandTest):
    def assert_refused(self, arguments, sentence):
        for name in ("describe", "run"):
            self.assert_mistake([name, *arguments], sentence)

    def assert_overrides_refused(self, *overrides_and_sentence):
        *overrides, sentence = overrides_and_sentence
        self.assert_refused(["e810-poll", *("--set=" + o for o in overrides)], f"--set {overrides[-1]}: {sentence}")

    def test_fewer_interrupt_sources_than_are_wired(self):
        wired = "must be at least 35: the UART is source 10 and PCIe's INTA to INTD are 32 to 35"
        self.assert_overrides_refused("cluster.host.interrupts=plic", "plic.sources=1", wired)
        self.assert_overrides_refused("cluster.host.interrupts=plic", "plic.sources=34", wired)
        self.assert_overrides_refused("aplic.sources=34", wired)
        for controller, sources in (("plic", 35), ("aia", 35)):
            self.succeed("run", "e810-irq", "--requests=20", "--warmup=0",
                         f"--set=cluster.host.interrupts={controller}",
                         f"--set={'aplic' if controller == 'aia' else 'plic'}.sources={sources}")

    def test_windows_too_small_for_the_devices(self):
        self.assert_overrides_refused("root.mmio64_size=1 MiB", "must be at least 2 MiB, for the BARs of the devices")
        self.assert_overrides_refused("root.root_ports=3", "pcie.slot0.port=2", "root.ecam_size=3 MiB",
                                      "must be at least 4 MiB, for the buses that devices are on")
        for fits in (["root.mmio64_size=2 MiB"], ["root.root_ports=3", "pcie.slot0.port=2", "root.ecam_size=4 MiB"]):
            self.succeed("run", "e810-poll", "--requests=20", "--warmup=0", *("--set=" + f for f in fits))

    def test_windows_behind_a_switch(self):
        self.write("my.toml", OWN + "[switch.sw0]\nslot = 'pcie.slot0'\ndownstream_ports = 2\n[pcie.slot1]\n"
                   "attach = 'switch.sw0'\nport = 1\n[nic.eth0]\nslot = 'pcie.slot1'\n")
        # Buses: bus 0, and those below the root port, in the switch, and below its two ports.
        for key, least, enough in (("ecam_size", 5, "the buses that devices are on"),
                                   ("mmio64_size", 2, "the BARs of the devices")):
            self.assert_refused(["my.toml", f"--set=root.{key}={least - 1} MiB"],
                                f"--set root.{key}={least - 1} MiB: must be at least {least} MiB, for {enough}")
            self.succeed("run", "my.toml", f"--set=root.{key}={least} MiB", "--requests=20", "--warmup=0",
                         cwd=self.directory)

    def test_sizes_that_completions_cannot_have(self):
        self.assert_overrides_refused("root.completion_size=192 B", "must be a power of two, 64 B to 4 KiB")
        self.assert_overrides_refused("root.completion_size=32 B", "must be a power of two, 64 B to 4 KiB")
        self.assert_overrides_refused("root.read_completion_boundary=128 B", "root.completion_size=64 B",
                                      "must be at least read_completion_boundary, which is 128 B")
        self.assert_overrides_refused("root.completion_size=512 B",
                                      "must be at most pcie.slot0.max_payload, which is 256 B")
        self.write("my.toml", OWN + "[root]\ncompletion_size = '256 B'\n")
        self.assert_refused(["my.toml", "--set=pcie.slot0.max_payload=128 B"], "--set pcie.slot0.max_payload=128 B: must "
                            "be at least root.completion_size, which is 256 B")
        self.succeed("describe", "e810-poll", "--set=root.completion_size=512 B", "--set=pcie.slot0.max_payload=512 B")

    def test_firmware_that_does_not_fit_is_blamed_on_what_named_it(self):
        spin = command.guest(command.SPIN)
        start = struct.pack("<Q", 0x8000_0000)
        elsewhere = spin[:24] + struct.pack("<Q", 0x1234_0000) + spin[32:]
        self.assertEqual(spin[24:32], start)
        self.write("guest.elf", elsewhere)
        sentence = ("firmware guest.elf starts at 0x12340000, outside every memory of the board (0x8000_0000 to "
                    "0x8fff_ffff, 0x0001_0000_0000 to 0x0001_0fff_ffff)")
        self.assert_mistake(["run", "e810-poll", "--firmware", "guest.elf"], "--firmware guest.elf: " + sentence)
        self.write("my.toml", OWN + "[cluster.host]\nfirmware = 'guest.elf'\n")
        self.assert_refused(["my.toml"], "my.toml:3: " + sentence)
        # The firmware lies at the end of its memory, where the device tree goes.
        self.write("guest.elf", spin.replace(start, struct.pack("<Q", 0x8FFF_F000)))
        self.assert_mistake(["run", "e810-poll", "--firmware", "guest.elf"], "--firmware guest.elf: firmware guest.elf "
                            "leaves no room for the device tree in its memory: it ends at 0x8ffff004 and must end at "
                            "0x8fff0000 or below")

    def test_addresses_that_no_host_has(self):
        ipv4 = "must be a single host's IPv4 address: 1.0.0.0 to 223.255.255.255, without 127.x.x.x"
        for address in ("0.0.0.0", "255.255.255.255", "224.0.0.1", "127.0.0.1"):
            for key in ("nic.eth0.ipv4", "workload.host.address", "workload.host.partner"):
                self.assert_overrides_refused(f"{key}={address}", ipv4)
        for address, why in (("ff:ff:ff:ff:ff:ff", "its first octet even"), ("01:00:5e:00:00:01", "its first octet even"),
                             ("00:00:00:00:00:00", "not all zero")):
            for key in ("nic.eth0.address", "workload.host.mac"):
                self.assert_overrides_refused(f"{key}={address}", "must be a single station's MAC address: " + why)
        self.succeed("run", "e810-poll", "--requests=20", "--warmup=0", "--set=nic.eth0.ipv4=223.255.255.254")

    def test_two_computers_with_one_address(self):
        self.assert_overrides_refused("workload.host.partner=10.0.0.1",
                                      "must be another address than this host's own, 10.0.0.1")
        self.assert_overrides_refused("workload.host.address=10.0.0.2", "must not be nic.eth0.ipv4 too")
        self.assert_overrides_refused("nic.eth0.ipv4=10.0.0.1", "must not be workload.host.address too")
        self.assert_overrides_refused("nic.eth0.address=02:00:00:00:00:01", "must not be workload.host.mac too")
        self.write("my.toml", OWN + "[peer.far]\nhost.address = '10.0.0.2'\n")
        self.assert_refused(["my.toml"], "my.toml:3: peer.far.host.address must not be nic.eth0.ipv4 too")

    def test_what_only_the_builder_finds_is_found_by_describe(self):
        self.assert_overrides_refused("uart.expect=none", "cannot be used: none: no such file")
        self.assert_overrides_refused("cluster.host.firmware=none", "there is no firmware none; give the path of an RV64 "
                                      "ELF file or the name of a shipped one")
        self.write("text.pcap", "hello\n")
        self.assert_overrides_refused("workload.kind=replay", "workload.pcap=text.pcap",
                                      "cannot be replayed: text.pcap: is not a pcap file")
        self.write("my.toml", OWN + "[fault.x]\nkind = 'kill'\ntarget = 'nic.eth1'\nat = '1 us'\n")
        self.assert_refused(["my.toml"], "my.toml:4: fault.x.target must name a cluster...")

    def test_address_space_that_the_machine_refuses(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        result = subprocess.run([SLUICE, "run", "e810-poll", "--requests=1", "--set=memory.dram.size=1 GiB"],
                                preexec_fn=limit, capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (
            2, "sluice: --set memory.dram.size=1 GiB: needs 1152 MiB of address space, which this machine refuses (Cannot "
            "allocate memory): a smaller size or a higher limit (ulimit -v) would do\n"))


class Replays(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("calls.pcap", capture(*(udp(null_call(i)) for i in range(1, 11))))
        self.board = self.write("my.toml", OWN + "[workload]\nkind = 'replay'\npcap = 'calls.pcap'\nwarmup = 0\n")

    def test_its_calls_are_the_runs(self):
        result = json.loads(self.succeed("run", "my.toml", "--json", cwd=self.directory))
        self.assertEqual(result["requests"]["completed"], 10)

    def test_a_number_of_requests_is_refused(self):
        why = "must not be set for a replay, which makes every call of its capture"
        self.assert_mistake(["run", "my.toml", "--requests", "5"], "--requests 5: " + why)
        self.assert_mistake(["run", "e810-poll", "--workload=replay", "--set=workload.pcap=calls.pcap", "--warmup=0",
                             "--requests=5"], "--requests 5: " + why)
        self.write("both.toml", OWN + "[workload]\nkind = 'replay'\npcap = 'calls.pcap'\nrequests = 7\n")
        self.assert_mistake(["describe", "both.toml"], "both.toml:5: workload.requests " + why)

    def test_captures_in_which_nothing_counts(self):
        self.write("none.pcap", capture(*(udp(b"\xff" * 100) for _ in range(5))))
        for name in ("describe", "run"):
            self.assert_mistake([name, "my.toml", "--set=workload.pcap=none.pcap"], "--set workload.pcap=none.pcap: cannot "
                                "be replayed: none.pcap: has no ONC RPC call over UDP, so nothing in it would be answered")
            self.assert_mistake([name, "my.toml", "--set=workload.warmup=10"],
                                "--set workload.warmup=10: leaves none of the capture's 10 calls to count")
        self.assert_mistake(["run", "e810-poll", "--workload=replay", "--set=workload.pcap=calls.pcap"], "--set "
                            "workload.pcap=calls.pcap: has 10 calls, of which workload.warmup, 1000, leaves none to count")


class Outcomes(CommandTest):
    def test_no_reply_in_time(self):
        result = command.sluice("run", "e810-poll", "--requests=1", "--warmup=0", "--set=workload.timeout=1 us")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^sluice: e810-poll: 1 request was lost: no reply within 1 us "
                         r"\(workload.timeout\), sent once \(workload.retries = 0\)\n"
                         r"cluster.host.hart0: pc 0x[0-9a-f]+ \S+, \d+ instructions, \S+ ns\n"
                         r"uart printed last: .+\n$")
        result = command.sluice("run", "e810-poll", "--requests=3", "--warmup=0", "--set=workload.timeout=1 us",
                                "--set=workload.retries=2")
        self.assertRegex(result.stderr, r"^sluice: e810-poll: 3 requests were lost: no reply within 1 us "
                         r"\(workload.timeout\), sent 3 times \(workload.retries = 2\)\n")

    def test_a_reset_ends_the_run_and_is_no_success(self):
        path = self.write("reset.elf", command.finisher_guest(0x7777))
        result = command.sluice("run", "e810-poll", "--firmware", path, "--json")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^sluice: e810-poll: the firmware asked for a reset, which ends a run; "
                         r"cluster\.host\.hart0 at pc 0x8000000c\n")
        self.assertEqual(json.loads(result.stdout)["outcome"], "failed")

    def test_one_of_something(self):
        text = self.succeed("describe", "e810-poll")
        self.assertRegex(text, r"(?m)^  harts +1 hart +")
        self.assertNotRegex(text, r"(?m)^  \S+ +1 (harts|queues|calls|lines|ports)\b")
        self.assertIn(" 1 call, 0 lost", self.succeed("run", "e810-poll", "--requests=1", "--warmup=0"))


if __name__ == "__main__":
    unittest.main()
