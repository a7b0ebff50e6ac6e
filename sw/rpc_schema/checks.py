# SPDX-License-Identifier: Apache-2.0
"""What can be said of a file only when all of it has been read, and of several files together."""

from rpc_schema.mistake import ANOTHER_NAME, meant
from rpc_schema.tree import Declaration, Enum, Named, Scalar, Struct, Union

NESTED_MOST = 128


def check(file, references, unions):
    for reference in references:
        if reference.name not in file.types:
            raise file.mistake(reference.line, f"no type {reference.name} is defined" +
                               meant(reference.name, file.types, "typedef, enum, struct and union define some"))
    check_nesting(file)
    for union in unions:
        check_union(file, union)
    check_numbers(file)


def parts_of(kind):
    """The types that values of a type have inside, without those that a count, a case or a pointer may leave out."""
    declarations = kind.members if isinstance(kind, Struct) else [kind.status] if isinstance(kind, Union) else []
    if isinstance(kind, Declaration):
        declarations = [kind]
    return [d.type for d in declarations if d.shape in ("plain", "fixed")]


def check_nesting(file):
    heights = {}

    def height(kind, above, depth, line):
        """How deep the types inside a type are nested. above: the names that it is inside of, at this depth."""
        if depth + (heights.get(kind.name, 0) if isinstance(kind, Named) else 0) > NESTED_MOST:
            raise file.mistake(line, f"types are nested deeper than {NESTED_MOST}; fewer of them would be valid")
        if not isinstance(kind, Named):
            return 1 + max((height(part, above, depth + 1, line) for part in parts_of(kind)), default=0)
        if kind.name in above:
            raise file.mistake(kind.line, f"{kind.name} is a part of itself; optional data (*) or an array would be valid")
        if kind.name not in heights:
            heights[kind.name] = height(file.types[kind.name], {*above, kind.name}, depth, kind.line)
        return heights[kind.name]

    for name in file.types:
        height(Named(name, file.lines[name]), set(), 1, file.lines[name])


def check_union(file, union):
    status = union.status
    kind = file.resolve(status.type)
    if status.shape != "plain" or not (isinstance(kind, Enum) or isinstance(kind, Scalar) and kind.range):
        raise file.mistake(status.line, f"{status.name} cannot tell the cases of a union apart; "
                           "an int, unsigned, bool or enum would be valid")
    seen = {}
    for case in (case for arm in union.arms for case in arm.cases):
        if case.value in seen:
            raise file.mistake(case.line, f"there is already a case {case.text}, in line {seen[case.value]}; "
                               "another value would be valid")
        seen[case.value] = case.line
        if isinstance(kind, Enum):
            if case.value not in kind.values.values():
                raise file.mistake(case.line, f"{case.text} is no value of {kind.name}" +
                                   meant(case.text, kind.values, f"its values are {', '.join(kind.values)}"))
        elif not kind.range[0] <= case.value <= kind.range[1]:
            raise file.mistake(case.line, f"{case.text} is out of range; a case is {kind.range[0]} to {kind.range[1]}")


def check_numbers(file):
    """A name is a constant in what rpcgen and this compiler write, so that it has one value."""
    seen = {}
    for program in file.programs:
        for version in program.versions:
            for one in (version, *version.procedures):
                if one.name in file.lines:
                    raise file.mistake(one.line, f"{one.name} is already defined in line {file.lines[one.name]}" + ANOTHER_NAME)
                number, line = seen.setdefault(one.name, (one.number, one.line))
                if number != one.number:
                    raise file.mistake(one.line, f"{one.name} is {one.number} here and {number} in line {line}" + ANOTHER_NAME)


def numbers(file, programs=None):
    """(name, value, line) of all that becomes a constant: the file's, and those of its programs or some of them."""
    for name, value in file.constants.items():
        yield name, value, file.lines[name]
    for program in file.programs if programs is None else programs:
        yield program.name, program.number, program.line
        for version in program.versions:
            for one in (version, *version.procedures):
                yield one.name, one.number, one.line


def check_capitals(files):
    """The header's arrays have the names of programs in lower case."""
    seen = {}
    for file in files:
        for program in file.programs:
            other = seen.setdefault(program.name.lower(), program.name)
            if other != program.name:
                raise file.mistake(program.line, f"{program.name} and {other} differ only in capitals" + ANOTHER_NAME)


def check_together(files):
    """Files that are compiled together have one header, and their programs one table."""
    check_capitals(files)
    values, programs = {}, {}
    for file in files:
        for program in file.programs:
            if program.number in programs:
                name, place, line = programs[program.number]
                raise file.mistake(program.line, f"program number {program.number} is already {name}'s, in {place}:{line}; "
                                   "another number would be valid")
        programs.update((p.number, (p.name, file.place, p.line)) for p in file.programs)
        for name, value, line in numbers(file):
            other, place, other_line = values.setdefault(name, (value, file.place, line))
            if other != value:
                raise file.mistake(line, f"{name} is {value} here and {other} in {place}:{other_line}" + ANOTHER_NAME)
