#!/usr/bin/env python3
"""Turns the weights of a Keras 3 model into a safetensors file that load_weights() takes.

    model.load_weights("weights.safetensors");   // WeightLayout::Keras, the default

A layer that was named keeps its name; one that Keras named by its class and a number is numbered as the library numbers its own: "dense",
"dense_1", ... in each model anew. The library reads no HDF5 itself: this program, which needs h5py, runs where the model was trained.

usage: keras_weights_to_safetensors.py MODEL.weights.h5|MODEL.keras OUT.safetensors [--class PATH=CLASS ...]

  --class PATH=CLASS   the class of a layer that neither its group nor its name tells, as --class encoder/attention=Dense
"""
import argparse
import io
import json
import os
import re
import struct
import sys
import tempfile
import zipfile
from pathlib import Path

# Each class's weights, in the order in which Keras keeps them.
WEIGHTS = {
    "dense": ["kernel", "bias"],
    "embedding": ["embeddings"],
    "layer_normalization": ["gamma", "beta"],
    "group_normalization": ["gamma", "beta"],
    "batch_normalization": ["gamma", "beta", "moving_mean", "moving_variance"],
    **{f"conv{n}d": ["kernel", "bias"] for n in (1, 2, 3)},
    **{f"conv{n}d_transpose": ["kernel", "bias"] for n in (1, 2, 3)},
    **{f"depthwise_conv{n}d": ["kernel", "bias"] for n in (1, 2)},
    **{f"separable_conv{n}d": ["depthwise_kernel", "pointwise_kernel", "bias"] for n in (1, 2)},
    **{name: ["kernel", "recurrent_kernel", "bias"] for name in ("lstm", "gru", "simple_rnn")},
}
ATTENTION = {"query_dense": "query", "key_dense": "key", "value_dense": "value", "output_dense": "attention_output"}
CONTAINERS = ("layers", "_layer_checkpoint_dependencies")
DTYPES = {"float32": "F32", "float64": "F64", "float16": "F16", "int32": "I32", "int64": "I64", "uint8": "U8", "bool": "BOOL"}


class Refusal(Exception):
    pass


def snake_case(name):
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def without_number(name):
    return re.sub(r"_\d+$", "", name)


def number_of(name):
    found = re.search(r"_(\d+)$", name)
    return int(found.group(1)) if found else 0


def name_of(group, key):
    name = group["vars"].attrs.get("name", key) if "vars" in group else key
    return name.decode() if isinstance(name, bytes) else str(name)


class Conversion:
    def __init__(self, configs, classes):
        self.configs = configs  # of layers by name, where the file has them
        self.classes = classes  # given by hand, by path
        self.used, self.taken = set(), set()  # paths of `classes`; weights of the file
        self.tensors = {}

    def model(self, group, path):
        """A group that holds layers: Sequential, Functional, or a class of the user's with layers as attributes."""
        taken, numbers = set(), {}
        for kind, key, child in self.layers_in(group):
            name = name_of(child, key)
            kind = kind or without_number(name)
            if name == kind or re.fullmatch(re.escape(kind) + r"_\d+", name):  # named by Keras, over all models of the program
                number = numbers.get(kind, 0)
                while (ours := kind if number == 0 else f"{kind}_{number}") in taken:
                    number += 1
                numbers[kind] = number + 1
            else:
                ours = name
            taken.add(ours)
            self.layer(child, f"{path}{ours}", kind, name)

    def layers_in(self, group):
        """(class, key, group): those of a model in its order; those of attributes, which HDF5 sorts by name, in the order in which Keras has counted
        them. No class where the key is an attribute's name. A list of layers is a group without weights of its own."""
        found, attributes = [], []
        for key in [key for key in CONTAINERS if key in group] + [key for key in group if key not in CONTAINERS]:
            child = group[key]
            if key in ("vars", "optimizer", "seed_generator") or not has_weights(child):
                continue
            if "vars" in child:
                attributes.append((None, key, child))
            else:
                keys = sorted((each for each in child if has_weights(child[each])), key=lambda each: (without_number(each), number_of(each)))
                (found if key in CONTAINERS else attributes).extend((without_number(each), each, child[each]) for each in keys)
        return found + sorted(attributes, key=lambda each: number_of(name_of(each[2], each[1])))

    def layer(self, group, path, kind, name):
        if path in self.classes:
            kind = snake_case(self.classes[path])
            self.used.add(path)
        if kind == "bidirectional":
            for key in ("forward_layer", "backward_layer"):
                cell = without_number(group[key]["cell"]["vars"].attrs.get("name", "")).removesuffix("_cell")
                own = str(group[key]["vars"].attrs.get("name", ""))
                direction = key.removesuffix("_layer")
                inner = own if cell and not re.fullmatch(rf"{direction}_{cell}(_\d+)?", own) else f"{direction}_{cell}"
                self.layer(group[key], f"{path}/{inner}", cell, own)
        elif kind == "time_distributed":
            inner = str(group["layer"]["vars"].attrs.get("name", "layer"))
            self.layer(group["layer"], f"{path}/{without_number(inner) if without_number(inner) in WEIGHTS else inner}",
                       without_number(inner), inner)
        elif kind == "multi_head_attention":
            for key, part in ATTENTION.items():
                self.take(group[key], f"{path}/{part}", ["kernel", "bias"], kind)
        elif kind in ("lstm", "gru", "simple_rnn"):
            self.take(group["cell"], path, WEIGHTS[kind], kind)
        elif kind in WEIGHTS:
            self.take(group, path, self.names_of(group, kind, name, path), kind)
        elif "vars" in group and len(group["vars"]):
            raise Refusal(f'layer "{path}" is of a class that is not known ("{kind}"); expected one of {", ".join(WEIGHTS)}. '
                          f"Say it with --class {path}=CLASS")
        else:
            self.model(group, path + "/")

    def names_of(self, group, kind, name, path):
        """Without scale or without center a weight is not there, and only the config tells which."""
        names = WEIGHTS[kind]
        count = len(group["vars"])
        if "gamma" not in names or count == len(names):
            return names
        config = self.configs.get(name)
        if config is not None:
            left_out = ({"gamma"} if not config.get("scale", True) else set()) | ({"beta"} if not config.get("center", True) else set())
            return [each for each in names if each not in left_out]
        if count == len(names) - 2:
            return names[2:]
        raise Refusal(f'layer "{path}" has no gamma or no beta, and a .weights.h5 does not say which; expected the .keras file of the model')

    def take(self, group, path, names, kind):
        variables = group["vars"]
        count = len(variables)
        if count > len(names):
            raise Refusal(f'layer "{path}" ({kind}) has {count} weights; expected {", ".join(names)}')
        for index in range(count):
            name = f"{path}/{names[index]}"
            if name in self.tensors:
                raise Refusal(f'two weights would be named "{name}"; expected layers with names that differ')
            self.tensors[name] = variables[str(index)][()]
            self.taken.add(variables[str(index)].name)

    def require_all(self, file):
        """Nothing is left behind in silence."""
        def look(name, item):
            parts = name.split("/")
            is_weight = hasattr(item, "dtype") and "vars" in parts and parts[0] != "optimizer" and "seed_generator" not in parts
            if is_weight and item.name not in self.taken:
                raise Refusal(f'"{name}" of the file belongs to no layer that is known; expected layers of Keras, alone or in models and lists')

        file.visititems(look)


