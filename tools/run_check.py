"""What the checks of tools/ have in common: `CHECK` prints what it finds and fails where that is something; `CHECK --self-test` tries the check itself."""
import sys


def run_check(usage, find, self_test):
    """`find` and `self_test` give messages; the exit status says whether there are any."""
    if sys.argv[1:] not in ([], ["--self-test"]):
        raise SystemExit(usage)
    messages = self_test() if sys.argv[1:] else list(find())
    print("\n".join(messages), end="\n" if messages else "")
    return 1 if messages else 0
