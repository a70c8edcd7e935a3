// Samples of ops that rearrange one tensor: a case is a call and a map from indices of the result to indices of x.
#include "check/op_samples.h"

#include <anyshape/ops.h>

#include <algorithm>

namespace anyshape::check {
namespace {

struct Arrangement {
  int rank;
  std::function<Tensor(const Tensor&)> call;
  std::function<Sizes(const Sizes&)> sizes;        // of the result, from x's
  std::function<Sizes(Sizes, const Sizes&)> from;  // the index in x of an element of the result; empty: a zero
  bool one_inside = false;                         // axis 1 has the size 1
};

OpSample arrange_sample(const std::string& name, std::vector<Arrangement> cases, std::vector<WrongCall> wrong_calls) {
  OpSample sample;
  sample.name = name;
  sample.dtypes = {f32, f64, i32, u8, b8};
  sample.cases = static_cast<int>(cases.size());
  sample.inputs = [cases](Random& random, Dtype dtype, int number) {
    const Arrangement& how = cases[static_cast<size_t>(number)];
    Sizes sizes = random.sizes(how.rank);
    if (how.one_inside) sizes[1] = 1;
    return std::vector<InputPlan>{{sizes, dtype, {}}};
  };
  sample.call = [cases](Tensors in, int number) { return std::vector<Tensor>{cases[static_cast<size_t>(number)].call(in[0])}; };
  sample.reference = [cases](Flats in, int number) {
    const Arrangement& how = cases[static_cast<size_t>(number)];
    const Flat& x = in[0];
    return std::vector<Flat>{flat_from(x.dtype, how.sizes(x.sizes), [&](const Sizes& index) {
      const Sizes source = how.from(index, x.sizes);
      return source.empty() && x.rank() > 0 ? 0.0 : x.values[static_cast<size_t>(ravel(source, x.sizes))];
    })};
  };
  sample.differentiable = {0};
  sample.second_order = true;
  sample.wrong = std::move(wrong_calls);
  sample.wrong.push_back(wrong<ArgumentError>([cases] { return cases[0].call(Tensor()); }, {"expected a tensor with a value"}));
  return sample;
}

Sizes same(const Sizes& sizes) { return sizes; }

OpSample expand_dims_sample() {
  const auto inserted = [](int64_t at) {
    return Arrangement{2, [at](const Tensor& x) { return expand_dims(x, at); },
                       [at](Sizes n) { return n.insert(n.begin() + (at < 0 ? at + 3 : at), 1), n; },
                       [at](Sizes index, const Sizes&) { return index.erase(index.begin() + (at < 0 ? at + 3 : at)), index; }};
  };
  return arrange_sample("expand_dims", {inserted(0), inserted(1), inserted(-1)},
                        {wrong<ShapeError>([] { return expand_dims(ones({2}), 3); }, {"expand_dims: axis 3 is outside the rank 2"}),
                         wrong<ShapeError>([] { return expand_dims(ones({2}), -3); }, {"expand_dims: axis -3 is outside the rank 2"})});
}

OpSample squeeze_sample() {
  const Arrangement middle{3, [](const Tensor& x) { return squeeze(x, {1}); }, [](const Sizes& n) { return Sizes{n[0], n[2]}; },
                           [](Sizes index, const Sizes&) { return index.insert(index.begin() + 1, 0), index; }, true};
  return arrange_sample("squeeze", {middle},
                        {wrong<ShapeError>([] { return squeeze(ones({2, 1}), {0}); }, {"squeeze: axis 0 has the size 2", "f32[2, 1]"}),
                         wrong<ShapeError>([] { return squeeze(ones({2, 1}), {2}); }, {"squeeze: axis 2 is outside the rank 2"}),
                         wrong<ShapeError>([] { return squeeze(ones({2, 1}), {1, -1}); }, {"squeeze: axis 1 is named twice"})});
}

OpSample moveaxis_sample() {
  const Arrangement first_last{3, [](const Tensor& x) { return moveaxis(x, 0, -1); },
                               [](const Sizes& n) { return Sizes{n[1], n[2], n[0]}; },
                               [](const Sizes& i, const Sizes&) { return Sizes{i[2], i[0], i[1]}; }};
  const Arrangement swapped{3, [](const Tensor& x) { return swapaxes(x, 0, 2); }, [](const Sizes& n) { return Sizes{n[2], n[1], n[0]}; },
                            [](const Sizes& i, const Sizes&) { return Sizes{i[2], i[1], i[0]}; }};
  return arrange_sample("moveaxis and swapaxes", {first_last, swapped},
                        {wrong<ShapeError>([] { return moveaxis(ones({2, 3}), 2, 0); }, {"moveaxis: axis 2 is outside the rank 2"}),
                         wrong<ShapeError>([] { return swapaxes(ones({2, 3}), 0, -3); }, {"swapaxes: axis -3 is outside the rank 2"})});
}

OpSample steps_sample() {
  const Arrangement second{1, [](const Tensor& x) { return slice(x, {{.step = 2}}); }, [](const Sizes& n) { return Sizes{(n[0] + 1) / 2}; },
                           [](const Sizes& i, const Sizes&) { return Sizes{2 * i[0]}; }};
  const Arrangement backwards{2, [](const Tensor& x) { return slice(x, {{}, {.begin = -1, .step = -3}}); },
                              [](const Sizes& n) { return Sizes{n[0], (n[1] + 2) / 3}; },
                              [](const Sizes& i, const Sizes& n) { return Sizes{i[0], n[1] - 1 - 3 * i[1]}; }};
  const Arrangement inside{1, [](const Tensor& x) { return slice(x, {{.begin = 1, .end = -1, .step = 2}}); },
                           [](const Sizes& n) { return Sizes{n[0] <= 2 ? 0 : (n[0] - 1) / 2}; },
                           [](const Sizes& i, const Sizes&) { return Sizes{1 + 2 * i[0]}; }};
  return arrange_sample("slice with steps", {second, backwards, inside},
                        {wrong<ShapeError>([] { return slice(ones({3}), {{.step = 0}}); }, {"slice: the step along axis 0 is 0", "f32[3]"}),
                         wrong<ShapeError>([] { return slice(ones({3}), {{.step = 2}, {.step = 2}}); }, {"slice: 2 ranges for 1 axes"})});
}

OpSample flip_sample() {
  const Arrangement all{2, [](const Tensor& x) { return flip(x); }, same,
                        [](const Sizes& i, const Sizes& n) { return Sizes{n[0] - 1 - i[0], n[1] - 1 - i[1]}; }};
  const Arrangement last{3, [](const Tensor& x) { return flip(x, {-1}); }, same,
                         [](const Sizes& i, const Sizes& n) { return Sizes{i[0], i[1], n[2] - 1 - i[2]}; }};
  return arrange_sample("flip", {all, last},
                        {wrong<ShapeError>([] { return flip(ones({2}), {1}); }, {"flip: axis 1 is outside the rank 1"}),
                         wrong<ShapeError>([] { return flip(ones({2}), {0, -1}); }, {"flip: axis 0 is named twice"})});
}

int64_t wrapped(int64_t i, int64_t n) { return (i % n + n) % n; }

OpSample roll_sample() {
  const Arrangement one{2, [](const Tensor& x) { return roll(x, 3, {.axis = 1}); }, same,
                        [](const Sizes& i, const Sizes& n) { return Sizes{i[0], wrapped(i[1] - 3, n[1])}; }};
  const Arrangement flat{2, [](const Tensor& x) { return roll(x, -2); }, same,
                         [](const Sizes& i, const Sizes& n) { return unravel(wrapped(ravel(i, n) + 2, count_of(n)), n); }};
  return arrange_sample("roll", {one, flat},
                        {wrong<ShapeError>([] { return roll(ones({2}), 1, {.axis = 1}); }, {"roll: axis 1 is outside the rank 1"}),
                         wrong<ShapeError>([] { return roll(ones({2}), 1, {.axis = -2}); }, {"roll: axis -2 is outside the rank 1"})});
}

OpSample tile_sample() {
  const Arrangement both{2, [](const Tensor& x) { return tile(x, {2, 3}); }, [](const Sizes& n) { return Sizes{2 * n[0], 3 * n[1]}; },
                         [](const Sizes& i, const Sizes& n) { return Sizes{i[0] % n[0], i[1] % n[1]}; }};
  const Arrangement added{1, [](const Tensor& x) { return tile(x, {2, 1}); }, [](const Sizes& n) { return Sizes{2, n[0]}; },
                          [](const Sizes& i, const Sizes&) { return Sizes{i[1]}; }};
  const Arrangement never{2, [](const Tensor& x) { return tile(x, {0}); }, [](const Sizes& n) { return Sizes{n[0], 0}; },
                          [](const Sizes& i, const Sizes&) { return i; }};
  return arrange_sample("tile", {both, added, never},
                        {wrong<ShapeError>([] { return tile(ones({2}), {-1}); }, {"tile: -1 repeats", "f32[2]"}),
                         wrong<ShapeError>([] { return tile(ones({2}), std::vector<Dim>(9, 1)); }, {"rank"})});
}

OpSample repeat_sample() {
  const Arrangement along{2, [](const Tensor& x) { return repeat(x, 3, {.axis = 0}); },
                          [](const Sizes& n) { return Sizes{3 * n[0], n[1]}; },
                          [](const Sizes& i, const Sizes&) { return Sizes{i[0] / 3, i[1]}; }};
  const Arrangement flat{2, [](const Tensor& x) { return repeat(x, 2); }, [](const Sizes& n) { return Sizes{2 * n[0] * n[1]}; },
                         [](const Sizes& i, const Sizes& n) { return unravel(i[0] / 2, n); }};
  return arrange_sample("repeat", {along, flat},
                        {wrong<ShapeError>([] { return repeat(ones({2}), -1); }, {"repeat: -1 repeats"}),
                         wrong<ShapeError>([] { return repeat(ones({2}), 1, {.axis = 1}); }, {"repeat: axis 1 is outside the rank 1"})});
}

OpSample triangle_sample() {
  const auto cut = [](bool lower, int64_t offset) {
    return Arrangement{3, [=](const Tensor& x) { return lower ? tril(x, {.offset = offset}) : triu(x, {.offset = offset}); }, same,
                       [=](const Sizes& i, const Sizes&) { return (lower ? i[2] <= i[1] + offset : i[2] >= i[1] + offset) ? i : Sizes{}; }};
  };
  return arrange_sample("tril and triu", {cut(true, 0), cut(true, -2), cut(false, 0), cut(false, 1)},
                        {wrong<ShapeError>([] { return tril(ones({2})); }, {"tril: no matrix", "f32[2]"}),
                         wrong<ShapeError>([] { return triu(1.0F); }, {"triu: no matrix"})});
}

OpSample diag_sample() {
  const Arrangement taken{3, [](const Tensor& x) { return diag(x, {.offset = 1}); },
                          [](const Sizes& n) { return Sizes{n[0], std::max<int64_t>(0, std::min(n[1], n[2] - 1))}; },
                          [](const Sizes& i, const Sizes&) { return Sizes{i[0], i[1], i[1] + 1}; }};
  const Arrangement below{2, [](const Tensor& x) { return diag(x, {.offset = -2}); },
                          [](const Sizes& n) { return Sizes{std::max<int64_t>(0, std::min(n[0] - 2, n[1]))}; },
                          [](const Sizes& i, const Sizes&) { return Sizes{i[0] + 2, i[0]}; }};
  const Arrangement made{1, [](const Tensor& x) { return diag(x, {.offset = -1}); },
                         [](const Sizes& n) { return Sizes{n[0] + 1, n[0] + 1}; },
                         [](const Sizes& i, const Sizes&) { return i[0] == i[1] + 1 ? Sizes{i[1]} : Sizes{}; }};
  const Arrangement batch{4, [](const Tensor& x) { return diag(x); },
                          [](const Sizes& n) { return Sizes{n[0], n[1], std::min(n[2], n[3])}; },
                          [](const Sizes& i, const Sizes&) { return Sizes{i[0], i[1], i[2], i[2]}; }};
  const Arrangement main{3, [](const Tensor& x) { return diag(x); }, [](const Sizes& n) { return Sizes{n[0], std::min(n[1], n[2])}; },
                         [](const Sizes& i, const Sizes&) { return Sizes{i[0], i[1], i[1]}; }};
  OpSample sample = arrange_sample("diag", {main, taken, below, made, batch},
                                   {wrong<ShapeError>([] { return diag(1.0F); }, {"diag: no vector or matrix"}),
                                    wrong<ArgumentError>([] { return diag(Tensor(), {.offset = 1}); }, {"tensor"})});
  sample.ops = {"diagonal", "diagonal_matrix"};
  return sample;
}

int64_t mirrored(int64_t i, int64_t n, bool with_edge) {
  if (i < 0) return with_edge ? -1 - i : -i;
  return i < n ? i : with_edge ? 2 * n - 1 - i : 2 * n - 2 - i;
}

OpSample pad_sample() {
  const Arrangement constant{
      2, [](const Tensor& x) { return pad(x, {{1, 2}, {0, 3}}); }, [](const Sizes& n) { return Sizes{n[0] + 3, n[1] + 3}; },
      [](const Sizes& i, const Sizes& n) { return i[0] >= 1 && i[0] <= n[0] && i[1] < n[1] ? Sizes{i[0] - 1, i[1]} : Sizes{}; }};
  const Arrangement one_axis{3, [](const Tensor& x) { return pad(x, {{2, 0}}); },
                             [](const Sizes& n) { return Sizes{n[0] + 2, n[1], n[2]}; },
                             [](const Sizes& i, const Sizes&) { return i[0] >= 2 ? Sizes{i[0] - 2, i[1], i[2]} : Sizes{}; }};
  OpSample sample = arrange_sample(
      "pad", {constant, one_axis},
      {wrong<ShapeError>([] { return pad(ones({2}), {{1, 1}, {1, 1}}); }, {"pad: 2 widths for 1 axes", "f32[2]"}),
       wrong<ShapeError>([] { return pad(ones({2}), {{-1, 0}}); }, {"pad: width -1 along axis 0"}),
       wrong<ShapeError>([] { return pad(ones({2}), {{2, 0}}, {.mode = PadMode::Reflect}); }, {"pad: width 2 along axis 0 of size 2"}),
       wrong<ShapeError>([] { return pad(ones({0}), {{1, 0}}, {.mode = PadMode::Edge}); }, {"pad"})});
  sample.ops = {"pad"};
  return sample;
}

OpSample mirror_sample() {
  const auto bordered = [](PadMode mode, auto from) {
    return Arrangement{1, [mode](const Tensor& x) { return pad(x, {{1, 2}}, {.mode = mode}); },
                       [](const Sizes& n) { return Sizes{n[0] + 3}; },
                       [from](const Sizes& i, const Sizes& n) { return Sizes{from(i[0] - 1, n[0])}; }};
  };
  OpSample sample = arrange_sample(
      "pad with borders",
      {bordered(PadMode::Edge, [](int64_t i, int64_t n) { return std::clamp<int64_t>(i, 0, n - 1); }),
       bordered(PadMode::Reflect, [](int64_t i, int64_t n) { return mirrored(i, n, false); }),
       bordered(PadMode::Symmetric, [](int64_t i, int64_t n) { return mirrored(i, n, true); })},
      {wrong<ShapeError>([] { return pad(ones({0}), {{1, 0}}, {.mode = PadMode::Symmetric}); }, {"pad"}),
       wrong<ShapeError>([] { return pad(ones({2}), {{3, 0}}, {.mode = PadMode::Symmetric}); }, {"pad: width 3 along axis 0"})});
  // Wide enough for every mode to find what to repeat.
  const auto inputs = sample.inputs;
  sample.inputs = [inputs](Random& random, Dtype dtype, int number) {
    std::vector<InputPlan> plans = inputs(random, dtype, number);
    for (int64_t& size : plans[0].sizes) size = std::max<int64_t>(size, 3);
    return plans;
  };
  return sample;
}

}  // namespace

std::vector<OpSample> arrange_samples() {
  return {expand_dims_sample(), squeeze_sample(), moveaxis_sample(), steps_sample(), flip_sample(), roll_sample(),
          tile_sample(),        repeat_sample(),  triangle_sample(), diag_sample(),  pad_sample(),  mirror_sample()};
}

}  // namespace anyshape::check
