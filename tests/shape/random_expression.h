// Random size expressions beside a plain tree that says what they mean, for tests of the normal form.
#pragma once
#include <anyshape/dim.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "shape/dim_node.h"
#include "shape/evaluate.h"

namespace anyshape::testing {

struct Tree {
  char operation = 'c';  // c constant, s symbol, + - * / % n(min) x(max) b(bcast)
  int64_t constant = 0;
  size_t symbol = 0;
  std::shared_ptr<Tree> left, right;
};

// The value by definition; nothing where it divides by zero or broadcasts sizes that do not fit.
inline std::optional<int64_t> value_of(const Tree& tree, const std::vector<int64_t>& symbols) {
  if (tree.operation == 'c') return tree.constant;
  if (tree.operation == 's') return symbols[tree.symbol];
  const std::optional<int64_t> a = value_of(*tree.left, symbols), b = value_of(*tree.right, symbols);
  if (!a || !b) return std::nullopt;
  switch (tree.operation) {
    case '+': return *a + *b;
    case '-': return *a - *b;
    case '*': return *a * *b;
    case '/': return *b == 0 ? std::nullopt : std::optional(checked_floor_divide(*a, *b));
    case '%': return *b == 0 ? std::nullopt : std::optional(checked_floor_modulo(*a, *b));
    case 'n': return std::min(*a, *b);
    case 'x': return std::max(*a, *b);
    default: break;
  }
  if (*a != *b && *a != 1 && *b != 1) return std::nullopt;
  return *a == 1 ? *b : *a;
}

inline Dim dim_of(const Tree& tree, const std::vector<Dim>& symbols) {
  if (tree.operation == 'c') return tree.constant;
  if (tree.operation == 's') return symbols[tree.symbol];
  const Dim a = dim_of(*tree.left, symbols), b = dim_of(*tree.right, symbols);
  switch (tree.operation) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    case '/': return a / b;
    case '%': return a % b;
    case 'n': return min(a, b);
    case 'x': return max(a, b);
    default: return bcast(a, b);
  }
}

class RandomExpressions {
 public:
  // Operations are drawn as often as they are written.
  explicit RandomExpressions(unsigned seed, std::string operations = "+++--***//%%nxbb+*/")
      : random_(seed), operations_(std::move(operations)) {}

  int64_t between(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }

  std::shared_ptr<Tree> tree(int depth, size_t symbols) {
    auto result = std::make_shared<Tree>();
    const int64_t choice = between(0, 19);
    if (depth == 0 || choice < 3) {
      result->operation = between(0, 2) == 0 ? 'c' : 's';
      result->constant = between(-2, 6);
      result->symbol = static_cast<size_t>(between(0, static_cast<int64_t>(symbols) - 1));
      return result;
    }
    result->operation = operations_[static_cast<size_t>(choice - 1) % operations_.size()];
    result->left = tree(depth - 1, symbols);
    result->right = tree(depth - 1, symbols);
    return result;
  }

 private:
  std::mt19937 random_;
  std::string operations_;
};

inline constexpr const char* operations_of_slices = "nx-+nx-+nx-+-*nx-n/";  // what bounds of ranges and their distances are made of

// Four symbols of different kinds: free, at least 1, a multiple of 4, in [2, 5].
inline std::vector<Dim> some_symbols() {
  return {make_symbol("n"), make_symbol("m", {.min = 1}), make_symbol("k", {.multiple_of = 4}), make_symbol("s", {.min = 2, .max = 5})};
}

inline std::vector<int64_t> some_values(RandomExpressions& random) {
  return {random.between(0, 6), random.between(1, 5), 4 * random.between(0, 3), random.between(2, 5)};
}

inline Bindings bind_values(const std::vector<Dim>& symbols, const std::vector<int64_t>& values) {
  Bindings bindings;
  for (size_t i = 0; i < symbols.size(); ++i) bindings.set(symbols[i], values[i]);
  return bindings;
}

}  // namespace anyshape::testing
