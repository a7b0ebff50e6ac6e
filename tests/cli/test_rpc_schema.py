# SPDX-License-Identifier: Apache-2.0
"""sw/rpc-schema: what it makes of the server's programs, of every construct, and of random types. Needs no build."""

import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, "sw"))

from rpc_schema import schema  # pylint: disable=wrong-import-position
from rpc_schema.mistake import Mistake  # pylint: disable=wrong-import-position
from rpc_schema.parser import parse  # pylint: disable=wrong-import-position

SERVICES = os.path.join(SOURCE, "protocols/rpc/services.x")
CONSTRUCTS = os.path.join(SOURCE, "tests/cli/rpc_schema_constructs.x")
RANDOM_TYPES = 3000
COPY, SWAP, HIGH, LOW = range(4)
NONE, OPAQUE, SCALARS, HYPERS = range(4)


def rpc_schema(*arguments):
    return subprocess.run([os.path.join(SOURCE, "sw/rpc-schema"), *arguments], capture_output=True, text=True, check=False)


def as_json(*arguments):
    result = rpc_schema(*arguments, "--json")
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    return json.loads(result.stdout)


def procedures(document):
    """Every procedure by its name; of those of the same name, the first."""
    result = {}
    for program in document["programs"]:
        for version in program["versions"]:
            for procedure in version["procedures"]:
                result.setdefault(procedure["name"], procedure)
    return result


def words(classes, shape=0):
    """The registers of a part, by what rpc_decoder_regs.h says of them."""
    return sum(c << 2 * i for i, c in enumerate(classes)), shape | len(classes)


def counted(array, limit, classes=()):
    return words(classes, limit << 16 | 1 << 15 | array << 13)


def fixed(array, limit, classes=()):
    return words(classes, limit << 16 | array << 13)


def registers(parts):
    return [(p["classes"], p["shape"]) for p in parts]


def compile_first(text):
    file = parse("x.x", text)
    return schema.Compiler(file), file.programs[0].versions[0].procedures[0]


def parts_of(text):
    """The parts of the arguments of a file's first procedure."""
    compiled, procedure = compile_first(text)
    return [(p.classes(), p.shape()) for p in compiled.arguments(procedure)]


def arms(result):
    return [("default" if a["is_default"] else a["value"], registers(a["parts"])) for a in result["arms"]]


PLAIN = {"CALC_NULL": [], "CALC_ADD": [words([SWAP] * 2)], "CALC_CHECKSUM": [counted(OPAQUE, 65535)],
         "CALC_SORT": [counted(SCALARS, 65535)], "CALC_SPIN": [words([SWAP])],
         "ECHO_NULL": [], "ECHO_ECHO": [counted(OPAQUE, 65535)],
         "KV_NULL": [], "KV_GET": [counted(OPAQUE, 64)], "KV_PUT": [counted(OPAQUE, 64), counted(OPAQUE, 512)],
         "PORTMAPPER_NULL": [], "PORTMAPPER_SET": [words([SWAP] * 4)], "PORTMAPPER_UNSET": [words([SWAP] * 4)],
         "PORTMAPPER_GETPORT": [words([SWAP] * 4)], "PORTMAPPER_DUMP": [],
         "PORTMAPPER_CALLIT": [counted(OPAQUE, 65535, [SWAP] * 3)]}
RESULTS = {"CALC_NULL": [], "CALC_ADD": [words([SWAP])], "CALC_CHECKSUM": [words([SWAP])], "CALC_SORT": [counted(SCALARS, 65535)],
           "CALC_SPIN": [], "ECHO_NULL": [], "ECHO_ECHO": [counted(OPAQUE, 65535)], "KV_NULL": [], "KV_PUT": [words([SWAP])],
           "PORTMAPPER_NULL": [], "PORTMAPPER_SET": [words([SWAP])], "PORTMAPPER_UNSET": [words([SWAP])],
           "PORTMAPPER_GETPORT": [words([SWAP])], "PORTMAPPER_CALLIT": [counted(OPAQUE, 65535, [SWAP])]}


