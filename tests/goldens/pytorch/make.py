#!/usr/bin/env python3
"""Makes the files of this folder: weights of PyTorch's modules as their state_dict has them, one file each, and values.safetensors, which has an
input "<case>/x" and what the module gives for it, "<case>/y". Images have their channels last in there, as in the library.

usage: make.py FOLDER     (needs torch, numpy and safetensors; made with torch 2.15.0 on a processor)
"""
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

folder = Path(sys.argv[1])
values = {}


def channels_last(x):
    return x.movedim(1, -1) if x.dim() > 2 else x


def states_of(module):
    return {name: tensor.clone().contiguous() for name, tensor in module.state_dict().items()}


def case(name, module, *inputs, image=False, run=None):
    """Weights that are no module's start, so that nothing is 0 or 1 by chance."""
    module = module.double()
    with torch.no_grad():
        for key, tensor in module.state_dict().items():
            if not tensor.is_floating_point():
                continue
            tensor.copy_(torch.rand(tensor.shape, dtype=torch.float64) + 0.5 if "var" in key else torch.randn(tensor.shape, dtype=torch.float64) * 0.4)
        module.float()  # the stored numbers are those that the reference computes with, in double precision
        save_file(states_of(module), folder / f"{name}.safetensors")
        module.double().eval()
        inputs = [x if not x.is_floating_point() else x.float() for x in inputs]
        doubles = [x if not x.is_floating_point() else x.double() for x in inputs]
        y = run(module, *doubles) if run else module(*doubles)
    for i, x in enumerate(inputs):
        values[f"{name}/x{i if i else ''}"] = (channels_last(x) if image else x).contiguous()
    values[f"{name}/y"] = (channels_last(y) if image else y).float().contiguous()


torch.manual_seed(18)
first = lambda module, *x: module(*x)[0]
case("linear", nn.Linear(5, 3), torch.randn(2, 4, 5))
case("conv1d", nn.Conv1d(4, 6, 3, stride=2, groups=2), torch.randn(2, 4, 9), image=True)
case("conv2d", nn.Conv2d(4, 6, (3, 2), groups=2), torch.randn(2, 4, 6, 5), image=True)
case("conv2d_padded", nn.Conv2d(3, 4, 3, stride=2, padding=1), torch.randn(2, 3, 6, 5), image=True)
case("conv3d", nn.Conv3d(2, 3, (2, 3, 1)), torch.randn(1, 2, 4, 5, 3), image=True)
case("conv1d_transpose", nn.ConvTranspose1d(3, 4, 3, stride=2), torch.randn(2, 3, 5), image=True)
case("conv2d_transpose", nn.ConvTranspose2d(3, 4, (3, 2), stride=2), torch.randn(2, 3, 4, 3), image=True)
case("conv3d_transpose", nn.ConvTranspose3d(2, 3, (2, 3, 2)), torch.randn(1, 2, 3, 2, 3), image=True)
case("depthwise1d", nn.Conv1d(3, 6, 3, groups=3), torch.randn(2, 3, 7), image=True)
case("depthwise2d", nn.Conv2d(3, 6, (3, 2), groups=3), torch.randn(2, 3, 5, 6), image=True)
separable = nn.Sequential()
separable.add_module("depthwise", nn.Conv2d(3, 6, 3, groups=3, bias=False))
separable.add_module("pointwise", nn.Conv2d(6, 5, 1))
case("separable2d", separable, torch.randn(2, 3, 5, 6), image=True)
case("embedding", nn.Embedding(11, 4), torch.tensor([[0, 3, 10], [7, 7, 1]], dtype=torch.int32))
case("layer_norm", nn.LayerNorm(6), torch.randn(3, 4, 6))
case("layer_norm2", nn.LayerNorm((4, 6)), torch.randn(3, 4, 6))
case("batch_norm", nn.BatchNorm2d(3), torch.randn(2, 3, 4, 5), image=True)
case("group_norm", nn.GroupNorm(2, 6), torch.randn(2, 6, 4, 3), image=True)
case("rms_norm", nn.RMSNorm(6, eps=1e-5), torch.randn(3, 4, 6))
case("lstm", nn.LSTM(5, 3, batch_first=True), torch.randn(2, 4, 5), run=first)
case("lstm_no_bias", nn.LSTM(5, 3, batch_first=True, bias=False), torch.randn(2, 4, 5), run=first)
case("lstm_deep", nn.LSTM(5, 3, num_layers=2, bidirectional=True, batch_first=True), torch.randn(2, 4, 5), run=first)
case("gru", nn.GRU(5, 3, batch_first=True), torch.randn(2, 4, 5), run=first)
case("gru_deep", nn.GRU(5, 3, num_layers=2, bidirectional=True, batch_first=True), torch.randn(2, 4, 5), run=first)
case("rnn", nn.RNN(5, 3, batch_first=True), torch.randn(2, 4, 5), run=first)
case("lstm_cell", nn.LSTMCell(5, 3), torch.randn(2, 5), run=first)
case("attention", nn.MultiheadAttention(8, 2, batch_first=True), torch.randn(2, 5, 8), run=lambda module, x: module(x, x, x)[0])
case("attention_cross", nn.MultiheadAttention(8, 2, kdim=6, vdim=7, batch_first=True), torch.randn(2, 5, 8), torch.randn(2, 4, 7),
     torch.randn(2, 4, 6), run=lambda module, query, value, key: module(query, key, value)[0])
case("attention_no_bias", nn.MultiheadAttention(8, 2, bias=False, batch_first=True), torch.randn(2, 5, 8), run=lambda module, x: module(x, x, x)[0])
case("encoder", nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 12, dropout=0.0, batch_first=True), 2, enable_nested_tensor=False), torch.randn(2, 5, 8))


class Picture(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 4, 3), nn.ReLU())
        self.head = nn.Sequential(nn.Linear(4 * 2 * 3, 6), nn.ReLU(), nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 6))

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


case("picture", Picture(), torch.randn(2, 2, 6, 7), run=lambda module, x: module(x))
values["picture/x"] = channels_last(values["picture/x"]).contiguous()

linear = nn.Linear(5, 3)
for name, dtype in (("f16", torch.float16), ("bf16", torch.bfloat16), ("f64", torch.float64)):
    given = {key: tensor.detach().to(dtype) for key, tensor in linear.state_dict().items()}
    save_file(given, folder / f"linear_{name}.safetensors")
    x = torch.randn(2, 5)
    values[f"linear_{name}/x"] = x
    values[f"linear_{name}/y"] = (x.double() @ given["weight"].double().T + given["bias"].double()).float()
save_file(values, folder / "values.safetensors")

# Every dtype that the library has, written by the safetensors package, with texts beside them.
save_file({"b8": torch.tensor([True, False, True]), "u8": torch.tensor([[0, 255]], dtype=torch.uint8),
           "i32": torch.tensor([-1, 2**31 - 1], dtype=torch.int32), "i64": torch.tensor(-(2**40)), "f16": torch.tensor([0.5, -2], dtype=torch.float16),
           "bf16": torch.tensor([[1.5], [3]], dtype=torch.bfloat16), "f32": torch.zeros(0, 3), "f64": torch.tensor([1 / 3], dtype=torch.float64)},
          folder / "dtypes.safetensors", metadata={"made by": "safetensors", "words": "größer \"quoted\"\n"})
