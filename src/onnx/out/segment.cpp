// Rows of unequal length: values one after the other and the splits between rows. ONNX has none, but positions can be computed: the row of each value, and
// where it would stand among padded rows.
#include "onnx/out/rule.h"

#include <limits>

namespace anyshape::onnx::out {
namespace {

// A partition: where rows begin and end, and how many values they have together.
class Rows {
 public:
  Rows(NodeCall& call, const std::string& splits, const Dim& rows, const Dim& total) : c(call), rows_(rows), total_(total) {
    const std::string zero = c.e.integers({0}), one = c.e.integers({1});
    starts = c.add("Slice", {splits, zero, c.e.integers({-1}), zero});
    ends = c.add("Slice", {splits, one, c.e.integers({std::numeric_limits<int64_t>::max()}), zero});
  }

  NodeCall& c;
  std::string starts, ends;

  const Dim& rows() const { return rows_; }
  const Dim& total() const { return total_; }
  std::string lengths() { return c.add("Sub", {ends, starts}); }
  // The row of each value: how many rows end at it or before.
  std::string ids() {
    if (!ids_.empty()) return ids_;
    const std::string counts = c.add("Expand", {c.e.integer(0), c.e.size(total_ + 1)}),
                      ones = c.add("Expand", {c.e.integer(1), c.e.size(rows_)});
    const std::string ended = c.add("ScatterElements", {counts, ends, ones}, {{"reduction", std::string("add")}});
    const std::string zero = c.e.integers({0});
    return ids_ = c.add("Slice", {c.add("CumSum", {ended, c.e.integer(0)}), zero, c.e.size(total_), zero});
  }
  std::string positions() { return c.add("Sub", {count_up(total_), of_rows(starts)}); }  // of each value in its row
  std::string of_rows(const std::string& x) { return c.add("Gather", {x, ids()}, {{"axis", int64_t{0}}}); }
  std::string count_up(const Dim& count) { return c.add("Range", {c.e.integer(0), c.e.size_number(count), c.e.integer(1)}); }

  // values [total, ...] added up, or multiplied, or the greatest of them, by rows.
  std::string combined(const std::string& values, std::string_view how, const std::string& start) {
    std::vector<Dim> shape{rows_};
    for (int axis = 1; axis < c.rank(0); ++axis) shape.push_back(c.shape(0)[axis]);
    const std::string initial = c.add("Expand", {start, c.e.sizes(shape)});
    return c.add("ScatterND", {initial, c.add("Unsqueeze", {ids(), c.e.integers({1})}), values}, {{"reduction", std::string(how)}});
  }

  // x [count, ...] at these indices, and the filling where there is no element.
  std::string taken(const std::string& x, const std::vector<Dim>& element, const Dim& count, const std::string& is_there,
                    const std::string& places, const std::string& filling) {
    std::vector<Dim> one{1};
    one.insert(one.end(), element.begin(), element.end());
    const std::string more = c.add("Concat", {x, c.add("Expand", {filling, c.e.sizes(one)})}, {{"axis", int64_t{0}}});
    return c.add("Gather", {more, c.add("Where", {is_there, places, c.e.size_number(count)})}, {{"axis", int64_t{0}}});
  }
  std::string padded(const std::string& values, const std::vector<Dim>& element, const Dim& length, const std::string& filling) {
    const std::string behind = c.e.integers({1}), columns = count_up(length);
    const std::string is_there = c.add("Less", {columns, c.add("Unsqueeze", {lengths(), behind})});
    return taken(values, element, total_, is_there, c.add("Add", {c.add("Unsqueeze", {starts, behind}), columns}), filling);
  }
  // Of rows [rows, length, ...]; zeros where a row is longer.
  std::string flat(const std::string& padded, const std::vector<Dim>& element, const Dim& length) {
    std::vector<Dim> joined{rows_ * length};
    joined.insert(joined.end(), element.begin(), element.end());
    const std::string lines = c.add("Reshape", {padded, c.e.sizes(joined)}, {{"allowzero", int64_t{1}}}), at = positions();
    const std::string places = c.add("Add", {c.add("Mul", {ids(), c.e.size_number(length)}), at});
    return taken(lines, element, rows_ * length, c.add("Less", {at, c.e.size_number(length)}), places, c.number(0));
  }