class Services(unittest.TestCase):
    def test_arguments(self):
        self.assertEqual({name: registers(p["arguments"]) for name, p in procedures(as_json(SERVICES)).items()}, PLAIN)

    def test_results(self):
        found = {name: p["result"] for name, p in procedures(as_json(SERVICES)).items()}
        self.assertEqual(found.pop("PORTMAPPER_DUMP"),
                         {"has_status": False, "arms": [], "why": "line 82 has optional data (mappings_t)"})
        get = found.pop("KV_GET")
        self.assertEqual((get["has_status"], arms(get)), (True, [(0, [counted(OPAQUE, 512)]), ("default", [])]))
        self.assertFalse(any(result["has_status"] for result in found.values()))
        self.assertEqual({name: arms(result) for name, result in found.items()},
                         {name: [("default", parts)] for name, parts in RESULTS.items()})

    def test_every_procedure_of_the_firmware_is_there(self):
        names = []
        for folder in ("firmware/programs", "firmware/rpc"):
            for file in sorted(os.listdir(os.path.join(SOURCE, folder))):
                if file.endswith(".c"):
                    with open(os.path.join(SOURCE, folder, file), encoding="utf-8") as source:
                        names += re.findall(r"\[([A-Z_]+)\] = \w+[,)]", source.read())
        self.assertGreater(len(names), 15)
        self.assertEqual(sorted(names), sorted(procedures(as_json(SERVICES))))

    def test_one_program_only(self):
        document = as_json(SERVICES, "--program", "KV")
        self.assertEqual([p["name"] for p in document["programs"]], ["KV"])
        self.assertEqual(document["programs"][0]["number"], 0x20000003)

    def test_the_registers_are_those_of_the_decoder(self):
        with open(os.path.join(SOURCE, "models/nic/rpc_decoder/rpc_decoder_regs.h"), encoding="utf-8") as file:
            defined = {name: int(value.rstrip("u"), 0) for name, value in re.findall(r"#define (\w+) (\w+)", file.read())
                       if value[0].isdigit()}
        for name, value in (("PARTS", schema.PARTS), ("PART_WORDS_MOST", schema.WORDS_MOST), ("ARRAY_NONE", schema.NONE),
                            ("ARRAY_OPAQUE", schema.OPAQUE), ("ARRAY_SCALARS", schema.SCALARS), ("ARRAY_HYPERS", schema.HYPERS),
                            ("CLASS_COPY", schema.COPY), ("CLASS_SWAP", schema.SWAP), ("CLASS_HYPER_HIGH", schema.HYPER_HIGH),
                            ("CLASS_HYPER_LOW", schema.HYPER_LOW), ("SHAPE_ARRAY_SHIFT", schema.ARRAY_SHIFT),
                            ("SHAPE_COUNTED", schema.COUNTED), ("SHAPE_LIMIT_SHIFT", schema.LIMIT_SHIFT),
                            ("SHAPE_LIMIT", schema.LIMIT_MOST << schema.LIMIT_SHIFT)):
            self.assertEqual(defined["RPCD_" + name], value, name)


