// arange: begin, begin + 1, ... as many as a count says.
#include "graph/bind.h"
#include "loop/element.h"
#include "ops/all_ops.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <limits>

namespace anyshape {
namespace {

struct ArangeAttrs {
  Dim begin;
  Dim count;
  Dtype dtype = Dtype::i32;
  template <class V>
  void visit(V& v) {
    v("begin", begin);
    v("count", count);
    v("dtype", dtype);
  }
};

// Numbers that an integer dtype cannot hold would begin again at its lowest.
void require_range(OpCall& call, const ArangeAttrs& attrs, int64_t lowest, int64_t highest) {
  if (attrs.count.same_as(0)) return;
  const Dim last = attrs.begin + attrs.count - 1;
  const std::string what =
                        fmt::format("numbers from {} to {} do not fit {}", to_string(attrs.begin), to_string(last), to_string(attrs.dtype)),
                    rule = fmt::format("numbers from {} to {}. Use {{.dtype = as::i64}}", lowest, highest);
  call.require({Relation::LessEqual, lowest, attrs.begin}, what, rule);
  call.require({Relation::LessEqual, last, highest}, what, rule);
}

Specs shape(OpCall& call) {
  const ArangeAttrs& attrs = call.attrs_as<ArangeAttrs>();
  if (attrs.dtype == Dtype::b8) call.fail_dtype("numbers do not count in b8", "a dtype of numbers");
  if (attrs.dtype == Dtype::u8) require_range(call, attrs, 0, std::numeric_limits<uint8_t>::max());
  if (attrs.dtype == Dtype::i32) require_range(call, attrs, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
  return {{attrs.dtype, {attrs.count}, {}}};
}

loop::Value element(ElementCall& call) {
  const loop::Value number = call.b.add(call.index[0], call.size(call.call.attrs_as<ArangeAttrs>().begin));
  return call.b.cast(number, call.output.dtype);
}

}  // namespace

constinit const OpDef arange_op{.name = "arange", .kind = OpKind::Source, .inputs = 0, .shape = shape, .element = element, .attrs = [] {
                                  return Attrs(ArangeAttrs{});
                                }};

Tensor arange(const Dim& end, ArangeOptions options) { return arange(0, end, options); }

Tensor arange(const Dim& begin, const Dim& end, ArangeOptions options) {
  return bind(arange_op, {}, ArangeAttrs{begin, max(end - begin, 0), options.dtype});
}

}  // namespace anyshape
