#!/usr/bin/env python3
"""Checks what may include what, and that users need nothing of `anyshape::detail`.

  - a folder of src/ includes only itself and the folders before it in ANYSHAPE_FOLDERS of CMakeLists.txt;
  - a public header (include/anyshape/) includes the standard library and public headers only, and defines no macro but the
    version, in version.h;
  - LLVM's headers are included in src/codegen/ only, oneDNN's in src/runtime/ only, libpng's and libjpeg's in src/io/ only;
  - what cuts work for a processor stays out of what says which work there is: src/ops/ and the lowering of src/lower/ name no grain, no task and
    no vector, but for the files that write a library's tasks and the mapping pass itself;
  - analyses ask an op's traits (graph/op_traits.h) and a table of routines (loop/routines.h): outside of src/ops/ only the passes that rewrite
    particular ops test which op a node has;
  - where a tensor's memory is on its device (`device_address()`, the `pointer` of a Buffer) is asked in src/tensor/ and src/runtime/ only: all others
    go through `host_data()`;
  - headers of src/runtime/cpu/ (the thread pool, the kernel ABI, library routines) are included there and in src/codegen/, which generates code for
    it, only: all others ask a Backend;
  - README.md, the pages of docs/guide/ and the programs of examples/ and tests/acceptance/ do not name `detail::`.

usage: check_layers.py [--self-test]
"""
import re
import sys
import tempfile
from pathlib import Path

from run_check import run_check, write_cases

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*(<[^>]+>|"[^"]+")')
DIRECTIVE = re.compile(r"^\s*#\s*(\w+)")
PUBLIC_DIRECTIVES = {"include", "pragma"}
VERSION_HEADER, VERSION_MACRO = "include/anyshape/version.h", re.compile(r"^\s*#\s*define\s+ANYSHAPE_VERSION(_NUMBER)?\s")
ONLY_IN = {"llvm": "codegen", "llvm-c": "codegen", "dnnl": "runtime", "oneapi": "runtime", "png": "io", "jpeglib": "io", "jerror": "io"}  # first part of a header's path: its folder
PROCESSOR, KNOW_PROCESSOR = "runtime/cpu/", ("src/runtime/cpu/", "src/codegen/")
DEVICE_MEMORY, KNOW_DEVICE_MEMORY = re.compile(r"\bdevice_address\s*\(|\bbuffer(\(\))?\s*->\s*pointer\b"), ("tensor", "runtime")

# Neutral loops only: the targets cut them. Primitives that are tasks of a library still cut for themselves.
NEUTRAL = ["ops", "lower"]
CUTS = re.compile(r"\b(\w*grain\w*|\w*per_task\w*|task_\w+|\w+_task|\w*tasks?\b|parallel_for|vector_for|vector_bytes|vector_width)\b")
MAY_CUT = ["lower/map_cpu."]

# What one op is asked in an analysis, another will have to be asked, too: the answer stands with the op.
ANALYSES = ["passes", "lower", "runtime", "codegen", "autodiff", "function", "nn"]
TESTS_OPS = re.compile(r"[=!]=\s*&?\w+_op\b|&\w+_op\s*[,}]|\bis_made_by\(.*\b\w+_op\b|\b(op|instruction)(\.|->)name\s*[=!]=|\broutine::\w+\s*[=!]=|[=!]=\s*(loop::)?routine::")
REWRITE_OPS = [f"passes/{name}." for name in
               ("patterns", "simplify_algebra", "simplify_shapes", "absorb_transposes", "clean_gradients", "expand_products", "fold_constants")]

WRITTEN_BY_USERS = ["README.md", "docs/guide", "examples", "tests/acceptance"]
PLUMBING = re.compile(r"\bdetail\s*::|\bnamespace\s+(\w+\s*::\s*)*detail\b")


def folder_order(root):
    match = re.search(r"set\(ANYSHAPE_FOLDERS\s+([^)]*)\)", (root / "CMakeLists.txt").read_text())
    if not match:
        raise SystemExit("check_layers: CMakeLists.txt sets no ANYSHAPE_FOLDERS")
    return match.group(1).split()


