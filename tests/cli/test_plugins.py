"""Plug-ins that a board names: what they bring, and what is wrong with some. The device is the tutorial's.
Called as NAME.py SLUICE BUILD-DIRECTORY."""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import tutorial
from command import BUILD, SOURCE, CommandTest, guest, sluice

# The same names in another layout, for versions beside each other; and a device that cannot be built.
SECOND = ('base::Time latency = 50_ns;', 'std::string note = "second"; base::Time latency = 150_ns;')
SECOND_KEY = ('s.summary("engine that sums words");',
              's.summary("engine that sums words"); s.add("note", &SumParameters::note, "a word").setting();')
PROJECT = """
sluice_add_device(sum sum.cpp)
sluice_add_device(second second.cpp)
sluice_add_device(broken broken.cpp)
"""
BROKEN = """
#include "sum.h"
#include <stdexcept>
#include "platform/board/plugin.h"
struct Broken : Sum {
  Broken(sc_core::sc_module_name name, const Parameters& p) : Sum(name, p) { throw std::logic_error("it is broken"); }
};
SLUICE_PLUGIN(devices) {
  devices.add<Broken>("broken", "broken engine");
  if (getenv("PLUGIN_THROWS")) throw std::runtime_error("no luck\\ntoday");
  if (getenv("PLUGIN_THROWS_INT")) throw 1;
}
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
        files["broken.cpp"] = BROKEN
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
        """A board whose only plug-in is a file with this content; None: there is none."""
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

    def test_two_versions_of_a_device_are_compared(self):
        for name in ("sum", "second"):
            self.write(f"{name}.toml", WITH_NIC.format(self.library(name)))
        text = self.succeed("compare", "sum.toml", "second.toml", "--requests=200", "--warmup=0", "--json",
                            cwd=self.directory)
        found = {d["path"]: (d["reference_value"], d["value"]) for d in json.loads(text)["differences"]}
        self.assertRegex(found.pop("plugins")[1], r"^libsecond\.so \([0-9a-f]{8}\)$")
        self.assertEqual(found, {"accel.sum.latency": ("50 ns", "150 ns"), "accel.sum.note": ("", "second")})

    # --------------------------------------------------------------------------------------------------- what is wrong

    def test_files_that_are_no_plugins(self):
        self.mistake(None, "does not exist; build it, or name another file, relative to this one", "none.so")
        os.mkdir(os.path.join(self.directory, "folder"))
        self.mistake(None, "is a directory; a shared object is needed", "folder")
        self.mistake(None, "is not a regular file; a shared object is needed", "/dev/null")
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
                         r"interfake [\w.-]+, compiler .*, and this is interface [\w.-]+, compiler .*; build it again\n$")
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
        with open(os.path.join(prefix, "share/sluice/sdk/models/base/time.h"), "a", encoding="utf-8") as header:
            header.write("// changed\n")
        subprocess.run(commands[-1], check=True, stdout=subprocess.DEVNULL)
        self.assert_mistake(["describe", board], f"{board}:2: plugins: {tree}/libsum.so was built for another Sluice...",
                            program=program)

    def test_plugins_that_cannot_be_loaded(self):
        self.mistake(self.compiled("const char m[] = MARK; void _ZN3Sum5startEv(void); void sluice_plugin(void* d) "
                                   "{ _ZN3Sum5startEv(); }"), "cannot be loaded: undefined symbol: Sum::start()")
        self.mistake(self.compiled("const char m[] = MARK;"), "is not a plug-in of Sluice: it has no SLUICE_PLUGIN")

    def test_what_a_plugin_throws_is_told(self):
        self.write("my.toml", BOARD.format(self.library("broken")))
        named = f"my.toml:2: plugins: {self.library('broken')} could not register its models: "
        for variable, why in (("PLUGIN_THROWS", "no luck today"),
                              ("PLUGIN_THROWS_INT", "it threw something that is no std::exception")):
            os.environ[variable] = "1"
            self.addCleanup(os.environ.pop, variable, None)
            self.assert_mistake(["describe", "my.toml"], named + why)
            del os.environ[variable]
        self.write("my.toml", BOARD.format(self.library("broken")).replace('"sum"', '"broken"'))
        for command in ("describe", "run"):
            self.assert_mistake([command, "my.toml"], "my.toml: accel.sum cannot be built: it is broken")

    def test_a_name_is_taken_once(self):
        self.write("copy.so", self.bytes_of())
        self.write("my.toml", f"plugins = ['{self.library()}', 'copy.so']\nextends = ['hosts/i9-9960x']\n")
        self.assert_mistake(["describe", "my.toml"], "my.toml:1: plugins: copy.so could not register its models: "
                            "accel has a model sum already")

    def test_models_of_plugins_that_no_board_names(self):
        self.write("my.toml", BOARD.format(self.library()).replace('plugins = ["' + self.library() + '"]\n', ""))
        self.assert_mistake(["describe", "my.toml"], "my.toml:5: sum is not a model of accel; valid: dma-requester")


if __name__ == "__main__":
    unittest.main()
