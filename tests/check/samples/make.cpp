// Samples of ops that make tensors from a shape: the inputs are there for their shapes.
#include "check/op_samples.h"
#include "ops/random/seeded_uniform.h"

#include <anyshape/ops.h>
#include <anyshape/random.h>

namespace anyshape::check {
namespace {

OpSample shaped_sample(const std::string& name, std::function<Tensor(const Shape&, Dtype)> make) {
  OpSample sample;
  sample.name = name;
  sample.ops = {name};
  sample.cases = 4;
  sample.inputs = [](Random& random, Dtype dtype, int number) { return one_input(random, dtype, number, {}); };
  sample.call = [make](Tensors in, int) { return std::vector<Tensor>{make(in[0].shape(), in[0].dtype())}; };
  return sample;
}

OpSample full_sample() {
  OpSample sample;
  sample.name = "full";
  sample.ops = {"full"};
  sample.dtypes = {f32, f64, i32, i64, u8, b8};
  sample.cases = 4;
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    return std::vector<InputPlan>{{{}, dtype, {}}, {random.sizes(number), f32, {}}};
  };
  sample.call = [](Tensors in, int) { return std::vector<Tensor>{full(in[1].shape(), in[0])}; };
  sample.reference = [](Flats in, int) {
    return std::vector<Flat>{flat_from(in[0].dtype, in[1].sizes, [&](const Sizes&) { return in[0].values[0]; })};
  };
  sample.differentiable = {0};
  sample.second_order = true;
  sample.wrong = {
      wrong<ShapeError>([] { return full({2}, ones({2})); }, {"full: the value is no scalar", "f32[2]"}),
      wrong<ShapeError>([] { return full({-1}, 1.0F); }, {"full", "sizes of at least 0"}),
      wrong<ShapeError>([] { return full({int64_t{1} << 40, int64_t{1} << 40}, 1.0F); }, {"overflow"}),
      wrong<ArgumentError>([] { return full({2}, Tensor()); }, {"full: argument 0 is an empty tensor handle"}),
  };
  return sample;
}

OpSample filled_sample(const std::string& name, Tensor (*make)(const Shape&, MakeOptions), double value) {
  OpSample sample = shaped_sample(name, [make](const Shape& shape, Dtype dtype) { return make(shape, {.dtype = dtype}); });
  sample.ops.clear();
  sample.dtypes = {f32, f64, i32, i64, u8, b8};
  sample.reference = [value](Flats in, int) {
    return std::vector<Flat>{flat_from(in[0].dtype, in[0].sizes, [&](const Sizes&) { return value; })};
  };
  sample.wrong = {
      wrong<ShapeError>([make] { return make({-1}, {}); }, {"sizes of at least 0"}),
      wrong<ShapeError>([make] { return make({2, -7}, {}); }, {"sizes of at least 0"}),
      wrong<ShapeError>([make] { return make({int64_t{1} << 40, int64_t{1} << 40}, {}); }, {"overflow"}),
  };
  return sample;
}

OpSample arange_sample() {
  OpSample sample;
  sample.name = "arange";
  sample.ops = {"arange"};
  sample.dtypes = {f32, f64, i32, i64, u8};
  sample.cases = 2;
  sample.inputs = [](Random& random, Dtype dtype, int) { return std::vector<InputPlan>{{random.sizes(2), dtype, {}}}; };
  sample.call = [](Tensors in, int number) {
    const Shape shape = in[0].shape();
    const ArangeOptions options{.dtype = in[0].dtype()};
    return std::vector<Tensor>{number == 0 ? arange(shape[0], options) : arange(shape[0], shape[1], options)};
  };
  sample.reference = [](Flats in, int number) {
    const int64_t begin = number == 0 ? 0 : in[0].sizes[0], end = in[0].sizes[static_cast<size_t>(number)];
    return std::vector<Flat>{flat_from(in[0].dtype, {std::max<int64_t>(end - begin, 0)},
                                       [&](const Sizes& index) { return static_cast<double>(begin + index[0]); })};
  };
  sample.wrong = {
      wrong<DtypeError>([] { return arange(3, {.dtype = b8}); }, {"arange: numbers do not count in b8"}),
      wrong<DtypeError>([] { return arange(0, {.dtype = b8}); }, {"arange"}),
      wrong<DtypeError>([] { return arange(1, 3, {.dtype = b8}); }, {"arange"}),
  };
  return sample;
}

// Numbers between two bounds that a random op must keep.
OpSample random_sample(const std::string& name, Tensor (*make)(const Shape&, Dtype)) {
  OpSample sample = shaped_sample(name, [make](const Shape& shape, Dtype dtype) { return make(shape, dtype); });
  sample.halves = false;
  sample.wrong = {
      wrong<ShapeError>([make] { return make({-1}, f32); }, {name, "sizes of at least 0"}),
      wrong<DtypeError>([make] { return make({2}, i32); }, {name}),
      wrong<ShapeError>([make] { return make({int64_t{1} << 40, int64_t{1} << 40}, f32); }, {"overflow"}),
  };
  return sample;
}

OpSample linspace_sample() {
  OpSample sample;
  sample.name = "linspace";
  sample.cases = 2;
  sample.inputs = [](Random& random, Dtype dtype, int) { return std::vector<InputPlan>{{random.sizes(1), dtype, {}}}; };
  sample.call = [](Tensors in, int number) {
    return std::vector<Tensor>{linspace(-1.5, 4, in[0].shape()[0], {.endpoint = number == 0, .dtype = in[0].dtype()})};
  };
  sample.reference = [](Flats in, int number) {
    const int64_t count = in[0].sizes[0], steps = std::max<int64_t>(number == 0 ? count - 1 : count, 1);
    return std::vector<Flat>{flat_from(
        in[0].dtype, {count}, [&](const Sizes& index) { return -1.5 + 5.5 * static_cast<double>(index[0]) / static_cast<double>(steps); })};
  };
  sample.f32 = {1e-6, 1e-6};
  sample.wrong = {
      wrong<DtypeError>([] { return linspace(0, 1, 3, {.dtype = i32}); }, {"linspace: dtype i32 cannot hold fractions"}),
      wrong<ShapeError>([] { return linspace(0, 1, -1); }, {"linspace: -1 numbers"}),
      wrong<DtypeError>([] { return linspace(0, 1, 3, {.dtype = b8}); }, {"linspace: dtype b8"}),
  };
  return sample;
}

OpSample eye_sample() {
  OpSample sample;
  sample.name = "eye";
  sample.dtypes = {f32, f64, i32, u8, b8};
  sample.cases = 3;
  sample.inputs = [](Random& random, Dtype dtype, int) { return std::vector<InputPlan>{{random.sizes(2), dtype, {}}}; };
  sample.call = [](Tensors in, int number) {
    const Shape shape = in[0].shape();
    return std::vector<Tensor>{number == 0 ? eye(shape[0], {.dtype = in[0].dtype()})
                                           : eye(shape[0], {.columns = shape[1], .offset = number == 1 ? 1 : -2, .dtype = in[0].dtype()})};
  };
  sample.reference = [](Flats in, int number) {
    const int64_t offset = number == 0 ? 0 : number == 1 ? 1 : -2;
    return std::vector<Flat>{flat_from(in[0].dtype, {in[0].sizes[0], in[0].sizes[number == 0 ? 0 : 1]},
                                       [&](const Sizes& index) { return index[1] == index[0] + offset ? 1.0 : 0.0; })};
  };
  sample.wrong = {
      wrong<ShapeError>([] { return eye(-1); }, {"-1"}),
      wrong<ShapeError>([] { return eye(2, {.columns = -1}); }, {"-1"}),
      wrong<ShapeError>([] { return eye(-2, {.columns = 3}); }, {"-2"}),
  };
  return sample;
}

// Numbers by themselves say nothing; that they are the same in all modes does.
OpSample integers_sample() {
  OpSample sample = shaped_sample(
      "random::integers", [](const Shape& shape, Dtype dtype) { return random::integers(shape, {.low = -3, .high = 9, .dtype = dtype}); });
  sample.dtypes = {i32, i64};
  sample.wrong = {
      wrong<ShapeError>([] { return random::integers({2}, {.low = 3, .high = 3}); }, {"random::integers", "low is 3 and high is 3"}),
      wrong<DtypeError>([] { return random::integers({2}, {.high = 3, .dtype = f32}); }, {"random integers of dtype f32"}),
      wrong<ShapeError>([] { return random::integers({-1}, {.high = 3}); }, {"random::integers", "sizes of at least 0"}),
  };
  return sample;
}

// Makers of a tensor like another: its shape and dtype, or another dtype.
OpSample like_sample() {
  OpSample sample;
  sample.name = "full_like, ones_like, zeros_like";
  sample.dtypes = {f32, f64, i32, i64, u8, b8};
  sample.cases = 4;
  sample.inputs = [](Random& random, Dtype dtype, int number) { return one_input(random, dtype, number, {}); };
  sample.call = [](Tensors in, int) {
    return std::vector<Tensor>{full_like(in[0], 1), ones_like(in[0]), zeros_like(in[0]), ones_like(in[0], {.dtype = i64})};
  };
  sample.reference = [](Flats in, int) {
    std::vector<Flat> results;
    for (const double value : {1, 1, 0, 1}) results.push_back(flat_from(in[0].dtype, in[0].sizes, [&](const Sizes&) { return value; }));
    results[3].dtype = i64;
    return results;
  };
  sample.wrong = {
      wrong<ArgumentError>([] { return full_like(Tensor(), 1); }, {"empty tensor handle"}),
      wrong<ArgumentError>([] { return ones_like(Tensor()); }, {"empty tensor handle"}),
      wrong<ShapeError>([] { return full_like(ones({2}), ones({2})); }, {"full_like: the value is no scalar", "f32[2]"}),
  };
  return sample;
}

OpSample bernoulli_sample() {
  OpSample sample = shaped_sample(
      "random::bernoulli", [](const Shape& shape, Dtype dtype) { return random::bernoulli(shape, {.probability = 0.3, .dtype = dtype}); });
  sample.ops.clear();
  sample.dtypes = {f32, f64, i32, i64, u8, b8};
  sample.wrong = {
      wrong<ArgumentError>([] { return random::bernoulli({2}, {.probability = 1.5}); }, {"random::bernoulli", "1.5"}),
      wrong<ArgumentError>([] { return random::bernoulli({2}, {.probability = -0.5}); }, {"random::bernoulli", "-0.5"}),
      wrong<ShapeError>([] { return random::bernoulli({-1}, {}); }, {"sizes of at least 0"}),
  };
  return sample;
}

// In any order, and in order again: nothing is lost and nothing is twice.
OpSample permutation_sample(bool sorted) {
  OpSample sample;
  sample.name = sorted ? "random::permutation, sorted" : "random::permutation";
  sample.dtypes = {i32};
  sample.inputs = [](Random& random, Dtype dtype, int) { return std::vector<InputPlan>{{random.sizes(1), dtype, {}}}; };
  sample.call = [sorted](Tensors in, int) {
    const Tensor permuted = random::permutation(in[0].shape()[0]);
    return std::vector<Tensor>{sorted ? sort(permuted) : permuted};
  };
  if (sorted) {
    sample.reference = [](Flats in, int) {
      return std::vector<Flat>{flat_from(i32, in[0].sizes, [](const Sizes& index) { return static_cast<double>(index[0]); })};
    };
  }
  sample.wrong = {
      wrong<ShapeError>([] { return random::permutation(-1); }, {"-1"}),
      wrong<ShapeError>([] { return random::permutation(-7); }, {"-7"}),
      wrong<ShapeError>([] { return random::permutation(Dim(-1) * 1000); }, {"-1000"}),
  };
  return sample;
}

OpSample shuffle_sample() {
  OpSample sample;
  sample.name = "random::shuffle";
  sample.dtypes = {f32, i32, u8, b8};
  sample.cases = 3;
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    return std::vector<InputPlan>{{random.sizes(number == 0 ? 1 : 2), dtype, {}}};
  };
  sample.call = [](Tensors in, int number) { return std::vector<Tensor>{random::shuffle(in[0], {.axis = number == 2 ? 1 : 0})}; };
  sample.differentiable = {0};
  sample.wrong = {
      wrong<ShapeError>([] { return random::shuffle(ones({2}), {.axis = 1}); }, {"axis 1"}),
      wrong<ShapeError>([] { return random::shuffle(1.0F); }, {"axis 0"}),
      wrong<ArgumentError>([] { return random::shuffle(Tensor()); }, {"empty tensor handle"}),
  };
  return sample;
}

