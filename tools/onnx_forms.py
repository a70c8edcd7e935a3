"""Small models of forms that ONNX's node cases lack: older opsets, and ops of ONNX Runtime that exporters write. tools/setup_onnx.py writes them as cases,
with ONNX Runtime's results."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

RANDOM = np.random.default_rng(23)


def numbers(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def whole(*values):
    return np.array(values, np.int64)


def model_of(op, opset, inputs, outputs=1, constants=(), domain="", **attributes):
    """One node; inputs that are None are left out, those in `constants` are initializers. Only what is fed has open sizes."""
    names = ["" if value is None else f"x{i}" for i, value in enumerate(inputs)]
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, names, results, domain=domain, **attributes)
    fed = [(name, value) for i, (name, value) in enumerate(zip(names, inputs)) if name and i not in constants]
    kind = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64, np.dtype(np.int32): TensorProto.INT32,
            np.dtype(np.bool_): TensorProto.BOOL, np.dtype(np.uint8): TensorProto.UINT8, np.dtype(np.int8): TensorProto.INT8}
    graph = helper.make_graph(
        [node], op,
        [helper.make_tensor_value_info(name, kind[value.dtype], [f"{name}_{axis}" for axis in range(value.ndim)]) for name, value in fed],
        [helper.make_empty_tensor_value_info(name) for name in results],
        [numpy_helper.from_array(inputs[i], names[i]) for i in constants])
    opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return helper.make_model(graph, opset_imports=opsets, ir_version=7), dict(fed)


def forms():
    """(name, model, feed by name)"""
    x, image = numbers(3, 4, 5), numbers(2, 6, 5, 4)
    for name, arguments in {
            "slice_1": dict(op="Slice", opset=9, inputs=[x], axes=[0, 2], starts=[1, -3], ends=[1000, -1]),
            "slice_steps": dict(op="Slice", opset=13, inputs=[x, whole(-1, 0), whole(-1000, 9), whole(1, 2), whole(-2, 3)], constants=(1, 2, 3, 4)),
            "squeeze_11": dict(op="Squeeze", opset=11, inputs=[numbers(3, 1, 4, 1)], axes=[1, -1]),
            "unsqueeze_11": dict(op="Unsqueeze", opset=11, inputs=[x], axes=[0, 3]),
            "pad_2": dict(op="Pad", opset=10, inputs=[x], pads=[0, 1, 2, 1, 0, 3], value=1.5),
            "pad_reflect_2": dict(op="Pad", opset=10, inputs=[x], pads=[0, 1, 2, 1, 0, 3], mode="reflect"),
            "pad_cut": dict(op="Pad", opset=13, inputs=[x, whole(0, -1, 2, 1, 0, -3)], constants=(1,)),
            "clip_6": dict(op="Clip", opset=10, inputs=[x], min=-0.5, max=0.25),
            "clip_11_one_bound": dict(op="Clip", opset=12, inputs=[x, None, np.float32(0.1)], constants=(2,)),
            "softmax_11": dict(op="Softmax", opset=11, inputs=[x], axis=1),
            "softmax_11_last": dict(op="Softmax", opset=11, inputs=[x], axis=2),
            "log_softmax_11": dict(op="LogSoftmax", opset=11, inputs=[x]),
            "hardmax_11": dict(op="Hardmax", opset=11, inputs=[x], axis=1),
            "top_k_9": dict(op="TopK", opset=9, inputs=[x], outputs=2, k=2, axis=1),
            "top_k_10": dict(op="TopK", opset=10, inputs=[x, whole(3)], outputs=2, constants=(1,)),
            "top_k_least": dict(op="TopK", opset=11, inputs=[x, whole(3)], outputs=2, constants=(1,), largest=0, axis=0),
            "dropout_10": dict(op="Dropout", opset=10, inputs=[x], ratio=0.3),
            "reduce_sum_11": dict(op="ReduceSum", opset=11, inputs=[x], axes=[-1, 0], keepdims=0),
            "reduce_mean_13": dict(op="ReduceMean", opset=13, inputs=[x], axes=[1]),
            "reduce_max_11": dict(op="ReduceMax", opset=11, inputs=[x], axes=[2]),
            "reduce_l2_13": dict(op="ReduceL2", opset=13, inputs=[x], axes=[0, 2], keepdims=0),
            "reduce_log_sum_exp_11": dict(op="ReduceLogSumExp", opset=11, inputs=[x]),
            "arg_max_11": dict(op="ArgMax", opset=11, inputs=[x], axis=-1, keepdims=0),
            "split_11": dict(op="Split", opset=11, inputs=[image], outputs=2, axis=1, split=[2, 4]),
            "split_equal_2": dict(op="Split", opset=2 + 5, inputs=[image], outputs=3, axis=1),
            "split_18": dict(op="Split", opset=18, inputs=[image], outputs=2, axis=2, num_outputs=2),
            "gather_negative": dict(op="Gather", opset=11, inputs=[x, whole(-1, 0, 2)], constants=(1,), axis=1),
            "gather_elements": dict(op="GatherElements", opset=13, inputs=[x, RANDOM.integers(-4, 4, (3, 2, 5))], axis=1),
            "gather_nd_batch": dict(op="GatherND", opset=13, inputs=[x, RANDOM.integers(0, 4, (3, 2, 1))], batch_dims=1),
            "scatter_elements_11": dict(op="ScatterElements", opset=11, inputs=[x, RANDOM.permuted(np.tile(np.arange(4), (3, 5, 1)), axis=2).transpose(0, 2, 1).copy(), numbers(3, 4, 5)], axis=1),
            "scatter_nd_16_add": dict(op="ScatterND", opset=16, inputs=[x, whole([0, 1], [2, -1], [0, 1]), numbers(3, 5)], reduction="add"),
            "expand_both": dict(op="Expand", opset=8, inputs=[numbers(3, 1, 5), whole(2, 1, 4, 1)], constants=(1,)),
            "one_hot_9": dict(op="OneHot", opset=9, inputs=[whole(0, 3, -1, 7), whole(5), np.array([-1, 2], np.float32)], constants=(1, 2), axis=0),
            "mod_fmod": dict(op="Mod", opset=13, inputs=[x, numbers(5)], fmod=1),
            "div_negative": dict(op="Div", opset=14, inputs=[np.array([-7, 7, -8, 6], np.int32), np.array([2, -2, 4, 4], np.int32)]),
            "pow_whole": dict(op="Pow", opset=13, inputs=[x, np.array(3, np.int64)], constants=(1,)),
            "prelu": dict(op="PRelu", opset=9, inputs=[image, numbers(6, 1, 1)], constants=(1,)),
            "lp_normalization_1": dict(op="LpNormalization", opset=11, inputs=[x], p=1, axis=1),
            "mean_variance": dict(op="MeanVarianceNormalization", opset=13, inputs=[image]),
            "gemm_11": dict(op="Gemm", opset=11, inputs=[numbers(4, 3), numbers(5, 4), numbers(5)], constants=(1, 2), transA=1, transB=1, alpha=0.5, beta=2.0),
            "rnn_7": dict(op="RNN", opset=7, inputs=[numbers(6, 2, 3), numbers(1, 4, 3), numbers(1, 4, 4), numbers(1, 8)], outputs=2, constants=(1, 2, 3), hidden_size=4, direction="reverse"),
            "lstm_both_ways": dict(op="LSTM", opset=14, inputs=[numbers(6, 2, 3), numbers(2, 16, 3), numbers(2, 16, 4), numbers(2, 32), np.array([6, 4], np.int32), numbers(2, 2, 4), numbers(2, 2, 4), numbers(2, 12)],
                                   outputs=3, constants=(1, 2, 3, 7), hidden_size=4, direction="bidirectional"),
            "lstm_activations": dict(op="LSTM", opset=14, inputs=[numbers(6, 2, 3), numbers(1, 16, 3), numbers(1, 16, 4)], outputs=3, constants=(1, 2), hidden_size=4, activations=["HardSigmoid", "Softsign", "Relu"], activation_alpha=[0.3], activation_beta=[0.4], clip=0.7),
            "gru_reverse_lengths": dict(op="GRU", opset=14, inputs=[numbers(6, 3, 3), numbers(1, 12, 3), numbers(1, 12, 4), numbers(1, 24), np.array([6, 1, 3], np.int32)], outputs=2, constants=(1, 2, 3), hidden_size=4, direction="reverse"),
            "gru_linear": dict(op="GRU", opset=14, inputs=[numbers(6, 2, 3), numbers(2, 12, 3), numbers(2, 12, 4), numbers(2, 24)], outputs=2, constants=(1, 2, 3), hidden_size=4, direction="bidirectional", linear_before_reset=1),
            "quantize_axis_13": dict(op="QuantizeLinear", opset=13, inputs=[image, np.abs(numbers(6)) + 0.1, RANDOM.integers(-20, 20, 6).astype(np.int8)], constants=(1, 2), axis=1),
            "dequantize_axis_13": dict(op="DequantizeLinear", opset=13, inputs=[RANDOM.integers(-128, 128, (2, 6, 3)).astype(np.int8), np.abs(numbers(6)) + 0.1, RANDOM.integers(-20, 20, 6).astype(np.int8)], constants=(1, 2), axis=1),
            "matmul_integer_signed": dict(op="MatMulInteger", opset=10, inputs=[RANDOM.integers(0, 256, (4, 3)).astype(np.uint8), RANDOM.integers(-128, 128, (3, 5)).astype(np.int8), np.array(12, np.uint8), np.array(-3, np.int8)], constants=(1, 2, 3)),
            "layer_normalization": dict(op="LayerNormalization", opset=17, inputs=[x, numbers(4, 5), numbers(4, 5)], outputs=3, constants=(1, 2), axis=1),
            "cum_sum": dict(op="CumSum", opset=11, inputs=[x, np.array(-2, np.int64)], constants=(1,), exclusive=1, reverse=1),
            "unique_axis": dict(op="Unique", opset=11, inputs=[np.array([[1, 0, 0], [1, 0, 0], [2, 3, 4], [0, 9, 9]], np.float32)], outputs=4, axis=0, sorted=1),
            "det": dict(op="Det", opset=11, inputs=[numbers(2, 5, 5)]),
            "layer_norm_skip": dict(op="SkipLayerNormalization", opset=17, inputs=[numbers(2, 3, 8), numbers(2, 3, 8), numbers(8), numbers(8), numbers(8)], constants=(2, 3, 4), domain="com.microsoft"),
            "bias_gelu": dict(op="BiasGelu", opset=17, inputs=[numbers(2, 3, 8), numbers(8)], constants=(1,), domain="com.microsoft"),
            "fast_gelu": dict(op="FastGelu", opset=17, inputs=[numbers(2, 3, 8), numbers(8)], constants=(1,), domain="com.microsoft"),
            "gelu_microsoft": dict(op="Gelu", opset=17, inputs=[numbers(2, 3, 8)], domain="com.microsoft"),
            "quick_gelu": dict(op="QuickGelu", opset=17, inputs=[numbers(2, 3, 8)], domain="com.microsoft"),
            "fused_matmul": dict(op="FusedMatMul", opset=17, inputs=[numbers(2, 3, 8), numbers(2, 5, 8)], transB=1, alpha=0.125, domain="com.microsoft"),
            "multi_head_attention": dict(op="MultiHeadAttention", opset=17, inputs=[numbers(2, 3, 8), numbers(2, 5, 8), numbers(2, 5, 8), numbers(24)], constants=(3,), num_heads=2, domain="com.microsoft"),
            "multi_head_attention_bias": dict(op="MultiHeadAttention", opset=17, inputs=[numbers(2, 3, 8), numbers(2, 5, 8), numbers(2, 5, 8), None, None, numbers(1, 2, 3, 5)], num_heads=2, scale=0.5, domain="com.microsoft"),
    }.items():
        yield (name, *model_of(**arguments))
