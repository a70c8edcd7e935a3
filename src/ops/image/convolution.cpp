// convolution: x [images, inputs..., channels], kernel [taps..., channels / groups, filters] -> y [images, outputs..., filters]
#include "ops/image/convolution.h"

#include "graph/bind.h"
#include "graph/dtype_rules.h"

#include <anyshape/ops/image.h>

namespace anyshape {
namespace {

constexpr ConvolutionWork::Wanted wanted = ConvolutionWork::Wanted::Result;

Specs shape(OpCall& call) {
  const ConvolutionShapes shapes = require_convolution(call, wanted);
  return {{call.inputs[0].dtype, image_shape(shapes.images, shapes.outputs, shapes.filters), {}}};
}

std::vector<Tensor> gradient(const GradientCall& call) {
  const auto& attrs = call.attrs.as<ConvolutionAttrs>();
  const Tensor &x = call.inputs[0], &kernel = call.inputs[1], &dy = call.dys[0];
  std::vector<Tensor> result(2);
  if (call.needed[0]) result[0] = bind(convolution_input_gradient_op, {dy, kernel}, wanting(attrs, spatial_sizes(x.shape())));
  if (call.needed[1]) result[1] = bind(convolution_kernel_gradient_op, {x, dy}, wanting(attrs, kernel_sizes(kernel.shape())));
  return result;
}

constexpr RowRule row_rule{};  // images are apart

}  // namespace

constinit const OpDef convolution_op{.name = "convolution",
                                     .kind = OpKind::Contraction,
                                     .inputs = 2,
                                     .dtype = dtype_rule::promoted_number,
                                     .shape = shape,
                                     .gradient = gradient,
                                     .lower = [](LowerCall& call) { lower_convolution(call, wanted); },
                                     .rows = &row_rule,
                                     .attrs = [] { return Attrs(ConvolutionAttrs{}); }};

}  // namespace anyshape
