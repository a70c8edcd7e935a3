// Makers of samples: most ops differ from their siblings in a name, a formula and a domain.
#include "check/op_samples.h"
#include "check/traced.h"

#include <anyshape/ops.h>

#include <iterator>

namespace anyshape::check {
namespace {

std::vector<Tensor> leaked_from_a_trace(size_t count) {
  std::vector<Tensor> leaked;
  Traced keeps([&](Tensors in) { return leaked.assign(count, in[0]), std::vector<Tensor>{in[0]}; });
  keeps({ones({2})});
  return leaked;
}

// What no op takes: a handle on nothing (eagerly and while tracing), and a tensor whose trace is over.
std::vector<WrongCall> calls_without_values(const OpSample& sample, size_t inputs) {
  const auto call = sample.call;
  return {
      wrong<ArgumentError>([=] { return call(std::vector<Tensor>(inputs), 0); }, {"expected a tensor with a value"}),
      wrong<ArgumentError>([=] { return Traced([=](Tensors) { return call(std::vector<Tensor>(inputs), 0); })({ones({2})}); },
                           {"expected a tensor with a value"}),
      wrong<TraceError>([=] { return call(leaked_from_a_trace(inputs), 0); }, {"left its trace"}),
  };
}

Dtype result_dtype(const Flat& input) { return is_floating(input.dtype) ? input.dtype : Dtype::f32; }

}  // namespace

std::vector<InputPlan> one_input(Random& random, Dtype dtype, int number, const Domain& domain) {
  return {{random.sizes(number % 6), dtype, domain}};
}

std::vector<InputPlan> broadcasting_inputs(Random& random, Dtype dtype, int number, const std::vector<Domain>& domains) {
  // Ranks by case: equal ones first, then one lower than the other, then scalars.
  constexpr int ranks[][3] = {{2, 2, 2}, {1, 2, 3}, {3, 3, 1}, {0, 2, 1}, {1, 1, 1}, {4, 1, 0}, {0, 0, 0}};
  const int* chosen = ranks[number % static_cast<int>(std::size(ranks))];
  const Sizes common = random.sizes(4);
  std::vector<InputPlan> plans;
  for (size_t i = 0; i < domains.size(); ++i) {
    Sizes sizes(common.end() - chosen[i], common.end());
    for (int64_t& size : sizes) size = random.chance(25) ? 1 : size;
    plans.push_back({std::move(sizes), dtype, domains[i]});
  }
  return plans;
}

OpSample unary_sample(std::string name, UnaryOp op, double (*reference)(double), Domain domain, Tolerance tolerance) {
  OpSample sample;
  sample.name = name;
  sample.ops = {name};
  sample.call = [op](Tensors in, int) { return std::vector<Tensor>{op(in[0])}; };
  sample.cases = 4;
  sample.inputs = [domain](Random& random, Dtype dtype, int number) { return one_input(random, dtype, number, domain); };
  sample.reference = [reference](Flats in, int) {
    Flat result{result_dtype(in[0]), in[0].sizes, {}};
    for (const double value : in[0].values) result.values.push_back(reference(value));
    return std::vector<Flat>{std::move(result)};
  };
  sample.f32 = {tolerance.relative, tolerance.absolute};
  sample.differentiable = {0};
  sample.second_order = true;
  sample.wrong = calls_without_values(sample, 1);
  return sample;
}

OpSample binary_sample(std::string name, BinaryOp op, double (*reference)(double, double), Domain a, Domain b, Tolerance tolerance) {
  OpSample sample;
  sample.name = name;
  sample.ops = {name};
  sample.call = [op](Tensors in, int) { return std::vector<Tensor>{op(in[0], in[1])}; };
  sample.cases = 7;
  sample.inputs = [a, b](Random& random, Dtype dtype, int number) { return broadcasting_inputs(random, dtype, number, {a, b}); };
  sample.reference = [reference](Flats in, int) {
    const auto element = [&](const Sizes& index) { return reference(broadcast_at(in[0], index), broadcast_at(in[1], index)); };
    return std::vector<Flat>{flat_from(result_dtype(in[0]), broadcast_sizes(in[0].sizes, in[1].sizes), element)};
  };
  sample.f32 = {tolerance.relative, tolerance.absolute};
  sample.differentiable = {0, 1};
  sample.second_order = true;
  sample.wrong = calls_without_values(sample, 2);
  sample.wrong.push_back(wrong<ShapeError>([op] { return op(ones({2, 3}), ones({4})); }, {": shapes do not broadcast", "[2, 3]", "[4]"}));
  sample.wrong.push_back(wrong<ShapeError>([op] { return op(ones({0}), ones({2})); }, {": shapes do not broadcast", "[0]", "[2]"}));
  return sample;
}

OpSample with_dtypes(OpSample sample, std::vector<Dtype> dtypes) {
  sample.dtypes = std::move(dtypes);
  return sample;
}

OpSample composed(OpSample sample) {
  sample.ops.clear();
  return sample;
}

OpSample without_gradient(OpSample sample) {
  sample.differentiable.clear();
  sample.second_order = false;
  return sample;
}

OpSample without_second_order(OpSample sample) {
  sample.second_order = false;
  return sample;
}

OpSample giving_bool(OpSample sample) {
  const auto reference = sample.reference;
  sample.reference = [reference](Flats in, int number) {
    std::vector<Flat> results = reference(in, number);
    results[0].dtype = Dtype::b8;
    return results;
  };
  sample.f32 = {};
  return without_gradient(std::move(sample));
}

OpSample with_integers(OpSample sample) {
  const auto reference = sample.reference;
  sample.reference = [reference](Flats in, int number) {
    std::vector<Flat> results = reference(in, number);
    if (results[0].dtype != Dtype::b8 && !is_floating(in[0].dtype)) results[0].dtype = in[0].dtype;
    return results;
  };
  sample.dtypes.insert(sample.dtypes.end(), {Dtype::i32, Dtype::i64, Dtype::u8});
  return sample;
}

OpSample with_wrong_calls(OpSample sample, std::vector<WrongCall> calls) {
  sample.wrong.insert(sample.wrong.end(), calls.begin(), calls.end());
  return sample;
}

}  // namespace anyshape::check
