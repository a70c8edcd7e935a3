// check_op: every entry of all_ops() against its samples. Eager calls against references in plain C++; eager = compiled = interpreted =
// traced with exact sizes; one trace and one compile for all shapes of a case; gradients against finite differences; wrong calls.
#include "autodiff/finite_differences.h"
#include "check/sample_calls.h"
#include "check/test_share.h"
#include "check/traced.h"
#include "function/compile.h"
#include "ops/all_ops.h"
#include "tensor/view.h"

#include <anyshape/anyshape.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

namespace anyshape::check {
namespace {

using function_detail::ScopedInterpretation;

constexpr int eager_shapes = 64;
constexpr int traced_shapes = 16;
constexpr int halves_shapes = 16;
constexpr int kinds_of_shapes = 4;  // any, with sizes of 0, of 1, views

// Ops that no call reaches by itself: they come into being through another op, whose samples (values or gradients) run them.
const std::set<std::string_view> covered_by_others = {
    "constant",   "size", "stop_gradient", "take_gradient", "take_along_axis_gradient", "linear_recurrence",          "segment_recurrence",
    "same_sizes", "cond", "scan",          "while_loop",    "attention_gradient",       "segment_attention_gradient", "indicator"};

Closeness tolerance_of(const OpSample& sample, Dtype dtype, Flats inputs, const Flat& result) {
  int64_t elements = 0;
  for (const Flat& input : inputs) elements += input.count();
  const double share = static_cast<double>(elements) / static_cast<double>(std::max<int64_t>(1, result.count()));
  Closeness allowed = {sample.f32.relative, sample.f32.absolute + sample.absolute_per_element * (1 + share)};
  if (dtype == Dtype::f64) allowed = {std::max(1e-14, allowed.relative * 1e-7), allowed.absolute * 1e-7};
  // A half is rounded once, after f32 has done its part; where an op is made of two, both are.
  if (dtype == Dtype::f16) allowed.relative += 0x1p-10;
  if (dtype == Dtype::bf16) allowed.relative += 0x1p-7;
  return allowed;
}

class CheckOp : public testing::TestWithParam<const OpSample*> {};

void check_against_reference(const OpSample& sample, Dtype dtype, int all_shapes) {
  Random random(1 + static_cast<uint64_t>(dtype));
  const int shapes = share_of(all_shapes, sample.cases);
  for (int shape = 0; shape < shapes && !testing::Test::HasFailure(); ++shape) {
    const int number = shape % sample.cases;
    const std::vector<Tensor> inputs = draw_inputs(sample, random, dtype, number, true);
    SCOPED_TRACE(describe(dtype, number, inputs));
    std::vector<Flat> flats;
    for (const Tensor& input : inputs) flats.push_back(to_flat(input));
    const std::vector<Tensor> got = run(call_of(sample, number), inputs);
    const std::vector<Flat> expected = sample.reference(flats, number);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(difference(got[i], expected[i], tolerance_of(sample, dtype, flats, expected[i])), "") << "output " << i;
    }
  }
}

TEST_P(CheckOp, agrees_with_its_reference_over_the_corner_box) {
  const OpSample& sample = *GetParam();
  if (sample.reference == nullptr) GTEST_SKIP() << "random numbers";
  for (const Dtype dtype : sample.dtypes) check_against_reference(sample, dtype, eager_shapes);
}

// A signature that fixes these sizes: all of them, so that nothing symbolic is left in the trace, or those of some axes beside symbols.
enum class Fixed { All, Some };
std::vector<TensorSpec> signature_of(const std::vector<Tensor>& inputs, Fixed fixed, Random& random) {
  std::vector<TensorSpec> signature;
  for (const Tensor& input : inputs) {
    Shape shape = input.shape();
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (fixed == Fixed::Some && random.chance(50)) shape[axis] = dim(fmt::format("n{}_{}", signature.size(), axis));
    }
    signature.push_back(spec(input.dtype(), shape));
  }
  return signature;
}

std::vector<Tensor> run_fixed(const std::function<std::vector<Tensor>(Tensors)>& call, const std::vector<Tensor>& inputs, Fixed fixed,
                              Random& random) {
  const ScopedInterpretation interpretation;
  Traced traced(call, {.name = "fixed", .signature = signature_of(inputs, fixed, random)});
  return run([&](Tensors in) { return traced({in.begin(), in.end()}); }, inputs);
}

