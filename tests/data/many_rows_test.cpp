// Batches of many rows, behind every stage that gives single elements: a copy at the speed of memory, and no kernel per size.
#include "support/kernels_made.h"
#include "support/peak_memory.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>

namespace anyshape {
namespace {

Tensor counting(const Shape& shape) { return reshape(arange(shape.count(), {.dtype = f32}), shape); }

Dataset generated(int64_t rows) {
  return Dataset::from_generator([rows] {
    return [rows, next = int64_t{0}]() mutable -> std::optional<Example> {
      if (next == rows) return std::nullopt;
      const auto number = static_cast<float>(next++);
      return Example{.x = tensor({number, number + 0.5F}), .y = Tensor(number)};
    };
  });
}

TEST(ManyRows, are_batched_behind_every_stage) {
  constexpr int64_t rows = 1300;
  const Tensor x = reshape(counting({2 * rows}), {rows, 2}), y = counting({rows});
  auto same = [](const Example& e) { return e; };
  auto yes = [](const Example&) { return true; };
  const Dataset data = Dataset::from(x, y);
  const test::TemporaryFolder folder;
  {
    std::ofstream out(folder.path() / "table.csv");
    out << "a,b,y\n";
    for (int64_t i = 0; i < rows; ++i) out << 2 * i << "," << 2 * i + 1 << "," << i << "\n";
  }
  const std::vector<std::pair<const char*, Dataset>> stages = {{"map", data.map(same)},
                                                               {"filter", data.filter(yes)},
                                                               {"cache", data.cache()},
                                                               {"repeat", data.repeat(1)},
                                                               {"take", data.take(rows)},
                                                               {"prefetch", data.map(same).prefetch(3)},
                                                               {"csv", Dataset::from_csv(folder.path() / "table.csv", {.target = "y"})}};
  for (const auto& [name, stage] : stages) {
    for (const int64_t size : {257L, 999L, rows}) {
      int64_t first = 0;
      for (const Example& batch : stage.batch(size)) {
        const int64_t count = std::min(size, rows - first);
        EXPECT_TRUE(all_equal(batch.x.single(), slice(x, {{first, first + count}}))) << name << " " << size;
        EXPECT_TRUE(all_equal(batch.y.single(), slice(y, {{first, first + count}}))) << name << " " << size;
        first += count;
      }
      EXPECT_EQ(first, rows) << name << " " << size;
    }
  }
  EXPECT_TRUE(generated(700).batch(700).begin()->x.single().shape() == (Shape{700, 2}));
}

TEST(ManyRows, of_unequal_length_are_batched_padded_and_trained_on) {
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < 1000; ++i) rows.push_back(full({1 + i % 5, 2}, Tensor(static_cast<float>(i))));
  const Dataset data = Dataset::from(rows, counting({1000}));
  EXPECT_EQ(to_string(data.map([](const Example& e) { return e; }).batch(600).begin()->x.single().shape()), "[600, (1..5), 2]");
  EXPECT_TRUE(data.padded_batch(600).begin()->x.single().shape() == (Shape{600, 5, 2}));
  EXPECT_TRUE(data.bucket({.boundaries = {9}, .batch_size = 900}).begin()->x.single().shape() == (Shape{900, 5, 2}));
  Sequential model(GRU(2), Dense(1));
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.fit(rows, counting({1000, 1}), {.batch_size = 500, .epochs = 1, .verbose = Verbose::Silent});
  EXPECT_EQ(model.train_step().stats().compiles, 1);
}

TEST(ManyRows, take_no_kernel_whatever_their_number) {
  const Dataset data = generated(1500);
  static_cast<void>(data.batch(2).begin());
  const test::KernelCount kernels;
  for (const int64_t size : {3, 100, 257, 1499}) static_cast<void>(data.batch(size).begin());
  EXPECT_EQ(kernels.made(), 0);
}

// Batches of more rows than are looked at together.
Dataset of_lengths(int64_t rows, const std::function<int64_t(int64_t)>& length_of) {
  return Dataset::from_generator([=] {
    return [=, next = int64_t{0}]() mutable -> std::optional<Example> {
      if (next == rows) return std::nullopt;
      const int64_t number = next++;
      return Example{.x = full({length_of(number)}, Tensor(static_cast<float>(number))),
                     .y = Tensor(static_cast<float>(number)),
                     .sample_weight = Tensor(0.5F)};
    };
  });
}

TEST(ManyRows, of_one_batch_are_those_of_many) {
  constexpr int64_t rows = 10'001;
  const Example batch = *of_lengths(rows, [](int64_t) { return 3; }).batch(rows + 5).begin();
  EXPECT_TRUE(all_equal(batch.x.single(), broadcast_to(reshape(counting({rows}), {rows, 1}), {rows, 3})));
  EXPECT_TRUE(all_equal(batch.y.single(), counting({rows})));
  EXPECT_TRUE(all_equal(batch.sample_weight.single(), full({rows}, 0.5F)));
}

TEST(ManyRows, that_differ_late_are_ragged_from_the_first_on) {
  constexpr int64_t rows = 9000;
  for (const int64_t change : {1L, 4000L, 4096L, 8192L, 8999L}) {
    const Example batch = *of_lengths(rows, [=](int64_t row) { return row < change ? 3 : 4; }).batch(rows).begin();
    const Tensor x = batch.x.single();
    EXPECT_EQ(to_string(x.shape()), "[9000, (3..4)]") << change;
    EXPECT_TRUE(all_equal(row(x, change - 1), full({3}, static_cast<float>(change - 1)))) << change;
    EXPECT_TRUE(all_equal(row(x, change), full({4}, static_cast<float>(change)))) << change;
    EXPECT_EQ(x.values().shape().count().value(), 3 * change + 4 * (rows - change));
  }
}

TEST(ManyRows, that_do_not_fit_are_told_by_their_numbers) {
  const Dataset data = of_lengths(9000, [](int64_t row) { return row < 5000 ? 3 : 4; });
  const std::string text = test::text_of<DataError>([&] { static_cast<void>(*data.batch(9000, {.ragged = false}).begin()); });
  EXPECT_NE(text.find("element 5000: a field is f32[4], that of element "), std::string::npos) << text;
  const Dataset other = data.map([](const Example& each) {
    return each.y.single().item<float>() < 6000 ? Example{.x = each.y, .y = each.y}
                                                : Example{.x = inputs({each.y.single(), each.y.single()})};
  });
  EXPECT_EQ(test::text_of<DataError>([&] { static_cast<void>(*other.batch(9000).begin()); }),
            "Dataset::batch: element 6000: it has other fields than element 4096; expected the same in all.");
}

TEST(ManyRows, of_a_large_batch_are_asked_for_once_past_the_end) {
  int asked = 0;
  const Dataset data = Dataset::from_generator([&] {
    return [&, next = 0]() mutable -> std::optional<Example> {
      ++asked;
      if (next == 8192) return std::nullopt;
      return Example{.x = Tensor(static_cast<float>(next++))};
    };
  });
  int64_t rows = 0;
  for (const Example& batch : data.batch(20'000)) rows += batch.x.single().shape()[0].value();
  EXPECT_EQ(rows, 8192);
  EXPECT_EQ(asked, 8193);
}

TEST(ManyRows, of_a_large_batch_have_gradients_under_a_tape) {
  const Tensor weight(2.0F);
  GradientTape tape;
  tape.watch(weight);
  const Dataset data =
      of_lengths(5000, [](int64_t) { return 1; }).map([&](const Example& each) { return Example{.x = multiply(each.y.single(), weight)}; });
  const Tensor loss = sum(data.batch(5000).begin()->x.single());
  EXPECT_EQ(tape.gradient(loss, weight).item<float>(), 5000.0F * 4999 / 2);
}

// Time on a processor of this thread: other programs do not count.
double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

TEST(ManyRows, a_hundred_thousand_are_batched_in_milliseconds) {
  const Tensor x = counting({100'000, 16}), y = counting({100'000});
  const Dataset data = Dataset::from(x, y).map([](const Example& e) { return e; });
  constexpr double limit = test::is_sanitized ? 5 : 0.5;  // a million rows a second is 0.1 s; five times that for slow machines
  for (const int64_t size : {1000, 100'000}) {
    double least = 1e9;
    for (int attempt = 0; attempt < 3; ++attempt) {
      const double begin = processor_seconds();
      int64_t rows = 0;
      for (const Example& batch : data.batch(size)) rows += batch.x.single().shape()[0].value();
      EXPECT_EQ(rows, 100'000);
      least = std::min(least, processor_seconds() - begin);
    }
    RecordProperty("rows_per_second_" + std::to_string(size), std::to_string(100'000 / least));
    EXPECT_LT(least, limit) << size;
  }
}

}  // namespace
}  // namespace anyshape
