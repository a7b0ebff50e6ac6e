# SPDX-License-Identifier: Apache-2.0
"""Values as people write them, in board files and as options. test_values.py SLUICE BUILD."""

import json
import unittest

from command import CommandTest, sluice

OWN = "extends = ['e810-poll']\n"
TIMES = "must be a time with a unit (fs, ps, ns, us, ms or s)"


class Values(CommandTest):
    def described(self, *settings, board="e810-poll"):
        board = json.loads(self.succeed("describe", board, "--json", *(f"--set={s}" for s in settings), cwd=self.directory))
        return {f"{path}.{key}": p["value"] for path, i in board["instances"].items() for key, p in i["parameters"].items()}

    def assert_value(self, key, text, value):
        """As a setting, in either kind of quotes, and in a file."""
        for written in (text, f'"{text}"', f"'{text}'"):
            with self.subTest(written):
                self.assertEqual(self.described(f"{key}={written}")[key], value)
        table, name = key.rsplit(".", 1)
        self.write("my.toml", f"{OWN}[{table}]\n{name} = '{text}'\n")
        self.assertEqual(self.described(board="my.toml")[key], value)

    def assert_refused(self, setting, sentence):
        self.assert_mistake(["run", "e810-poll", "--set", setting], f"--set {setting}: {sentence}")

    def test_quantities(self):
        self.assert_value("workload.think", "5 us", 5000)
        for text in ("200Gbps", "200 Gbps", "200 Gbit/s", "200Gb/s"):
            self.assert_value("net.wire0.rate", text, 200_000_000_000)
        self.assert_value("caches.llc_size", "33 MiB", 33 << 20)
        self.assert_value("root.read_latency", "0.25us", 250)

    def test_whole_numbers(self):
        for text in ("1000000", "1e6", "1_000_000", "1 M", "1M", "1000 k", "0.001 G"):
            self.assert_value("workload.requests", text, 1_000_000)
        for text in ("2 M/s", "2M/s", "2 M 1/s", "2000000 /s", "2000000 1/s", "2e6/s", "2.0e6"):
            self.assert_value("workload.rate", text, 2_000_000)
        self.assert_value("workload.outstanding", "100 calls", 100)
        self.assert_value("cluster.host.harts", "1 hart", 1)
        for text in ("1e6", "1000000.0", "1.5e6"):
            self.write("my.toml", f"{OWN}[workload]\nrequests = {text}\n")
            self.assertEqual(self.described(board="my.toml")["workload.requests"], float(text))

    def test_lists(self):
        for text in ("1e6,2e6", "[1 M/s, 2 M/s]", "'1 M/s', '2 M/s'", '"1 M/s",2e6', "['1e6', 2000000]", "[1e6, 2_000_000]"):
            with self.subTest(text):
                self.assertEqual(self.described(f"workload.rates={text}")["workload.rates"], [1_000_000, 2_000_000])
        self.assertEqual(self.described("net.wire0.down_at=['1 ms', \"2 ms\"]", "net.wire0.up_at='1.5 ms',2.5ms")
                         ["net.wire0.up_at"], [1_500_000, 2_500_000])

    def test_what_is_shown_can_be_set(self):
        shown = json.loads(self.succeed("describe", "e810-poll", "--json"))["instances"]
        table = self.succeed("describe", "e810-poll")
        forms = set()
        for path, instance in shown.items():
            for key, p in instance["parameters"].items():
                behind = f" {p['unit']}" if p["unit"] and f" {p['text']} {p['unit']} " in table else ""
                if not p["text"] or (behind and p["text"].startswith("[")):
                    continue
                setting = f"{path}.{key}={p['text']}{behind}"
                done = sluice("describe", "e810-poll", "--json", "--set", setting)
                if "has no effect" not in done.stderr:
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertEqual(json.loads(done.stdout)["instances"][path]["parameters"][key]["value"], p["value"])
                    forms.add(p["unit"])
        self.assertLessEqual({"", "ns", "B", "b/s", "Hz", "entries", "calls", "1/s"}, forms)

    def test_mistakes(self):
        whole = "must be a whole number"
        for setting, sentence in (
                ("workload.think='5 us", "has a quote (') without an end"),
                ('workload.think="5 us', 'has a quote (") without an end'),
                ('workload.think=5 us"', 'has a quote (") without a beginning'),
                ("workload.rates=[1 M/s, 2 M/s", "has a bracket ([) without an end"),
                ("workload.rates='1 M/s', '2 M/s", "has a quote (') without an end"),
                ("workload.requests=1.5", whole),
                ("workload.requests='1.5'", whole),
                ("workload.requests=1.5e-1", whole),
                ("workload.requests=1e18", "must be 0 to 1000000000000"),
                ("workload.requests=1e30", f"{whole} of at most 64 bits"),
                ("workload.requests=1 K", f"{whole}; only k, M or G and its unit, calls, may follow it"),
                ("workload.rate=2 M/us", f"{whole}; only k, M or G and its unit, 1/s, may follow it"),
                ("run.seed=1 x", f"{whole}; only k, M or G may follow it"),
                ("net.wire0.rate=200 GBps", "must be a data rate with a unit (b/s, kb/s, Mb/s, Gb/s or Tb/s)"),
                ("caches.llc_size=64k", "must be a size with a unit (B, kB, MB, GB, TB, KiB, MiB, GiB or TiB)"),
                ("cluster.host.firmware='x'",
                 "there is no firmware x; give the path of an RV64 ELF file or the name of a shipped one"),
                ("cluster.host.core.alu.interval=3", "cluster.host.core.alu.interval is not a parameter of the RISC-V "
                 "cluster; valid: core.alu.latency, core.alu.ports"),
                ("cluster.host.core.alu.latncy=3", "cluster.host.core.alu.latncy is not a parameter of the RISC-V "
                 "cluster; did you mean cluster.host.core.alu.latency?")):
            with self.subTest(setting):
                self.assert_refused(setting, sentence)

    def test_options(self):
        run = ["run", "e810-poll"]
        for arguments in (["--until", "'5 us'"], ["--until=5us"], ['--until="5 us"']):
            done = self.succeed(*run, "--requests=1e3", "--warmup='0'", *arguments, "--json")
            self.assertEqual(json.loads(done)["simulated_ns"], json.loads(
                self.succeed(*run, "--requests=1000", "--warmup=0", "--until=5000 ns", "--json"))["simulated_ns"])
        for value in ("0ns", "0 ns", "'0 us'"):
            self.assert_mistake(run + ["--quantum", value], f"--quantum {value}: must be more than 0")
            self.assert_mistake(run + ["--until", value], f"--until {value}: must be more than 0")
        self.assert_mistake(run + ["--quantum", "'5 us"], "--quantum '5 us: has a quote (') without an end")
        self.assert_mistake(run + ["--until", "'5'"], "--until '5': " + TIMES)
        # The parameter's 0 ns is its default.
        self.succeed(*run, "--requests=5", "--warmup=0", "--set=cluster.host.quantum=0 ns",
                     "--set=cluster.host.harts=2")
        both = ["compare", "e810-poll", "e810-irq"]
        self.assert_mistake(both + ["--replications", "1.5"], "--replications 1.5: must be a whole number, 1 to 1000")
        self.assert_mistake(both + ["--replications", "2 k"], "--replications 2 k: must be a whole number, 1 to 1000")
        self.assert_mistake(run + ["--gdb", "1 M"], "--gdb 1 M: must be a whole number, 0 to 65535")

    def test_long_words(self):
        long = "a" * 100_000
        for arguments in (["run", long], ["run", "e810-poll", "--set", long + "=1"], ["run", "e810-poll", "--until", long],
                          ["run", "e810-poll", "--set", "nic.eth0." + long + "=1"], [long], ["run", "--" + long],
                          ["run", "e810-poll", "--set", "nic.eth0.queues=" + long],
                          ["run", "e810-poll", "--set", "nic.eth0.queues=" + "a " * 50_000],
                          ["run", "e810-poll", "--set", "cluster.host.firmware=" + long],
                          ["run", "e810-poll", "--replay", long], ["run", "e810-poll", "--tap", long]):
            with self.subTest(arguments[-1][:40]):
                self.assert_short(arguments)
        for text in (f"{long} = 1\n", f"[nic.eth0]\n{long} = 1\n", f"[nic.{long}]\nx = 1\n", f"extends = ['{long}']\n",
                     f"[nic.eth0]\nqueues = '{long}'\n", f"[nic.eth0]\nqueues = {long}\n", f"plugins = ['{long}']\n"):
            with self.subTest(text[:20]):
                self.write("my.toml", text if text.startswith("extends") else OWN + text)
                self.assert_short(["run", "my.toml"])

    def assert_short(self, arguments):
        done = sluice(*arguments, cwd=self.directory)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr[:300])
        self.assertLess(len(done.stderr), 2_500)

    def test_sizes_of_caches(self):
        for settings, sentence in (
                (["llc_size=33.5 MiB"], "must be a multiple of 704 B, which is llc_ways x line; nearest: 35126784 B and "
                 "35127488 B"),
                (["l2_ways=12"], "caches.l2_size must be a multiple of 768 B, which is l2_ways x line; nearest: 1048320 B "
                 "and 1049088 B"),
                (["l2_ways=12", "l2_size=64 KiB"], "must be a multiple of 768 B, which is l2_ways x line; nearest: 66048 B"),
                (["llc_size=1 GiB"], "must be a multiple of 704 B, which is llc_ways x line; nearest: 1073741504 B"),
                (["l1d_ways=0"], "must be 1 to 64")):
            with self.subTest(settings):
                self.assert_mistake(["describe", "e810-poll", *(f"--set=caches.{s}" for s in settings)],
                                    f"--set caches.{settings[-1]}: {sentence}")
        self.write("my.toml", OWN + "[caches]\nl1d_size = '10300 B'\n")
        self.assert_mistake(["run", "my.toml"], "my.toml:3: caches.l1d_size must be a multiple of 512 B, which is "
                            "l1d_ways x line; nearest: 10 KiB and 10752 B")


if __name__ == "__main__":
    unittest.main()
