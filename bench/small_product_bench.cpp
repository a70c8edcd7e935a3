// The table of docs/internals/experiments/products.md on vectors and tiny matrices: products as calls of the library and as generated loops
// (expand_products), in one process, samples taken in turns. `small_product_bench [part of a name]`.
#include "base/switches.h"
#include "measure.h"

#include <optional>
#include <string>

namespace as = anyshape;
using as::Tensor;

namespace {

using Sizes = std::vector<int64_t>;

struct Case {
  std::string name;
  as::TensorSpec a, b;  // what is compiled for
  Sizes size_a, size_b;
  as::MatmulOptions options = {};
};

std::string text_of(const Sizes& sizes) {
  std::string text;
  for (const int64_t size : sizes) text += (text.empty() ? "[" : ", ") + std::to_string(size);
  return text + "]";
}

// Sizes from `known` on (counted from the first axis) are constants, the others symbols: equal ones the same.
Case product(Sizes a, Sizes b, as::MatmulOptions options, int known_a, int known_b) {
  const auto spec = [](const Sizes& sizes, int known) {
    as::Shape shape;
    for (int axis = 0; axis < static_cast<int>(sizes.size()); ++axis) {
      const int64_t size = sizes[static_cast<size_t>(axis)];
      shape.push_back(axis >= known || size == 1 ? as::Dim(size) : as::dim("of_" + std::to_string(size)));
    }
    return as::TensorSpec{as::f32, shape, {}};
  };
  const char* const turned = "^T";
  return {text_of(a) + (options.transpose_a ? turned : "") + " x " + text_of(b) + (options.transpose_b ? turned : ""),
          spec(a, known_a),
          spec(b, known_b),
          a,
          b,
          options};
}

std::vector<Case> all_cases() {
  const as::MatmulOptions plain, left{.transpose_a = true}, right{.transpose_b = true}, both{.transpose_a = true, .transpose_b = true};
  std::vector<Case> cases;
  for (const auto& [rows, length] : {std::pair<int64_t, int64_t>{32, 128},
                                     {256, 1024},
                                     {1024, 256},
                                     {1024, 1024},
                                     {4096, 1024},
                                     {64, 16384},
                                     {1024, 4096},
                                     {1024, 2048},
                                     {4096, 4096},
                                     {1000, 2},
                                     {1000, 4},
                                     {1000, 8},
                                     {1000, 16},
                                     {1000, 32},
                                     {1000, 64}}) {
    cases.push_back(product({rows, length}, {length, 1}, plain, 1, 0));
    cases.push_back(product({rows, length}, {rows, 1}, left, 1, 1));
    cases.push_back(product({rows, 1}, {length, 1}, right, 1, 0));
  }
  for (const int64_t size : {128, 1024}) {
    cases.push_back(product({1, size}, {size, size}, plain, 2, 2));
    cases.push_back(product({1, size}, {size, size}, right, 2, 2));
  }
  for (const int64_t size : {1000, 1000000}) cases.push_back(product({1, size}, {size, 1}, plain, 2, 2));
  cases.push_back(product({64, 32, 128}, {64, 128, 1}, plain, 3, 3));
  cases.push_back(product({64, 1, 32}, {64, 32, 128}, plain, 3, 3));
  cases.push_back(product({8, 1, 512}, {8, 512, 512}, plain, 3, 3));
  for (const int64_t size : {2, 3, 4, 6, 8}) {
    for (const as::MatmulOptions& options : {plain, left, right, both})
      cases.push_back(product({10000, size, size}, {10000, size, size}, options, 1, 1));
  }
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{2, 32, 2}, {2, 128, 2}, {4, 16, 4}, {16, 4, 4}, {4, 4, 16}, {32, 2, 8}}) {
    cases.push_back(product({10000, m, k}, {10000, k, n}, plain, 1, 1));
    cases.push_back(product({10000, m, k}, {10000, n, k}, right, 1, 1));
    cases.push_back(product({10000, k, m}, {10000, k, n}, left, 1, 1));
  }
  cases.push_back(product({3, 3}, {3, 3}, plain, 0, 0));
  cases.push_back(product({8, 8}, {8, 8}, plain, 0, 0));
  cases.push_back(product({8, 8}, {8, 8}, right, 0, 0));
  return cases;
}

auto compiled(const Case& each, const Tensor& a, const Tensor& b, bool expanded) {
  std::optional<as::ScopedWithout> without;
  if (!expanded) without.emplace("expand_products");
  const auto program = as::function([options = each.options](Tensor x, Tensor y) { return as::matmul(x, y, options); },
                                    {.name = "product", .signature = {each.a, each.b}});
  program(a, b);
  return program;
}

void measure(const Case& each) {
  const Tensor a = as::random::normal(as::Shape(each.size_a)), b = as::random::normal(as::Shape(each.size_b));
  const auto library = compiled(each, a, b, false), loops = compiled(each, a, b, true);
  const double once = bench::milliseconds([&] { library(a, b); });
  const int calls = std::clamp(static_cast<int>(0.5 / once), 1, 200);
  const auto time = [&](const auto& program) {
    return 1e3 / calls * bench::milliseconds([&] {
             for (int i = 0; i < calls; ++i) program(a, b);
           });
  };
  std::vector<double> with_library, with_loops, ratios;
  for (int round = 0; round < 31; ++round) {
    with_library.push_back(time(library));
    with_loops.push_back(time(loops));
    ratios.push_back(with_loops.back() / with_library.back());
  }
  std::printf("%-44s %9.2f us %9.2f us %6.2f\n", each.name.c_str(), bench::median(with_library), bench::median(with_loops),
              bench::median(ratios));
}

}  // namespace

int main(int count, char** arguments) {
  std::printf("%-44s %12s %12s %6s\n", "product", "library", "loops", "ratio");
  for (const Case& each : all_cases()) {
    if (count < 2 || each.name.find(arguments[1]) != std::string::npos) measure(each);
  }
}
