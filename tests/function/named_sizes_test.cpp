// Sizes that are given by name: one reader for all that take them, which says what is wrong with which name.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

using Sizes = std::vector<NamedSize>;

auto make_twice() {
  auto twice = function([](Tensor x) { return x + x; },
                        {.name = "twice", .signature = {spec(f32, {dim("batch", {.max = 64}), dim("time", {.multiple_of = 8})}, "x")}});
  twice(ones({1, 8}));
  return twice;
}

// What both say, each under its own name.
void expect_refused(const Sizes& sizes, const std::string& what) {
  const auto twice = make_twice();
  const std::string trace = " The trace is (x: f32[batch, time]).";
  EXPECT_EQ(text_of<ArgumentError>([&] { twice.explain(sizes); }), "function \"twice\": explain: " + what + trace);
  EXPECT_EQ(text_of<ArgumentError>([&] { twice.peak_bytes(sizes); }), "function \"twice\": peak_bytes: " + what + trace);
}

TEST(NamedSizes, a_name_that_no_trace_has_is_refused) {
  expect_refused({{"bacth", 1}, {"time", 8}}, "\"bacth\" is no size; expected \"batch\".");
  expect_refused({{"q", 1}}, "\"q\" is no size; expected one of \"time\", \"batch\".");
}

TEST(NamedSizes, a_name_is_given_once) {
  expect_refused({{"time", 8}, {"batch", 1}, {"time", 16}}, "\"time\" is given twice; expected one size for each name.");
}

TEST(NamedSizes, a_number_is_one_that_a_call_can_have) {
  expect_refused({{"batch", -1}}, "\"batch\" is -1; expected a size from 0 to 64.");
  expect_refused({{"batch", 65}, {"time", 8}}, "\"batch\" is 65; expected a size from 0 to 64.");
  expect_refused({{"time", -8}}, "\"time\" is -8; expected a size of 0 or more, a multiple of 8.");
  expect_refused({{"time", 12}}, "\"time\" is 12; expected a size of 0 or more, a multiple of 8.");
}

TEST(NamedSizes, where_all_sizes_are_numbers_there_is_none_to_give) {
  auto twice = function([](Tensor x) { return x + x; }, {.name = "twice", .signature = {spec(f32, {3}, "x")}});
  twice(ones({3}));
  const std::string what = "\"n\" is no size; expected none: all are numbers. The trace is (x: f32[3]).";
  EXPECT_EQ(text_of<ArgumentError>([&] { twice.explain({{"n", 3}}); }), "function \"twice\": explain: " + what);
  EXPECT_EQ(text_of<ArgumentError>([&] { twice.peak_bytes({{"n", 3}}); }), "function \"twice\": peak_bytes: " + what);
  EXPECT_EQ(twice.peak_bytes(), twice.peak_bytes({}));
}

TEST(NamedSizes, a_number_of_bytes_needs_all_and_a_text_those_there_are) {
  const auto twice = make_twice();
  EXPECT_EQ(text_of<ArgumentError>([&] { twice.peak_bytes({{"time", 8}}); }),
            "function \"twice\": peak_bytes: no size is given for \"batch\"; expected peak_bytes({{\"batch\", ...}, {\"time\", ...}}). The "
            "trace is (x: f32[batch, time]).");
  EXPECT_NE(twice.explain({.detail = Detail::Full, .sizes = {{"time", 8}}}).find("8 * batch FLOP"), std::string::npos)
      << twice.explain({.detail = Detail::Full, .sizes = {{"time", 8}}});
}

TEST(NamedSizes, a_name_of_any_trace_is_known) {
  auto twice = function([](Tensor x) { return x + x; }, {.name = "twice"});
  twice(ones({2}));
  twice(ones({2, 3}));
  EXPECT_NE(twice.explain({.detail = Detail::Full, .sizes = {{"a1", 3}}}).find("3 * a0 FLOP"), std::string::npos)
      << twice.explain({.detail = Detail::Full, .sizes = {{"a1", 3}}});
  EXPECT_EQ(text_of<ArgumentError>([&] { twice.explain({{"b0", 3}}); }),
            "function \"twice\": explain: \"b0\" is no size; expected one of \"a0\", \"a1\". The traces are (f32[a0]), (f32[a0, a1]).");
}

}  // namespace
}  // namespace anyshape::test