void check_case(const OpSample& sample, Dtype dtype, int number) {
  Traced compiled(call_of(sample, number)), interpreted(call_of(sample, number));
  Random random(1000 + static_cast<uint64_t>(number));
  const int shapes = share_of(traced_shapes, kinds_of_shapes);
  for (int shape = 0; shape < shapes && !testing::Test::HasFailure(); ++shape) {
    random.every = shape == 1 ? 0 : shape == 2 ? 1 : -1;
    const std::vector<Tensor> inputs = draw_inputs(sample, random, dtype, number, shape % 4 == 3);
    SCOPED_TRACE(describe(dtype, number, inputs));
    const std::vector<Tensor> eager = run(call_of(sample, number), inputs);
    expect_same(sample, run([&](Tensors in) { return compiled({in.begin(), in.end()}); }, inputs), eager, "compiled against eager");
    {
      const ScopedInterpretation interpretation;
      expect_same(sample, run([&](Tensors in) { return interpreted({in.begin(), in.end()}); }, inputs), eager, "interpreted against eager");
    }
    if (shape >= 4) continue;
    expect_same(sample, run_fixed(call_of(sample, number), inputs, Fixed::All, random), eager, "exact sizes against symbolic ones");
    expect_same(sample, run_fixed(call_of(sample, number), inputs, Fixed::Some, random), eager, "some exact sizes against symbolic ones");
  }
  const FunctionStats stats = compiled.stats();
  EXPECT_EQ(stats.traces, 1) << to_string(dtype) << ", case " << number;
  EXPECT_EQ(stats.compiles, 1) << to_string(dtype) << ", case " << number;
  EXPECT_EQ(stats.interpreted_groups, 0);
  EXPECT_EQ(stats.calls, shapes);
}

TEST_P(CheckOp, is_the_same_eager_compiled_and_interpreted_with_one_trace_for_all_shapes) {
  const OpSample& sample = *GetParam();
  for (const Dtype dtype : sample.dtypes) {
    for (int number = 0; number < sample.cases && !HasFailure(); ++number) check_case(sample, dtype, number);
  }
}

// Where an input lies in memory changes no bit: every kind of view against its row-major copy. One case compiled for each view, the others by
// the interpreter, which needs no time to compile.
TEST_P(CheckOp, reads_views_as_it_reads_their_copies) {
  const OpSample& sample = *GetParam();
  Random random(500);
  random.elements = 200;
  for (const View view : all_views) {
    for (int number = 0; number < sample.cases && !HasFailure(); ++number) {
      std::optional<ScopedInterpretation> interpretation;
      if (number != static_cast<int>(view) % sample.cases) interpretation.emplace();
      std::vector<Tensor> views, copies;
      for (const InputPlan& plan : sample.inputs(random, sample.dtypes[0], number)) {
        views.push_back(draw_tensor(random, plan.dtype, plan.sizes, plan.domain, view));
        copies.push_back(contiguous(views.back()));
      }
      SCOPED_TRACE(describe(sample.dtypes[0], number, views) + ", " + to_string(view));
      expect_same(sample, run(call_of(sample, number), views), run(call_of(sample, number), copies), "views against copies");
    }
  }
}

// What takes f32 takes halves: computed in f32, rounded once to what they store. One case through a trace, since their loops are f32's.
TEST_P(CheckOp, takes_halves_where_it_takes_floats) {
  const OpSample& sample = *GetParam();
  if (!sample.halves || std::ranges::find(sample.dtypes, f32) == sample.dtypes.end()) GTEST_SKIP() << "makes its own dtypes";
  for (const Dtype dtype : {f16, bf16}) {
    if (sample.reference != nullptr) check_against_reference(sample, dtype, halves_shapes);
    if (!HasFailure()) check_case(sample, dtype, 0);
  }
}

