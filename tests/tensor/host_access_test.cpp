// Tensors from host numbers, host numbers from tensors, comparisons, and what their errors say.
#include "tensor/element.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/ragged.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace anyshape {
namespace {

template <class Exception, class Action>
std::string text_of(Action&& action) {
  try {
    action();
  } catch (const Exception& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another exception: ") + error.what();
  }
  return "no exception";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Tensor traced_tensor() {
  auto impl = std::make_shared<TensorImpl>();
  impl->become(TracedTensor{.shape = Shape{dim("batch"), 10}});
  return Tensor(std::move(impl));
}

TEST(TensorImpl, is_one_thing) {
  const Tensor dense = tensor({1, 2}), traced = traced_tensor(), rows = ragged<int>({{1}, {2, 3}});
  EXPECT_TRUE(dense.impl()->is_strided());
  EXPECT_EQ(dense.impl()->traced(), nullptr);
  EXPECT_EQ(dense.impl()->ragged(), nullptr);
  EXPECT_EQ(dense.impl()->placeholder(), nullptr);
  EXPECT_FALSE(traced.impl()->is_strided());
  EXPECT_NE(traced.impl()->traced(), nullptr);
  EXPECT_EQ(traced.impl()->ragged(), nullptr);
  EXPECT_EQ(traced.impl()->placeholder(), nullptr);
  EXPECT_FALSE(rows.impl()->is_strided());
  EXPECT_NE(rows.impl()->ragged(), nullptr);
  EXPECT_EQ(rows.impl()->traced(), nullptr);
  auto impl = std::make_shared<TensorImpl>();
  impl->become(PlaceholderTensor{{.shape = Shape{dim("batch")}}, nullptr});
  EXPECT_EQ(Tensor(impl).shape().rank(), 1);
  EXPECT_NE(impl->traced(), nullptr) << "of no trace";
}

TEST(Tensor, from_lists_takes_the_dtype_of_the_elements) {
  EXPECT_EQ(tensor({1, 2}).dtype(), i32);
  EXPECT_EQ(tensor({1.f}).dtype(), f32);
  EXPECT_EQ(tensor({1.0}).dtype(), f64);
  EXPECT_EQ(tensor({true}).dtype(), b8);
  EXPECT_EQ(tensor({int64_t{1}}).dtype(), i64);
  EXPECT_EQ(tensor({1LL}).dtype(), i64);
  EXPECT_EQ(tensor({uint8_t{1}}).dtype(), u8);
  EXPECT_EQ(describe(tensor({{1.f}, {2.f}})), "f32[2, 1]");
  EXPECT_EQ(describe(tensor(std::vector<double>{1, 2, 3, 4, 5, 6}, {2, 3})), "f64[2, 3]");
  EXPECT_THROW(tensor({{1, 2}, {3}}), ShapeError);
  EXPECT_THROW(tensor(std::vector<int>{1, 2, 3}, {2, 2}), ShapeError);
  EXPECT_EQ(tensor(std::vector<bool>{true, false}, {2}).to_vector<bool>(), (std::vector<bool>{true, false}));
  EXPECT_EQ(tensor({1LL, 2LL}).to_vector<int64_t>(), (std::vector<int64_t>{1, 2}));
}

TEST(Tensor, host_numbers_are_weak_and_keep_their_value) {
  const Tensor tenth = 0.1, seven = 7, yes = true, large = 5'000'000'000;
  EXPECT_TRUE(tenth.impl()->weak);
  EXPECT_EQ(tenth.dtype(), f32);
  EXPECT_EQ(tenth.item<float>(), 0.1f);
  EXPECT_EQ(number_as(tenth, f64).item<double>(), 0.1);
  EXPECT_FALSE(number_as(tenth, f64).impl()->weak);
  EXPECT_EQ(seven.dtype(), i32);
  EXPECT_EQ(number_as(seven, u8).item<int>(), 7);
  EXPECT_EQ(yes.dtype(), b8);
  EXPECT_EQ(large.dtype(), i64);
  EXPECT_EQ(large.item<int64_t>(), 5'000'000'000);
}

TEST(Tensor, item_converts_one_element) {
  EXPECT_EQ(tensor({2.75f}).item<double>(), 2.75);
  EXPECT_EQ(tensor({2.75f}).item<int>(), 2);
  EXPECT_EQ(tensor({3}).item<float>(), 3.f);
  EXPECT_EQ(tensor({1e30}).item<int>(), std::numeric_limits<int>::max());
  EXPECT_EQ(tensor({std::nan("")}).item<int64_t>(), 0);
  EXPECT_EQ(make_scalar(f16, 0.5).item<double>(), 0.5);
  EXPECT_EQ(make_scalar(bf16, -3.0).item<float>(), -3.f);
  EXPECT_EQ(make_scalar(i64, int64_t{1} << 62).item<int64_t>(), int64_t{1} << 62);
  EXPECT_TRUE(static_cast<bool>(tensor({0.5f})));
  EXPECT_FALSE(static_cast<bool>(tensor({0})));
}

TEST(Tensor, item_of_several_elements_names_the_tensor) {
  const Tensor x = tensor({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  const std::string text = text_of<ShapeError>([&] { x.item<float>(); });
  EXPECT_TRUE(text.starts_with("item: the tensor has 6 elements: f32[2, 3]; expected exactly one. ")) << text;
  EXPECT_THROW(static_cast<void>(static_cast<bool>(x)), ShapeError);
  EXPECT_THROW(make_empty(f32, std::vector<int64_t>{0}).item<float>(), ShapeError);
}

TEST(Tensor, to_vector_of_another_type_says_cast) {
  const std::string text = text_of<DtypeError>([] { tensor({1.f}).to_vector<int>(); });
  EXPECT_TRUE(contains(text, "f32[1]") && contains(text, "i32") && contains(text, "cast")) << text;
}

TEST(Tensor, an_undefined_one_is_an_argument_error) {
  const Tensor nothing;
  EXPECT_FALSE(nothing.defined());
  EXPECT_THROW(nothing.shape(), ArgumentError);
  EXPECT_THROW(nothing.rank(), ArgumentError);
  EXPECT_THROW(nothing.dtype(), ArgumentError);
  EXPECT_THROW(nothing.item<float>(), ArgumentError);
  EXPECT_THROW(nothing.to_vector<float>(), ArgumentError);
  EXPECT_THROW(static_cast<void>(static_cast<bool>(nothing)), ArgumentError);
  EXPECT_THROW(all_equal(nothing, nothing), ArgumentError);
  EXPECT_THROW(contiguous(nothing), ArgumentError);
}

TEST(Tensor, a_traced_one_has_no_values_yet) {
  const Tensor x = traced_tensor();
  EXPECT_TRUE(is_traced(x));
  EXPECT_EQ(x.rank(), 2);
  EXPECT_EQ(to_string(x), "traced f32[batch, 10]");
  const std::string condition = text_of<TraceError>([&] { static_cast<void>(static_cast<bool>(x)); });
  for (const char* word : {"f32[batch, 10]", "left its trace", "Variable"}) EXPECT_TRUE(contains(condition, word)) << condition;
  const std::string item = text_of<TraceError>([&] { x.item<float>(); });
  for (const char* word : {"item", "not known", "where", "cond"}) EXPECT_TRUE(contains(item, word)) << item;
  EXPECT_THROW(x.to_vector<float>(), TraceError);
  EXPECT_THROW(all_equal(x, x), TraceError);
  EXPECT_THROW(all_close(x, x), TraceError);
  EXPECT_THROW(contiguous(x), TraceError);
}

TEST(Compare, all_equal_wants_dtype_shape_and_elements) {
  EXPECT_TRUE(all_equal(tensor({1, 2}), tensor({1, 2})));
  EXPECT_FALSE(all_equal(tensor({1, 2}), tensor({1, 3})));
  EXPECT_FALSE(all_equal(tensor({1, 2}), tensor({1.f, 2.f})));
  EXPECT_FALSE(all_equal(tensor({1, 2}), tensor({{1, 2}})));
  EXPECT_FALSE(all_equal(tensor({NAN}), tensor({NAN})));
  EXPECT_TRUE(all_equal(tensor({0.0}), tensor({-0.0})));
  EXPECT_TRUE(all_equal(make_scalar(f16, 0.1), make_scalar(f16, 0.1)));
  EXPECT_FALSE(all_equal(make_scalar(bf16, 0.1), make_scalar(bf16, 0.2)));
  EXPECT_TRUE(all_equal(make_empty(f32, std::vector<int64_t>{0, 2}), make_empty(f32, std::vector<int64_t>{0, 2})));
  const int swap[] = {1, 0};
  EXPECT_TRUE(all_equal(transpose_view(tensor({{1, 2}, {3, 4}}), swap), tensor({{1, 3}, {2, 4}})));
}

TEST(Compare, all_close_follows_numpy) {
  EXPECT_TRUE(all_close(tensor({1.0, 1e-9}), tensor({1.000001, 0.0})));
  EXPECT_FALSE(all_close(tensor({1.0}), tensor({1.0001})));
  EXPECT_TRUE(all_close(tensor({1.0}), tensor({1.0001}), {.relative = 1e-3}));
  EXPECT_FALSE(all_close(tensor({NAN}), tensor({NAN})));
  EXPECT_TRUE(all_close(tensor({INFINITY, -INFINITY}), tensor({INFINITY, -INFINITY})));
  EXPECT_FALSE(all_close(tensor({INFINITY}), tensor({-INFINITY})));
  EXPECT_FALSE(all_close(tensor({1.0}), tensor({double{INFINITY}})));
  EXPECT_TRUE(all_close(tensor({1, 2}), tensor({1.f, 2.f})));
  EXPECT_FALSE(all_close(tensor({int64_t{1} << 60}), tensor({(int64_t{1} << 60) + 1}), {.relative = 0, .absolute = 0}));
  EXPECT_THROW(all_close(tensor({1, 2}), tensor({1, 2, 3})), ShapeError);
  std::vector<double> long_one(1000, 1.0), other = long_one;
  other[999] = 2;
  EXPECT_FALSE(all_close(tensor(long_one, {1000}), tensor(other, {1000})));
}

TEST(Element, sixteen_bit_floats_round_to_even) {
  EXPECT_EQ(Bfloat16(1.0 + 1.0 / 256).bits, 0x3F80);  // halfway between 1 and 1 + 1/128
  EXPECT_EQ(Bfloat16(1.0 + 3.0 / 256).bits, 0x3F82);
  EXPECT_TRUE(std::isnan(static_cast<float>(Bfloat16(NAN))));
  EXPECT_EQ(Float16(65504.0).bits, 0x7BFF);
  EXPECT_EQ(Float16(1e6).bits, 0x7C00);
}

}  // namespace
}  // namespace anyshape
