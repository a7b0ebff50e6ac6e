# SPDX-License-Identifier: Apache-2.0
"""The command sw/rpc-schema."""

import argparse
import os
import stat
import sys

from rpc_schema import output
from rpc_schema.checks import check_together, numbers
from rpc_schema.mistake import ANOTHER_NAME, Mistake, meant
from rpc_schema.parser import parse
from rpc_schema.schema import Compiler

EPILOG = "docs/reference/rpc-schema.md says what files may have and what the outputs are."


class WrongUse(Exception):
    """A sentence about the command line, or about a file as a whole."""


class Arguments(argparse.ArgumentParser):
    def error(self, message):
        raise WrongUse(f"{message}; --help says what is valid")


def options(arguments):
    parser = Arguments("rpc-schema", description="Makes the schemas that the RPC decoder takes of files in RPC language.",
                       epilog=EPILOG, allow_abbrev=False)
    parser.add_argument("files", metavar="FILE.x", nargs="+", help="what rpcgen reads: RFC 5531, section 12, and RFC 4506")
    parser.add_argument("--c", metavar="HEADER.h", help="write a C header")
    parser.add_argument("--json", action="store_true", help="print the same as JSON")
    parser.add_argument("--program", metavar="NAME", help="this program only")
    result = parser.parse_args(arguments)
    if not result.json and result.c is None:
        parser.error("there is neither --c HEADER.h nor --json")
    return result


def is_device(path):
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISCHR(mode) or stat.S_ISBLK(mode)


def read(path):
    if is_device(path):
        raise WrongUse(f"{path} is a device, which may have no end")
    try:
        with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise WrongUse(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def write(path, text):
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except (OSError, ValueError) as error:
        raise WrongUse(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}") from None


def show(text):
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # What is left in the buffer must not fail again when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise WrongUse(f"the standard output cannot be written: {error.strerror}") from None


def choose(files, name):
    """The programs of each file, or the one that is asked for."""
    if name is None:
        return [(file, Compiler(file), file.programs) for file in files]
    names = [program.name for file in files for program in file.programs]
    if name not in names:
        places = ", ".join(file.place for file in files)
        raise WrongUse(f"{places} {'has' if len(files) == 1 else 'have'} no program {name}" +
                       meant(name, names, f"valid: {', '.join(names)}" if names else "there is no program at all"))
    return [(file, Compiler(file), [p for p in file.programs if p.name == name]) for file in files]


def check_names(chosen):
    """The header has names of its own, which no constant may replace."""
    constants = {name: (file, line) for file, _, some in chosen for name, _, line in numbers(file, some)}
    own = {"rpc_schema_part", "rpc_schema_arguments", "rpc_schema_arm", "rpc_schema_result", "RPC_SCHEMA_PARTS",
           "RPC_SCHEMA_ARMS", "parts", "arms", "classes", "shape", "value", "is_default", "has_status", "arm_count"}
    own.update(f"{p.name.lower()}_{what}" for _, _, some in chosen for p in some for what in ("arguments", "results"))
    own.update(f"{p.name}_ROWS" for _, _, some in chosen for p in some)
    for name in sorted(own & set(constants)):
        file, line = constants[name]
        raise file.mistake(line, f"{name} is a name of the header's own" + ANOTHER_NAME)


def run(arguments):
    chosen_options = options(arguments)
    for path in chosen_options.files:
        if chosen_options.c is not None and os.path.exists(chosen_options.c) and os.path.exists(path) and \
           os.path.samefile(path, chosen_options.c):
            raise WrongUse(f"--c {chosen_options.c} would be written over the file that is read")
    files = [parse(path, read(path)) for path in chosen_options.files]
    check_together(files)
    chosen = choose(files, chosen_options.program)
    if chosen_options.c is not None:
        check_names(chosen)
        write(chosen_options.c, output.to_c(chosen))
    if chosen_options.json:
        show(output.to_json(chosen))


def main(arguments):
    try:
        run(arguments)
    except WrongUse as error:
        print(f"rpc-schema: {error}", file=sys.stderr)
    except Mistake as error:
        print(error, file=sys.stderr)
    else:
        return 0
    return 2
