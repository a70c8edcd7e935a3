#!/usr/bin/env python3
"""Checks the links of all Markdown files that stay in the repository: the file or folder is there, and so is the heading that an #anchor names.

A link is `[text](target)`, `![text](target)` or `[name]: target`. Code is no link: fenced blocks and what stands in backticks. Targets with a scheme
(https:, mailto:) are left alone. Anchors are those that GitHub makes of headings.

usage: check_links.py [--self-test]
"""
import re
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote

from run_check import run_check, unexpected_lines, write_cases

ROOT = Path(__file__).resolve().parent.parent
NO_SOURCES = re.compile(r"^(\.git|build|release|install)")  # folders at the root that nobody commits
FENCED = re.compile(r"^ *(?P<fence>```+|~~~+).*?(^ *(?P=fence)[`~]* *$|\Z)", re.M | re.S)
QUOTED = re.compile(r"(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n\s*\n).)+?(?<!`)(?P=ticks)(?!`)", re.S)
LINK = re.compile(r"\]\(\s*<?(?P<inline>[^)<>\s]*)>?(?:\s+\"[^\"]*\")?\s*\)|^ {0,3}\[[^\]^]+\]:\s*<?(?P<reference>[^<>\s]+)", re.M)
HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$", re.M)
SCHEME = re.compile(r"^[a-zA-Z][\w+.-]*:")


def blanked(match):
    """As long as what was there, so that lines keep their numbers."""
    return re.sub(r"[^\n]", " ", match.group())


def anchors(text):
    """What GitHub makes of each heading: lower case, hyphens for spaces, no punctuation; a second one of a name gets a number."""
    found = {}
    for heading in HEADING.findall(FENCED.sub(blanked, text)):
        said = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", said.lower()).replace(" ", "-")
        number = found.get(anchor, 0)
        found[anchor] = number + 1
        yield f"{anchor}-{number}" if number else anchor


def pages(root):
    for path in sorted(root.rglob("*.md")):
        if not NO_SOURCES.match(path.relative_to(root).parts[0]):
            yield path


def wrong_link(root, page, target):
    """What is wrong with a link of a page, or None."""
    name, _, anchor = unquote(target).partition("#")
    path = (page.parent / name).resolve() if name else page
    if path != root and root not in path.parents:
        return "leads out of the repository"
    if not path.exists():
        return "there is no such file"
    if anchor and path.suffix == ".md" and anchor not in anchors(path.read_text()):
        return f"{path.relative_to(root)} has no heading with the anchor #{anchor}"
    return None


def check(root):
    root = root.resolve()
    for page in pages(root):
        text = QUOTED.sub(blanked, FENCED.sub(blanked, page.read_text()))
        for link in LINK.finditer(text):
            target = link["inline"] if link["inline"] is not None else link["reference"]
            wrong = None if SCHEME.match(target) else wrong_link(root, page, target)
            if wrong:
                yield f"{page.relative_to(root)}:{text.count(chr(10), 0, link.start()) + 1}: {target}: {wrong}"


def self_test():
    """Each dead link is found on its line, each good one and each piece of code is not."""
    cases = [  # path, text, lines that are found
        ("README.md", "# One\n[a](docs/guide/deep.md), [b](docs), [c](https://nowhere.invalid/x.md)\n[d](docs/none.md)\n", [3]),
        ("docs/guide/deep.md", "## The `f()` of C++, twice\n## Twice\n## Twice\n[up](../../README.md#one) [out](../../../x.md)\n", [4]),
        ("docs/anchors.md", "# A\n[a](#a) [b](#b)\n[c](guide/deep.md#the-f-of-c-twice)\n[d](guide/deep.md#twice-1)\n[e](guide/deep.md#twice-2)\n", [2, 5]),
        ("docs/code.md", "```cpp\nf([](Tensor x) { });\n```\n`[](Tensor x)` and ``[`x`](y)`` and `a\nb [](z)`\n[a](none.md)\n", [6]),
        ("docs/fence.md", "- one\n  ```\n  # No heading\n  [a](none.md)\n  ```\n[b](#no-heading)\n", [6]),
        ("docs/forms.md", '![a](none.png)\n[b](code.md "a title")\n[two\nlines](none.md)\n\n[name]: none.md\n[^1]: a note\n', [1, 4, 6]),
        ("build/docs/left.md", "[a](none.md)\n", []),
    ]
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_cases(root, cases)
        messages = list(check(root))
        wrong += unexpected_lines(messages, cases)
    return wrong


if __name__ == "__main__":
    sys.exit(run_check(__doc__, lambda: check(ROOT), self_test))
