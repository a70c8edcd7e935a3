// One validation for both forms: queries, keys and values agree in rows, heads and depth; the mask reaches every pair.
#include "ops/attention/rules.h"

#include "ops/segment/segments.h"

#include <fmt/format.h>

namespace anyshape {
namespace {

constexpr std::string_view dense_rule =
    "query [batch, queries, heads, depth], key [batch, keys, heads, depth] and value [batch, keys, heads, value depth]";

void require_dtypes(const OpCall& call, const AttentionInputs& inputs, int numbers) {
  const Dtype type = call.inputs[0].dtype;
  for (int k = 0; k < numbers; ++k) {
    const Dtype own = call.inputs[static_cast<size_t>(k)].dtype;
    if (own != type || (own != Dtype::f32 && own != Dtype::f64)) call.fail_dtype("operands differ in dtype", "all f32 or all f64");
  }
  if (inputs.mask >= 0 && call.inputs[static_cast<size_t>(inputs.mask)].dtype != Dtype::b8)
    call.fail_dtype("the mask is no b8", "a b8 mask");
  if (inputs.random_key >= 0 && call.inputs[static_cast<size_t>(inputs.random_key)].dtype != Dtype::i64)
    call.fail_dtype("the random key is no i64", "i64[1]");
}

void require_operands(OpCall& call, AttentionForm form) {
  const int rank = form == AttentionForm::Dense ? 4 : 3;
  const Shape &query = call.shape(0), &key = call.shape(1), &value = call.shape(2);
  for (const Shape* shape : {&query, &key, &value}) {
    if (shape->rank() != rank) call.fail(fmt::format("an operand has rank {}", shape->rank() + 4 - rank), dense_rule);
  }
  if (form == AttentionForm::Dense) {
    call.require({Relation::Equal, query[0], key[0]}, "query and key differ in batch", dense_rule);
    call.require({Relation::Equal, key[0], value[0]}, "key and value differ in batch", dense_rule);
  }
  call.require({Relation::Equal, key[-3], value[-3]}, "there is not one value per key", dense_rule);
  call.require({Relation::Equal, query[-2], key[-2]}, "query and key differ in heads", dense_rule);
  call.require({Relation::Equal, key[-2], value[-2]}, "key and value differ in heads", dense_rule);
  call.require({Relation::Equal, query[-1], key[-1]}, "query and key differ in depth", dense_rule);
}

void require_mask(OpCall& call, AttentionForm form, const AttentionInputs& inputs, const Dim& rows) {
  if (inputs.mask < 0) return;
  const Shape &mask = call.shape(inputs.mask), &query = call.shape(0);
  const std::string what = fmt::format("the mask is b8{}", to_string(mask));
  constexpr std::string_view rule = "a mask [batch or 1, heads or 1, queries or 1, keys]";
  if (mask.rank() != 4) call.fail(what, rule);
  const Dim wanted[] = {rows, query[-2], query[-3]};
  for (int axis = 0; axis < (form == AttentionForm::Dense ? 3 : 2); ++axis) {
    if (mask[axis].same_as(1) || mask[axis].same_as(wanted[axis])) continue;
    call.require({Relation::Broadcastable, mask[axis], wanted[axis]}, what, rule);
    call.require({Relation::Equal, bcast(mask[axis], wanted[axis]), wanted[axis]}, what, rule);
  }
  // In segments the mask is that of the padded view, at least as long as the longest row: seen when it runs.
  if (form == AttentionForm::Dense) call.require({Relation::Equal, mask[3], call.shape(1)[-3]}, what, rule);
}

void require_attributes(const OpCall& call) {
  const double dropout = call.attrs_as<AttentionAttrs>().dropout;
  if (!(dropout >= 0 && dropout < 1)) call.fail_argument(fmt::format("dropout is {}", dropout), "0 <= dropout < 1");
}

AttentionInputs validate(OpCall& call, AttentionForm form, bool is_gradient) {
  require_attributes(call);
  const AttentionInputs inputs = attention_inputs(call.attrs_as<AttentionAttrs>(), form, is_gradient);
  if (static_cast<int>(call.inputs.size()) != inputs.count) {
    call.fail(fmt::format("there are {} inputs", call.inputs.size()), fmt::format("{} by the attributes", inputs.count));
  }
  require_dtypes(call, inputs, is_gradient ? 6 : 3);
  require_operands(call, form);
  Dim rows = call.shape(0)[0];
  if (form == AttentionForm::Segments) {
    rows = require_splits(call);
    const TensorSpec& others = call.inputs[static_cast<size_t>(inputs.query_splits)];
    if (others.dtype != Dtype::i64 || others.shape.rank() != 1) call.fail("row splits of queries are no vector", "i64[rows + 1]");
    call.require(
        {Relation::Equal, others.shape[0], rows + 1}, "query and key differ in their number of rows",
        "as many rows in each. A ragged key meets the query row by row: inside a scan or a cell all rows of the query take part in "
        "every step (ragged targets are not: use to_padded(x) and a mask, or attend behind the loop)");
  }
  require_mask(call, form, inputs, rows);
  if (inputs.random_key >= 0 && call.shape(inputs.random_key).rank() != 1) call.fail("the random key is no vector", "i64[1]");
  if (inputs.random_key >= 0) call.require({Relation::Equal, call.shape(inputs.random_key)[0], 1}, "the random key is no vector", "i64[1]");
  return inputs;
}

Shape with_last(Shape shape, const Dim& size) {
  shape[-1] = size;
  return shape;
}

}  // namespace

Specs attention_shape(OpCall& call, AttentionForm form) {
  static_cast<void>(validate(call, form, false));
  const Dtype type = call.inputs[0].dtype;
  return {{type, with_last(call.shape(0), call.shape(2)[-1]), {}}, {type, with_last(call.shape(0), 2), {}}};
}

Specs attention_gradient_shape(OpCall& call, AttentionForm form) {
  const AttentionInputs inputs = validate(call, form, true);
  const Shape result = with_last(call.shape(0), call.shape(2)[-1]), statistics = with_last(call.shape(0), 2);
  Shape products;
  for (int axis = 0; axis + 1 < call.shape(0).rank(); ++axis) products.push_back(call.shape(0)[axis]);
  const std::pair<int, const Shape*> wanted[] = {{inputs.dy, &result}, {inputs.statistics, &statistics}, {inputs.products, &products}};
  for (const auto& [input, shape] : wanted) {
    constexpr std::string_view what = "dy, statistics or sums are not those of the queries",
                               rule = "what attention gave for these operands";
    if (call.shape(input).rank() != shape->rank()) call.fail(what, rule);
    for (int axis = 0; axis < shape->rank(); ++axis) call.require({Relation::Equal, call.shape(input)[axis], (*shape)[axis]}, what, rule);
  }
  const Dtype type = call.inputs[0].dtype;
  return {{type, call.shape(0), {}}, {type, call.shape(1), {}}, {type, call.shape(2), {}}};
}

}  // namespace anyshape