class Constructs(unittest.TestCase):
    def test_constants(self):
        self.assertEqual(as_json(CONSTRUCTS)["constants"],
                         {"DECIMAL": 5, "HEXADECIMAL": 31, "OCTAL": 8, "NEGATIVE": -3, "OF_ANOTHER": 31, "RED": 0, "GREEN": 5,
                          "BLUE": 6, "GREY": -1})

    def test_arguments(self):
        found = {name: registers(p["arguments"]) for name, p in procedures(as_json(CONSTRUCTS)).items()}
        pair = [HIGH, LOW]
        self.assertEqual(found, {
            "FIRST_NULL": [], "SCALAR_TYPES": [words([SWAP] * 3 + pair * 2 + [SWAP] * 3 + pair + [SWAP] * 4)],
            "ARRAY_TYPES": [counted(HYPERS, 7, [SWAP] * 7 + [COPY])],
            "LONG_ARRAYS": [fixed(SCALARS, 101), fixed(OPAQUE, 1024), fixed(HYPERS, 62), counted(SCALARS, 65535)],
            "BYTES": [words([COPY] * 8)], "NAMES": [counted(OPAQUE, 8)], "RENAMED": [words([SWAP] * 3)],
            "LISTS": [counted(OPAQUE, 65535)], "TREES": [words(pair)], "UNIONS": [words(pair)],
            "CROWDS": [counted(OPAQUE, 65535)]})

    def test_results(self):
        found = {name: p["result"] for name, p in procedures(as_json(CONSTRUCTS)).items()}
        row = [words([SWAP] * 4)]
        self.assertEqual({name: arms(r) for name, r in found.items() if r["has_status"]}, {
            "ARRAY_TYPES": [(0, [counted(OPAQUE, 8)]), (5, row), (6, row), ("default", [])],
            "LONG_ARRAYS": [(1, [words([SWAP] * 3)]), (0, [])],
            "BYTES": [(0x80000000, [words([HIGH, LOW])]), (1, [])]})
        self.assertEqual({name: arms(r) for name, r in found.items() if not r["has_status"] and r["arms"]}, {
            "FIRST_NULL": [("default", [])], "SCALAR_TYPES": [("default", [words([SWAP] * 3)])],
            "NAMES": [("default", [counted(OPAQUE, 65535)])], "RENAMED": [("default", row)]})
        self.assertEqual({name: r["why"] for name, r in found.items() if not r["arms"]}, {
            "LISTS": "line 62 has optional data (next)", "TREES": "line 66 has an array of structs (children)",
            "UNIONS": "line 92 has a union (flagged)",
            "CROWDS": "line 95 has a union of more than 4 cases, its default included (crowded_t)"})

    def test_numbers(self):
        first, second = as_json(CONSTRUCTS)["programs"]
        self.assertEqual([(v["name"], v["number"], [p["number"] for p in v["procedures"]]) for v in first["versions"]],
                         [("FIRST_V1", 1, [0, 1, 2, 3, 16, 15]), ("FIRST_V2", 2, [0, 0xffffffff])])
        self.assertEqual(second["versions"][0]["number"], 5)

    def test_rpcgen_reads_both_files(self):
        rpcgen = shutil.which("rpcgen")
        if rpcgen is None:
            self.skipTest("there is no rpcgen")
        for path in (SERVICES, CONSTRUCTS):
            result = subprocess.run([rpcgen, "-h", path], capture_output=True, text=True, check=False)
            self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_what_rfc_4506_has_and_rpcgen_has_not(self):
        text = """struct a_t { struct { int x; hyper y; } inner; enum { ON = 1, OFF = 0 } switched; opaque none[0]; int few<0>; };
                  union r_t switch (enum { GOOD = 0, BAD = 1 } status) { case GOOD: struct { int z; } value; case BAD: void; };
                  program P { version V { r_t Q(a_t, string, int) = 1; } = 1; } = 1;"""
        compiled, procedure = compile_first(text)
        self.assertEqual(parts_of(text), [counted(SCALARS, 0, [SWAP, HIGH, LOW, SWAP]), counted(OPAQUE, 65535), words([SWAP])])
        result = compiled.result(procedure)
        self.assertEqual([(a.value, a.is_default, [p.words for p in a.parts]) for a in result.arms],
                         [(0, False, [[SWAP]]), (1, False, [])])

    def test_the_largest_schemas(self):
        text = "struct a_t {{ {} }}; program P {{ version V {{ void Q(a_t) = 1; }} = 1; }} = 1;"
        part = "".join("int a{0}{1}; opaque b{0}{1}[4]; ".format("{0}", i) for i in range(8)) + "hyper c{0}<9>; "
        self.assertEqual(parts_of(text.format("".join(part.format(x) for x in "wxyz"))),
                         [counted(HYPERS, 9, [SWAP, COPY] * 8)] * 4)
        # Runs that follow each other are one, of more words than an array may have.
        self.assertEqual(parts_of(text.format("int a; hyper b[32767]; hyper c[32767];")),
                         [fixed(HYPERS, 65534, [SWAP] + [HIGH, LOW] * 7), fixed(HYPERS, 65520)])
        self.assertEqual(parts_of(text.format("int a[65535]; int b[65535]; int c[65535]; int d[65535];")),
                         [fixed(SCALARS, 65535, [SWAP] * 16)] * 3 + [fixed(SCALARS, 65535 - 48)])


PRINT_ROWS = """
static void print_parts(const struct rpc_schema_part* p) {
  for (unsigned i = 0; i < RPC_SCHEMA_PARTS; i++) printf(" %u,%u", (unsigned)p[i].classes, (unsigned)p[i].shape);
}
static void print_rows(const struct rpc_schema_arguments* a, const struct rpc_schema_result* r, unsigned rows) {
  for (; rows > 0; rows--, a++, r++) {
    printf("%u %u %u:", (unsigned)a->program, (unsigned)a->version, (unsigned)a->procedure);
    print_parts(a->parts);
    printf(" | %u %u %u: %u", (unsigned)r->program, (unsigned)r->version, (unsigned)r->procedure, (unsigned)r->has_status);
    for (unsigned i = 0; i < r->arm_count; i++) {
      printf(" / %u %u:", (unsigned)r->arms[i].value, (unsigned)r->arms[i].is_default);
      print_parts(r->arms[i].parts);
    }
    printf("\\n");
  }
}
"""


