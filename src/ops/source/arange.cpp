// arange: 0, 1, ... up to a count; other beginnings are added to it.
#include "graph/bind.h"
#include "loop/element.h"
#include "ops/all_ops.h"
#include "ops/source/size.h"

#include <anyshape/ops.h>

namespace anyshape {
namespace {

struct ArangeAttrs {
  Dim count;
  Dtype dtype = Dtype::i32;
  template <class V>
  void visit(V& v) {
    v("count", count);
    v("dtype", dtype);
  }
};

Specs shape(OpCall& call) {
  const ArangeAttrs& attrs = call.attrs_as<ArangeAttrs>();
  if (attrs.dtype == Dtype::b8) call.fail_dtype("numbers do not count in b8", "a dtype of numbers");
  return {{attrs.dtype, {attrs.count}, {}}};
}

loop::Value element(ElementCall& call) { return call.b.cast(call.index[0], call.output.dtype); }

}  // namespace

constinit const OpDef arange_op{.name = "arange", .kind = OpKind::Source, .inputs = 0, .shape = shape, .element = element, .attrs = [] {
                                  return Attrs(ArangeAttrs{});
                                }};

Tensor arange(const Dim& end, ArangeOptions options) { return arange(0, end, options); }

Tensor arange(const Dim& begin, const Dim& end, ArangeOptions options) {
  const Tensor numbers = bind(arange_op, {}, ArangeAttrs{max(end - begin, 0), options.dtype});
  return begin.same_as(0) ? numbers : numbers + size_tensor(begin, options.dtype);
}

}  // namespace anyshape
