// einsum, outer, tensordot, dot and vdot against plain loops; subscripts that are refused.
#include "autodiff/finite_differences.h"
#include "ops/expect_error.h"
#include "ops/expect_traced.h"

#include <anyshape/error.h>

#include <map>
#include <string>

namespace anyshape {
namespace {

using Integers = std::vector<int32_t>;

// Sums over all values of all letters, one term after the other: slow and obvious. Letters only, result given.
Tensor plain_einsum(const std::vector<std::string>& terms, const std::string& result, const std::vector<Tensor>& operands) {
  std::map<char, int64_t> sizes;
  std::vector<std::vector<double>> values;
  for (size_t k = 0; k < terms.size(); ++k) {
    for (size_t i = 0; i < terms[k].size(); ++i) sizes[terms[k][i]] = operands[k].shape()[static_cast<int>(i)].value();
    values.push_back(operands[k].to_vector<double>());
  }
  std::vector<char> letters;
  for (const auto& [letter, size] : sizes) letters.push_back(letter);
  std::map<char, int64_t> index;
  const auto offset = [&](const std::string& term) {
    int64_t at = 0;
    for (char letter : term) at = at * sizes[letter] + index[letter];
    return static_cast<size_t>(at);
  };
  Shape shape;
  for (char letter : result) shape.push_back(sizes[letter]);
  std::vector<double> total(shape.count().value());
  const std::function<void(size_t)> nest = [&](size_t letter) {
    if (letter == letters.size()) {
      double product = 1;
      for (size_t k = 0; k < terms.size(); ++k) product *= values[k][offset(terms[k])];
      total[offset(result)] += product;
      return;
    }
    for (int64_t i = 0; i < sizes[letters[letter]]; ++i) {
      index[letters[letter]] = i;
      nest(letter + 1);
    }
  };
  nest(0);
  return tensor(total, shape);
}

const std::map<char, int64_t> letter_sizes = {{'a', 2}, {'b', 3}, {'i', 4}, {'j', 5}, {'k', 2}, {'l', 3}, {'n', 1}, {'z', 0}};

TEST(Einsum, agrees_with_plain_loops) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"ij", "jk"}, "ik"},
      {{"ij", "jk"}, "ki"},
      {{"aij", "akj"}, "aik"},
      {{"aibj", "akbj"}, "abik"},
      {{"ij"}, "ji"},
      {{"aij"}, "j"},
      {{"i", "j"}, "ij"},
      {{"ij", "ij"}, ""},
      {{"ij", "ij"}, "i"},
      {{"ij", "ij"}, "ji"},
      {{"ii"}, ""},
      {{"ii"}, "i"},
      {{"iji"}, "j"},
      {{"iij"}, "ji"},
      {{"iii"}, "i"},
      {{"ijk", "kl", "jl"}, "i"},
      {{"ij", "jk", "kl"}, "il"},
      {{"i", "i", "i"}, ""},
      {{"ab", "ij"}, "aijb"},
      {{"ij", "k"}, "i"},
      {{"aij", "j"}, "ia"},
      {{"ji", "kj"}, "ik"},
      {{"abij", "bjk"}, "kab"},
      {{"nij", "nj"}, "i"},
      {{"iz", "zj"}, "ij"},
      {{"zi", "ij"}, "zj"},
      {{"", "ij"}, "ij"},
      {{"ii", "ij"}, "j"},
      {{"ijk", "ikl"}, "jli"},
      {{"ij", "ij", "ij"}, "j"},
      {{"abij", "abjk"}, "abik"},
      {{"ai", "bj"}, ""},
  };
  for (const auto& [terms, result] : cases) {
    std::string text;
    std::vector<Tensor> operands;
    for (size_t k = 0; k < terms.size(); ++k) {
      Shape shape;
      for (char letter : terms[k]) shape.push_back(letter_sizes.at(letter));
      operands.push_back(sample(shape, static_cast<int>(k) + 1));
      text += (k == 0 ? "" : ",") + terms[k];
    }
    text += "->" + result;
    const Tensor got = einsum(text, operands), wanted = plain_einsum(terms, result, operands);
    ASSERT_TRUE(got.shape() == wanted.shape()) << text << " gives " << to_string(got.shape());
    EXPECT_TRUE(all_close(got, wanted, {.relative = 1e-12, .absolute = 1e-12})) << text;
    check_gradients([&, text = text](const auto& in) { return einsum(text, in); }, operands);
  }
}

