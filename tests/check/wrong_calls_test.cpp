// What no op takes, with exact class and text, for every entry of all_ops(): another number of tensors, a handle on nothing, a tensor whose
// trace is over. What a single op refuses stands in its samples.
#include "check/op_samples.h"
#include "check/traced.h"
#include "graph/bind.h"
#include "ops/all_ops.h"
#include "ops/expect_error.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::check {
namespace {

Attrs default_attrs(const OpDef& op) { return op.attrs != nullptr ? op.attrs() : Attrs(); }
std::string name_of(const OpDef& op) { return std::string(op.name); }

class WrongCalls : public testing::TestWithParam<const OpDef*> {};

TEST_P(WrongCalls, another_number_of_tensors) {
  const OpDef& op = *GetParam();
  const size_t count = op.inputs < 0 ? 0 : static_cast<size_t>(op.inputs) + 1;
  const std::vector<Tensor> inputs(count, ones({2}));
  expect_error<ArgumentError>([&] { bind_all(op, inputs, default_attrs(op)); },
                              name_of(op) + ": got " + std::to_string(count) + " tensors; expected " +
                                  (op.inputs < 0 ? "at least one" : std::to_string(op.inputs)) + ".");
}

TEST_P(WrongCalls, a_handle_on_nothing) {
  const OpDef& op = *GetParam();
  if (op.inputs == 0) GTEST_SKIP() << "takes no tensor";
  const std::vector<Tensor> inputs(static_cast<size_t>(std::max(1, op.inputs)));
  const std::string text = name_of(op) + ": argument 0 is an empty tensor handle; expected a tensor with a value.";
  expect_error<ArgumentError>([&] { bind_all(op, inputs, default_attrs(op)); }, text);
  Traced traced([&](Tensors) { return bind_all(op, inputs, default_attrs(op)); });
  expect_error<ArgumentError>([&] { traced({ones({2})}); }, text);
}

TEST_P(WrongCalls, a_tensor_that_left_its_trace) {
  const OpDef& op = *GetParam();
  if (op.inputs == 0) GTEST_SKIP() << "takes no tensor";
  Tensor leaked;
  Traced([&](Tensors in) { return leaked = in[0], std::vector<Tensor>{in[0]}; })({ones({2})});
  const std::vector<Tensor> inputs(static_cast<size_t>(std::max(1, op.inputs)), leaked);
  expect_error<TraceError>([&] { bind_all(op, inputs, default_attrs(op)); },
                           name_of(op) +
                               ": the tensor f32[a0] left its trace: it has no value outside; expected a tensor with a value. "
                               "Return it from the traced function, or keep it in a Variable.");
}

std::vector<const OpDef*> every_op() { return {all_ops().begin(), all_ops().end()}; }

INSTANTIATE_TEST_SUITE_P(Ops, WrongCalls, testing::ValuesIn(every_op()), [](const testing::TestParamInfo<const OpDef*>& info) {
  std::string name(info.param->name);
  for (char& letter : name) {
    if (letter == ':') letter = '_';
  }
  return name;
});

// Functions made of others speak under their own name and of their own operands, eagerly and in a trace.
TEST(NamedCalls, composed_functions_refuse_under_their_own_name) {
  const Tensor counts = tensor({{1, 2, 3}, {4, 5, 6}});
  expect_error<ShapeError>([&] { mean(counts, {.axes = {2}}); },
                           "mean: axis 2 is outside the rank 2: x is i32[2, 3]; expected -2 <= axis < 2.");
  expect_error<ShapeError>([&] { std(counts, {.axes = {1, 1}}); },
                           "std: axis 1 is named twice: x is i32[2, 3]; expected every axis at most once.");
  expect_error<ShapeError>([&] { softmax(counts, {.axis = -3}); },
                           "softmax: axis -3 is outside the rank 2: x is i32[2, 3]; expected -2 <= axis < 2.");
  expect_error<ShapeError>([&] { greater(ones({2}), ones({3})); },
                           "greater: shapes do not broadcast: a is f32[2], b is f32[3]; expected sizes that are equal or 1, aligned at the "
                           "last axis.");
  expect_error<ShapeError>([&] { vdot(ones({2}), ones({3})); },
                           "vdot: numbers of elements differ: a is f32[2], b is f32[3]; expected as many elements in a as in b.");
  expect_error<ArgumentError>([&] { gelu(Tensor()); }, "gelu: argument 0 is an empty tensor handle; expected a tensor with a value.");
  EXPECT_EQ((ones({2}) + 1).to_vector<float>(), (std::vector<float>{2, 2})) << "a refused call leaves no name behind";
  expect_error<ShapeError>(
      [&] { ones({2}) + ones({3}); },
      "add: shapes do not broadcast: a is f32[2], b is f32[3]; expected sizes that are equal or 1, aligned at the last "
      "axis.");
}

TEST(NamedCalls, checks_of_a_trace_have_the_name_of_the_call) {
  auto product = function([](Tensor a, Tensor b) { return einsum("ij,jk->ik", {a, b}); }, {.name = "product"});
  product(ones({2, 3}), ones({3, 4}));
  expect_error<ShapeError>(
      [&] { product(ones({2, 3}), ones({4, 4})); },
      "einsum: subscript \"j\" has the sizes a1 and b0: a is f32[a0, a1], b is f32[b0, b1] with b0 = 4, a1 = 3; expected "
      "one size. In function \"product\".");
  const Variable w(ones({3}), {.name = "w"});
  auto store = function([&](Tensor x) { w.assign(x * 2); }, {.name = "store"});
  store(ones({3}));
  expect_error<ShapeError>(
      [&] { store(ones({4})); },
      "assign: sizes differ along axis 0: variable \"w\" is f32[3], the value is f32[a0] with a0 = 4; expected the same "
      "shape. In function \"store\".");
  EXPECT_EQ(store.stats().traces, 1);
}

}  // namespace
}  // namespace anyshape::check
