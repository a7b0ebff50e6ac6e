#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Puts each mistake of mutants.toml into a copy of the ISS; the comparison with what QEMU did must find it.

QEMU runs once, for the images that all mutants then run: PROGRAMS random programs and one round of the systematic
ones. With SLUICE_FULL=1 all mistakes are tried, else the first three.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tomllib

SEED, PROGRAMS = "7", "1000"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, required=True, help="of the sources")
    parser.add_argument("--tool", required=True, help="the differential program")
    parser.add_argument("--harness", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--libraries", nargs="+", required=True, help="what the program is linked from")
    parser.add_argument("--only", type=int, help="this mutant alone, by its number")
    return parser.parse_args()


def apply(source, mutant):
    """The mutated text; a mutant that does not apply, or not in one place only, is an error of the list."""
    text = (source / mutant["file"]).read_text()
    if text.count(mutant["original"]) != 1:
        sys.exit(f"mutants.toml: \"{mutant['what']}\": the original text occurs {text.count(mutant['original'])} times "
                 f"in {mutant['file']}, not once")
    return text.replace(mutant["original"], mutant["mutated"])


def compile_command(options, copy):
    launcher = ["ccache"] if shutil.which("ccache") else []
    return launcher + [options.compiler, "-std=gnu++20", "-O1", "-w", "-ffp-contract=off", f"-I{copy}",
                       f"-I{options.root}"]


def units_with(options, source, copy, name):
    """The sources of the ISS that a change of this file touches."""
    if name.endswith(".cpp"):
        return [name]
    units = []
    for unit in sorted(source.glob("**/*.cpp")):
        # Without the launcher: ccache does not answer -MM.
        command = [options.compiler, "-std=gnu++20", f"-I{copy}", f"-I{options.root}", "-MM", str(unit)]
        rule = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        if f"models/riscv/iss/{name}" in rule:
            units.append(str(unit.relative_to(source)))
    return units


def build(options, mutant, folder):
    """The differential program with the mutated ISS; unmutated parts are those of the build."""
    copy = folder / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    source = copy / "models/riscv/iss"
    shutil.copytree(options.root / "models/riscv/iss", source)
    (source / mutant["file"]).write_text(apply(source, mutant))
    objects = []
    for unit in units_with(options, source, copy, mutant["file"]):
        objects.append(str(folder / (unit.replace("/", "_") + ".o")))
        subprocess.run(compile_command(options, copy) + ["-c", str(source / unit), "-o", objects[-1]], check=True)
    tool = folder / "mutant"
    # The linker leaves out the archive's version of a mutated unit, whose symbols are defined already.
    subprocess.run([options.compiler, *objects, *options.libraries, "-o", str(tool)], check=True)
    return tool


def run_reference(tool, folder):
    """(whether it found a difference, its last line of output)"""
    try:
        result = subprocess.run([str(tool), "--seed", SEED, "--reference", str(folder), "--first"],
                                capture_output=True, text=True, timeout=600)
    except subprocess.TimeoutExpired:
        return True, "it did not end"
    lines = result.stdout.strip().splitlines() or [result.stderr.strip()]
    first = next((line for line in lines if line.startswith(("differs", "the ISS"))), lines[-1])
    if result.returncode not in (0, 1):
        return True, f"it ended with status {result.returncode}"
    return result.returncode == 1, first


def main():
    options = arguments()
    if not shutil.which("qemu-system-riscv64"):
        print("skipped: qemu-system-riscv64 is not installed")
        return 77
    mutants = tomllib.loads((pathlib.Path(__file__).parent / "mutants.toml").read_text())["mutant"]
    for mutant in mutants:
        apply(options.root / "models/riscv/iss", mutant)
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    subprocess.run([options.tool, "--seed", SEED, "--programs", PROGRAMS, "--harness", options.harness, "--work",
                    str(options.work), "--keep"], check=True, stdout=subprocess.DEVNULL)
    found, line = run_reference(options.tool, options.work)
    if found:
        sys.exit(f"the ISS itself differs: {line}")
    chosen = list(enumerate(mutants))
    if options.only is not None:
        chosen = [chosen[options.only]]
    elif os.environ.get("SLUICE_FULL") != "1":
        chosen = chosen[:3]
    missed = 0
    for number, mutant in chosen:
        found, line = run_reference(build(options, mutant, options.work), options.work)
        missed += not found
        print(f"{'caught' if found else 'MISSED'} {number}: {mutant['what']} ({mutant['file']}): {line}", flush=True)
    shutil.rmtree(options.work, ignore_errors=True)
    print(f"{len(chosen) - missed} of {len(chosen)} mutants caught, of {len(mutants)} in the list")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
