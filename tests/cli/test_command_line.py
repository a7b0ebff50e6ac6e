"""What a user types, and what a user gets wrong: test_command_line.py PATH-OF-SLUICE_SAMPLE.

The binary has sample models (sample_models.cpp) and the boards in tests/cli/boards.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

# A copy outside the build tree: it finds no boards but those that SLUICE_BOARDS names.
OUTSIDE = tempfile.TemporaryDirectory()
SLUICE = shutil.copy(sys.argv.pop(1), OUTSIDE.name)
BOARDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "boards")


def sluice(*arguments, stdout=subprocess.PIPE, cwd=None, boards=BOARDS):
    environment = dict(os.environ, SLUICE_BOARDS=boards)
    return subprocess.run([SLUICE, *arguments], stdout=stdout, stderr=subprocess.PIPE, text=True, cwd=cwd,
                          env=environment, timeout=60, check=False)


class CommandLine(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def write(self, name, text):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def assert_mistake(self, arguments, sentence, **options):
        """One sentence on standard error, nothing on standard output, exit status 2."""
        result = sluice(*arguments, **options)
        self.assertEqual(result.stderr, "sluice: " + sentence + "\n")
        self.assertFalse(result.stdout)
        self.assertEqual(result.returncode, 2)

    def test_boards_lists_boards_and_workloads_but_no_parts(self):
        result = sluice("boards")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout, "boards\n  small  one NIC in one slot\n\nworkloads\n"
                                        "  closed-loop  N calls outstanding, each answered before the next\n")
        listed = json.loads(sluice("boards", "--json").stdout)
        self.assertEqual([b["name"] for b in listed["boards"]], ["small"])
        self.assertEqual(listed["workloads"][0]["name"], "closed-loop")

    def test_a_broken_board_does_not_hide_the_others(self):
        self.write("bad.toml", "[[[")
        self.write("good.toml", "summary = 'fine'")
        listed = json.loads(sluice("boards", "--json", boards=self.directory).stdout)["boards"]
        self.assertEqual(listed[1], {"name": "good", "summary": "fine"})
        self.assertTrue(listed[0]["summary"].startswith("not usable: bad.toml:1: not valid TOML"))

    def test_describe_shows_every_parameter_and_its_origin(self):
        result = sluice("describe", "small", "--set", "nic.eth0.queues=4")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = {line.split()[0]: line.split() for line in result.stdout.splitlines() if line}
        self.assertEqual(lines["flight"], "flight 7 ns measured parts/slot.toml:3 a bench".split())
        self.assertEqual(lines["queues"][1:4], ["4", "assumed", "--set"])
        self.assertEqual(lines["outstanding"][1:5], ["16", "calls", "assumed", "small.toml:10"])

    def test_describe_as_json_is_the_same_from_every_directory(self):
        first = sluice("describe", "small", "--json")
        board = json.loads(first.stdout)
        self.assertEqual(board["files"], ["parts/slot.toml", "small.toml"])
        flight = board["instances"]["pcie.slot0"]["parameters"]["flight"]
        self.assertEqual(flight, {"value": 7, "text": "7 ns", "unit": "ns", "kind": "measured", "source": "a bench",
                                  "set_by": "parts/slot.toml:3"})
        self.assertEqual(first.stdout, sluice("describe", "small", "--json", cwd="/").stdout)
        self.assertEqual(first.stdout, sluice("describe", "./small.toml", "--json", cwd=BOARDS).stdout)
        self.assertNotIn(BOARDS, first.stdout)

    def test_help_is_everywhere(self):
        for arguments in (["--help"], ["-h"], ["boards", "--help"], ["describe", "--help"]):
            result = sluice(*arguments)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("--help", result.stdout)
        self.assertRegex(sluice("--version").stdout, r"^sluice \d+\.\d+\.\d+\n$")

    def test_wrong_commands_and_options(self):
        self.assert_mistake([], "a command must be given; valid: boards, describe")
        self.assert_mistake(["descrive", "small"], "descrive is not a command; did you mean describe?")
        self.assert_mistake(["describe"], "sluice describe: BOARD is required")
        self.assert_mistake(["describe", "small", "--jsn"],
                            "--jsn is not an option of sluice describe; did you mean --json?")
        self.assert_mistake(["describe", "small", "other"], "sluice describe does not take another argument: other")
        self.assert_mistake(["--jsn"], "--jsn is not an option of sluice; valid: --help, --version")
        result = sluice("describe", "small", "--set")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr.count("\n"), 1)

    def test_unknown_board(self):
        self.assert_mistake(["describe", "smal"], "smal: no such board; did you mean small?")
        self.assert_mistake(["describe", "./none.toml"], "./none.toml: no such file")
        self.assert_mistake(["describe", "/"], "/: is a directory, not a file")

    def test_wrong_keys_and_values_in_a_file(self):
        for line, sentence in (
                ("quues = 1", "nic.eth0.quues is not a parameter of the descriptor NIC; did you mean nic.eth0.queues?"),
                ("queues = 'two'", 'nic.eth0.queues must be a whole number, not "two"'),
                ("queues = 65", "nic.eth0.queues must be 1 to 64, not 65"),
                ("slot = 'pcie.slot9'", 'nic.eth0.slot must name a pcie, not "pcie.slot9"; did you mean pcie.slot0?'),
        ):
            path = self.write("my.toml", f"extends = ['small']\n[nic.eth0]\n{line}\n")
            self.assert_mistake(["describe", "my.toml"], "my.toml:3: " + sentence, cwd=self.directory)
            self.assert_mistake(["describe", path], path + ":3: " + sentence)
        self.write("my.toml", "extends = ['small']\n[pcie.slot0]\nflight = '5 KiB'\n")
        self.assert_mistake(["describe", "my.toml"], "my.toml:3: pcie.slot0.flight must be a time with a unit "
                            '(fs, ps, ns, us, ms or s), not "5 KiB"', cwd=self.directory)

    def test_wrong_overrides(self):
        self.assert_mistake(["describe", "small", "--set", "nic.eth0.queues=-1"],
                            "--set nic.eth0.queues=-1: must be 1 to 64")
        self.assert_mistake(["describe", "small", "--set=nic.eth1.queues=1"],
                            "--set nic.eth1.queues=1: the board has no nic.eth1; did you mean nic.eth0?")

    def test_cycle_in_extends(self):
        self.write("a.toml", "extends = ['b']\n")
        self.write("b.toml", "extends = ['a']\n")
        self.assert_mistake(["describe", "a.toml"], "b.toml:1: extends forms a cycle: a.toml -> b.toml -> a.toml",
                            cwd=self.directory)

    def test_full_disk_behind_standard_output(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            self.assert_mistake(["describe", "small"], "standard output cannot be written", stdout=full)

    def test_random_boards_and_overrides_never_crash(self):
        for index, text in enumerate(("", "\0", "[", "[nic.eth0]\nqueues = 99999999999999999999\n", "a" * 5000,
                                      "extends = ['']\n", "extends = ['.']\n", "[workload]\n", "[nic]\n")):
            result = sluice("describe", self.write(f"{index}.toml", text))
            self.assertIn(result.returncode, (0, 2), (text, result.stderr))
        for override in ("", "=", ".=", "nic=", "nic.=", "nic..=", "nic.eth0.=", "workload=", "workload.outstanding=",
                         "workload.outstanding=1e9", "\n=\n"):
            result = sluice("describe", "small", "--set", override)
            self.assertEqual(result.returncode, 2, (override, result.stderr))


if __name__ == "__main__":
    unittest.main()
