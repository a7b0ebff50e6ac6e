# SPDX-License-Identifier: Apache-2.0
"""Who talks to the firmware at its UART: scripts, and whatever is on standard input. test_console.py SLUICE BUILD."""

import json
import os
import pty
import re
import signal
import subprocess
import time
import unittest

from command import SLUICE, CommandTest, guest, sluice

# Sends ">", then sends back each byte that it receives, and passes at a "q".
ECHO = guest(0x1000_02B7, 0x0010_0337,  # lui t0, uart; lui t1, finisher
             0x03E0_0E13, 0x01C2_8023,  # li t3, '>'; sb t3, 0(t0)
             0x0052_C383, 0x0013_F393, 0xFE03_8CE3,  # lbu t2, 5(t0); andi t2, t2, 1; beqz t2, back
             0x0002_CE03, 0x01C2_8023,  # lbu t3, 0(t0); sb t3, 0(t0)
             0x0710_0E93, 0xFFDE_14E3,  # li t4, 'q'; bne t3, t4, back
             0x0000_5F37, 0x555F_0F13, 0x01E3_2023)  # t5 = pass; sw t5, 0(t1)


class Console(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("echo.elf", ECHO)
        # Without a wire there is no workload that would end the run.
        self.write("bare.toml", "extends = ['hosts/i9-9960x']\n[cluster.host]\nfirmware = 'echo.elf'\n"
                   "[caches]\ntiming = 'functional'\n")

    def run_script(self, text, *options):
        self.write("talk.txt", text)
        return sluice("run", "bare.toml", "--until=5 ms", "--expect", "talk.txt", "--json", *options, cwd=self.directory)

    def start(self, *arguments, **options):
        return subprocess.Popen([SLUICE, "run", "bare.toml", "--console", *arguments], stdout=subprocess.PIPE,
                                cwd=self.directory, **options)

    def result(self, out):
        with open(os.path.join(self.directory, out, "result.json"), encoding="utf-8") as file:
            result = json.load(file)
        del result["host"]
        return result


class Scripts(Console):
    def test_a_script_talks_to_the_firmware(self):
        result = self.run_script('# a talk\ntimeout 1 ms\nexpect ">"\nsend "a\\"b"\n\nexpect "a\\x22b"\n  send "q"\n')
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        written = json.loads(result.stdout)
        self.assertEqual((written["outcome"], written["counters"]["uart"]["characters_received"]), ("finished", 4))

    def test_a_path_may_have_bytes_that_are_no_text(self):
        name = b"talk-\x8b.txt"
        with open(os.path.join(os.fsencode(self.directory), name), "wb") as file:
            file.write(b'expect ">"\nsend "q"\n')
        result = sluice("run", "bare.toml", b"--expect=" + name, "--json", cwd=self.directory)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        json.loads(result.stdout)

    def test_a_board_names_its_script(self):
        self.write("talk.txt", 'expect ">"\nsend "q"\n')
        self.write("own.toml", "extends = ['bare']\n[uart]\nexpect = 'talk.txt'\n")
        self.succeed("run", os.path.join(self.directory, "own.toml"), cwd=self.directory)
        self.assert_mistake(["run", "own.toml", "--set", "uart.expect=none.txt"],
                            "--set uart.expect=none.txt: cannot be used: none.txt: no such file")

    def test_what_a_script_does_not_hear_fails_the_run(self):
        result = self.run_script('expect ">"\ntimeout 100 us\nsend "x"\nexpect "y"\n')
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr.splitlines()[0], 'sluice: bare: uart: step 2 of 2: "y" did not come within 100 us; '
                         'heard "x"')
        self.assertEqual(json.loads(result.stdout)["outcome"], "failed")
        result = self.run_script('expect ">"\nexpect "y"\n')
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "sluice: bare: the run ended before the script at the UART: it waits for step 2 of "
                         '2, "y"\n')

    def test_scripts_that_are_none(self):
        for text, sentence in (("", "talk.txt: has no step"), ("hello\n", "talk.txt:1: must begin with expect, send, timeout "
                                                               "or #"),
                               ('\nsend "a', "talk.txt:2: send needs one text in double quotes; ..."),
                               ('send "\\q"', "talk.txt:1: send needs one text in double quotes; ..."),
                               ('send "\\x4"', "talk.txt:1: send needs one text in double quotes; ..."),
                               ('send "a" "b"', "talk.txt:1: send needs one text in double quotes; ..."),
                               ("expect", "talk.txt:1: expect needs one text in double quotes; ..."),
                               ('expect ""', "talk.txt:1: expect needs a text that is not empty"),
                               ("timeout 5", "talk.txt:1: must be a time with a unit...")):
            self.write("talk.txt", text)
            self.assert_mistake(["run", "bare.toml", "--expect", "talk.txt"],
                                "--expect talk.txt: cannot be used: " + sentence)
        self.assert_mistake(["run", "bare.toml", "--expect", "."], "--expect .: cannot be used: .: is a directory, not a file")


