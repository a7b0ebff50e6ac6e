# SPDX-License-Identifier: Apache-2.0
"""Lets tests of signals wait until a process has a handler for a signal."""

import re
import time


def wait_until_caught(pid, number):
    """Waits until the process has a handler for the signal. A run has one as soon as it simulates."""
    for _ in range(6000):
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            caught = re.search(r"SigCgt:\s*([0-9a-f]+)", file.read())
        if int(caught.group(1), 16) >> (number - 1) & 1:
            return
        time.sleep(0.01)
    raise AssertionError(f"process {pid} does not catch signal {number}")
