// Reading and writing where data says.
#include "onnx/out/rule.h"

#include <array>
#include <numeric>

namespace anyshape::onnx::out {
namespace {

std::string wide(NodeCall& c, size_t input) { return c.spec(input).dtype == Dtype::i64 ? c.in(input) : c.cast(c.in(input), Dtype::i64); }

// Axes that rows of the batch share come first for ONNX: what stands between them and the axis goes behind, and back.
void take(NodeCall& c) {
  const int64_t axis = c.a.integer("axis"), shared = c.a.integer("batch_dims");
  if (shared == 0) return c.out(c.add("Gather", {c.in(0), c.in(1)}, {{"axis", axis}}));
  const std::string places = c.add("Unsqueeze", {wide(c, 1), c.e.integers({-1})});
  std::string x = c.in(0);
  if (axis > shared) {
    std::vector<int64_t> order;
    for (int64_t i = 0; i < c.rank(0); ++i) {
      if (i == shared) order.push_back(axis);
      if (i != axis) order.push_back(i);
    }
    x = c.add("Transpose", {x}, {{"perm", order}});
  }
  std::string found = c.add("GatherND", {x, places}, {{"batch_dims", shared}});
  if (axis > shared) {
    const int64_t taken = c.rank(1) - shared, between = axis - shared, rank = c.out_spec().shape.rank();
    std::vector<int64_t> order;
    for (int64_t i = 0; i < shared; ++i) order.push_back(i);
    for (int64_t i = 0; i < between; ++i) order.push_back(shared + taken + i);
    for (int64_t i = 0; i < taken; ++i) order.push_back(shared + i);
    for (int64_t i = shared + taken + between; i < rank; ++i) order.push_back(i);
    found = c.add("Transpose", {found}, {{"perm", order}});
  }
  c.out(found);
}

void take_along_axis(NodeCall& c) { c.out(c.add("GatherElements", {c.in(0), c.in(1)}, {{"axis", c.a.integer("axis")}})); }
void gather_nd(NodeCall& c) { c.out(c.add("GatherND", {c.in(0), wide(c, 1)})); }

void scatter(NodeCall& c) {
  const std::string zeros = c.add("Expand", {c.number(0), c.e.sizes(c.a.sizes("shape"))});
  c.out(c.add("ScatterND", {zeros, wide(c, 1), c.in(0)}, {{"reduction", std::string("add")}}));
}

void scatter_update(NodeCall& c) {
  constexpr std::array<const char*, 5> modes = {"none", "add", "mul", "min", "max"};
  c.out(
      c.add("ScatterND", {c.in(0), wide(c, 2), c.in(1)}, {{"reduction", std::string(modes.at(static_cast<size_t>(c.a.integer("mode"))))}}));
}

// By comparison: ONNX's OneHot counts negative indices from the end, where ours give zeros.
void one_hot(NodeCall& c) {
  const int64_t rank = c.out_spec().shape.rank(), axis = c.a.integer("axis") < 0 ? c.a.integer("axis") + rank : c.a.integer("axis");
  const std::string classes = c.add("Range", {c.e.integer(0), c.e.size_number(c.a.size("classes")), c.e.integer(1)});
  std::vector<int64_t> behind(static_cast<size_t>(rank - 1 - axis));
  std::iota(behind.begin(), behind.end(), int64_t{1});
  const std::string along = behind.empty() ? classes : c.add("Unsqueeze", {classes, c.e.integers(behind)});
  c.out(c.cast(c.add("Equal", {c.add("Unsqueeze", {wide(c, 0), c.e.integers({axis})}), along}), c.out_spec().dtype));
}

void ordered(NodeCall& c, const Dim& count, bool is_descending) {
  const Names found = c.e.add_all("TopK", {c.in(0), c.e.size(count)}, 2,
                                  {{"axis", c.a.integer("axis")}, {"largest", int64_t{is_descending}}, {"sorted", int64_t{1}}});
  c.out(0, c.spec(0).dtype == Dtype::b8 ? c.cast(found[0], Dtype::b8) : found[0]);
  c.out(1, c.cast(found[1], Dtype::i32));
}
void sort(NodeCall& c) { ordered(c, c.shape(0)[static_cast<int>(c.a.integer("axis"))], c.a.flag("descending")); }
void top_k(NodeCall& c) { ordered(c, c.a.size("k"), true); }

// How many of the sorted values come before.
void search_sorted(NodeCall& c) {
  const std::string values = c.add("Unsqueeze", {c.in(1), c.e.integers({-1})});
  const std::string before = c.add(c.a.flag("right") ? "LessOrEqual" : "Less", {c.in(0), values});
  c.out(c.add("ReduceSum", {c.cast(before, Dtype::i32), c.e.integers({c.rank(1)})}, {{"keepdims", int64_t{0}}}));
}

// What the result has along its first axis is its data-dependent size.
void give_size(NodeCall& c, const std::string& found) {
  const std::string count = c.add("Shape", {found}, {{"start", int64_t{0}}, {"end", int64_t{1}}});
  c.e.set_symbol(c.node.made->symbol, count);
  c.out(c.node.outputs.size() - 1, c.add("Squeeze", {count, c.e.integers({0})}));
}

void nonzero(NodeCall& c) {
  std::string x = c.in(0);
  if (c.spec(0).dtype != Dtype::b8) x = c.cast(x, Dtype::b8);
  const std::string found = c.add("Transpose", {c.add("NonZero", {x})}, {{"perm", std::vector<int64_t>{1, 0}}});
  c.out(0, c.cast(found, Dtype::i32));
  give_size(c, found);
}

void boolean_mask(NodeCall& c) {
  const int axes = c.rank(1);
  std::string x = c.in(0), mask = c.in(1);
  if (axes > 1) {
    std::vector<Dim> joined{c.shape(1).count()};
    for (int axis = axes; axis < c.rank(0); ++axis) joined.push_back(c.shape(0)[axis]);
    x = c.add("Reshape", {x, c.e.sizes(joined)}, {{"allowzero", int64_t{1}}});
    mask = c.add("Reshape", {mask, c.e.integers({-1})});
  }
  const std::string places = c.add("Squeeze", {c.add("NonZero", {mask}), c.e.integers({0})});
  c.out(0, c.add("Gather", {x, places}, {{"axis", int64_t{0}}}));
  c.out(1, c.cast(places, Dtype::i32));
  give_size(c, places);
}

// Where runs begin among sorted values: the first of each that Unique finds.
void unique(NodeCall& c) {
  const std::string first = c.e.add_all("Unique", {c.in(0)}, 2, {{"sorted", int64_t{1}}})[1];
  c.out(0, c.cast(first, Dtype::i32));
  give_size(c, first);
}

constexpr std::string_view gradient = "it is part of a gradient, and ONNX has none";
constexpr Rule rules[] = {
    {"take", take},
    {"take_gradient", nullptr, gradient},
    {"take_along_axis", take_along_axis},
    {"take_along_axis_gradient", nullptr, gradient},
    {"gather_nd", gather_nd},
    {"scatter", scatter},
    {"scatter_update", scatter_update},
    {"one_hot", one_hot},
    {"sort", sort, {}, true},
    {"top_k", top_k, {}, true},
    {"search_sorted", search_sorted, {}, true},
    {"boolean_mask", boolean_mask},
    {"nonzero", nonzero},
    {"unique", unique, {}, true},
};

}  // namespace

std::span<const Rule> index_rules() { return rules; }

}  // namespace anyshape::onnx::out
