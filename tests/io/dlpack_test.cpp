// DLPack in both directions: memory shared, lifetimes, and what is refused.
#include <anyshape/dlpack.h>
#include <anyshape/error.h>
#include <anyshape/io.h>
#include <anyshape/ragged.h>

#include <gtest/gtest.h>

#include "ops/expect_error.h"
#include "tensor/host_data.h"
#include "tensor/view.h"

#include <cstddef>

namespace anyshape {
namespace {

// Somebody else's tensor: elements in the middle of a page, so that they are used in place, and a count of deleter calls.
struct Theirs {
  alignas(4096) std::array<float, 1024> memory{};
  std::array<int64_t, 2> shape{2, 3}, strides{3, 1};
  dlpack::ManagedTensor managed;
  int deleted = 0;

  Theirs() {
    for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i);
    managed.tensor = {
        .data = memory.data(), .device = {}, .rank = 2, .dtype = {2, 32, 1}, .shape = shape.data(), .strides = strides.data()};
    managed.context = this;
    managed.deleter = [](dlpack::ManagedTensor* self) { ++static_cast<Theirs*>(self->context)->deleted; };
  }
};

TEST(Dlpack, has_the_layout_of_the_c_interface) {
  EXPECT_EQ(sizeof(dlpack::TensorView), 48U);
  EXPECT_EQ(offsetof(dlpack::TensorView, device), 8U);
  EXPECT_EQ(offsetof(dlpack::TensorView, rank), 16U);
  EXPECT_EQ(offsetof(dlpack::TensorView, dtype), 20U);
  EXPECT_EQ(offsetof(dlpack::TensorView, shape), 24U);
  EXPECT_EQ(offsetof(dlpack::TensorView, strides), 32U);
  EXPECT_EQ(offsetof(dlpack::TensorView, byte_offset), 40U);
  EXPECT_EQ(offsetof(dlpack::ManagedTensor, context), 48U);
  EXPECT_EQ(offsetof(dlpack::ManagedTensor, deleter), 56U);
  EXPECT_EQ(offsetof(dlpack::VersionedTensor, context), 8U);
  EXPECT_EQ(offsetof(dlpack::VersionedTensor, deleter), 16U);
  EXPECT_EQ(offsetof(dlpack::VersionedTensor, flags), 24U);
  EXPECT_EQ(offsetof(dlpack::VersionedTensor, tensor), 32U);
}

TEST(ToDlpack, lends_the_memory_until_the_deleter_is_called) {
  auto owner = std::make_shared<std::vector<float>>(6 + 128, 7.F);
  Tensor x = from_memory(owner->data(), {2, 3}, {.capacity = 24 + 512, .owner = owner});
  dlpack::ManagedTensor* lent = to_dlpack(x);
  x = Tensor();
  EXPECT_EQ(owner.use_count(), 2) << "who has the capsule keeps the memory";
  EXPECT_EQ(lent->tensor.data, owner->data());
  EXPECT_EQ(lent->tensor.device.type, 1);
  EXPECT_EQ(lent->tensor.rank, 2);
  EXPECT_EQ(lent->tensor.dtype.code, 2);
  EXPECT_EQ(lent->tensor.dtype.bits, 32);
  EXPECT_EQ(lent->tensor.dtype.lanes, 1);
  EXPECT_EQ(lent->tensor.shape[1], 3);
  EXPECT_EQ(lent->tensor.strides[0], 3);
  lent->deleter(lent);
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(ToDlpack, says_views_dtypes_and_that_nobody_may_write) {
  const int swapped[] = {1, 0};
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}});
  dlpack::VersionedTensor* lent = to_versioned_dlpack(transpose_view(x, swapped));
  EXPECT_EQ(lent->version.major, 1U);
  EXPECT_EQ(lent->flags, dlpack::read_only);
  EXPECT_EQ(lent->tensor.shape[0], 3);
  EXPECT_EQ(lent->tensor.strides[0], 1);
  EXPECT_EQ(lent->tensor.strides[1], 3);
  EXPECT_EQ(lent->tensor.data, host_data(x));
  lent->deleter(lent);
  struct Expected {
    Dtype dtype;
    int code, bits;
  };
  for (const Expected& each :
       {Expected{b8, 6, 8}, {u8, 1, 8}, {i32, 0, 32}, {i64, 0, 64}, {f16, 2, 16}, {bf16, 4, 16}, {f32, 2, 32}, {f64, 2, 64}}) {
    dlpack::ManagedTensor* one = to_dlpack(make_scalar(each.dtype, 1.0));
    EXPECT_EQ(one->tensor.dtype.code, each.code) << each.dtype;
    EXPECT_EQ(one->tensor.dtype.bits, each.bits) << each.dtype;
    const Tensor back = from_dlpack(one);
    EXPECT_EQ(back.dtype(), each.dtype);
    EXPECT_EQ(back.item<double>(), 1);
  }
  EXPECT_THROW(to_dlpack(ragged({{1, 2}, {3}})), ShapeError);
  EXPECT_THROW(to_dlpack(Tensor()), ArgumentError);
}

