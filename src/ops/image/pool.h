// Pooling: a number for every window of an image [images, inputs..., channels], by itself for each channel. Windows are those of the attributes, or
// adaptive: result o of m takes the inputs of n from floor(o n / m) to ceil((o + 1) n / m).
#pragma once
#include "ops/image/windows.h"

namespace anyshape {

extern const OpDef max_pool_op;               // x -> the greatest of each window, and which pixel of its image it is (i32)
extern const OpDef max_pool_gradient_op;      // dy and those pixels -> dx
extern const OpDef max_pool_pick_op;          // x and those pixels -> x there
extern const OpDef average_pool_op;           // x -> the mean of the inputs of each window
extern const OpDef average_pool_gradient_op;  // dy -> dx

struct PoolAttrs {
  WindowAttrs windows;
  std::vector<Dim> taps;
  bool adaptive = false;   // then there are no windows and taps
  std::vector<Dim> sizes;  // of what is wanted: outputs, or inputs of a gradient
  template <class V>
  void visit(V& v) {
    windows.visit(v);
    v("taps", taps);
    v("adaptive", adaptive);
    v("sizes", sizes);
  }
};

PoolAttrs wanting(const PoolAttrs& attrs, std::vector<Dim> sizes);  // the same windows, asked for something else

// The shape of the result; ShapeError where input 0 is no image or the windows do not lie on it. Of gradients input 0 has the outputs.
Shape require_pool(OpCall& call, bool is_gradient);
void require_pixels(OpCall& call, const Shape& results);  // that input 1 says a pixel for each result

// The loops of pooling over the pixels of what is written, with channels in vector lanes.
class PoolLoops {
 public:
  // `inputs`, `outputs`: the images that windows are on, and those of their results.
  PoolLoops(LowerCall& call, const Shape& inputs, const Shape& outputs);

  // For each pixel of a tensor, and channel by channel what is stored for it: one number per output of the op.
  using Place = std::span<const loop::Value>;  // image and spatial index
  using Element = std::function<std::vector<loop::Value>(Place pixel, loop::Value channel)>;
  void for_outputs(const Element& element) { for_pixels(outputs_, element); }
  void for_inputs(const Element& element) { for_pixels(inputs_, element); }

  // Through the inputs of an output's window, or the outputs whose windows have an input.
  using Body = std::function<std::vector<loop::Value>(Place met, std::span<const loop::Value> carried)>;
  std::vector<loop::Value> carry_inputs(Place output, std::span<const loop::Value> initial, const Body& body);
  std::vector<loop::Value> carry_outputs(Place input, std::span<const loop::Value> initial, const Body& body);

  loop::Value input_number(Place input);               // of a pixel in its image, as an i32
  loop::Value first_input(Place output);               // that of the window's first
  loop::Value count_inputs(Place output, Dtype type);  // of a window
  loop::Value load_input(int operand, Place input, loop::Value channel) { return load(operand, inputs_, input, channel); }
  loop::Value load_output(int operand, Place output, loop::Value channel) { return load(operand, outputs_, output, channel); }

 private:
  IndexRange inputs_of(size_t axis, loop::Value output);
  IndexRange outputs_of(size_t axis, loop::Value input);
  std::vector<loop::Value> sizes_of(const Shape& image);  // without channels
  loop::Value load(int operand, const Shape& image, Place pixel, loop::Value channel);
  void for_pixels(const Shape& image, const Element& element);
  template <class Range>
  std::vector<loop::Value> carry(Place around, const Range& range, std::span<const loop::Value> initial, const Body& body);

  LowerCall& call_;
  loop::Builder& b_;
  const PoolAttrs& attrs_;
  Shape inputs_, outputs_;
  std::vector<WindowAxis> axes_;
  Dim taps_ = 1;  // of a window, about
};

}  // namespace anyshape
