// Sizes and shapes as text, on streams, and back; shapes of vectors.
#include "shape/parse.h"

#include <anyshape/error.h>
#include <anyshape/shape.h>

#include <gtest/gtest.h>

#include <sstream>

namespace anyshape {
namespace {

TEST(Print, sizes_read_as_a_person_writes_them) {
  const Dim rows = dim("rows"), cols = dim("cols");
  EXPECT_EQ(to_string(Dim(7)), "7");
  EXPECT_EQ(to_string(rows * cols), "rows * cols");
  EXPECT_EQ(to_string(rows * cols + 1), "rows * cols + 1");
  EXPECT_EQ(to_string(rows + 1), "rows + 1");
  EXPECT_EQ(to_string(rows - 1), "rows - 1");
  EXPECT_EQ(to_string(rows * 2), "2 * rows");
  EXPECT_EQ(to_string(rows * rows), "rows * rows");
  EXPECT_EQ(to_string(rows / 2), "rows / 2");
  EXPECT_EQ(to_string((rows / 2) * 2), "2 * (rows / 2)");
  EXPECT_EQ(to_string((rows + 3) / 4), "(rows + 3) / 4");
  EXPECT_EQ(to_string(rows * cols / 4), "rows * cols / 4");
  EXPECT_EQ(to_string(rows % 4), "rows % 4");
  EXPECT_EQ(to_string(rows / (cols + 1)), "rows / (cols + 1)");
  EXPECT_EQ(to_string(5 - rows), "5 - rows");
  EXPECT_EQ(to_string(cols - rows), "cols - rows");
  EXPECT_EQ(to_string(0 - rows), "-rows");
  EXPECT_EQ(to_string(0 - rows / 2), "-(rows / 2)");
  EXPECT_EQ(to_string(cols - rows / 2), "cols - rows / 2");
  EXPECT_EQ(to_string(bcast(rows, cols)), "bcast(rows, cols)");
  EXPECT_EQ(to_string(min(rows, 5)), "min(rows, 5)");
  EXPECT_EQ(to_string(max(rows, cols) + 1), "max(rows, cols) + 1");
  EXPECT_EQ(to_string(Shape{rows, 784}), "[rows, 784]");
  EXPECT_EQ(to_string(Shape{}), "[]");
}

TEST(Parse, reads_shapes_and_refuses_everything_else_with_a_position) {
  const Dim rows = dim("rows");
  const auto lookup = [&](std::string_view name) -> Dim {
    if (name == "rows") return rows;
    throw FormatError("unknown size");
  };
  EXPECT_TRUE(parse_shape("[rows, 2 * rows + 1]", lookup).same_as(Shape{rows, 2 * rows + 1}));
  EXPECT_TRUE(parse_shape("[]", lookup).same_as(Shape{}));
  EXPECT_TRUE(parse_dim("min(rows, 3, rows + 1)", lookup).same_as(min(rows, 3)));
  for (const char* bad :
       {"", "rows +", "(rows", "rows)", "rows rows", "median(rows, 2)", "99999999999999999999", "2 ** rows", "cols", "min()", "#"}) {
    EXPECT_THROW(parse_dim(bad, lookup), FormatError) << bad;
  }
  EXPECT_THROW(parse_dim("rows / 0", lookup), ShapeError);
  EXPECT_THROW(parse_dim(std::string(1000, '('), lookup), FormatError);
  EXPECT_THROW(parse_dim(std::string(100000, '1'), lookup), FormatError);
  EXPECT_THROW(parse_shape("[1, 2, 3, 4, 5, 6, 7, 8, 9]", lookup), ShapeError);
  EXPECT_THROW(parse_shape("[1, 2", lookup), FormatError);
}

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