OpSample categorical_sample() {
  OpSample sample;
  sample.name = "random::categorical";
  sample.ops = {"random::categorical"};
  sample.cases = 2;
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    Sizes sizes = random.sizes(number + 1);
    sizes.back() = std::max<int64_t>(sizes.back(), 1);
    return std::vector<InputPlan>{{sizes, dtype, ordinary_numbers}};
  };
  sample.call = [](Tensors in, int) { return std::vector<Tensor>{random::categorical(in[0], 7)}; };
  sample.wrong = {
      wrong<ShapeError>([] { return random::categorical(1.0F, 2); }, {"there is no axis of classes"}),
      wrong<ShapeError>([] { return random::categorical(ones({2, 0}), 2); }, {"there are no classes", "f32[2, 0]"}),
      wrong<ShapeError>([] { return random::categorical(ones({2}), -1); }, {"count is -1"}),
  };
  return sample;
}

OpSample seeded_uniform_sample() {
  OpSample sample;
  sample.name = "seeded_uniform";
  sample.ops = {"seeded_uniform"};
  sample.cases = 4;
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    return std::vector<InputPlan>{{{2}, i64, {}}, {random.sizes(number), dtype, {}}};
  };
  sample.call = [](Tensors in, int) { return std::vector<Tensor>{seeded_uniform(in[1].shape(), in[0], in[1].dtype())}; };
  sample.halves = false;
  sample.wrong = {
      wrong<ShapeError>([] { return seeded_uniform({2}, tensor<int64_t>({1, 2, 3}), f32); }, {"the state is no pair", "i64[3]"}),
      wrong<ShapeError>([] { return seeded_uniform({-1}, tensor<int64_t>({1, 2}), f32); }, {"sizes of at least 0"}),
      wrong<DtypeError>([] { return seeded_uniform({2}, tensor<int32_t>({1, 2}), f32); }, {"the state is no i64", "i32[2]"}),
      wrong<DtypeError>([] { return seeded_uniform({2}, tensor<int64_t>({1, 2}), i32); }, {"random numbers of dtype i32"}),
  };
  return sample;
}

}  // namespace

std::vector<OpSample> make_samples() {
  return {
      seeded_uniform_sample(),
      full_sample(),
      linspace_sample(),
      eye_sample(),
      integers_sample(),
      categorical_sample(),
      like_sample(),
      bernoulli_sample(),
      permutation_sample(false),
      permutation_sample(true),
      shuffle_sample(),
      random_sample("random::truncated_normal",
                    [](const Shape& shape, Dtype dtype) { return random::truncated_normal(shape, {.dtype = dtype}); }),
      filled_sample("ones", ones, 1),
      filled_sample("zeros", zeros, 0),
      arange_sample(),
      random_sample("random::normal", [](const Shape& shape, Dtype dtype) { return random::normal(shape, {.dtype = dtype}); }),
      random_sample("random::uniform", [](const Shape& shape, Dtype dtype) { return random::uniform(shape, {.dtype = dtype}); }),
  };
}

}  // namespace anyshape::check
