"""softmax and layer norm over rows in PyTorch eager, float32, 2 threads: 4096 x 1000 and 65536 x 64.

Forward is y of x without recording; gradient is y and, from dy, the gradients of x and the weights: what bench/fused_bench.cpp does.
"""
import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "peers"))

import torch
import torch.nn.functional as F

import harness

SIZES = [(4096, 1000), (65536, 64)]


def make(workload, columns):
    """(function of x, its weights)"""
    if workload == "softmax":
        return lambda x: F.softmax(x, -1), []
    weights = [torch.ones(columns, requires_grad=True), torch.zeros(columns, requires_grad=True)]
    return lambda x: F.layer_norm(x, (columns,), *weights, eps=1e-5), weights


def measure(workload, rows, columns):
    layer, weights = make(workload, columns)
    x, dy = torch.randn(rows, columns), torch.randn(rows, columns)

    def forward():
        with torch.no_grad():
            return layer(x)

    def gradient():
        source = x.detach().requires_grad_()
        y = layer(source)
        return y, torch.autograd.grad(y, [source, *weights], dy)

    harness.emit_times(f"{rows}x{columns}_forward_ms", harness.repeated(forward, samples=40))
    harness.emit_times(f"{rows}x{columns}_gradient_ms", harness.repeated(gradient, samples=40))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workload", choices=["softmax", "layer_norm"], required=True)
    options = parser.parse_args()
    torch.set_num_threads(2)
    torch.manual_seed(0)
    harness.CONTEXT.update(peer="torch " + torch.__version__.split("+")[0], config="eager", workload=options.workload)
    harness.calibrate("calibration_ms")
    for rows, columns in SIZES:
        measure(options.workload, rows, columns)
    harness.calibrate("calibration_end_ms")


if __name__ == "__main__":
    main()
