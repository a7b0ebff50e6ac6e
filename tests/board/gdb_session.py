# SPDX-License-Identifier: Apache-2.0
"""Sessions of a debugger at a board, for the scripts that have SLUICE FIRMWARE-DIRECTORY as arguments. The client is
Debian's gdb-multiarch."""

import os
import re
import shutil
import subprocess
import sys

FIRMWARE = os.path.abspath(sys.argv.pop(2))

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from board_runs import SLUICE, BoardTest  # noqa: E402  (takes SLUICE)

ELF = os.path.join(FIRMWARE, "rpc-server.elf")
TWO_HARTS = ("e810-poll", "--set", "cluster.host.harts=2", "--set", "nic.eth0.queues=2", "--set", "workload.flows=64",
             "--requests", "200", "--warmup", "20")
ONE_HART = ("e810-poll", "--requests", "200", "--warmup", "20")
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GDB = shutil.which("gdb-multiarch")


def packet(payload):
    """The packet of the protocol that carries `payload`."""
    return b"$" + payload + b"#%02x" % (sum(payload) & 255)


class Session(BoardTest):
    def launch(self, *arguments):
        """A run that waits for a debugger; its process and its port."""
        process = subprocess.Popen([SLUICE, "run", *arguments, "--gdb", "0", "--json"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        port = re.search(r"localhost:(\d+)", process.stderr.readline())
        self.assertTrue(port)
        return process, port.group(1)

    def debug(self, arguments, commands, status=0):
        """What gdb prints, and the result of the run."""
        process, port = self.launch(*arguments)
        script = os.path.join(self.directory(), "script.gdb")
        with open(script, "w", encoding="utf-8") as file:
            file.write("set pagination off\nset confirm off\nset width 0\n")
            file.write(f"target remote localhost:{port}\n{commands}\n")
        gdb = subprocess.run([GDB, "-nx", "-batch", "-x", script, ELF], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        try:
            out, err = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            self.fail(f"the run does not end\n{gdb.stdout}")
        self.assertEqual(process.returncode, status, err + gdb.stdout)
        return gdb.stdout, out

    def value(self, text, name):
        found = re.search(rf"^{re.escape(name)} is (\S+)", text, re.MULTILINE)
        self.assertTrue(found, f"no {name} in\n{text}")
        return int(found.group(1), 0)
