// Looking for NaN and infinity: one pass over the numbers where all are well.
#include "model/missing_values.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/ragged.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::model {
namespace {

// What is looked for, and its words.
struct Flaw {
  Tensor (*find)(const Tensor& values);
  const char* kind;  // "missing"
  const char* noun;  // "NaN"
  const char* wanted;
};
constexpr Flaw missing{is_nan, "missing", "NaN", "numbers"}, infinite{is_inf, "infinite", "infinite", "finite numbers"};

// The first flaw that the tensor has; none where all is well.
const Flaw* flaw_of(const Tensor& tensor, bool takes_missing) {
  if (!is_floating(tensor.dtype())) return nullptr;
  const Tensor values = tensor.values();
  if (!takes_missing && all(is_finite(values)).item<bool>()) return nullptr;
  if (!takes_missing && any(is_nan(values)).item<bool>()) return &missing;
  return any(is_inf(values)).item<bool>() ? &infinite : nullptr;
}

// How many there are along an axis of the values; the others are summed.
std::vector<int64_t> counts_along(const Flaw& flaw, const Tensor& values, int kept) {
  std::vector<int64_t> axes;
  for (int axis = 0; axis < values.rank(); ++axis) {
    if (axis != kept) axes.push_back(axis);
  }
  const Tensor counts = cast(flaw.find(values), Dtype::i64);
  return (axes.empty() ? counts : sum(counts, {.axes = axes})).to_vector<int64_t>();
}

// "column 3 has 12 NaN, 2 more columns have some": of the last axis; a list of single values has no columns.
std::string columns_text(const Flaw& flaw, const Tensor& tensor) {
  const Tensor values = tensor.values();
  if (values.rank() < 2) return fmt::format("{} {}", count_nonzero(flaw.find(values)).item<int64_t>(), flaw.noun);
  const std::vector<int64_t> counts = counts_along(flaw, values, values.rank() - 1);
  const auto first = std::ranges::find_if(counts, [](int64_t count) { return count > 0; });
  const auto others = std::ranges::count_if(first + 1, counts.end(), [](int64_t count) { return count > 0; });
  return fmt::format("column {} has {} {}{}", first - counts.begin(), *first, flaw.noun,
                     others == 0 ? "" : fmt::format(", {} more column{} some", others, others == 1 ? " has" : "s have"));
}

int64_t first_row(const Flaw& flaw, const Tensor& tensor) {
  const std::vector<int64_t> counts = counts_along(flaw, tensor.values(), 0);
  const auto first = std::ranges::find_if(counts, [](int64_t count) { return count > 0; }) - counts.begin();
  return tensor.is_ragged() ? row_ids(tensor).to_vector<int64_t>()[static_cast<size_t>(first)] : first;
}

[[noreturn]] void refuse(const Flaw& flaw, const char* what, const std::string& holder, const std::string& from, const Tensor& tensor,
                         const std::string& advice) {
  throw DataError(fmt::format("{}: {} {} values{}: {}; expected {}. {}", what, holder, flaw.kind, from, columns_text(flaw, tensor),
                              flaw.wanted, &flaw == &missing ? advice : "Clip them, or drop the rows."));
}

}  // namespace

void require_present(const AnyLayer& network, const RowNames& rows, const std::vector<Tensor>& x) {
  for (size_t input = 0; input < x.size(); ++input) {
    const Flaw* const flaw = flaw_of(x[input], network.layer()->input_accepts_missing(input));
    if (flaw == nullptr) continue;
    const std::string holder = x.size() == 1 ? "the inputs hold" : fmt::format("input {} holds", input);
    const bool is_named = rows.is_dataset || rows.numbers != nullptr;
    const std::string from = is_named ? fmt::format(" from {} on", rows.of(first_row(*flaw, x[input]))) : "";
    refuse(*flaw, rows.what, holder, from, x[input], "Fill them with FillMissing as the first layer, or drop the rows.");
  }
}

void require_numbers(const NumbersRule& rule, const Tensor& tensor) {
  const Flaw* const flaw = flaw_of(tensor, rule.takes_missing);
  if (flaw == nullptr) return;
  const int64_t row = tensor.rank() == 0 ? 0 : first_row(*flaw, tensor);
  refuse(*flaw, rule.rows.what, rule.name + " hold", fmt::format(" from {} on", rule.rows.of(row)), tensor, rule.advice);
}

}  // namespace anyshape::model