TEST(Einsum, broadcasts_what_an_ellipsis_stands_for) {
  const Tensor a = sample({2, 1, 3, 4}, 1), b = sample({5, 4, 2}, 2), matrix = sample({4, 2}, 3);
  EXPECT_TRUE(all_close(einsum("...ij,...jk->...ik", {a, b}), matmul(a, b)));
  EXPECT_TRUE(all_close(einsum("...ij,jk->...ik", {a, matrix}), matmul(a, matrix)));
  EXPECT_TRUE(all_close(einsum("...ij,...jk", {a, b}), matmul(a, b)));
  EXPECT_TRUE(all_close(einsum("i...->...", {a}), sum(a, {.axes = {0}})));
  EXPECT_TRUE(all_close(einsum("...,...", {a, sample({3, 1}, 4)}), a * sample({3, 1}, 4)));
  EXPECT_TRUE(einsum("...i->...", {sample({1, 1, 3}, 1)}).shape() == (Shape{1, 1}));
  EXPECT_TRUE(einsum("...i,...i->...", {sample({1, 1, 3}, 1), sample({1, 3}, 2)}).shape() == (Shape{1, 1}));
  check_gradients([](const auto& in) { return einsum("...ij,...jk->k...", in); }, {sample({2, 1, 3, 2}, 1), sample({3, 2, 2}, 2)});
}

TEST(Einsum, without_an_arrow_gives_the_letters_that_occur_once_in_order) {
  const Tensor a = sample({3, 4}, 1), b = sample({4, 2}, 2);
  EXPECT_TRUE(all_close(einsum("ij,jk", {a, b}), matmul(a, b)));
  EXPECT_TRUE(all_close(einsum("ba", {a}), transpose(a)));
  EXPECT_TRUE(all_close(einsum("ii", {sample({3, 3}, 1)}), einsum("ii->", {sample({3, 3}, 1)})));
  EXPECT_TRUE(all_close(einsum(" i j , j k -> k i ", {a, b}), transpose(matmul(a, b))));
}

TEST(Einsum, promotes_before_it_sums) {
  EXPECT_EQ(einsum("i,i->", {tensor({1, 2}), tensor({3, 4})}).item<int32_t>(), 11);
  EXPECT_EQ(einsum("i,j->j", {tensor({2147483647, 1}), tensor({1.0F, 2.0F})}).to_vector<float>()[0], 2147483648.0F);
  EXPECT_EQ(einsum("ij->ji", {cast(tensor({{1, 0}}), b8)}).dtype(), b8);
}

TEST(Einsum, traced_once_serves_every_shape) {
  const std::vector<std::vector<Tensor>> calls = {{sample({2, 3, 4}, 1), sample({2, 4, 5}, 2)},
                                                  {sample({1, 1, 1}, 1), sample({1, 1, 1}, 2)},
                                                  {sample({3, 0, 2}, 1), sample({3, 2, 1}, 2)},
                                                  {sample({4, 20, 17}, 1), sample({4, 17, 3}, 2)}};
  expect_traced_as_eager([](const auto& in) { return einsum("bij,bjk->bik", in); }, calls);
  expect_traced_as_eager([](const auto& in) { return einsum("bij,bjk->kb", in); }, calls);
  expect_traced_as_eager([](const auto& in) { return einsum("...ij,...jk->...ik", in); }, calls);
  expect_traced_as_eager(
      [](const auto& in) {
        GradientTape tape;
        tape.watch(in[0]);
        return tape.gradient(sum(exp(einsum("bij,bjk->ik", in) * 0.01)), in[0]);
      },
      calls);
  expect_traced_as_eager([](const auto& in) { return einsum("ii->i", in); },
                         {{sample({3, 3}, 1)}, {sample({1, 1}, 1)}, {sample({0, 0}, 1)}});
}

