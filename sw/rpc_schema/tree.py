# SPDX-License-Identifier: Apache-2.0
"""What a file in RPC language says."""

import dataclasses

from rpc_schema.mistake import Mistake


@dataclasses.dataclass
class Scalar:
    """A type of a fixed number of words."""
    name: str
    words: int
    range: tuple = None  # of a type that a union may be discriminated by


@dataclasses.dataclass
class Bytes:
    """opaque or string; the declaration has its length."""
    name: str


@dataclasses.dataclass
class Enum:
    name: str
    values: dict


@dataclasses.dataclass
class Struct:
    name: str
    members: list


@dataclasses.dataclass
class Union:
    name: str
    status: object  # a declaration
    arms: list      # of Arm
    line: int


@dataclasses.dataclass
class Named:
    """A type by its name."""
    name: str
    line: int


@dataclasses.dataclass
class Declaration:
    name: str
    type: object
    shape: str  # plain, fixed, counted or optional
    size: int   # of an array; None: none is stated
    line: int


@dataclasses.dataclass
class Case:
    value: int
    text: str
    line: int


@dataclasses.dataclass
class Arm:
    cases: list         # of Case; empty: the default
    declaration: object  # None: void
    line: int


@dataclasses.dataclass
class Procedure:
    name: str
    number: int
    result: object   # a declaration; None: void
    arguments: list  # of declarations
    line: int


@dataclasses.dataclass
class Version:
    name: str
    number: int
    procedures: list
    line: int


@dataclasses.dataclass
class Program:
    name: str
    number: int
    versions: list
    line: int


class Specification:
    """A file: its constants and types by name, and its programs."""

    def __init__(self, place):
        self.place = place
        self.constants = {}  # in their order
        self.lines = {}      # of what is defined, by name
        self.types = {}      # Enum, Struct, Union, or the Declaration of a typedef
        self.programs = []

    def mistake(self, line, sentence):
        return Mistake(self.place, line, sentence)

    def resolve(self, kind):
        """A type behind its names: no Named, and a Declaration only where a typedef has an array or optional data."""
        while True:
            if isinstance(kind, Named):
                kind = self.types[kind.name]
            elif isinstance(kind, Declaration) and kind.shape == "plain":
                kind = kind.type
            else:
                return kind


def text_of(declaration):
    """A procedure's argument or result as the file has it."""
    if declaration is None:
        return "void"
    return declaration.type.name
