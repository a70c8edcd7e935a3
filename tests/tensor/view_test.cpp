// Views against a naive loop over indices: every kind, every rank, sizes of 0 and 1, negative steps.
#include "tensor/view.h"

#include "tensor/host_data.h"

#include <anyshape/error.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>

namespace anyshape {
namespace {

using Sizes = std::vector<int64_t>;

Tensor counted(const Sizes& sizes, Dtype dtype = i32) {
  Tensor made = make_empty(dtype, sizes);
  for (int64_t i = 0; i < made.impl()->count(); ++i) {
    char* to = host_data(made) + i * size_of(dtype);
    switch (size_of(dtype)) {
      case 1: *reinterpret_cast<uint8_t*>(to) = static_cast<uint8_t>(i); break;
      case 2: *reinterpret_cast<uint16_t*>(to) = static_cast<uint16_t>(i); break;
      case 4: *reinterpret_cast<int32_t*>(to) = static_cast<int32_t>(i); break;
      default: *reinterpret_cast<int64_t*>(to) = i;
    }
  }
  return made;
}

// The elements in row-major order, one index at a time.
std::vector<int64_t> naive(const Tensor& tensor) {
  const TensorImpl& view = *tensor.impl();
  std::vector<int64_t> values;
  const int64_t count = view.count();
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, offset = 0;
    for (int axis = view.rank - 1; axis >= 0; --axis) {
      offset += rest % view.sizes[axis] * view.strides[axis];
      rest /= view.sizes[axis];
    }
    const char* from = host_data(view) + offset * size_of(view.dtype);
    switch (size_of(view.dtype)) {
      case 1: values.push_back(*reinterpret_cast<const uint8_t*>(from)); break;
      case 2: values.push_back(*reinterpret_cast<const uint16_t*>(from)); break;
      case 4: values.push_back(*reinterpret_cast<const int32_t*>(from)); break;
      default: values.push_back(*reinterpret_cast<const int64_t*>(from));
    }
  }
  return values;
}

std::vector<int64_t> ints(const Tensor& tensor) {
  const auto values = tensor.to_vector<int32_t>();
  return {values.begin(), values.end()};
}

TEST(View, transposes) {
  const Tensor x = counted({2, 3});
  const int swap[] = {1, 0};
  const Tensor y = transpose_view(x, swap);
  EXPECT_EQ(ints(y), (Sizes{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(y.impl()->buffer(), x.impl()->buffer());
  EXPECT_FALSE(is_contiguous(*y.impl()));
  const int twice[] = {1, 1}, outside[] = {0, 2}, less[] = {0};
  EXPECT_THROW(transpose_view(x, twice), ShapeError);
  EXPECT_THROW(transpose_view(x, outside), ShapeError);
  EXPECT_THROW(transpose_view(x, less), ShapeError);
}

TEST(View, slices_forwards_and_backwards) {
  const Tensor x = counted({4, 5});
  EXPECT_EQ(ints(slice_view(x, Sizes{1, 0}, Sizes{2, 3}, Sizes{1, 2})), (Sizes{5, 7, 9, 10, 12, 14}));
  EXPECT_EQ(ints(slice_view(x, Sizes{3, 4}, Sizes{2, 3}, Sizes{-3, -2})), (Sizes{19, 17, 15, 4, 2, 0}));
  EXPECT_EQ(ints(slice_view(x, Sizes{4, 0}, Sizes{0, 5}, Sizes{1, 1})), Sizes{});
  EXPECT_EQ(ints(slice_view(x, Sizes{2, 2}, Sizes{1, 1}, Sizes{INT64_MAX, INT64_MIN})), Sizes{12});
}

TEST(View, slices_never_leave_the_tensor) {
  const Tensor x = counted({4});
  EXPECT_THROW(slice_view(x, Sizes{0}, Sizes{5}, Sizes{1}), ShapeError);
  EXPECT_THROW(slice_view(x, Sizes{4}, Sizes{1}, Sizes{1}), ShapeError);
  EXPECT_THROW(slice_view(x, Sizes{-1}, Sizes{1}, Sizes{1}), ShapeError);
  EXPECT_THROW(slice_view(x, Sizes{1}, Sizes{3}, Sizes{-1}), ShapeError);
  EXPECT_THROW(slice_view(x, Sizes{0}, Sizes{3}, Sizes{INT64_MAX}), ShapeError);
  EXPECT_THROW(slice_view(x, Sizes{0}, Sizes{-1}, Sizes{1}), ShapeError);
  EXPECT_THROW(slice_view(x, Sizes{0, 0}, Sizes{1, 1}, Sizes{1, 1}), ShapeError);
}

TEST(View, reshapes_without_copying_where_strides_allow) {
  const Tensor x = counted({4, 6});
  const Tensor rows = slice_view(x, Sizes{0, 0}, Sizes{2, 6}, Sizes{2, 1});
  const Tensor cut = reshape_view(rows, Sizes{2, 1, 2, 3, 1});
  EXPECT_EQ(cut.impl()->buffer(), x.impl()->buffer());
  EXPECT_EQ(ints(cut), ints(rows));
  const Tensor flat = reshape_view(rows, Sizes{12});
  EXPECT_NE(flat.impl()->buffer(), x.impl()->buffer());
  EXPECT_EQ(ints(flat), ints(rows));
  EXPECT_EQ(reshape_view(counted({1, 1}), Sizes{}).rank(), 0);
  EXPECT_EQ(naive(reshape_view(counted({0, 3}), Sizes{7, 0})).size(), 0U);
  EXPECT_THROW(reshape_view(x, Sizes{5, 5}), ShapeError);
  EXPECT_THROW(reshape_view(x, Sizes{-4, -6}), ShapeError);
}

TEST(View, broadcasts_with_stride_zero) {
  const Tensor x = counted({3, 1});
  EXPECT_EQ(ints(broadcast_view(x, Sizes{2, 3, 2})), (Sizes{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(naive(broadcast_view(x, Sizes{3, 0})).size(), 0U);
  EXPECT_THROW(broadcast_view(x, Sizes{3}), ShapeError);
  EXPECT_THROW(broadcast_view(x, Sizes{2, 1}), ShapeError);
  EXPECT_THROW(broadcast_view(x, Sizes{int64_t{1} << 40, 3, int64_t{1} << 40}), ShapeError);
  EXPECT_THROW(contiguous(broadcast_view(x, Sizes{int64_t{1} << 50, 3, 2})), OutOfMemory);
}

TEST(View, sizes_are_checked_before_anything_is_allocated) {
  EXPECT_THROW(make_empty(f32, Sizes(9, 1)), ShapeError);
  EXPECT_THROW(make_empty(f32, Sizes{2, -1}), ShapeError);
  EXPECT_THROW(make_empty(f32, Sizes{int64_t{1} << 40, int64_t{1} << 40}), ShapeError);
  EXPECT_THROW(make_empty(f64, Sizes{int64_t{1} << 61}), OutOfMemory);
  EXPECT_EQ(make_empty(f32, Sizes{int64_t{1} << 40, 0, int64_t{1} << 40}).impl()->count(), 0);
}

TEST(View, a_failed_copy_leaves_the_tensor_as_it_was) {
  const Tensor x = counted({2, 3});
  const int swap[] = {1, 0};
  const Tensor y = transpose_view(x, swap);
  fail_allocation_after(1);
  EXPECT_THROW(contiguous(y), OutOfMemory);
  EXPECT_EQ(ints(contiguous(y)), (Sizes{0, 3, 1, 4, 2, 5}));
}

// A random chain of views of `x`.
Tensor random_view(Tensor x, std::mt19937& random) {
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  for (int step = 0; step < 3; ++step) {
    const Sizes sizes(x.impl()->extents().begin(), x.impl()->extents().end());
    const size_t rank = sizes.size();
    if (const int64_t kind = below(3); kind == 0) {
      std::vector<int> order(rank);
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
      x = transpose_view(x, order);
    } else if (kind == 1) {
      Sizes begins(rank), counts(rank), steps(rank);
      for (size_t i = 0; i < rank; ++i) {
        if (sizes[i] == 0) continue;
        steps[i] = below(2) == 0 ? 1 : 1 + below(2);
        counts[i] = below(8) == 0 ? 0 : 1 + below((sizes[i] - 1) / steps[i] + 1);
        begins[i] = below(sizes[i] - std::max<int64_t>(counts[i] - 1, 0) * steps[i]);
        if (below(2) == 0) {
          begins[i] += std::max<int64_t>(counts[i] - 1, 0) * steps[i];
          steps[i] = -steps[i];
        }
      }
      x = slice_view(x, begins, counts, steps);
    } else {
      Sizes wide = sizes;
      for (int64_t& size : wide) {
        if (size == 1) size = below(4);
      }
      if (rank < 8 && below(2) == 0) wide.insert(wide.begin(), below(3));
      x = broadcast_view(x, wide);
    }
  }
  return x;
}

TEST(View, copies_agree_with_a_loop_over_indices_for_every_rank_and_element_size) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    const int rank = round % 9;
    Sizes sizes(static_cast<size_t>(rank));
    for (int64_t& size : sizes) size = Sizes{0, 1, 1, 2, 2, 3, 3, 4, 5, 7}[random() % 10];
    if (rank > 0 && rank < 3) sizes[random() % sizes.size()] = 1 + static_cast<int64_t>(random() % 70);
    const Dtype dtype = static_cast<Dtype>(random() % 8);
    const Tensor view = random_view(counted(sizes, dtype), random);
    const Tensor copy = contiguous(view);
    ASSERT_TRUE(is_contiguous(*copy.impl()));
    ASSERT_EQ(naive(copy), naive(view)) << describe(view) << " round " << round;
    const int64_t count = view.impl()->count();
    Sizes regrouped = {count};
    for (int64_t factor : {2, 3, 2}) {
      if (regrouped.back() % factor != 0) continue;
      regrouped.back() /= factor;
      regrouped.insert(regrouped.begin(), factor);
    }
    ASSERT_EQ(naive(reshape_view(view, regrouped)), naive(view)) << describe(view) << " round " << round;
  }
}

TEST(View, large_transposes_are_copied_in_tiles) {
  const Tensor x = counted({3, 130, 77});
  for (const std::vector<int>& order : {std::vector<int>{0, 2, 1}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}}) {
    const Tensor view = transpose_view(x, order);
    EXPECT_EQ(naive(contiguous(view)), naive(view));
  }
}

}  // namespace
}  // namespace anyshape