TEST(Einsum, checks_symbolic_sizes_when_they_are_known) {
  auto product = function([](Tensor a, Tensor b) { return einsum("bi,bi->b", {a, b}); }, {.name = "product"});
  EXPECT_TRUE(product(ones({2, 3}), ones({2, 3})).shape() == (Shape{2}));
  EXPECT_THROW(product(ones({2, 3}), ones({2, 4})), ShapeError);
  EXPECT_THROW(product(ones({2, 3}), ones({1, 3})), ShapeError);
  EXPECT_EQ(product.stats().traces, 1);
}

TEST(Einsum, names_the_subscript_that_is_wrong) {
  const Tensor a = ones({2, 3}), b = ones({4, 5});
  expect_error<ShapeError>(
      [&] { einsum("ij,jk->ik", {a, b}); },
      "einsum: subscript \"j\" has the sizes 3 and 4: subscripts are \"ij,jk->ik\", operand 0 is f32[2, 3], operand 1 is "
      "f32[4, 5]; expected one size per subscript.");
  expect_error<ShapeError>(
      [&] { einsum("ii", {a}); },
      "einsum: subscript \"i\" has the sizes 2 and 3: subscripts are \"ii\", operand 0 is f32[2, 3]; expected one size per "
      "subscript.");
  expect_error<ShapeError>([&] { einsum("i->i", {a}); },
                           "einsum: operand 0 has rank 2, but its subscripts name 1 axes: subscripts are \"i->i\", operand 0 is f32[2, 3]; "
                           "expected as many axes.");
  expect_error<ShapeError>(
      [&] { einsum("...,...", {a, b}); },
      "einsum: an axis of \"...\" has the sizes 2 and 4: subscripts are \"...,...\", operand 0 is f32[2, 3], operand 1 is "
      "f32[4, 5]; expected sizes that are equal or 1.");
  expect_error<ArgumentError>(
      [&] { einsum("ij,jk->iq", {a, a}); },
      "einsum: \"q\" of the result stands in no operand: subscripts are \"ij,jk->iq\"; expected letters of the operands.");
  expect_error<ArgumentError>([&] { einsum("ij->ii", {a}); },
                              "einsum: \"i\" stands twice in the result: subscripts are \"ij->ii\"; expected every letter once.");
  expect_error<ArgumentError>(
      [&] { einsum("ij,jk", {a}); },
      "einsum: subscripts for 2 operands, but 1 are given: subscripts are \"ij,jk\"; expected one part per operand, "
      "separated by commas.");
  expect_error<ArgumentError>(
      [&] { einsum("i1", {a}); },
      "einsum: \"1\" is no subscript: subscripts are \"i1\"; expected letters and \"...\", as in \"...ij,jk->...ik\".");
}

TEST(Tensordot, sums_over_counted_and_listed_axes) {
  const Tensor a = sample({2, 3, 4}, 1), b = sample({3, 4, 5}, 2), c = sample({4, 3}, 3);
  EXPECT_TRUE(all_close(tensordot(a, b), einsum("ijk,jkl->il", {a, b})));
  EXPECT_TRUE(all_close(tensordot(a, c, {1, 2}, {1, 0}), einsum("ijk,kj->i", {a, c})));
  EXPECT_TRUE(all_close(tensordot(a, c, {-1}, {0}), einsum("ijk,kl->ijl", {a, c})));
  EXPECT_TRUE(all_close(tensordot(c, c, 0), einsum("ij,kl->ijkl", {c, c})));
  EXPECT_TRUE(tensordot(sample({2, 0}, 1), sample({0, 3}, 1), 1).shape() == (Shape{2, 3}));
  check_gradients([](const auto& in) { return tensordot(in[0], in[1], {0}, {1}); }, {sample({3, 2}, 1), sample({4, 3}, 2)});
  expect_traced_as_eager(
      [](const auto& in) { return tensordot(in[0], in[1], 1); },
      {{sample({2, 3}, 1), sample({3, 4}, 2)}, {sample({1, 1}, 1), sample({1, 5}, 2)}, {sample({6, 0}, 1), sample({0, 2}, 2)}});
}