TEST_P(CheckOp, has_the_gradients_of_finite_differences) {
  const OpSample& sample = *GetParam();
  if (sample.differentiable.empty()) GTEST_SKIP() << "not differentiable";
  Random random(77);
  random.elements = 12;
  random.largest = 3;
  random.smooth = true;
  for (int shape = 0; shape < std::max(6, 2 * sample.cases) && !HasFailure(); ++shape) {
    const int number = shape % sample.cases;
    const std::vector<Tensor> inputs = draw_smooth_inputs(sample, random, number);
    SCOPED_TRACE(describe(f64, number, inputs));
    const auto f = [&](const std::vector<Tensor>& given) { return weighted_outputs(sample, number, inputs, given); };
    check_gradients(f, differentiable_inputs(sample, inputs), 1e-5);
    if (sample.second_order && shape < sample.cases) check_second_order(f, differentiable_inputs(sample, inputs), 1e-3);
  }
}

// A function that an eager tape follows: its forward part and its backward part against its ops, at sizes that they have not seen.
TEST_P(CheckOp, has_the_same_gradients_as_a_function_under_a_tape) {
  const OpSample& sample = *GetParam();
  if (sample.differentiable.empty()) GTEST_SKIP() << "not differentiable";
  for (int number = 0; number < sample.cases && !HasFailure(); ++number) {
    Traced traced(call_of(sample, number));
    OpSample through = sample;
    through.call = [&](Tensors in, int /*number*/) { return traced({in.begin(), in.end()}); };
    std::optional<ScopedInterpretation> interpretation;
    Random random(79 + static_cast<uint64_t>(number));
    random.elements = 40;
    for (int shape = 0; shape < 4 && !HasFailure(); ++shape) {
      random.every = shape == 1 ? 0 : shape == 2 ? 1 : -1;
      const std::vector<Tensor> inputs = draw_smooth_inputs(sample, random, number);
      SCOPED_TRACE(describe(f64, number, inputs));
      const std::vector<Tensor> eager = gradients_of(sample, number, inputs);
      if (number > 0) interpretation.emplace();
      const std::vector<Tensor> got = gradients_of(through, number, inputs);
      interpretation.reset();
      for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(difference(got[i], to_flat(eager[i]), {1e-12, 1e-13}), "") << "gradient " << i;
    }
    EXPECT_EQ(traced.stats().traces, 1) << "case " << number;
    if (number > 0 || !sample.second_order) continue;
    const std::vector<Tensor> inputs = draw_smooth_inputs(sample, random, number);
    const auto f = [&](const std::vector<Tensor>& given) { return weighted_outputs(through, number, inputs, given); };
    check_second_order(f, differentiable_inputs(sample, inputs), 1e-3);
  }
}

TEST_P(CheckOp, has_the_same_gradients_traced_as_eager) {
  const OpSample& sample = *GetParam();
  if (sample.differentiable.empty()) GTEST_SKIP() << "not differentiable";
  for (int number = 0; number < sample.cases && !HasFailure(); ++number) {
    const auto gradients = [&](Tensors in) { return gradients_of(sample, number, in); };
    // Compiled for the first case; the others by the interpreter, which needs no time to compile.
    std::optional<ScopedInterpretation> interpretation;
    Traced traced(gradients);
    Random random(78 + static_cast<uint64_t>(number));
    random.elements = 40;
    for (int shape = 0; shape < 8 && !HasFailure(); ++shape) {
      random.every = shape == 1 ? 0 : shape == 2 ? 1 : -1;
      const std::vector<Tensor> inputs = draw_smooth_inputs(sample, random, number);
      SCOPED_TRACE(describe(f64, number, inputs));
      const std::vector<Tensor> eager = run(gradients, inputs);
      if (number > 0) interpretation.emplace();
      const std::vector<Tensor> got = run([&](Tensors in) { return traced({in.begin(), in.end()}); }, inputs);
      interpretation.reset();
      for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(difference(got[i], to_flat(eager[i]), {1e-12, 1e-13}), "") << "gradient " << i;
      if (shape >= 2) continue;
      const Fixed fixed = shape == 0 ? Fixed::All : Fixed::Some;
      const std::vector<Tensor> known = run_fixed(gradients, inputs, fixed, random);
      for (size_t i = 0; i < known.size(); ++i)
        EXPECT_EQ(difference(known[i], to_flat(eager[i]), {1e-12, 1e-13}), "") << "gradient " << i << " where sizes are known";
    }
    EXPECT_EQ(traced.stats().traces, 1) << "case " << number;
  }
}

