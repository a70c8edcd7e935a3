#!/usr/bin/env python3
"""Has Doxygen read the public headers, as whoever makes a reference of them would: it reads every comment without a complaint, and finds one for every
function, operator, class, struct, enum and constant outside of namespace `detail`. (Which declarations need one says tools/check_comments.py, which
looks at text alone; this looks at what a generator makes of it.)

usage: check_reference.py [DOXYGEN]    the program; by default the one in PATH
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = """
INPUT = include/anyshape
FILE_PATTERNS = *.h
RECURSIVE = YES
EXCLUDE_SYMBOLS = *::detail *::detail::*
ENABLE_PREPROCESSING = NO
JAVADOC_AUTOBRIEF = YES
AUTOLINK_SUPPORT = NO
DISTRIBUTE_GROUP_DOC = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
DOT_GRAPH_MAX_NODES = 200
QUIET = YES
"""
UNTOLD = re.compile(r"warning: Member (?P<code>.*) \((?P<kind>\w+)\) of (?P<scope>\w+) (?P<name>\S+) is not documented")


def needs_none(found):
    """Fields, names of types, constructors, destructors, what is defaulted or deleted, and friends that are classes."""
    if found["kind"] in ("variable", "typedef") and found["scope"] in ("struct", "class"):
        return True
    if re.search(r"= ?(default|delete)$", found["code"]) or found["code"].startswith("detail::"):
        return True
    own = re.match(r"~?(\w+)\(", found["code"])  # a constructor, maybe one that is inherited
    return own is not None and own[1][0].isupper()


def main():
    if len(sys.argv) > 2 or sys.argv[1:] == ["--help"]:
        raise SystemExit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        settings = SETTINGS + f"OUTPUT_DIRECTORY = {folder}\n"
        run = subprocess.run([*(sys.argv[1:] or ["doxygen"]), "-"], input=settings, capture_output=True, text=True, cwd=ROOT)
        found = len(list(Path(folder).glob("xml/*.xml")))
    if run.returncode != 0 or found < 100:
        raise SystemExit(f"doxygen ended with {run.returncode} and {found} files:\n{run.stderr}")
    complaints = set()
    for line in run.stderr.replace(f"{ROOT}/", "").splitlines():
        untold = UNTOLD.search(line)
        if untold is None or not needs_none(untold):
            complaints.add(line)
    print("\n".join(sorted(complaints)), end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
