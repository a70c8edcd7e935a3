// Near names by edit distance and by words left out: what a person meant who mistyped.
#include "base/near_names.h"

#include "base/cut_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

namespace anyshape {
namespace {

constexpr size_t longest_name = 64;  // nobody means another one by a longer text, and the distance takes the product of both lengths
constexpr size_t most_shown = 40;
constexpr size_t far = std::numeric_limits<size_t>::max();

char small(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }
bool is_same(char a, char b) { return small(a) == small(b); }  // "MSE" means "mse"

// Letters to insert, delete, replace or swap with the next one to get from one word to the other; `far` where that is more than `limit`.
size_t distance(std::string_view a, std::string_view b, size_t limit) {
  const size_t difference = a.size() < b.size() ? b.size() - a.size() : a.size() - b.size();
  if (a.size() > longest_name || b.size() > longest_name || difference > limit) return far;
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> above(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (is_same(a[i - 1], b[j - 1]) ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()] <= limit ? above[b.size()] : far;
}

// Whole words that are left out: "sparse_crossentropy" of "sparse_categorical_crossentropy"; `far` where it is no such name, or too short to tell.
size_t words_left_out(std::string_view given, std::string_view name) {
  if (given.size() < 4 || given.size() > longest_name) return far;
  const auto next_word = [](std::string_view& rest) {
    const std::string_view word = rest.substr(0, rest.find('_'));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    return word;
  };
  size_t left_out = 0;
  while (!name.empty()) {
    std::string_view rest = given;
    if (next_word(name) == next_word(rest)) {
      given = rest;
    } else {
      ++left_out;
    }
  }
  return given.empty() ? left_out : far;
}

using Near = std::pair<size_t, std::string_view>;  // distance and name

std::vector<Near> near_to(std::string_view given, std::span<const std::string> known, bool only_near) {
  std::vector<Near> names;
  for (const std::string& name : known) {
    const size_t apart =
        std::min(distance(given, name, only_near ? std::max<size_t>(2, name.size() / 3) : longest_name), words_left_out(given, name));
    if (!only_near || apart != far) names.emplace_back(apart, name);
  }
  return names;
}

}  // namespace

std::string unknown_name(std::string_view what, std::string_view given, std::span<const std::string> known) {
  std::vector<Near> names = near_to(given, known, true);
  if (names.empty()) names = near_to(given, known, false);
  const auto is_the_same = [](const Near& near) { return near.first == 0; };  // but for small and large letters
  if (std::ranges::any_of(names, is_the_same)) std::erase_if(names, std::not_fn(is_the_same));
  const size_t shown = std::min(names.size(), most_shown);
  std::ranges::partial_sort(names, names.begin() + static_cast<std::ptrdiff_t>(shown));
  std::string text = fmt::format("{} is no {}; expected {}", in_quotes(given), what, names.size() > 1 ? "one of " : "");
  for (size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + in_quotes(names[i].second);
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text + ".";
}

}  // namespace anyshape
