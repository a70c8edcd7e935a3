// unique: sorted [n] -> where each run of equal elements begins, i32 [count]; and count. NaNs are one run. The function of that name sorts
// before and looks up the rest.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "graph/named_call.h"
#include "loop/build.h"
#include "ops/all_ops.h"
#include "ops/data/compact.h"

#include <anyshape/ops.h>

#include <limits>

namespace anyshape {
namespace {

Specs shape(OpCall& call) {
  const Shape& sorted = call.shape(0);
  if (sorted.rank() != 1) call.fail("the sorted values are no vector", "x of rank 1");
  call.require({Relation::LessEqual, sorted[0], std::numeric_limits<int32_t>::max()}, "the vector is too long for i32 indices",
               "at most 2147483647 elements");
  return {{Dtype::i32, {call.make_size(sorted[0])}, {}}, {Dtype::i64, {}, {}}};
}

void lower(LowerCall& call) {
  loop::Builder& b = call.b;
  const int32_t sorted = call.input(0), starts = call.output(0);
  const auto begins_run = [&](loop::Value i) {
    const loop::Value is_first = b.equal(i, b.integer(0)), x = b.load(sorted, i);
    const loop::Value before = b.load(sorted, b.maximum(b.subtract(i, b.integer(1)), b.integer(0)));
    loop::Value differs = b.binary(loop::Op::NotEqual, before, x);
    // A NaN begins a run behind a number, not behind another NaN.
    if (is_floating(b.type(x))) differs = b.binary(loop::Op::And, differs, b.equal(before, before));
    return b.binary(loop::Op::Or, is_first, differs);
  };
  compact(call, call.call.shape(0)[0], begins_run,
          [&](loop::Value i, loop::Value index) { b.store(starts, index, b.cast(i, Dtype::i32)); });
}

}  // namespace

constinit const OpDef unique_op{
    .name = "unique", .kind = OpKind::Index, .inputs = 1, .dtype = dtype_rule::any, .shape = shape, .lower = lower};

Unique unique(const Tensor& x, UniqueOptions options) {
  const NamedCall call("unique", x);
  const Tensor sorted = sort(reshape(x, {-1}));
  const Tensor starts = bind(unique_op, {sorted});
  Unique result{.values = take(sorted, starts), .inverse = {}, .counts = {}};
  if (options.return_inverse) result.inverse = search_sorted(result.values, x);
  if (options.return_counts) result.counts = search_sorted(sorted, result.values, {.side = SearchSide::Right}) - starts;
  return result;
}

Tensor unique(const Tensor& x) { return unique(x, {}).values; }

}  // namespace anyshape
