// Describing eager calls. Elementwise calls are folded to the fewest axes, so that one kernel serves every shape. The others keep their axes;
// views are read in place where the kernel's loops can walk them, and the innermost stride decides how: 1, 0 or another.
#include "function/eager_call.h"

#include "function/compile.h"
#include "tensor/view.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

namespace anyshape::function_detail {
namespace {

template <class T>
void put(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

// Neighbouring axes that every operand walks in the same way, as one.
struct FoldedAxis {
  int64_t extent = 1;
  uint64_t repeated = 0;         // bit k where operand k has one element along it
  std::vector<int64_t> strides;  // per operand
};

FoldedAxis axis_of(const BoundCall& call, int axis) {
  const Shape& shape = call.outputs[0].shape;
  FoldedAxis result{.extent = shape[axis].value(), .strides = std::vector<int64_t>(call.inputs.size())};
  uint64_t whole = 0, still = 0;
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    const TensorImpl& input = *call.inputs[k].impl();
    const int own = axis - (shape.rank() - input.rank);
    if (own < 0 || input.sizes[own] != result.extent) {
      result.repeated |= uint64_t{1} << k;
    } else {
      whole |= uint64_t{1} << k;
      result.strides[k] = input.strides[own];
      if (input.strides[own] == 0) still |= uint64_t{1} << k;
    }
  }
  // A stride of 0 is one element, too, as long as another operand gives the axis its size.
  if (still != whole) result.repeated |= still;
  return result;
}

bool walks_on(const FoldedAxis& outer, const FoldedAxis& inner) {
  if (outer.repeated != inner.repeated) return false;
  for (size_t k = 0; k < inner.strides.size(); ++k) {
    if ((inner.repeated >> k & 1) == 0 && outer.strides[k] != inner.strides[k] * inner.extent) return false;
  }
  return true;
}

bool is_row_major(std::span<const FoldedAxis> axes, size_t operand) {
  int64_t stride = 1;
  for (size_t axis = axes.size(); axis-- > 0;) {
    if ((axes[axis].repeated >> operand & 1) != 0) continue;
    if (axes[axis].strides[operand] != stride) return false;
    stride *= axes[axis].extent;
  }
  return true;
}

// Joins neighbouring axes and drops those of size 1. What is left of an operand's strides are symbols, but for those of the innermost axis
// that decide how it is read: 1 is a vector load, 0 one element for all lanes.
void fold_axes(const BoundCall& call, EagerCall& eager) {
  std::vector<FoldedAxis> axes;
  bool is_empty = false;  // then no stride matters
  for (int axis = 0; axis < call.outputs[0].shape.rank(); ++axis) {
    FoldedAxis next = axis_of(call, axis);
    if (next.extent == 1) continue;
    is_empty = is_empty || next.extent == 0;
    if (!axes.empty() && walks_on(axes.back(), next)) {
      next.extent *= axes.back().extent;
      axes.back() = std::move(next);
    } else {
      axes.push_back(std::move(next));
    }
  }
  put(eager.key, axes.size());
  for (const FoldedAxis& axis : axes) {
    put(eager.key, axis.repeated);
    eager.values.push_back(axis.extent);
  }
  eager.symbol_of.resize(call.inputs.size());
  eager.stride_of.resize(call.inputs.size());
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    const bool strided = !is_empty && !is_row_major(axes, k);
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      const bool repeated = (axes[axis].repeated >> k & 1) != 0, innermost = axis + 1 == axes.size();
      eager.symbol_of[k].push_back(repeated ? one : static_cast<int>(axis));
      if (!strided) continue;
      const int64_t stride = axes[axis].strides[k];
      const bool is_constant = repeated || (innermost && (stride == 0 || stride == 1));
      eager.stride_of[k].push_back(!is_constant ? static_cast<int>(eager.values.size()) : !repeated && stride == 1 ? one : zero);
      if (!is_constant) eager.values.push_back(stride);
    }
    put(eager.key, !strided ? 0 : std::min(eager.stride_of[k].back(), 0) - 1);
  }
  eager.in_place.assign(call.inputs.size(), true);
}

