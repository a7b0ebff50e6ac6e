# SPDX-License-Identifier: Apache-2.0
"""The DMA workload: what a user types, what comes out, and what a user gets wrong."""

import json
import unittest

from command import SPIN, CommandTest, guest, sluice

SMALL = ("--set", "run.spread=none", "--sizes", "8,64,512", "--set", "workload.transactions=100", "--set", "workload.warmup=10")
WARM = ("--set", "workload.cache=warm")


class Dma(CommandTest):
    def rows(self, *arguments):
        return json.loads(self.succeed("run", "haswell-nfp", "--json", *arguments))["dma"]

    def test_sizes_times_states_of_the_cache_are_measured(self):
        rows = self.rows("--workload", "dma", *SMALL)
        self.assertEqual([(r["bytes"], r["cache"]) for r in rows],
                         [(n, c) for n in (8, 64, 512) for c in ("warm", "cold")])
        for r in rows:
            self.assertEqual(r["failed"], 0)
            self.assertLess(r["write_p50_ns"], r["read_p50_ns"])
            # The write brings the line that the read then finds.
            warm = next(w for w in rows if w["bytes"] == r["bytes"])
            self.assertLessEqual(warm["read_p50_ns"], r["wrrd_p50_ns"])
            self.assertAlmostEqual(r["read_gbps"], r["read_per_s"] * r["bytes"] * 8 / 1e9, places=3)
        for n in (8, 64, 512):
            warm, cold = (r for r in rows if r["bytes"] == n)
            lines_behind_the_first = max(n // 64 - 1, 0)
            self.assertAlmostEqual(cold["read_min_ns"] - warm["read_min_ns"], 65 + lines_behind_the_first * 64 * 8 / 546,
                                   places=3)

    def test_two_runs_give_the_same_file_but_for_the_host(self):
        files = [json.loads(self.succeed("run", "haswell-nfp", "--json", *SMALL)) for _ in range(2)]
        for f in files:
            del f["host"]
        self.assertEqual(*files)
        other = json.loads(self.succeed("run", "haswell-nfp", "--json", "--seed", "2", *SMALL))
        self.assertEqual(other["dma"][0]["bytes"], 8)

    def test_tracing_changes_nothing(self):
        plain = json.loads(self.succeed("run", "haswell-nfp", "--json", *SMALL))
        traced = json.loads(self.succeed("run", "haswell-nfp", "--json", *SMALL, "--trace", "perfetto", "--out",
                                         self.directory + "/traced"))
        del plain["host"], traced["host"]
        self.assertEqual(plain, traced)

    def test_the_table_names_what_holds_back(self):
        text = self.succeed("run", "haswell-nfp", *SMALL, *WARM)
        self.assertIn("IOMMU off, random slots of a 64 KiB window, by the DMA engine", text)
        self.assertRegex(text, r"\n +64  warm .* engine .* engine")
        self.assertRegex(text, r"\n +512  warm .* down .* up")

    def test_an_unaligned_transaction_costs_more(self):
        aligned, = self.rows("--sizes", "512", *WARM)
        for offset in (4, 2000):
            shifted, = self.rows("--sizes", "512", *WARM, "--set", f"workload.offset={offset}B")
            self.assertEqual((aligned["offset_bytes"], shifted["offset_bytes"]), (0, offset))
            self.assertEqual(shifted["failed"], 0)
            self.assertGreater(shifted["read_mean_ns"], aligned["read_mean_ns"])
            self.assertLess(shifted["read_gbps"], aligned["read_gbps"])
        text = self.succeed("run", "haswell-nfp", "--sizes", "64", *WARM, "--set", "workload.offset=4B")
        self.assertIn("IOMMU off, random slots of a 64 KiB window, at offset 4 B, by the DMA engine", text)

    def test_an_iommu_costs_hits_little_and_misses_a_walk(self):
        plain, = self.rows("--sizes", "64", *WARM)
        hit, = self.rows("--sizes", "64", *WARM, "--set", "iommu.enabled=true")
        miss, = self.rows("--sizes", "64", *WARM, "--set", "iommu.enabled=true", "--set", "workload.window=4MiB")
        large, = self.rows("--sizes", "64", *WARM, "--set", "iommu.enabled=true", "--set", "workload.window=4MiB",
                           "--set", "iommu.page=2MiB")
        self.assertAlmostEqual(hit["read_min_ns"] - plain["read_min_ns"], 5, places=3)
        self.assertGreater(miss["read_p50_ns"], hit["read_p50_ns"] + 30)
        self.assertAlmostEqual(large["read_p50_ns"], hit["read_p50_ns"], delta=3)

    def test_what_is_under_way_bounds_the_rate(self):
        row, = self.rows("--sizes", "64", *WARM, "--set", "workload.outstanding=4", "--set", "accel.nfp.read_rate=0")
        self.assertEqual(row["read_bottleneck"], "latency")
        self.assertAlmostEqual(row["read_per_s"] * row["read_mean_ns"] * 1e-9, 4, delta=0.05)  # Little's law

    def test_mistakes_are_one_sentence(self):
        def mistake(sentence, *arguments):
            self.assert_mistake(["run", "haswell-nfp", *arguments], sentence)
        mistake("--sizes 8..x: must be sizes in bytes such as 8..2048 (doubling), 64..1024:64 (in steps) or 8,64,2048",
                "--sizes", "8..x")
        mistake("--sizes 64..8: must not descend: 64 is more than 8", "--sizes", "64..8")
        mistake("--sizes 8,100000: must be sizes of 1 to 65536 bytes, not 100000", "--sizes", "8,100000")
        mistake("--sizes 8..32768: must fit workload.window, which is 16 KiB", "--sizes", "8..32768", "--set",
                "workload.window=16KiB")
        mistake("--sizes 16384: must fit workload.window, which is 16 KiB, behind workload.offset, which is 1 B",
                "--sizes", "16384", "--set", "workload.window=16KiB", "--set", "workload.offset=1B")
        mistake("--set workload.offset=4096B: must be 0 B to 4095 B", "--set", "workload.offset=4096B")
        mistake("--workload dm: must be one of closed-loop...", "--workload", "dm")
        mistake("--workload closed-loop: the board has no Ethernet link to put it on", "--workload", "closed-loop")
        mistake("--set iommu.page=8KiB: must be 4 KiB, 2 MiB or 1 GiB", "--set", "iommu.page=8KiB")
        mistake("--set iommu.ways=3: must divide entries", "--set", "iommu.ways=3")
        self.assert_mistake(["run", "e810-poll", "--workload", "dma"],
                            "--workload dma: workload.model is dma, and the board has no DMA requester (kind accel)")
        self.assert_mistake(["run", "e810-poll", "--sizes", "8"],
                            "--sizes 8: belongs to a size sweep of calls, --workload size-sweep")

    def test_a_firmware_that_hangs_is_a_stall(self):
        spin = self.write("spin.elf", guest(SPIN))
        result = sluice("run", "haswell-nfp", "--firmware", spin, "--sizes", "8", "--set", "run.stall_limit=100us")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no request has ended for 100 us of simulated time", result.stderr)

    def test_a_board_whose_firmware_measures_nothing_fails(self):
        result = sluice("run", "haswell-nfp", "--firmware", "hello", "--sizes", "8")
        self.assertEqual(result.returncode, 1)
        self.assertIn("the firmware measured 0 of 2 sizes and cache states", result.stderr)

    def test_a_failure_of_the_measurement_is_told_in_words(self):
        def failure(fault):
            board = self.write("faulty.toml", f"extends = ['haswell-nfp']\n[fault.f]\ntarget = 'pcie.slot0'\n{fault}\n")
            result = sluice("run", board, "--sizes", "64", *WARM, "--set", "workload.transactions=200")
            self.assertEqual(result.returncode, 1)
            return result.stderr.splitlines()[0]

        self.assertIn("failed with code 19: 200 of 200 reads of 64 B by accel.nfp failed; cluster.host.hart0 at pc 0x",
                      failure("kind = 'poisoned-completion'\ndirection = 'down'\nevery = 1"))
        self.assertIn("failed with code 18: it read an error in the status of the DMA requester, which has refused "
                      "nothing: a read that gets no answer returns all ones; cluster.host.hart0 at pc 0x",
                      failure("kind = 'completion-timeout'\ndirection = 'up'\nat = '150 us'"))
        self.assertIn("failed with code 16: it found no DMA requester; cluster.host.hart0 at pc 0x",
                      failure("kind = 'completion-timeout'\ndirection = 'up'\nat = '30 us'"))


if __name__ == "__main__":
    unittest.main()