TEST_P(CheckOp, refuses_wrong_calls) {
  const OpSample& sample = *GetParam();
  EXPECT_GE(sample.wrong.size(), 3U);
  for (size_t i = 0; i < sample.wrong.size(); ++i) {
    const WrongCall& call = sample.wrong[i];
    try {
      call.call();
      ADD_FAILURE() << "wrong call " << i << " was accepted";
    } catch (const std::exception& error) {
      EXPECT_TRUE(std::type_index(typeid(error)) == call.error)
          << "wrong call " << i << ": " << typeid(error).name() << ": " << error.what();
      const std::string_view text = error.what();
      const std::string_view said = text.substr(0, text.find(": "));  // what was called, by name
      const size_t scope = said.rfind("::");
      const std::string_view bare = scope == std::string_view::npos ? said : said.substr(scope + 2);
      const bool is_named = sample.name.find(bare) != std::string::npos || std::ranges::find(sample.ops, said) != sample.ops.end();
      const bool is_size = said == "shape" || said == "size expression" || said == "ragged operands";
      const bool is_found_running = call.error == std::type_index(typeid(DataError));  // by the op that reads the data
      EXPECT_TRUE(is_named || is_found_running || is_size) << "wrong call " << i << " of " << sample.name << " says: " << text;
      for (const std::string& part : call.parts) {
        EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos)
            << "wrong call " << i << ": no \"" << part << "\" in: " << error.what();
      }
    }
  }
}

std::vector<const OpSample*> pointers() {
  std::vector<const OpSample*> found;
  for (const OpSample& sample : all_samples()) found.push_back(&sample);
  return found;
}

INSTANTIATE_TEST_SUITE_P(Ops, CheckOp, testing::ValuesIn(pointers()), [](const testing::TestParamInfo<const OpSample*>& info) {
  std::string name = info.param->name;
  for (char& letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  }
  return name;
});

TEST(CheckOps, every_op_has_samples) {
  std::set<std::string_view> sampled = covered_by_others;
  for (const OpSample& sample : all_samples()) sampled.insert(sample.ops.begin(), sample.ops.end());
  for (const OpDef* op : all_ops()) {
    EXPECT_TRUE(sampled.contains(op->name)) << op->name << " has no samples: add an entry to tests/check/samples/";
  }
  for (const std::string_view name : sampled) EXPECT_NE(find_op(name), nullptr) << name << " is no op";
}

TEST(CheckOps, differentiable_ops_have_gradient_samples) {
  for (const OpDef* op : all_ops()) {
    if (op->gradient == nullptr || covered_by_others.contains(op->name)) continue;
    const bool tried = std::ranges::any_of(all_samples(), [&](const OpSample& sample) {
      return !sample.differentiable.empty() && std::ranges::find(sample.ops, op->name) != sample.ops.end();
    });
    EXPECT_TRUE(tried) << op->name;
  }
}

// Flat between steps, so that there is nothing to differentiate twice.
const std::set<std::string_view> steps = {"sign", "floor", "ceil", "trunc", "round", "floor_divide", "remainder", "cast"};

TEST(CheckOps, elementwise_reductions_movement_and_products_are_tried_to_second_order) {
  std::set<std::string_view> tried;
  for (const OpSample& sample : all_samples()) {
    if (!sample.second_order) continue;
    tried.insert(sample.name);
    tried.insert(sample.ops.begin(), sample.ops.end());
  }
  for (const OpDef* op : all_ops()) {
    const bool asked =
        op->kind == OpKind::Elementwise || op->kind == OpKind::Reduce || op->kind == OpKind::Movement || op->kind == OpKind::Contraction;
    if (!asked || op->gradient == nullptr || covered_by_others.contains(op->name) || steps.contains(op->name)) continue;
    EXPECT_TRUE(tried.contains(op->name)) << op->name;
  }
  for (const std::string_view name : {"softmax", "log_softmax", "logsumexp", "mean", "var"}) EXPECT_TRUE(tried.contains(name)) << name;
}

}  // namespace
}  // namespace anyshape::check
