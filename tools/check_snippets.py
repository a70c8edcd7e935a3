#!/usr/bin/env python3
"""Compiles and runs every ```cpp block of README.md and docs/: tools/check_snippets.py [--write] COMPILER FLAGS...

FLAGS are what a user's build would pass, for example from pkg-config. A page that shows code which does not compile or run is a failure, and so is code
that is no whole program (but on pages that a program writes), and so is a ```text block that follows a program, with at most one line between,
and is not what the program prints (numbers of objects, #7, and times, 12 us, aside). With --write such a block becomes what is printed.
"""
import difflib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WRITTEN_BY_PROGRAMS = [ROOT / "docs" / "internals" / "tour.md"]


def programs():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = page.read_text()
        for match in re.finditer(r"^```cpp\n(.*?)^```\n(?:\n?[^\n`]*\n?\n?```text\n(.*?)^```)?", text, re.M | re.S):
            if page not in WRITTEN_BY_PROGRAMS:
                yield page, f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 2}", match[1], match[2]


def difference(shown, printed):
    """What a page shows against what its program prints, as a diff; "" where they agree or nothing is shown."""
    if shown is None:
        return ""
    shown, printed = (re.sub(r" +\d+ us", " # us", re.sub(r"#\d+", "#", text)).splitlines() for text in (shown, printed))
    return "\n".join(difflib.unified_diff(shown, printed, "shown", "printed", lineterm="", n=1))


def main():
    compiler = [argument for argument in sys.argv[1:] if argument != "--write"]
    if not compiler:
        sys.exit(__doc__)
    count = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for page, place, code, shown in list(programs()):
            count += 1
            if "int main(" not in code:
                failed += 1
                print(f"{place}: is no whole program; expected one with a main, that compiles and runs")
                continue
            source, program = Path(folder) / f"snippet{count}.cpp", Path(folder) / f"snippet{count}"
            source.write_text(code)
            built = subprocess.run([compiler[0], "-std=c++20", "-Wall", "-Wextra", "-Werror", source, "-o", program, *compiler[1:]],
                                   capture_output=True, text=True)
            run = built if built.returncode else subprocess.run([program], capture_output=True, text=True, timeout=600)
            wrong = "" if run.returncode else difference(shown, run.stdout)
            if wrong and "--write" in sys.argv:
                page.write_text(page.read_text().replace(f"```text\n{shown}```", f"```text\n{run.stdout}```"))
                wrong = ""
            if run.returncode or wrong:
                failed += 1
                how = "does not compile" if built.returncode else "prints something else" if wrong else "fails"
                print(f"{place}: {how}:\n{wrong or run.stdout + run.stderr}")
    if count == 0:
        sys.exit("no page shows a whole program")
    print(f"{count - failed} of {count} programs of the documentation compile and run")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
