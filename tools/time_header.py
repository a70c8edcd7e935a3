#!/usr/bin/env python3
"""How long a program waits for `#include <anyshape/anyshape.h>`: user CPU seconds of compiling nothing else, the best of several runs, for
each compiler: tools/time_header.py [LIMIT_SECONDS]. Fails above the limit (1.5).
"""
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUNS = 5


def user_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, input="#include <anyshape/anyshape.h>\n", text=True, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main():
    limit = float(sys.argv[1]) if len(sys.argv) > 1 else 1.5
    slow = False
    for compiler in ("g++", "clang++-19"):
        if shutil.which(compiler) is None:
            sys.exit(f"{compiler} is not installed")
        command = [compiler, "-std=c++20", "-I", str(ROOT / "include"), "-x", "c++", "-c", "-o", os.devnull, "-"]
        seconds = min(user_seconds(command) for _ in range(RUNS))
        slow = slow or seconds > limit
        print(f"{compiler}: {seconds:.2f} s for anyshape/anyshape.h (limit {limit})")
    sys.exit(slow)


if __name__ == "__main__":
    main()
