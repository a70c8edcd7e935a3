// Movement: shapes are numbers where that is enough, and otherwise computed.
#include "onnx/out/rule.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace anyshape::onnx::out {
namespace {

// A 0 keeps the input's size, -1 is what is left; it may stand where nothing else can be 0.
void reshape(NodeCall& c) {
  const std::vector<Dim>& target = c.a.sizes("shape");
  std::vector<int64_t> values;
  int64_t open = 0, kept = 0;
  bool is_plain = true;
  for (size_t axis = 0; axis < target.size(); ++axis) {
    const Dim& size = target[axis];
    if (size.is_constant()) {
      is_plain = is_plain && size.value() > 0;
      values.push_back(size.value());
    } else if (static_cast<int>(axis) < c.rank(0) && size.same_as(c.shape(0)[static_cast<int>(axis)])) {
      ++kept;
      values.push_back(0);
    } else {
      ++open;
      values.push_back(-1);
    }
  }
  if (is_plain && open == 0) return c.out(c.add("Reshape", {c.in(0), c.e.integers(values)}));
  if (is_plain && open == 1 && kept == 0) return c.out(c.add("Reshape", {c.in(0), c.e.integers(values)}));
  c.out(c.add("Reshape", {c.in(0), c.e.sizes(target)}, {{"allowzero", int64_t{1}}}));
}

void transpose(NodeCall& c) { c.out(c.add("Transpose", {c.in(0)}, {{"perm", c.a.list("permutation")}})); }
void broadcast_to(NodeCall& c) { c.out(c.add("Expand", {c.in(0), c.e.sizes(c.a.sizes("shape"))})); }

// Backwards a range may end before the first element, which ONNX says with the lowest number.
void slice(NodeCall& c) {
  const std::vector<Dim>&begins = c.a.sizes("begins"), &sizes = c.a.sizes("sizes");
  const std::vector<int64_t>& steps = c.a.list("steps");
  c.keeps_layout();
  std::vector<Dim> starts, ends;
  std::vector<int64_t> axes, strides;
  for (size_t axis = 0; axis < begins.size(); ++axis) {
    if (begins[axis].same_as(0) && steps[axis] == 1 && sizes[axis].same_as(c.shape(0)[static_cast<int>(axis)])) continue;
    const Dim end = begins[axis] + sizes[axis] * steps[axis];
    starts.push_back(begins[axis]);
    if (steps[axis] > 0) {
      ends.push_back(end);
    } else if (end.is_constant() && end.value() >= 0) {
      ends.push_back(end);
    } else if (range_of(end).high < 0) {
      ends.emplace_back(std::numeric_limits<int64_t>::min());
    } else if (range_of(end).low >= 0) {
      ends.push_back(end);
    } else {
      // Below 0 by more than any size: the same as before the first.
      ends.push_back(end + (min(end, 0) * (int64_t{1} << 40)));
    }
    axes.push_back(c.axis(static_cast<int64_t>(axis), c.rank(0)));
    strides.push_back(steps[axis]);
  }
  if (axes.empty()) return c.out(c.in(0));
  c.out(c.add("Slice", {c.in(0), c.e.sizes(starts), c.e.sizes(ends), c.e.integers(axes), c.e.integers(strides)}));
}

void pad(NodeCall& c) {
  const std::vector<Dim>& begins = c.a.sizes("begins");
  const std::vector<int64_t>& steps = c.a.list("steps");
  const std::vector<Dim>& target = c.a.sizes("shape");
  c.keeps_layout();
  const int rank = c.rank(0);
  std::vector<Dim> before(static_cast<size_t>(rank), 0), after(static_cast<size_t>(rank), 0);
  for (int axis = 0; axis < rank; ++axis) {
    const auto number = static_cast<size_t>(axis);
    const bool is_named = number < begins.size();
    if (is_named && steps[number] != 1) c.no_form("it spreads elements out, as the gradient of a slice with steps does");
    const auto at = static_cast<size_t>(c.axis(axis, rank));
    before[at] = is_named ? begins[number] : Dim(0);
    after[at] = target[number] - c.shape(0)[axis] - before[at];
  }
  before.insert(before.end(), after.begin(), after.end());
  c.out(c.add("Pad", {c.in(0), c.e.sizes(before), c.in(1)}));
}

void concat(NodeCall& c) {
  c.keeps_layout();
  Names parts;
  for (size_t i = 0; i < c.inputs(); ++i) parts.push_back(c.in(i));
  c.out(c.add("Concat", parts, {{"axis", c.axis(c.a.integer("axis"), c.rank(0))}}));
}

void stack(NodeCall& c) {
  const int64_t axis = c.a.integer("axis");
  Names parts;
  for (size_t i = 0; i < c.inputs(); ++i) parts.push_back(c.add("Unsqueeze", {c.in(i), c.e.integers({axis})}));
  c.out(c.add("Concat", parts, {{"axis", axis}}));
}

std::string count_up(NodeCall& c, const Dim& count) { return c.add("Range", {c.e.integer(0), c.e.size_number(count), c.e.integer(1)}); }

// The matrices as rows of rows * columns elements: the diagonal's lie columns + 1 apart.
void diagonal(NodeCall& c) {
  const Dim &row = c.a.size("row"), &column = c.a.size("column");
  std::vector<Dim> flat(c.shape(0).begin(), c.shape(0).end() - 2);
  const Dim columns = c.shape(0)[-1];
  flat.push_back(c.shape(0)[-2] * columns);
  const std::string rows = c.add("Reshape", {c.in(0), c.e.sizes(flat)}, {{"allowzero", int64_t{1}}});
  const std::string apart = c.add("Mul", {count_up(c, c.out_spec().shape[-1]), c.e.size_number(columns + 1)});
  const std::string places = c.add("Add", {apart, c.e.size_number(row * columns + column)});
  c.out(c.add("Gather", {rows, places}, {{"axis", int64_t{-1}}}));
}

// Every element of the matrix asks which one of the diagonal it is, if any: a zero stands behind the last.
void diagonal_matrix(NodeCall& c) {
  const std::string zero = c.e.integer(0), behind = c.e.integers({1});
  const std::string numbers = c.add("Sub", {count_up(c, c.a.size("rows")), c.e.size_number(c.a.size("row"))});
  const std::string columns = c.add("Sub", {count_up(c, c.a.size("columns")), c.e.size_number(c.a.size("column"))});
  const std::string count = c.e.size_number(c.shape(0)[-1]);
  const std::string is_there = c.add("And", {c.add("GreaterOrEqual", {numbers, zero}), c.add("Less", {numbers, count})});
  std::vector<Dim> one(c.shape(0).begin(), c.shape(0).end());
  one.back() = 1;
  const std::string more = c.add("Concat", {c.in(0), c.add("Expand", {c.number(0), c.e.sizes(one)})}, {{"axis", int64_t{-1}}});
  const std::string found = c.add("Gather", {more, c.add("Where", {is_there, numbers, count})}, {{"axis", int64_t{-1}}});
  const std::string is_on = c.add("Equal", {c.add("Unsqueeze", {numbers, behind}), columns});
  c.out(c.add("Where", {is_on, c.add("Unsqueeze", {found, c.e.integers({-1})}), c.number(0)}));
}

constexpr Rule rules[] = {
    {"reshape", reshape},
    {"transpose", transpose},
    {"broadcast_to", broadcast_to},
    {"slice", slice},
    {"pad", pad},
    {"concat", concat},
    {"stack", stack},
    {"diagonal", diagonal},
    {"diagonal_matrix", diagonal_matrix},
};

}  // namespace

std::span<const Rule> movement_rules() { return rules; }

}  // namespace anyshape::onnx::out
