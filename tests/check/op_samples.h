// What check_op knows of an op: how to call it, what to call it with, a reference in plain C++, and calls that must be refused.
// A sample is an entry in samples/<family>.cpp, mostly through one of the makers below.
#pragma once
#include "check/corner_box.h"

#include <anyshape/error.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <typeindex>
#include <typeinfo>
#include <vector>

namespace anyshape::check {

struct InputPlan {
  Sizes sizes;
  Dtype dtype = Dtype::f32;
  Domain domain = {};
};

struct WrongCall {
  std::function<void()> call;
  std::type_index error;
  std::vector<std::string> parts;  // of its text
};

template <class Error, class Call>
WrongCall wrong(Call call, std::vector<std::string> parts) {
  return {[call] { static_cast<void>(call()); }, typeid(Error), std::move(parts)};
}

using Tensors = std::span<const Tensor>;
using Flats = std::span<const Flat>;

struct OpSample {
  std::string name;              // "sum", or "sum along one axis"
  std::vector<std::string> ops;  // the entries of all_ops() it stands for; none for a composition of others
  std::function<std::vector<Tensor>(Tensors, int)> call;
  std::vector<Dtype> dtypes = {Dtype::f32, Dtype::f64};
  int cases = 1;  // ranks, axes and what else makes a trace of its own are functions of the case's number, so a case has one trace
  std::function<std::vector<InputPlan>(Random&, Dtype, int)> inputs;
  std::function<std::vector<Flat>(Flats, int)> reference = nullptr;  // none: the numbers are random
  Closeness f32 = {};                                                // what the reference allows; f64 has 1e-7 of it and at least 1e-14
  double absolute_per_element = 0;                                   // further: times the inputs' elements for each output's
  std::vector<int> differentiable = {};                              // inputs
  bool second_order = false;
  bool halves = true;     // f16 and bf16 too, if f32 is among the dtypes
  bool same_bits = true;  // eager, compiled and interpreted: a product of a library may round otherwise
  std::vector<WrongCall> wrong = {};
};

// Every sample there is.
const std::vector<OpSample>& all_samples();

// Families, one per file in samples/.
std::vector<OpSample> elementwise_samples();
std::vector<OpSample> function_samples();
std::vector<OpSample> reduce_samples();
std::vector<OpSample> extreme_samples();
std::vector<OpSample> along_samples();
std::vector<OpSample> movement_samples();
std::vector<OpSample> arrange_samples();
std::vector<OpSample> index_samples();
std::vector<OpSample> order_samples();
std::vector<OpSample> data_samples();
std::vector<OpSample> segment_reduce_samples();
std::vector<OpSample> segment_row_samples();
std::vector<OpSample> segment_partition_samples();
std::vector<OpSample> contraction_samples();
std::vector<OpSample> attention_samples();
std::vector<OpSample> convolution_samples();
std::vector<OpSample> pooling_samples();
std::vector<OpSample> resize_samples();
std::vector<OpSample> make_samples();
std::vector<OpSample> loss_samples();
std::vector<OpSample> bitwise_samples();
std::vector<OpSample> scatter_samples();

// Input plans: one tensor of rank `number` % 6; two or three that broadcast, now one and now the other repeated.
std::vector<InputPlan> one_input(Random& random, Dtype dtype, int number, const Domain& domain);
std::vector<InputPlan> broadcasting_inputs(Random& random, Dtype dtype, int number, const std::vector<Domain>& domains);

struct Tolerance {
  double relative = 2e-6;
  double absolute = 0;
};

using UnaryOp = Tensor (*)(const Tensor&);
using BinaryOp = Tensor (*)(const Tensor&, const Tensor&);

// Elementwise ops. A sample has three wrong calls of its own: handles on nothing, shapes that do not broadcast.
OpSample unary_sample(std::string name, UnaryOp op, double (*reference)(double), Domain domain = {}, Tolerance tolerance = {});
OpSample binary_sample(std::string name, BinaryOp op, double (*reference)(double, double), Domain a = {}, Domain b = {},
                       Tolerance tolerance = {});
// Others that take these dtypes, give that one, or have no derivative.
OpSample with_dtypes(OpSample sample, std::vector<Dtype> dtypes);
OpSample composed(OpSample sample);  // of other ops: no entry of all_ops()
OpSample without_gradient(OpSample sample);
OpSample without_second_order(OpSample sample);
OpSample giving_bool(OpSample sample);                                     // without gradient
OpSample with_integers(OpSample sample);                                   // i32, i64 and u8 too; the result has their dtype
OpSample with_wrong_calls(OpSample sample, std::vector<WrongCall> calls);  // besides those it has

}  // namespace anyshape::check
