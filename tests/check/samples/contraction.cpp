// Samples of products.
#include "check/op_samples.h"

#include <anyshape/ops.h>

namespace anyshape::check {
namespace {

struct MatmulCase {
  int rank_a, rank_b;
  bool transpose_a = false, transpose_b = false;
};
constexpr MatmulCase matmul_cases[] = {
    {2, 2}, {2, 2, true}, {2, 2, false, true}, {2, 2, true, true}, {1, 2}, {2, 1}, {1, 1}, {3, 2}, {2, 3},
    {3, 3}, {4, 3},       {3, 3, true, true}};

std::vector<InputPlan> matmul_inputs(Random& random, Dtype dtype, int number) {
  const MatmulCase how = matmul_cases[number];
  const int64_t m = random.size(), n = random.size(), k = random.size();
  const int64_t batch[] = {random.every >= 0 ? random.every : random.between(0, 3),
                           random.every >= 0 ? random.every : random.between(1, 4)};
  const auto sizes = [&](int rank, int64_t rows, int64_t columns, bool transpose) {
    if (rank == 1) return Sizes{k};
    Sizes result;
    for (int axis = rank - 2; axis > 0; --axis) result.push_back(random.chance(25) ? 1 : batch[axis % 2]);
    result.push_back(transpose ? columns : rows);
    result.push_back(transpose ? rows : columns);
    return result;
  };
  return {{sizes(how.rank_a, m, k, how.transpose_a), dtype, ordinary_numbers},
          {sizes(how.rank_b, k, n, how.transpose_b), dtype, ordinary_numbers}};
}

// Vectors as matrices of one row and one column, transposes undone.
Flat as_matrices(const Flat& x, bool left, bool transpose) {
  if (x.rank() == 1) return {x.dtype, left ? Sizes{1, x.sizes[0]} : Sizes{x.sizes[0], 1}, x.values};
  if (!transpose) return x;
  Sizes sizes = x.sizes;
  std::swap(sizes[sizes.size() - 1], sizes[sizes.size() - 2]);
  return flat_from(x.dtype, sizes, [&](Sizes index) {
    std::swap(index[index.size() - 1], index[index.size() - 2]);
    return x.values[static_cast<size_t>(ravel(index, x.sizes))];
  });
}

std::vector<Flat> matmul_reference(Flats in, int number) {
  const MatmulCase how = matmul_cases[number];
  const Flat a = as_matrices(in[0], true, how.transpose_a), b = as_matrices(in[1], false, how.transpose_b);
  const int64_t m = a.sizes[a.sizes.size() - 2], k = a.sizes.back(), n = b.sizes.back();
  Sizes sizes = broadcast_sizes({a.sizes.begin(), a.sizes.end() - 2}, {b.sizes.begin(), b.sizes.end() - 2});
  sizes.push_back(m);
  sizes.push_back(n);
  Flat result = flat_from(a.dtype, sizes, [&](const Sizes& index) {
    double total = 0;
    for (int64_t i = 0; i < k; ++i) {
      const auto at = [&](const Flat& x, int64_t row, int64_t column) {
        Sizes own(x.sizes.size());
        const size_t added = index.size() - own.size();
        for (size_t axis = 0; axis + 2 < own.size(); ++axis) own[axis] = x.sizes[axis] == 1 ? 0 : index[axis + added];
        own[own.size() - 2] = row;
        own[own.size() - 1] = column;
        return x.values[static_cast<size_t>(ravel(own, x.sizes))];
      };
      total += at(a, index[index.size() - 2], i) * at(b, i, index.back());
    }
    return total;
  });
  if (in[1].rank() == 1) result.sizes.pop_back();
  if (in[0].rank() == 1) result.sizes.erase(result.sizes.end() - (in[1].rank() == 1 ? 1 : 2));
  return {std::move(result)};
}

OpSample matmul_sample() {
  OpSample sample;
  sample.name = "matmul";
  sample.ops = {"matmul"};
  sample.call = [](Tensors in, int number) {
    const MatmulCase how = matmul_cases[number];
    return std::vector<Tensor>{matmul(in[0], in[1], {.transpose_a = how.transpose_a, .transpose_b = how.transpose_b})};
  };
  sample.dtypes = {f32, f64, i32, i64, u8};
  sample.cases = static_cast<int>(std::size(matmul_cases));
  sample.inputs = matmul_inputs;
  sample.reference = matmul_reference;
  sample.f32 = {1e-5, 1e-4};
  sample.differentiable = {0, 1};
  sample.second_order = true;
  sample.same_bits = false;
  sample.wrong = {
      wrong<ShapeError>([] { return matmul(ones({2, 3}), ones({2, 3})); },
                        {"matmul: inner sizes differ", "a is f32[2, 3], b is f32[2, 3]"}),
      wrong<ShapeError>([] { return matmul(1.0F, ones({2, 3})); }, {"matmul: a scalar has no axis to sum over"}),
      wrong<ShapeError>([] { return matmul(ones({2, 2, 3}), ones({3, 3, 1})); }, {"matmul: leading axes do not broadcast", "f32[2, 2, 3]"}),
      wrong<ShapeError>([] { return matmul(ones({2, 3}), ones({3, 2}), {.transpose_b = true}); }, {"a.shape[-1] == b.shape[-1]"}),
  };
  return sample;
}

// Products by name: every letter is a loop, and what the result does not name is summed.
struct EinsumCase {
  const char* subscripts;
  std::vector<std::string> operands;
  std::string result;
};
const std::vector<EinsumCase>& einsum_cases() {
  static const std::vector<EinsumCase> cases = {
      {"ij,jk->ik", {"ij", "jk"}, "ik"}, {"bij,bkj->bik", {"bij", "bkj"}, "bik"}, {"ij->j", {"ij"}, "j"},
      {"i,j->ij", {"i", "j"}, "ij"},     {"ij,ij->", {"ij", "ij"}, ""},           {"ijk->kij", {"ijk"}, "kij"},
      {"bii->bi", {"bii"}, "bi"},        {"bii,bij->bj", {"bii", "bij"}, "bj"},   {"ijij->ji", {"ijij"}, "ji"},
      {"biii->b", {"biii"}, "b"},
  };
  return cases;
}

Flat einsum_reference(Flats in, const EinsumCase& how) {
  std::string letters = how.result;
  for (const std::string& operand : how.operands) {
    for (const char letter : operand) {
      if (letters.find(letter) == std::string::npos) letters += letter;
    }
  }
  const auto size_of_letter = [&](char letter) {
    for (size_t k = 0; k < how.operands.size(); ++k) {
      const size_t axis = how.operands[k].find(letter);
      if (axis != std::string::npos) return in[k].sizes[axis];
    }
    return int64_t{0};
  };
  Sizes all, sizes;
  for (const char letter : letters) all.push_back(size_of_letter(letter));
  for (const char letter : how.result) sizes.push_back(size_of_letter(letter));
  Flat result = flat_from(in[0].dtype, sizes, [](const Sizes&) { return 0.0; });
  for (int64_t i = 0; i < count_of(all); ++i) {
    const Sizes at = unravel(i, all);
    const auto part = [&](const std::string& names) {
      Sizes index;
      for (const char letter : names) index.push_back(at[letters.find(letter)]);
      return index;
    };
    double product = 1;
    for (size_t k = 0; k < how.operands.size(); ++k)
      product *= in[k].values[static_cast<size_t>(ravel(part(how.operands[k]), in[k].sizes))];
    result.values[static_cast<size_t>(ravel(part(how.result), sizes))] += product;
  }
  return result;
}

OpSample einsum_sample() {
  OpSample sample;
  sample.name = "einsum";
  sample.dtypes = {f32, f64, i32, u8};
  sample.cases = static_cast<int>(einsum_cases().size());
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    random.largest = std::min<int64_t>(random.largest, 17);
    const std::string letters = "bijk";
    const Sizes sizes = {random.size(), random.size(), random.size(), random.size()};
    std::vector<InputPlan> plans;
    for (const std::string& operand : einsum_cases()[static_cast<size_t>(number)].operands) {
      InputPlan plan{{}, dtype, ordinary_numbers};
      for (const char letter : operand) plan.sizes.push_back(sizes[letters.find(letter)]);
      plans.push_back(plan);
    }
    return plans;
  };
  sample.call = [](Tensors in, int number) {
    return std::vector<Tensor>{einsum(einsum_cases()[static_cast<size_t>(number)].subscripts, {in.begin(), in.end()})};
  };
  sample.reference = [](Flats in, int number) {
    return std::vector<Flat>{einsum_reference(in, einsum_cases()[static_cast<size_t>(number)])};
  };
  sample.f32 = {1e-5, 1e-3};
  sample.halves = false;  // products are rounded before they are added up, and what is left may be as small as that
  sample.differentiable = {0};
  sample.same_bits = false;
  sample.wrong = {
      wrong<ArgumentError>([] { return einsum("ij,jk->ik", {ones({2, 2})}); }, {"einsum: subscripts for 2 operands, but 1 are given"}),
      wrong<ShapeError>([] { return einsum("ij,jk->ik", {ones({2, 2}), ones({3, 2})}); },
                        {"einsum: subscript \"j\" has the sizes 2 and 3"}),
      wrong<ArgumentError>([] { return einsum("ij->ik", {ones({2, 2})}); }, {"einsum: \"k\" of the result stands in no operand"}),
      wrong<ShapeError>([] { return einsum("ijk->i", {ones({2, 2})}); }, {"einsum: operand 0 has rank 2"}),
  };
  return sample;
}

OpSample outer_sample() {
  OpSample sample = einsum_sample();
  sample.name = "outer, tensordot and vdot";
  sample.halves = true;
  sample.cases = 3;
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    random.largest = std::min<int64_t>(random.largest, 17);
    const int64_t n = random.size(), m = random.size(), k = random.size();
    const Sizes a = number == 0 ? Sizes{n} : number == 1 ? Sizes{n, m, k} : Sizes{n, m};
    const Sizes b = number == 0 ? Sizes{m} : number == 1 ? Sizes{m, k, n} : Sizes{n, m};
    return std::vector<InputPlan>{{a, dtype, ordinary_numbers}, {b, dtype, ordinary_numbers}};
  };
  sample.call = [](Tensors in, int number) {
    return std::vector<Tensor>{number == 0 ? outer(in[0], in[1]) : number == 1 ? tensordot(in[0], in[1], 2) : vdot(in[0], in[1])};
  };
  sample.reference = [](Flats in, int number) {
    const EinsumCase cases[] = {{"", {"i", "j"}, "ij"}, {"", {"ijk", "jkl"}, "il"}, {"", {"ij", "ij"}, ""}};
    return std::vector<Flat>{einsum_reference(in, cases[number])};
  };
  sample.differentiable = {0, 1};
  sample.second_order = true;
  sample.wrong = {
      wrong<ShapeError>([] { return tensordot(ones({2, 3}), ones({2, 3}), 1); }, {"tensordot: axis 1 of a and axis 0 of b differ"}),
      wrong<ShapeError>([] { return tensordot(ones({2, 3}), ones({2, 3}), 3); }, {"tensordot: cannot sum over 3 axes"}),
      wrong<ShapeError>([] { return tensordot(ones({2}), ones({2}), {1}, {0}); }, {"tensordot: axis 1 is outside the rank 1"}),
  };
  return sample;
}

}  // namespace

std::vector<OpSample> contraction_samples() { return {matmul_sample(), einsum_sample(), outer_sample()}; }

}  // namespace anyshape::check