TEST(FromDlpack, uses_the_memory_and_deletes_once_after_the_last_tensor) {
  Theirs theirs;
  Tensor x = from_dlpack(&theirs.managed);
  EXPECT_EQ(x.data<float>().data(), theirs.memory.data());
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  Tensor also = x;
  x = Tensor();
  EXPECT_EQ(theirs.deleted, 0);
  also = Tensor();
  EXPECT_EQ(theirs.deleted, 1);
}

TEST(FromDlpack, reads_strides_offsets_and_backwards) {
  Theirs theirs;
  theirs.strides = {1, 4};
  theirs.managed.tensor.byte_offset = 40;
  EXPECT_EQ(from_dlpack(&theirs.managed).to_vector<float>(), (std::vector<float>{10, 14, 18, 11, 15, 19}));
  theirs.strides = {-3, 1};
  const Tensor flipped = from_dlpack(&theirs.managed);
  EXPECT_EQ(flipped.to_vector<float>(), (std::vector<float>{10, 11, 12, 7, 8, 9}));
  EXPECT_EQ(static_cast<const void*>(host_data(flipped)), theirs.memory.data() + 10) << "in place";
  theirs.strides = {0, 1};
  EXPECT_EQ(from_dlpack(&theirs.managed).to_vector<float>(), (std::vector<float>{10, 11, 12, 10, 11, 12}));
  theirs.managed.tensor.strides = nullptr;
  EXPECT_EQ(from_dlpack(&theirs.managed).to_vector<float>(), (std::vector<float>{10, 11, 12, 13, 14, 15}));
}

TEST(FromDlpack, copies_what_ends_with_its_page_and_deletes_at_once) {
  Theirs theirs;
  theirs.managed.tensor.data = theirs.memory.data() + 1018;  // the last six elements
  theirs.managed.tensor.strides = nullptr;
  const Tensor x = from_dlpack(&theirs.managed);
  EXPECT_EQ(theirs.deleted, 1);
  theirs.memory.fill(0);
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1018, 1019, 1020, 1021, 1022, 1023}));
}

TEST(FromDlpack, takes_nothing_and_scalars_and_no_deleter) {
  Theirs theirs;
  theirs.shape = {0, 3};
  theirs.managed.tensor.data = nullptr;
  EXPECT_TRUE(from_dlpack(&theirs.managed).shape() == (Shape{0, 3}));
  EXPECT_EQ(theirs.deleted, 1);
  Theirs scalar;
  scalar.managed.tensor.rank = 0;
  scalar.managed.tensor.shape = scalar.managed.tensor.strides = nullptr;
  scalar.managed.deleter = nullptr;
  EXPECT_EQ(from_dlpack(&scalar.managed).item<float>(), 0);
}

TEST(FromDlpack, takes_what_to_dlpack_gives) {
  const Tensor x = tensor({{1.F, 2.F}, {3.F, 4.F}});
  const Tensor y = from_dlpack(to_versioned_dlpack(x));
  EXPECT_TRUE(all_equal(x, y));
  EXPECT_TRUE(all_equal(from_dlpack(to_dlpack(y)), x));
}