class Typing(Console):
    def test_a_pipe_is_typed_to_the_firmware_and_can_be_replayed(self):
        with self.start("--out", "first", stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            for text in (b"hello", b" wor", b"ldq"):
                process.stdin.write(text)
                process.stdin.flush()
                time.sleep(0.05)
            _, said = process.communicate(timeout=60)
        self.assertEqual((process.returncode, said), (0, b">hello worldq"))
        with open(os.path.join(self.directory, "first/input.log"), encoding="ascii") as file:
            log = file.read()
        self.assertIn("\nchannel console\n", log)
        self.assertNotIn("channel tap", log)
        self.assertEqual(bytes.fromhex("".join(line.split()[3] for line in log.splitlines() if line.startswith("input "))),
                         b"hello worldq")
        repeated = sluice("run", "bare.toml", "--console", "--replay", "first/input.log", "--out", "second",
                          cwd=self.directory)
        self.assertEqual((repeated.returncode, repeated.stderr), (0, ">hello worldq"))
        self.assertEqual(self.result("first"), self.result("second"))

    def test_a_terminal_is_a_console(self):
        ours, theirs = pty.openpty()
        with self.start("--out", "out", stdin=theirs, stderr=theirs) as process:
            os.close(theirs)
            heard = b""
            os.write(ours, b"yes\n")
            while b"yes\r\nyes\r\n" not in heard.replace(b">", b""):  # the terminal's own echo, and the firmware's
                heard += os.read(ours, 100)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        os.close(ours)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.result("out")["outcome"], "interrupted")

    def test_the_end_of_standard_input_ends_nothing(self):
        with self.start("--until", "1 ms", stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            _, said = process.communicate(b"abc", timeout=60)
        self.assertEqual((process.returncode, said), (0, b">abc"))
        result = sluice("run", "bare.toml", "--console", "--until", "1 ms", cwd=self.directory)  # /dev/null
        self.assertEqual((result.returncode, result.stderr), (0, ">"))

    def test_a_workload_runs_beside_a_console(self):
        arguments = [SLUICE, "run", "e810-poll", "--console", "--requests=200", "--out"]
        with subprocess.Popen([*arguments, "live"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              cwd=self.directory) as process:
            process.communicate(b"to nobody\n", timeout=60)
        self.assertEqual(process.returncode, 0)
        sluice(*arguments[1:3], "--requests=200", "--replay=live/input.log", "--out=again", cwd=self.directory)
        self.assertEqual(self.result("live"), self.result("again"))
        self.assertEqual(self.result("live")["requests"]["completed"], 200)
        quiet = json.loads(self.succeed("run", "e810-poll", "--requests=200", "--json"))
        self.assertEqual(self.result("live")["latency_ns"], quiet["latency_ns"])

    def test_a_replay_knows_files_by_what_is_in_them(self):
        script, tree = ("--expect", "talk.txt"), ("--set", "cluster.host.device_tree=my.dtb")
        describe = ("describe", "bare.toml", "--device-tree", "--out", "my.dtb")
        self.write("talk.txt", 'timeout 100 ms\nexpect ">"\n')
        self.succeed(*describe, cwd=self.directory)
        with self.start("--out", "first", *script, *tree, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.communicate(b"abcq", timeout=60)
        replay = ["run", "bare.toml", "--replay", "first/input.log"]
        self.write("moved.txt", 'timeout 100 ms\nexpect ">"\n')
        said = sluice(*replay, "--expect", "moved.txt", *tree, cwd=self.directory)
        self.assertEqual((said.returncode, said.stderr), (0, ""))
        self.write("talk.txt", 'timeout 101 ms\nexpect ">"\n')
        self.succeed(*describe, "--set", "cluster.host.bootargs=quiet", cwd=self.directory)
        self.assertRegex(sluice(*replay, *script, *tree, cwd=self.directory).stderr,
                         "of it: cluster.host.device_tree was [0-9a-f]{64} and is [0-9a-f]{64}; uart.expect was "
                         "[0-9a-f]{64} and is [0-9a-f]{64}\n$")

    def test_a_replay_of_another_run_says_so(self):
        with self.start("--out", "first", stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.communicate(b"abcq", timeout=60)
        replay = ["run", "bare.toml", "--replay", "first/input.log"]
        self.assertEqual(sluice(*replay, cwd=self.directory).stderr, "")
        other = sluice(*replay, "--seed", "7", "--set", "uart.clock=1 MHz", cwd=self.directory)
        self.assertEqual(other.stderr, "sluice: --replay first/input.log: this run is not the one of the log, so what "
                         "follows is no repetition of it: uart.clock was 0 Hz and is 1 MHz; run.seed was 1 and is 7\n")
        # A log by another version of Sluice.
        log = os.path.join(self.directory, "first/input.log")
        with open(log, encoding="utf-8") as file:
            text = file.read()
        self.assertRegex(text, r"\nwith sluice [0-9.]+-[0-9a-f]{12}\n")
        self.write("old.log", re.sub("with sluice .*", "with sluice 0.0.9", text))
        old = sluice("run", "bare.toml", "--replay", "old.log", cwd=self.directory)
        self.assertRegex(old.stderr, r"no repetition of it: sluice was 0\.0\.9 and is [0-9.]+-[0-9a-f]{12}\n$")
        cut = sluice(*replay, "--until", "1 ns", cwd=self.directory)
        self.assertRegex(cut.stderr, r"^sluice: --replay first/input.log: this run ends at 1 ns \(--until\), before that of "
                         r"the log, which went on to [0-9.]+ .?s\n$")
        self.write("echo.elf", ECHO + b"\0")
        self.assertRegex(sluice(*replay, cwd=self.directory).stderr,
                         "of it: cluster.host.firmware was [0-9a-f]{64} and is [0-9a-f]{64}\n$")


if __name__ == "__main__":
    unittest.main()
