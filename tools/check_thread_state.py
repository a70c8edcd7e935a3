#!/usr/bin/env python3
"""Checks that what belongs to a scope of a thread stands in the one context of a thread (src/base/thread_context.h).

A thread_local or a ThreadObject elsewhere is a further scope that nobody sees and nobody suspends. Those that only keep something for later,
whose loss no caller would notice, are listed here by name, with the reason.

usage: check_thread_state.py [--self-test]
"""
import re
import sys
import tempfile
from pathlib import Path

from run_check import run_check

ROOT = Path(__file__).resolve().parent.parent
OBJECT = re.compile(r"\bThreadObject<[^;()]*>(?=::)|\bpthread_setspecific\b")
DECLARED = re.compile(r"\b(?:thread_local|__thread)\b")
ALLOWED = {  # file: its variables: why
    "base/thread_context.h": ({"this_thread"}, "the context"),
    "base/thread_object.h": ({"current"}, "the mechanism of what is kept"),
    "base/spares.h": ({"own", "ended"}, "objects kept for the next call"),
    "base/no_fork.cpp": ({"own_count", "own_number"}, "the counter and the number that a thread keeps for its life"),
    "tensor/recycling_allocator.h": ({"free_links", "kept", "ended", "at_thread_end"}, "memory kept for the next tensor"),
    "tensor/memory.cpp": ({"first", "ended", "at_thread_end"}, "memory kept for the next tensor"),
    "graph/bind.cpp": ({"ThreadObject<LetGoAtEnd, Interpreter>"}, "the end of a thread, which lets go of what its context holds"),
    "runtime/executable.cpp": ({"ThreadObject<Record, Executable>"}, "the frame kept for the next call"),
    "runtime/cpu/warm_up.cpp": ({"wait"}, "the end of a thread, which waits for what it started"),
    "runtime/cpu/convolution_scratch.h": ({"ThreadObject<ConvolutionScratch, ConvolutionScratch>"}, "memory kept for the next convolution"),
    "function/function_core.cpp": ({"ThreadObject<std::vector<int64_t>, State>"}, "a table kept for the next call"),
    "function/trace_entry.cpp": ({"ThreadObject<std::vector<int64_t>, EntryCheck>"}, "a table kept for the next call"),
    "function/signature.cpp": ({"ThreadObject<OfThread, Signature>"}, "tables kept for the next call"),
}


def declared_names(code):
    """The variables of a declaration that begins behind `thread_local`: "T a = f(1, 2), b{};" gives a and b."""
    depth, name, in_name = 0, "", True
    for character in code:
        if depth == 0 and character in ",;":
            yield name.split()[-1].lstrip("*&") if name.split() else ""
            if character == ";":
                return
            name, in_name = "", True
        elif depth == 0 and character in "=({":
            in_name = False
        if in_name and depth == 0 and character not in ",<>[]":
            name += character
        # Behind a name < and > compare.
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1, **({"<": 1, ">": -1} if in_name else {})}.get(character, 0)


def states(text):
    """(line, name) of each variable that belongs to a thread."""
    code = re.sub(r"//[^\n]*", "", text)
    for found in DECLARED.finditer(code):
        for name in declared_names(code[found.end() :]):
            yield code.count("\n", 0, found.start()) + 1, name
    for found in OBJECT.finditer(code):
        yield code.count("\n", 0, found.start()) + 1, " ".join(found.group().split())


def check(root):
    source = root / "src"
    missing = {(where, name) for where, (names, _) in ALLOWED.items() for name in names}
    for path in sorted(source.rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        where = path.relative_to(source).as_posix()
        for line, name in sorted(states(path.read_text())):
            if name not in ALLOWED.get(where, (set(), ""))[0]:
                yield (
                    f"src/{where}:{line}: {name}: state of a thread outside its context; expected a field of ThreadContext in "
                    "src/base/thread_context.h. What only keeps something for later is listed in tools/check_thread_state.py."
                )
            missing.discard((where, name))
    for where, name in sorted(missing):
        yield f"tools/check_thread_state.py: src/{where} has no {name} of a thread; expected a list of what there is. Take it out."


def self_test():
    """A further scope is found, also beside what is kept; what is kept is not, and an entry for nothing is."""
    parsed = {
        "thread_local int depth = 0;": ["depth"],
        "static constinit thread_local A::Held* A::held = nullptr;": ["A::held"],
        "thread_local std::pair<int, int> two{1, 2}, *other = f(a, b), last;": ["two", "other", "last"],
        "inline __thread int x[2] = {1, 2}; int y;": ["x"],
        "auto& a = ThreadObject<std::vector<int64_t>, Tag>::get();": ["ThreadObject<std::vector<int64_t>, Tag>"],
        "int a;  // a thread_local in words": [],
    }
    wrong = []
    for text, expected in parsed.items():
        found = [name for _, name in states(text)]
        if found != expected:
            wrong.append(f"{text!r}: expected {expected}, found {found}")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)

        def write(where, names, more=""):
            path = root / "src" / where
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = [f"auto& a = {name}::get();\n" if "<" in name else f"thread_local int {name} = 0;\n" for name in sorted(names)]
            path.write_text("".join(lines) + more)

        for where, (names, _) in ALLOWED.items():
            write(where, names)
        wrong += list(check(root))
        write("base/no_fork.cpp", ALLOWED["base/no_fork.cpp"][0], "thread_local int inside_scope = 0;\n")
        write("base/spares.h", {"own"})
        write("base/own.cpp", set(), "int a;\nstatic thread_local int depth = 0;\n")
        write("base/object.cpp", {"ThreadObject<int, Tag>"})
        messages = list(check(root))
    expected = ("src/base/no_fork.cpp:3: inside_scope", "src/base/own.cpp:2: depth", "src/base/object.cpp:1: ThreadObject<int, Tag>", "src/base/spares.h has no ended")
    wrong += [f"not found: {part}" for part in expected if not any(part in message for message in messages)]
    return wrong + ([] if len(messages) == len(expected) else ["found too much: " + " ".join(messages)])


if __name__ == "__main__":
    sys.exit(run_check(__doc__, lambda: check(ROOT), self_test))
