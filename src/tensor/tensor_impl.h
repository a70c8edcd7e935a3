// What a Tensor handle points at: a strided view of a buffer, or (inside a trace) a value of the graph being made.
#pragma once
#include "tensor/buffer.h"

#include <anyshape/tensor.h>

#include <array>
#include <memory>

namespace anyshape {

namespace graph {
struct Value;
}

// A tensor inside a trace. `value` is only looked at after `trace` was compared with the trace in progress: a handle may outlive it.
struct TracedTensor {
  uint64_t trace = 0;
  graph::Value* value = nullptr;
  Shape shape;
};

struct RaggedTensor;  // tensor/partition.h
struct Placeholder;   // nn/placeholder.h

namespace nn {
struct Annotations;  // nn/annotations.cpp: what layers note on a tensor for those after them
}

struct TensorImpl {
  TensorImpl();
  ~TensorImpl();

  Dtype dtype = Dtype::f32;
  bool weak = false;  // a host number that takes the dtype of what it meets
  int8_t rank = 0;
  std::array<int64_t, max_rank> sizes{};
  std::array<int64_t, max_rank> strides{};  // in elements; may be 0 or negative
  int64_t offset = 0;                       // of the first element, in elements
  std::shared_ptr<Buffer> buffer;
  std::unique_ptr<const TracedTensor> traced;                  // set inside a trace; then there is no buffer
  std::unique_ptr<const RaggedTensor> ragged;                  // dense values and their rows; then there is neither buffer nor size here
  std::shared_ptr<const Placeholder> placeholder;              // stands for a model's input or what is computed from one
  mutable std::shared_ptr<const nn::Annotations> annotations;  // written once, by who made the handle
  double number = 0;                                           // of a weak floating one: its full value, which an f32 element may not hold

  std::span<const int64_t> extents() const { return {sizes.data(), static_cast<size_t>(rank)}; }
  int64_t count() const;
  char* data() const { return static_cast<char*>(buffer->pointer) + offset * size_of(dtype); }
};

// "f32[batch, 10]", for error texts; "undefined" for a handle on nothing.
std::string describe(const Tensor& tensor);

}  // namespace anyshape
