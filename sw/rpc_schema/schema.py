# SPDX-License-Identifier: Apache-2.0
"""Schemas of arguments and results: parts of words and perhaps an array, as models/nic/rpc_decoder/rpc_decoder_regs.h has
them."""

import dataclasses

from rpc_schema.tree import Bytes, Declaration, Enum, Scalar, Struct, Union

PARTS, WORDS_MOST, LIMIT_MOST, ARMS = 4, 16, 0xffff, 4
COPY, SWAP, HYPER_HIGH, HYPER_LOW = range(4)
CLASSES = ("copy", "swap", "hyper_high", "hyper_low")
NONE, OPAQUE, SCALARS, HYPERS = range(4)
ARRAYS = ("none", "opaque", "scalars", "hypers")
ARRAY_SHIFT, COUNTED, LIMIT_SHIFT = 13, 0x8000, 16
RUNS_MOST = PARTS * (WORDS_MOST + 1)  # more runs than that need more parts


@dataclasses.dataclass
class Part:
    words: list = dataclasses.field(default_factory=list)  # the class of each
    array: int = NONE
    counted: bool = False
    limit: int = 0

    def classes(self):
        return sum(word << 2 * i for i, word in enumerate(self.words))

    def shape(self):
        return self.limit << LIMIT_SHIFT | (COUNTED if self.counted else 0) | self.array << ARRAY_SHIFT | len(self.words)


@dataclasses.dataclass
class Run:
    """Words of one kind: opaque ones, scalars, or the pairs of hypers; or a counted array."""
    array: int
    counted: bool
    size: int  # words; of a counted array its limit


class Unfit(Exception):
    """What no schema can say, as the object of a sentence, what would be valid, and the line; None: the procedure's."""

    def __init__(self, line, what, valid):
        super().__init__(what)
        self.line, self.what, self.valid = line, what, valid


FIT = "valid are structs of scalars, strings, opaque data and arrays of scalars"
TOO_MANY = (f"more than {PARTS} parts, each of up to {WORDS_MOST} words and an array",
            "fewer strings, opaque data and arrays would be valid")


class Flattener:
    """Makes runs of the types of a file. Each type is looked at once, so that types of types of types take no time."""

    def __init__(self, file):
        self.file, self.known = file, {}

    def runs(self, declarations):
        result = []
        for declaration in declarations:
            append(result, self.of_declaration(declaration))
        return result

    def of_declaration(self, d):
        if d.shape == "optional":
            raise Unfit(d.line, f"optional data ({d.name})", FIT)
        if d.shape == "plain":
            return self.of_type(d)
        if isinstance(d.type, Bytes):
            kind = OPAQUE
        else:
            kind = self.element(d)
        if d.shape == "counted":
            size = LIMIT_MOST if d.size is None else d.size
            unit = "bytes" if kind == OPAQUE else "elements"
            within_limit(d, size, f"{d.name} of up to {size} {unit}")
            return [Run(kind, True, size)]
        size = (d.size + 3) // 4 if kind == OPAQUE else d.size * kind_words(kind)
        within_limit(d, size, f"{d.name} of {size} words")
        return [Run(kind, False, size)] if size else []

    def element(self, d):
        kind = self.file.resolve(d.type)
        if isinstance(kind, Enum) or isinstance(kind, Scalar) and kind.words == 1:
            return SCALARS
        if isinstance(kind, Scalar) and kind.words == 2:
            return HYPERS
        raise Unfit(d.line, f"an array of {plural(kind)} ({d.name})", FIT)

    def of_type(self, d):
        kind = self.file.resolve(d.type)
        if isinstance(kind, Enum):
            return [Run(SCALARS, False, 1)]
        if isinstance(kind, Scalar) and kind.words <= 2:
            return [Run(SCALARS if kind.words == 1 else HYPERS, False, kind.words)]
        if isinstance(kind, Struct):
            if id(kind) not in self.known:
                self.known[id(kind)] = self.runs(kind.members)
            return self.known[id(kind)]
        if isinstance(kind, Declaration):
            return self.of_declaration(kind)
        raise Unfit(d.line, f"a {'union' if isinstance(kind, Union) else kind.name} ({d.name})", FIT)


