"""The hand-written training step in PyTorch: dense 784 -> 512 relu -> 10, softmax cross-entropy, SGD 0.01, batch 64, float32, 2 threads.

A step is timed until the loss is a Python float and the parameters are updated. Configurations: eager (fused SGD, PyTorch's fastest here),
eager_plain (SGD as `torch.optim.SGD(parameters, 0.01)` gives it), compile (`torch.compile` around model and loss, fused SGD).
"""
import argparse
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", tempfile.mkdtemp(prefix="inductor-"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "peers"))

import torch
import torch.nn.functional as F
from torch import nn

import harness
import workloads


def make_step(config, x, y):
    model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10))
    optimizer = torch.optim.SGD(model.parameters(), 0.01, fused=config != "eager_plain")

    def loss_of(x, y):
        return F.cross_entropy(model(x), y)

    if config == "compile":
        loss_of = torch.compile(loss_of)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(x, y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", choices=["eager", "eager_plain", "compile"], default="eager")
    options = parser.parse_args()
    torch.set_num_threads(2)
    torch.manual_seed(0)
    harness.CONTEXT.update(peer="torch " + torch.__version__.split("+")[0], config=options.config, workload="step")
    harness.calibrate("calibration_ms")
    batch = workloads.WORKLOADS["mlp"].batch(64)
    step = make_step(options.config, torch.from_numpy(batch.x), torch.from_numpy(batch.y.astype("int64")))
    milliseconds, first = harness.timed(step)
    harness.emit("first_step_ms", milliseconds)
    losses = [first]
    harness.emit_times("steady_ms", harness.repeated(lambda: losses.append(step()), warm=50, samples=500, least=500))
    harness.check_training(losses)
    harness.calibrate("calibration_end_ms")


if __name__ == "__main__":
    main()
