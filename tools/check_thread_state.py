#!/usr/bin/env python3
"""Checks that what belongs to a scope of a thread stands in the one context of a thread (src/base/thread_context.h).

A thread_local or a ThreadObject elsewhere is a further scope that nobody sees and nobody suspends. Those that only keep something for later,
whose loss no caller would notice, are listed here with the reason.

usage: check_thread_state.py [--self-test]
"""
import re
import sys
import tempfile
from pathlib import Path

from run_check import run_check

ROOT = Path(__file__).resolve().parent.parent
STATE = re.compile(r"\bthread_local\b|\bThreadObject<|\b__thread\b|\bpthread_setspecific\b")
ALLOWED = {  # file: why
    "base/thread_context.h": "the context",
    "base/thread_object.h": "the mechanism of what is kept",
    "base/spares.h": "objects kept for the next call",
    "base/no_fork.h": "counters that a fork waits for",
    "base/no_fork.cpp": "counters that a fork waits for",
    "tensor/recycling_allocator.h": "memory kept for the next tensor",
    "tensor/block_cache.cpp": "memory kept for the next tensor",
    "graph/bind.cpp": "the end of a thread, which lets go of what its context holds",
    "runtime/executable.cpp": "the frame kept for the next call",
    "runtime/warm_up.cpp": "the end of a thread, which waits for what it started",
    "function/function_core.cpp": "a table kept for the next call",
    "function/trace_entry.cpp": "a table kept for the next call",
    "function/signature.cpp": "tables kept for the next call",
}


def code_of(line):
    return line.split("//")[0]


def check(root):
    source = root / "src"
    found = set()
    for path in sorted(source.rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        where = path.relative_to(source).as_posix()
        for number, line in enumerate(path.read_text().split("\n"), start=1):
            if not STATE.search(code_of(line)):
                continue
            found.add(where)
            if where not in ALLOWED:
                yield (
                    f"src/{where}:{number}: state of a thread outside its context; expected a field of ThreadContext in "
                    "src/base/thread_context.h. What only keeps something for later is listed in tools/check_thread_state.py."
                )
    for where in sorted(ALLOWED.keys() - found):
        yield f"tools/check_thread_state.py: src/{where} keeps nothing for a thread; expected a list of those that do. Take it out."


def self_test():
    """A scope of one's own is found, what is kept is not, and an entry for nothing is."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for where in ALLOWED:
            path = root / "src" / where
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("thread_local int kept = 0;\n")
        (root / "src/base/words.cpp").write_text("// a thread_local in words\nint other = 0;\n")
        wrong = list(check(root))
        (root / "src/base/spares.h").write_text("int kept = 0;\n")
        for name, text in (("own", "int a;\nstatic thread_local int depth = 0;\n"), ("object", "auto& a = ThreadObject<int, Tag>::get();\n")):
            (root / f"src/base/{name}.cpp").write_text(text)
        messages = "\n".join(check(root))
    expected = ("src/base/own.cpp:2:", "src/base/object.cpp:1:", "src/base/spares.h keeps nothing")
    return wrong + [f"not found: {part}" for part in expected if part not in messages]


if __name__ == "__main__":
    sys.exit(run_check(__doc__, lambda: check(ROOT), self_test))
