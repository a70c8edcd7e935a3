#!/usr/bin/env python3
"""Writes test cases of ONNX as files that the tests read: tools/setup_onnx runs it, with the Python that has onnx and onnxruntime.

usage: setup_onnx.py FOLDER
"""
import glob
import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

ROOT = Path(sys.argv[1])
PACKAGES = Path(onnx.__file__).parent.parent
DATA = Path(onnx.__file__).parent / "backend/test/data"


def message(value, info):
    """A value as the message that its declared type asks for."""
    if isinstance(value, onnx.TensorProto):
        return value
    kind = info.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.from_list(value, name=info.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, name=info.name)
    return numpy_helper.from_array(np.asarray(value), name=info.name)


def write(folder, model, inputs, outputs, tolerance):
    folder.mkdir(parents=True)
    if isinstance(model, (str, Path)):
        shutil.copy(model, folder / "model.onnx")
        model = onnx.load(model)
    else:
        (folder / "model.onnx").write_bytes(model.SerializeToString())
    for name, values, infos in (("input", inputs, model.graph.input), ("output", outputs, model.graph.output)):
        for i, value in enumerate(values):
            (folder / f"{name}_{i}.pb").write_bytes(message(value, infos[i]).SerializeToString())
    (folder / "tolerance").write_text("%g %g\n" % tolerance)


def node_cases():
    from onnx.backend.test.case.node import collect_testcases

    for case in collect_testcases(None):
        for inputs, outputs in case.data_sets[:1]:
            try:
                write(ROOT / "node" / case.name, case.model, inputs, outputs, (case.rtol, case.atol))
            except Exception as problem:  # a value that has no message: told, and counted as not supported
                (ROOT / "node" / case.name / "problem").write_text(str(problem))


def data_cases(kind):
    for folder in sorted((DATA / kind).iterdir()):
        sets = sorted(folder.glob("test_data_set_*"))
        if not sets:
            continue
        target = ROOT / kind / folder.name
        target.mkdir(parents=True)
        shutil.copy(folder / "model.onnx", target)
        for file in sets[0].glob("*.pb"):
            shutil.copy(file, target)
        (target / "tolerance").write_text("0.001 1e-07\n")


def session(file):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(file), options)


def light_cases():
    random = np.random.default_rng(7)
    for file in sorted((DATA / "light").glob("*.onnx")):
        run = session(file)
        feed = random.standard_normal(run.get_inputs()[0].shape).astype(np.float32)
        write(ROOT / "light" / file.stem, file, [feed], run.run(None, {run.get_inputs()[0].name: feed}), (1e-4, 1e-5))


def form_cases():
    from onnx_forms import forms

    for name, model, feed in forms():
        file = ROOT / "forms.onnx"
        onnx.save(model, file)
        run = session(file)
        # Outputs have no types of their own in these files.
        results = run.run(None, feed)
        for each, value in zip(model.graph.output, results):
            each.CopyFrom(onnx.helper.make_tensor_value_info(each.name, onnx.helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
        feed = [feed[each.name] for each in model.graph.input]
        write(ROOT / "forms" / name, model, feed, results, (1e-4, 1e-6))
        file.unlink()


def real_models():
    """(name, file, the k-th feed)"""
    random = np.random.default_rng(11)

    def image(*shape):
        return random.uniform(-1, 1, shape).astype(np.float32)

    ocr = PACKAGES / "rapidocr_onnxruntime/models"
    vad = PACKAGES / "silero_vad/data"

    def silero(batch, length, rate=None):
        feed = {"input": image(batch, length) * 0.3, "state": image(2, batch, 128)}
        return feed if rate is None else feed | {"sr": np.array(rate, np.int64)}

    yield "detect", ocr / "ch_PP-OCRv4_det_infer.onnx", lambda k: {"x": image(1 + k % 2, 3, 32 * (1 + k % 7), 32 * (1 + k * 3 % 8))}
    yield "recognise", ocr / "ch_PP-OCRv4_rec_infer.onnx", lambda k: {"x": image(1 + k % 3, 3, 48, 40 + 13 * k)}
    yield "direction", ocr / "ch_ppocr_mobile_v2.0_cls_infer.onnx", lambda k: {"x": image(1 + k, 3, 48, 192)}
    yield "silero", vad / "silero_vad.onnx", lambda k: silero(1 + k % 5, 576 + 16 * (k // 5), 16000)
    yield "silero_8k", vad / "silero_vad.onnx", lambda k: silero(1 + k % 5, 288 + 8 * (k // 5), 8000)
    yield "silero_op15", vad / "silero_vad_16k_op15.onnx", lambda k: silero(1 + k % 5, 576 + 16 * (k // 5), 16000)
    yield "silero_half", vad / "silero_vad_half.onnx", lambda k: silero(1 + k % 5, 576 + 16 * (k // 5))
    yield "silero_ifless", vad / "silero_vad_op18_ifless.onnx", lambda k: silero(1 + k % 5, 576 + 16 * (k // 5), 16000)
    yield "silero_sequence", vad / "silero_vad_16k_sequence.onnx", lambda k: {"input": image(1 + 3 * k, 576), "h": image(1, 1, 128), "c": image(1, 1, 128)}
    yield "magika", next((PACKAGES / "magika/models").glob("standard*/model.onnx")), lambda k: {"bytes": random.integers(0, 257, (1 + k, 2048)).astype(np.int32)}


def real_cases(sizes=20):
    lines = []
    for name, file, feed_of in real_models():
        run = session(file)
        lines.append(f"{name} {file}\n")
        folder = ROOT / "real" / name
        folder.mkdir(parents=True)
        shutil.copy(file, folder / "model.onnx")
        model = onnx.load(file)
        made = 0
        for k in range(sizes * 3):
            feed = feed_of(k)
            feed = {each.name: feed[each.name] for each in run.get_inputs()}
            try:
                results = run.run(None, feed)
            except Exception as problem:
                print(f"{name}: ONNX Runtime refuses {[v.shape for v in feed.values()]}: {str(problem)[:120]}", file=sys.stderr)
                continue
            for kind, values, infos in (("input", feed.values(), run.get_inputs()), ("output", results, run.get_outputs())):
                for i, value in enumerate(values):
                    (folder / f"{made}_{kind}_{i}.pb").write_bytes(numpy_helper.from_array(np.asarray(value), infos[i].name).SerializeToString())
            made += 1
            if made == sizes:
                break
        if made < sizes:
            print(f"{name}: {made} sizes", file=sys.stderr)
    (ROOT / "models.txt").write_text("".join(lines))


def pictures():
    """Lines of text of several sizes, for examples/ocr: what a picture says is its name."""
    from PIL import Image, ImageDraw, ImageFont

    folder = ROOT / "pictures"
    folder.mkdir(parents=True)
    for text, size, letters in (("any size at all", (420, 96), 40), ("Trace once 2026", (333, 120), 32), ("a long line of small text", (700, 64), 30)):
        picture = Image.new("RGB", size, (250, 248, 240))
        ImageDraw.Draw(picture).text((24, size[1] // 2 - letters // 2), text, fill=(20, 20, 60), font=ImageFont.load_default(letters))
        picture.save(folder / f"{text}.png")


if __name__ == "__main__":
    for part in ("pictures", "node", "pytorch-converted", "pytorch-operator", "simple", "light", "forms", "real"):
        shutil.rmtree(ROOT / part, ignore_errors=True)
    node_cases()
    for part in ("pytorch-converted", "pytorch-operator", "simple"):
        data_cases(part)
    light_cases()
    pictures()
    form_cases()
    real_cases()
