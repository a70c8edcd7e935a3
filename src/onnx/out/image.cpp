// Convolutions, pooling and resizing, with channels behind the rows as ONNX has them.
#include "onnx/out/rule.h"

#include <anyshape/ops.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace anyshape::onnx::out {
namespace {

Dim span_of(int64_t taps, int64_t dilation) { return (taps - 1) * dilation + 1; }

// Where windows lie along the spatial axes: numbers before and behind the image, or padding that goes with its size.
struct Placed {
  std::vector<int64_t> taps, strides, dilation, before, behind;
  bool is_same = false;                       // as ONNX's SAME_UPPER
  std::vector<Dim> open_before, open_behind;  // sizes of the call, where it is none of these
  Attributes attributes;                      // strides and dilation, and padding where it is fixed
};

Placed placed_on(NodeCall& c, const std::vector<Dim>& taps) {
  const std::vector<Dim>&strides = c.a.sizes("strides"), &dilation = c.a.sizes("dilation"), &before = c.a.sizes("before"),
        &padding = c.a.sizes("padding"), &outputs = c.a.sizes("sizes");
  Placed p;
  bool is_fixed = true, is_same = padding.empty();
  for (size_t k = 0; k < taps.size(); ++k) {
    p.taps.push_back(c.constant(taps[k], "a size of the window"));
    p.strides.push_back(c.constant(strides[k], "a stride"));
    p.dilation.push_back(c.constant(dilation[k], "a dilation"));
    const Dim& input = c.shape(0)[static_cast<int>(k) + 1];
    const Dim span = span_of(p.taps[k], p.dilation[k]), stride = p.strides[k];
    const Dim behind = padding.empty() ? (outputs[k] - 1) * stride + span - before[k] - input : padding[k] - before[k];
    p.open_before.push_back(before[k]);
    p.open_behind.push_back(behind);
    const Dim rounded = (input + stride - 1) / stride;
    is_same = is_same && outputs[k].same_as(rounded) && before[k].same_as(max((rounded - 1) * stride + span - input, 0) / 2);
    // What windows leave over behind the last one is not padded.
    const bool is_known = before[k].is_constant() && behind.is_constant() && behind.value() > -p.strides[k];
    is_fixed = is_fixed && is_known;
    p.before.push_back(is_known ? before[k].value() : 0);
    p.behind.push_back(is_known ? std::max<int64_t>(behind.value(), 0) : 0);
  }
  p.attributes = {{"strides", p.strides}, {"dilations", p.dilation}, {"kernel_shape", p.taps}};
  if (is_fixed) {
    std::vector<int64_t> pads = p.before;
    pads.insert(pads.end(), p.behind.begin(), p.behind.end());
    p.attributes.push_back({"pads", std::move(pads)});
    p.open_before.clear();
    p.open_behind.clear();
  } else if (is_same) {
    p.is_same = true;
    p.attributes.push_back({"auto_pad", std::string("SAME_UPPER")});
    p.open_before.clear();
    p.open_behind.clear();
  }
  return p;
}

// Padding that goes with the size of the image is put around it first.
std::string padded(NodeCall& c, const Placed& p, const std::string& x, double value) {
  if (p.open_before.empty()) return x;
  std::vector<Dim> pads{0, 0};
  pads.insert(pads.end(), p.open_before.begin(), p.open_before.end());
  pads.insert(pads.end(), {0, 0});
  pads.insert(pads.end(), p.open_behind.begin(), p.open_behind.end());
  return c.add("Pad", {x, c.e.sizes(pads), c.number(value)});
}

// [taps..., channels of a group, filters] -> [filters, channels of a group, taps...]
std::vector<int64_t> filters_first_order(NodeCall& c) {
  const int rank = c.rank(1);
  std::vector<int64_t> order{rank - 1, rank - 2};
  for (int64_t axis = 0; axis + 2 < rank; ++axis) order.push_back(axis);
  return order;
}
std::string filters_first(NodeCall& c) {
  const std::vector<int64_t> order = filters_first_order(c);
  const graph::Value* const kernel = c.node.inputs[1];
  if (const Tensor* known = c.e.known(kernel)) return c.e.constant(transpose(*known, order), c.e.known_name(kernel));
  return c.add("Transpose", {c.e.ours(kernel)}, {{"perm", order}});
}

std::vector<Dim> taps_of(NodeCall& c) { return {c.shape(1).begin(), c.shape(1).end() - 2}; }

void require_floating(NodeCall& c) {
  if (!is_floating(c.dtype())) c.no_form("ONNX has it for floating numbers only; cast the image to f32");
}

void convolution(NodeCall& c) {
  require_floating(c);
  c.use_channels_second();
  Placed p = placed_on(c, taps_of(c));
  p.attributes.push_back({"group", c.constant(c.a.size("groups"), "the number of groups")});
  const std::string x = padded(c, p, c.in(0), 0);
  const graph::Value* const kernel = c.node.inputs[1];
  c.out(c.add("Conv", {x, filters_first(c)}, p.attributes));
  const Tensor* const known = c.e.known(kernel);
  if (known == nullptr || c.dtype() != c.spec(0).dtype) return;
  c.e.note_convolution(c.node.outputs[0], {.x = x,
                                           .kernel = transpose(*known, filters_first_order(c)),
                                           .bias = {},
                                           .kernel_name = c.e.known_name(kernel),
                                           .attributes = p.attributes});
}

// A transposed convolution gives every input its window of results; those beyond the wanted ones are cut off.
void transposed_convolution(NodeCall& c) {
  require_floating(c);
  c.use_channels_second();
  const std::vector<Dim>&wanted = c.a.sizes("sizes"), &before = c.a.sizes("before");
  std::vector<int64_t> taps, strides, dilation, pads_before, pads_behind, more;
  const std::vector<Dim> taps_given = taps_of(c);
  for (size_t k = 0; k < wanted.size(); ++k) {
    taps.push_back(c.constant(taps_given[k], "a size of the window"));
    strides.push_back(c.constant(c.a.sizes("strides")[k], "a stride"));
    dilation.push_back(c.constant(c.a.sizes("dilation")[k], "a dilation"));
    const Dim& input = c.shape(0)[static_cast<int>(k) + 1];
    const Dim behind = (input - 1) * strides[k] + span_of(taps[k], dilation[k]) - before[k] - wanted[k];
    if (!before[k].is_constant() || !behind.is_constant()) c.no_form("where its windows begin depends on sizes of the call");
    if (before[k].value() < 0) c.no_form("its windows begin behind the first result");
    pads_before.push_back(before[k].value());
    pads_behind.push_back(std::max<int64_t>(behind.value(), 0));
    more.push_back(std::max<int64_t>(-behind.value(), 0));
  }
  std::vector<int64_t> pads = pads_before;
  pads.insert(pads.end(), pads_behind.begin(), pads_behind.end());
  Attributes attributes{{"strides", strides},
                        {"dilations", dilation},
                        {"kernel_shape", taps},
                        {"pads", pads},
                        {"group", c.constant(c.a.size("groups"), "the number of groups")}};
  if (std::ranges::any_of(more, [](int64_t each) { return each > 0; })) attributes.push_back({"output_padding", more});
  c.out(c.add("ConvTranspose", {c.in(0), filters_first(c)}, attributes));
}

// One window over all of the image.
bool is_global(NodeCall& c) {
  return c.a.flag("adaptive") && std::ranges::all_of(c.a.sizes("sizes"), [](const Dim& size) { return size.same_as(1); });
}

void max_pool(NodeCall& c) {
  if (c.is_used(1)) c.no_form("the pixels of its results are used, as by a gradient");
  if (c.dtype() != Dtype::u8) require_floating(c);
  c.use_channels_second();
  if (is_global(c)) return c.out(c.add("GlobalMaxPool", {c.in(0)}));
  if (c.a.flag("adaptive")) return write_adaptive_pool(c, true);
  const Placed p = placed_on(c, c.a.sizes("taps"));
  if (!p.open_before.empty() && !is_floating(c.dtype()))
    c.no_form("its padding goes with the size of the image, and integers have no -infinity");
  const std::string x = padded(c, p, c.in(0), -std::numeric_limits<double>::infinity());
  c.out(c.add("MaxPool", {x}, p.attributes));
}

void average_pool(NodeCall& c) {
  c.use_channels_second();
  if (is_global(c)) return c.out(c.add("GlobalAveragePool", {c.in(0)}));
  if (c.a.flag("adaptive")) return write_adaptive_pool(c, false);
  Placed p = placed_on(c, c.a.sizes("taps"));
  if (!p.open_before.empty()) c.no_form("its padding goes with the size of the image");
  // All windows are without dilation, and ONNX counts only what lies in the image.
  std::erase_if(p.attributes, [](const Attribute& each) { return each.name == "dilations"; });
  c.out(c.add("AveragePool", {c.in(0)}, p.attributes));
}

// Positions in whole numbers, as ours are, so that no pixel is missed by rounding.
void interpolate(NodeCall& c) {
  c.keeps_layout();
  const int64_t ours = c.a.integer("axis"), axis = c.axis(ours, c.rank(0));
  const Dim &results = c.a.size("size"), &pixels = c.shape(0)[static_cast<int>(ours)];
  const std::string x = c.in(0), one = c.e.integer(1), two = c.e.integer(2);
  const std::string count = c.add("Range", {c.e.integer(0), c.e.size_number(results), one});
  const std::string centre = c.add("Mul", {c.add("Add", {c.add("Mul", {count, two}), one}), c.e.size_number(pixels)});
  const std::string unit = c.e.size_number(results * 2);
  if (!c.a.flag("linear")) return c.out(c.add("Gather", {x, c.add("Div", {centre, unit})}, {{"axis", axis}}));
  const std::string place = c.add("Sub", {centre, c.e.size_number(results)});
  const std::string rest = c.add("Mod", {place, unit}), before = c.add("Div", {c.add("Sub", {place, rest}), unit});
  const std::string last = c.e.size_number(pixels - 1), zero = c.e.integer(0);
  const auto inside = [&](const std::string& pixel) { return c.add("Min", {c.add("Max", {pixel, zero}), last}); };
  const auto at = [&](const std::string& pixel) { return c.add("Gather", {x, inside(pixel)}, {{"axis", axis}}); };
  std::string share = c.add("Div", {c.cast(rest, c.dtype()), c.cast(unit, c.dtype())});
  std::vector<int64_t> behind(static_cast<size_t>(c.rank(0) - 1 - axis));
  std::iota(behind.begin(), behind.end(), int64_t{1});
  if (!behind.empty()) share = c.add("Unsqueeze", {share, c.e.integers(behind)});
  const std::string first = c.add("Mul", {at(before), c.add("Sub", {c.number(1), share})});
  c.out(c.add("Add", {first, c.add("Mul", {at(c.add("Add", {before, one})), share})}));
}

constexpr std::string_view gradient = "it is part of a gradient, and ONNX has none";
constexpr Rule rules[] = {
    {"convolution", convolution, {}, true},
    {"convolution_input_gradient", transposed_convolution, {}, true},
    {"convolution_kernel_gradient", nullptr, gradient},
    {"max_pool", max_pool},
    {"max_pool_gradient", nullptr, gradient},
    {"max_pool_pick", nullptr, gradient},
    {"average_pool", average_pool, {}, true},
    {"average_pool_gradient", nullptr, gradient},
    {"interpolate", interpolate},
    {"interpolate_gradient", nullptr, gradient},
};

}  // namespace

