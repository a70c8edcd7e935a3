// Samples of ops on the bits of integers.
#include "check/op_samples.h"

#include <anyshape/ops.h>
#include <anyshape/ops/bitwise.h>

#include <bit>

namespace anyshape::check {
namespace {

using Formula = int64_t (*)(int64_t, int64_t);

// Two integer tensors that broadcast; their results lie in the dtype.
OpSample of_two(const std::string& name, BinaryOp op, Formula formula, double highest_second = 100) {
  OpSample sample;
  sample.name = name;
  sample.ops = {name};
  sample.call = [op](Tensors in, int) { return std::vector<Tensor>{op(in[0], in[1])}; };
  sample.dtypes = {i32, i64, u8};
  sample.cases = 7;
  sample.inputs = [highest_second](Random& random, Dtype dtype, int number) {
    const Domain first{.low = dtype == u8 ? 0.0 : -100.0, .high = 100}, second{.low = highest_second < 100 || dtype == u8 ? 0.0 : -100.0, .high = highest_second};
    return broadcasting_inputs(random, dtype, number, {first, second});
  };
  sample.reference = [formula](Flats in, int) {
    const auto element = [&](const Sizes& index) {
      const auto result = formula(static_cast<int64_t>(broadcast_at(in[0], index)), static_cast<int64_t>(broadcast_at(in[1], index)));
      return static_cast<double>(in[0].dtype == u8 ? result & 255 : result);
    };
    return std::vector<Flat>{flat_from(in[0].dtype, broadcast_sizes(in[0].sizes, in[1].sizes), element)};
  };
  sample.wrong = {
      wrong<ArgumentError>([op] { return op(Tensor(), tensor({1})); }, {"expected a tensor with a value"}),
      wrong<DtypeError>([op] { return op(ones({2}), ones({2})); }, {name + ": f32 has no bits to work on; expected integers or b8."}),
      wrong<ShapeError>([op] { return op(tensor({1, 2}), tensor({1, 2, 3})); }, {name + ": shapes do not broadcast", "i32[2]", "i32[3]"}),
  };
  return sample;
}

OpSample not_sample() {
  OpSample sample;
  sample.name = "bitwise_not";
  sample.ops = {"bitwise_not"};
  sample.call = [](Tensors in, int) { return std::vector<Tensor>{bitwise_not(in[0])}; };
  sample.dtypes = {i32, i64, u8, b8};
  sample.cases = 3;
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    return one_input(random, dtype, number, {.low = dtype == u8 || dtype == b8 ? 0.0 : -100.0, .high = dtype == b8 ? 1.0 : 100.0});
  };
  sample.reference = [](Flats in, int) {
    Flat result = in[0];
    for (double& value : result.values) value = in[0].dtype == u8 ? 255 - value : in[0].dtype == b8 ? (value == 0 ? 1 : 0) : -1 - value;
    return std::vector<Flat>{std::move(result)};
  };
  sample.wrong = {
      wrong<ArgumentError>([] { return bitwise_not(Tensor()); }, {"expected a tensor with a value"}),
      wrong<DtypeError>([] { return bitwise_not(ones({2})); }, {"bitwise_not: f32 has no bits"}),
      wrong<DtypeError>([] { return bitwise_not(ones({2}, {.dtype = f16})); }, {"bitwise_not: f16 has no bits"}),
  };
  return sample;
}

double with_bits_of(double value, Dtype from) {
  switch (from) {
    case f32: return std::bit_cast<int32_t>(static_cast<float>(value));
    case i32: return static_cast<double>(std::bit_cast<float>(static_cast<int32_t>(value)));
    default: return value;
  }
}

OpSample bitcast_sample() {
  OpSample sample;
  sample.name = "bitcast";
  sample.ops = {"bitcast"};
  const auto to = [](Dtype from) { return from == f32 ? i32 : from == i32 ? f32 : from; };
  sample.call = [to](Tensors in, int) { return std::vector<Tensor>{bitcast(in[0], to(in[0].dtype()))}; };
  sample.dtypes = {f32, i32, f64, i64};
  sample.cases = 3;
  // Integers whose bits are ordinary floats.
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    const Domain floats{.low = 0.5, .high = 4, .zeros = false, .infinities = false, .nan = false, .extremes = false};
    return one_input(random, dtype, number, dtype == i32 ? Domain{.low = 1065353216, .high = 1082130432} : floats);
  };
  sample.reference = [to](Flats in, int) {
    Flat result{to(in[0].dtype), in[0].sizes, {}};
    for (const double value : in[0].values) result.values.push_back(with_bits_of(value, in[0].dtype));
    return std::vector<Flat>{std::move(result)};
  };
  sample.halves = false;
  sample.wrong = {
      wrong<ArgumentError>([] { return bitcast(Tensor(), i32); }, {"expected a tensor with a value"}),
      wrong<DtypeError>([] { return bitcast(ones({2}), i64); }, {"bitcast: the bits of f32 are none of i64", "f32[2]"}),
      wrong<DtypeError>([] { return bitcast(ones({2}, {.dtype = f16}), bf16); }, {"bitcast: the bits of f16 are none of bf16"}),
  };
  return sample;
}

}  // namespace

std::vector<OpSample> bitwise_samples() {
  return {
      of_two("bitwise_and", bitwise_and, [](int64_t a, int64_t b) { return a & b; }),
      of_two("bitwise_or", bitwise_or, [](int64_t a, int64_t b) { return a | b; }),
      of_two("bitwise_xor", bitwise_xor, [](int64_t a, int64_t b) { return a ^ b; }),
      of_two("left_shift", left_shift, [](int64_t a, int64_t b) { return a * (int64_t{1} << b); }, 7),
      of_two("right_shift", right_shift, [](int64_t a, int64_t b) { return a >> b; }, 7),
      not_sample(),
      bitcast_sample(),
  };
}

}  // namespace anyshape::check