 private:
  Dim rows_, total_;
  std::string ids_;
};

std::vector<Dim> element_of(const Shape& shape, int axes) { return {shape.begin() + axes, shape.end()}; }

Rows rows_of_values(NodeCall& c) { return Rows(c, c.in(1), c.shape(1)[0] - 1, c.shape(0)[0]); }

void row_starts(NodeCall& c) { c.out(Rows(c, c.in(0), c.shape(0)[0] - 1, 0).starts); }
void row_lengths(NodeCall& c) { c.out(Rows(c, c.in(0), c.shape(0)[0] - 1, 0).lengths()); }
void row_ids(NodeCall& c) { c.out(Rows(c, c.in(0), c.shape(0)[0] - 1, c.a.size("total")).ids()); }
void repeat(NodeCall& c) { c.out(c.add("Gather", {c.in(0), c.in(1)}, {{"axis", int64_t{0}}})); }
void same_rows(NodeCall& c) { c.out(c.in(0)); }

void to_padded(NodeCall& c) {
  Rows rows(c, c.in(2), c.shape(2)[0] - 1, c.shape(0)[0]);
  c.out(rows.padded(c.in(0), element_of(c.shape(0), 1), c.a.size("length"), c.in(1)));
}

void from_padded(NodeCall& c) {
  Rows rows(c, c.in(1), c.shape(1)[0] - 1, c.a.size("total"));
  c.out(rows.flat(c.in(0), element_of(c.shape(0), 2), c.shape(0)[1]));
}

double lowest(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64: return std::numeric_limits<double>::lowest();
    case Dtype::i32: return std::numeric_limits<int32_t>::min();
    case Dtype::f16: return -std::numeric_limits<double>::infinity();
    default: return std::numeric_limits<float>::lowest();
  }
}

void sum(NodeCall& c) { c.out(rows_of_values(c).combined(c.in(0), "add", c.number(0))); }
void prod(NodeCall& c) { c.out(rows_of_values(c).combined(c.in(0), "mul", c.number(1))); }
void extreme(NodeCall& c, bool is_max) {
  if (c.spec(0).dtype == Dtype::u8 || c.dtype() == Dtype::i64)
    c.no_form("what an empty row gives cannot be said in its dtype; cast the values to f32 or i32");
  const double least = lowest(c.dtype());
  c.out(rows_of_values(c).combined(c.in(0), is_max ? "max" : "min",
                                   c.number(is_max                    ? least
                                            : c.dtype() == Dtype::i32 ? -1 - least
                                                                      : -least)));
}
void max(NodeCall& c) { extreme(c, true); }
void min(NodeCall& c) { extreme(c, false); }
void any(NodeCall& c) {
  c.out(c.cast(rows_of_values(c).combined(c.cast(c.in(0), Dtype::i32), "add", c.e.number(Dtype::i32, 0)), Dtype::b8));
}
void all(NodeCall& c) {
  const std::string others = c.cast(c.add("Not", {c.in(0)}), Dtype::i32);
  c.out(c.add("Not", {c.cast(rows_of_values(c).combined(others, "add", c.e.number(Dtype::i32, 0)), Dtype::b8)}));
}

// Values less the greatest of their row, and the sums of their exponentials by rows.
struct Exponentials {
  std::string greatest, less, exponentials, sums;
};
Exponentials exponentials(NodeCall& c, Rows& rows) {
  const std::string x = c.in(0), greatest = rows.combined(x, "max", c.number(lowest(c.dtype())));
  const std::string less = c.add("Sub", {x, rows.of_rows(greatest)}), powers = c.add("Exp", {less});
  return {greatest, less, powers, rows.combined(powers, "add", c.number(0))};
}
void softmax(NodeCall& c) {
  Rows rows = rows_of_values(c);
  const Exponentials found = exponentials(c, rows);
  c.out(c.add("Div", {found.exponentials, rows.of_rows(found.sums)}));
}
void log_softmax(NodeCall& c) {
  Rows rows = rows_of_values(c);
  const Exponentials found = exponentials(c, rows);
  c.out(c.add("Sub", {found.less, rows.of_rows(c.add("Log", {found.sums}))}));
}
void logsumexp(NodeCall& c) {
  Rows rows = rows_of_values(c);
  const Exponentials found = exponentials(c, rows);
  c.out(c.add("Add", {c.add("Log", {found.sums}), found.greatest}));
}

void flip(NodeCall& c) {
  Rows rows = rows_of_values(c);
  const std::string last = c.add("Sub", {c.add("Add", {rows.starts, rows.ends}), c.e.integer(1)});
  c.out(c.add("Gather", {c.in(0), c.add("Sub", {rows.of_rows(last), rows.count_up(rows.total())})}, {{"axis", int64_t{0}}}));
}

// Along padded rows, each as long as all values together at most; from the end the zeros come first and change nothing.
void cumsum(NodeCall& c) {
  Rows rows = rows_of_values(c);
  const std::vector<Dim> element = element_of(c.shape(0), 1);
  const std::string padded = rows.padded(c.in(0), element, rows.total(), c.number(0));
  const std::string sums =
      c.add("CumSum", {padded, c.e.integer(1)}, {{"exclusive", int64_t{c.a.flag("exclusive")}}, {"reverse", int64_t{c.a.flag("reverse")}}});
  c.out(rows.flat(sums, element, rows.total()));
}

constexpr std::string_view none = "ONNX has no rows of unequal length; pad them with to_padded";
constexpr Rule rules[] = {
    {"row_starts", row_starts},
    {"row_lengths", row_lengths},
    {"row_ids", row_ids},
    {"segment_repeat", repeat},
    {"same_rows", same_rows},
    {"to_padded", to_padded},
    {"from_padded", from_padded},
    {"segment_sum", sum, {}, true},
    {"segment_prod", prod, {}, true},
    {"segment_max", max, {}, true},
    {"segment_min", min, {}, true},
    {"segment_any", any},
    {"segment_all", all},
    {"segment_softmax", softmax, {}, true},
    {"segment_log_softmax", log_softmax, {}, true},
    {"segment_logsumexp", logsumexp, {}, true},
    {"segment_flip", flip},
    {"segment_cumsum", cumsum, {}, true},
    {"segment_cumprod", nullptr, none},
    {"packed_rows", nullptr, none},
    {"segment_argmax", nullptr, none},
    {"segment_argmin", nullptr, none},
    {"segment_sort", nullptr, none},
    {"segment_recurrence", nullptr, "it is part of a gradient, and ONNX has none"},
};

}  // namespace

std::span<const Rule> segment_rules() { return rules; }

}  // namespace anyshape::onnx::out
