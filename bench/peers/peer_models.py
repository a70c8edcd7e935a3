"""ONNX Runtime on models of open sizes that tools/setup_onnx fetches (two threads, all optimisations): a first result, then a stream of sizes that were
never seen before, then the same sizes again. The sizes are those of bench/onnx_bench.cpp.

usage: peer_models.py --workload detect|recognise|silero
"""
import argparse
import os
from pathlib import Path

import numpy as np
import onnxruntime

import harness


def uniform(random, *shape):
    return random.uniform(-1, 1, shape).astype(np.float32)


def detect(random, size):
    height, width = size
    return {"x": uniform(random, 1, 3, height, width)}


def recognise(random, width):
    return {"x": uniform(random, 6, 3, 48, width)}


def silero(random, size):
    batch, length = size
    return {"input": uniform(random, batch, length), "state": np.zeros((2, batch, 128), np.float32), "sr": np.array(16000, np.int64)}


WORKLOADS = {
    "detect": (detect, (64, 64), [(256 + 32 * (7 * i % 17), 256 + 32 * (5 * i % 16)) for i in range(20)]),
    "recognise": (recognise, 48, [80 + 19 * (11 * i % 30) for i in range(30)]),
    "silero": (silero, (16, 576), [(8 + 3 * (7 * i % 41), 512 + 16 * (i % 12)) for i in range(40)]),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workload", choices=WORKLOADS, required=True)
    workload = parser.parse_args().workload
    harness.CONTEXT.update(peer="onnxruntime " + onnxruntime.__version__, config="cpu", workload=workload)
    harness.calibrate("calibration_ms")
    feed_of, small, sizes = WORKLOADS[workload]
    random = np.random.default_rng(5)
    file = Path(os.environ["ANYSHAPE_ONNX"]) / "real" / workload / "model.onnx"
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = 2, 1
    options.log_severity_level = 3
    feed = feed_of(random, small)

    def load():
        session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        session.run(None, feed)
        return session

    milliseconds, session = harness.timed(load)
    harness.emit("first_ms", milliseconds)
    feeds = [feed_of(random, size) for size in sizes]
    before = harness.resident_mb()
    harness.emit("stream_ms", harness.timed(lambda: [session.run(None, each) for each in feeds])[0], samples=len(feeds))
    harness.emit("growth_mib", harness.resident_mb() - before, "MiB")
    harness.emit("again_ms", harness.timed(lambda: [session.run(None, each) for each in feeds])[0], samples=len(feeds))
    harness.calibrate("calibration_end_ms")


if __name__ == "__main__":
    main()
