// Near names by edit distance: what a person meant who mistyped.
#include "base/near_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace anyshape {
namespace {

// Letters to insert, delete, replace or swap with the next one to get from one word to the other.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> above(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::string unknown_name(std::string_view what, std::string_view given, std::span<const std::string> known) {
  std::vector<std::string> near;
  for (const std::string& name : known) {
    if (distance(given, name) <= std::max<size_t>(2, name.size() / 3)) near.push_back(name);
  }
  if (near.empty()) near.assign(known.begin(), known.end());
  std::ranges::sort(near, {}, [&](const std::string& name) { return std::pair(distance(given, name), name); });
  for (std::string& name : near) name = fmt::format("\"{}\"", name);
  return fmt::format("\"{}\" is no {}; expected {}{}.", given, what, near.size() > 1 ? "one of " : "", fmt::join(near, ", "));
}

}  // namespace anyshape
