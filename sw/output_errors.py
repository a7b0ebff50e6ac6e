# SPDX-License-Identifier: Apache-2.0
"""What the commands of sw do where a file, or the standard output, cannot be read or written."""

import contextlib
import os
import signal
import sys


@contextlib.contextmanager
def output_errors(command):
    """Around a command's main(): ends with a sentence and status 2, and silently where nobody reads any more."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        # What is left in the buffer must not fail again when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        what = error.filename or "the standard output cannot be written"
        print(f"{command}: {what}: {error.strerror}", file=sys.stderr)
        sys.exit(2)