def lines_of(path):
    """(number, text) of each line outside block comments; a line that ends in a backslash is continued."""
    text = re.sub(r"/\*.*?\*/", lambda found: "\n" * found.group().count("\n"), path.read_text(), flags=re.DOTALL)
    return enumerate(text.split("\n"), start=1)


def includes(path):
    for number, line in lines_of(path):
        found = INCLUDE.match(line)
        if found:
            yield number, found.group(1)[0], found.group(1)[1:-1]


def is_standard(header):
    return "/" not in header and "." not in header  # <vector>; C's <math.h> has <cmath>


def check_public(path, root):
    for number, line in lines_of(path):
        directive = DIRECTIVE.match(line)
        if path.relative_to(root).as_posix() == VERSION_HEADER and VERSION_MACRO.match(line):
            continue
        if directive and directive.group(1) not in PUBLIC_DIRECTIVES:
            yield f"{path.relative_to(root)}:{number}: a public header has no #{directive.group(1)}"
    for number, quote, header in includes(path):
        public = header.startswith("anyshape/") and (root / "include" / header).exists()
        if quote != "<" or not (public or is_standard(header)):
            yield f"{path.relative_to(root)}:{number}: a public header includes {header}; only the standard library and existing <anyshape/...> may be"


def check_internal(path, root, order):
    where = path.relative_to(root)
    folder = where.parts[1]
    if folder not in order:
        yield f"{where}: src/{folder} is not in ANYSHAPE_FOLDERS"
        return
    for number, quote, header in includes(path):
        first = re.split(r"[/.]", header)[0]
        if quote == '"':
            if "/" not in header or first not in order:
                yield f'{where}:{number}: "{header}" is not written from src/, as in "{folder}/name.h"'
            elif order.index(first) > order.index(folder):
                yield f"{where}:{number}: {folder}/ includes {header}, of a later folder"
            elif header.startswith(PROCESSOR) and not where.as_posix().startswith(KNOW_PROCESSOR):
                yield f"{where}:{number}: includes {header}; only {' and '.join(KNOW_PROCESSOR)} may, others ask a Backend"
        elif ONLY_IN.get(first, folder) != folder:
            yield f"{where}:{number}: {folder}/ includes <{header}>, which only {ONLY_IN[first]}/ may"
        elif first in order and (root / "src" / header).exists():
            yield f'{where}:{number}: an internal header is included as "{header}"'


def check_neutral(path, root):
    where = path.relative_to(root / "src").as_posix()
    if not where.startswith(tuple(folder + "/" for folder in NEUTRAL)) or where.startswith(tuple(MAY_CUT)):
        return
    for number, line in lines_of(path):
        found = CUTS.search(line.split("//")[0])
        if found:
            yield f"src/{where}:{number}: names {found.group(1)}; expected loops that say what is independent: each, ranges, runs, elements"


def check_analyses(path, root):
    where = path.relative_to(root / "src").as_posix()
    if not where.startswith(tuple(folder + "/" for folder in ANALYSES)) or where.startswith(tuple(REWRITE_OPS)):
        return
    for number, line in lines_of(path):
        found = TESTS_OPS.search(line.split("//")[0])
        if found:
            yield f"src/{where}:{number}: tests which op or routine it is ({found.group(0).strip()}); expected a trait that the op states (graph/op_traits.h)"


def check_memory(path, root):
    where = path.relative_to(root)
    if where.parts[1] in KNOW_DEVICE_MEMORY:
        return
    for number, line in lines_of(path):
        if DEVICE_MEMORY.search(line.split("//")[0]):
            yield f"{where}:{number}: asks where memory is on its device; only {'/ and '.join(KNOW_DEVICE_MEMORY)}/ may, others go through host_data()"


