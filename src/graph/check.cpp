// A failed check in words.
#include "graph/check.h"

#include "graph/named_call.h"
#include "shape/dim_node.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace anyshape::graph {
namespace {

bool holds(const SizeCheck& check, const OtherChecks& do_others_hold, const Bindings& sizes) {
  try {
    return check.holds(sizes) && (do_others_hold == nullptr || do_others_hold(sizes));
  } catch (const Error&) {
    return false;  // a side has no value for these sizes
  }
}

// Where an input is too small: " It would hold with height = 31, or width = 40.", the other sizes as they are.
std::string sufficient_sizes(const SizeCheck& check, const OtherChecks& do_others_hold, const Bindings& sizes) {
  constexpr int64_t tried = 4096;
  if (check.relation != Relation::Less && check.relation != Relation::LessEqual) return "";
  std::string text;
  std::vector<uint64_t> seen;
  const auto append_size = [&](const Symbol& symbol) {
    const std::optional<int64_t> now = sizes.find(symbol.id);
    if (!now || std::ranges::find(seen, symbol.id) != seen.end()) return;
    seen.push_back(symbol.id);
    Bindings larger = sizes;
    for (int64_t size = *now; size < symbol.options.max && size - *now < tried;) {
      larger.set(symbol.id, ++size);
      if (size % symbol.options.multiple_of != 0 || !holds(check, do_others_hold, larger)) continue;
      text += fmt::format("{} {} = {}", text.empty() ? "" : ", or", symbol.name, size);
      return;
    }
  };
  for (const Dim& side : {check.a, check.b}) for_each_symbol(side, append_size);
  return text.empty() ? text : fmt::format(" It would hold with{}.", text);
}

// `sufficient` stands between what is expected and where.
[[noreturn]] void throw_told(const Check& check, int64_t a, int64_t b, std::string_view place, std::string_view sufficient) {
  std::string values;
  for (const auto& [side, value] : {std::pair(check.check.a, a), std::pair(check.check.b, b)}) {
    if (!side.is_constant()) values += fmt::format("{}{} = {}", values.empty() ? " with " : ", ", to_string(side), value);
  }
  throw ShapeError(fmt::format(
      "{} In {}.", refusal(check.op, check.what, check.operands + values, check.expected, std::string(sufficient) + check.place), place));
}

}  // namespace

void throw_failed(const Check& check, int64_t a, int64_t b, std::string_view place) { throw_told(check, a, b, place, ""); }

void throw_failed(const Check& check, const Bindings& sizes, std::string_view function, const OtherChecks& do_others_hold) {
  throw_told(check, evaluate(check.check.a, sizes), evaluate(check.check.b, sizes), fmt::format("function \"{}\"", function),
             sufficient_sizes(check.check, do_others_hold, sizes));
}

}  // namespace anyshape::graph