TEST(Products, outer_dot_and_vdot_as_in_numpy) {
  EXPECT_EQ(outer(tensor({1, 2}), tensor({3, 4, 5})).to_vector<int32_t>(), (Integers{3, 4, 5, 6, 8, 10}));
  EXPECT_TRUE(outer(ones({2, 2}), ones({3})).shape() == (Shape{4, 3}));
  EXPECT_TRUE(outer(ones({0}), ones({3})).shape() == (Shape{0, 3}));
  check_gradients([](const auto& in) { return outer(in[0], in[1]); }, {sample({2}, 1), sample({3}, 2)});
  EXPECT_EQ(dot(tensor({1, 2}), tensor({3, 4})).item<int32_t>(), 11);
  EXPECT_EQ(dot(2, tensor({3, 4})).to_vector<int32_t>(), (Integers{6, 8}));
  const Tensor a = sample({2, 3, 4}, 1), b = sample({5, 4, 2}, 2);
  EXPECT_TRUE(all_close(dot(a, b), einsum("ijk,akb->ijab", {a, b})));
  EXPECT_EQ(vdot(tensor({{1, 2}, {3, 4}}), tensor({{5, 6}, {7, 8}})).item<int32_t>(), 70);
  expect_traced_as_eager([](const auto& in) { return outer(in[0], in[1]); },
                         {{sample({2}, 1), sample({3}, 2)}, {sample({0}, 1), sample({1}, 2)}});
}

TEST(Products, refuse_wrong_calls) {
  const Tensor a = ones({2, 3}), b = ones({4, 5});
  expect_error<ShapeError>([&] { tensordot(a, b, 1); },
                           "tensordot: axis 1 of a and axis 0 of b differ: a is f32[2, 3], b is f32[4, 5]; expected equal sizes.");
  expect_error<ShapeError>([&] { tensordot(a, b, 3); },
                           "tensordot: cannot sum over 3 axes: a is f32[2, 3], b is f32[4, 5]; expected between 0 and 2.");
  expect_error<ShapeError>([&] { tensordot(a, b, {0, 1}, {0}); },
                           "tensordot: 2 axes of a meet 1 of b: a is f32[2, 3], b is f32[4, 5]; expected as many of each.");
  expect_error<ShapeError>([&] { tensordot(a, b, {2}, {0}); },
                           "tensordot: axis 2 is outside the rank 2: a is f32[2, 3], b is f32[4, 5]; expected -2 <= axis < 2.");
  expect_error<ShapeError>([&] { tensordot(a, a, {0, 0}, {0, 1}); },
                           "tensordot: axis 0 is named twice: a is f32[2, 3], b is f32[2, 3]; expected every axis at most once.");
  expect_error<ShapeError>([&] { vdot(a, b); },
                           "vdot: numbers of elements differ: a is f32[2, 3], b is f32[4, 5]; expected as many elements in a as in b.");
}

TEST(Matmul, f64_and_integers_agree_with_plain_loops_over_views_and_batches) {
  const auto check = [](const Tensor& a, const Tensor& b, MatmulOptions options, const std::vector<std::string>& terms,
                        const std::string& result) {
    const Tensor got = matmul(a, b, options), wanted = plain_einsum(terms, result, {cast(a, f64), cast(b, f64)});
    EXPECT_EQ(got.dtype(), a.dtype());
    ASSERT_TRUE(got.shape() == wanted.shape());
    EXPECT_TRUE(all_close(cast(got, f64), wanted));
  };
  for (const Dtype dtype : {f64, i32, i64, f32}) {
    const auto make = [&](const Shape& shape, int seed) { return cast(sample(shape, seed) * 10, dtype); };
    check(make({3, 17}, 1), make({17, 20}, 2), {}, {"ij", "jk"}, "ik");
    check(transpose(make({17, 3}, 1)), transpose(make({20, 17}, 2)), {}, {"ij", "jk"}, "ik");
    check(make({17, 3}, 1), make({20, 17}, 2), {.transpose_a = true, .transpose_b = true}, {"ji", "kj"}, "ik");
    check(make({2, 3, 4}, 1), make({2, 4, 5}, 2), {}, {"bij", "bjk"}, "bik");
    check(make({4}, 1), make({4, 5}, 2), {}, {"j", "jk"}, "k");
    check(make({3, 4}, 1), make({4}, 2), {}, {"ij", "j"}, "i");
    check(make({40}, 1), make({40}, 2), {}, {"i", "i"}, "");
    check(make({2, 3, 4}, 1), make({4}, 2), {}, {"bij", "j"}, "bi");
  }
}

}  // namespace
}  // namespace anyshape
