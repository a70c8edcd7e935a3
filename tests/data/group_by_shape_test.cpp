// Elements of one shape become batches: which, in which order, and how many wait.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>

namespace anyshape {
namespace {

using Batches = std::vector<std::vector<int>>;

// Images [side, side + 1, 1] full of their number, with that number as target.
std::vector<Tensor> images_of(const std::vector<int64_t>& sides) {
  std::vector<Tensor> images;
  for (size_t i = 0; i < sides.size(); ++i) images.push_back(full({sides[i], sides[i] + 1, 1}, Tensor(static_cast<float>(i))));
  return images;
}
Dataset data_of(const std::vector<int64_t>& sides) {
  return Dataset::from(images_of(sides), arange(static_cast<int64_t>(sides.size()), {.dtype = i32}));
}

// The targets of each batch; images and targets have to fit.
Batches batches_of(const Dataset& data) {
  Batches batches;
  for (const Example& batch : data) {
    const Tensor& images = batch.x.single();
    EXPECT_FALSE(images.is_ragged());
    batches.push_back(batch.y.single().to_vector<int>());
    const std::vector<float> first = images.at(whole, 0, 0, 0).to_vector<float>();
    EXPECT_TRUE(std::ranges::equal(first, batches.back()));
    EXPECT_TRUE(all_equal(images, broadcast_to(reshape(tensor(first), {images.shape()[0], 1, 1, 1}), images.shape())));
  }
  return batches;
}

TEST(GroupByShape, gives_a_batch_when_it_is_full_and_the_rest_as_their_shapes_appeared) {
  EXPECT_EQ(batches_of(data_of({5, 3, 5, 4, 5, 3, 3, 4, 3, 9}).group_by_shape(3)), (Batches{{0, 2, 4}, {1, 5, 6}, {3, 7}, {8}, {9}}));
  EXPECT_EQ(batches_of(data_of({5, 3, 5, 4, 5, 3, 3, 4, 3, 9}).group_by_shape(3, {.drop_remainder = true})),
            (Batches{{0, 2, 4}, {1, 5, 6}}));
  EXPECT_EQ(batches_of(data_of({5, 3}).group_by_shape(1)), (Batches{{0}, {1}}));
}

TEST(GroupByShape, gives_what_most_wait_of_where_too_many_wait) {
  const std::vector<int64_t> sides = {5, 3, 4, 3, 6, 5, 3, 4};
  // The fifth waiting element is one too many: the two of side 3 go; later the two of side 5.
  EXPECT_EQ(batches_of(data_of(sides).group_by_shape(9, {.most_waiting = 4})), (Batches{{1, 3}, {0, 5}, {2, 7}, {4}, {6}}));
  EXPECT_EQ(batches_of(data_of(sides).group_by_shape(9)), (Batches{{0, 5}, {1, 3, 6}, {2, 7}, {4}}));
  const int64_t bytes = 4 * (5 * 6 + 1) + 4 * (3 * 4 + 1);  // of the first two, their targets with them
  EXPECT_EQ(batches_of(data_of({5, 3, 4}).group_by_shape(9, {.most_waiting_bytes = bytes})), (Batches{{0}, {1}, {2}}));
  EXPECT_EQ(batches_of(data_of({5, 3, 5}).group_by_shape(9, {.most_waiting_bytes = 2 * bytes})), (Batches{{0, 2}, {1}}));
}

TEST(GroupByShape, takes_shapes_of_targets_and_other_fields_into_account) {
  const Dataset data = Dataset::from(arange(6)).map([](const Example& e) {
    const int number = e.x.single().item<int>();
    return Example{.x = {{"a", zeros({2})}, {"b", zeros({1 + number % 2})}}, .y = zeros({1 + number / 3, 2})};
  });
  std::vector<std::string> shapes;
  for (const Example& batch : data.group_by_shape(2)) {
    shapes.push_back(to_string(batch.x.fields()[1].tensor.shape()) + to_string(batch.y.single().shape()));
    EXPECT_EQ(batch.x.fields()[1].name, "b");
  }
  EXPECT_EQ(shapes, (std::vector<std::string>{"[2, 1][2, 1, 2]", "[2, 2][2, 2, 2]", "[1, 2][1, 1, 2]", "[1, 1][1, 2, 2]"}));
}

TEST(GroupByShape, makes_dense_batches_of_ragged_rows_where_it_is_asked) {
  const std::vector<Tensor> rows = {ones({3}), ones({2}), ones({3})};
  std::vector<Shape> shapes;
  for (const Example& batch : Dataset::from(rows).group_by_shape(4)) shapes.push_back(batch.x.single().shape());
  EXPECT_EQ(shapes, (std::vector<Shape>{{2, 3}, {1, 2}}));
}

TEST(GroupByShape, is_shuffled_with_what_stands_before_and_behind) {
  std::vector<int64_t> sides;
  for (int64_t i = 0; i < 60; ++i) sides.push_back(3 + i * i % 7);
  const Dataset data = data_of(sides).shuffle({.seed = 3}).group_by_shape(4).shuffle({.buffer = 5, .seed = 4});
  const Batches first = batches_of(data), second = batches_of(data);
  EXPECT_NE(first, second);
  EXPECT_EQ(batches_of(data_of(sides).shuffle({.seed = 3}).group_by_shape(4).shuffle({.buffer = 5, .seed = 4})), first);
  std::vector<int> seen;
  for (const std::vector<int>& batch : first) {
    for (const int number : batch) {
      seen.push_back(number);
      EXPECT_EQ(sides[static_cast<size_t>(number)], sides[static_cast<size_t>(batch[0])]);
    }
  }
  std::ranges::sort(seen);
  EXPECT_EQ(seen, arange(60, {.dtype = i32}).to_vector<int>());
}

TEST(GroupByShape, does_not_know_its_batches_but_knows_what_it_is) {
  const Dataset grouped = data_of({5, 3}).group_by_shape(2);
  EXPECT_EQ(grouped.size(), std::nullopt);
  EXPECT_TRUE(grouped.is_batched());
  EXPECT_EQ(grouped.padding_waste(), 0);
  EXPECT_TRUE(data_of({5}).repeat().group_by_shape(2).is_endless());
}

TEST(GroupByShape, refuses_what_makes_no_sense) {
  using test::text_of;
  EXPECT_EQ(text_of<ArgumentError>([] { data_of({2}).group_by_shape(0); }),
            "Dataset::group_by_shape: the batch size is 0; expected at least 1.");
  EXPECT_EQ(text_of<ArgumentError>([] { data_of({2}).group_by_shape(1, {.most_waiting = 0}); }),
            "Dataset::group_by_shape: .most_waiting is 0; expected at least 1.");
  EXPECT_EQ(text_of<ArgumentError>([] { data_of({2}).group_by_shape(1, {.most_waiting_bytes = -1}); }),
            "Dataset::group_by_shape: .most_waiting_bytes is -1; expected 0 or more.");
  const auto odd = [](const std::function<Example()>& make) {
    return text_of<DataError>([&] {
      batches_of(data_of({2, 3, 2, 4}).map([&](const Example& e) { return e.y.single().item<int>() == 3 ? make() : e; }).group_by_shape(3));
    });
  };
  EXPECT_EQ(odd([] { return Example{.x = zeros({9, 9})}; }),
            "Dataset::group_by_shape: element 3: it has other fields than element 0; expected the same in all.");
  EXPECT_EQ(odd([] { return Example{.x = zeros({9, 9}), .y = Tensor(1)}; }),
            "Dataset::group_by_shape: element 3: a field is f32[9, 9], that of element 0 f32[2, 3, 1]; expected one dtype and one rank.");
  EXPECT_EQ(odd([] { return Example{}; }), "Dataset::group_by_shape: element 3: it has no input; expected an Example with .x.");
  EXPECT_EQ(text_of<DataError>([] { batches_of(Dataset::from(std::vector<Tensor>{ones({2}), ones({3})}).batch(2).group_by_shape(2)); }),
            "Dataset::group_by_shape: element 0: a field is f32[2, (2..3)]; expected dense ones. Group single elements, not batches.");
}

TEST(Rows, of_several_shapes_are_elements_one_by_one) {
  const Dataset data = data_of({5, 3});
  std::vector<Shape> shapes;
  for (const Example& element : data) shapes.push_back(element.x.single().shape());
  EXPECT_EQ(shapes, (std::vector<Shape>{{5, 6, 1}, {3, 4, 1}}));
  EXPECT_EQ(data.size(), 2);
  const std::string text = test::text_of<DataError>([&] { batches_of(data.batch(2)); });
  EXPECT_EQ(
      text,
      "Dataset::batch: element 1: a field is f32[3, 4, 1], that of element 0 f32[5, 6, 1]; expected shapes that differ in their first "
      "axis only. Call group_by_shape(size) for batches of one shape each.");
}

TEST(Rows, that_differ_in_their_first_axis_are_ragged_unless_by_shape_is_asked_for) {
  const std::vector<Tensor> rows = {ones({3, 2, 1}), ones({4, 2, 1})};
  EXPECT_TRUE(Data(rows).single().is_ragged());
  EXPECT_EQ(by_shape(rows).fields()[0].rows.size(), 2U);
  EXPECT_EQ(test::text_of<ArgumentError>([&] { by_shape(rows).single(); }),
            "data: the field holds rows of several shapes; expected one tensor.");
  EXPECT_EQ(test::text_of<DataError>([] { by_shape({ones({2}), ones({2, 3})}); }),
            "by_shape: row 1 is f32[2, 3], row 0 is f32[2]; expected one dtype and one rank.");
  EXPECT_EQ(test::text_of<DataError>([] { by_shape({}); }), "by_shape: no rows are given; expected at least one.");
  EXPECT_THROW(by_shape({ones({2}), Tensor()}), ArgumentError);
  EXPECT_THROW(Data(std::vector<Tensor>{ones({2, 3}), ones({2})}), ShapeError);
}

}  // namespace
}  // namespace anyshape
