// convolution_kernel_gradient: x [images, inputs..., channels], dy [images, outputs..., filters] -> dkernel [taps..., channels / groups, filters].
// Its elements are sums over all images, so it is no contraction whose blocks others could follow.
#include "ops/image/convolution.h"

#include "graph/bind.h"
#include "graph/dtype_rules.h"

namespace anyshape {
namespace {

constexpr ConvolutionWork::Wanted wanted = ConvolutionWork::Wanted::KernelGradient;

Specs shape(OpCall& call) {
  const ConvolutionShapes shapes = require_convolution(call, wanted);
  Shape kernel;
  for (const Dim& size : call.attrs_as<ConvolutionAttrs>().sizes) kernel.push_back(size);
  kernel.push_back(shapes.filters);
  return {{call.inputs[0].dtype, std::move(kernel), {}}};
}

std::vector<Tensor> gradient(const GradientCall& call) {
  const auto& attrs = call.attrs.as<ConvolutionAttrs>();
  const Tensor &x = call.inputs[0], &dy = call.inputs[1], &d_dkernel = call.dys[0];
  std::vector<Tensor> result(2);
  if (call.needed[0]) result[0] = bind(convolution_input_gradient_op, {dy, d_dkernel}, wanting(attrs, spatial_sizes(x.shape())));
  if (call.needed[1]) result[1] = bind(convolution_op, {x, d_dkernel}, wanting(attrs, spatial_sizes(dy.shape())));
  return result;
}

}  // namespace

constinit const OpDef convolution_kernel_gradient_op{.name = "convolution_kernel_gradient",
                                                     .kind = OpKind::Opaque,
                                                     .inputs = 2,
                                                     .dtype = dtype_rule::promoted_number,
                                                     .shape = shape,
                                                     .gradient = gradient,
                                                     .lower = [](LowerCall& call) { lower_convolution(call, wanted); },
                                                     .attrs = [] { return Attrs(ConvolutionAttrs{}); }};

}  // namespace anyshape
