# SPDX-License-Identifier: Apache-2.0
"""Plug-ins that a board names: what they bring, and what is wrong with some. The device is the tutorial's.
Called as NAME.py SLUICE BUILD-DIRECTORY."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import unittest.mock

import tutorial
from command import BUILD, SLUICE, SOURCE, CommandTest, guest, sluice

# Changes of the device into another version, which has the same C++ names with another layout.
SECOND = ('base::Time latency = 50_ns;', 'std::string note = "second"; base::Time latency = 150_ns;')
SECOND_KEY = ('s.summary("engine that sums words");',
              's.summary("engine that sums words"); s.add("note", &SumParameters::note, "a word").setting();')
PROJECT = """
sluice_add_device(sum sum.cpp)
sluice_add_device(second second.cpp)
sluice_add_device(broken broken.cpp)
sluice_add_device(wrong wrong.cpp)
"""
BOARD = """extends = ["hosts/i9-9960x"]
plugins = ["{}"]
[cluster.host]
firmware = "hello"
[accel.sum]
model = "sum"
"""
WITH_NIC = """extends = ["e810-poll"]
plugins = ["{}"]
[root]
root_ports = 2
[pcie.slot1]
port = 1
[accel.sum]
model = "sum"
slot = "pcie.slot1"
"""


class Plugins(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        with open(os.path.join(SOURCE, "docs/tutorials/own-device.md"), encoding="utf-8") as page:
            files = {b.file: b.text for b in tutorial.blocks_of(page.read()) if b.file}
        files["second.h"] = files["sum.h"].replace(*SECOND).replace(*SECOND_KEY)
        files["second.cpp"] = files["sum.cpp"].replace('"sum.h"', '"second.h"')
        for name in ("broken", "wrong"):
            with open(os.path.join(SOURCE, f"tests/cli/plugins/{name}_device.cpp"), encoding="utf-8") as source:
                files[name + ".cpp"] = source.read()
        files["CMakeLists.txt"] = files["CMakeLists.txt"].split("sluice_add_device")[0] + PROJECT
        for name, text in files.items():
            with open(os.path.join(cls.folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        for command in (["cmake", "-B", "build", "-G", "Ninja", "-DSluice_DIR=" + BUILD], ["cmake", "--build", "build"]):
            subprocess.run(command, cwd=cls.folder, check=True, stdout=subprocess.DEVNULL)

    def library(self, name="sum"):
        return os.path.join(self.folder, f"build/lib{name}.so")

    def bytes_of(self, name="sum"):
        with open(self.library(name), "rb") as file:
            return file.read()

    def mistake(self, content, why, named="p.so"):
        """A board whose only plug-in is a file with this content; None: there is no such file."""
        if content is not None:
            self.write(named, content)
        self.write("my.toml", BOARD.format(named))
        self.assert_mistake(["describe", "my.toml"], f"my.toml:2: plugins: {named} {why}")

    # ----------------------------------------------------------------------------------------------------- in order

    def test_a_board_has_the_models_of_its_plugins(self):
        self.write("plugins/libsum.so", self.bytes_of())
        self.write("plugins/sum.toml", BOARD.format("libsum.so"))
        board = self.write("own.toml", 'extends = ["plugins/sum"]\n[accel.sum]\nlatency = "1 us"\n')
        digest = hashlib.sha256(self.bytes_of()).hexdigest()
        plugins = [{"name": "plugins/libsum.so", "sha256": digest}]
        for directory, named in ((self.directory, "own.toml"), ("/", board)):
            described = json.loads(self.succeed("describe", named, "--json", cwd=directory))
            self.assertEqual(described["plugins"], plugins)
            self.assertEqual(described["instances"]["accel.sum"]["parameters"]["latency"]["text"], "1 us")
            self.assertEqual(described["pcie"][0]["device"], "accel.sum")
            result = json.loads(self.succeed("run", named, "--json", cwd=directory))
            self.assertEqual(result["board"]["plugins"], plugins)
            self.assertEqual(result["counters"]["accel.sum"]["operations"], 0)
        self.assertIn(f"with plugins/libsum.so (SHA-256 {digest})\n",
                      self.succeed("describe", "own.toml", cwd=self.directory))
        self.assertNotIn("plugins", json.loads(self.succeed("describe", "e810-poll", "--json")))

    def test_a_shipped_board_may_have_plugins(self):
        self.write("boards/own.toml", "summary = 'own'\n" + BOARD.format(self.library()))
        boards = os.path.join(self.directory, "boards") + ":" + os.path.join(SOURCE, "platform/boards")
        self.assertIn("own         ", self.succeed("boards", boards=boards).replace("own  ", "own         "))
        self.assertIn("summing engine", self.succeed("describe", "own", boards=boards))

    def test_a_replay_knows_the_plugins_of_its_run(self):
        spaced = "a sum.so"
        self.write(spaced, self.bytes_of())
        self.write("own.toml", BOARD.format(spaced))
        with subprocess.Popen([SLUICE, "run", "own.toml", "--console", "--out", "first"], stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.directory) as process:
            process.communicate(b"x", timeout=60)
        self.assertEqual(process.returncode, 0)
        replay = ("run", "own.toml", "--replay", "first/input.log")
        self.succeed(*replay, cwd=self.directory)
        self.write(spaced, self.bytes_of() + b"\0")
        self.assertRegex(sluice(*replay, cwd=self.directory).stderr,
                         r"of it: plugin\.a_sum\.so was [0-9a-f]{64} and is [0-9a-f]{64}\n$")

    def test_two_versions_of_a_device_are_compared(self):
        for name in ("sum", "second"):
            self.write(f"{name}.toml", WITH_NIC.format(self.library(name)))
        text = self.succeed("compare", "sum.toml", "second.toml", "--requests=200", "--warmup=0", "--json",
                            cwd=self.directory)
        found = {d["path"]: (d["reference_value"], d["value"]) for d in json.loads(text)["differences"]}
        self.assertRegex(found.pop("plugins")[1], r"^libsecond\.so \([0-9a-f]{8}\)$")
        self.assertEqual(found, {"accel.sum.latency": ("50 ns", "150 ns"), "accel.sum.note": ("", "second")})
        for name in ("sum", "second"):
            self.write(f"{name}.toml", BOARD.format(self.library(name)))
        self.assertRegex(self.succeed("compare", "sum.toml", "second.toml", cwd=self.directory),
                         r"(?m)^  simulated time .* x1\.000$")

    # --------------------------------------------------------------------------------------------------- what is wrong

    def test_files_that_are_no_plugins(self):
        self.mistake(None, "does not exist; build it, or name another file, relative to this one", "none.so")
        os.mkdir(os.path.join(self.directory, "folder"))
        self.mistake(None, "is a directory; a shared object is needed", "folder")
        self.mistake(None, "is not a regular file; a shared object is needed", "/dev/null")
        os.symlink("loop", os.path.join(self.directory, "loop"))
        self.mistake(None, "cannot be read: Too many levels of symbolic links", "loop")
        self.mistake("", "is not a shared object")
        self.mistake("#!/bin/sh\n" * 100, "is not a shared object")
        self.mistake(guest(0x6F), "is not a shared object")
        self.mistake(self.compiled("int nothing;"), "is not a plug-in of Sluice: it has no SLUICE_PLUGIN")
        self.mistake(self.bytes_of()[:20000], "is truncated")

    def test_a_file_cut_off_is_refused(self):
        content = self.bytes_of()
        for length in (1, 63, 64, 1000, len(content) // 2, len(content) - 3000, len(content) - 1):
            self.write("p.so", content[:length])
            self.write("my.toml", BOARD.format("p.so"))
            result = sluice("describe", "my.toml", cwd=self.directory)
            self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1), (length, result))
            self.assertTrue(result.stderr.startswith("sluice: my.toml:2: plugins: p.so "), result.stderr)

    def test_a_file_without_section_headers_cut_off_is_refused(self):
        content = bytearray(self.bytes_of())
        content[0x28:0x30] = bytes(8)  # e_shoff
        content[0x3C:0x40] = bytes(4)  # e_shnum, e_shstrndx
        self.write("p.so", bytes(content))
        self.write("my.toml", BOARD.format("p.so"))
        self.succeed("describe", "my.toml", cwd=self.directory)
        mark = content.index(b"sluice plug-in: ")
        for length in (200, mark + 300, mark + 5000):
            self.mistake(bytes(content[:length]), "is truncated")

    def test_a_file_for_another_machine(self):
        content = bytearray(self.bytes_of())
        machine = content[0x12]
        for content[0x12] in (183 if machine != 183 else 62, 243 if machine != 243 else 62):
            self.mistake(bytes(content), "is a shared object for another machine; build it for this one")

    def test_paths_that_the_file_system_refuses(self):
        os.symlink("loop.so", os.path.join(self.directory, "loop.so"))
        self.mistake(None, "cannot be read: Too many levels of symbolic links", "loop.so")
        self.write("my.toml", BOARD.format("x" * 300 + ".so"))
        error = sluice("describe", "my.toml", cwd=self.directory).stderr
        self.assertRegex(error, r"^sluice: my\.toml:2: plugins: x+\.\.\. \(303 characters\) cannot be read: File name too long\n$")
        self.write("folder/p.so", self.bytes_of())
        os.chmod(os.path.join(self.directory, "folder"), 0)
        self.addCleanup(os.chmod, os.path.join(self.directory, "folder"), 0o700)
        if not os.access(os.path.join(self.directory, "folder/p.so"), os.R_OK):  # not root
            self.mistake(None, "cannot be read: Permission denied", "folder/p.so")
        self.write("my.toml", BOARD.format("a\\u0000b.so"))
        self.assert_mistake(["describe", "my.toml"], "my.toml:2: a path in plugins may not have the character U+0000")

    def compiled(self, code):
        """A shared object with this C code, its strings after the mark being those of a sound plug-in."""
        word = self.bytes_of().split(b"sluice plug-in: ")[1].split(b"\0")[0].decode()
        code = code.replace("MARK", f'"sluice plug-in: {word}"')
        source, target = self.write("p.c", code), os.path.join(self.directory, "compiled.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", target, source], check=True)
        with open(target, "rb") as file:
            return file.read()

    def test_a_plugin_of_another_build_runs_no_code(self):
        content = self.bytes_of().replace(b"sluice plug-in: interface ", b"sluice plug-in: interfake ")
        self.write("p.so", content)
        self.write("my.toml", BOARD.format("p.so"))
        result = sluice("run", "my.toml", cwd=self.directory)
        self.assertRegex(result.stderr, r"^sluice: my\.toml:2: plugins: p\.so was built for another Sluice: it has "
                         r"interfake [\w.-]+, compiler .*, and this is interface [\w.-]+, compiler .*; build it again, or "
                         r"Sluice where it is older than its sources\n$")
        self.assertEqual(result.returncode, 2)
        code = 'const char m[] = "sluice plug-in: other"; __attribute__((constructor)) void f(void) { __builtin_trap(); }'
        self.mistake(self.compiled(code), "was built for another Sluice: it has other, and this is interface...")

    def test_a_plugin_of_other_headers_is_of_another_build(self):
        prefix, tree = (os.path.join(self.directory, name) for name in ("prefix", "tree"))
        commands = [["cmake", "--install", BUILD, "--prefix", prefix],
                    ["cmake", "-S", self.folder, "-B", tree, "-G", "Ninja", "-DCMAKE_PREFIX_PATH=" + prefix],
                    ["cmake", "--build", tree, "--target", "sum"]]
        for command in commands:
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        board = self.write("my.toml", BOARD.format(tree + "/libsum.so"))
        program = os.path.join(prefix, "bin/sluice")
        self.succeed("describe", board, program=program)
        with open(os.path.join(prefix, "share/sluice/sdk/models/base/time/time.h"), "a", encoding="utf-8") as header:
            header.write("// changed\n")
        subprocess.run(commands[-1], check=True, stdout=subprocess.DEVNULL)
        self.assert_mistake(["describe", board], f"{board}:2: plugins: {tree}/libsum.so was built for another Sluice...",
                            program=program)

    def test_plugins_that_cannot_be_loaded(self):
        self.mistake(self.compiled("const char m[] = MARK; void _ZN3Sum5startEv(void); void sluice_plugin(void* d) "
                                   "{ _ZN3Sum5startEv(); }"), "cannot be loaded: undefined symbol: Sum::start()")
        self.mistake(self.compiled("const char m[] = MARK;"), "is not a plug-in of Sluice: it has no SLUICE_PLUGIN")

    def assert_broken(self, why, variable, value="1"):
        """What the plug-in broken says where this variable is set."""
        with unittest.mock.patch.dict(os.environ, {variable: value}):
            self.assert_mistake(["describe", "my.toml"], f"my.toml:2: plugins: {self.library('broken')} {why}")

    def test_what_a_plugin_throws_is_told(self):
        self.write("my.toml", BOARD.format(self.library("broken")))
        self.assert_broken("could not register its models: no luck today", "PLUGIN_THROWS")
        self.assert_broken("could not register its models: it threw something that is no std::exception",
                           "PLUGIN_THROWS_INT")
        self.assert_broken("cannot be loaded: a static initialiser threw: too early", "PLUGIN_THROWS_EARLY")
        self.assert_broken("cannot be loaded: a static initialiser threw something that is no std::exception",
                           "PLUGIN_THROWS_INT_EARLY")
        self.write("my.toml", BOARD.format(self.library("broken")).replace('"sum"', '"broken"'))
        for command in ("describe", "run"):
            self.assert_mistake([command, "my.toml"], "my.toml: accel.sum cannot be built: it is broken")
        with unittest.mock.patch.dict(os.environ, {"PLUGIN_THROWS_INT_LATE": "1"}):
            self.assert_mistake(["describe", "my.toml"], "my.toml: accel.sum cannot be built: something that "
                                "is no std::exception")

    def test_a_model_has_a_name_that_a_board_can_write(self):
        self.write("my.toml", BOARD.format(self.library("broken")))
        for name in ("", "a b", "a.b", "a]", "\u00fc", "x" * 65):
            self.assert_broken("could not register its models: a model's name is 1 to 64 letters, digits, - and _, not "
                               f'"{name[:64]}"', "PLUGIN_NAME", name)
        self.write("my.toml", BOARD.format(self.library("broken")).replace('"sum"', '"' + "X-_0" * 16 + '"'))
        with unittest.mock.patch.dict(os.environ, {"PLUGIN_NAME": "X-_0" * 16}):
            self.assert_mistake(["describe", "my.toml"], "my.toml: accel.sum cannot be built: it is broken")

    def test_a_wrong_default_is_told_with_its_model(self):
        self.write("my.toml", BOARD.format(self.library("broken")))
        self.assert_broken("could not register its models: model wrong-default (engine with a wrong default): "
                           "parameter latency has a default that is not valid: must be 5 ns to 9 ns", "PLUGIN_DEFAULT")

    # ------------------------------------------------------------------------------------------- devices that are wrong

    def wrong_board(self, what):
        """A board with a device that has this mistake; its firmware sets up PCIe."""
        text = WITH_NIC.format(self.library("wrong")).replace('"sum"', '"wrong"')
        return self.write("my.toml", text + f'what = "{what}"\n')

    def test_functions_that_cannot_be(self):
        self.wrong_board("")
        self.succeed("run", "my.toml", "--requests=1", "--warmup=0", cwd=self.directory)
        size = "bytes: a BAR's size is a power of two, at least 16 B"
        for what, why in (
                ("bar of 0", "BAR 0 has 0 " + size),
                ("bar of 5000", "BAR 0 has 5000 " + size),
                ("bar of 8", "BAR 2 has 8 " + size),
                ("bar of 4 GiB", "BAR 2 is larger than the 2 GiB that a 32-bit BAR can have"),
                ("wide bar 5", "BAR 5 has no place for its upper half: the last 64-bit BAR is 4"),
                ("bar 1", "BAR 1 is the upper half of BAR 0, which is a 64-bit one"),
                ("table beyond", "the MSI-X table has 32 bytes from 0xff0 on, which are not all within BAR 0"),
                ("table nowhere", "the MSI-X table is in BAR 2, which the function does not have"),
                ("table at 4", "the MSI-X table must start at a multiple of 8 bytes"),
                ("pba beyond", "the MSI-X PBA has 8 bytes from 0x1000 on, which are not all within BAR 0"),
                ("pba in bar 9", "the MSI-X PBA is in BAR 9, which the function does not have"),
                ("table and pba", "MSI-X table and PBA overlap in BAR 0"),
                ("vectors", "MSI-X has at most 2048 vectors"),
                ("large bank", "a register bank has 4100 bytes, more than the 4096 of the BARs"),
                ("below the table", "register low lies below the MSI-X table, which has 32 bytes from 0x800 on in BAR 0"),
                ("below the PBA", "register pend[4] lies below the MSI-X PBA, which has 8 bytes from 0xc00 on in BAR 0"),
                ("report throws", "part: no kernel"), ("report is fatal", "part: no kernel")):
            self.wrong_board(what)
            for command in ("describe", "run"):
                self.assert_mistake([command, "my.toml"], "my.toml: accel.sum cannot be built: " + why)
        self.wrong_board("bar of 8 EiB")
        self.assert_mistake(["describe", "my.toml"], "my.toml:3: root.mmio64_size cannot be large enough for the BARs "
                            "of the devices: they need more than 64 bits")

    def test_statistics_that_cannot_be_registered(self):
        for what, why in (("statistic twice", "statistic 'things' of 'accel.sum' is registered twice"),
                          ("statistics throw", "something that is no std::exception"),
                          ("null statistic", "statistic 'none' of 'accel.sum' has no function")):
            self.wrong_board(what)
            self.assert_mistake(["run", "my.toml"], "my.toml: accel.sum cannot register its statistics: " + why)

    def test_parameters_that_cannot_be_declared(self):
        self.write("my.toml", BOARD.format(self.library("wrong")))
        for which, why in (("reference", "parameter word refers to nosuchkind, which is no kind of component"),
                           ("rule", "the rule about what has no function"),
                           ("key", 'a parameter\'s key is words joined by dots, not ""'),
                           ("choices", "parameter word has no choices"),
                           ("multiple", "parameter number must be a multiple of 0, which nothing is")):
            with unittest.mock.patch.dict(os.environ, {"PLUGIN_PARAMETER": which}):
                self.assert_mistake(["describe", "my.toml"], f"my.toml:2: plugins: {self.library('wrong')} could not "
                                    f"register its models: model mistaken (mistaken device): {why}")

    def test_a_rule_that_throws_is_told(self):
        for what, why in (("rule throws", "no rule"), ("rule throws 1", "something that is no std::exception")):
            self.wrong_board(what)
            self.assert_mistake(["describe", "my.toml"], "my.toml:10: accel.sum.what cannot be checked: a rule of the "
                                "wrong device threw " + why)

    def test_a_file_that_a_device_reads(self):
        """A board names it relative to its own file, --set relative to the working directory."""
        self.write("boards/parts/words.txt", "words\n")
        self.write("boards/parts/my.toml", WITH_NIC.format(self.library("wrong")).replace('"sum"', '"wrong"') +
                   'file = "words.txt"\n')
        self.write("boards/own.toml", 'extends = ["parts/my"]\n')
        self.write("other.txt", "others\n")
        run = ("run", "boards/own.toml", "--requests=1", "--warmup=0", "--json")
        for options, said, written in (((), "words", "words.txt"),
                                       (("--set", "accel.sum.file=other.txt"), "others", "other.txt")):
            result = sluice(*run, *options, cwd=self.directory)
            self.assertEqual((result.returncode, result.stderr), (0, f"it has {said}\n"))
            parameters = json.loads(result.stdout)["board"]["instances"]["accel.sum"]["parameters"]
            self.assertEqual(parameters["file"]["value"], written)
        key = "boards/parts/my.toml:10: accel.sum.file must name a file that can be read: "
        path = os.path.join(self.directory, "boards/parts/words.txt")
        os.remove(path)
        self.assert_mistake(run, key + "boards/parts/words.txt: cannot be read: No such file or directory")
        os.mkfifo(path)
        self.assert_mistake(run, key + "boards/parts/words.txt: is not a regular file")
        os.remove(path)
        os.mkdir(path)
        self.assert_mistake(run, key + "boards/parts/words.txt: cannot be read: Is a directory")
        self.assert_mistake([*run, "--set", "accel.sum.file=/dev/zero"], "--set accel.sum.file=/dev/zero: must name a "
                            "file that can be read: /dev/zero: is not a regular file")

    def failure_of(self, what, *options):
        """The result of a run that a device with this mistake ends."""
        self.wrong_board(what)
        out = os.path.join(self.directory, "out")
        run = sluice("run", "my.toml", "--requests=1", "--json", "--out", out, *options, cwd=self.directory)
        self.assertEqual(run.returncode, 1, run.stderr)
        result = json.loads(run.stdout)
        with open(os.path.join(out, "result.json"), encoding="utf-8") as file:
            self.assertEqual(file.read(), run.stdout)
        state = r"(since .* ns: cluster\.host\.hart0 waits for .*\n)?cluster\.host\.hart0: pc "
        self.assertRegex(run.stderr, rf"^sluice: my: {re.escape(result['failure'])}\n{state}")
        return result["outcome"], result["failure"]

    def test_a_device_that_throws_in_simulated_time_is_named(self):
        self.assertEqual(self.failure_of("entry throws"),
                         ("failed", "accel.sum threw an exception at 1 us: no luck today"))
        memory = r"this machine has no more memory for it, or its limit \(ulimit -v\) allows no more"
        for what, why in (("handler throws", "no doorbell"),
                          ("handler throws 1", "something that is no std::exception"),
                          ("handler reports", "part: no kernel"), ("handler is fatal", "part: no kernel"),
                          ("handler takes memory", memory), ("clock throws", "no clock"),
                          ("null read", r"dma_read\(\) has no function to call when it is done"),
                          ("resumes", r"resume\(\) without a stop\(\)"),
                          ("thread throws", "no luck today"), ("thread is fatal", "part: no kernel"),
                          ("thread throws 1", "something that is no std::exception"),
                          ("before_end_of_elaboration throws", "no board"), ("end_of_elaboration throws", "no board"),
                          ("start_of_simulation throws", "no board"),
                          ("start_of_simulation reports", "part: no board")):
            outcome, failure = self.failure_of(what)
            self.assertEqual(outcome, "failed")
            self.assertRegex(failure, f"^accel.sum threw an exception at [0-9.]+ [un]s: {why}$")
        outcome, failure = self.failure_of("no track", "--trace", "perfetto")
        self.assertRegex(failure, "^accel.sum threw an exception at [0-9.]+ us: the trace has no track 12345: ")

    def test_a_device_that_stops_the_kernel_is_told(self):
        for what, failure in (("handler stops the kernel", r"a component called sc_stop\(\), which ended the kernel at "
                               "[0-9.]+ us"),
                              ("handler stops the kernel and throws", "accel.sum threw an exception at [0-9.]+ us: no "
                               "doorbell")):
            self.wrong_board(what)
            run = sluice("run", "my.toml", "--requests=1", "--json", cwd=self.directory)
            result = json.loads(run.stdout)
            self.assertEqual((run.returncode, result["outcome"]), (1, "failed"))
            self.assertRegex(result["failure"], f"^{failure}$")

    def test_what_a_device_warns_of_is_no_part_of_the_result(self):
        self.wrong_board("handler warns")
        run = sluice("run", "my.toml", "--requests=1", "--warmup=0", "--json", cwd=self.directory)
        self.assertEqual((run.returncode, json.loads(run.stdout)["outcome"]), (0, "finished"))
        self.assertIn("sluice: SystemC: part: no kernel\n", run.stderr)

    def test_a_statistic_that_cannot_be_had_is_told_after_the_run(self):
        for what, why in (("counter throws", "threw an exception: no count"),
                          ("derived throws", "threw an exception: no value"),
                          ("derived of another", "threw an exception: statistics group 'accel.sum' derives a value "
                                                 "from a counter it did not register"),
                          ("counter falls", r"fell from [0-9]+ to [0-9]+, and a counter only grows")):
            self.wrong_board(what)
            run = sluice("run", "my.toml", "--requests=5", "--warmup=0", "--json", cwd=self.directory)
            result = json.loads(run.stdout)
            self.assertEqual((run.returncode, result["outcome"], result["requests"]["completed"]), (1, "failed", 5))
            self.assertRegex(result["failure"], f"^accel.sum: statistic bad {why}$")
            self.assertTrue(result["diagnosis"].startswith(result["failure"] + "\ncluster.host.hart0: "), result["diagnosis"])
            self.assertEqual(run.stderr, f"sluice: my: {result['diagnosis']}")
            self.assertIsNone(result["counters"]["accel.sum"]["bad"])
            self.assertEqual(result["counters"]["accel.sum"]["things"], 0)

    def test_an_entry_for_the_past_is_told_with_its_component(self):
        for what in ("past entry", "late entry"):
            self.wrong_board(what)
            run = sluice("run", "my.toml", "--requests=5", "--warmup=0", "--json", cwd=self.directory)
            self.assertEqual(run.returncode, 1)
            self.assertRegex(json.loads(run.stdout)["failure"], r"^[0-9]+ entries were made for the past, the first by "
                             r"accel\.sum at [0-9.]+ [un]s, for [0-9.]+ [un]s or a time beyond what 64 bits can hold$")

    def test_time_that_stands_still_ends_the_run(self):
        for _ in range(2):
            self.assertEqual(self.failure_of("stands still"), (
                "stalled", "simulated time stands still at 1 us: 10485760 entries, the last of accel.sum"))
        for what, process, at in (("thread stands still", "thread", "1 us"), ("method stands still", "method", "0 ns")):
            for option in ("--until=1s", "--until=2s"):
                self.assertEqual(self.failure_of(what, option), (
                    "stalled", f"simulated time stands still at {at}: 1048576 delta cycles of accel.sum.{process}"))

    def test_a_device_with_a_thread_works(self):
        self.wrong_board("thread works")
        self.succeed("run", "my.toml", "--requests=1", "--warmup=0", cwd=self.directory)
        self.wrong_board("thread creeps")
        result = self.succeed("run", "my.toml", "--json", "--until", "1000001 ps", cwd=self.directory)
        self.assertEqual(json.loads(result)["outcome"], "limit")

    def test_a_signal_ends_a_run_that_creeps(self):
        started = os.path.join(self.directory, "started")
        for what, number, name in (("creeps", signal.SIGINT, "SIGINT"), ("creeps", signal.SIGTERM, "SIGTERM"),
                                   ("thread creeps", signal.SIGINT, "SIGINT")):
            self.wrong_board(what)
            with subprocess.Popen([SLUICE, "run", "my.toml", "--json"], cwd=self.directory, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as process:
                while process.poll() is None and not os.path.exists(started):
                    time.sleep(0.02)
                process.send_signal(number)
                try:
                    report, error = process.communicate(timeout=60)
                finally:
                    process.kill()
            os.remove(started)
            self.assertEqual(process.returncode, 1, error)
            self.assertEqual(json.loads(report)["outcome"], "interrupted")
            self.assertRegex(error, rf"^sluice: my: interrupted by {name} after 1\.[0-9]+ us of simulated time\n")

    def test_a_name_is_taken_once(self):
        self.write("copy.so", self.bytes_of())
        self.write("my.toml", f"plugins = ['{self.library()}', 'copy.so']\nextends = ['hosts/i9-9960x']\n")
        self.assert_mistake(["describe", "my.toml"], "my.toml:1: plugins: copy.so could not register its models: "
                            f"accel has a model sum already, of {self.library()}")

    def test_models_of_plugins_that_no_board_names(self):
        self.write("my.toml", BOARD.format(self.library()).replace('plugins = ["' + self.library() + '"]\n', ""))
        self.assert_mistake(["describe", "my.toml"], "my.toml:5: sum is not a model of accel; valid: dma-requester, "
                            "endpoint-controller")


if __name__ == "__main__":
    unittest.main()
