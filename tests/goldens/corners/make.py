#!/usr/bin/env python3
"""Golden data where formulas break:  make.py --out DIR   (needs keras, tensorflow, torch and numpy).

Losses and activations with their gradients at zeros, kinks, borders and in the tails, and einsum with letters that occur twice in an
operand. The numbers are Keras's, in float64 from float32 inputs; torch computes the same by its own formulas, and where the two
differ the record says so. Records have the form of ../index.json.
"""
import argparse, json, os, struct
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import keras
import numpy as np
import tensorflow as tf
import torch
import torch.nn.functional as F

SOURCE, CHECK = "keras " + keras.__version__, "torch " + torch.__version__.split("+")[0]
keras.backend.set_floatx("float64")

VERSIONS = {"tensorflow": tf.__version__, "keras": keras.__version__, "numpy": np.__version__, "torch": torch.__version__.split("+")[0]}
FILE = "corners.safetensors"
tensors, records = {}, []


def keep(name, array):
    array = np.asarray(array)
    tensors[name] = array.astype("float32") if array.dtype.kind == "f" else array.astype("int32")
    return name


def agree(a, b):
    return bool(np.allclose(a, b, rtol=1e-9, atol=1e-11, equal_nan=True))


def record(name, kind, what, inputs, outputs, gradients, upstream, checked, **more):
    entry = {"name": name, "group": "corners", "kind": kind, "file": FILE, **what}
    entry["inputs"] = {k: keep(f"{name}/in/{k}", v) for k, v in inputs.items()}
    if upstream is not None:
        entry["upstream"] = {"0": keep(f"{name}/up/0", upstream)}
    entry["outputs"] = {"0": keep(f"{name}/out/0", outputs)}
    entry["gradients"] = {k: keep(f"{name}/grad/{k}", v) for k, v in gradients.items()}
    entry.update({"rtol": 1e-5, "atol": 1e-6, "source": SOURCE, "cross_checked": checked, "cross_check_with": CHECK, **more})
    records.append(entry)


def f64(values):
    return np.asarray(np.asarray(values, dtype="float32"), dtype="float64")


# ---------------------------------------------------------------- losses: every target with every prediction, a row each
def torch_loss(loss, config):
    smooth = config.get("label_smoothing", 0.0)

    def run(y, p):
        if loss in ("BinaryCrossentropy", "BinaryFocalCrossentropy"):
            y = y * (1 - smooth) + smooth / 2
            if config.get("from_logits"):
                elements = F.binary_cross_entropy_with_logits(p, y, reduction="none")
                s = torch.sigmoid(p)
            else:
                s = p.clamp(1e-7, 1 - 1e-7)
                elements = -(y * s.log() + (1 - y) * (1 - s).log())
            if loss == "BinaryFocalCrossentropy":
                elements = (1 - (y * s + (1 - y) * (1 - s))) ** config.get("gamma", 2.0) * elements
            return elements.mean()
        if loss == "MeanAbsoluteError":
            return F.l1_loss(p, y)
        if loss == "MeanSquaredError":
            return F.mse_loss(p, y)
        if loss == "Huber":
            return F.huber_loss(p, y, delta=config.get("delta", 1.0))
        if loss == "LogCosh":
            return torch.log(torch.cosh(p - y)).mean()
        sided = torch.where(y == 0, -torch.ones_like(y), y)
        if loss == "Hinge":
            return (1 - sided * p).clamp(min=0).mean()
        if loss == "SquaredHinge":
            return ((1 - sided * p).clamp(min=0) ** 2).mean()
        if loss == "Poisson":
            return (p - y * (p + 1e-7).log()).mean()
        if loss == "KLDivergence":
            y, p = y.clamp(1e-7, 1), p.clamp(1e-7, 1)
            return (y * (y / p).log()).sum(-1).mean()
        raise KeyError(loss)

    return run


def add_loss(name, loss, config, targets, predictions):
    rows = [(y, p) for y in targets for p in predictions]
    y, p = f64([[r[0]] for r in rows]), f64([[r[1]] for r in rows])
    given = tf.Variable(p)
    with tf.GradientTape() as tape:
        value = getattr(keras.losses, loss)(dtype="float64", **config)(tf.constant(y), given)
    gradient = tf.convert_to_tensor(tape.gradient(value, given)).numpy()
    pt = torch.tensor(p, requires_grad=True)
    again = torch_loss(loss, config)(torch.tensor(y), pt)
    again.backward()
    same = agree(value.numpy(), again.item()) and agree(gradient, pt.grad.numpy())
    more = {} if same else {"torch_gives": {"grad/y_pred": pt.grad.numpy().ravel().tolist()}}
    record(name, "loss", {"loss": loss, "config": config}, {"y_true": y, "y_pred": p}, value.numpy(), {"y_pred": gradient}, None, same, **more)


