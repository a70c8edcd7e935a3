// What a loss or metric of the user's own may return, and the text where it returns something else.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape {
namespace {

using test::text_of;

const Loss plain = [](const Tensor& y, const Tensor& p) { return square(y - p); };
constexpr const char* rule =
    "; expected one number, or one value per row or position: the leading sizes of b. Bring both to one shape first, as with "
    "squeeze(prediction, {-1}) or expand_dims(target, -1). In ";

TEST(CalledLoss, refuses_rows_by_rows) {
  EXPECT_EQ(text_of<ShapeError>([] { plain(ones({5}), ones({5, 1})); }),
            std::string("loss: the callable returned f32[5, 5] for target (a) and prediction (b): a is f32[5], b is f32[5, 1]") + rule +
                "loss \"loss\".");
  EXPECT_EQ(text_of<ShapeError>([] { plain(ones({5, 1}), ones({5})); }).substr(0, 37), "loss: the callable returned f32[5, 5]");
}

TEST(CalledLoss, refuses_another_number_of_values) {
  const Loss two = [](const Tensor&, const Tensor& p) { return slice(reshape(p, {-1}), {{.end = 2}}); };
  EXPECT_EQ(text_of<ShapeError>([&] { two(ones({5, 1}), ones({5, 1})); }),
            std::string("loss: the callable returned f32[2] for target (a) and prediction (b): a is f32[5, 1], b is f32[5, 1]") + rule +
                "loss \"loss\".");
}

TEST(CalledLoss, of_one_element_with_an_axis_is_told_how_to_be_a_number) {
  const Loss kept = [](const Tensor& y, const Tensor& p) { return reshape(mean(square(y - p)), {1}); };
  auto step = function([&](Tensor y, Tensor p) { return kept(y, p); },
                       {.signature = {spec(f32, {dim("n"), 1}, "y"), spec(f32, {dim("n"), 1}, "p")}});
  EXPECT_EQ(
      text_of<ShapeError>([&] { step(ones({5, 1}), ones({5, 1})); }),
      "loss: the callable returned f32[1] for target (a) and prediction (b): a is f32[n, 1], b is f32[n, 1]; expected one number, or one "
      "value per row or position: the leading sizes of b. Where it is meant as one number, return reshape(result, {}), which has no axis. "
      "In loss \"loss\".");
}

TEST(CalledLoss, refuses_them_in_a_trace_whatever_the_first_size) {
  for (const int64_t rows : {1, 5}) {
    auto step = function([](Tensor y, Tensor p) { return plain(y, p); },
                         {.signature = {spec(f32, {dim("n")}, "y"), spec(f32, {dim("n"), 1}, "p")}});
    const std::string text = text_of<ShapeError>([&] { step(ones({rows}), ones({rows, 1})); });
    EXPECT_EQ(text.substr(0, 37), "loss: the callable returned f32[n, n]") << text;
  }
}

TEST(CalledLoss, takes_one_number_rows_positions_and_elements) {
  const Tensor y = ones({4, 3, 2}), p = zeros({4, 3, 2});
  for (const Axes& axes : {Axes{0, 1, 2}, Axes{1, 2}, Axes{2}}) {
    const Loss own = [axes](const Tensor& a, const Tensor& b) { return mean(square(a - b), {.axes = axes}); };
    EXPECT_EQ(own(y, p).item<float>(), 1);
  }
  EXPECT_EQ(plain(y, p).item<float>(), 1);
  const Loss kept = [](const Tensor& a, const Tensor& b) { return mean(square(a - b), {.axes = {2}, .keep_dims = true}); };
  EXPECT_EQ(kept(y, p).item<float>(), 1);
  const Tensor rows = ragged_from_lengths(ones({5}), tensor({2, 0, 3}));
  EXPECT_EQ(plain(rows, rows * 3).item<float>(), 4);
}

TEST(CalledLoss, is_refused_by_fit_and_as_a_metric) {
  Sequential model(Dense(1));
  const FitOptions silent{.verbose = Verbose::Silent};
  model.compile({.optimizer = "sgd", .loss = plain});
  EXPECT_NE(text_of<ShapeError>([&] { model.fit(ones({8, 3}), ones({8}), silent); }).find("loss: the callable returned f32["),
            std::string::npos);
  model.compile(
      {.optimizer = "sgd", .loss = "mse", .metrics = {mean_metric([](const Tensor& y, const Tensor& p) { return y - p; }, "gap")}});
  EXPECT_NE(text_of<ShapeError>([&] { model.fit(ones({8, 3}), ones({8}), silent); }).find("gap: the callable returned f32["),
            std::string::npos);
  model.compile({.optimizer = "sgd", .loss = plain});
  model.fit(ones({8, 3}), ones({8, 1}), silent);
}

}  // namespace
}  // namespace anyshape
