# SPDX-License-Identifier: Apache-2.0
"""NICs that a plug-in brings. Called as NAME.py SLUICE BUILD-DIRECTORY."""

import json
import os
import unittest
import unittest.mock

from command import guest, sluice
from plugin_project import PluginTest

ALONE = """extends = ["hosts/i9-9960x"]
plugins = ["{}"]
[cluster.host]
firmware = "rpc-server"
[pcie.slot0]
[net.wire0]
[nic.deaf]
model = "deaf"
"""
# Beside the shipped NIC, whose wire the workload is on because its name comes first.
BESIDE = """extends = ["e810-poll"]
plugins = ["{}"]
[root]
root_ports = 2
[pcie.slot1]
port = 1
[net.wire1]
[nic.second]
model = "deaf"
slot = "pcie.slot1"
wire = "net.wire1"
ipv4 = "10.0.1.2"
"""


class NicPlugins(PluginTest):
    NAME = "deaf_nic"

    def run_board(self, *options, status=0):
        result = sluice("run", "my.toml", "--json", *options, cwd=self.directory)
        self.assertEqual(result.returncode, status, result.stderr)
        return json.loads(result.stdout)

    def test_a_board_has_the_nics_of_its_plugins(self):
        self.board(ALONE)
        described = json.loads(self.succeed("describe", "my.toml", "--json", cwd=self.directory))
        self.assertEqual(described["pcie"][0]["device"], "nic.deaf")
        parameters = described["instances"]["nic.deaf"]["parameters"]
        self.assertEqual({k: parameters[k]["text"] for k in ("slot", "wire", "ipv4", "address", "mac.rx_latency")},
                         {"slot": "pcie.slot0", "wire": "net.wire0", "ipv4": "10.0.0.2",
                          "address": "02:00:00:00:00:09", "mac.rx_latency": "40 ns"})
        # The workload sends an ARP request for its server every 10 us from the start on, and gets no answer.
        result = self.run_board("--until", "95 us")
        self.assertEqual(result["counters"]["nic.deaf"], {"heard": 10})
        self.assertEqual(result["counters"]["nic.deaf.mac"]["rx_frames"], 10)

    def test_it_works_beside_another_kind(self):
        alone = json.loads(self.succeed("run", "e810-poll", "--requests=100", "--json"))
        self.board(BESIDE)
        result = self.run_board("--requests=100")
        self.assertEqual(result["requests"], alone["requests"])
        self.assertEqual(result["counters"]["nic.second"], {"heard": 0})

    def test_faults_reach_it(self):
        self.write("count.elf", guest(0x0015_0513, 0xFFDF_F06F))  # addi a0, a0, 1; j . - 4
        self.board(ALONE, "[fault.x]", "kind = 'kill'", "target = 'nic.deaf'", "at = '45 us'")
        result = self.run_board("--until", "95 us", "--firmware", "count.elf")
        self.assertEqual(result["counters"]["nic.deaf"], {"heard": 5})
        self.assertEqual(result["counters"]["nic.deaf.mac"]["rx_frames"], 5)

    def test_its_place_is_checked(self):
        self.board(BESIDE.replace('wire = "net.wire1"', 'wire = "net.wire0"'))
        self.assert_mistake(["run", "my.toml"], "my.toml:11: nic.second.wire must be a link of its own; nic.eth0 is at it "
                            "too")
        self.board(BESIDE.replace('slot = "pcie.slot1"', ""))
        self.assert_mistake(["run", "my.toml"], "my.toml:8: nic.second.slot must be a slot of its own; nic.eth0 is in it")
        for key, value in (("ipv4", "10.0.0.2"), ("address", "02:53:4c:00:00:01")):
            self.board(BESIDE.replace('ipv4 = "10.0.1.2"\n', 'ipv4 = "10.0.1.2"\n' if key == "address" else ""),
                       f'{key} = "{value}"')
            line = 13 if key == "address" else 12
            self.assert_mistake(["run", "my.toml"], f"my.toml:{line}: nic.second.{key} must be an address of its own; "
                                "nic.eth0 has it too")
        self.assert_mistake(["run", "my.toml", "--set", "nic.second.address=02:00:00:00:00:05", "--set",
                             "nic.eth0.ipv4=10.0.1.2"], "--set nic.eth0.ipv4=10.0.1.2: must be an address of its own; "
                            "nic.second has it too")
        self.board(ALONE, 'ipv4 = "10.0.0.1"')
        self.assert_mistake(["run", "my.toml"], "my.toml:9: nic.deaf.ipv4 must not be workload.host.address too")
        self.board(ALONE, 'address = "02:00:00:00:00:01"')
        self.assert_mistake(["run", "my.toml"], "my.toml:9: nic.deaf.address must not be workload.host.mac too")
        self.board(ALONE, 'address = "abc"')
        self.assert_mistake(["run", "my.toml"], "my.toml:9: nic.deaf.address must be a MAC address...")
        self.board(ALONE, 'ipv4 = "none"')
        self.assert_mistake(["run", "my.toml"], "my.toml:9: nic.deaf.ipv4 must be an IPv4 address...")

    def test_what_its_author_has_wrong_is_told(self):
        self.board(ALONE)
        with unittest.mock.patch.dict(os.environ, {"PLUGIN_NO_CLIENT": "1"}):
            result = self.run_board("--until", "95 us", status=1)
        self.assertEqual(result["failure"], "nic.deaf threw an exception at 0 ns: its MAC has no client: set_client() "
                         "has not been called")
        with unittest.mock.patch.dict(os.environ, {"PLUGIN_THROWS_AT_FRAME": "1"}):
            result = self.run_board("--until", "95 us", status=1)
        self.assertRegex(result["failure"], r"^nic\.deaf threw an exception at \S+ ns: it cannot hear$")
        with unittest.mock.patch.dict(os.environ, {"PLUGIN_THROWS_LATE": "1"}):
            self.assert_mistake(["run", "my.toml"], "my.toml: nic.deaf cannot be built: it is broken")


if __name__ == "__main__":
    unittest.main()
