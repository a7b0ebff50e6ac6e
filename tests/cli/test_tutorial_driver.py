# SPDX-License-Identifier: Apache-2.0
"""docs/tutorials/driver-developer.md does what it says: its GDB session and its instruction trace are those of the text.
test_tutorial_driver.py SLUICE BUILD-DIRECTORY"""

import os
import re
import shlex
import shutil
import subprocess
import unittest

from command import BUILD, SLUICE, SOURCE, CommandTest

GDB = shutil.which("gdb-multiarch")
with open(os.path.join(SOURCE, "docs/tutorials/driver-developer.md"), encoding="utf-8") as page:
    BLOCKS = re.findall(r"^```\n(.*?)^```$", page.read(), re.MULTILINE | re.DOTALL)


def command_of(block):
    """A line of a block that calls sluice, with this build's."""
    line = next(line for line in block.splitlines() if line.startswith("sluice "))
    return [SLUICE, *shlex.split(line)[1:]]


class DriverDeveloper(CommandTest):
    @unittest.skipUnless(GDB, "no gdb-multiarch")
    def test_the_session(self):
        run = next(b for b in BLOCKS if "--gdb 1234" in b)
        session = next(b for b in BLOCKS if "(gdb) " in b).splitlines()
        self.converse(command_of(run) + ["--requests", "2000"], session)

    @unittest.skipUnless(GDB, "no gdb-multiarch")
    def test_the_session_in_a_process(self):
        session = next(b for b in BLOCKS if "service-echo.elf" in b)
        self.converse(command_of(session), session.splitlines()[1:])

    def converse(self, arguments, session):
        """The session's first line names GDB's file."""
        arguments[arguments.index("1234")] = "0"
        session = [line.replace("build/release", BUILD) for line in session]
        file, session = session[0].split()[1], session[1:]
        commands = [line[6:] for line in session if line.startswith("(gdb) ")]
        expected = [line for line in session if not line.startswith("(gdb) ")]
        self.assertGreater(len(expected), 3)
        with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as process:
            port = re.search(r"localhost:(\d+)", process.stderr.readline()).group(1)
            script = self.write("session.gdb", "set pagination off\nset width 0\nset confirm off\n" +
                                "\n".join(commands).replace("localhost:1234", "localhost:" + port))
            said = subprocess.run([GDB, "-nx", "-batch", "-x", script, file], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=120, check=False).stdout
            process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0)
        lines = iter(said.splitlines())
        for line in expected:
            pattern = re.escape(line).replace(r"\.\.\.", ".*")
            self.assertTrue(any(re.match(pattern, heard) for heard in lines), f"no {line}\nin\n{said}")

    def test_the_trace(self):
        block = next(b for b in BLOCKS if "--trace insn" in b)
        arguments = command_of(block)
        subprocess.run(arguments, cwd=self.directory, check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(self.directory, "trace/trace.insn"), encoding="utf-8") as file:
            of_one = [line for line in file if line.endswith("request 4\n")]
        self.assertGreater(len(of_one), 100)


if __name__ == "__main__":
    unittest.main()
