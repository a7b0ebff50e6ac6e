# SPDX-License-Identifier: Apache-2.0
"""sw/rpc-schema: what a user has wrong ends in one sentence and exit status 2. Needs no build."""

import contextlib
import io
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, "sw"))

from rpc_schema.command import main  # pylint: disable=wrong-import-position

SERVICES = os.path.join(SOURCE, "protocols/rpc/services.x")
CONSTRUCTS = os.path.join(SOURCE, "tests/cli/rpc_schema_constructs.x")
COMMAND = os.path.join(SOURCE, "sw/rpc-schema")
MUTANTS = 2000
TOKEN = re.compile(r"\s+|/\*.*?\*/|[A-Za-z0-9_]+|.", re.DOTALL)
SENTENCE = r"\A[^\n]*x\.x:\d+: [^\n]+(valid[^\n]*|define some|ends it|\?|values are [^\n]*|to -?\d+)\n\Z"

# What a program is around the arguments that are looked at.
AROUND = "program P {{ version V {{ void Q({}) = 1; }} = 1; }} = 1;\n"
FIT = "; valid are structs of scalars, strings, opaque data and arrays of scalars"
NOT_TAKEN = "x.x:{}: the arguments of Q have {}, which the RPC decoder does not take"

# A file, and its sentence behind "x.x:".
SYNTAX = (
    ("const A = 1\nconst B = 2;\n", '2: there is "const" where ";" would be valid'),
    ("struct a {\n  int b;\n", "3: the file ends where a type would be valid"),
    ("struct a {\n};\n", '2: there is "}" where a type would be valid'),
    ("struct a {\n  void;\n};\n", '2: there is "void" where a type would be valid'),
    ("struct a { int b; int c; int b; };", "1: b is already a member, in line 1; another name would be valid"),
    ("strukt a { int b; };",
     '1: there is "strukt" where "const", "typedef", "enum", "struct", "union" or "program" would be valid'),
    ("struct int { int b; };", '1: there is "int" where a struct\'s name would be valid'),
    ("typedef opaque a;", '1: there is ";" where "[" or "<" would be valid'),
    ("typedef string a;", '1: there is ";" where "<" would be valid'),
    ("typedef string a[4];", '1: there is "[" where "<" would be valid'),
    ("typedef int a[];", '1: there is "]" where a number or a constant would be valid'),
    ("enum a { B = 1, };", '1: there is "}" where an enumerator\'s name would be valid'),
    ("struct a { struct; };", '1: there is ";" where the name or the body of a struct would be valid'),
    ("\n/* no end\n", "2: the comment that begins here has no end; */ ends it"),
    ("const A = 08;", "1: 08 is no number; valid are decimal ones, hexadecimal ones behind 0x and octal ones behind 0"),
    ("const A = 0x;", "1: 0x is no number; valid are decimal ones, hexadecimal ones behind 0x and octal ones behind 0"),
    ("const A = 12ab;", "1: 12ab is no number; valid are decimal ones, hexadecimal ones behind 0x and octal ones behind 0"),
    ('const A = "b";', '1: """ is no part of the RPC language; valid are names, numbers, /* comments */ and '
                       "{ } ( ) [ ] < > * , ; : ="),
    ("const A = 1; // b\n", '1: "/" is no part of the RPC language; valid are names, numbers, /* comments */ and '
                            "{ } ( ) [ ] < > * , ; : ="),
    ("const A\x00 = 1;", "1: U+0000 is no part of the RPC language; valid are names, numbers, /* comments */ and "
                         "{ } ( ) [ ] < > * , ; : ="),
    ("program P { } = 1;", '1: there is "}" where "version" would be valid'),
    ("program P { version V { } = 1; } = 1;", '1: there is "}" where a type would be valid'),
    ("program P { version V { void Q() = 1; } = 1; } = 1;", '1: there is ")" where a type would be valid'),
    ("program P { version V { void Q(int, void) = 1; } = 1; } = 1;", '1: there is "void" where a type would be valid'),
    ("program P { version V { void Q(opaque) = 1; } = 1; } = 1;", '1: there is "opaque" where a type would be valid'),
    ("union u switch (int a) { default: void; };", "1: a union has only a default; at least one case would be valid"),
    ("union u switch (int a) { };", '1: there is "}" where "case" or "default" would be valid'),
    ("union u switch (int a) { case 1: void; default: void; case 2: void; };", '1: there is "case" where "}" would be valid'),
    ("typedef " + "struct { " * 65 + "int a; " + "} b; " * 65,
     "1: types are nested deeper than 64; a typedef in between would be valid"),
)
NAMES = (
    ("struct key_data_t { int a; };\nstruct b {\n  keydata_t c;\n};\n",
     "3: no type keydata_t is defined; did you mean key_data_t?"),
    ("struct b {\n  zebra c;\n};\n", "2: no type zebra is defined; typedef, enum, struct and union define some"),
    ("const KEY_MAX = 4;\ntypedef opaque a<KEYMAX>;", "2: no constant KEYMAX is defined above; did you mean KEY_MAX?"),
    ("typedef opaque a<Z>;", "1: no constant Z is defined above; const and enum define some"),
    ("typedef int a[LATER];\nconst LATER = 1;", "1: no constant LATER is defined above; const and enum define some"),
    ("const A = 1;\nconst A = 1;", "2: A is already defined in line 1; another name would be valid"),
    ("const A = 1;\nenum b { A };", "2: A is already defined in line 1; another name would be valid"),
    ("struct a { int b; };\n\ntypedef int a;", "3: a is already defined in line 1; another name would be valid"),
    ("typedef int uint32_t;", "1: uint32_t is already defined by the language; another name would be valid"),
    ("enum a { TRUE };", "1: TRUE is already defined by the language; another name would be valid"),
    ("const for = 1;", "1: for is a word of C or C++; another name would be valid"),
    ("const P = 1;\nprogram P { version V { void Q(void) = 1; } = 1; } = 1;",
     "2: P is already defined in line 1; another name would be valid"),
    ("program P {\nversion V { void Q(void) = 1; } = 1;\nversion V { void Q(void) = 1; } = 2; } = 1;",
     "3: V is already defined in line 2; another name would be valid"),
    ("program P { version V { void Q(void) = 1;\n void Q(void) = 2; } = 1; } = 1;",
     "2: Q is already defined in line 1; another name would be valid"),
    ("const Q = 1;\n" + AROUND.format("void"), "2: Q is already defined in line 1; another name would be valid"),
    ("program P { version V { void Q(void) = 1; } = 1;\n version W { void Q(void) = 2; } = 2; } = 1;",
     "2: Q is 2 here and 1 in line 1; another name would be valid"),
    ("program P { version V { void Q(void) = 1; } = 1; } = 7;\nprogram R { version S { void T(void) = 1; } = 1; } = 7;",
     "2: program number 7 is already P's, in line 1; another number would be valid"),
    ("program P { version V { void Q(void) = 1; } = 1;\n version W { void Q(void) = 1; } = 1; } = 1;",
     "2: version number 1 is already V's, in line 1; another number would be valid"),
    ("program P { version V { void Q(void) = 1;\n void R(void) = 1; } = 1; } = 1;",
     "2: procedure number 1 is already Q's, in line 1; another number would be valid"),
    ("program Pq { version V { void Q(void) = 1; } = 1; } = 1;\nprogram PQ { version V { void Q(void) = 1; } = 1; } = 2;",
     "2: PQ and Pq differ only in capitals; another name would be valid"),
    ("struct a { b c; };\nstruct b { a c; };", "2: a is a part of itself; optional data (*) or an array would be valid"),
    ("typedef a b;\ntypedef b a;", "2: b is a part of itself; optional data (*) or an array would be valid"),
    ("typedef int a0;\n" + "".join(f"typedef a{i} a{i + 1};\n" for i in range(5000)),
     "127: types are nested deeper than 128; fewer of them would be valid"),
    ("".join(f"struct a{i} {{ struct {{ a{i + 1} b; }} c; }};\n" for i in range(5000)) + "typedef int a5000;\n",
     "63: types are nested deeper than 128; fewer of them would be valid"),
)
RANGES = (
    ("const A = 18446744073709551616;",
     "1: 18446744073709551616 is out of range; a constant is -9223372036854775808 to 18446744073709551615"),
    ("const A = 1" + "0" * 5000 + ";",
     "1: 1" + "0" * 39 + " is out of range; a constant is -9223372036854775808 to 18446744073709551615"),
    ("enum a { B = 2147483648 };", "1: 2147483648 is out of range; an enumerator is -2147483648 to 2147483647"),
    ("enum a { B = 2147483647, C };", "1: C is out of range; an enumerator is -2147483648 to 2147483647"),
    ("typedef int a[-1];", "1: -1 is out of range; an array's length is 0 to 4294967295"),
    ("typedef int a<4294967296>;", "1: 4294967296 is out of range; an array's length is 0 to 4294967295"),
    ("program P { version V { void Q(void) = 1; } = 1; } = 0x100000000;",
     "1: 0x100000000 is out of range; a program number is 0 to 4294967295"),
    ("program P { version V { void Q(void) = 1; } = -1; } = 1;", "1: -1 is out of range; a version number is 0 to 4294967295"),
    ("program P { version V { void Q(void) = -1; } = 1; } = 1;", "1: -1 is out of range; a procedure number is 0 to 4294967295"),
    ("union u switch (bool a) { case 2: void; };", "1: 2 is out of range; a case is 0 to 1"),
    ("union u switch (int a) { case 2147483648: void; };", "1: 2147483648 is out of range; a case is -2147483648 to 2147483647"),
    ("union u switch (int a) {\n case 1: void;\n case 1: void; };",
     "3: there is already a case 1, in line 2; another value would be valid"),
    ("enum e { GOOD, BAD };\nconst GOOSE = 4;\nunion u switch (e a) {\n case GOOSE: void; };",
     "4: GOOSE is no value of e; did you mean GOOD?"),
    ("enum e { GOOD, BAD };\nunion u switch (e a) {\n case 7: void; };", "3: 7 is no value of e; its values are GOOD, BAD"),
    ("union u switch (hyper a) { case 1: void; };",
     "1: a cannot tell the cases of a union apart; an int, unsigned, bool or enum would be valid"),
    ("union u switch (int a<>) { case 1: void; };",
     "1: a cannot tell the cases of a union apart; an int, unsigned, bool or enum would be valid"),
)
# Types, the arguments, the line, what they have, and what would be valid.
UNFIT = (
    ("union u switch (int a) { case 1: void; };\n", "u", 2, "a union (u)", FIT),
    ("union u switch (int a) { case 1: void; };\nstruct s {\n  u inside;\n};\n", "s", 3, "a union (inside)", FIT),
    ("struct list {\n  int a;\n  list *next;\n};\n", "list", 3, "optional data (next)", FIT),
    ("struct s { int a; };\ntypedef s many<4>;\n", "many", 2, "an array of structs (many)", FIT),
    ("struct s { int a; };\ntypedef s two[2];\n", "two", 2, "an array of structs (two)", FIT),
    ("struct tree {\n  tree children<>;\n};\n", "tree", 2, "an array of structs (children)", FIT),
    ("union u switch (int a) { case 1: void; };\ntypedef u many<>;\n", "many", 2, "an array of unions (many)", FIT),
    ("typedef string name<8>;\ntypedef name names<>;\n", "names", 2, "an array of strings (names)", FIT),
    ("typedef opaque mac[6];\ntypedef mac macs[2];\n", "macs", 2, "an array of opaque data (macs)", FIT),
    ("typedef int row[4];\ntypedef row rows[4];\n", "rows", 2, "an array of arrays (rows)", FIT),
    ("typedef int *one;\ntypedef one ones<>;\n", "ones", 2, "an array of optional data (ones)", FIT),
    ("typedef quadruple four;\n", "four", 2, "a quadruple (four)", FIT),
    ("typedef quadruple fours<2>;\n", "fours", 1, "an array of quadruples (fours)", FIT),
    ("typedef opaque long_t<65536>;\n", "long_t", 1, "long_t of up to 65536 bytes", "; at most 65535 would be valid"),
    ("typedef hyper long_t<70000>;\n", "long_t", 1, "long_t of up to 70000 elements", "; at most 65535 would be valid"),
    ("typedef hyper long_t[40000];\n", "long_t", 1, "long_t of 80000 words", "; at most 65535 would be valid"),
    ("", "string, string, string, string, int", 1, "more than 4 parts, each of up to 16 words and an array",
     "; fewer strings, opaque data and arrays would be valid"),
    ("struct a { int x; string y<>; };\n" + "".join(
        f"struct {b} {{ {a} x; {a} y; }};\n" for a, b in zip("abcdefghijklmnopqrstuvw", "bcdefghijklmnopqrstuvwx")),
     "x", 25, "more than 4 parts, each of up to 16 words and an array", "; fewer strings, opaque data and arrays would be valid"),
)


