// Sizes and shapes as text, and back.
#include <anyshape/error.h>
#include <anyshape/shape.h>
#include <gtest/gtest.h>

#include "shape/parse.h"

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

}  // namespace
}  // namespace anyshape
