# SPDX-License-Identifier: Apache-2.0
"""docs/tutorials/own-rpc-program.md does what it says (tutorial_test.py), with an installation, which has no more
than a build tree has. Mistakes are told as the page's table says: tested with the page's files and a build tree."""

import os
import subprocess
import unittest

import tutorial
from command import BUILD, SOURCE, sluice
from tutorial_test import TutorialTest

PAGE = "own-rpc-program.md"
PROJECT = """cmake_minimum_required(VERSION 3.20)
project(forgotten LANGUAGES CXX)
find_package(Sluice REQUIRED)
sluice_add_rpc_server(nameless-server nameless.c)
sluice_add_rpc_server(unused-server unused.c)
sluice_add_rpc_server(other-server other.c)
sluice_add_rpc_server(numberless-server numberless.c)
sluice_add_rpc_server(far-server far.c)
sluice_add_rpc_server(twin-server reverse.c twin.c)
sluice_add_rpc_server(described-server described.c)
sluice_add_rpc_server(misnumbered-server misnumbered.c)
sluice_add_rpc_server(unversioned-server unversioned.c)
sluice_add_plugin(long-calls long_calls.cpp)
sluice_add_plugin(taken-calls taken_calls.cpp)
"""


class OwnRpcProgram(TutorialTest):
    def test_the_page(self):
        self.follow(PAGE, self.in_installation(), 5, 5)

    def build(self, target):
        """What is printed where a target of the project cannot be built; None where it can."""
        built = subprocess.run(["cmake", "--build", "build", "--target", target], cwd=self.directory, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return built.stdout if built.returncode else None

    def configure(self):
        return subprocess.run(["cmake", "-B", "build", "-G", "Ninja", "-DSluice_DIR=" + BUILD], cwd=self.directory,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)

    def test_what_is_forgotten_is_told(self):
        with open(os.path.join(SOURCE, "docs/tutorials", PAGE), encoding="utf-8") as page:
            files = {b.file: b.text for b in tutorial.blocks_of(page.read()) if b.file}
        header, program, calls = files["reverse.h"], files["reverse.c"], files["reverse_calls.cpp"]
        self.assertIn("\nRPC_PROGRAM(reverse, ", program)
        self.assertIn(" 0x20000004u\n", header)
        for name in ("nameless", "unused", "other", "numberless", "far", "twin", "described", "misnumbered", "unversioned"):
            files[name + ".h"] = header.replace("_REVERSE 0x2", f"_{name.upper()} 0x2").replace(
                "REVERSE_VERSION", name.upper() + "_VERSION")
            files[name + ".c"] = program.replace("\nRPC_PROGRAM(reverse, ", f"\nRPC_PROGRAM({name}, ").replace(
                "reverse.h", name + ".h")
        files["nameless.c"] = files["nameless.c"].split("\nRPC_PROGRAM")[0].replace("static ", "").replace(
            "int32_t reverse(", "int32_t reverse(struct rpc_call*);\nint32_t reverse(")
        files["unused.c"] = files["unused.c"].split("\nRPC_PROGRAM")[0] + "\n"
        files["other.c"] = files["other.c"].replace("(other, ", "(another, ")
        files["numberless.h"] = files["numberless.h"].replace("RPC_PROGRAM_", "PROGRAM_")
        files["far.h"] = files["far.h"].replace("0x20000004u", "0x20000011u")
        files["long_calls.cpp"] = calls.replace("RPC_CALL_HEADER_BYTES + 4 + ", "RPC_CALL_HEADER_BYTES + ")
        files["taken_calls.cpp"] = calls.replace('("reverse")', '("echo")')
        files["alone.c"] = program
        for name, version, number in (("described", 1, 4), ("misnumbered", 1, 5), ("unversioned", 2, 4)):
            files[name + ".x"] = (f"program /* as in {name}.h */ {name.upper()} {{ version SOME {{ int F(int) = 1; }} = {version}; "
                                  f"}} = 0x2000000{number};\n")
        for name, text in files.items():
            self.write(name, text)

        for wrong, why in (("revers.c", "revers.c is no RPC program: neither a C file here nor one of calc, echo, kv"),
                           ("alone.c", "the RPC program alone.c has no header alone.h beside it")):
            self.write("CMakeLists.txt", PROJECT.replace("nameless.c", wrong))
            self.assertIn("nameless-server: " + why, " ".join(self.configure().stdout.split()))
        self.write("CMakeLists.txt", PROJECT)
        self.write("described.x", "/* program DESCRIBED { */\n")
        self.assertRegex(" ".join(self.configure().stdout.split()),
                         "described-server: rpc-schema: .*/described.x has no program DESCRIBED; there is no program at all")
        self.write("described.x", files["described.x"])
        self.assertEqual(self.configure().returncode, 0)
        for target, why in (("nameless-server", "undefined reference to `nameless_program'"),
                            ("unused-server", "'reverse' defined but not used"),
                            ("other-server", "'rpc_number_of_another' undeclared"),
                            ("numberless-server", "'RPC_PROGRAM_NUMBERLESS' undeclared"),
                            ("far-server", "the number of an RPC program is RPC_PROGRAM_FIRST to RPC_PROGRAM_LAST"),
                            ("twin-server", "initialized field overwritten"),
                            ("misnumbered-server", "misnumbered.h and misnumbered.x give the program different numbers"),
                            ("unversioned-server", "unversioned.x has no version UNVERSIONED_VERSION of unversioned.h")):
            self.assertIn(why, str(self.build(target)).replace("\u2018", "'").replace("\u2019", "'"))
        for target in ("long-calls", "taken-calls", "described-server"):
            self.assertIsNone(self.build(target))

        self.write("long.toml", files["reverse.toml"].replace("reverse-calls", "long-calls").replace(
            "build/reverse-server.elf", "rpc-server"))
        run = sluice("run", "long.toml", cwd=self.directory)
        self.assertEqual(run.returncode, 1)
        self.assertIn("a call has 300 bytes, and the largest_message() of its program is 296", run.stderr)

        self.write("taken.toml", files["reverse.toml"].replace("reverse-calls", "taken-calls"))
        self.assert_mistake(["describe", "taken.toml"], "taken.toml:3: plugins: build/libtaken-calls.so could not "
                            "register its models: there are calls named echo already, built-in ones")


if __name__ == "__main__":
    unittest.main()
