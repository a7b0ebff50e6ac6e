# SPDX-License-Identifier: Apache-2.0
"""Schemas as a C header and as JSON."""

import json
import os

from rpc_schema.schema import ARMS, ARRAYS, CLASSES, PARTS
from rpc_schema.tree import text_of

TYPES = f"""#include <stdint.h>

#ifndef RPC_SCHEMA_PARTS
#define RPC_SCHEMA_PARTS {PARTS}u
#define RPC_SCHEMA_ARMS {ARMS}u

/* The registers RPCD_PART_CLASSES and RPCD_PART_SHAPE; parts that are not needed are 0. */
struct rpc_schema_part {{
  uint32_t classes, shape;
}};
struct rpc_schema_arguments {{
  uint32_t program, version, procedure;
  struct rpc_schema_part parts[RPC_SCHEMA_PARTS];
}};
/* What follows a status of this value, or of one that no other arm has. */
struct rpc_schema_arm {{
  uint32_t value, is_default;
  struct rpc_schema_part parts[RPC_SCHEMA_PARTS];
}};
/* has_status: the status comes first, as a word. Without one there is one arm, the default. No arm: the result has no
 * schema. */
struct rpc_schema_result {{
  uint32_t program, version, procedure, has_status, arm_count;
  struct rpc_schema_arm arms[RPC_SCHEMA_ARMS];
}};
#endif
"""


def signature(procedure):
    arguments = ", ".join(text_of(a) for a in procedure.arguments) or "void"
    return f"{text_of(procedure.result)} {procedure.name}({arguments})"


def procedures(program):
    for version in program.versions:
        for procedure in version.procedures:
            yield version, procedure


# ------------------------------------------------------------------------------------------------------------- JSON

def part_json(part):
    return {"classes": part.classes(), "shape": part.shape(), "words": [CLASSES[w] for w in part.words],
            "array": ARRAYS[part.array], "counted": part.counted, "limit": part.limit}


def result_json(result):
    arms = [{"value": arm.value, "is_default": arm.is_default, "parts": [part_json(p) for p in arm.parts]} for arm in result.arms]
    return {"has_status": result.has_status, "arms": arms, **({"why": result.why} if not result.arms else {})}


def procedure_json(procedure, compiled):
    return {"name": procedure.name, "number": procedure.number, "signature": signature(procedure),
            "arguments": [part_json(p) for p in compiled.arguments(procedure)], "result": result_json(compiled.result(procedure))}


def to_json(chosen):
    """chosen: (Specification, Compiler, its programs) of each file."""
    constants = {name: value for file, _, _ in chosen for name, value in file.constants.items()}
    programs = [{"name": program.name, "number": program.number, "file": file.place,
                 "versions": [{"name": version.name, "number": version.number,
                               "procedures": [procedure_json(p, compiled) for p in version.procedures]}
                              for version in program.versions]}
                for file, compiled, some in chosen for program in some]
    return json.dumps({"schema": "sluice-rpc-schema-1", "constants": constants, "programs": programs}, indent=2) + "\n"


# ---------------------------------------------------------------------------------------------------------------- C

def number_text(value):
    if value < -(1 << 63) + 1:
        return f"({value + 1}ll - 1)"
    if value < 0:
        return f"({value}{'ll' if value < -(1 << 31) + 1 else ''})"
    return f"{value}{'u' if value < 1 << 32 else 'ull'}"


def parts_text(parts):
    """What a row leaves out is 0."""
    return "{" + (", ".join(f"{{0x{p.classes():08x}u, 0x{p.shape():08x}u}}" for p in parts) or "{0u, 0u}") + "}"


def result_text(result):
    arms = [f"{{{arm.value & 0xffffffff}u, {int(arm.is_default)}u, {parts_text(arm.parts)}}}" for arm in result.arms]
    return f"{int(result.has_status)}u, {len(result.arms)}u, {{{', '.join(arms) or '{0u, 0u, {{0u, 0u}}}'}}}"


def program_text(program, compiled):
    defines, arguments, results = [f"#define {program.name} 0x{program.number:08x}u"], [], []
    known = set()
    for version in program.versions:
        defines.append(f"#define {version.name} {number_text(version.number)}")
        for procedure in version.procedures:
            if procedure.name not in known:
                defines.append(f"#define {procedure.name} {number_text(procedure.number)}")
            known.add(procedure.name)
    for version, procedure in procedures(program):
        key = f"{program.name}, {version.name}, {procedure.name}"
        arguments.append(f"    /* {signature(procedure)} */\n    {{{key}, {parts_text(compiled.arguments(procedure))}}},\n")
        result = compiled.result(procedure)
        why = f": no schema, {result.why}" if result.why else ""
        results.append(f"    /* {signature(procedure)}{why} */\n    {{{key}, {result_text(result)}}},\n")
    lower, rows = program.name.lower(), f"{program.name}_ROWS"
    return ("\n" + "\n".join(defines) + f"\n#define {rows} {len(arguments)}u\n\n"
            f"static const struct rpc_schema_arguments {lower}_arguments[{rows}] = {{\n{''.join(arguments)}}};\n\n"
            f"static const struct rpc_schema_result {lower}_results[{rows}] = {{\n{''.join(results)}}};\n")


def to_c(chosen):
    names = ", ".join(os.path.basename(file.place) for file, _, _ in chosen)
    names = "".join(c if c.isprintable() else "?" for c in names).replace("*/", "*?")
    constants = {name: value for file, _, _ in chosen for name, value in file.constants.items()}
    text = f"/* The schemas of {names}, by sw/rpc-schema. */\n#pragma once\n\n" + TYPES
    if constants:
        text += "\n" + "".join(f"#define {name} {number_text(value)}\n" for name, value in constants.items())
    return text + "".join(program_text(program, compiled) for _, compiled, some in chosen for program in some)
