#!/usr/bin/env python3
"""Holds the public headers to comments that a generator of documentation (Doxygen) reads: `///` before a declaration, `///<` behind it.

Every declaration of a namespace or of the public part of a class has a comment of its own: above it, or behind it on its last line. Declarations
that one sentence tells of stand between ///@{ and ///@}, with the sentence above. Classes, structs and enums have theirs above, where a generator
looks for it. Fields of a struct and values of an enum are told by its comment. Constructors, destructors, what is deleted or defaulted, forward
declarations, friends that are classes and what stands in namespace `detail`, which a reference does not show, need none.

usage: check_comments.py [--write | --self-test]    --write turns // into /// and ///< where they tell of a declaration
"""
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADERS = "include/anyshape"
PLUMBING = re.compile(r"^namespace (\w+::)*detail(::\w+)*$")
SCOPE = re.compile(r"^(?:inline )?(namespace|class|struct|union|enum(?: class)?)\b")


def split_comment(line):
    """(code, marker, text) of a line; the marker is "", "//", "///" or "///<"."""
    for match in re.finditer(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|(///<|///|//)(.*)$', line):
        if match[1]:
            return line[: match.start()], match[1], match[2]
    return line, "", ""


def is_brace(line):
    """///@{ or ///@}, which open and close a group."""
    return line.strip() in ("///@{", "///@}")


def told_groups(lines):
    """Of each line: whether it stands in a group with a sentence above."""
    told, inside = [], False
    for number, line in enumerate(lines):
        if line.strip() == "///@{":
            inside = number > 0 and split_comment(lines[number - 1])[1] == "///" and not is_brace(lines[number - 1])
        told.append(inside)
        inside = inside and line.strip() != "///@}"
    return told


def without_template(code):
    """A declaration without the template's parameters and what it requires."""
    while code.startswith("template"):
        depth, at = 0, code.find("<")
        for at in range(at, len(code)):
            depth += {"<": 1, ">": -1}.get(code[at], 0)
            if depth == 0:
                break
        code = code[at + 1 :].strip()
        if code.startswith("requires"):
            found = re.search(r"(?<=[)>\w}]) (?=(?:class|struct|inline|explicit|static|constexpr|auto|void|bool|[A-Z]\w*|std::\w+)\b[^=]*[({;])", code)
            code = code[found.end() :] if found else ""
    return code


class Declaration:
    def __init__(self, first, above):
        self.first, self.last = first, first  # lines, counted from 0
        self.code = ""
        self.above = above  # the first line of the comment before it, or None
        self.scope = None
        self.is_public, self.body = True, False


def declarations(lines):
    """Declarations of a header outside of function bodies, in order, each with the scope it stands in: a tuple of heads."""
    found, scopes, current, above = [], [], None, None
    for number, line in enumerate(lines):
        code, marker, text = split_comment(line)
        code = code.strip()
        if is_brace(line):
            above = None if "}" in text else above
            continue
        in_body = any(kind == "body" for kind, _, _ in scopes)
        if not code and marker:
            if not in_body and current is None and above is None:
                above = number
            continue
        if not code:
            if current is None:
                above = None
            continue
        if code.startswith("#"):
            above = None
            continue
        if current is None and not in_body:
            if re.fullmatch(r"(public|private|protected):", code):
                kind, head, _ = scopes[-1]
                scopes[-1] = (kind, head, code[:-1])
                above = None
                continue
            if code.startswith("}"):
                closing = code.count("}") - code.count("{")
                del scopes[len(scopes) - closing :]
                above = None
                continue
            current = Declaration(number, above)
            current.scope = tuple(head for _, head, _ in scopes)
            current.is_public = all(access != "private" for _, _, access in scopes)
            current.is_value = bool(scopes) and scopes[-1][1].startswith("enum")
            current.in_struct = bool(scopes) and scopes[-1][1].startswith("struct")
            above = None
            current.depth = len(scopes)
            current.parens = 0
        if current is not None:
            current.code = (current.code + " " + code).strip()
            current.last = number
        plain = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'', '""', code)
        for character in plain:
            if current is not None:
                current.parens += {"(": 1, ")": -1}.get(character, 0)
            if character == "{":
                head = without_template(current.code.split("{")[0].strip()) if current is not None else ""
                opens = current is not None and current.parens == 0 and len(scopes) == current.depth and SCOPE.match(head)
                scopes.append(("scope", head, "private" if head.startswith("class") else "public") if opens else ("body", "", "public"))
                if opens:
                    current.body = True
                    found.append(current)
                    current = None
            elif character == "}":
                scopes.pop()
                if current is not None and len(scopes) == current.depth and current.parens == 0 and not re.search(r"\}\s*[,;)]", plain[-3:]):
                    is_function = "(" in current.code.split("{")[0] and not re.search(r"[^=!<>]=[^=]", current.code.split("{")[0].split("(")[0])
                    if is_function and plain.rstrip().endswith("}"):
                        found.append(current)
                        current = None
            elif character == ";" and current is not None and len(scopes) == current.depth:
                found.append(current)
                current = None
        if current is not None and current.is_value and len(scopes) == current.depth and plain.endswith(","):
            found.append(current)
            current = None
        if current is not None and current.is_value and len(scopes) < current.depth:
            found.append(current)
            current = None
    return found


def needs_comment(declaration):
    if not declaration.is_public or declaration.is_value or any(PLUMBING.match(scope) for scope in declaration.scope):
        return False
    code = without_template(declaration.code)
    if declaration.body:
        return not code.startswith("namespace")
    if declaration.in_struct and "(" not in re.sub(r"<[^;=]*>|=.*|\{.*", "", code):
        return False  # a field
    if re.match(r"(class|struct|enum class|friend (class|struct)|using|extern template|static_assert)\b", code) or re.search(r"= *(default|delete);$", code):
        return False
    own = next((re.match(r"(?:class|struct) (\w+)", scope)[1] for scope in reversed(declaration.scope) if re.match(r"(?:class|struct) \w", scope)), None)
    if own and re.match(rf"(?:explicit |constexpr |virtual )*~?{own}\(", code):
        return False
    return not (re.match(r"(?:inline )?[\w:<>& ]+ \w+::\w+", code) and "(" in code and re.fullmatch(r"[^<]*::\w+|[^<]*<.*>::\w+", code.split("(")[0].split()[-1]))  # defined elsewhere


def check_header(path, name):
    lines = path.read_text().split("\n")
    in_told_group = told_groups(lines)
    braces = [line.strip()[-1] for line in lines if is_brace(line)]
    if braces != ["{", "}"] * (len(braces) // 2):
        yield f"{name}: ///@{{ and ///@}} do not alternate"
    for each in declarations(lines):
        behind = any(split_comment(lines[number])[1] == "///<" for number in range(each.first, each.last + 1))
        above = each.above is not None and all(split_comment(lines[number])[1] == "///" for number in range(each.above, each.first))
        is_type = each.body and needs_comment(each)
        if each.above is not None and not above:
            yield f"{name}:{each.above + 1}: the comment begins with //; expected ///. tools/check_comments.py --write does it"
        if any(split_comment(lines[number])[1] == "//" for number in range(each.first, each.last + 1)) and (not each.body or each.first == each.last):
            inner = [number for number in range(each.first, each.last + 1) if split_comment(lines[number])[1] == "//"]
            if inner == [each.last] and not is_inside_body(lines, each):
                yield f"{name}:{each.last + 1}: the comment begins with //; expected ///<. tools/check_comments.py --write does it"
                behind = True
        if is_type and behind and each.above is None:
            yield f"{name}:{each.first + 1}: the comment on \"{each.code[:70]}\" stands behind it; expected /// above a type"
        elif needs_comment(each) and each.above is None and not behind and (is_type or not in_told_group[each.first]):
            yield f"{name}:{each.first + 1}: no comment tells of \"{each.code[:70]}\"; expected a sentence: /// above it, ///< behind it, or above a group ///@{{ ... ///@}}"


def is_inside_body(lines, each):
    """Whether a comment on the last line may belong to code in a body."""
    return each.last > each.first and "{" in " ".join(split_comment(line)[0] for line in lines[each.first : each.last])


def write_header(path):
    lines = path.read_text().split("\n")
    for each in declarations(lines):
        if each.above is not None:
            for number in range(each.above, each.first):
                code, marker, text = split_comment(lines[number])
                if marker == "//":
                    lines[number] = f"{code}///{text}"
        code, marker, text = split_comment(lines[each.last])
        if marker == "//" and not is_inside_body(lines, each) and not code.strip().startswith("}  "):
            lines[each.last] = f"{code}///<{text}"
    text = "\n".join(lines)
    if text != path.read_text():
        path.write_text(text)


def self_test():
    cases = [  # text of a header, part of the message or None where it is right
        ("/// A pair.\nstruct A {\n  int x = 0;\n};\n", None),
        ("struct A {\n  int x = 0;\n};\n", "no comment tells of"),
        ("// A pair.\nstruct A {\n  int x = 0;\n};\n", "expected ///."),
        ("/// A pair.\nstruct A {\n  int x = 0;  // first\n};\n", "expected ///<"),
        ("/// Adds.\nint add(int a, int b);\nint subtract(int a, int b);\n", "subtract"),
        ("/// Two.\n///@{\nint add(int a, int b);\nint subtract(int a, int b);\n///@}\n", None),
        ("///@{\nint add(int a, int b);  ///< adds\nint subtract(int a, int b);\n///@}\n", "subtract"),
        ("/// Two.\n///@{\nint add(int a, int b);\n///@}\nint subtract(int a, int b);\n", "subtract"),
        ("/// Two.\n///@{\nint add(int a, int b);\n", "do not alternate"),
        ("class A {  ///< a class\n public:\n  A();\n};\n", "expected /// above"),
        ("enum class E { A, B };  ///< which\n", "expected /// above"),
        ("/// A pair.\nstruct A {\n  int x = 0;\n};\nint add(A a);\n", "int add"),
        ("/// Adds.\nint add(int a, int b);\n\nint subtract(int a, int b);\n", "subtract"),
        ("int add(int a, int b);  ///< adds\n", None),
        ("/// A class.\nclass A {\n public:\n  A();\n  int x() const { return 1; }\n\n private:\n  int y();\n};\n", "int x()"),
        ("/// A class.\nclass A {\n public:\n  A();\n  /// One.\n  int x() const {\n    // why\n    return 1;\n  }\n\n private:\n  int y();\n};\n", None),
        ("/// Which.\nenum class E {\n  A,  ///< first\n  B,  // second\n};\n", "expected ///<"),
        ("enum class E { A, B };\n", "enum class E"),
        ("/// A class.\nclass A {\n public:\n  friend A operator+(A a, A b);\n  friend class B;\n};\n", "operator+"),
        ("/// A class.\nclass A {\n public:\n  const std::function<int(int)>& made() const { return made_; }\n};\n", "made()"),
        ("namespace detail {\nint hidden();\n}\n", None),
        ("namespace detail::fields {\nint hidden();\n}\n", None),
        ("namespace fields {\nint shown();\n}\n", "int shown()"),
        ("class A;\ntemplate <class T>\nclass B;\n", None),
        ("/// A sum.\ntemplate <class T>\n  requires std::is_arithmetic_v<T>\nT sum(T a) {\n  return a;\n}\n\ntemplate <class T>\nT other(T a) {\n  return a;\n}\n", "other"),
    ]
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.h"
        for text, part in cases:
            whole = f"// A header.\n#pragma once\n\nnamespace anyshape {{\n\n{text}\n}}  // namespace anyshape\n"
            path.write_text(whole)
            messages = list(check_header(path, "case.h"))
            if (part is None and messages) or (part is not None and not (len(messages) == 1 and part in messages[0])):
                wrong.append(f"{text!r}: expected {part!r}, found {messages}")
            write_header(path)
            left = [message for message in check_header(path, "case.h") if "--write" in message]
            if left or not path.read_text().startswith("// A header.\n") or "// why" in text and "    // why" not in path.read_text():
                wrong.append(f"{text!r}: --write leaves {left}, {path.read_text()!r}")
    return wrong


def main():
    if sys.argv[1:] not in ([], ["--write"], ["--self-test"]):
        raise SystemExit(__doc__)
    headers = sorted((ROOT / HEADERS).rglob("*.h"))
    if sys.argv[1:] == ["--write"]:
        for header in headers:
            write_header(header)
    messages = self_test() if sys.argv[1:] == ["--self-test"] else [m for h in headers for m in check_header(h, h.relative_to(ROOT))]
    print("\n".join(messages), end="\n" if messages else "")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
