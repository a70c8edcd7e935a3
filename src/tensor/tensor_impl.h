// What a Tensor handle points at: a strided view of a buffer, a value of the graph being made, dense values with their rows, or what stands for
// a model's input.
#pragma once
#include "tensor/buffer.h"

#include <anyshape/tensor.h>

#include <array>
#include <memory>
#include <variant>

namespace anyshape {

using detail::TensorImpl;

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

// Stands for a model's input or what is computed from one: of no trace.
struct PlaceholderTensor : TracedTensor {
  std::shared_ptr<const Placeholder> placeholder;
};

namespace nn {
struct Notes;  // nn/notes.cpp: what layers note on a tensor for those after them
}

struct detail::TensorImpl {
  TensorImpl();
  ~TensorImpl();

  Dtype dtype = Dtype::f32;
  bool weak = false;  // a host number that takes the dtype of what it meets
  int8_t rank = 0;
  std::array<int64_t, max_rank> sizes{};           // of a strided one, as are the strides
  std::array<int64_t, max_rank> strides{};         // in elements; may be 0 or negative
  int64_t offset = 0;                              // of the first element, in elements
  mutable std::shared_ptr<const nn::Notes> notes;  // written once, by who made the handle
  double number = 0;                               // weak and floating, or filled with a host number: its 64 bits; else 0

  std::span<const int64_t> extents() const { return {sizes.data(), static_cast<size_t>(rank)}; }
  int64_t count() const;
  // In the memory of its device; the host goes through host_data().
  char* device_address() const { return static_cast<char*>(buffer()->pointer) + offset * size_of(dtype); }

  // Which of the four it is. A new one is strided and has no buffer yet.
  bool is_strided() const { return content_.index() == strided; }
  const std::shared_ptr<Buffer>& buffer() const { return *std::get_if<strided>(&content_); }  // of a strided one
  void set_buffer(std::shared_ptr<Buffer> buffer) { *std::get_if<strided>(&content_) = std::move(buffer); }
  const TracedTensor* traced() const {  // of a placeholder, too; null for the others
    if (const auto* found = std::get_if<of_trace>(&content_)) return found->get();
    return as_placeholder();
  }
  const RaggedTensor* ragged() const {
    const auto* found = std::get_if<of_rows>(&content_);
    return found != nullptr ? found->get() : nullptr;
  }
  const Placeholder* placeholder() const {
    const PlaceholderTensor* const found = as_placeholder();
    return found != nullptr ? found->placeholder.get() : nullptr;
  }
  void become(TracedTensor tensor);
  void become(RaggedTensor tensor);
  void become(PlaceholderTensor tensor);

 private:
  enum : uint8_t { strided, of_trace, of_rows, of_model };
  const PlaceholderTensor* as_placeholder() const {
    const auto* found = std::get_if<of_model>(&content_);
    return found != nullptr ? found->get() : nullptr;
  }
  std::variant<std::shared_ptr<Buffer>, std::unique_ptr<const TracedTensor>, std::unique_ptr<const RaggedTensor>,
               std::unique_ptr<const PlaceholderTensor>>
      content_;
};

// "f32[batch, 10]", for error texts; "undefined" for a handle on nothing.
std::string describe(const Tensor& tensor);

}  // namespace anyshape
