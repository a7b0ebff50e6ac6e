# SPDX-License-Identifier: Apache-2.0
"""Reads the RPC language, with what rpcgen accepts beyond it: further names of integers, `struct NAME` as a type, `string` as
a procedure's, enumerators without a value, and constants that name others."""

from rpc_schema.checks import check
from rpc_schema.lexer import C_WORDS, KEYWORDS, number, tokens
from rpc_schema.mistake import ANOTHER_NAME, meant
from rpc_schema.tree import (Arm, Bytes, Case, Declaration, Enum, Named, Procedure, Program, Scalar, Specification, Struct, Union,
                             Version)

INT, UNSIGNED, BOOL = (-1 << 31, (1 << 31) - 1), (0, (1 << 32) - 1), (0, 1)
SIZES = UNSIGNED
CONSTANTS = (-1 << 63, (1 << 64) - 1)
NESTED_MOST = 64
# XDR has integers of 32 and 64 bits only: a char, a short and a long travel as 32 bits.
SCALARS = {s.name: s for s in (
    *(Scalar(name, 1, INT) for name in ("int", "long", "short", "char", "int32_t", "int16_t", "int8_t")),
    *(Scalar(name, 1, UNSIGNED) for name in ("unsigned", "unsigned int", "unsigned long", "unsigned short", "unsigned char",
                                             "u_int", "u_long", "u_short", "u_char", "uint32_t", "uint16_t", "uint8_t")),
    *(Scalar(name, 2) for name in ("hyper", "unsigned hyper", "quad_t", "u_quad_t", "int64_t", "uint64_t", "double")),
    Scalar("bool", 1, BOOL), Scalar("float", 1), Scalar("quadruple", 4))}
WORDS_OF_SCALARS = frozenset(name for name in SCALARS if " " not in name)