bool fold_into_convolution(NodeCall& c) {
  const bool is_factor = c.node.op->name == "multiply";
  for (const size_t number : {0U, 1U}) {
    const graph::Value *const image = c.node.inputs[number], *const added = c.node.inputs[1 - number];
    const Emitter::Convolution* const found = c.e.convolution(image);
    const Tensor* const known = c.e.known(added);
    if (found == nullptr || known == nullptr || known->rank() != 1 || !c.is_used_once(image) ||
        !known->shape()[0].same_as(image->spec.shape[-1]))
      continue;
    if (known->dtype() != found->kernel.dtype()) continue;
    Emitter::Convolution folded = *found;
    if (is_factor) {
      std::vector<int64_t> column(static_cast<size_t>(folded.kernel.rank()), 1);
      column[0] = known->shape()[0].value();
      folded.kernel = folded.kernel * reshape(*known, Shape(column));
      if (folded.bias.defined()) folded.bias = folded.bias * *known;
    } else {
      folded.bias = folded.bias.defined() ? folded.bias + *known : *known;
    }
    Names inputs{folded.x, c.e.constant(folded.kernel, folded.kernel_name)};
    if (folded.bias.defined()) inputs.push_back(c.e.constant(folded.bias, c.e.known_name(added)));
    c.use_channels_second();
    c.out(c.add("Conv", inputs, folded.attributes));
    c.e.note_convolution(c.node.outputs[0], std::move(folded));
    return true;
  }
  return false;
}

std::span<const Rule> image_rules() { return rules; }

}  // namespace anyshape::onnx::out