def parts_row(parts):
    return "".join(f" {p['classes']},{p['shape']}" for p in parts) + " 0,0" * (4 - len(parts))


def expected_rows(document):
    for program in document["programs"]:
        for version in program["versions"]:
            for p in version["procedures"]:
                key = f"{program['number']} {version['number']} {p['number']}:"
                row = f"{key}{parts_row(p['arguments'])} | {key} {int(p['result']['has_status'])}"
                for arm in p["result"]["arms"]:
                    row += f" / {arm['value'] & 0xffffffff} {int(arm['is_default'])}:{parts_row(arm['parts'])}"
                yield row


class Header(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def compiled(self, compiler, standard, ending, headers, names):
        path = os.path.join(self.directory, "print" + ending)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#include <stdio.h>\n" + "".join(f'#include "{h}"\n' for h in headers) + PRINT_ROWS + "int main(void) {\n")
            for name in names:
                low = name.lower()
                file.write(f"  print_rows({low}_arguments, {low}_results, sizeof {low}_arguments / sizeof *{low}_arguments);\n")
            file.write("  return 0;\n}\n")
        program = os.path.join(self.directory, "print")
        subprocess.run([compiler, standard, "-pedantic", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-I", self.directory, path,
                        "-o", program], check=True)
        return subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()

    def test_c_and_cplusplus_read_what_json_says(self):
        for path, name in ((SERVICES, "s.h"), (CONSTRUCTS, "c.h")):
            result = rpc_schema(path, "--c", os.path.join(self.directory, name))
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        result = rpc_schema(SERVICES, CONSTRUCTS, "--c", os.path.join(self.directory, "both.h"))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        document = as_json(SERVICES, CONSTRUCTS)
        names = [program["name"] for program in document["programs"]]
        for compiler, standard, ending in (("gcc", "-std=c11", ".c"), ("g++", "-std=c++20", ".cpp")):
            if shutil.which(compiler) is None:
                self.skipTest(f"there is no {compiler}")
            for headers in (["s.h", "c.h"], ["both.h"]):
                self.assertEqual(self.compiled(compiler, standard, ending, headers, names), list(expected_rows(document)))

    def test_extreme_constants(self):
        path = os.path.join(self.directory, "x.x")
        values = (-1 << 63, -(1 << 63) + 1, -(1 << 31) - 1, -1 << 31, -1, 0, (1 << 32) - 1, 1 << 32, (1 << 64) - 1)
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"const C{i} = {value};\n" for i, value in enumerate(values))
        self.assertEqual(rpc_schema(path, "--c", os.path.join(self.directory, "x.h")).returncode, 0)
        source = '#include "x.h"\n#include <stdio.h>\nint main(void) {\n'
        source += "".join(f'  printf("%{"lld" if v < 0 else "llu"}\\n", ({"" if v < 0 else "unsigned "}long long)C{i});\n'
                          for i, v in enumerate(values))
        with open(os.path.join(self.directory, "x.c"), "w", encoding="utf-8") as file:
            file.write(source + "  return 0;\n}\n")
        program = os.path.join(self.directory, "x")
        if shutil.which("gcc") is None:
            self.skipTest("there is no gcc")
        subprocess.run(["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", program + ".c", "-o", program], check=True)
        self.assertEqual(subprocess.run([program], capture_output=True, text=True, check=True).stdout.split(),
                         [str(value) for value in values])


# -------------------------------------------------------------------------------------------------------- random types

