// What the attributes of each control op say about its inputs.
#include "passes/captures.h"

#include "ops/control/cond.h"
#include "ops/control/scan.h"
#include "ops/control/while_loop.h"

namespace anyshape::passes {

std::vector<Captures> captures_of(const graph::Node& node) {
  switch (node.op->traits.control) {
    case ControlFlow::Scan: {
      const ScanAttrs& attrs = node.attrs.as<ScanAttrs>();
      const auto first = static_cast<size_t>(attrs.carried + attrs.sequences);
      return {{attrs.body.get(), first, first, attrs.body->inputs().size() - first}};
    }
    case ControlFlow::Branch: {
      const CondAttrs& attrs = node.attrs.as<CondAttrs>();
      const auto then = static_cast<size_t>(attrs.then_inputs);
      return {{attrs.then.get(), 0, 1, then}, {attrs.otherwise.get(), 0, 1 + then, attrs.otherwise->inputs().size()}};
    }
    case ControlFlow::While: {
      const WhileAttrs& attrs = node.attrs.as<WhileAttrs>();
      const auto carried = static_cast<size_t>(attrs.carried), asked = static_cast<size_t>(attrs.condition_inputs);
      return {{attrs.condition.get(), carried, carried, asked},
              {attrs.body.get(), carried, carried + asked, attrs.body->inputs().size() - carried}};
    }
    case ControlFlow::None: break;
  }
  return {};
}

void remove_capture(graph::Node& node, const Captures& captures, size_t number) {
  std::vector<graph::Value*> inputs = captures.region->inputs();
  inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(captures.inside + number));
  captures.region->order_inputs(std::move(inputs));
  node.inputs.erase(node.inputs.begin() + static_cast<std::ptrdiff_t>(captures.outside + number));
  if (node.op->traits.control == ControlFlow::Branch) {
    CondAttrs attrs = node.attrs.as<CondAttrs>();
    if (captures.region == attrs.then.get()) --attrs.then_inputs;
    node.attrs = std::move(attrs);
  } else if (node.op->traits.control == ControlFlow::While) {
    WhileAttrs attrs = node.attrs.as<WhileAttrs>();
    if (captures.region == attrs.condition.get()) --attrs.condition_inputs;
    node.attrs = std::move(attrs);
  }
}

}  // namespace anyshape::passes