def kind_words(kind):
    return 2 if kind == HYPERS else 1


def within_limit(declaration, size, what):
    if size > LIMIT_MOST:
        raise Unfit(declaration.line, what, f"at most {LIMIT_MOST} would be valid")


def plural(kind):
    if isinstance(kind, Declaration):
        if kind.shape == "optional":
            return "optional data"
        return {"string": "strings", "opaque": "opaque data"}.get(kind.type.name, "arrays")
    return {Struct: "structs", Union: "unions"}.get(type(kind), "quadruples")


def append(runs, more):
    """Runs of one kind that follow each other become one."""
    for run in more:
        last = runs[-1] if runs else None
        if last and not run.counted and not last.counted and run.array == last.array:
            runs[-1] = Run(run.array, False, last.size + run.size)
        else:
            runs.append(run)
    if len(runs) > RUNS_MOST:
        raise Unfit(None, *TOO_MANY)


def pack(runs):
    """The fewest parts that say the same: each has as many words as it can, but leaves to its array a run that goes on."""
    parts, at, used = [], 0, 0  # used: words of runs[at] that parts have
    while at < len(runs):
        if len(parts) == PARTS:
            raise Unfit(None, *TOO_MANY)
        part = Part()
        parts.append(part)
        while at < len(runs) and not runs[at].counted:
            left, unit = runs[at].size - used, kind_words(runs[at].array)
            room = (WORDS_MOST - len(part.words)) // unit * unit
            if left > room and (room == 0 or left <= LIMIT_MOST):
                break
            taken = min(left, room)
            part.words += {OPAQUE: [COPY], SCALARS: [SWAP], HYPERS: [HYPER_HIGH, HYPER_LOW]}[runs[at].array] * (taken // unit)
            at, used = (at + 1, 0) if taken == left else (at, used + taken)
        if at == len(runs):
            break
        run = runs[at]
        most = LIMIT_MOST // kind_words(run.array) * kind_words(run.array)
        part.array, part.counted = run.array, run.counted
        part.limit = run.size if run.counted else min(run.size - used, most)
        at, used = (at + 1, 0) if run.counted or part.limit == run.size - used else (at, used + part.limit)
    return parts


@dataclasses.dataclass
class ResultArm:
    value: int
    is_default: bool
    parts: list


@dataclasses.dataclass
class Result:
    """has_status: a word comes first, and the arm with its value follows, or else the default."""
    has_status: bool
    arms: list     # none: no schema can say it
    why: str = ""  # of a result without arms


class Compiler:
    """Makes the schemas of a file's procedures."""

    def __init__(self, file):
        self.file, self.flattener = file, Flattener(file)

    def parts(self, declarations):
        return pack(self.flattener.runs(declarations))

    def arguments(self, procedure):
        try:
            return self.parts(procedure.arguments)
        except Unfit as unfit:
            raise self.file.mistake(unfit.line or procedure.line, f"the arguments of {procedure.name} have {unfit.what}, which "
                          f"the RPC decoder does not take; {unfit.valid}") from None

    def result(self, procedure):
        try:
            if procedure.result is None:
                return Result(False, [ResultArm(0, True, [])])
            union = self.union_of(procedure.result.type)
            if union is None:
                return Result(False, [ResultArm(0, True, self.parts([procedure.result]))])
            return Result(True, self.arms(union))
        except Unfit as unfit:
            return Result(False, [], f"line {unfit.line or procedure.line} has {unfit.what}")

    def union_of(self, kind):
        """The union that a type is, itself or as the only member of structs."""
        kind = self.file.resolve(kind)
        while isinstance(kind, Struct) and len(kind.members) == 1 and kind.members[0].shape == "plain":
            kind = self.file.resolve(kind.members[0].type)
        return kind if isinstance(kind, Union) else None

    def arms(self, union):
        result = []
        for arm in union.arms:
            parts = self.parts([arm.declaration] if arm.declaration else [])
            result += [ResultArm(case.value, False, parts) for case in arm.cases] or [ResultArm(0, True, parts)]
        if len(result) > ARMS:
            raise Unfit(union.line, f"a union of more than {ARMS} cases, its default included ({union.name})", "")
        return result
