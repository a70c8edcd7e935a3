#!/usr/bin/env python3
"""How long a program waits for `#include <anyshape/anyshape.h>`: user CPU seconds of compiling nothing else, the best of several runs, for
each compiler: tools/time_header.py. Fails where that is over 1.5 s and also over 2.5 times what some headers of the standard library take in the
same minute: a machine may be slow. Other programs on it only add to a run, so it measures on until both are at their best, or it gives up.
"""
import contextlib
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEAST_RUNS, MOST_RUNS = 3, 30
MOST_SECONDS, MOST_TIMES = 1.5, 2.5
OURS = "#include <anyshape/anyshape.h>\n"
STANDARD = "".join(f"#include <{name}>\n" for name in ("algorithm", "functional", "map", "memory", "ranges", "regex", "string", "unordered_map", "vector"))


def user_seconds(command, program):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, input=program, text=True, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def is_slow(runs):
    """Whether the best of both, of pairs (ours, standard), is over both limits."""
    ours, standard = (min(times) for times in zip(*runs))
    return ours > MOST_SECONDS and ours > MOST_TIMES * standard


def main():
    slow = False
    with contextlib.suppress(OSError):  # compilers do not move between cores, where the system lets us say so
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for compiler in ("g++", "clang++-19"):
        if shutil.which(compiler) is None:
            sys.exit(f"{compiler} is not installed")
        command = [compiler, "-std=c++20", "-I", str(ROOT / "include"), "-x", "c++", "-c", "-o", os.devnull, "-"]
        runs = []
        while len(runs) < LEAST_RUNS or (len(runs) < MOST_RUNS and is_slow(runs)):
            runs.append((user_seconds(command, OURS), user_seconds(command, STANDARD)))
        ours, standard = (min(times) for times in zip(*runs))
        slow = slow or is_slow(runs)
        print(f"{compiler}: {ours:.2f} s for anyshape/anyshape.h, {ours / standard:.2f} times some standard headers (limits {MOST_SECONDS} s, {MOST_TIMES})")
    sys.exit(slow)


if __name__ == "__main__":
    main()
