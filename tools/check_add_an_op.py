#!/usr/bin/env python3
"""Follows docs/internals/add_an_op.md: applies its files to an overlay of the tree, compiles what they touch with the flags of a built folder, links
the universal tester again with the new objects and runs the new op's checks: tools/check_add_an_op.py BUILD_FOLDER

Code blocks of the page open with ```cpp new FILE, or ```cpp after FILE "LINE": behind the first line of FILE that holds LINE.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTER = "tests/anyshape_check_test"


def blocks():
    text = (ROOT / "docs/internals/add_an_op.md").read_text()
    for match in re.finditer(r'^```cpp (new|after) (\S+)(?: "(.*?)")?\n(.*?)^```', text, re.M | re.S):
        yield match.groups()


def apply_page(overlay):
    changed = []
    for kind, name, place, code in blocks():
        target = overlay / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if name not in changed:
            changed.append(name)
        if kind == "new":
            if (ROOT / name).exists():
                sys.exit(f"docs/internals/add_an_op.md: {name} exists already; the page needs another example")
            target.write_text(code)
            continue
        lines = (target if target.exists() else ROOT / name).read_text().splitlines(keepends=True)
        at = next((i for i, line in enumerate(lines) if place in line), None)
        if at is None:
            sys.exit(f'docs/internals/add_an_op.md: no line of {name} holds "{place}"')
        target.write_text("".join(lines[:at + 1]) + code + "".join(lines[at + 1:]))
    return changed


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{shlex.join(command)}\n{done.stdout[-4000:]}{done.stderr[-8000:]}")
    return done.stdout


def object_of(build, source):
    """The object that the build makes of a source."""
    return next((line.split(":")[0] for line in run(["ninja", "-t", "query", str(ROOT / source)], build).splitlines()[1:] if ".o" in line), "")


def without_precompiled(words):
    """Flags without the precompiled header, which has the tree's own headers: g++'s are `-include X`, clang's have -Xclang before each word."""
    text = "\0".join(words) + "\0"
    text = re.sub(r"-Xclang\0-include(-pch)?\0-Xclang\0[^\0]*\0", "", text)
    return re.sub(r"(?<![^\0])-include\0[^\0]*\0", "", text)[:-1].split("\0")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = Path(sys.argv[1]).resolve()
    commands = [line for line in run(["ninja", "-t", "commands", TESTER], build).splitlines() if line]
    link = commands[-1]
    with tempfile.TemporaryDirectory() as folder:
        overlay = Path(folder)
        changed = apply_page(overlay)
        if len(changed) != 4:
            sys.exit(f"docs/internals/add_an_op.md: a new op touches {len(changed)} files ({', '.join(changed)}); expected four")
        first = ["-I" + str(overlay / name) for name in ("include", "src", "tests")]

        def compiled(source, like):
            """Compiles an overlay source with the command of a source of the tree; gives (object of that source, new object)."""
            command = next(shlex.split(c) for c in commands if c.split(" && ")[0].endswith(str(ROOT / like)) and " -c " in c)
            old = command[command.index("-o") + 1]
            new = str(overlay / (source.replace("/", "_") + ".o"))
            command[command.index("-o") + 1] = new
            command[-1] = str(overlay / source)
            if "-MF" in command:
                command[command.index("-MF") + 1] = new + ".d"
            compiler = next(i for i, word in enumerate(command) if word.startswith("-") and word != "-E")  # behind it and what launches it
            run(command[:compiler] + first + without_precompiled(command[compiler:]), build)
            return old, new

        added = []
        for source in (name for name in changed if name.endswith(".cpp")):
            is_new = not (ROOT / source).exists()
            old, new = compiled(source, "src/ops/all_ops.cpp" if is_new else source)
            if is_new:
                added.append(new)
            else:
                if old not in link:
                    sys.exit(f"{source} is no part of {TESTER}")
                link = link.replace(old, new)
        tester = str(overlay / "tester")
        words = [tester if word == TESTER else word for word in shlex.split(link)]
        begin, end = words.index("&&") + 1, len(words) - 1 - words[::-1].index("&&")  # ninja wraps a link in ": && ... && :"
        run(words[begin:end] + added, build)
        names = sorted({m for kind, _, _, code in blocks() if kind == "new" for m in re.findall(r'\.name = "(\w+)"', code)})
        filters = ":".join(f"*{name}*" for name in names) + ":CheckOps.*"
        output = run([tester, f"--gtest_filter={filters}", "--gtest_brief=1"], build)
        passed = re.search(r"\[  PASSED  \] (\d+) tests", output)
        if not names or not passed or int(passed[1]) < 5:
            sys.exit(f"too few checks ran:\n{output}")
        print(f"docs/internals/add_an_op.md: {', '.join(names)} added by {len(changed)} files; {passed[1]} checks pass")


if __name__ == "__main__":
    main()
