// The three ops of a convolution, each of which has the others for gradients. All read and write x [images, inputs..., channels], kernel [taps...,
// channels / groups, filters] and y [images, outputs..., filters].
#pragma once
#include "ops/image/windows.h"

#include "loop/library_work.h"

namespace anyshape {

extern const OpDef convolution_op;                  // x, kernel -> y
extern const OpDef convolution_input_gradient_op;   // dy, kernel -> dx
extern const OpDef convolution_kernel_gradient_op;  // x, dy -> dkernel

struct ConvolutionAttrs {
  WindowAttrs windows;
  std::vector<Dim> sizes;  // of what is wanted: outputs, inputs, or taps and channels of a group
  Dim groups = 1;
  template <class V>
  void visit(V& v) {
    windows.visit(v);
    v("sizes", sizes);
    v("groups", groups);
  }
};

// The same windows, asked for something else.
ConvolutionAttrs wanting(const ConvolutionAttrs& attrs, std::vector<Dim> sizes);
std::vector<Dim> kernel_sizes(const Shape& kernel);  // taps and channels of a group

// All sizes of a convolution, whichever of its tensors is wanted.
struct ConvolutionShapes {
  Dim images, channels, of_group, filters;  // of_group: the channels of one
  std::vector<Dim> inputs, outputs, taps;
};
ConvolutionShapes convolution_shapes(const OpCall& call, ConvolutionWork::Wanted wanted);
// The same; ShapeError where the operands are none of a convolution.
ConvolutionShapes require_convolution(OpCall& call, ConvolutionWork::Wanted wanted);

void lower_convolution(LowerCall& call, ConvolutionWork::Wanted wanted);

}  // namespace anyshape
