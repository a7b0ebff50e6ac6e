# SPDX-License-Identifier: Apache-2.0
"""A plug-in of one source file beside the tests."""

import os
import shutil
import subprocess
import tempfile

from command import BUILD, SOURCE, CommandTest

PROJECT = """cmake_minimum_required(VERSION 3.20)
project({0} CXX)
find_package(Sluice REQUIRED)
sluice_add_device({0} {0}.cpp)
"""


class PluginTest(CommandTest):
    """NAME: of the source file, without its ending. library: path of the plug-in."""

    NAME = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, folder)
        shutil.copy(os.path.join(SOURCE, f"tests/cli/plugins/{cls.NAME}.cpp"), folder)
        with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write(PROJECT.format(cls.NAME))
        # Optimised it would take twice as long to compile.
        for command in (["cmake", "-B", "build", "-G", "Ninja", "-DSluice_DIR=" + BUILD, "-DCMAKE_CXX_FLAGS_RELEASE=-O0"],
                        ["cmake", "--build", "build"]):
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        cls.library = os.path.join(folder, f"build/lib{cls.NAME}.so")

    def board(self, text, *lines):
        """Writes my.toml, where {} stands for the plug-in."""
        return self.write("my.toml", text.format(self.library) + "".join(line + "\n" for line in lines))