def check_user(path, root):
    for number, line in enumerate(path.read_text().split("\n"), start=1):
        if PLUMBING.search(line):
            yield f"{path.relative_to(root)}:{number}: names what is in anyshape::detail; expected what the public headers declare outside of it"


def check(root):
    order = folder_order(root)
    for path in sorted((root / "include").rglob("*")):
        if path.is_file():
            yield from check_public(path, root)
    for path in sorted((root / "src").rglob("*")):
        if path.suffix in (".h", ".cpp"):
            yield from check_internal(path, root, order)
            yield from check_neutral(path, root)
            yield from check_analyses(path, root)
            yield from check_memory(path, root)
    for place in WRITTEN_BY_USERS:
        for path in sorted([root / place, *(root / place).rglob("*")]):
            if path.is_file() and path.suffix in (".h", ".cpp", ".md"):
                yield from check_user(path, root)


def self_test():
    """Each wrong file is found, each right one is not."""
    cases = [  # path, text, part of the message or None where it is right
        ("include/anyshape/good.h", "#pragma once\n#include <vector>\n#include <anyshape/good.h>\n", None),
        ("include/anyshape/internal.h", '#include "base/a.h"\n', "includes base/a.h"),
        ("include/anyshape/dependency.h", "#include <fmt/format.h>\n", "includes fmt/format.h"),
        ("include/anyshape/absent.h", "#include <anyshape/nowhere.h>\n", "includes anyshape/nowhere.h"),
        ("include/anyshape/macro.h", "  #  define X 1\n", "no #define"),
        ("include/anyshape/version.h", '#define ANYSHAPE_VERSION "1.2.3"\n#define ANYSHAPE_VERSION_NUMBER 10203\n#define ANYSHAPE_VERSION_NAME 1\n', "version.h:3:"),
        ("include/anyshape/elsewhere.h", '#define ANYSHAPE_VERSION "1.2.3"\n', "no #define"),
        ("include/anyshape/ops/version.h", "#define ANYSHAPE_VERSION_NUMBER 10203\n", "no #define"),
        ("include/anyshape/condition.h", "#ifdef X\n#endif\n", "a public header has no #"),
        ("include/anyshape/comment.h", "/* \n#define X\n*/\n// #define Y\n", None),
        ("src/base/a.h", "#include <vector>\n#include <anyshape/good.h>\n#include <fmt/format.h>\n", None),
        ("src/base/up.cpp", '#include "loop/b.h"\n', "of a later folder"),
        ("src/base/bare.cpp", '#include "a.h"\n', "is not written from src/"),
        ("src/base/angle.cpp", "#include <base/a.h>\n", "is included as"),
        ("src/base/llvm.cpp", "#include <llvm/IR/Module.h>\n", "which only codegen/ may"),
        ("src/base/dnnl.cpp", "#include <dnnl.h>\n", "which only runtime/ may"),
        ("src/base/oneapi.cpp", "#include <oneapi/dnnl/dnnl.h>\n", "which only runtime/ may"),
        ("src/base/png.cpp", "#include <png.h>\n", "which only io/ may"),
        ("src/base/jpeg.cpp", "#include <jpeglib.h>\n#include <jerror.h>\n", "which only io/ may"),
        ("src/loop/b.h", '#include "base/a.h"\n#include "loop/b.h"\n', None),
        ("src/runtime/c.cpp", '#include <dnnl.h>\n#include <oneapi/dnnl/dnnl.hpp>\n#include "base/a.h"\n', None),
        ("src/codegen/d.cpp", "#include <llvm/IR/Module.h>\n", None),
        ("src/ops/neutral.cpp", "b.ranges(n, one, Walk::Once, body);  // grain and tasks are the target's\n", None),
        ("src/ops/data/cuts.cpp", "b.parallel_for(zero, n, one, body);\n", "names parallel_for"),
        ("src/ops/task.cpp", "constexpr int64_t task_elements = 16384;\n", "names task_elements"),
        ("src/ops/strip.cpp", "constexpr int64_t columns_per_task = 64;\n", "names columns_per_task"),
        ("src/ops/grain.cpp", "const loop::Value grain = one;\n", "names grain"),
        ("src/lower/width.cpp", "b.vector_for(zero, n, body);\n", "names vector_for"),
        ("src/lower/map_cpu.cpp", "b.parallel_for(zero, n, grain, body);\n", None),
        ("src/runtime/cpu/pool.cpp", "run(count, grain, body);\n", None),
        ("src/lower/one_op.cpp", "if (node.op == &slice_op) return;\n", "tests which op"),
        ("src/runtime/other_op.cpp", "if (node->op != &cast_op) return;\n", "tests which op"),
        ("src/function/named.cpp", "if (call.op.name != cast_op.name) return;\n", "tests which op"),
        ("src/function/spelled.cpp", 'if (node->op->name == "cast") return;\n', "tests which op"),
        ("src/passes/list.cpp", "const OpDef* const cheap[] = {&exp_op, &add_op};\n", "tests which op"),
        ("src/passes/maker.cpp", "return is_made_by(value, constant_op);\n", "tests which op"),
        ("src/lower/routine.cpp", "if (instruction.name == loop::routine::check_splits.name) return;\n", "tests which op"),
        ("src/lower/trait.cpp", "if (node.op->traits.is_cast && name == other.name) return;  // op == &cast_op\n", None),
        ("src/function/makes.cpp", "graph.add_node(constant_op, {}, attrs, specs);\n", None),
        ("src/passes/simplify_algebra.cpp", "if (node.op == &add_op) return;\n", None),
        ("src/ops/own.cpp", "if (node.op == &add_op) return;\n", None),
        ("src/base/address.cpp", "char* p = x.impl()->device_address();\n", "only tensor/ and runtime/ may"),
        ("src/base/pointer.cpp", "void* p = x.impl()->buffer()->pointer;\n", "only tensor/ and runtime/ may"),
        ("src/base/told.cpp", "char* p = host_data(x);  // not its device_address()\n", None),
        ("src/runtime/asks.cpp", '#include "runtime/cpu/pool.h"\n', "others ask a Backend"),
        ("src/function/asks.cpp", '#include "runtime/cpu/pool.h"\n', "others ask a Backend"),
        ("src/runtime/cpu/knows.cpp", '#include "runtime/cpu/pool.h"\n#include "runtime/c.h"\n', None),
        ("src/codegen/knows.cpp", '#include "runtime/cpu/abi.h"\n', None),
        ("src/runtime/address.cpp", "char* p = x.impl()->device_address();\n", None),
        ("src/strange/e.cpp", "", "not in ANYSHAPE_FOLDERS"),
        ("src/base/uses.cpp", "detail::flatten(value);\n", None),
        ("README.md", "`as::detail::flatten`\n", "names what is in anyshape::detail"),
        ("docs/guide/page.md", "`as::detail::flatten`\n", "names what is in anyshape::detail"),
        ("docs/guide/good.md", "`.detail = as::Detail::Full`, in detail: everything\n", None),
        ("examples/own/a.cpp", "using namespace anyshape::detail;\n", "names what is in anyshape::detail"),
        ("tests/acceptance/a.cpp", "auto x = as::detail::flatten(y);\n", "names what is in anyshape::detail"),
        ("tests/base/a.cpp", "auto x = as::detail::flatten(y);\n", None),
    ]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "CMakeLists.txt").write_text("set(ANYSHAPE_FOLDERS base loop ops passes lower runtime codegen function)\n")
        write_cases(root, cases)
        messages = list(check(root))
    wrong = []
    for path, _, part in cases:
        own = [message for message in messages if message.startswith(path + ":")]
        if (part is None and own) or (part is not None and not (own and all(part in message for message in own))):
            wrong.append(f"{path}: expected {part!r}, found {own}")
    return wrong


if __name__ == "__main__":
    sys.exit(run_check(__doc__, lambda: check(ROOT), self_test))
