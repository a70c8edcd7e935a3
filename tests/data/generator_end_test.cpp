// A generator that has ended is not asked again, whatever stands behind it.
#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <memory>

namespace anyshape {
namespace {

struct Asked {
  int begun = 0;     // passes
  int past_end = 0;  // calls that found the end
};

Dataset generator(int64_t count, const std::shared_ptr<Asked>& asked) {
  return Dataset::from_generator([=] {
    ++asked->begun;
    return [=, next = int64_t{0}]() mutable -> std::optional<Example> {
      if (next == count) {
        ++asked->past_end;
        return std::nullopt;
      }
      return Example{.x = full({1 + next++ % 3}, Tensor(1.0F))};
    };
  });
}

int64_t elements_of(const Dataset& data) {
  int64_t count = 0;
  for (const Example& example : data) count += example.x.defined() ? 1 : 0;
  return count;
}

TEST(Generator, is_asked_once_past_its_end_behind_every_stage) {
  using Stage = std::function<Dataset(const Dataset&)>;
  auto same = [](const Example& e) { return e; };
  const std::vector<std::pair<const char*, Stage>> stages = {
      {"itself", [](const Dataset& d) { return d; }},
      {"batch", [](const Dataset& d) { return d.batch(2); }},
      {"batch, remainder dropped", [](const Dataset& d) { return d.batch(2, {.drop_remainder = true}); }},
      {"batch of all", [](const Dataset& d) { return d.batch(99); }},
      {"padded_batch", [](const Dataset& d) { return d.padded_batch(2); }},
      {"padded_batch, remainder dropped", [](const Dataset& d) { return d.padded_batch(4, {.drop_remainder = true}); }},
      {"bucket", [](const Dataset& d) { return d.bucket({.boundaries = {2, 3}, .batch_size = 2}); }},
      {"shuffle", [](const Dataset& d) { return d.shuffle({.buffer = 2}); }},
      {"shuffle of all", [](const Dataset& d) { return d.shuffle().batch(2); }},
      {"prefetch", [](const Dataset& d) { return d.prefetch(2); }},
      {"prefetched batches", [](const Dataset& d) { return d.batch(2).prefetch(1); }},
      {"cache", [](const Dataset& d) { return d.cache().batch(2); }},
      {"repeat", [](const Dataset& d) { return d.repeat(3).batch(2); }},
      {"repeated batches", [](const Dataset& d) { return d.batch(2).repeat(2); }},
      {"take", [](const Dataset& d) { return d.take(99).batch(2); }},
      {"skip", [](const Dataset& d) { return d.skip(1).batch(2); }},
      {"skip of all", [](const Dataset& d) { return d.skip(99).batch(2); }},
      {"map", [&](const Dataset& d) { return d.map(same).batch(2); }},
      {"filter", [](const Dataset& d) { return d.filter([](const Example& e) { return e.x.single().shape()[0] == 1; }).batch(2); }},
      {"zip", [](const Dataset& d) { return Dataset::zip(d, Dataset::from(zeros({99}))).batch(2); }},
      {"zip, beside", [](const Dataset& d) { return Dataset::zip(Dataset::from(zeros({99})), d).batch(2); }}};
  for (const auto& [name, stage] : stages) {
    for (const int64_t count : {0, 3, 4}) {
      const auto asked = std::make_shared<Asked>();
      const Dataset data = stage(generator(count, asked));
      const int64_t first = elements_of(data);
      EXPECT_EQ(elements_of(data), first) << name << " " << count;
      EXPECT_EQ(asked->past_end, asked->begun) << name << " " << count;
      EXPECT_GE(asked->begun, 1) << name;
    }
  }
}

TEST(Generator, is_asked_no_further_than_it_is_taken) {
  const auto asked = std::make_shared<Asked>();
  EXPECT_EQ(elements_of(generator(3, asked).take(3).batch(2)), 2);
  EXPECT_EQ(asked->past_end, 0);
  int made = 0;
  const Dataset endless = Dataset::from_generator([&made] {
    return [&made]() -> std::optional<Example> {
      ++made;
      return Example{.x = zeros({1})};
    };
  });
  EXPECT_EQ(elements_of(Dataset::zip(Dataset::from(zeros({3})), endless).batch(2)), 2);
  EXPECT_EQ(made, 3);
}

TEST(Generator, is_asked_once_past_its_end_in_each_epoch_of_fit) {
  const auto asked = std::make_shared<Asked>();
  const Dataset data = Dataset::from_generator([=] {
    ++asked->begun;
    return [=, next = 0]() mutable -> std::optional<Example> {
      if (next == 5) {
        ++asked->past_end;
        return std::nullopt;
      }
      ++next;
      return Example{.x = ones({2}), .y = ones({1})};
    };
  });
  Sequential model(Dense(1));
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.fit(data.batch(2), {.epochs = 3, .verbose = Verbose::Silent});
  EXPECT_GE(asked->begun, 3);
  EXPECT_EQ(asked->past_end, 3);
}

}  // namespace
}  // namespace anyshape
