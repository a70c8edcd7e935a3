#!/usr/bin/env python3
"""Writes the table of docs/onnx.md: per op of ONNX's node test cases how many pass, and why the others are refused.

usage: onnx_table.py FOLDER OUTCOMES PAGE
  FOLDER    what tools/setup_onnx made; run this by its venv/bin/python
  OUTCOMES  what anyshape_onnx_test prints with ANYSHAPE_ONNX_TELL=1 --gtest_filter=OnnxCases.no_node_case_is_wrong
  PAGE      docs/onnx.md: what stands between the two marks is replaced
"""
import collections
import re
import sys
from pathlib import Path

import onnx

BEGIN, END = "<!-- table of cases -->", "<!-- end of the table -->"


def op_of(folder):
    """The op that a case is about. Where ONNX writes an op out as a function of others, its case counts for it, in a row of its own."""
    name = folder.name
    if name.endswith("_expanded") or "_expanded_" in name:
        return "written out as functions"
    nodes = onnx.load(folder / "model.onnx").graph.node
    names = list(dict.fromkeys(node.op_type for node in nodes if node.op_type != "Constant")) or ["Constant"]
    return names[0] if len(names) == 1 else next((each for each in names if each.lower() in name.replace("_", "")), names[0])


def reason_of(text):
    """A refusal without what is particular to a case."""
    text = re.sub(r"^onnx: ", "", text)
    missing = re.search(r"not supported: (.*); expected ops of", text)
    if missing:
        ops = [re.sub(r" \(opset \d+\)( \d+ times)?", "", op) for op in missing.group(1).split(", ")]
        return "no rule for " + ", ".join(sorted(set(ops)))
    types = re.search(r"has elements of (\w+), which is not supported", text)
    if types:
        return types.group(1)
    return re.sub(r'^(node "[^"]*" \([^)]*\)|the \S+ node that gives "[^"]*"): ', "", text).replace("is not supported.", "").strip(" .")


def main():
    root, outcomes, page = Path(sys.argv[1]) / "node", Path(sys.argv[2]), Path(sys.argv[3])
    passed, eagerly, refused = collections.Counter(), collections.Counter(), collections.defaultdict(collections.Counter)
    cases = {folder.name: folder for folder in root.iterdir() if (folder / "model.onnx").exists()}
    seen = set()
    for line in outcomes.read_text().splitlines():
        match = re.match(r"(passed|eagerly|unsupported|wrong) (\w+)(?:: (.*))?$", line)
        if not match or match.group(2) not in cases or match.group(2) in seen:
            continue
        seen.add(match.group(2))
        op = op_of(cases[match.group(2)])
        kind = match.group(1)
        if kind == "passed":
            passed[op] += 1
        elif kind == "eagerly":
            eagerly[op] += 1
        elif kind == "unsupported":
            refused[op][reason_of(match.group(3) or "")] += 1
        else:
            sys.exit(f"{match.group(2)} is wrong; a table of wrong results is not written")
    ops = sorted(set(passed) | set(eagerly) | set(refused), key=str.lower)
    lines = [
        f"{sum(passed.values()) + sum(eagerly.values())} of {len(seen)} cases pass, {sum(eagerly.values())} of them only where the sizes that they compute from "
        f"data are known; {sum(sum(each.values()) for each in refused.values())} are refused with a reason.",
        "",
        "| op | passed | with known data only | refused | because of |",
        "|---|---|---|---|---|",
    ]
    for op in ops:
        why = "; ".join(f"{reason} ({count})" for reason, count in refused[op].most_common())
        lines.append(f"| {op} | {passed[op] or ''} | {eagerly[op] or ''} | {sum(refused[op].values()) or ''} | {why} |")
    text = page.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    page.write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n" + END + after)


if __name__ == "__main__":
    main()