class Parser:
    def __init__(self, place, text):
        self.file, self.tokens, self.at = Specification(place), tokens(place, text), 0
        self.known = {"TRUE": 1, "FALSE": 0}
        self.references, self.unions, self.nested = [], [], 0

    # ------------------------------------------------------------------------------------------------ tokens

    def mistake(self, line, sentence):
        return self.file.mistake(line, sentence)

    def peek(self):
        return self.tokens[self.at]

    def take(self):
        token = self.tokens[self.at]
        self.at += token.kind != "end"
        return token

    def accept(self, text):
        if self.peek().text != text:
            return False
        self.at += self.peek().kind != "end"
        return True

    def unexpected(self, token, valid):
        what = "the file ends" if token.kind == "end" else f'there is "{token.text}"'
        return self.mistake(token.line, f"{what} where {valid} would be valid")

    def expect(self, text):
        token = self.take()
        if token.text != text:
            raise self.unexpected(token, f'"{text}"')
        return token

    def name(self, what):
        token = self.take()
        if token.kind != "name" or token.text in KEYWORDS:
            raise self.unexpected(token, what)
        return token

    def value(self, what, limits):
        """A number, or the name of a constant that is defined above."""
        token = self.take()
        if token.kind == "number":
            value = number(token.text)
        elif token.kind == "name" and token.text not in KEYWORDS:
            if token.text not in self.known:
                raise self.mistake(token.line, f"no constant {token.text} is defined above" +
                                   meant(token.text, self.known, "const and enum define some"))
            value = self.known[token.text]
        else:
            raise self.unexpected(token, "a number or a constant")
        self.in_range(token, value, what, limits)
        return value

    def in_range(self, token, value, what, limits):
        if not limits[0] <= value <= limits[1]:
            raise self.mistake(token.line, f"{token.text[:40]} is out of range; {what} is {limits[0]} to {limits[1]}")

    def define(self, name, line):
        """Takes a name of the file's own."""
        taken = f"in line {self.file.lines[name]}" if name in self.file.lines else "by the language"
        if name in self.file.lines or name in WORDS_OF_SCALARS or name in ("TRUE", "FALSE"):
            raise self.mistake(line, f"{name} is already defined {taken}" + ANOTHER_NAME)
        self.file.lines[name] = line

    def define_constant(self, token, value):
        self.define(token.text, token.line)
        self.not_of_c(token)
        self.known[token.text] = self.file.constants[token.text] = value

    def define_type(self, name, line, kind):
        self.define(name, line)
        self.file.types[name] = kind

    def not_of_c(self, token):
        if token.text in C_WORDS:
            raise self.mistake(token.line, f"{token.text} is a word of C or C++" + ANOTHER_NAME)

    # ------------------------------------------------------------------------------------------- definitions

    def specification(self):
        while self.peek().kind != "end":
            token = self.take()
            definition = {"const": self.constant, "typedef": self.typedef, "enum": self.enum, "struct": self.struct,
                          "union": self.union, "program": self.program}.get(token.text)
            if definition is None:
                raise self.unexpected(token, '"const", "typedef", "enum", "struct", "union" or "program"')
            definition()
            self.expect(";")
        return self.file

    def constant(self):
        token = self.name("a constant's name")
        self.expect("=")
        self.define_constant(token, self.value("a constant", CONSTANTS))

    def typedef(self):
        declaration = self.declaration()
        self.define_type(declaration.name, declaration.line, declaration)

    def enum(self):
        token = self.name("an enum's name")
        self.define_type(token.text, token.line, self.enum_body(token.text))

    def struct(self):
        token = self.name("a struct's name")
        self.define_type(token.text, token.line, self.struct_body(token.text))

    def union(self):
        token = self.name("a union's name")
        self.define_type(token.text, token.line, self.union_body(token.text))

    def enum_body(self, name):
        self.expect("{")
        values, following = {}, 0
        while True:
            token = self.name("an enumerator's name")
            value = self.value("an enumerator", INT) if self.accept("=") else following
            self.in_range(token, value, "an enumerator", INT)
            self.define_constant(token, value)
            values[token.text], following = value, value + 1
            if not self.accept(","):
                break
        self.expect("}")
        return Enum(name, values)

    def struct_body(self, name):
        self.expect("{")
        members, lines = [], {}
        while not members or self.peek().text != "}":
            members.append(self.member(lines))
            self.expect(";")
        self.expect("}")
        return Struct(name, members)

    def member(self, lines):
        """lines: those of the members above, by name."""
        one = self.declaration()
        if one.name in lines:
            raise self.mistake(one.line, f"{one.name} is already a member, in line {lines[one.name]}" + ANOTHER_NAME)
        lines[one.name] = one.line
        return one

    def union_body(self, name):
        self.expect("switch")
        line = self.expect("(").line
        status = self.declaration()
        self.expect(")")
        self.expect("{")
        arms, lines = [], {status.name: status.line}
        while not arms or self.peek().text != "}":
            arms.append(self.arm(lines, bool(arms) and not arms[-1].cases))
            self.expect(";")
        self.expect("}")
        if not arms[0].cases:
            raise self.mistake(arms[0].line, "a union has only a default; at least one case would be valid")
        result = Union(name, status, arms, line)
        self.unions.append(result)
        return result

    def arm(self, lines, complete):
        cases = []
        token = self.peek()
        if complete or token.text not in ("case", "default"):
            raise self.unexpected(token, '"}"' if complete else '"case" or "default"')
        if self.accept("default"):
            self.expect(":")
        while token.text == "case" and self.accept("case"):
            at = self.peek()
            cases.append(Case(self.value("a case", (INT[0], UNSIGNED[1])), at.text, at.line))
            self.expect(":")
        if self.accept("void"):
            return Arm(cases, None, token.line)
        return Arm(cases, self.member(lines), token.line)

    # -------------------------------------------------------------------------------------------------- types

    def declaration(self):
        token = self.peek()
        kind = Bytes(self.take().text) if token.text in ("opaque", "string") else self.type_specifier()
        if not isinstance(kind, Bytes) and self.accept("*"):
            token = self.name("a name")
            return Declaration(token.text, kind, "optional", None, token.line)
        token = self.name("a name")
        shape, size = "plain", None
        if self.peek().text == "[" and kind != Bytes("string"):
            self.take()
            shape, size = "fixed", self.value("an array's length", SIZES)
            self.expect("]")
        elif self.accept("<"):
            shape = "counted"
            if not self.accept(">"):
                size = self.value("an array's length", SIZES)
                self.expect(">")
        elif isinstance(kind, Bytes):
            raise self.unexpected(self.peek(), '"<"' if kind.name == "string" else '"[" or "<"')
        return Declaration(token.text, kind, shape, size, token.line)

    def type_specifier(self):
        token = self.take()
        if token.text == "unsigned":
            more = self.peek().text in ("int", "hyper", "long", "short", "char")
            return SCALARS[f"unsigned {self.take().text}" if more else "unsigned"]
        if token.text in SCALARS:
            return SCALARS[token.text]
        if token.text in ("enum", "struct", "union"):
            return self.inner_type(token)
        if token.kind != "name" or token.text in KEYWORDS:
            raise self.unexpected(token, "a type")
        return self.reference(token)

    def reference(self, token):
        named = Named(token.text, token.line)
        self.references.append(named)
        return named

    def inner_type(self, token):
        body = {"enum": self.enum_body, "struct": self.struct_body, "union": self.union_body}[token.text]
        if self.peek().text != ("switch" if token.text == "union" else "{"):
            return self.reference(self.name(f"the name or the body of a {token.text}"))
        self.nested += 1
        if self.nested > NESTED_MOST:
            raise self.mistake(token.line, f"types are nested deeper than {NESTED_MOST}; a typedef in between would be valid")
        result = body(token.text)
        self.nested -= 1
        return result

    # ----------------------------------------------------------------------------------------------- programs

    def program(self):
        token = self.name("a program's name")
        self.define(token.text, token.line)
        self.not_of_c(token)
        versions = self.numbered_list(self.version)
        program_number = self.numbered("program", self.file.programs)
        self.file.programs.append(Program(token.text, program_number, versions, token.line))

    def numbered_list(self, one):
        self.expect("{")
        result = []
        while not result or self.peek().text != "}":
            result.append(one(result))
            self.expect(";")
        self.expect("}")
        return result

    def numbered(self, what, others):
        """The number behind a definition, which none of the others may have, nor its name."""
        self.expect("=")
        at = self.peek()
        value = self.value(f"a {what} number", UNSIGNED)
        for other in others:
            if other.number == value:
                raise self.mistake(at.line, f"{what} number {value} is already {other.name}'s, in line {other.line}; another "
                                            "number would be valid")
        return value

    def new_name(self, token, others):
        self.not_of_c(token)
        for other in others:
            if other.name == token.text:
                raise self.mistake(token.line, f"{token.text} is already defined in line {other.line}" + ANOTHER_NAME)

    def version(self, others):
        self.expect("version")
        token = self.name("a version's name")
        self.new_name(token, others)
        procedures = self.numbered_list(self.procedure)
        return Version(token.text, self.numbered("version", others), procedures, token.line)

    def procedure(self, others):
        result = self.procedure_type()
        token = self.name("a procedure's name")
        self.new_name(token, others)
        self.expect("(")
        arguments = [self.procedure_type()]
        while arguments[0] is not None and self.accept(","):
            if self.peek().text == "void":
                raise self.unexpected(self.peek(), "a type")
            arguments.append(self.procedure_type())
        self.expect(")")
        arguments = [a for a in arguments if a is not None]
        return Procedure(token.text, self.numbered("procedure", others), result, arguments, token.line)

    def procedure_type(self):
        token = self.peek()
        if self.accept("void"):
            return None
        if self.accept("string"):
            return Declaration("string", Bytes("string"), "counted", None, token.line)
        kind = self.type_specifier()
        return Declaration(kind.name, kind, "plain", None, token.line)


def parse(place, text):
    """The Specification of a file in RPC language."""
    parser = Parser(place, text)
    result = parser.specification()
    check(result, parser.references, parser.unions)
    return result
