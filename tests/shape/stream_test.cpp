// Sizes and shapes on streams, and shapes from vectors.
#include <anyshape/error.h>
#include <anyshape/shape.h>

#include <gtest/gtest.h>

#include <sstream>

namespace anyshape {
namespace {

TEST(Streams, show_sizes_as_their_texts_say) {
  const Dim batch = dim("batch");
  std::ostringstream out;
  out << batch * 2 + 1 << ' ' << Dim(3) << ' ' << Shape{batch, 784} << ' ' << Shape{};
  EXPECT_EQ(out.str(), "2 * batch + 1 3 [batch, 784] []");
}

TEST(ShapeOfVectors, takes_integers_and_sizes) {
  const auto rank_of = [](const Shape& shape) { return shape.rank(); };
  EXPECT_EQ(rank_of(std::vector<int64_t>{2, 3}), 2);
  EXPECT_EQ(rank_of(std::vector<int>{2, 3, 4}), 3);
  EXPECT_EQ(rank_of(std::vector<size_t>{}), 0);
  EXPECT_TRUE(Shape(std::vector<int>{2, 3}) == (Shape{2, 3}));
  const Dim batch = dim("batch");
  EXPECT_TRUE(Shape(std::vector<Dim>{batch, 3}).same_as({batch, 3}));
  EXPECT_THROW(rank_of(std::vector<int>(9, 1)), ShapeError);
}

}  // namespace
}  // namespace anyshape
