// Tensors as text in NumPy's layout: nested brackets, lines of at most 75 columns, three items at each end of an axis that is cut.
#include "tensor/element.h"
#include "tensor/host_data.h"
#include "tensor/number_text.h"
#include "tensor/partition.h"
#include "tensor/view.h"

#include <fmt/format.h>

#include <ostream>

namespace anyshape {
namespace {

constexpr int64_t cut_above = 1000;  // elements
constexpr int64_t edge_items = 3;
constexpr size_t line_width = 75;

// The indices shown along an axis; -1 stands for the dots.
std::vector<int64_t> shown_indices(int64_t size, bool cut) {
  std::vector<int64_t> indices;
  const bool cut_here = cut && size > 2 * edge_items;
  for (int64_t i = 0; i < size; ++i) {
    if (cut_here && i == edge_items) {
      indices.push_back(-1);
      i = size - edge_items;
    }
    indices.push_back(i);
  }
  return indices;
}

// A tensor as its printer walks it: axis by axis, the rows of a ragged one by their splits.
struct Walk {
  const TensorImpl& elements;       // of a ragged tensor its values
  std::span<const int64_t> splits;  // of a ragged tensor; else empty
  bool cut;

  int rank() const { return elements.rank + (splits.empty() ? 0 : 1); }
  // Where one stands after some axes: the offset in elements, and the row.
  struct Cursor {
    int64_t offset = 0;
    int64_t row = 0;
  };
  int64_t size(int axis, const Cursor& cursor) const {
    if (splits.empty()) return elements.sizes[axis];
    if (axis == 0) return static_cast<int64_t>(splits.size()) - 1;
    return axis == 1 ? splits[cursor.row + 1] - splits[cursor.row] : elements.sizes[axis - 1];
  }
  Cursor enter(int axis, Cursor cursor, int64_t index) const {
    if (splits.empty()) return {cursor.offset + index * elements.strides[axis], 0};
    if (axis == 0) return {splits[index] * elements.strides[0], index};
    return {cursor.offset + index * elements.strides[axis - 1], cursor.row};
  }
};

// The elements that are shown, in row-major order.
template <class Wide>
void collect(const Walk& walk, int axis, const Walk::Cursor& cursor, std::vector<Wide>& out) {
  if (axis == walk.rank()) {
    with_element(walk.elements.dtype,
                 [&]<class T>(T) { out.push_back(convert_element<Wide>(host_data<const T>(walk.elements)[cursor.offset])); });
    return;
  }
  for (const int64_t index : shown_indices(walk.size(axis, cursor), walk.cut)) {
    if (index >= 0) collect(walk, axis + 1, walk.enter(axis, cursor, index), out);
  }
}

std::vector<std::string> element_texts(const Walk& walk) {
  const Dtype dtype = walk.elements.dtype;
  if (is_floating(dtype)) {
    std::vector<double> values;
    collect(walk, 0, {}, values);
    return format_floats(values, dtype);
  }
  std::vector<int64_t> values;
  collect(walk, 0, {}, values);
  return dtype == Dtype::b8 ? format_bools(values) : format_integers(values);
}

class Layout {
 public:
  explicit Layout(Walk walk) : walk_(walk), texts_(element_texts(walk)) {}

  std::string nested(int axis, const Walk::Cursor& cursor = {}) {
    std::string text = "[";
    const std::string indent(static_cast<size_t>(axis) + 1, ' ');
    const int axes_left = walk_.rank() - axis;
    const int64_t size = walk_.size(axis, cursor);
    if (axes_left == 1) return text + row(indent, size) + "]";
    bool first = true;
    for (const int64_t index : shown_indices(size, walk_.cut)) {
      if (!first) text += std::string(static_cast<size_t>(axes_left) - 1, '\n') + indent;
      text += index < 0 ? "..." : nested(axis + 1, walk_.enter(axis, cursor, index));
      first = false;
    }
    return text + "]";
  }

 private:
  // The items of the last axis, wrapped where a line would be too long; the closing brackets of all axes count.
  std::string row(const std::string& indent, int64_t size) {
    const size_t width = line_width - indent.size();
    std::string done, line = indent;
    for (const int64_t index : shown_indices(size, walk_.cut)) {
      const std::string& word = index < 0 ? dots_ : texts_[next_++];
      if (line.size() > indent.size()) {
        if (line.size() + 1 + word.size() > width) {
          line.erase(line.find_last_not_of(' ') + 1);  // what lined up the last column
          done += line + '\n';
          line = indent;
        } else {
          line += ' ';
        }
      }
      line += word;
    }
    return (done + line).substr(indent.size());
  }

  const Walk walk_;
  const std::vector<std::string> texts_;
  const std::string dots_ = "...";
  size_t next_ = 0;
};

std::string scalar_text(const Tensor& tensor) {
  if (is_floating(tensor.dtype())) return format_float(tensor.item<double>(), tensor.dtype());
  if (tensor.dtype() == Dtype::b8) return tensor.item<bool>() ? "True" : "False";
  return fmt::format("{}", tensor.item<int64_t>());
}

}  // namespace

std::string to_string(const Tensor& tensor) {
  if (!tensor.defined()) return "undefined";
  if (is_traced(tensor)) return "traced " + describe(tensor);
  if (const RaggedTensor* ragged = as_ragged(tensor)) {
    if (ragged->partition->rows == 0) return "[]";
    const TensorImpl& values = *ragged->values.impl();
    return Layout({values, ragged->partition->host_splits(), values.count() > cut_above}).nested(0);
  }
  const TensorImpl& source = *tensor.impl();
  if (source.rank == 0) return scalar_text(tensor);
  const int64_t count = source.count();
  if (count == 0) return "[]";
  return Layout({source, {}, count > cut_above}).nested(0);
}

// A friend that its class declares does not take the visibility of its namespace.
[[gnu::visibility("default")]] std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << to_string(tensor); }

}  // namespace anyshape
