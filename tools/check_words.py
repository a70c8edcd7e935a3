#!/usr/bin/env python3
"""Holds pages, comments and messages to docs/glossary.md: the last column of its tables has phrases in quotes that are not used, the first column the
word that is.

Pages are README.md, CONTRIBUTING.md, CHANGELOG.md, SECURITY.md and docs/. Comments are those of include/, src/, tests/, bench/, examples/ and tools/
(.h and .cpp; the acceptance programs are a contract and stay as they are). Messages are the string literals of include/ and src/: errors, reports,
decisions. Phrases are found in any case, in the plural, and across the ends of lines and of literals that follow one another. Code is left alone:
fenced blocks, and what stands in backticks or, in comments, in double quotes.

usage: check_words.py [--self-test]
"""
import re
import sys
import tempfile
from pathlib import Path

from run_check import run_check, unexpected_lines, write_cases

ROOT = Path(__file__).resolve().parent.parent
GLOSSARY = "docs/glossary.md"
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
SOURCES = ["include", "src", "tests", "bench", "examples", "tools"]
LEFT_ALONE = ["tests/acceptance/", "tests/goldens/"]
MESSAGES = ["include/", "src/"]
TOKEN = re.compile(  # what is not looked into, a literal, or a comment
    r'(?m:^[ \t]*#[ \t]*include\b[^\n]*)|\'(?:\\.|[^\'\\\n])\''
    r'|R"(?P<mark>[^(\s]*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<literal>(?:\\.|[^"\\\n])*)"'
    r"|//[/!<]*(?P<comment>[^\n]*)",
    re.S,
)


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
    lines = text.split("\n")
    comments = {text.count("\n", 0, found.start()): found["comment"] for found in TOKEN.finditer(text) if found["comment"] is not None}
    for number, line in enumerate(lines):
        comment = comments.get(number)
        lines[number] = "\0" if comment is None else ("" if line.lstrip().startswith("//") else "\0 ") + comment
    return re.sub(r'`[^`\n]*`|"[^"\n]*"', blanked, "\n".join(lines))


def message_text(text):
    """The string literals of a source, on their lines; those that only white space stands between run into each other."""
    kept = [character if character == "\n" else "\0" for character in text]
    end = None  # of the literal before
    for found in TOKEN.finditer(text):
        group = "raw" if found["raw"] is not None else "literal"
        if found[group] is None:
            continue
        if end is not None and not text[end : found.start()].strip():
            kept[end - 1 : found.start(group)] = re.sub(r"[^\n]", " ", text[end - 1 : found.start(group)])
        kept[found.start(group) : found.end(group)] = re.sub(r"\\[nt]", "  ", found[group])
        end = found.end()
    return "".join(kept)


def texts(root):
    pages = [root / page for page in PAGES] + sorted((root / "docs").rglob("*.md"))
    for page in pages:
        if page.exists() and page != root / GLOSSARY:
            yield page, page_text(page.read_text())
    for folder in SOURCES:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix in (".h", ".cpp") and not any(name.startswith(each) for each in LEFT_ALONE):
                text = path.read_text()
                yield path, comment_text(text)
                if any(name.startswith(each) for each in MESSAGES):
                    yield path, message_text(text)


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
        ("src/a/b.h", 'auto t = "// it is";  // fine\n/// a heap area\nint heap; // area\n', [2]),
        ("src/a/said.cpp", 'fail("in a heap "\n     "area: " + name);\nreport("heap", "area");\nreport("values\\non the way");\n', [1, 4]),
        ("src/a/raw.cpp", 'auto t = R"(one\nheap area)";\nauto u = R"x("heap")x" "area";\n', [2]),
        ("src/a/included.h", '#include "heap area"\nchar c = \'"\';\nint heap_area;\nauto d = "heap areas";\n', [4]),
        ("src/a/apart.h", "int a;  // the heap\nint b;  // area of it\n", []),
        ("include/anyshape/c.h", "int y;  ///< a heap area\n", [1]),
        ("tests/acceptance/d.cpp", "// heap area\n", []),
        ("tests/e_test.cpp", '// says "heap area" and `heap area`\nauto t = "heap area";\n', []),
    ]
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_cases(root, [(GLOSSARY, glossary), *cases])
        messages = list(check(root))
        wrong += unexpected_lines(messages, cases)
        if not any('say "arena"' in message for message in messages):
            wrong.append("no message names the word to use")
        (root / GLOSSARY).write_text("# Nothing\n")
        if not any("no table lists" in message for message in check(root)):
            wrong.append("an empty glossary passes")
    return wrong


if __name__ == "__main__":
    sys.exit(run_check(__doc__, lambda: check(ROOT), self_test))
