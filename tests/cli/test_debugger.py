# SPDX-License-Identifier: Apache-2.0
"""What a debugger is told of a run that ends in a mistake. All other tests of debuggers are board tests, but
those also run under ASan, which takes an exception on a stack that has run coroutines for a wild write.
Called as NAME.py SLUICE BUILD-DIRECTORY."""

import os
import re
import socket
import subprocess
import unittest

from command import SLUICE, CommandTest


def packet(payload):
    """As the protocol sends it."""
    return b"$" + payload + b"#%02x" % (sum(payload) & 255)


class Debugger(CommandTest):
    def test_a_result_that_cannot_be_written_is_told_as_2(self):
        run = [SLUICE, "run", "e810-poll", "--requests=10", "--gdb=0", "--json", "--out", self.directory]
        with subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            self.addCleanup(process.kill)
            port = re.search(r"localhost:(\d+)", process.stderr.readline()).group(1)
            with socket.create_connection(("127.0.0.1", int(port)), timeout=60) as client:
                client.sendall(packet(b"QStartNoAckMode"))
                answer = b""
                while b"OK#9a" not in answer:
                    answer += client.recv(1000)
                os.mkdir(os.path.join(self.directory, "result.json"))  # it was found writable before the run
                client.sendall(packet(b"vCont;c"))
                while more := client.recv(1000):
                    answer += more
            out, error = process.communicate(timeout=120)
        self.assertEqual((process.returncode, out), (2, ""))
        self.assertRegex(error, "^sluice: --out .*: cannot be written \\(.*\\); name a directory that can be created\n$")
        self.assertEqual(re.findall(rb"\$W(..)#", answer), [b"02"])


if __name__ == "__main__":
    unittest.main()
