#!/usr/bin/env python3
"""Makes the files of this folder: weights of Keras models as tools/keras_weights_to_safetensors.py turns them, and values.safetensors, which has an
input "<model>/x" and what the model gives for it, "<model>/y".

usage: make.py FOLDER     (needs keras with a backend, h5py, numpy and safetensors; made with keras 3.15.1 on torch 2.15.0)
"""
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras
import numpy as np
from keras import layers
from safetensors.numpy import save_file

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
from keras_weights_to_safetensors import convert

folder = Path(sys.argv[1])
random = np.random.default_rng(18)
values = {}


def case(name, model, x, ending):
    model.set_weights([(random.random(w.shape) + 0.5 if "variance" in v.path else random.normal(size=w.shape) * 0.4).astype("float32")
                       for v, w in zip(model.weights, model.get_weights())])
    with tempfile.TemporaryDirectory() as temporary:
        source = Path(temporary) / f"{name}{ending}"
        model.save(source) if ending == ".keras" else model.save_weights(source)
        convert(source, folder / f"{name}.safetensors", {})
    values[f"{name}/x"] = x
    values[f"{name}/y"] = np.asarray(keras.ops.convert_to_numpy(model(x)), dtype="float32")


layers.Dense(1)  # so that Keras's numbers are those of a program with other layers in it
case("sequence", keras.Sequential([
    keras.Input((7,), dtype="int32"), layers.Embedding(11, 6), layers.Conv1D(8, 3, padding="same", activation="relu"),
    layers.BatchNormalization(scale=False), layers.Bidirectional(layers.LSTM(4, return_sequences=True)),
    layers.GRU(5, return_sequences=True, name="memory"), layers.SimpleRNN(5, return_sequences=True), layers.LayerNormalization(),
    layers.TimeDistributed(layers.Dense(4, activation="tanh")), layers.Dropout(0.5), layers.GlobalAveragePooling1D(),
    layers.Dense(3, activation="relu"), layers.Dense(2, name="head")]), random.integers(0, 11, (3, 7)).astype("int32"), ".keras")

case("pictures", keras.Sequential([
    keras.Input((9, 8, 3)), layers.Conv2D(4, 3, strides=2, padding="same"), layers.DepthwiseConv2D(3, depth_multiplier=2),
    layers.SeparableConv2D(6, 2), layers.Conv2DTranspose(4, 3, strides=2), layers.GroupNormalization(2), layers.Flatten(), layers.Dense(3)]),
     random.normal(size=(2, 9, 8, 3)).astype("float32"), ".weights.h5")

steps = keras.Input((5, 8))
met = layers.MultiHeadAttention(2, 4, name="attention")(steps, steps)
inner = keras.Sequential([layers.Dense(12, activation="relu"), layers.Dense(8)], name="feed")
case("encoder", keras.Model(steps, layers.LayerNormalization()(inner(layers.LayerNormalization()(steps + met)))),
     random.normal(size=(2, 5, 8)).astype("float32"), ".weights.h5")
save_file(values, folder / "values.safetensors")