using Strides = std::array<int64_t, max_rank>;

// A reduction walks neighbouring axes of one fate as one, and adds up in that order. So does a view whose axes lie that way; the last axis of
// each run then has the stride of the whole of it.
std::optional<Strides> joined_strides(const BoundCall& call) {
  const TensorImpl& input = *call.inputs[0].impl();
  const TensorSpec spec{input.dtype, Shape(input.extents()), {}};
  const std::vector<AxisFate> fates = call.op.reduce->axes(OpCall(call.op, {&spec, 1}, call.attrs));
  Strides strides{};
  for (int last = input.rank - 1; last >= 0;) {
    int axis = last;
    std::optional<int64_t> next;  // the stride that goes on with what has been walked
    for (; axis >= 0 && fates[static_cast<size_t>(axis)] == fates[static_cast<size_t>(last)]; --axis) {
      if (input.sizes[axis] == 1) continue;
      if (!next) strides[static_cast<size_t>(last)] = input.strides[axis];
      if (next && *next != input.strides[axis]) return std::nullopt;
      next = input.strides[axis] * input.sizes[axis];
    }
    last = axis;
  }
  return strides;
}

// The strides to read operand k by; none where it is row-major, or has to be.
std::optional<Strides> strides_of(const BoundCall& call, size_t k, uint64_t readable) {
  const OpDef& op = call.op;
  const TensorImpl& input = *call.inputs[k].impl();
  if (is_contiguous(input) || op.is_alias) return std::nullopt;
  if (op.reduce != nullptr) return op.reduce->aligned ? std::nullopt : joined_strides(call);
  const bool is_checked = op.index_rule != nullptr && k + 1 == call.inputs.size();  // indices, which a routine looks through first
  const bool takes = op.element != nullptr ? !is_checked : (readable >> k & 1) != 0;
  return takes ? std::optional(input.strides) : std::nullopt;
}

void keep_axes(const BoundCall& call, uint64_t readable, EagerCall& eager) {
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    const TensorImpl& input = *call.inputs[k].impl();
    std::vector<int>& symbols = eager.symbol_of.emplace_back();
    for (const int64_t size : input.extents()) {
      symbols.push_back(static_cast<int>(eager.values.size()));
      eager.values.push_back(size);
    }
    put(eager.key, input.rank);
    std::vector<int>& strides = eager.stride_of.emplace_back();
    const std::optional<Strides> given = strides_of(call, k, readable);
    eager.in_place.push_back(given.has_value());
    if (!given) {
      put(eager.key, 0);
      continue;
    }
    for (int axis = 0; axis < input.rank; ++axis) {
      const int64_t stride = (*given)[static_cast<size_t>(axis)];
      const bool is_constant = axis + 1 == input.rank && (stride == 0 || stride == 1);
      strides.push_back(!is_constant ? static_cast<int>(eager.values.size()) : stride == 1 ? one : zero);
      if (!is_constant) eager.values.push_back(stride);
    }
    put(eager.key, std::min(strides.back(), 0) - 1);
  }
  eager.joined = call.op.reduce != nullptr;
}

}  // namespace

EagerCall describe(const BoundCall& call, uint64_t readable) {
  EagerCall eager;
  put(eager.key, reinterpret_cast<uintptr_t>(&call.op));
  for (const Tensor& input : call.inputs) put(eager.key, input.impl()->dtype);
  put(eager.key, reinterpret_cast<uintptr_t>(&runtime::current_backend()));
  const bool folds = call.op.kind == OpKind::Elementwise && call.op.element != nullptr && !call.op.is_alias && call.inputs.size() <= 64;
  folds ? fold_axes(call, eager) : keep_axes(call, readable, eager);
  put(eager.key, '|');
  const size_t before = eager.values.size();
  call.attrs.append_key_without_sizes(eager.key, eager.values);
  eager.attribute_sizes = eager.values.size() - before;
  return eager;
}

}  // namespace anyshape::function_detail
