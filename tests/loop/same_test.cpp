// Kernels that are the same: all that their text says counts, and numbers by their bits.
#include "loop/same.h"

#include "loop/build.h"
#include "loop/text.h"

#include <gtest/gtest.h>

namespace anyshape::loop {
namespace {

constexpr std::string_view scaled = R"(kernel scaled(n) {
  in x: f32
  out y: f32
  vector i0 in 0 .. n {
    y[i0] = x[i0] * 2.5
  }
}
)";

std::string replaced(std::string_view text, std::string_view old, std::string_view by) {
  std::string result(text);
  result.replace(result.find(old), old.size(), by);
  return result;
}

TEST(Same, kernels_of_one_text_are_the_same) {
  const Kernel a = parse(scaled), b = parse(scaled);
  EXPECT_TRUE(is_same(a, b));
  EXPECT_EQ(hash_of(a), hash_of(b));
}

TEST(Same, every_difference_of_texts_counts) {
  const Kernel kernel = parse(scaled);
  const std::pair<std::string_view, std::string_view> changes[] = {{"scaled", "other"}, {"2.5", "2.25"},      {" * ", " - "},
                                                                   {"vector", "for"},   {"out y", "inout y"}, {"0 .. n", "1 .. n"}};
  for (const auto& [old, by] : changes) EXPECT_FALSE(is_same(kernel, parse(replaced(scaled, old, by)))) << old << " -> " << by;
}

TEST(Same, zeros_of_different_sign_are_different) {
  const auto storing = [](double number) {
    Builder b("zero");
    const int32_t out = b.buffer("y", Dtype::f32, Access::Out);
    b.store(out, b.integer(0), b.constant(Dtype::f32, number));
    return b.finish();
  };
  EXPECT_TRUE(is_same(storing(0.0), storing(0.0)));
  EXPECT_FALSE(is_same(storing(0.0), storing(-0.0)));
}

}  // namespace
}  // namespace anyshape::loop
