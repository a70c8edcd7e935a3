// constant: a literal of rank 0, folded into the code.
#include "ops/source/constant.h"

#include "loop/element.h"
#include "ops/all_ops.h"

namespace anyshape {

static Specs shape(OpCall& call) { return {{call.attrs_as<ConstantAttrs>().dtype, {}, {}}}; }

static loop::Value element(ElementCall& call) {
  const ConstantAttrs& attrs = call.call.attrs_as<ConstantAttrs>();
  return is_floating(attrs.dtype) ? call.b.constant(attrs.dtype, attrs.number) : call.b.constant(attrs.dtype, attrs.integer);
}

constinit const OpDef constant_op{.name = "constant", .kind = OpKind::Source, .inputs = 0, .shape = shape, .element = element, .attrs = [] {
                                    return Attrs(ConstantAttrs{});
                                  }};

const ConstantAttrs* literal_in(const OpDef& op, const Attrs& attrs) { return &op == &constant_op ? &attrs.as<ConstantAttrs>() : nullptr; }

}  // namespace anyshape
