// The golden cases of every op that exists: eagerly, through a compiled function and through the interpreter, values and gradients.
#include "function/compile.h"
#include "support/golden_values.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace anyshape::test {
namespace {

using support::GoldenCase;
using support::Json;
using Inputs = std::span<const Tensor>;
using Runner = Tensor (*)(Inputs in, const Json& attrs);
using ListRunner = std::vector<Tensor> (*)(Inputs in, const Json& attrs);  // of ops with several results

ReduceOptions reduce_options(const Json& attrs) {
  ReduceOptions options;
  if (const Json* axis = attrs.find("axis"); axis != nullptr && !axis->is_null()) {
    options.axes = axis->is_integer() ? Axes{axis->integer()} : Axes(axis->integers());
  }
  if (const Json* keep = attrs.find("keepdims")) options.keep_dims = keep->boolean();
  return options;
}

int64_t axis_of(const Json& attrs, int64_t otherwise) { return attrs.find("axis") != nullptr ? attrs["axis"].integer() : otherwise; }

Tensor run_matmul(Inputs in, const Json& attrs) {
  if (attrs.find("transpose_a") == nullptr) return matmul(in[0], in[1]);
  return matmul(in[0], in[1], {.transpose_a = attrs["transpose_a"].boolean(), .transpose_b = attrs["transpose_b"].boolean()});
}

ArgExtremeOptions arg_options(const Json& attrs) {
  ArgExtremeOptions options;
  if (const Json* axis = attrs.find("axis"); axis != nullptr && !axis->is_null()) options.axis = axis->integer();
  return options;
}

CumulateOptions cumulate_options(const Json& attrs) {
  CumulateOptions options{.axis = axis_of(attrs, -1)};
  if (const Json* reverse = attrs.find("reverse")) options.reverse = reverse->boolean();
  if (const Json* exclusive = attrs.find("exclusive")) options.exclusive = exclusive->boolean();
  return options;
}

// NumPy's basic indexing: ranges by slice, then axes dropped or added by reshape.
Tensor run_slice(Inputs in, const Json& attrs) {
  const Json::Items& index = attrs["index"].items();
  std::vector<SliceRange> ranges;
  const size_t axes = static_cast<size_t>(in[0].rank());
  size_t named = 0;
  for (const Json& each : index) named += each.is_null() || each.is_string() ? 0 : 1;
  std::vector<int> kept;  // per axis of the result: an axis of x, or -1 for a new one
  for (const Json& each : index) {
    if (each.is_null()) {
      kept.push_back(-1);
    } else if (each.is_string()) {  // "...": all that is not named
      for (size_t i = named; i < axes; ++i) kept.push_back(static_cast<int>(ranges.size())), ranges.push_back({});
    } else if (each.is_integer()) {
      const int64_t at = each.integer();
      ranges.push_back(at == -1 ? SliceRange{-1} : SliceRange{at, at + 1});
    } else {
      const Json::Items& parts = each.items();
      SliceRange range;
      if (!parts[0].is_null()) range.begin = parts[0].integer();
      if (!parts[1].is_null()) range.end = parts[1].integer();
      if (!parts[2].is_null()) range.step = parts[2].integer();
      kept.push_back(static_cast<int>(ranges.size()));
      ranges.push_back(range);
    }
  }
  const Tensor sliced = slice(in[0], ranges);
  for (size_t axis = ranges.size(); axis < axes; ++axis) kept.push_back(static_cast<int>(axis));
  Shape shape;
  for (int axis : kept) shape.push_back(axis < 0 ? Dim(1) : sliced.shape()[axis]);
  return reshape(sliced, shape);
}

Tensor run_pad(Inputs in, const Json& attrs) {
  std::vector<PadWidth> widths;
  for (const Json& width : attrs["pad_width"].items()) widths.push_back({width.items()[0].integer(), width.items()[1].integer()});
  const std::string mode = attrs.find("mode") != nullptr ? attrs["mode"].string() : "constant";
  return pad(in[0], widths,
             {.mode = mode == "reflect"     ? PadMode::Reflect
                      : mode == "symmetric" ? PadMode::Symmetric
                      : mode == "edge"      ? PadMode::Edge
                                            : PadMode::Constant});
}

std::vector<Tensor> run_split(Inputs in, const Json& attrs) {
  const Json& sections = attrs["sections"];
  if (sections.is_integer()) return split(in[0], sections.integer(), {.axis = axis_of(attrs, 0)});
  const std::vector<int64_t> indices = sections.integers();
  return split(in[0], {indices.begin(), indices.end()}, {.axis = axis_of(attrs, 0)});
}

std::vector<Dim> dims_of(const Json& json) {
  const std::vector<int64_t> sizes = json.integers();
  return {sizes.begin(), sizes.end()};
}

const std::map<std::string, ListRunner>& list_runners() {
  static const std::map<std::string, ListRunner> all = {
      {"split", run_split},
      {"top_k",
       [](Inputs in, const Json& attrs) -> std::vector<Tensor> {
         const TopK found = top_k(in[0], attrs["k"].integer());
         return {found.values, found.indices};
       }},
  };
  return all;
}

const std::map<std::string, Runner>& runners() {
  static const std::map<std::string, Runner> all = {
      {"add", [](Inputs in, const Json&) { return in[0] + in[1]; }},
      {"subtract", [](Inputs in, const Json&) { return in[0] - in[1]; }},
      {"multiply", [](Inputs in, const Json&) { return in[0] * in[1]; }},
      {"divide", [](Inputs in, const Json&) { return in[0] / in[1]; }},
      {"maximum", [](Inputs in, const Json&) { return maximum(in[0], in[1]); }},
      {"equal", [](Inputs in, const Json&) { return in[0] == in[1]; }},
      {"not_equal", [](Inputs in, const Json&) { return in[0] != in[1]; }},
      {"less", [](Inputs in, const Json&) { return in[0] < in[1]; }},
      {"less_equal", [](Inputs in, const Json&) { return in[0] <= in[1]; }},
      {"greater", [](Inputs in, const Json&) { return in[0] > in[1]; }},
      {"negative", [](Inputs in, const Json&) { return -in[0]; }},
      {"exp", [](Inputs in, const Json&) { return exp(in[0]); }},
      {"log", [](Inputs in, const Json&) { return log(in[0]); }},
      {"tanh", [](Inputs in, const Json&) { return tanh(in[0]); }},
      {"relu", [](Inputs in, const Json&) { return relu(in[0]); }},
      {"abs", [](Inputs in, const Json&) { return abs(in[0]); }},
      {"sign", [](Inputs in, const Json&) { return sign(in[0]); }},
      {"sqrt", [](Inputs in, const Json&) { return sqrt(in[0]); }},
      {"rsqrt", [](Inputs in, const Json&) { return rsqrt(in[0]); }},
      {"square", [](Inputs in, const Json&) { return square(in[0]); }},
      {"reciprocal", [](Inputs in, const Json&) { return reciprocal(in[0]); }},
      {"floor", [](Inputs in, const Json&) { return floor(in[0]); }},
      {"ceil", [](Inputs in, const Json&) { return ceil(in[0]); }},
      {"trunc", [](Inputs in, const Json&) { return trunc(in[0]); }},
      {"round", [](Inputs in, const Json&) { return round(in[0]); }},
      {"expm1", [](Inputs in, const Json&) { return expm1(in[0]); }},
      {"log1p", [](Inputs in, const Json&) { return log1p(in[0]); }},
      {"sin", [](Inputs in, const Json&) { return sin(in[0]); }},
      {"cos", [](Inputs in, const Json&) { return cos(in[0]); }},
      {"tan", [](Inputs in, const Json&) { return tan(in[0]); }},
      {"sinh", [](Inputs in, const Json&) { return sinh(in[0]); }},
      {"cosh", [](Inputs in, const Json&) { return cosh(in[0]); }},
      {"arctan", [](Inputs in, const Json&) { return atan(in[0]); }},
      {"erf", [](Inputs in, const Json&) { return erf(in[0]); }},
      {"isnan", [](Inputs in, const Json&) { return is_nan(in[0]); }},
      {"isinf", [](Inputs in, const Json&) { return is_inf(in[0]); }},
      {"isfinite", [](Inputs in, const Json&) { return is_finite(in[0]); }},
      {"signbit", [](Inputs in, const Json&) { return sign_bit(in[0]); }},
      {"logical_not", [](Inputs in, const Json&) { return logical_not(in[0]); }},
      {"relu6", [](Inputs in, const Json&) { return relu6(in[0]); }},
      {"leaky_relu", [](Inputs in, const Json&) { return leaky_relu(in[0]); }},
      {"selu", [](Inputs in, const Json&) { return selu(in[0]); }},
      {"silu", [](Inputs in, const Json&) { return silu(in[0]); }},
      {"softplus", [](Inputs in, const Json&) { return softplus(in[0]); }},
      {"softsign", [](Inputs in, const Json&) { return softsign(in[0]); }},
      {"hard_sigmoid", [](Inputs in, const Json&) { return hard_sigmoid(in[0]); }},
      {"sigmoid", [](Inputs in, const Json&) { return sigmoid(in[0]); }},
      {"log_sigmoid", [](Inputs in, const Json&) { return log_sigmoid(in[0]); }},
      {"mish", [](Inputs in, const Json&) { return mish(in[0]); }},
      {"minimum", [](Inputs in, const Json&) { return minimum(in[0], in[1]); }},
      {"pow", [](Inputs in, const Json&) { return pow(in[0], in[1]); }},
      {"power", [](Inputs in, const Json&) { return pow(in[0], in[1]); }},
      {"mod", [](Inputs in, const Json&) { return remainder(in[0], in[1]); }},
      {"floor_divide", [](Inputs in, const Json&) { return floor_divide(in[0], in[1]); }},
      {"logical_and", [](Inputs in, const Json&) { return logical_and(in[0], in[1]); }},
      {"logical_or", [](Inputs in, const Json&) { return logical_or(in[0], in[1]); }},
      {"logical_xor", [](Inputs in, const Json&) { return logical_xor(in[0], in[1]); }},
      {"clip", [](Inputs in, const Json& attrs) { return clip(in[0], attrs["min"].number(), attrs["max"].number()); }},
      {"elu",
       [](Inputs in, const Json& attrs) { return elu(in[0], {.alpha = attrs.find("alpha") != nullptr ? attrs["alpha"].number() : 1}); }},
      {"gelu", [](Inputs in, const Json& attrs) { return gelu(in[0], {.approximate = attrs["approximate"].boolean()}); }},
      {"logsumexp", [](Inputs in, const Json& attrs) { return logsumexp(in[0], reduce_options(attrs)); }},
      {"square_sum_where", [](Inputs in, const Json&) { return where(in[0] > 0, sqrt(where(in[0] > 0, in[0], 1)), 0); }},
      {"where", [](Inputs in, const Json&) { return where(in[0], in[1], in[2]); }},
      {"sum", [](Inputs in, const Json& attrs) { return sum(in[0], reduce_options(attrs)); }},
      {"max", [](Inputs in, const Json& attrs) { return max(in[0], reduce_options(attrs)); }},
      {"mean", [](Inputs in, const Json& attrs) { return mean(in[0], reduce_options(attrs)); }},
      {"prod", [](Inputs in, const Json& attrs) { return prod(in[0], reduce_options(attrs)); }},
      {"min", [](Inputs in, const Json& attrs) { return min(in[0], reduce_options(attrs)); }},
      {"any", [](Inputs in, const Json& attrs) { return any(in[0], reduce_options(attrs)); }},
      {"all", [](Inputs in, const Json& attrs) { return anyshape::all(in[0], reduce_options(attrs)); }},
      {"var", [](Inputs in, const Json& attrs) { return var(in[0], {.axes = reduce_options(attrs).axes}); }},
      {"std", [](Inputs in, const Json& attrs) { return std(in[0], {.axes = reduce_options(attrs).axes}); }},
      {"norm", [](Inputs in, const Json& attrs) { return norm(in[0], {.axes = reduce_options(attrs).axes}); }},
      {"argmax", [](Inputs in, const Json& attrs) { return argmax(in[0], arg_options(attrs)); }},
      {"argmin", [](Inputs in, const Json& attrs) { return argmin(in[0], arg_options(attrs)); }},
      {"cumsum", [](Inputs in, const Json& attrs) { return cumsum(in[0], cumulate_options(attrs)); }},
      {"cumprod", [](Inputs in, const Json& attrs) { return cumprod(in[0], cumulate_options(attrs)); }},
      {"softmax", [](Inputs in, const Json& attrs) { return softmax(in[0], {.axis = axis_of(attrs, -1)}); }},
      {"log_softmax", [](Inputs in, const Json& attrs) { return log_softmax(in[0], {.axis = axis_of(attrs, -1)}); }},
      {"matmul", run_matmul},
      {"einsum", [](Inputs in, const Json& attrs) { return einsum(attrs["equation"].string(), {in.begin(), in.end()}); }},
      {"tensordot", [](Inputs in, const Json& attrs) { return tensordot(in[0], in[1], attrs["axes"].integer()); }},
      {"outer", [](Inputs in, const Json&) { return outer(in[0], in[1]); }},
      {"reshape", [](Inputs in, const Json& attrs) { return reshape(in[0], Shape(std::span<const int64_t>(attrs["shape"].integers()))); }},
      {"transpose",
       [](Inputs in,
          const Json&
              attrs) { return transpose(in[0], attrs.find("axes") != nullptr ? attrs["axes"].integers() : std::vector<int64_t>{}); }},
      {"broadcast_to",
       [](Inputs in, const Json& attrs) { return broadcast_to(in[0], Shape(std::span<const int64_t>(attrs["shape"].integers()))); }},
      {"slice", run_slice},
      {"stack", [](Inputs in, const Json& attrs) { return stack({in.begin(), in.end()}, {.axis = axis_of(attrs, 0)}); }},
      {"pad", run_pad},
      {"tile", [](Inputs in, const Json& attrs) { return tile(in[0], dims_of(attrs["repeats"])); }},
      {"repeat", [](Inputs in, const Json& attrs) { return repeat(in[0], attrs["repeats"].integer(), {.axis = attrs["axis"].integer()}); }},
      {"flip", [](Inputs in, const Json& attrs) { return flip(in[0], {attrs["axis"].integer()}); }},
      {"roll", [](Inputs in, const Json& attrs) { return roll(in[0], attrs["shift"].integer(), {.axis = attrs["axis"].integer()}); }},
      {"expand_dims", [](Inputs in, const Json& attrs) { return expand_dims(in[0], attrs["axis"].integer()); }},
      {"squeeze", [](Inputs in, const Json& attrs) { return squeeze(in[0], {attrs["axis"].integer()}); }},
      {"tril", [](Inputs in, const Json& attrs) { return tril(in[0], {.offset = attrs["k"].integer()}); }},
      {"triu", [](Inputs in, const Json& attrs) { return triu(in[0], {.offset = attrs["k"].integer()}); }},
      {"concatenate", [](Inputs in, const Json& attrs) { return concat({in.begin(), in.end()}, {.axis = axis_of(attrs, 0)}); }},
      {"take", [](Inputs in, const Json& attrs) { return take(in[0], in[1], {.axis = axis_of(attrs, 0)}); }},
      {"take_along_axis", [](Inputs in, const Json& attrs) { return take_along_axis(in[0], in[1], {.axis = axis_of(attrs, -1)}); }},
      {"gather_batch",
       [](Inputs in,
          const Json&
              attrs) { return take(in[0], in[1], {.axis = attrs["axis"].integer(), .batch_dims = attrs["batch_dims"].integer()}); }},
      {"gather_nd", [](Inputs in, const Json&) { return gather_nd(in[0], in[1]); }},
      {"scatter_add", [](Inputs in, const Json&) { return scatter_add(in[0], in[1], in[2]); }},
      {"one_hot",
       [](Inputs in, const Json& attrs) { return one_hot(in[0], attrs["num_classes"].integer(), {.axis = axis_of(attrs, -1)}); }},
      {"sort", [](Inputs in, const Json& attrs) { return anyshape::sort(in[0], {.axis = axis_of(attrs, -1)}); }},
      {"argsort", [](Inputs in, const Json& attrs) { return argsort(in[0], {.axis = axis_of(attrs, -1)}); }},
      {"segment_sum",
       [](Inputs in, const Json& attrs) {
         Shape shape = in[0].shape();
         shape[0] = attrs["num_segments"].integer();
         return scatter_add(zeros(shape), expand_dims(in[1], 1), in[0]);
       }},
      {"searchsorted",
       [](Inputs in,
          const Json&
              attrs) { return search_sorted(in[0], in[1], {.side = attrs["side"].string() == "left" ? SearchSide::Left : SearchSide::Right}); }},
  };
  return all;
}

// Cases of these ops that ask for more than exists today; docs/status.md lists them.
const std::set<std::string> skipped = {};

std::vector<Tensor> run_op(const GoldenCase& golden, Inputs in) {
  if (const auto found = list_runners().find(golden.op); found != list_runners().end()) return found->second(in, golden.attrs);
  return {runners().at(golden.op)(in, golden.attrs)};
}

// The outputs, and after them the gradients of the inputs that have one in the case. `upstream`: per output, nothing where none flows in.
std::vector<Tensor> run_case(const GoldenCase& golden, Inputs in, const std::vector<Tensor>& upstream) {
  if (golden.gradients.empty()) return run_op(golden, in);
  GradientTape tape;
  std::vector<Tensor> sources;
  size_t position = 0;
  for (const auto& [name, value] : golden.inputs) {
    if (golden.gradients.find(name) != nullptr) {
      tape.watch(in[position]);
      sources.push_back(in[position]);
    }
    ++position;
  }
  std::vector<Tensor> results = run_op(golden, in);
  Tensor target;
  for (size_t i = 0; i < results.size(); ++i) {
    if (i >= upstream.size() || !upstream[i].defined()) continue;
    const Tensor weighted = sum(results[i] * upstream[i]);
    target = target.defined() ? target + weighted : weighted;
  }
  for (Tensor& gradient : tape.gradient(target.defined() ? target : results[0], sources)) results.push_back(gradient);
  return results;
}

void compare(const GoldenCase& golden, const std::vector<Tensor>& got, const std::string& how) {
  for (size_t i = 0; i < golden.outputs.size(); ++i) {
    const std::string name = std::to_string(i);
    if (!golden.is_compared("out/" + name)) continue;
    EXPECT_EQ(support::difference(to_golden(got[i]), golden.outputs[name], golden.rtol, golden.atol, golden.denormal_inputs_at), "")
        << golden.group << "/" << golden.name << " output " << name << " " << how;
  }
  size_t next = golden.outputs.size();
  for (const auto& [name, value] : golden.inputs) {
    const GoldenTensor* gradient = golden.gradients.find(name);
    if (gradient == nullptr) continue;
    const Tensor& mine = got[next++];
    if (!golden.is_compared("grad/" + name)) continue;
    EXPECT_EQ(support::difference(to_golden(mine), *gradient, golden.rtol, golden.atol), "")
        << golden.group << "/" << golden.name << " gradient of " << name << " " << how;
  }
}

class GoldenOp : public testing::TestWithParam<const GoldenCase*> {};

TEST_P(GoldenOp, agrees_eagerly_compiled_and_interpreted) {
  const GoldenCase& golden = *GetParam();
  std::vector<Tensor> inputs;
  for (const auto& [name, value] : golden.inputs) inputs.push_back(to_tensor(value));
  std::vector<Tensor> weights;
  for (size_t i = 0; i < golden.outputs.size(); ++i) {
    const GoldenTensor* upstream = golden.upstream.find(std::to_string(i));
    weights.push_back(upstream != nullptr ? to_tensor(*upstream) : Tensor());
  }
  compare(golden, run_case(golden, inputs, weights), "eager");

  const size_t count = inputs.size();
  auto call = [&](auto& compiled) {
    return count == 1 ? compiled(inputs[0], inputs[0], inputs[0]) : compiled(inputs[0], inputs[1], inputs[count - 1]);
  };
  for (const bool interpret : {false, true}) {
    std::optional<function_detail::ScopedInterpretation> interpretation;
    if (interpret) interpretation.emplace();
    auto compiled = function(
        [&](Tensor a, Tensor b, Tensor c) {
          const std::vector<Tensor> traced = {a, b, c};
          return run_case(golden, Inputs(traced).first(count), weights);
        },
        {.name = golden.name});
    compare(golden, call(compiled), interpret ? "interpreted" : "compiled");
    EXPECT_EQ(compiled.stats().traces, 1);
    EXPECT_EQ(compiled.stats().interpreted_groups > 0, interpret && compiled.stats().compiles == 0);
  }
}

// As numbers, sizes let more be joined, folded and left out.
TEST_P(GoldenOp, agrees_where_sizes_are_known) {
  const GoldenCase& golden = *GetParam();
  std::vector<Tensor> inputs, weights;
  for (const auto& [name, value] : golden.inputs) inputs.push_back(to_tensor(value));
  for (size_t i = 0; i < golden.outputs.size(); ++i) {
    const GoldenTensor* upstream = golden.upstream.find(std::to_string(i));
    weights.push_back(upstream != nullptr ? to_tensor(*upstream) : Tensor());
  }
  const function_detail::ScopedInterpretation interpretation;
  auto exact = function([&](const std::vector<Tensor>& traced) { return run_case(golden, traced, weights); },
                        {.name = golden.name, .shapes = Shapes::Exact});
  compare(golden, exact(inputs), "exact");
}

std::vector<const GoldenCase*> cases() {
  std::vector<const GoldenCase*> found;
  for (const GoldenCase& golden : support::golden_cases()) {
    const bool of_op = golden.kind == "op" || golden.kind == "special";
    const bool is_known = runners().contains(golden.op) || list_runners().contains(golden.op);
    if (of_op && is_known && !skipped.contains(golden.name)) found.push_back(&golden);
  }
  return found;
}

INSTANTIATE_TEST_SUITE_P(Goldens, GoldenOp, testing::ValuesIn(cases()), [](const testing::TestParamInfo<const GoldenCase*>& info) {
  std::string name = info.param->group + "_" + info.param->name;
  for (char& letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  }
  return name;
});

size_t cases_of_kind(std::string_view kind) {
  return static_cast<size_t>(std::ranges::count(support::golden_cases(), kind, &GoldenCase::kind));
}

TEST(GoldenOps, cover_every_op_that_has_cases) {
  EXPECT_EQ(cases().size() + skipped.size(), cases_of_kind("op") + cases_of_kind("special"));
  for (const auto& [op, runner] : runners()) {
    if (op == "negative" || op == "broadcast_to") continue;
    EXPECT_TRUE(std::ranges::any_of(cases(), [&](const GoldenCase* golden) { return golden->op == op; })) << op;
  }
}

}  // namespace
}  // namespace anyshape::test
