# SPDX-License-Identifier: Apache-2.0
"""Tokens of the RPC language."""

import collections
import re

from rpc_schema.mistake import Mistake

Token = collections.namedtuple("Token", "kind text line")  # kind: name, number, mark or end

KEYWORDS = frozenset("bool case char const default double enum float hyper int long opaque program quadruple short string "
                     "struct switch typedef union unsigned version void".split())
# The header defines constants, and these names would change what it says.
C_WORDS = frozenset("alignas alignof and asm auto bitand bitor break catch class compl concept consteval constexpr constinit "
                    "continue decltype delete do else explicit export extern for friend goto if inline mutable namespace new "
                    "noexcept not nullptr operator or private protected public register requires restrict return signed sizeof "
                    "static template this throw try typeid typename uint32_t using virtual volatile while xor".split())
# A line that begins with % goes into rpcgen's output, and one with # is the preprocessor's.
PIECE = re.compile(r"(?P<skip>^%[^\n]*|^[ \t]*#(?:\\\n|[^\n])*|[ \t\r\f\v]+|/\*.*?\*/)|(?P<line>\n)|(?P<comment>/\*)|"
                   r"(?P<number>-?[0-9][A-Za-z0-9_]*)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<mark>[{}()\[\]<>*,;:=])",
                   re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"-?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)\Z")


def tokens(place, text):
    """The tokens of a file, and one of kind "end" behind them."""
    result, line, at = [], 1, 0
    while at < len(text):
        piece = PIECE.match(text, at)
        if piece is None:
            shown = f'"{text[at]}"' if text[at].isprintable() else f"U+{ord(text[at]):04X}"
            raise Mistake(place, line, f"{shown} is no part of the RPC language; valid are names, numbers, /* comments */ and "
                                       "{ } ( ) [ ] < > * , ; : =")
        kind, found = piece.lastgroup, piece.group()
        if kind == "comment":
            raise Mistake(place, line, "the comment that begins here has no end; */ ends it")
        if kind == "number" and not NUMBER.match(found):
            raise Mistake(place, line, f"{found} is no number; valid are decimal ones, hexadecimal ones behind 0x and octal "
                                       "ones behind 0")
        if kind in ("number", "name", "mark"):
            result.append(Token(kind, found, line))
        line += found.count("\n")
        at = piece.end()
    result.append(Token("end", "", line))
    return result


def number(text):
    """The value of a number token; of one that is longer than any valid one, a value that is out of every range."""
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    if len(digits) > 64:
        return sign << 256
    if digits[:2] in ("0x", "0X"):
        return sign * int(digits, 16)
    return sign * int(digits, 8 if digits.startswith("0") else 10)