// Everything wrong is said, and the tensor stays the caller's.
template <class Error>
void expect_refused(const std::function<void(Theirs&)>& spoil, const std::string& text) {
  Theirs theirs;
  spoil(theirs);
  expect_error<Error>([&] { from_dlpack(&theirs.managed); }, text);
  EXPECT_EQ(theirs.deleted, 0) << text;
}

TEST(FromDlpack, refuses_other_devices_types_and_null_pointers) {
  expect_refused<ArgumentError>(
      [](Theirs& t) { t.managed.tensor.device = {2, 1}; },
      "from_dlpack: the memory is on device type 2, number 1; expected the CPU (type 1). Copy the tensor to the host "
      "first.");
  const std::string expected =
      "; expected one lane of bool, 8-bit unsigned, 32- or 64-bit signed integers, bfloat16, or floats of 16, 32 or 64 bits.";
  expect_refused<DtypeError>([](Theirs& t) { t.managed.tensor.dtype = {2, 32, 4}; },
                             "from_dlpack: elements of type code 2 with 32 bits and 4 lanes" + expected);
  expect_refused<DtypeError>([](Theirs& t) { t.managed.tensor.dtype = {5, 64, 1}; },
                             "from_dlpack: elements of type code 5 with 64 bits and 1 lanes" + expected);
  expect_refused<DtypeError>([](Theirs& t) { t.managed.tensor.dtype = {0, 16, 1}; },
                             "from_dlpack: elements of type code 0 with 16 bits and 1 lanes" + expected);
  expect_refused<ArgumentError>([](Theirs& t) { t.managed.tensor.data = nullptr; },
                                "from_dlpack: the data is a null pointer for f32[2, 3]; expected 6 elements.");
  expect_refused<ArgumentError>([](Theirs& t) { t.managed.tensor.shape = nullptr; },
                                "from_dlpack: the shape is a null pointer for rank 2; expected 2 sizes.");
  expect_error<ArgumentError>([] { from_dlpack(static_cast<dlpack::ManagedTensor*>(nullptr)); },
                              "from_dlpack: the managed tensor is a null pointer; expected one.");
  dlpack::VersionedTensor later;
  later.version = {2, 1};
  expect_error<ArgumentError>([&] { from_dlpack(&later); }, "from_dlpack: version 2.1 of DLPack; expected 1.");
}

TEST(FromDlpack, refuses_sizes_and_strides_that_cannot_be) {
  expect_refused<ShapeError>([](Theirs& t) { t.managed.tensor.rank = -1; }, "from_dlpack: rank -1; expected 0 to 8.");
  expect_refused<ShapeError>([](Theirs& t) { t.managed.tensor.rank = 9; }, "from_dlpack: rank 9; expected 0 to 8.");
  expect_refused<ShapeError>([](Theirs& t) { t.shape[1] = -3; },
                             "from_dlpack: shape [2, -3] has the size -3; expected sizes of at least 0.");
  const int64_t huge = int64_t{1} << 62;
  Theirs large;
  large.shape = {huge, 8};
  EXPECT_THROW(from_dlpack(&large.managed), Error);
  large.shape = {huge, 1};
  EXPECT_THROW(from_dlpack(&large.managed), Error);
  EXPECT_EQ(large.deleted, 0);
  expect_refused<ShapeError>(
      [&](Theirs& t) { t.strides = {huge, 1}; },
      "from_dlpack: shape [2, 3] with strides [4611686018427387904, 1] leaves the address space; expected strides in "
      "elements.");
  expect_refused<ShapeError>(
      [&](Theirs& t) { t.strides = {-huge, -huge}; },
      "from_dlpack: shape [2, 3] with strides [-4611686018427387904, -4611686018427387904] leaves the address space; "
      "expected strides in elements.");
  expect_refused<ArgumentError>([](Theirs& t) { t.managed.tensor.byte_offset = 1; },
                                "from_dlpack: the elements of f32[2, 3] are not aligned; expected an address that is a multiple of 4.");
}

}  // namespace
}  // namespace anyshape
