// Tensors as text in NumPy's layout: nested brackets, lines of at most 75 columns, three items at each end of an axis that is cut.
#include "tensor/element.h"
#include "tensor/number_text.h"
#include "tensor/view.h"

#include <fmt/format.h>

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

// The elements that are shown, in row-major order.
template <class Wide>
void collect(const TensorImpl& tensor, bool cut, int axis, int64_t offset, std::vector<Wide>& out) {
  if (axis == tensor.rank) {
    with_element(tensor.dtype,
                 [&]<class T>(T) { out.push_back(convert_element<Wide>(reinterpret_cast<const T*>(tensor.data())[offset])); });
    return;
  }
  for (const int64_t index : shown_indices(tensor.sizes[axis], cut)) {
    if (index >= 0) collect(tensor, cut, axis + 1, offset + index * tensor.strides[axis], out);
  }
}

std::vector<std::string> element_texts(const TensorImpl& tensor, bool cut) {
  if (is_floating(tensor.dtype)) {
    std::vector<double> values;
    collect(tensor, cut, 0, 0, values);
    return format_floats(values, tensor.dtype);
  }
  std::vector<int64_t> values;
  collect(tensor, cut, 0, 0, values);
  return tensor.dtype == Dtype::b8 ? format_bools(values) : format_integers(values);
}

class Layout {
 public:
  Layout(const TensorImpl& tensor, bool cut) : tensor_(tensor), cut_(cut), texts_(element_texts(tensor, cut)) {}

  std::string nested(int axis) {
    std::string text = "[";
    const std::string indent(static_cast<size_t>(axis) + 1, ' ');
    const int axes_left = tensor_.rank - axis;
    if (axes_left == 1) return text + row(indent) + "]";
    bool first = true;
    for (const int64_t index : shown_indices(tensor_.sizes[axis], cut_)) {
      if (!first) text += std::string(static_cast<size_t>(axes_left) - 1, '\n') + indent;
      text += index < 0 ? "..." : nested(axis + 1);
      first = false;
    }
    return text + "]";
  }

 private:
  // The items of the last axis, wrapped where a line would be too long; the closing brackets of all axes count.
  std::string row(const std::string& indent) {
    const size_t width = line_width - indent.size();
    std::string done, line = indent;
    for (const int64_t index : shown_indices(tensor_.sizes[tensor_.rank - 1], cut_)) {
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

  const TensorImpl& tensor_;
  const bool cut_;
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
  const TensorImpl& source = *tensor.impl();
  if (source.rank == 0) return scalar_text(tensor);
  const int64_t count = source.count();
  if (count == 0) return "[]";
  return Layout(source, count > cut_above).nested(0);
}

}  // namespace anyshape
