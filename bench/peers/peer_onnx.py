"""ONNX Runtime, for inference alone: the network of peer_torch.py, with batch normalisation folded, as an ONNX file with an open batch, height and
width that is written here with onnx.helper. Configuration: cpu (two threads, all optimisations)."""
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import harness


class Network:
    """Nodes and weights one after the other; every method gives the name of what it has made."""

    def __init__(self):
        self.nodes, self.weights, self.random = [], [], np.random.default_rng(0)

    def node(self, kind, inputs, **attributes):
        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def weight(self, *shape):
        name = f"weight_{len(self.weights)}"
        fan = np.prod(shape[1:]) if len(shape) > 1 else 1e4
        self.weights.append(numpy_helper.from_array((self.random.standard_normal(shape) / np.sqrt(fan)).astype(np.float32), name))
        return name

    def unit(self, x, channels, filters, kernel, stride=1, activation=True):
        pads = [kernel // 2] * 4
        y = self.node("Conv", [x, self.weight(filters, channels, kernel, kernel), self.weight(filters)], kernel_shape=[kernel] * 2, strides=[stride] * 2,
                      pads=pads)
        return self.node("Relu", [y]) if activation else y

    def block(self, x, channels, width, stride):
        y = self.unit(self.unit(self.unit(x, channels, width, 1, stride), width, width, 3), width, 4 * width, 1, activation=False)
        if stride > 1 or channels != 4 * width:
            x = self.unit(x, channels, 4 * width, 1, stride, activation=False)
        return self.node("Relu", [self.node("Add", [x, y])])


def resnet50(classes):
    network = Network()
    x = network.node("MaxPool", [network.unit("x", 3, 64, 7, 2)], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for index in range(count):
            x = network.block(x, channels, width, stride if index == 0 else 1)
            channels = 4 * width
    x = network.node("Flatten", [network.node("GlobalAveragePool", [x])])
    network.nodes.append(helper.make_node("Gemm", [x, network.weight(channels, classes), network.weight(classes)], ["y"]))
    graph = helper.make_graph(network.nodes, "resnet50", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, "height", "width"])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", classes])], network.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    return model.SerializeToString()


class Inference:
    def __init__(self, workload):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = 2, 1
        self.session = onnxruntime.InferenceSession(resnet50(workload.classes), options, providers=["CPUExecutionProvider"])

    def load(self, batch):
        return np.ascontiguousarray(batch.x.transpose(0, 3, 1, 2))

    def predict(self, x):
        return self.session.run(None, {"x": x})[0]

    def counts(self):
        return {}


def make_runner(workload, part, config):
    assert workload.name == "resnet50" and part == "infer" and config == "cpu"
    return Inference(workload)


if __name__ == "__main__":
    harness.main("onnxruntime " + onnxruntime.__version__, make_runner, lambda config: None)
