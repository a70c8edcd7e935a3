// Tensors over foreign memory: used in place where there is room for loads past the end, copied otherwise.
#include <anyshape/error.h>
#include <anyshape/io.h>

#include <gtest/gtest.h>

#include "ops/expect_error.h"
#include "tensor/host_data.h"
#include "tensor/view.h"

namespace anyshape {
namespace {

constexpr int64_t slack = 512;

TEST(FromMemory, copies_where_the_room_behind_is_unknown_or_small) {
  std::vector<float> numbers = {1, 2, 3, 4, 5, 6};
  const Tensor x = from_memory(numbers.data(), {2, 3});
  const Tensor y = from_memory(numbers.data(), {2, 3}, {.capacity = 24});
  numbers[0] = 9;
  EXPECT_TRUE(all_equal(x, tensor({{1.F, 2.F, 3.F}, {4.F, 5.F, 6.F}})));
  EXPECT_TRUE(all_equal(y, x));
}

TEST(FromMemory, uses_memory_in_place_and_keeps_its_owner) {
  auto owner = std::make_shared<std::vector<int64_t>>(10 + slack / 8, 7);
  const void* const data = owner->data();
  Tensor x = from_memory(owner->data(), {2, 5}, {.capacity = 80 + slack, .owner = owner});
  EXPECT_EQ(host_data(x), data);
  EXPECT_EQ(owner.use_count(), 2);
  EXPECT_EQ(x.to_vector<int64_t>(), std::vector<int64_t>(10, 7));
  const int swapped[] = {1, 0};
  Tensor view = transpose_view(x, swapped);
  x = Tensor();
  EXPECT_EQ(owner.use_count(), 2) << "a view holds it too";
  view = Tensor();
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(FromMemory, without_an_owner_the_memory_stays_the_callers) {
  std::vector<char> bytes(100 + slack);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(host_data(from_memory(bytes.data(), u8, {100}, {.capacity = 100 + slack})), bytes.data());
}

TEST(FromMemory, copies_what_is_not_aligned) {
  std::vector<char> bytes(64 + slack);
  const Tensor x = from_memory(bytes.data() + 1, f32, {2}, {.capacity = 63 + slack});
  EXPECT_NE(host_data(x), bytes.data() + 1);
}

TEST(FromMemory, takes_no_elements) {
  EXPECT_TRUE(from_memory<float>(nullptr, {0, 4}).shape() == (Shape{0, 4}));
  EXPECT_EQ(from_memory<float>(nullptr, {0}).to_vector<float>().size(), 0U);
}

TEST(FromMemory, refuses_bad_sizes_capacity_and_pointers) {
  const float number = 1;
  expect_error<ShapeError>([&] { from_memory(&number, {-1}); }, "from_memory: shape [-1] has the size -1; expected sizes of at least 0.");
  expect_error<ArgumentError>([&] { from_memory(&number, {2}, {.capacity = 4}); },
                              "from_memory: f32[2] takes 8 bytes and the capacity is 4; expected a capacity of at least that.");
  expect_error<ArgumentError>([] { from_memory<float>(nullptr, {3}); }, "from_memory: the pointer is null for f32[3]; expected 12 bytes.");
}

TEST(Borrow, uses_memory_in_place_where_its_page_goes_on) {
  struct Page {
    alignas(4096) float numbers[1024];
  };
  auto page = std::make_shared<Page>();
  for (int i = 0; i < 1024; ++i) page->numbers[i] = static_cast<float>(i);
  Tensor x = borrow(&page->numbers[100], {2, 3}, page);
  EXPECT_EQ(x.data<float>().data(), &page->numbers[100]);
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{100, 101, 102, 103, 104, 105}));
  EXPECT_EQ(page.use_count(), 2);
  x = Tensor();
  EXPECT_EQ(page.use_count(), 1);
  const Tensor just = borrow(page->numbers, {1024 - slack / 4}, page);
  EXPECT_EQ(just.data<float>().data(), page->numbers) << "512 bytes are left";
  const Tensor copy = borrow(page->numbers, {1024 - slack / 4 + 1}, page);
  EXPECT_NE(copy.data<float>().data(), page->numbers) << "fewer are left";
  const Tensor all = borrow(page->numbers, {1024}, page);
  EXPECT_NE(all.data<float>().data(), page->numbers) << "none are left";
  EXPECT_EQ(all.item<float>(1023), 1023);
  EXPECT_EQ(page.use_count(), 2) << "of what was copied the owner is let go";
}

TEST(Borrow, calls_a_deleter_once) {
  int calls = 0;
  alignas(4096) static float numbers[64] = {1, 2, 3};
  {
    const Tensor x = borrow(numbers, {3}, std::shared_ptr<void>(numbers, [&](void*) { ++calls; }));
    const Tensor also = x;
    EXPECT_EQ(calls, 0);
  }
  EXPECT_EQ(calls, 1);
}

TEST(Borrow, refuses_null_pointers) {
  expect_error<ArgumentError>([] { borrow<float>(nullptr, {3}, nullptr); }, "borrow: the pointer is null for f32[3]; expected 12 bytes.");
}

}  // namespace
}  // namespace anyshape