LABELS, LOGITS = [0, 1, 0.5], [0, -0.0, 1, -1, 8, -8, 30, -30]
ERRORS = [0, -0.0, 1, -1, 0.5, -0.5, 2, -3]
add_loss("bce_zero_logits", "BinaryCrossentropy", {"from_logits": True}, LABELS, LOGITS)
add_loss("bce_zero_logits_smoothing", "BinaryCrossentropy", {"from_logits": True, "label_smoothing": 0.2}, LABELS, LOGITS)
add_loss("bce_certain", "BinaryCrossentropy", {}, [0, 1, 0.5], [0, 0.5, 0.25])
add_loss("focal_zero_logits", "BinaryFocalCrossentropy", {"from_logits": True, "gamma": 2.0}, [0, 1], LOGITS)
add_loss("mse_no_error", "MeanSquaredError", {}, [0, 1], ERRORS)
add_loss("mae_no_error", "MeanAbsoluteError", {}, [0, 1], ERRORS)
add_loss("huber_at_delta", "Huber", {}, [0, 1], ERRORS)
add_loss("huber_at_half", "Huber", {"delta": 0.5}, [0, 1], ERRORS)
add_loss("log_cosh_no_error", "LogCosh", {}, [0, 1], ERRORS)
add_loss("hinge_margin_met", "Hinge", {}, [0, 1], ERRORS)
add_loss("squared_hinge_margin_met", "SquaredHinge", {}, [0, 1], ERRORS)
add_loss("poisson_ones", "Poisson", {}, [0, 1], [0.5, 1, 2])
add_loss("kl_certain", "KLDivergence", {}, [0, 1, 0.5], [1, 0.5, 0.25])


# ---------------------------------------------------------------- activations
def add_activation(op, call, other, attrs=None):
    x = f64([0, -0.0, 1, -1, 3, -3, 6, -6, 0.5, -0.5, 20, -20])
    upstream = f64(np.linspace(0.5, 1.6, x.size))
    given = tf.Variable(x)
    with tf.GradientTape() as tape:
        value = call(given)
        total = tf.reduce_sum(value * upstream)
    gradient = tf.convert_to_tensor(tape.gradient(total, given)).numpy()
    xt = torch.tensor(x, requires_grad=True)
    again = other(xt)
    (again * torch.tensor(upstream)).sum().backward()
    same = agree(value.numpy(), again.detach().numpy()) and agree(gradient, xt.grad.numpy())
    more = {} if same else {"torch_gives": {"grad/x": xt.grad.numpy().tolist()}}
    what = {"op": op} if attrs is None else {"op": op, "attrs": attrs}
    record(op + "_kinks", "op", what, {"x": x}, value.numpy(), {"x": gradient}, upstream, same, **more)


for op, call, other in [
    ("relu", keras.ops.relu, F.relu),
    ("relu6", keras.ops.relu6, F.relu6),
    ("selu", keras.ops.selu, F.selu),
    ("silu", keras.ops.silu, F.silu),
    ("softplus", keras.ops.softplus, lambda x: F.softplus(x, threshold=1000)),
    ("softsign", keras.ops.softsign, F.softsign),
    ("hard_sigmoid", keras.ops.hard_sigmoid, F.hardsigmoid),
    ("sigmoid", keras.ops.sigmoid, torch.sigmoid),
    ("log_sigmoid", keras.ops.log_sigmoid, F.logsigmoid),
    ("mish", lambda x: x * keras.ops.tanh(keras.ops.softplus(x)), F.mish),
    ("abs", keras.ops.abs, torch.abs),
]:
    add_activation(op, call, other)


# ---------------------------------------------------------------- letters that occur twice in an operand
def add_einsum(number, equation, shapes):
    rng = np.random.default_rng(1000 + number)
    arrays = [f64(rng.normal(size=shape)) for shape in shapes]
    names = ["a", "b"][: len(arrays)]
    ts = [torch.tensor(a, requires_grad=True) for a in arrays]
    value = torch.einsum(equation, *ts)
    upstream = f64(rng.normal(size=value.shape))
    (value * torch.tensor(upstream)).sum().backward()
    same = agree(value.detach().numpy(), np.einsum(equation, *arrays))
    record(f"einsum_twice_{number}", "op", {"op": "einsum", "attrs": {"equation": equation}}, dict(zip(names, arrays)), value.detach().numpy(),
           {n: t.grad.numpy() for n, t in zip(names, ts)}, upstream, same, source=CHECK, cross_check_with="numpy " + np.__version__)


for number, (equation, shapes) in enumerate([
    ("bii->bi", [(3, 2, 2)]),
    ("bii->bi", [(2, 5, 5)]),
    ("bii->b", [(4, 3, 3)]),
    ("ii->i", [(4, 4)]),
    ("abii->iab", [(2, 3, 2, 2)]),
    ("bii,bij->bj", [(3, 2, 2), (3, 2, 4)]),
    ("bij,bjj->bi", [(2, 3, 3), (2, 3, 3)]),
]):
    add_einsum(number, equation, shapes)


# ---------------------------------------------------------------- files
def write(folder):
    names = {"float32": "F32", "int32": "I32"}
    head, blobs, at = {}, [], 0
    for key, array in tensors.items():
        raw = np.asarray(array, order="C").tobytes()
        head[key] = {"dtype": names[str(array.dtype)], "shape": list(array.shape), "data_offsets": [at, at + len(raw)]}
        blobs.append(raw)
        at += len(raw)
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(folder, FILE), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))
    lines = ",\n".join(json.dumps(r, separators=(",", ":")) for r in records)
    with open(os.path.join(folder, "index.json"), "w") as file:
        file.write(json.dumps({"format": 1, "versions": VERSIONS})[:-1] + ", \"cases\": [\n" + lines + "\n]}\n")


parser = argparse.ArgumentParser()
parser.add_argument("--out", required=True)
write(parser.parse_args().out)
for r in records:
    if not r["cross_checked"]:
        print("torch differs:", r["name"], r.get("torch_gives"))
