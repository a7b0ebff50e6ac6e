# SPDX-License-Identifier: Apache-2.0
"""What the commands of sw do where a file, or the standard output, cannot be read or written."""

import contextlib
import os
import signal
import sys


class OutputError(Exception):
    """The standard output cannot be written."""


class StandardOutput:
    """The standard output, whose errors are told from those of files."""

    def __init__(self, file):
        self.file = file

    def write(self, text):
        return self.attempt(self.file.write, text)

    def flush(self):
        return self.attempt(self.file.flush)

    def attempt(self, function, *arguments):
        try:
            return function(*arguments)
        except OSError as error:
            # What is left in the buffer must not fail again when the interpreter ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            raise OutputError(f"the standard output cannot be written: {error.strerror}") from None


@contextlib.contextmanager
def output_errors(command):
    """Around a command's main(): ends with a sentence and status 2, and silently where nobody reads any more."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        with contextlib.redirect_stdout(StandardOutput(sys.stdout)):
            yield
            sys.stdout.flush()
    except OutputError as error:
        what = str(error)
    except OSError as error:
        what = ": ".join(filter(None, (error.filename, error.strerror or str(error))))
    else:
        return
    print(f"{command}: {what}", file=sys.stderr)
    sys.exit(2)
