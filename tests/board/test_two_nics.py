# SPDX-License-Identifier: Apache-2.0
"""Two NICs on one board, both served: test_two_nics.py SLUICE."""

import os
import re
import subprocess
import unittest

import board_runs
from board_runs import BoardTest, result

TWO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "boards", "two_nics.toml")
SAME_HART = ("--set", "cluster.host.harts=1")
WIRED = ("--set", "cluster.host.interrupts=plic")


def setting(nic, key, value):
    return ("--set", f"nic.{nic}.{key}={value}")


class TwoNics(BoardTest):
    def assert_all_served(self, *options):
        r = result(TWO, *options)
        calls = {path: c["requests"]["completed"] for path, c in r["clients"].items()}
        self.assertEqual(calls, {"workload": 400, "peer.clients": 300}, options)
        self.assertEqual(r["requests"]["completed"], 700)
        return r

    def test_each_serves_its_wire(self):
        r = self.assert_all_served()
        self.assertGreaterEqual(r["counters"]["nic.back.mac"]["rx_frames"], 400)
        self.assertGreaterEqual(r["counters"]["nic.eth0.mac"]["rx_frames"], 300)
        self.assertEqual(r["clients"]["workload"]["wire"], "net.wire1")
        self.assertEqual(r["clients"]["peer.clients"]["wire"], "net.wire0")

    def test_drivers_queues_and_interrupts_in_every_mixture(self):
        for first in ("poll", "interrupt"):
            for second in ("poll", "interrupt"):
                drivers = setting("eth0", "driver", first) + setting("back", "driver", second)
                for more in ((), SAME_HART, WIRED, WIRED + SAME_HART, setting("eth0", "queues", 2)):
                    with self.subTest(eth0=first, back=second, more=more):
                        self.assert_all_served(*drivers, *more)

    def test_a_hart_with_interrupts_only_sleeps(self):
        r = self.assert_all_served(*SAME_HART, *setting("eth0", "driver", "interrupt"), "--set", "workload.think=20us",
                                   "--set", "peer.clients.think=30us")
        self.assertGreater(r["counters"]["nic.back.pcie"]["msix_sent"], 50)
        self.assertGreater(r["counters"]["nic.eth0.pcie"]["msix_sent"], 50)
        self.assertGreater(r["cores"][0]["time"]["idle"], 0.5)

    def test_clients_that_send_nothing_do_not_count(self):
        r = result(TWO, "--set", "peer.clients.requests=0")
        self.assertEqual(r["throughput_per_s"], r["clients"]["workload"]["throughput_per_s"])

    def test_with_an_iommu(self):
        self.assert_all_served("--set", "iommu.enabled=true")

    def test_the_order_in_the_file_does_not_matter(self):
        with open(TWO, encoding="utf-8") as file:
            tables = re.split(r"(?m)^(?=# By name|\[)", file.read())
        path = os.path.join(self.directory(), "two_nics.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(tables[0] + "".join(reversed(tables[1:])))
        first, second = result(TWO), result(path)
        for r in (first, second):
            del r["host"], r["board"]
        self.assertEqual(first, second)

    def test_a_fault_reaches_the_second_one(self):
        for nic, hit in (("eth0", "peer.clients"), ("back", "workload")):
            with self.subTest(nic):
                path = os.path.join(self.directory(), "kill.toml")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(f'extends = ["{TWO}"]\n[fault.x]\nkind = "kill"\ntarget = "nic.{nic}"\nat = "480 us"\n')
                clients = result(path, "--until", "3 ms", status=None)["clients"]
                for name, calls in (("workload", 400), ("peer.clients", 300)):
                    done = clients[name]["requests"]["completed"]
                    (self.assertLess if name == hit else self.assertEqual)(done, calls)

    def test_a_debugger_sees_both(self):
        command = [board_runs.SLUICE, "run", TWO, "--gdb=0"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            self.addCleanup(process.kill)
            port = re.search(r"localhost:(\d+)", process.stderr.readline())[1]
            asked = [f"target remote localhost:{port}", "monitor reg nic.eth0", "monitor reg nic.back", "kill"]
            done = subprocess.run(["gdb-multiarch", "-batch", *(f"-ex={c}" for c in asked)], capture_output=True,
                                  text=True, timeout=60, check=False)
            process.communicate(timeout=60)
        addresses = re.findall(r"(?m)^0x0018  mac_high +(\S+)", done.stdout + done.stderr)
        self.assertEqual(addresses, ["0x00000100", "0x00000200"])


if __name__ == "__main__":
    unittest.main()
