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

// The next larger size of a symbol with which the check holds, the others as they are; none where there is none near.
std::optional<int64_t> next_size(const SizeCheck& check, const Symbol& symbol, Bindings sizes) {
  constexpr int64_t tried = 4096;
  const int64_t now = *sizes.find(symbol.id);
  for (int64_t size = now + 1; size <= std::min(now + tried, symbol.options.max); ++size) {
    sizes.set(symbol.id, size);
    if (size % symbol.options.multiple_of == 0 && check.holds(sizes)) return size;
  }
  return std::nullopt;
}

// Where an input is too small: " It would hold with height = 31, or width = 40."
std::string sufficient_sizes(const SizeCheck& check, const Bindings& sizes) {
  if (check.relation != Relation::Less && check.relation != Relation::LessEqual) return "";
  std::string text;
  std::vector<uint64_t> seen;
  for (const Dim& side : {check.a, check.b}) {
    for_each_symbol(side, [&](const Symbol& symbol) {
      if (std::ranges::find(seen, symbol.id) != seen.end() || !sizes.find(symbol.id)) return;
      seen.push_back(symbol.id);
      if (const std::optional<int64_t> size = next_size(check, symbol, sizes))
        text += fmt::format("{} {} = {}", text.empty() ? "" : ", or", symbol.name, *size);
    });
  }
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

void throw_failed(const Check& check, const Bindings& sizes, std::string_view function) {
  throw_told(check, evaluate(check.check.a, sizes), evaluate(check.check.b, sizes), fmt::format("function \"{}\"", function),
             sufficient_sizes(check.check, sizes));
}

}  // namespace anyshape::graph