class RandomType:
    """A struct of random members, and how XDR (RFC 4506) writes a random value of it: its bytes and each word's class."""

    SCALARS = ("int", "unsigned", "unsigned int", "bool", "float", "choice_t")
    HYPERS = ("hyper", "unsigned hyper", "double")

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.text, self.count = "enum choice_t { YES, NO };\n", 0
        self.plan = self.structure("args_t", 0)
        self.text += "program P { version V { void Q(args_t) = 1; } = 1; } = 1;\n"

    def structure(self, name, depth):
        lines, plan = [], []
        for i in range(self.random.randint(1, 6)):
            line, steps = self.member(f"m{i}", depth)
            lines.append(f"  {line};\n")
            plan += steps
        self.text += f"struct {name} {{\n{''.join(lines)}}};\n"
        return plan

    def member(self, name, depth):
        """The declaration, and (what, how many) for each step of marshalling."""
        r = self.random
        choice = r.randrange(9 if depth < 2 else 8)
        size = r.choice((0, 1, 2, 3, 4, 5, 8, 15, 16, 17, 20, 33))
        if choice < 2:
            return f"{r.choice(self.SCALARS)} {name}", [("scalars", 1)]
        if choice == 2:
            return f"{r.choice(self.HYPERS)} {name}", [("hypers", 1)]
        if choice == 3:
            return f"opaque {name}[{size}]", [("opaque", size)]
        if choice == 4 and r.random() < 0.7:
            return f"{r.choice(('opaque', 'string'))} {name}<{size}>", [("counted opaque", size)]
        if choice == 5:
            return f"{r.choice(self.SCALARS)} {name}[{size}]", [("scalars", size)]
        if choice == 6:
            return f"{r.choice(self.HYPERS)} {name}[{size}]", [("hypers", size)]
        if choice == 7 and r.random() < 0.7:
            what = r.choice(("scalars", "hypers"))
            return f"{r.choice(self.SCALARS if what == 'scalars' else self.HYPERS)} {name}<{size}>", [("counted " + what, size)]
        if choice == 8:
            self.count += 1
            inner = f"inner{self.count}_t"
            return f"{inner} {name}", self.structure(inner, depth + 1)
        return f"int {name}", [("scalars", 1)]

    def marshalled(self):
        data, classes = b"", []
        for what, size in self.plan:
            if what.startswith("counted"):
                size = self.random.choice((0, size, self.random.randint(0, size)))
                data += struct.pack(">I", size)
                classes.append(SWAP)
            data += self.random.randbytes(size * {"opaque": 1, "scalars": 4, "hypers": 8}[what.split()[-1]])
            data += bytes(-len(data) % 4)
            classes += {"opaque": [COPY] * ((size + 3) // 4), "scalars": [SWAP] * size,
                        "hypers": [HIGH, LOW] * size}[what.split()[-1]]
        return data, classes

    def fewest_parts(self):
        """By trying every number of words before every array."""
        units = []
        for what, size in self.plan:
            units += [what] if what.startswith("counted") else [what] * ((size + 3) // 4 if what == "opaque" else size)
        fewest = [0] * (len(units) + 1)
        for at in reversed(range(len(units))):
            ends, used, end = set(), 0, at  # end: behind the words, before the array
            while used <= 16:
                ends.add(end)
                if end == len(units):
                    break
                if units[end].startswith("counted"):
                    ends.add(end + 1)
                    break
                array = end
                while array < len(units) and units[array] == units[end]:
                    array += 1
                ends.add(array)
                used += 2 if units[end] == "hypers" else 1
                end += 1
            fewest[at] = 1 + min(fewest[e] for e in ends if e > at)
        return fewest[0]


def walk(parts, data):
    """What models/nic/rpc_decoder/decode.cpp does: the class of each word, and how many bytes it takes."""
    classes, at = [], 0
    for part in parts:
        value, shape = part.classes(), part.shape()
        for w in range(shape & 0x1f):
            classes.append(value >> 2 * w & 3)
            at += 4
        array, count = shape >> 13 & 3, shape >> 16
        if shape >> 15 & 1:
            count, limit = struct.unpack_from(">I", data, at)[0], count
            assert count <= limit
            classes.append(SWAP)
            at += 4
            count = {NONE: 0, OPAQUE: (count + 3) // 4, SCALARS: count, HYPERS: 2 * count}[array]
        classes += {NONE: [], OPAQUE: [COPY] * count, SCALARS: [SWAP] * count, HYPERS: [HIGH, LOW] * (count // 2)}[array]
        at += 4 * count
    return classes, at


class RandomTypes(unittest.TestCase):
    def test_a_schema_consumes_what_xdr_writes(self):
        fit = 0
        for seed in range(RANDOM_TYPES):
            made = RandomType(seed)
            compiled, procedure = compile_first(made.text)
            try:
                parts = compiled.arguments(procedure)
            except Mistake as mistake:
                self.assertIn("more than 4 parts", str(mistake))
                self.assertGreater(made.fewest_parts(), 4, made.text)
                continue
            fit += 1
            self.assertEqual(len(parts), made.fewest_parts(), made.text)
            for _ in range(3):
                data, classes = made.marshalled()
                self.assertEqual(walk(parts, data), (classes, len(data)), made.text)
            for part in parts:
                self.assertEqual(part.words.count(HIGH), part.words.count(LOW))
        self.assertGreater(fit, RANDOM_TYPES // 2)
        self.assertLess(fit, RANDOM_TYPES * 19 // 20)


if __name__ == "__main__":
    unittest.main()
