// Datasets: lazy, gone through again and again with the same result, errors with the element's number.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <sstream>

namespace anyshape {
namespace {

// 0, 1, ..., n - 1 as single numbers.
Dataset numbers(int64_t n) { return Dataset::from(arange(n)); }

std::vector<int64_t> values_of(const Dataset& data) {
  std::vector<int64_t> values;
  for (const Example& example : data) {
    for (const int64_t each : cast(example.x.single(), Dtype::i64).to_vector<int64_t>()) values.push_back(each);
  }
  return values;
}

using Values = std::vector<int64_t>;

TEST(Dataset, gives_rows_again_and_again) {
  const Dataset data = Dataset::from(tensor({{1, 2}, {3, 4}}), tensor({5, 6}), tensor({0.5F, 1.5F}));
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<std::string> seen;
    for (const Example& example : data) {
      EXPECT_EQ(example.x.single().shape(), Shape({2}));
      EXPECT_EQ(example.y.single().rank(), 0);
      seen.push_back(to_string(example.x.single()) + to_string(example.y.single()) + to_string(example.sample_weight.single()));
    }
    EXPECT_EQ(seen, (std::vector<std::string>{"[1 2]50.5", "[3 4]61.5"}));
  }
  EXPECT_EQ(data.size(), 2);
  EXPECT_FALSE(data.is_batched());
}

TEST(Dataset, outlives_its_handle_in_an_iterator) {
  Dataset::Iterator iterator = numbers(3).begin();
  EXPECT_EQ(iterator->x.single().item<int>(), 0);
  ++iterator;
  EXPECT_EQ(iterator->x.single().item<int>(), 1);
}

TEST(Dataset, maps_filters_takes_skips_and_repeats) {
  const Dataset doubled = numbers(6).map([](const Example& e) { return Example{.x = e.x.single() * 2}; });
  EXPECT_EQ(values_of(doubled), (Values{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(doubled.size(), 6);
  const Dataset large = doubled.filter([](const Example& e) { return e.x.single().item<int>() > 3; });
  EXPECT_EQ(values_of(large), (Values{4, 6, 8, 10}));
  EXPECT_EQ(large.size(), std::nullopt);
  EXPECT_EQ(values_of(numbers(6).take(2)), (Values{0, 1}));
  EXPECT_EQ(values_of(numbers(6).take(9)), (Values{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values_of(numbers(6).skip(4)), (Values{4, 5}));
  EXPECT_EQ(values_of(numbers(6).skip(7)), Values());
  EXPECT_EQ(values_of(numbers(2).repeat(3)), (Values{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(values_of(numbers(2).repeat(0)), Values());
  EXPECT_EQ(values_of(numbers(2).repeat().take(5)), (Values{0, 1, 0, 1, 0}));
  EXPECT_EQ(values_of(numbers(0).repeat()), Values());
  EXPECT_TRUE(numbers(2).repeat().is_endless());
  EXPECT_FALSE(numbers(2).repeat().take(5).is_endless());
  EXPECT_EQ(numbers(2).repeat(3).size(), 6);
}

TEST(Dataset, shuffles_by_its_seed_and_anew_in_each_pass) {
  const Dataset data = numbers(50).shuffle({.buffer = 50, .seed = 3});
  const Values first = values_of(data), second = values_of(data);
  EXPECT_NE(first, second);
  EXPECT_EQ(first, values_of(numbers(50).shuffle({.buffer = 50, .seed = 3})));
  Values sorted = first;
  std::ranges::sort(sorted);
  Values all(50);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(sorted, all);
  const Dataset fixed = numbers(50).shuffle({.buffer = 50, .seed = 3, .reshuffle_each_iteration = false});
  EXPECT_EQ(values_of(fixed), values_of(fixed));
  // Rows are shuffled by their numbers, other elements themselves: one order.
  const Dataset others = numbers(50).filter([](const Example&) { return true; });
  for (const int64_t buffer : {1, 7, 50, 99}) {
    EXPECT_EQ(values_of(numbers(50).shuffle({.buffer = buffer, .seed = 9})), values_of(others.shuffle({.buffer = buffer, .seed = 9})));
    EXPECT_EQ(values_of(numbers(50).shuffle({.buffer = buffer, .seed = 9}).batch(8)),
              values_of(others.shuffle({.buffer = buffer, .seed = 9})));
  }
  // A buffer of b moves no element forward by b or more.
  const Values near = values_of(numbers(50).shuffle({.buffer = 5, .seed = 1}));
  for (int64_t index = 0; index < 50; ++index) EXPECT_LT(near[static_cast<size_t>(index)], index + 5);
  random::set_seed(1);
  const Values unseeded = values_of(numbers(50).shuffle());
  random::set_seed(1);
  EXPECT_EQ(values_of(numbers(50).shuffle()), unseeded);
}

TEST(Dataset, zips_inputs_with_targets_up_to_the_shorter) {
  const Dataset data = Dataset::zip(numbers(3), numbers(5).map([](const Example& e) { return Example{.x = e.x.single() + 10}; }));
  Values targets;
  for (const Example& example : data) targets.push_back(example.y.single().item<int>());
  EXPECT_EQ(targets, (Values{10, 11, 12}));
  EXPECT_EQ(data.size(), 3);
}

TEST(Dataset, caches_what_a_whole_pass_gave) {
  int made = 0;
  const Dataset data = numbers(4)
                           .map([&made](const Example& e) {
                             ++made;
                             return e;
                           })
                           .cache();
  EXPECT_EQ(values_of(data.take(2)), (Values{0, 1}));  // no whole pass
  EXPECT_EQ(values_of(data), (Values{0, 1, 2, 3}));
  EXPECT_EQ(made, 6);
  EXPECT_EQ(values_of(data), (Values{0, 1, 2, 3}));
  EXPECT_EQ(made, 6);
}

TEST(Dataset, comes_from_generators) {
  int begun = 0;
  const Dataset data = Dataset::from_generator([&begun] {
    ++begun;
    return [next = 0]() mutable -> std::optional<Example> {
      if (next == 3) return std::nullopt;
      return Example{.x = tensor({next++})};
    };
  });
  EXPECT_EQ(values_of(data), (Values{0, 1, 2}));
  EXPECT_EQ(values_of(data), (Values{0, 1, 2}));
  EXPECT_EQ(begun, 2);
}

TEST(Dataset, batches_rows_with_a_smaller_one_at_the_end) {
  std::vector<std::string> shapes;
  for (const Example& example : Dataset::from(zeros({7, 3}), zeros({7})).batch(3))
    shapes.push_back(to_string(example.x.single().shape()) + to_string(example.y.single().shape()));
  EXPECT_EQ(shapes, (std::vector<std::string>{"[3, 3][3]", "[3, 3][3]", "[1, 3][1]"}));
  EXPECT_EQ(numbers(7).batch(3).size(), 3);
  EXPECT_EQ(numbers(7).batch(3, {.drop_remainder = true}).size(), 2);
  EXPECT_EQ(values_of(numbers(7).batch(3, {.drop_remainder = true})), (Values{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values_of(numbers(7).shuffle({.seed = 1}).batch(3)).size(), 7U);
  EXPECT_TRUE(numbers(7).batch(3).is_batched());
}

TEST(Dataset, batches_unequal_rows_as_ragged_ones_also_where_they_are_equal) {
  const std::vector<Tensor> rows = {tensor({1, 2}), tensor({3, 4}), tensor({5}), tensor({6, 7, 8}), tensor({9})};
  auto kinds = [](const Dataset& data) {
    std::vector<std::string> texts;
    for (const Example& example : data) texts.push_back(to_string(example.x.single().shape()));
    return texts;
  };
  const std::vector<std::string> wanted = {"[2, (2..2)]", "[2, (1..3)]", "[1, (1..1)]"};
  EXPECT_EQ(kinds(Dataset::from(rows).batch(2)), wanted);
  // The same through single elements, and after a map that makes other rows of them.
  EXPECT_EQ(kinds(Dataset::from(rows).filter([](const Example&) { return true; }).batch(2)), wanted);
  EXPECT_EQ(kinds(Dataset::from(rows).map([](const Example& e) { return Example{.x = e.x.single() * 2}; }).batch(2)), wanted);
  EXPECT_EQ(values_of(Dataset::from(rows).batch(2)), (Values{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(kinds(Dataset::from(zeros({3, 2})).batch(2, {.ragged = true})), (std::vector<std::string>{"[2, (2..2)]", "[1, (2..2)]"}));
  EXPECT_EQ(Dataset::from(rows).batch(2).padding_waste(), 0);
}

TEST(Dataset, pads_to_the_longest_of_a_batch_or_to_a_shape) {
  const std::vector<Tensor> rows = {tensor({1, 2}), tensor({3}), tensor({4, 5, 6})};
  std::vector<Tensor> batches;
  const Dataset padded = Dataset::from(rows).padded_batch(2);
  for (const Example& example : padded) batches.push_back(example.x.single());
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_TRUE(all_equal(batches[0], tensor({{1, 2}, {3, 0}})));
  EXPECT_TRUE(all_equal(batches[1], tensor({{4, 5, 6}})));
  EXPECT_DOUBLE_EQ(padded.padding_waste(), 1.0 / 7);
  EXPECT_DOUBLE_EQ(padded.cache().padding_waste(), 1.0 / 7);
  const Dataset fixed = Dataset::from(rows).padded_batch(3, {.shapes = {{4}}, .value = -1});
  EXPECT_TRUE(all_equal(fixed.begin()->x.single(), tensor({{1, 2, -1, -1}, {3, -1, -1, -1}, {4, 5, 6, -1}})));
  // Two axes that differ.
  const Dataset wide = Dataset::from_generator([] {
    return [next = 0]() mutable -> std::optional<Example> {
      ++next;
      if (next > 2) return std::nullopt;
      return Example{.x = ones({next, 3 - next})};
    };
  });
  EXPECT_TRUE(all_equal(wide.padded_batch(2).begin()->x.single(), reshape(tensor({1.F, 1.F, 0.F, 0.F, 1.F, 0.F, 1.F, 0.F}), {2, 2, 2})));
}

TEST(Dataset, buckets_by_length) {
  std::vector<Tensor> rows;
  for (const int64_t length : {1, 5, 2, 9, 6}) rows.push_back(ones({length}));
  std::vector<std::string> shapes;
  for (const Example& example : Dataset::from(rows, arange(5)).bucket({.boundaries = {3, 7}, .batch_size = 2}))
    shapes.push_back(to_string(example.x.single().shape()) + to_string(example.y.single()));
  EXPECT_EQ(shapes, (std::vector<std::string>{"[2, 2][0 2]", "[2, 6][1 4]", "[1, 9][3]"}));
}

TEST(Dataset, tells_the_elements_number_with_its_error) {
  auto fails_at = [](int number) {
    return [number](const Example& e) {
      if (e.x.single().item<int>() == number) throw std::runtime_error("boom");
      return e;
    };
  };
  const Dataset mapped = numbers(9).map(fails_at(5));
  for (const Dataset& data : {mapped, mapped.batch(2), mapped.batch(2).prefetch(2), mapped.prefetch(1), mapped.cache()}) {
    EXPECT_EQ(test::text_of<DataError>([&] { values_of(data); }), "Dataset::map: element 5: boom");
  }
  EXPECT_EQ(
      test::text_of<DataError>([&] { values_of(numbers(3).filter([](const Example&) -> bool { throw std::runtime_error("bad"); })); }),
      "Dataset::filter: element 0: bad");
  EXPECT_EQ(test::text_of<DataError>([&] {
              values_of(Dataset::from_generator([] { return []() -> std::optional<Example> { throw std::runtime_error("no more"); }; }));
            }),
            "Dataset::from_generator: element 0: no more");
}

TEST(Dataset, tells_the_number_of_an_element_that_does_not_fit_the_others) {
  // 0, ..., 5 as vectors; the one of number 4 is made by `odd`.
  auto data = [](const std::function<Example()>& odd) {
    return numbers(6).map([odd](const Example& e) {
      const int number = e.x.single().item<int>();
      return number == 4 ? odd() : Example{.x = full({2}, Tensor(static_cast<float>(number)))};
    });
  };
  auto refusal = [&](const char* what, const Dataset& batches) {
    const std::string text = test::text_of<DataError>([&] { values_of(batches); }), start = std::string(what) + ": element 4: ";
    EXPECT_TRUE(text.starts_with(start)) << text;
    return text.substr(std::min(start.size(), text.size()));
  };
  auto refusals = [&](const std::function<Example()>& odd) {
    const std::string first = refusal("Dataset::batch", data(odd).batch(3));
    EXPECT_EQ(refusal("Dataset::padded_batch", data(odd).padded_batch(3)), first);
    EXPECT_EQ(refusal("Dataset::bucket", data(odd).bucket({.boundaries = {9}, .batch_size = 3})), first);
    return first;
  };
  EXPECT_EQ(refusals([] { return Example{}; }), "it has no input; expected an Example with .x.");
  EXPECT_EQ(refusals([] { return Example{.x = zeros({2}), .y = zeros({})}; }),
            "it has other fields than element 3; expected the same in all.");
  EXPECT_EQ(refusals([] { return Example{.x = inputs(std::vector<Tensor>{Tensor()})}; }), "a field has no tensor; expected one in each.");
  EXPECT_EQ(refusals([] { return Example{.x = cast(zeros({2}), i32)}; }),
            "a field is i32[2], that of element 3 f32[2]; expected one dtype and one rank.");
  EXPECT_EQ(refusals([] { return Example{.x = zeros({2, 2})}; }),
            "a field is f32[2, 2], that of element 3 f32[2]; expected one dtype and one rank.");
  auto longer = [] { return Example{.x = zeros({5})}; };
  EXPECT_EQ(refusal("Dataset::batch", data(longer).batch(3, {.ragged = false})),
            "a field is f32[5], that of element 3 f32[2]; expected equal shapes.");
  const Dataset wider = data(longer).map([](const Example& e) { return Example{.x = ones({2, e.x.single().shape()[0]})}; });
  EXPECT_EQ(refusal("Dataset::batch", wider.batch(3)),
            "a field is f32[2, 5], that of element 3 f32[2, 2]; expected shapes that differ in their first axis only. Call "
            "group_by_shape(size) for batches of one shape each.");
  EXPECT_EQ(refusal("Dataset::padded_batch", data(longer).padded_batch(3, {.shapes = {{3}}})),
            "it has 5 along axis 0; expected at most the 3 of the shape given.");
  // Elements of one bucket are not one behind the other.
  const Dataset bucketed = data([] { return Example{.x = ones({5})}; }).map([](const Example& e) {
    const bool is_last = e.x.single().shape()[0].value() == 2 && e.x.single().to_vector<float>()[0] == 5;
    return is_last ? Example{.x = cast(zeros({5}), i32)} : e;
  });
  EXPECT_TRUE(test::text_of<DataError>([&] {
                values_of(bucketed.bucket({.boundaries = {3}, .batch_size = 2}));
              }).starts_with("Dataset::bucket: element 5: a field is "));
}

TEST(Dataset, makes_dense_batches_of_rows_that_a_map_made_equal_where_told) {
  const std::vector<Tensor> rows = {tensor({1, 2}), tensor({3}), tensor({4, 5, 6})};
  const Dataset counted =
      Dataset::from(rows).map([](const Example& e) { return Example{.x = sum(one_hot(e.x.single(), 7), {.axes = {0}})}; });
  EXPECT_EQ(counted.batch(3).begin()->x.single().shape()[0], Dim(3));
  EXPECT_TRUE(counted.batch(3).begin()->x.single().is_ragged());
  EXPECT_EQ(counted.batch(3, {.ragged = false}).begin()->x.single().shape(), Shape({3, 7}));
}

TEST(Dataset, counts_without_overflow) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(numbers(1).repeat(most).size(), most);
  EXPECT_EQ(numbers(2).repeat(most).size(), std::nullopt);
  EXPECT_EQ(values_of(numbers(2).repeat(most).take(3)), (Values{0, 1, 0}));
  const Dataset wide = Dataset::from(std::vector<Tensor>{ones({1, 1}), ones({2, 1})}).padded_batch(2, {.shapes = {{most / 2, 2}}});
  EXPECT_THROW(values_of(wide), ShapeError);
}

TEST(Dataset, elements_are_printed) {
  const Dataset rows = Dataset::from({{"a", arange(2)}, {"b", arange(2)}}, arange(2), ones({2}));
  std::ostringstream out;
  for (const Example& example : rows) out << example << "; ";
  EXPECT_EQ(out.str(), "x a: 0\nx b: 0\ny: 0\nsample_weight: 1.0; x a: 1\nx b: 1\ny: 1\nsample_weight: 1.0; ");
  out.str("");
  out << Data(arange(2)) << "; " << Data{{"a", arange(2)}, {"b", arange(1)}} << "; " << Data();
  EXPECT_EQ(out.str(), "[0 1]; a: [0 1]\nb: [0]; ");
}

TEST(Dataset, refuses_what_makes_no_sense) {
  using test::text_of;
  EXPECT_EQ(text_of<DataError>([] { Dataset::from(zeros({40}), zeros({39})); }),
            "Dataset: the inputs have 40 rows, the targets 39; expected as many.");
  EXPECT_EQ(text_of<ShapeError>([] { Dataset::from(zeros({})); }), "Dataset: a scalar is given; expected rows along the first axis.");
  EXPECT_EQ(text_of<ArgumentError>([] { numbers(2).batch(0); }), "Dataset::batch: the batch size is 0; expected at least 1.");
  EXPECT_EQ(text_of<ArgumentError>([] { numbers(2).repeat().cache(); }),
            "Dataset::cache: a pass has no end; expected one that ends. Call take(count) before.");
  EXPECT_EQ(text_of<ArgumentError>([] { numbers(2).repeat().batch(2).padding_waste(); }),
            "Dataset::padding_waste: a pass has no end; expected one that ends. Call take(count) before.");
  EXPECT_EQ(text_of<ArgumentError>([] { numbers(2).bucket({.boundaries = {5, 3}}); }),
            "Dataset::bucket: the boundaries are none or not in order; expected ascending lengths.");
  const std::vector<Tensor> rows = {ones({4}), ones({2})};
  EXPECT_EQ(text_of<DataError>([&] { values_of(Dataset::from(rows).padded_batch(2, {.shapes = {{3}}})); }),
            "Dataset::padded_batch: element 0: it has 4 along axis 0; expected at most the 3 of the shape given.");
  EXPECT_EQ(text_of<DataError>([&] { values_of(Dataset::from(rows).bucket({.boundaries = {3}, .pad_to_boundary = true})); }),
            "Dataset::bucket: element 0: its length is 4; expected less than the last boundary, 3, with pad_to_boundary.");
  for (const auto& wrong : std::vector<std::function<void()>>{[] { numbers(2).take(-1); }, [] { numbers(2).skip(-1); },
                                                              [] { numbers(2).shuffle({.buffer = 0}); }, [] { numbers(2).prefetch(0); },
                                                              [] { numbers(2).repeat(-2); }}) {
    EXPECT_THROW(wrong(), ArgumentError);
  }
}

}  // namespace
}  // namespace anyshape
