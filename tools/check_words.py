#!/usr/bin/env python3
"""Holds pages and comments to docs/glossary.md: phrases in quotes in the last column of its tables are not used; the first column says what is.

Pages are README.md, CONTRIBUTING.md, CHANGELOG.md, SECURITY.md and docs/; comments are those of include/, src/, tests/, bench/, examples/ and
tools/ (.h and .cpp; the acceptance programs are a contract and stay as they are). Phrases are found in any case, in the plural, and across the ends
of lines. Code is left alone: fenced blocks, and what stands in backticks or, in comments, in double quotes.

usage: check_words.py [--self-test]
"""
import re
import sys
import tempfile
from pathlib import Path

from run_check import run_check

ROOT = Path(__file__).resolve().parent.parent
GLOSSARY = "docs/glossary.md"
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
SOURCES = ["include", "src", "tests", "bench", "examples", "tools"]
LEFT_ALONE = ["tests/acceptance/", "tests/goldens/"]
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|//[/!<]*(?P<text>[^\n]*)')


def forbidden(root):
    """(pattern, word) of each phrase that is not used."""
    for line in (root / GLOSSARY).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 4:
            continue
        for phrase in re.findall(r'"([^"]+)"', cells[3]):
            words = [re.escape(word) for word in phrase.split()]
            yield re.compile(r"(?<![\w-])" + r"s?\s+".join(words) + r"s?(?![\w-])", re.IGNORECASE), cells[0]


def blanked(match):
    """As long as what was there, so that lines keep their numbers."""
    return re.sub(r"[^\n]", "\0", match.group())


def page_text(text):
    text = re.sub(r"^```.*?^```", blanked, text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", blanked, text)


def comment_text(text):
    """The comments of a source, on their lines; comments that other code stands between do not run into each other."""
    lines = []
    for line in text.split("\n"):
        found = next((match for match in COMMENT.finditer(line) if match["text"] is not None), None)
        lines.append("\0" if found is None else ("" if line.lstrip().startswith("//") else "\0 ") + found["text"])
    return re.sub(r'`[^`\n]*`|"[^"\n]*"', blanked, "\n".join(lines))


def texts(root):
    pages = [root / page for page in PAGES] + sorted((root / "docs").rglob("*.md"))
    for page in pages:
        if page.exists() and page != root / GLOSSARY:
            yield page, page_text(page.read_text())
    for folder in SOURCES:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix in (".h", ".cpp") and not any(name.startswith(each) for each in LEFT_ALONE):
                yield path, comment_text(path.read_text())


def check(root):
    rules = list(forbidden(root))
    if not rules:
        yield f"{GLOSSARY}: no table lists a phrase that is not used; expected some, in quotes in a fourth column"
    for path, text in texts(root):
        found = sorted((match.start(), match.group(), word) for pattern, word in rules for match in pattern.finditer(text))
        for start, said, word in found:
            line = text.count("\n", 0, start) + 1
            yield f'{path.relative_to(root)}:{line}: "{" ".join(said.split())}": say "{word}" ({GLOSSARY})'


def self_test():
    """Each wrong text is found where it stands, each right one is not."""
    glossary = '| word | meaning | where | not |\n|---|---|---|---|\n| arena | memory | `runtime/` | "values on the way", "heap area" |\n| row | "quoted" | x | |\n'
    cases = [  # path, text, lines that are found
        ("README.md", "The values on the way.\n", [1]),
        ("docs/guide/deep.md", "one\n\nHeap   Areas\n", [3]),
        ("docs/wrapped.md", "All values on\nthe way are here.\n", [1]),
        ("docs/code.md", "```\nvalues on the way\n```\nand `heap area`\n", []),
        ("docs/near.md", "values on the ways-out, a heap-area, values quoted\n", []),
        ("src/a/a.cpp", "int x;  // a heap area\n// values on\n// the way\n", [1, 2]),
        ("src/a/b.h", 'auto t = "// heap area";  // fine\n/// a heap area\nint heap; // area\n', [2]),
        ("src/a/apart.h", "int a;  // the heap\nint b;  // area of it\n", []),
        ("include/anyshape/c.h", "int y;  ///< a heap area\n", [1]),
        ("tests/acceptance/d.cpp", "// heap area\n", []),
        ("tests/e_test.cpp", '// says "heap area" and `heap area`\n', []),
    ]
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, text, _ in [(GLOSSARY, glossary, None), *cases]:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        messages = list(check(root))
        for path, _, lines in cases:
            found = [int(message.split(":")[1]) for message in messages if message.startswith(path + ":")]
            if found != lines:
                wrong.append(f"{path}: expected lines {lines}, found {found}")
        if not any('say "arena"' in message for message in messages):
            wrong.append("no message names the word to use")
        (root / GLOSSARY).write_text("# Nothing\n")
        if not any("no table lists" in message for message in check(root)):
            wrong.append("an empty glossary passes")
    return wrong


if __name__ == "__main__":
    sys.exit(run_check(__doc__, lambda: check(ROOT), self_test))
