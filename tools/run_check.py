"""What the checks of tools/ have in common: `CHECK` prints what it finds and fails where that is something; `CHECK --self-test` tries the check itself."""
import sys


def run_check(usage, find, self_test):
    """`find` and `self_test` give messages; the exit status says whether there are any."""
    if sys.argv[1:] not in ([], ["--self-test"]):
        raise SystemExit(usage)
    messages = self_test() if sys.argv[1:] else list(find())
    print("\n".join(messages), end="\n" if messages else "")
    return 1 if messages else 0


def write_cases(root, cases):
    """Files of a self-test: (path, text, ...) each."""
    for path, text, *_ in cases:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def unexpected_lines(messages, cases):
    """Of cases (path, text, lines): those whose `path:line: ...` messages name other lines."""
    for path, _, lines in cases:
        found = [int(message.split(":")[1]) for message in messages if message.startswith(path + ":")]
        if found != lines:
            yield f"{path}: expected lines {lines}, found {found}"
