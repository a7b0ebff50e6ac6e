# SPDX-License-Identifier: Apache-2.0
"""Two kinds of NIC on one board, one of them a plug-in's with a driver of its own, serve calls in one run. Called as
NAME.py SLUICE BUILD-DIRECTORY."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

from command import BUILD, SOURCE, CommandTest, sluice

PROJECT = """cmake_minimum_required(VERSION 3.20)
project(kinds CXX)
find_package(Sluice REQUIRED)
sluice_add_device(mailbox mailbox_nic.cpp)
sluice_add_rpc_server(two-kinds echo DRIVERS mailbox_driver.c)
"""
# By name, nic.box comes first: the workload is at its wire.
BOARD = """extends = ["e810-poll"]
plugins = ["{0}/build/libmailbox.so"]
[cluster.host]
firmware = "{0}/build/two-kinds.elf"
[root]
root_ports = 2
[pcie.slot1]
port = 1
[net.wire1]
[nic.box]
model = "mailbox"
slot = "pcie.slot1"
wire = "net.wire1"
ipv4 = "10.0.1.2"
[workload]
requests = 40
warmup = 2
outstanding = 1
[peer.clients]
model = "traffic"
wire = "net.wire0"
outstanding = 4
requests = 300
call = {{ program = "echo", bytes = 64 }}
"""


class NicKinds(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        for name in ("mailbox_regs.h", "mailbox_nic.cpp", "mailbox_driver.c"):
            shutil.copy(os.path.join(SOURCE, "tests/cli/plugins", name), cls.folder)
        with open(os.path.join(cls.folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write(PROJECT)
        for command in (["cmake", "-B", "build", "-G", "Ninja", "-DSluice_DIR=" + BUILD], ["cmake", "--build", "build"]):
            subprocess.run(command, cwd=cls.folder, check=True, stdout=subprocess.DEVNULL)

    def board(self, *lines):
        return self.write("my.toml", BOARD.format(self.folder) + "".join(line + "\n" for line in lines))

    def run_board(self, *options, status=0):
        result = sluice("run", "my.toml", "--json", *options, cwd=self.directory)
        if status is not None:
            self.assertEqual(result.returncode, status, result.stderr)
        return json.loads(result.stdout)

    def test_both_serve_calls_in_one_run(self):
        self.board()
        result = self.run_board()
        completed = {path: (c["wire"], c["requests"]["completed"]) for path, c in result["clients"].items()}
        self.assertEqual(completed, {"workload": ("net.wire1", 40), "peer.clients": ("net.wire0", 300)})
        self.assertEqual(result["requests"]["completed"], 340)
        # Calls, and ARP requests that were waiting.
        box = result["counters"]["nic.box"]
        self.assertGreaterEqual(box["taken"], 42)
        self.assertEqual(box["taken"], box["sent"])
        self.assertGreaterEqual(result["counters"]["nic.eth0.mac"]["rx_frames"], 300)
        done = sluice("run", "my.toml", "--console", cwd=self.directory)
        report = done.stdout
        self.assertIn("nic.box 02:00:00:00:00:0b, 1 queues, polling; serving on 10.0.1.2\n", done.stderr)
        self.assertIn("nic.eth0 02:53:4c:00:00:01, 1 queues, polling; serving on 10.0.0.2\n", done.stderr)
        self.assertRegex(report, r"(?m)^  workload +net.wire1 +40 +0 ")
        self.assertRegex(report, r"(?m)^  peer.clients +net.wire0 +300 +0 ")

    def test_each_has_its_node(self):
        self.board()
        tree = self.succeed("describe", "my.toml", "--device-tree", cwd=self.directory)
        nodes = [part.split("};")[0] for part in tree.split("ethernet@0,0 {")[1:]]
        self.assertEqual(len(nodes), 2)
        self.assertIn('sluice,path = "nic.eth0";', nodes[0])
        self.assertIn('sluice,driver = "poll";', nodes[0])
        self.assertIn('sluice,path = "nic.box";', nodes[1])
        self.assertIn("sluice,ipv4 = <0xa000102>;", nodes[1])
        self.assertIn("local-mac-address = [02 00 00 00 00 0b];", nodes[1])

    def test_a_fault_reaches_either(self):
        self.board("[fault.x]", "kind = 'kill'", "target = 'nic.eth0'", "at = '700 us'")
        clients = self.run_board("--until", "5 ms", status=None)["clients"]
        self.assertEqual(clients["workload"]["requests"]["completed"], 40)
        self.assertLess(clients["peer.clients"]["requests"]["completed"], 300)
        self.board("[fault.x]", "kind = 'pause'", "target = 'nic.box'", "at = '700 us'", "duration = '40 us'")
        clients = self.run_board()["clients"]
        self.assertGreater(clients["workload"]["latency_ns"]["max"], 40_000)

    def test_a_shipped_image_leaves_the_one_alone_that_it_does_not_know(self):
        self.board()
        options = ("--set", "cluster.host.firmware=rpc-server", "--until", "1 ms")
        console = sluice("run", "my.toml", "--console", *options, cwd=self.directory).stderr
        self.assertIn("nic.box (534c:0998) is left alone: no driver knows it\n", console)
        self.assertIn("nic.eth0 02:53:4c:00:00:01, 1 queues, polling; serving on 10.0.0.2\n", console)


if __name__ == "__main__":
    unittest.main()
