// The golden cases of kind ragged: eagerly and through a compiled function, values and gradients.
#include "support/golden_values.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace anyshape::test {
namespace {

using support::GoldenCase;
using support::GoldenTensors;
using support::Json;
using Inputs = std::span<const Tensor>;
using Runner = Tensor (*)(Inputs in, const Json& attrs);

// Two ragged axes: tensors have one.
const std::set<std::string> skipped = {"nested",           "nested_sum2",  "nested_sum1",   "nested_mean2",  "nested_max2",
                                       "nested_to_tensor", "nested_merge", "nested_gather", "nested_square", "stack"};

// The number of elements of the result is in the data: outside a trace only.
const std::set<std::string> eager_only = {
    "gather_rows", "slice_head", "slice_tail", "slice_rows",    "slice_drop_first",   "from_tensor",
    "range",       "rows",       "rows_int",   "rows_features", "boolean_mask_dense", "boolean_mask_ragged"};

Tensor reduce(Inputs in, const Json& attrs) {
  ReduceOptions options;
  if (const Json* axis = attrs.find("axis"); axis != nullptr && !axis->is_null()) options.axes = Axes{axis->integer()};
  if (const Json* keep = attrs.find("keepdims")) options.keep_dims = keep->boolean();
  const std::map<std::string, Tensor (*)(const Tensor&, ReduceOptions)> ops = {{"sum", sum},   {"mean", mean}, {"max", max}, {"min", min},
                                                                               {"prod", prod}, {"any", any},   {"all", all}};
  return ops.at(attrs["op"].string())(in[0], options);
}

Tensor binary(Inputs in, const Json& attrs) {
  const std::map<std::string, Tensor (*)(const Tensor&, const Tensor&)> ops = {
      {"add", add}, {"subtract", subtract}, {"multiply", multiply}, {"greater", greater}};
  return ops.at(attrs["op"].string())(in[0], in[1]);
}

Tensor unary(Inputs in, const Json& attrs) {
  const std::map<std::string, Tensor (*)(const Tensor&)> ops = {{"tanh", tanh}, {"exp", exp}, {"square", square}};
  return ops.at(attrs["op"].string())(in[0]);
}

Tensor padded(Inputs in, const Json& attrs) {
  ToPaddedOptions options;
  if (const Json* value = attrs.find("default")) options.value = value->number();
  if (const Json* shape = attrs.find("shape")) options.length = shape->items()[1].integer();
  return to_padded(in[0], options);
}

Tensor sliced(Inputs in, const Json& attrs) {
  std::vector<SliceRange> ranges;
  for (const Json& each : attrs["index"].items()) {
    const Json::Items& parts = each.items();
    SliceRange& range = ranges.emplace_back();
    if (!parts[0].is_null()) range.begin = parts[0].integer();
    if (!parts[1].is_null()) range.end = parts[1].integer();
    if (!parts[2].is_null()) range.step = parts[2].integer();
  }
  return slice(in[0], ranges);
}

// What the mask leaves of each row.
Tensor masked(Inputs in, const Json&) {
  return ragged_from_lengths(boolean_mask(in[0].values(), in[1].values()), sum(cast(in[1], i64), {.axes = {1}}));
}

const std::map<std::string, Runner>& runners() {
  static const std::map<std::string, Runner> table = {
      {"from_row_lengths", [](Inputs in, const Json&) { return ragged_from_lengths(in[0].values(), row_lengths(in[0])); }},
      {"to_tensor", padded},
      {"from_tensor", [](Inputs in, const Json&) { return from_padded(in[0], in[1]); }},
      {"reduce", reduce},
      {"concat", [](Inputs in, const Json& attrs) { return concat({in[0], in[1]}, {.axis = attrs["axis"].integer()}); }},
      {"binary", binary},
      {"unary", unary},
      {"gather", [](Inputs in, const Json&) { return take(in[0], in[1]); }},
      {"gather_from_dense", [](Inputs in, const Json&) { return take(in[0], in[1]); }},
      {"batch_gather", [](Inputs in, const Json&) { return take(in[0], in[1], {.axis = 1, .batch_dims = 1}); }},
      {"slice", sliced},
      {"boolean_mask", masked},
      {"segment",
       [](Inputs in, const Json& attrs) {
         Shape shape = in[0].shape();
         shape[0] = attrs["num_segments"].integer();
         return scatter_add(zeros(shape), expand_dims(in[1], 1), in[0]);
       }},
      {"range",
       [](Inputs in, const Json&) {
         const Tensor elements = zeros({sum(in[0]).item<int64_t>()});
         return row_positions(ragged_from_lengths(elements, in[0]));
       }},
      {"row_softmax", [](Inputs in, const Json&) { return softmax(in[0]); }},
      {"expand", [](Inputs in, const Json&) { return take(in[0], row_ids(in[1])); }},
  };
  return table;
}

// `x.splits` and `x.values` are one ragged tensor.
std::vector<std::pair<std::string, Tensor>> arguments_of(const GoldenTensors& inputs) {
  std::vector<std::pair<std::string, Tensor>> result;
  for (const auto& [name, golden] : inputs) {
    if (name.ends_with(".splits")) continue;
    const std::string stem = name.substr(0, name.find('.'));
    const GoldenTensor* splits = inputs.find(stem + ".splits");
    result.emplace_back(stem, splits != nullptr ? ragged_from_splits(to_tensor(golden), to_tensor(*splits)) : to_tensor(golden));
  }
  return result;
}

void expect_equal(const GoldenCase& golden, const std::string& what, const Tensor& got, const GoldenTensor& want) {
  const Tensor same_dtype = want.dtype == "I64" ? cast(got, i64) : want.dtype == "I32" ? cast(got, i32) : got;
  EXPECT_EQ(support::difference(to_golden(same_dtype), want, golden.rtol, golden.atol), "") << golden.name << " " << what;
}

void compare(const GoldenCase& golden, const std::vector<Tensor>& results) {
  const Tensor& got = results[0];
  const auto if_there = [&](const char* name, const auto& value) {
    if (const GoldenTensor* want = golden.outputs.find(name)) expect_equal(golden, name, value(), *want);
  };
  if_there("0", [&] { return got; });
  if_there("0.values", [&] { return got.values(); });
  if_there("0.splits", [&] { return got.row_splits(); });
  if_there("lengths", [&] { return row_lengths(got); });
  if_there("starts", [&] { return slice(got.row_splits(), {{.end = -1}}); });
  if_there("limits", [&] { return slice(got.row_splits(), {{.begin = 1}}); });
  if_there("value_rowids", [&] { return row_ids(got); });
  if_there("nrows", [&] { return cast(Tensor(got.shape()[0].value()), i64); });
  size_t next = 1;
  for (const auto& [name, want] : golden.gradients) expect_equal(golden, "gradient of " + name, results[next++].values(), want);
}

// The result, then the gradients.
std::vector<Tensor> run(const GoldenCase& golden, Inputs in, const std::vector<std::pair<std::string, Tensor>>& named) {
  const Runner runner = runners().at(golden.op);
  if (golden.gradients.empty()) return {runner(in, golden.attrs)};
  GradientTape tape;
  std::vector<Tensor> sources;
  for (const auto& [name, want] : golden.gradients) {
    for (size_t i = 0; i < in.size(); ++i) {
      if (named[i].first == name.substr(0, name.find('.'))) sources.push_back(in[i]);
    }
  }
  for (const Tensor& source : sources) tape.watch(source);
  const Tensor result = runner(in, golden.attrs);
  const GoldenTensor* upstream = golden.upstream.find(result.is_ragged() ? "0.values" : "0");
  const Tensor loss = upstream != nullptr ? sum(result.values() * to_tensor(*upstream)) : result;
  std::vector<Tensor> all{result};
  for (Tensor& gradient : tape.gradient(loss, sources)) all.push_back(std::move(gradient));
  return all;
}

TEST(golden_ragged, every_case_of_ops_that_exist) {
  int ran = 0;
  for (const GoldenCase& golden : support::golden_cases()) {
    if (golden.kind != "ragged" || skipped.contains(golden.name)) continue;
    SCOPED_TRACE(golden.name);
    const std::vector<std::pair<std::string, Tensor>> named = arguments_of(golden.inputs);
    std::vector<Tensor> in;
    for (const auto& [name, value] : named) in.push_back(value);
    compare(golden, run(golden, in, named));
    if (!eager_only.contains(golden.name)) {
      const auto compiled = function([&](const std::vector<Tensor>& traced) { return run(golden, traced, named); }, {.name = golden.name});
      compare(golden, compiled(in));
      compare(golden, compiled(in));
      EXPECT_EQ(compiled.stats().traces, 1);
    }
    ++ran;
  }
  EXPECT_EQ(ran, 47);
}

}  // namespace
}  // namespace anyshape::test
