// convolution_input_gradient: dy [images, outputs..., filters], kernel [taps..., channels / groups, filters] -> dx [images, inputs..., channels].
// It is the transposed convolution, too.
#include "ops/image/convolution.h"

#include "graph/bind.h"
#include "graph/dtype_rules.h"

namespace anyshape {
namespace {

constexpr ConvolutionWork::Wanted wanted = ConvolutionWork::Wanted::InputGradient;

Specs shape(OpCall& call) {
  const ConvolutionShapes shapes = require_convolution(call, wanted);
  return {{call.inputs[0].dtype, image_shape(shapes.images, shapes.inputs, shapes.channels), {}}};
}

std::vector<Tensor> gradient(const GradientCall& call) {
  const auto& attrs = call.attrs.as<ConvolutionAttrs>();
  const Tensor &dy = call.inputs[0], &kernel = call.inputs[1], &d_dx = call.dys[0];
  std::vector<Tensor> result(2);
  if (call.needed[0]) result[0] = bind(convolution_op, {d_dx, kernel}, wanting(attrs, spatial_sizes(dy.shape())));
  if (call.needed[1]) result[1] = bind(convolution_kernel_gradient_op, {d_dx, dy}, wanting(attrs, kernel_sizes(kernel.shape())));
  return result;
}

constexpr RowRule row_rule{};  // images are apart

}  // namespace

constinit const OpDef convolution_input_gradient_op{.name = "convolution_input_gradient",
                                                    .kind = OpKind::Contraction,
                                                    .inputs = 2,
                                                    .dtype = dtype_rule::promoted_number,
                                                    .shape = shape,
                                                    .gradient = gradient,
                                                    .lower = [](LowerCall& call) { lower_convolution(call, wanted); },
                                                    .rows = &row_rule,
                                                    .attrs = [] { return Attrs(ConvolutionAttrs{}); }};

}  // namespace anyshape