def has_weights(group):
    """Whether a layer somewhere inside keeps something; the state of random numbers is none of it."""
    if not hasattr(group, "keys"):
        return False
    if "vars" in group and len(group["vars"]) and "seed_generator" not in group.name.rsplit("/", 1)[-1]:
        return True
    return any(has_weights(group[key]) for key in group if key not in ("vars", "seed_generator"))


def configs_in(config, found):
    if isinstance(config, dict):
        own = config.get("config")
        if isinstance(own, dict) and "class_name" in config and "name" in own:
            found[own["name"]] = own
        for value in config.values():
            configs_in(value, found)
    elif isinstance(config, list):
        for value in config:
            configs_in(value, found)
    return found


def write(tensors, path):
    """Whole or not at all."""
    header, offset = {"__metadata__": {"format": "keras"}}, 0
    for name, tensor in tensors.items():
        if str(tensor.dtype) not in DTYPES:
            raise Refusal(f'weight "{name}" is {tensor.dtype}; expected one of {", ".join(DTYPES)}')
        header[name] = {"dtype": DTYPES[str(tensor.dtype)], "shape": list(tensor.shape), "data_offsets": [offset, offset + tensor.nbytes]}
        offset += tensor.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as draft:
        try:
            draft.write(struct.pack("<Q", len(text)) + text)
            for tensor in tensors.values():
                draft.write(tensor.astype(tensor.dtype.newbyteorder("<")).tobytes(order="C"))
            draft.close()
            os.chmod(draft.name, 0o644)
            os.replace(draft.name, path)
        except BaseException:
            os.unlink(draft.name)
            raise


def convert(source, target, classes):
    import h5py

    configs, data = {}, source
    if zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as archive:
            configs = configs_in(json.loads(archive.read("config.json")), {})
            data = io.BytesIO(archive.read("model.weights.h5"))
    with h5py.File(data, "r") as file:
        if "layer_names" in file.attrs or "model_weights" in file:
            raise Refusal(f'"{source}" is in the form of Keras 2; expected model.save_weights("....weights.h5") of Keras 3')
        conversion = Conversion(configs, classes)
        conversion.model(file, "")
        conversion.require_all(file)
    if unknown := set(classes) - conversion.used:
        raise Refusal(f'--class names {", ".join(sorted(unknown))}, which the model does not have; it has {", ".join(conversion.tensors)}')
    write(conversion.tensors, target)
    return list(conversion.tensors)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--class", dest="classes", action="append", default=[], metavar="PATH=CLASS")
    given = parser.parse_args()
    try:
        for name in convert(given.source, given.target, dict(each.split("=", 1) for each in given.classes)):
            print(name)
    except (Refusal, OSError, KeyError, ValueError) as problem:
        sys.exit(f"keras_weights_to_safetensors: {problem}")


if __name__ == "__main__":
    main()
