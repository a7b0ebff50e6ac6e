# SPDX-License-Identifier: Apache-2.0
"""Puts each mistake of mutants.toml and mutants_twin.toml into a copy of the RPC decoder's RTL or of its twin; the tests that
compare the two must find it.

With SLUICE_FULL=1; else each mistake's text must be where the list says, and nothing is built."""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

HERE = pathlib.Path(__file__).parent
LISTS = ("mutants.toml", "mutants_twin.toml")
MODULE = "rpc_decoder"
LIMIT = 300  # seconds for a test
CXX = ["-std=gnu++20", "-w", "-ffp-contract=off", "-DSC_CPLUSPLUS=201703L", "-DSC_INCLUDE_DYNAMIC_PROCESSES", "-DFMT_SHARED"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, required=True, help="of the sources")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--rtl", nargs="+", required=True, help="the decoder's SystemVerilog")
    parser.add_argument("--verilated", required=True, help="the library that Verilator made of it")
    parser.add_argument("--test", nargs="+", action="append", required=True, help="the objects of a test")
    parser.add_argument("--libraries", nargs="+", required=True, help="what the tests are linked from besides")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", help="the mutants alone whose file or mistake has this expression")
    return parser.parse_args()


def apply(root, mutant):
    """The mutated text; a mutant that does not apply, or not in one place only, is an error of the list."""
    text = (root / mutant["file"]).read_text()
    if text.count(mutant["original"]) != 1:
        sys.exit(f"\"{mutant['what']}\": the original text occurs {text.count(mutant['original'])} times in {mutant['file']}, "
                 "not once")
    return text.replace(mutant["original"], mutant["mutated"])


class NotBuilt(Exception):
    """A mutant, or what it is tried with, that the compilers refuse."""


def call(command, **more):
    run = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **more)
    if run.returncode != 0:
        raise NotBuilt(f"{' '.join(map(str, command))}:\n{run.stdout}{run.stderr}")


def launcher():
    return ["ccache"] if shutil.which("ccache") else []


def verilated(options, folder, changed):
    """A library like that of the build, of sources in which one may be changed: {file: text}."""
    sources = []
    for source in options.rtl:
        text = changed.get(str(pathlib.Path(source).relative_to(options.root)))
        if text is not None:
            source = folder / pathlib.Path(source).name
            source.write_text(text)
        sources.append(source)
    make = "OPT_FAST=-O0 OPT_SLOW=-O0 VM_PARALLEL_BUILDS=0"  # one file: the headers take longest
    call(["verilator", "--cc", "--build", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert", "-Wno-lint",
          "-Wno-fatal", "--prefix", f"V{MODULE}", "--top-module", MODULE, "--Mdir", "verilated", "-CFLAGS",
          "-fPIC -DVL_TIME_CONTEXT -w", "-MAKEFLAGS", make, *sources], cwd=folder)
    return folder / f"verilated/V{MODULE}__ALL.a"


def compiled(options, folder, file, text):
    """The object of a changed source; the linker then leaves out that of the library."""
    source = folder / pathlib.Path(file).name
    source.write_text(text)
    target = folder / "mutant.o"
    call(launcher() + [options.compiler, *CXX, "-O1", f"-I{options.root}", "-c", source, "-o", target])
    return target


def why_it_fails(options, folder, objects, library):
    """What the first test that fails says; "" if none does."""
    for number, test in enumerate(options.test):
        program = folder / f"test{number}"
        call([options.compiler, *objects, *test, "-Wl,--start-group", *options.libraries, library, "-Wl,--end-group", "-lsystemc",
              "-lfmt", "-lz", "-pthread", "-o", program])
        try:
            # What Catch2 prints of bytes need not be UTF-8.
            run = subprocess.run([program, "--abort"], stdin=subprocess.DEVNULL, capture_output=True, encoding="latin-1",
                                 check=False, timeout=LIMIT, env={k: v for k, v in os.environ.items() if k != "SLUICE_FULL"})
        except subprocess.TimeoutExpired:
            return "it did not end"
        program.unlink()
        if run.returncode != 0:
            failed = re.search(r"^  (?:REQUIRE|CHECK)\(.*", run.stdout, re.MULTILINE)
            return failed[0].strip() if failed else f"status {run.returncode}"
    return ""


def try_mutant(options, number, mutant):
    """number None: no mutant, but the same build."""
    folder = options.work / ("none" if number is None else str(number))
    folder.mkdir(parents=True)
    try:
        text = None if mutant is None else apply(options.root, mutant)
        if mutant is None or mutant["file"].endswith(".sv"):
            return why_it_fails(options, folder, [], verilated(options, folder, {} if mutant is None else {mutant["file"]: text}))
        return why_it_fails(options, folder, [compiled(options, folder, mutant["file"], text)], options.verilated)
    except NotBuilt as why:
        sys.exit(f"{mutant['what'] if mutant else 'the decoder itself'}: it does not build: {why}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    options = arguments()
    mutants = [mutant for name in LISTS for mutant in tomllib.loads((HERE / name).read_text())["mutant"]]
    for mutant in mutants:
        apply(options.root, mutant)
    if len({(m["file"], m["original"], m["mutated"]) for m in mutants}) != len(mutants):
        sys.exit("a mutant is twice in the list")
    if os.environ.get("SLUICE_FULL") != "1" and not options.only:
        print(f"{len(mutants)} mutants apply; SLUICE_FULL=1 tries them")
        return 0
    chosen = [m for m in enumerate(mutants) if re.search(options.only or "", m[1]["file"] + ": " + m[1]["what"])]
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    reason = try_mutant(options, None, None)
    if reason:
        sys.exit(f"the decoder itself fails: {reason}")
    missed = 0
    with concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool:
        for (number, mutant), reason in zip(chosen, pool.map(lambda m: try_mutant(options, *m), chosen)):
            missed += not reason
            print(f"{'caught' if reason else 'MISSED'} {number}: {mutant['what']} ({mutant['file']}): {reason}", flush=True)
    shutil.rmtree(options.work, ignore_errors=True)
    print(f"{len(chosen) - missed} of {len(chosen)} mutants caught, of {len(mutants)} in the list")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
