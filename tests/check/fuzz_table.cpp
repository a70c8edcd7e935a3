// The table of fuzzed ops: families whose members take the same attributes share a decoder.
#include "check/fuzz_table.h"

#include <anyshape/ops.h>
#include <anyshape/random.h>

#include <cmath>
#include <cstdint>

namespace anyshape::check {
namespace {

using In = std::span<const Tensor>;
using Out = std::vector<Tensor>;

template <Tensor (*op)(const Tensor&)>
FuzzCall unary(FuzzBytes& bytes) {
  return {{bytes.tensor()}, [](In in) { return Out{op(in[0])}; }};
}

template <Tensor (*op)(const Tensor&, const Tensor&)>
FuzzCall binary(FuzzBytes& bytes) {
  const Tensor a = bytes.tensor(), b = bytes.chance(80) ? bytes.like(a) : bytes.tensor();
  return {{a, b}, [](In in) { return Out{op(in[0], in[1])}; }};
}

template <Tensor (*op)(const Tensor&, ReduceOptions)>
FuzzCall reduction(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor(256);
  ReduceOptions options{.axes = {}, .keep_dims = bytes.chance(50)};
  if (bytes.chance(80)) options.axes = bytes.axes(x);
  return {{x}, [options](In in) { return Out{op(in[0], options)}; }};
}

template <Tensor (*op)(const Tensor&, AxisOptions)>
FuzzCall along(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor(256);
  const int64_t axis = bytes.axis(x);
  return {{x}, [axis](In in) { return Out{op(in[0], {.axis = axis})}; }};
}

template <Tensor (*op)(const Tensor&, const Shape&)>
FuzzCall to_shape(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor();
  const Shape shape = bytes.shape(x);
  return {{x}, [shape](In in) { return Out{op(in[0], shape)}; }};
}

FuzzCall decode_where(FuzzBytes& bytes) {
  const Tensor condition = bytes.tensor(), a = bytes.like(condition), b = bytes.like(a);
  return {{condition, a, b}, [](In in) { return Out{where(in[0], in[1], in[2])}; }};
}

FuzzCall decode_cast(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor();
  const Dtype to = bytes.dtype();
  return {{x}, [to](In in) { return Out{cast(in[0], to)}; }};
}

FuzzCall decode_transpose(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor();
  std::vector<int64_t> permutation;
  if (x.defined() && bytes.chance(70)) {
    for (int axis = 0; axis < x.rank(); ++axis) permutation.push_back(axis);
    for (size_t i = permutation.size(); i > 1; --i)
      std::swap(permutation[i - 1], permutation[static_cast<size_t>(bytes.below(static_cast<int64_t>(i)))]);
  } else {
    permutation = bytes.axes(x);
  }
  return {{x}, [permutation](In in) { return Out{transpose(in[0], permutation)}; }};
}

FuzzCall decode_slice(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor(256);
  std::vector<SliceRange> ranges;
  for (int64_t count = bytes.below((x.defined() ? x.rank() : 0) + 2); count > 0; --count) {
    SliceRange range;
    if (bytes.chance(70)) range.begin = bytes.number();
    if (bytes.chance(70)) range.end = bytes.number();
    if (bytes.chance(40)) range.step = bytes.number();
    ranges.push_back(range);
  }
  return {{x}, [ranges](In in) { return Out{slice(in[0], ranges)}; }};
}

FuzzCall decode_concat(FuzzBytes& bytes) {
  FuzzCall call;
  call.tensors.push_back(bytes.tensor());
  for (int64_t more = bytes.below(4); more > 0; --more)
    call.tensors.push_back(bytes.chance(50) ? bytes.like(call.tensors[0]) : call.tensors[0]);
  const int64_t axis = bytes.axis(call.tensors[0]);
  call.run = [axis](In in) { return Out{concat({in.begin(), in.end()}, {.axis = axis})}; };
  return call;
}

FuzzCall decode_take(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor();
  TakeOptions options{.axis = bytes.axis(x)};
  const Tensor indices = bytes.chance(95) ? bytes.indices(x, options.axis) : bytes.tensor(8);
  return {{x, indices}, [options](In in) { return Out{take(in[0], in[1], options)}; }};
}

FuzzCall decode_matmul(FuzzBytes& bytes) {
  const MatmulOptions options{.transpose_a = bytes.chance(50), .transpose_b = bytes.chance(50)};
  const Tensor a = bytes.tensor();
  // What fits: a's sizes, or those the other way around.
  const bool same = options.transpose_a == options.transpose_b;
  Tensor b = bytes.like(a);
  if (same && b.defined() && b.rank() >= 2) {
    std::vector<int64_t> permutation;
    for (int axis = 0; axis + 2 < b.rank(); ++axis) permutation.push_back(axis);
    permutation.push_back(b.rank() - 1);
    permutation.push_back(b.rank() - 2);
    b = transpose(b, permutation);
  }
  return {{a, b}, [options](In in) { return Out{matmul(in[0], in[1], options)}; }};
}

FuzzCall decode_full(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor(), value = bytes.chance(80) ? bytes.tensor(1) : x;
  const Shape shape = bytes.shape(x);
  return {{value}, [shape](In in) { return Out{full(shape, in[0])}; }};
}

FuzzCall decode_arange(FuzzBytes& bytes) {
  // Short ones, empty ones, and ones whose length cannot be counted.
  const int64_t begin = bytes.number();
  const int64_t end = bytes.chance(70) ? (begin > 100 || begin < -100 ? begin : begin + bytes.below(20))
                      : begin > 0      ? -bytes.below(100)
                                       : begin;
  const Dtype dtype = bytes.dtype();
  return {{}, [=](In) { return Out{arange(begin, end, {.dtype = dtype})}; }};
}

FuzzCall decode_random(FuzzBytes& bytes) {
  const Shape shape = bytes.shape(bytes.tensor());
  const Dtype dtype = bytes.dtype();
  const bool normal = bytes.chance(50);
  const auto scale = static_cast<double>(bytes.number());
  return {{}, [=](In) {
            return Out{normal ? random::normal(shape, {.deviation = scale, .dtype = dtype})
                              : random::uniform(shape, {.high = scale, .dtype = dtype})};
          }};
}

FuzzCall decode_size(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor();
  const int64_t axis = bytes.axis(x);
  return {{x}, [axis](In in) { return Out{size(in[0], axis)}; }};
}

template <Tensor (*op)(const Tensor&, ArgExtremeOptions)>
FuzzCall indices(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor(256);
  ArgExtremeOptions options{.axis = std::nullopt, .keep_dims = bytes.chance(50)};
  if (bytes.chance(80)) options.axis = bytes.axis(x);
  return {{x}, [options](In in) { return Out{op(in[0], options)}; }};
}

template <Tensor (*op)(const Tensor&, CumulateOptions)>
FuzzCall running(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor(256);
  const CumulateOptions options{.axis = bytes.axis(x), .reverse = bytes.chance(50), .exclusive = bytes.chance(50)};
  return {{x}, [options](In in) { return Out{op(in[0], options)}; }};
}

template <Tensor (*op)(const Tensor&, VarianceOptions)>
FuzzCall moment(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor(256);
  VarianceOptions options{.axes = {}, .keep_dims = bytes.chance(50), .correction = static_cast<double>(bytes.below(3))};
  if (bytes.chance(80)) options.axes = bytes.axes(x);
  return {{x}, [options](In in) { return Out{op(in[0], options)}; }};
}

template <Tensor (*op)(const Tensor&, DiagonalOptions)>
FuzzCall diagonal(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor();
  // The offset of a vector's diagonal makes a matrix as large: only small ones, or ones that cannot be.
  const int64_t offset = bytes.chance(90) ? bytes.below(9) - 4 : bytes.pick(std::vector<int64_t>{INT64_MIN, INT64_MAX});
  return {{x}, [offset](In in) { return Out{op(in[0], {.offset = offset})}; }};
}

template <Tensor (*op)(const Tensor&, SortOptions)>
FuzzCall ordered(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor(256);
  const SortOptions options{.axis = bytes.axis(x), .descending = bytes.chance(50)};
  return {{x}, [options](In in) { return Out{op(in[0], options)}; }};
}

FuzzCall decode_norm(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor(256);
  NormOptions options{.order = bytes.pick(std::vector<double>{1, 2, 2, INFINITY, 0, -1}), .axes = {}, .keep_dims = bytes.chance(50)};
  if (bytes.chance(80)) options.axes = bytes.axes(x);
  return {{x}, [options](In in) { return Out{norm(in[0], options)}; }};
}

FuzzCall decode_expand_dims(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor();
  const int64_t axis = bytes.axis(x);
  return {{x}, [axis](In in) { return Out{expand_dims(in[0], axis)}; }};
}

FuzzCall decode_squeeze(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor();
  const std::vector<int64_t> axes = bytes.axes(x);
  return {{x}, [axes](In in) { return Out{squeeze(in[0], axes)}; }};
}

FuzzCall decode_moveaxis(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor();
  const int64_t from = bytes.axis(x), to = bytes.axis(x);
  const bool swap = bytes.chance(50);
  return {{x}, [=](In in) { return Out{swap ? swapaxes(in[0], from, to) : moveaxis(in[0], from, to)}; }};
}

FuzzCall decode_stack(FuzzBytes& bytes) {
  FuzzCall call = decode_concat(bytes);
  const int64_t axis = bytes.axis(call.tensors[0]);
  call.run = [axis](In in) { return Out{stack({in.begin(), in.end()}, {.axis = axis})}; };
  return call;
}

FuzzCall decode_split(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor();
  const int64_t axis = bytes.axis(x), kind = bytes.below(3);
  const int64_t sections = bytes.chance(90) ? bytes.below(6) - 1 : INT64_MIN, second = bytes.number();
  return {{x}, [=](In in) {
            if (kind == 0) return split(in[0], std::vector<Dim>{sections, second}, {.axis = axis});
            return kind == 1 ? split(in[0], sections, {.axis = axis}) : unstack(in[0], {.axis = axis});
          }};
}

FuzzCall decode_pad(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor(32);
  std::vector<PadWidth> widths;
  for (int64_t count = bytes.below(3); count > 0; --count) widths.push_back({bytes.below(4) - (bytes.chance(5) ? 1 : 0), bytes.below(4)});
  if (bytes.chance(3)) widths = {{INT64_MAX, INT64_MAX}};
  const auto mode = static_cast<PadMode>(bytes.below(4));
  return {{x}, [=](In in) { return Out{pad(in[0], widths, {.mode = mode})}; }};
}

FuzzCall decode_tile(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor(32);
  std::vector<Dim> repeats;
  for (int64_t count = bytes.below(4); count > 0; --count) repeats.push_back(bytes.below(4) - (bytes.chance(5) ? 1 : 0));
  if (bytes.chance(3)) repeats = {INT64_MAX, INT64_MAX};
  return {{x}, [=](In in) { return Out{tile(in[0], repeats)}; }};
}

FuzzCall decode_repeat(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor(32);
  const int64_t count = bytes.chance(95) ? bytes.below(5) - 1 : INT64_MAX;
  RepeatOptions options;
  if (bytes.chance(70)) options.axis = bytes.axis(x);
  return {{x}, [=](In in) { return Out{repeat(in[0], count, options)}; }};
}

FuzzCall decode_flip(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor();
  const std::vector<int64_t> axes = bytes.axes(x);
  return {{x}, [axes](In in) { return Out{flip(in[0], axes)}; }};
}

FuzzCall decode_roll(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor();
  const int64_t shift = bytes.number();
  RollOptions options;
  if (bytes.chance(70)) options.axis = bytes.axis(x);
  return {{x}, [=](In in) { return Out{roll(in[0], shift, options)}; }};
}

FuzzCall decode_take_along_axis(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor();
  const int64_t axis = bytes.axis(x);
  Sizes sizes;
  if (x.defined()) {
    for (const Dim& size : x.shape()) sizes.push_back(bytes.chance(10) ? bytes.below(4) : size.value());
  }
  const Tensor indices = bytes.indices_below(sizes.empty() ? 3 : sizes.back(), sizes);
  return {{x, indices}, [axis](In in) { return Out{take_along_axis(in[0], in[1], {.axis = axis})}; }};
}

FuzzCall decode_gather_nd(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor();
  const int64_t components = bytes.below((x.defined() ? x.rank() : 0) + 2), size = x.defined() && x.rank() > 0 ? x.shape()[0].value() : 1;
  const Tensor indices = bytes.indices_below(size, {bytes.below(5), components});
  const bool scatters = bytes.chance(50);
  const Tensor updates = scatters ? (bytes.chance(50) && x.defined() ? gather_nd(x, indices) : bytes.tensor()) : x;
  // The indices are captured, so that the number of their components is a constant in a trace, too.
  return {{x, updates}, [=](In in) { return Out{scatters ? scatter_add(in[0], indices, in[1]) : gather_nd(in[0], indices)}; }};
}

FuzzCall decode_one_hot(FuzzBytes& bytes) {
  const Tensor indices = bytes.chance(90) ? bytes.indices_below(4, {bytes.below(4), bytes.below(4)}) : bytes.tensor();
  const int64_t classes = bytes.chance(95) ? bytes.below(7) - 1 : INT64_MAX, axis = bytes.axis(indices);
  const Dtype dtype = bytes.dtype();
  return {{indices}, [=](In in) { return Out{one_hot(in[0], classes, {.axis = axis, .dtype = dtype})}; }};
}

FuzzCall decode_top_k(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor();
  const int64_t k = bytes.chance(80) ? bytes.below(5) : bytes.number(), axis = bytes.axis(x);
  return {{x}, [=](In in) {
            const TopK best = top_k(in[0], k, {.axis = axis});
            return Out{best.values, best.indices};
          }};
}

Tensor draw_tensor_of_rank_one(FuzzBytes& bytes) {
  Random random(static_cast<uint64_t>(bytes.below(256)));
  return draw_tensor(random, bytes.dtype(), {bytes.below(9)}, {.low = 0});
}

FuzzCall decode_search_sorted(FuzzBytes& bytes) {
  const Tensor sorted = bytes.chance(80) ? draw_tensor_of_rank_one(bytes) : bytes.tensor(), values = bytes.tensor();
  const SearchSide side = bytes.chance(50) ? SearchSide::Left : SearchSide::Right;
  return {{sorted, values}, [side](In in) { return Out{search_sorted(in[0], in[1], {.side = side})}; }};
}

FuzzCall decode_einsum(FuzzBytes& bytes) {
  const std::string subscripts =
      bytes.pick(std::vector<std::string>{"ij,jk->ik", "ij,ij->", "...i,...i->...", "ii->i", "bii->bi", "...ii->...", "ij,jj->ij", "ij->ji",
                                          "i,j", "i", "->", "ij,", "I..j->", "é"});
  const Tensor a = bytes.tensor(16), b = bytes.like(a);
  bytes.say(subscripts);
  const bool two = subscripts.find(',') != std::string::npos;
  return {{a, b}, [=](In in) { return Out{einsum(subscripts, two ? std::vector<Tensor>{in[0], in[1]} : std::vector<Tensor>{in[0]})}; }};
}

FuzzCall decode_tensordot(FuzzBytes& bytes) {
  const Tensor a = bytes.tensor(32), b = bytes.like(a);
  const int64_t axes = bytes.chance(80) ? bytes.below(4) : bytes.number(), kind = bytes.below(4);
  return {{a, b}, [=](In in) {
            return Out{kind == 0   ? outer(in[0], in[1])
                       : kind == 1 ? dot(in[0], in[1])
                       : kind == 2 ? vdot(in[0], in[1])
                                   : tensordot(in[0], in[1], axes)};
          }};
}

std::vector<FuzzOp> joined(std::vector<FuzzOp> ops) {
  for (const std::vector<FuzzOp>& more : {segment_fuzz_ops(), image_fuzz_ops()}) ops.insert(ops.end(), more.begin(), more.end());
  return ops;
}

}  // namespace

const std::vector<FuzzOp>& fuzz_table() {
  static const std::vector<FuzzOp> table = joined({
      {"negative", unary<negative>},
      {"exp", unary<exp>},
      {"log", unary<log>},
      {"tanh", unary<tanh>},
      {"relu", unary<relu>},
      {"abs", unary<abs>},
      {"sign", unary<sign>},
      {"square", unary<square>},
      {"reciprocal", unary<reciprocal>},
      {"floor", unary<floor>},
      {"round", unary<round>},
      {"sqrt", unary<sqrt>},
      {"rsqrt", unary<rsqrt>},
      {"expm1", unary<expm1>},
      {"log1p", unary<log1p>},
      {"sin", unary<sin>},
      {"tan", unary<tan>},
      {"asin", unary<asin>},
      {"atan", unary<atan>},
      {"sinh", unary<sinh>},
      {"erf", unary<erf>},
      {"logical_not", unary<logical_not>},
      {"is_nan", unary<is_nan>},
      {"sign_bit", unary<sign_bit>},
      {"sigmoid", unary<sigmoid>},
      {"softplus", unary<softplus>},
      {"hard_sigmoid", unary<hard_sigmoid>},
      {"silu", unary<silu>},
      {"mish", unary<mish>},
      {"selu", unary<selu>},
      {"floor_divide", binary<floor_divide>},
      {"remainder", binary<remainder>},
      {"pow", binary<pow>},
      {"atan2", binary<atan2>},
      {"minimum", binary<minimum>},
      {"logical_and", binary<logical_and>},
      {"logical_xor", binary<logical_xor>},
      {"add", binary<add>},
      {"subtract", binary<subtract>},
      {"multiply", binary<multiply>},
      {"divide", binary<divide>},
      {"maximum", binary<maximum>},
      {"equal", binary<equal>},
      {"not_equal", binary<not_equal>},
      {"less", binary<less>},
      {"less_equal", binary<less_equal>},
      {"greater", binary<greater>},
      {"greater_equal", binary<greater_equal>},
      {"where", decode_where},
      {"cast", decode_cast},
      {"sum", reduction<sum>},
      {"max", reduction<max>},
      {"mean", reduction<mean>},
      {"prod", reduction<prod>},
      {"min", reduction<min>},
      {"any", reduction<any>},
      {"all", reduction<all>},
      {"count_nonzero", reduction<count_nonzero>},
      {"argmax", indices<argmax>},
      {"argmin", indices<argmin>},
      {"cumsum", running<cumsum>},
      {"cumprod", running<cumprod>},
      {"var", moment<var>},
      {"std", moment<anyshape::std>},
      {"norm", decode_norm},
      {"expand_dims", decode_expand_dims},
      {"squeeze", decode_squeeze},
      {"moveaxis", decode_moveaxis},
      {"stack", decode_stack},
      {"split", decode_split},
      {"pad", decode_pad},
      {"tile", decode_tile},
      {"repeat", decode_repeat},
      {"flip", decode_flip},
      {"roll", decode_roll},
      {"diag", diagonal<diag>},
      {"tril", diagonal<tril>},
      {"triu", diagonal<triu>},
      {"take_along_axis", decode_take_along_axis},
      {"gather_nd", decode_gather_nd},
      {"one_hot", decode_one_hot},
      {"sort", ordered<sort>},
      {"argsort", ordered<argsort>},
      {"top_k", decode_top_k},
      {"search_sorted", decode_search_sorted},
      {"einsum", decode_einsum},
      {"tensordot", decode_tensordot},
      {"softmax", along<softmax>},
      {"log_softmax", along<log_softmax>},
      {"sum_to", to_shape<sum_to>},
      {"reshape", to_shape<reshape>},
      {"broadcast_to", to_shape<broadcast_to>},
      {"transpose", decode_transpose},
      {"slice", decode_slice},
      {"concat", decode_concat},
      {"take", decode_take},
      {"matmul", decode_matmul},
      {"full", decode_full},
      {"arange", decode_arange},
      {"random", decode_random},
      {"size", decode_size},
  });
  return table;
}

}  // namespace anyshape::check
