// ONNX's quantization: numbers as whole ones with a scale and a zero point, and products of such.
#include "onnx/ops/narrow.h"
#include "onnx/rule.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape::onnx {
namespace {

// A scale or zero point as it meets x: one for all, one per index of an axis, or one per block along it.
Tensor spread(NodeCall& call, const Tensor& factor, const Tensor& x) {
  const int64_t block = call.integer("block_size", 0);
  if (factor.rank() == 0 || x.rank() == 0) return reshape(factor, {});
  const int64_t axis = call.axis(call.integer("axis", 1) < x.rank() ? call.integer("axis", 1) : x.rank() - 1, x.rank());
  if (factor.rank() == 1 && block == 0) {
    if (factor.shape()[0].same_as(1)) return reshape(factor, {});
    Shape along;
    for (int each = 0; each < x.rank(); ++each) along.push_back(each == axis ? factor.shape()[0] : Dim(1));
    return reshape(factor, along);
  }
  if (block <= 0 || factor.rank() != x.rank()) call.fail(fmt::format("a scale of rank {} and blocks of {}", factor.rank(), block), "one number, one per index, or one per block");
  std::vector<SliceRange> first(static_cast<size_t>(axis) + 1);
  first.back().end = x.shape()[static_cast<int>(axis)];
  return slice(repeat(factor, block, {.axis = axis}), first);
}

// Nearest whole numbers, half to even, held to the type's range.
Value saturated(const Tensor& number, ElementType type, NodeCall& call) {
  const auto [lowest, highest] = range_of(type);
  return {cast(clip(number, static_cast<double>(lowest), static_cast<double>(highest)), call.dtype_of(type)), type};
}

Results quantize_rule(NodeCall& call) {
  const Tensor x = call.tensor(0), scale = spread(call, call.tensor(1), x);
  const ElementType type = call.has(2) ? call.type(2) : call.type("output_dtype", ElementType::Undefined) == ElementType::Undefined ? ElementType::Uint8
                                                                                                      : call.type("output_dtype", ElementType::Uint8);
  if (range_of(type).second > 65535 || is_floating(call.dtype_of(type))) call.unsupported("quantization to " + name_of(type));
  const Dtype precision = call.has("precision") && call.integer("precision") != 0 ? call.dtype("precision", f32) : is_floating(x.dtype()) ? x.dtype() : f32;
  Tensor number = cast(round(cast(x, precision) / cast(scale, precision)), precision == f64 ? f64 : f32);
  if (call.has(2)) number = number + cast(spread(call, call.tensor(2), x), number.dtype());
  return saturated(number, type, call);
}

Results dequantize_rule(NodeCall& call) {
  const Tensor x = call.tensor(0), scale = call.tensor(1);
  if (is_floating(x.dtype())) call.unsupported("dequantization of " + name_of(call.type(0)));
  const Tensor distance = call.has(2) ? cast(x, i32) - cast(spread(call, call.tensor(2), x), i32) : x;
  const ElementType given = call.type("output_dtype", ElementType::Undefined);
  const Dtype dtype = given == ElementType::Undefined ? scale.dtype() : call.dtype_of(given);
  return cast(cast(distance, f32) * cast(spread(call, scale, x), f32), dtype);
}

Results dynamic_quantize_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const Tensor highest = maximum(max(x), 0), lowest = minimum(min(x), 0);
  const Tensor scale = where(highest == lowest, 1, highest - lowest) / 255;
  const Tensor zero = round(clip(-lowest / scale, 0, 255));
  return {saturated(round(x / scale) + zero, ElementType::Uint8, call), scale, cast(zero, u8)};
}

// Whole numbers less their zero point; one per row of a, one per column of b.
Tensor centered(NodeCall& call, size_t input, size_t zero, bool by_rows) {
  const Tensor x = cast(call.tensor(input), i32);
  if (!call.has(zero)) return x;
  const Tensor point = cast(call.tensor(zero), i32);
  return x - (by_rows && point.rank() == 1 && !point.shape()[0].same_as(1) ? expand_dims(point, -1) : point);
}

Results matmul_integer_rule(NodeCall& call) { return matmul(centered(call, 0, 2, true), centered(call, 1, 3, false)); }

Results quantized_matmul_rule(NodeCall& call) {
  const Tensor product = matmul(centered(call, 0, 2, true), centered(call, 3, 5, false));
  Tensor a_scale = call.tensor(1), y_scale = call.tensor(6);
  const auto by_rows = [](const Tensor& x) { return x.rank() == 1 && !x.shape()[0].same_as(1) ? expand_dims(x, -1) : x; };
  a_scale = by_rows(a_scale);
  y_scale = by_rows(y_scale);
  const Tensor scaled = cast(product, f64) * cast(a_scale * call.tensor(4) / y_scale, f64);
  const ElementType type = call.type(7);
  return saturated(round(scaled + cast(by_rows(call.tensor(7)), f64)), type, call);
}

constexpr RuleEntry entries[] = {
    {"QuantizeLinear", 10, quantize_rule},          {"DequantizeLinear", 10, dequantize_rule}, {"DynamicQuantizeLinear", 11, dynamic_quantize_rule},
    {"MatMulInteger", 10, matmul_integer_rule},     {"QLinearMatMul", 10, quantized_matmul_rule},
    {"QuantizeLinear", 1, quantize_rule, {}, "com.microsoft"}, {"DequantizeLinear", 1, dequantize_rule, {}, "com.microsoft"},
};

}  // namespace

const RuleTable quantize_rules = entries;

}  // namespace anyshape::onnx