def in_process(*arguments):
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        status = main(list(arguments))
    return status, out.getvalue(), error.getvalue()


class Mistakes(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(directory.name)

    def refused(self, text, sentence):
        with open("x.x", "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        for output in (["--json"], ["--c", "x.h"]):
            self.assertEqual(in_process("x.x", *output), (2, "", sentence + "\n"))
        self.assertFalse(os.path.exists("x.h"))

    def test_files(self):
        for text, sentence in SYNTAX + NAMES + RANGES:
            with self.subTest(text=text[:200]):
                self.refused(text, "x.x:" + sentence)

    def test_arguments_that_the_decoder_does_not_take(self):
        for types, arguments, line, what, valid in UNFIT:
            with self.subTest(types=types):
                self.refused(types + AROUND.format(arguments), NOT_TAKEN.format(line, what) + valid)

    def test_what_is_just_valid(self):
        for types, arguments in (("typedef opaque a<65535>;", "a"), ("typedef int a[65535];", "a"),
                                 ("", "string, string, string, string"),
                                 ("enum e { B = -2147483648, C = 2147483647 };", "e"),
                                 ("typedef " + "struct { " * 64 + "int a; " + "} b; " * 64, "int"),
                                 ("typedef int a0;" + "".join(f"typedef a{i} a{i + 1};" for i in range(125)), "a125"),
                                 ("struct a0 { int x; };" + "".join(f"struct a{i + 1} {{ a{i} x; a{i} y; }};" for i in range(14)),
                                  "a14")):
            with self.subTest(types=types[:100]):
                with open("x.x", "w", encoding="utf-8") as file:
                    file.write(types + "\n" + AROUND.format(arguments))
                self.assertEqual(in_process("x.x", "--c", "x.h"), (0, "", ""))

    def test_several_files(self):
        def write(name, text):
            with open(name, "w", encoding="utf-8") as file:
                file.write(text)
        write("a.x", "const A = 1;\n" + AROUND.format("void"))
        for text, sentence in (
                ("const A = 2;", "b.x:1: A is 2 here and 1 in a.x:1; another name would be valid"),
                ("program R { version S { void T(void) = 1; } = 1; } = 1;",
                 "b.x:1: program number 1 is already P's, in a.x:2; another number would be valid")):
            write("b.x", text)
            self.assertEqual(in_process("a.x", "b.x", "--json"), (2, "", sentence + "\n"))
        write("b.x", "const A = 1;")
        self.assertEqual(in_process("a.x", "b.x", "--c", "x.h"), (0, "", ""))
        write("b.x", "const p_results = 1;")
        self.assertEqual(in_process("a.x", "b.x", "--c", "x.h"),
                         (2, "", "b.x:1: p_results is a name of the header's own; another name would be valid\n"))

    def test_another_programs_arguments_do_not_matter(self):
        with open("x.x", "w", encoding="utf-8") as file:
            file.write("typedef int *a;\n" + AROUND.format("a") + "program R { version S { void T(void) = 1; } = 1; } = 2;\n")
        self.assertEqual(in_process("x.x", "--json", "--program", "R")[0], 0)
        self.assertEqual(in_process("x.x", "--json", "--program", "P")[0], 2)

    def test_command_line(self):
        with open("none.x", "w", encoding="utf-8"):
            pass
        for arguments, sentence in (
                (["--json"], "the following arguments are required: FILE.x; --help says what is valid"),
                ([SERVICES], "there is neither --c HEADER.h nor --json; --help says what is valid"),
                ([SERVICES, "--jsn"], "unrecognized arguments: --jsn; --help says what is valid"),
                ([SERVICES, "--json", "--program", "CALK"], f"{SERVICES} has no program CALK; did you mean CALC?"),
                ([SERVICES, "--json", "--program", "zebra"],
                 f"{SERVICES} has no program zebra; valid: CALC, ECHO, KV, PORTMAPPER"),
                (["none.x", "--json", "--program", "A"], "none.x has no program A; there is no program at all"),
                ([SERVICES, "none.x", "--json", "--program", "KW"], f"{SERVICES}, none.x have no program KW; did you mean KV?"),
                (["missing.x", "--json"], "missing.x cannot be read: No such file or directory"),
                ([".", "--json"], ". cannot be read: Is a directory"),
                (["/dev/zero", "--json"], "/dev/zero is a device, which may have no end"),
                (["none.x", "--c", "./none.x"], "--c ./none.x would be written over the file that is read"),
                ([SERVICES, "--c", "missing/x.h"], "missing/x.h cannot be written: No such file or directory"),
                ([SERVICES, "--c", "/dev/full"], "/dev/full cannot be written: No space left on device")):
            with self.subTest(arguments=arguments):
                self.assertEqual(in_process(*arguments), (2, "", f"rpc-schema: {sentence}\n"))

    def test_the_command_itself(self):
        with open("x.x", "wb") as file:
            file.write(b"const A = \xff;\n")
        result = subprocess.run([COMMAND, "x.x", "--json"], capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertEqual(result.stderr.count("\n"), 1)
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run([COMMAND, SERVICES, "--json"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr),
                         (2, "rpc-schema: the standard output cannot be written: No space left on device\n"))
        self.assertEqual(subprocess.run([COMMAND, "--help"], capture_output=True, check=False).returncode, 0)


class Mutants(unittest.TestCase):
    """A file in which something was dropped, doubled, exchanged or replaced gives a schema or one sentence, at once."""

    def mutant(self, pieces):
        r = self.random
        for _ in range(r.choice((1, 1, 1, 2, 4))):
            i, j = r.randrange(len(pieces)), r.randrange(len(pieces))
            kind = r.randrange(6)
            if kind == 0:
                del pieces[i]
            elif kind == 1:
                pieces.insert(i, pieces[i])
            elif kind == 2:
                pieces[i] = pieces[j]
            elif kind == 3:
                pieces[i], pieces[j] = pieces[j], pieces[i]
            elif kind == 4:
                pieces[i] = r.choice(("*", "<>", "{", "}", "-1", "4294967296", "99999999999999999999", "/*", "0x", "\n%", "\0",
                                      "\u2028", "é", "union", "string", "opaque", "quadruple", "x" * 3000, "8" * 6000))
            else:
                del pieces[i:i + r.randrange(40)]
            pieces = pieces or [";"]
        return "".join(pieces)

    def test_no_mutant_is_a_traceback(self):
        self.random = random.Random(1)
        texts = []
        for path in (SERVICES, CONSTRUCTS):
            with open(path, encoding="utf-8") as file:
                texts.append(file.read())
        refused = 0
        with tempfile.TemporaryDirectory() as folder:
            path, header = os.path.join(folder, "x.x"), os.path.join(folder, "x.h")
            for i in range(MUTANTS):
                text = texts[i % 4 == 3]
                mutant = self.mutant(TOKEN.findall(text) if i % 2 else list(text))
                with open(path, "w", encoding="utf-8", newline="\n") as file:
                    file.write(mutant)
                begin = time.process_time()
                status, out, error = in_process(path, "--json", "--c", header)
                self.assertLess(time.process_time() - begin, 1)
                if status == 0:
                    self.assertEqual(error, "")
                    continue
                refused += 1
                self.assertEqual((status, out), (2, ""))
                self.assertRegex(error, SENTENCE, mutant)
        self.assertGreater(refused, MUTANTS // 2)
        self.assertLess(refused, MUTANTS)


if __name__ == "__main__":
    unittest.main()
