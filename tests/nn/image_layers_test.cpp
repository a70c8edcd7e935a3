// Layers of images as a user meets them: networks on images of any size, and what is refused.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

Sequential small_network() {
  return Sequential(Conv2D(4, 3, {.strides = 2, .padding = "same", .activation = "relu", .name = "stem"}), BatchNormalization(),
                    MaxPooling2D(2, {.name = "pool"}), SeparableConv2D(6, 3, {.activation = "relu", .name = "body"}),
                    GlobalAveragePooling2D(), Dense(3, {.activation = "softmax"}));
}

TEST(ImageLayers, take_every_size_with_one_trace) {
  const Sequential model = small_network();
  model.build({dynamic, dynamic, dynamic, 3});
  auto predict = function([&](Tensor x) { return model(x); }, {.name = "predict"});
  for (const auto& [height, width] : {std::pair<int64_t, int64_t>{16, 16}, {13, 31}, {12, 12}, {40, 11}}) {
    for (const int64_t batch : {2, 0, 1}) {
      const Tensor images = random::uniform({batch, height, width, 3});
      EXPECT_TRUE(all_close(predict(images), model(images), {.relative = 1e-5, .absolute = 1e-6}))
          << batch << " of " << height << " x " << width;
    }
  }
  EXPECT_EQ(predict.stats().traces, 1) << predict.report();
}

TEST(ImageLayers, give_a_batch_what_they_give_its_images_one_by_one) {
  const Sequential model = small_network();
  const Tensor images = random::uniform({5, 14, 17, 3});
  const Tensor together = model(images);
  for (int64_t i = 0; i < 5; ++i) {
    const Tensor alone = model(slice(images, {{.begin = i, .end = i + 1}}));
    EXPECT_TRUE(all_close(alone, slice(together, {{.begin = i, .end = i + 1}}), {.relative = 1e-5, .absolute = 1e-6})) << i;
  }
}

TEST(ImageLayers, show_sizes_as_formulas) {
  const Sequential model(Conv2D(8, 3, {.strides = 2}), MaxPooling2D(), GlobalAveragePooling2D(), Dense(2));
  model(ones({1, 20, 20, 3}));
  const std::string summary = model.summary();
  EXPECT_NE(summary.find("[batch, (height + 1) / 2 - 1, (width + 1) / 2 - 1, 8]"), std::string::npos) << summary;
  EXPECT_NE(summary.find("[batch, 2]"), std::string::npos) << summary;
}

TEST(ImageLayers, say_which_size_an_image_needs) {
  const Sequential model = small_network();
  model(ones({1, 16, 16, 3}));
  const auto eagerly = [&] { model(ones({1, 9, 16, 3})); };
  const std::string eager = text_of<ShapeError>(eagerly);
  EXPECT_NE(eager.find("axis 1 has 2 elements, too few for 3 taps"), std::string::npos) << eager;
  EXPECT_NE(eager.find("at least 3 elements"), std::string::npos) << eager;
  EXPECT_NE(eager.find("In layer \"sequential/body\"."), std::string::npos) << eager;

  auto predict = function([&](Tensor x) { return model(x); },
                          {.name = "predict", .signature = {spec(f32, {dim("batch"), dim("height"), dim("width"), 3}, "x")}});
  predict(ones({1, 16, 16, 3}));
  const std::string traced = text_of<ShapeError>([&] { predict(ones({1, 7, 16, 3})); });
  EXPECT_NE(traced.find("axis 1 has (height + 1) / 4 elements, too few for 3 taps"), std::string::npos) << traced;
  EXPECT_NE(traced.find("It would hold with height = 11."), std::string::npos) << traced;
  EXPECT_NE(traced.find("In layer \"sequential/body\"."), std::string::npos) << traced;
  EXPECT_NE(traced.find("In function \"predict\"."), std::string::npos) << traced;
  const std::string shallow = text_of<ShapeError>([&] { predict(ones({1, 1, 16, 3})); });
  EXPECT_NE(shallow.find("It would hold with height = 11. In layer \"sequential/pool\"."), std::string::npos)
      << shallow << "\nthe size that the later layers need, too";
  EXPECT_NO_THROW(predict(ones({1, 11, 16, 3})));
  EXPECT_THROW(predict(ones({1, 10, 16, 3})), ShapeError);
}

TEST(ImageLayers, refuse_other_ranks_and_ragged_rows_by_name) {
  const Conv2D layer(4, 3, {.name = "stem"});
  EXPECT_EQ(text_of<ShapeError>([&] { layer(ones({2, 8, 3})); }),
            "Conv2D: x is f32[2, 8, 3]; expected [batch, height, width, channels]. In layer \"stem\".");
  const MaxPooling1D pool(2, {.name = "pool"});
  const std::string text = text_of<ShapeError>([&] { pool(ragged_from_rows({ones({2, 1}), ones({1, 1})})); });
  EXPECT_EQ(text.find("MaxPooling1D: x is "), 0U) << text;
  EXPECT_NE(text.find("expected a dense tensor [batch, time, channels]"), std::string::npos) << text;
  EXPECT_NE(text.find("use to_padded"), std::string::npos) << text;
  EXPECT_NE(text.find("In layer \"pool\"."), std::string::npos) << text;
}

TEST(ImageLayers, refuse_options_that_contradict_each_other) {
  EXPECT_EQ(text_of<ArgumentError>([] { Conv2D(4, 3, {.strides = 2, .dilation_rate = {1, 2}}); }),
            "Conv2D: strides is [2, 2] and dilation_rate is [1, 2]; expected 1 for one of them.");
  EXPECT_EQ(text_of<ArgumentError>([] { Conv2D(4, 3, {.groups = 3}); }),
            "Conv2D: groups is 3 and filters 4; expected a number of groups that divides the filters.");
  EXPECT_EQ(text_of<ShapeError>([] { Conv2D(4, 3, {.groups = 2, .name = "stem"})(ones({1, 8, 8, 3})); }),
            "Conv2D: x has 3 channels and groups is 2; expected a number of groups that divides the channels. In layer \"stem\".");
  EXPECT_EQ(text_of<ArgumentError>([] { Conv2D(4, 3, {.padding = "causal"}); }),
            "Conv2D: padding is \"causal\"; expected \"valid\", \"same\" or numbers: only time has a direction.");
  EXPECT_EQ(text_of<ArgumentError>([] { Conv2D(0, 3); }), "Conv2D: filters is 0; expected at least 1.");
  EXPECT_EQ(text_of<ArgumentError>([] { Conv2D(4, {3, 3, 3}); }),
            "Conv2D: kernel_size is [3, 3, 3]; expected one number, or one for each of 2 axes.");
  EXPECT_EQ(text_of<ArgumentError>([] { ZeroPadding2D("same"); }), "ZeroPadding2D: padding is \"same\"; expected numbers.");
  EXPECT_EQ(text_of<ArgumentError>([] { GroupNormalization({.groups = 0}); }),
            "GroupNormalization: groups is 0; expected at least 1, or -1 for as many as channels.");
}

TEST(ImageLayers, crop_the_middle) {
  const Tensor images = reshape(arange(2 * 5 * 6, {.dtype = f32}), {2, 5, 6, 1});
  const Tensor middle = CenterCrop(3, 2)(images);
  EXPECT_TRUE(all_equal(middle, slice(images, {{}, {.begin = 1, .end = 4}, {.begin = 2, .end = 4}})));
  EXPECT_THROW(CenterCrop(6, 2)(images), ShapeError);
  EXPECT_TRUE(all_equal(Resizing(5, 2, {.crop_to_aspect_ratio = true})(images), CenterCrop(5, 2)(images))) << "nothing is distorted";
}

// The bias and the normalisation behind a convolution need no pass of their own: factor and shift are small.
TEST(ImageLayers, normalise_by_factor_and_shift_outside_training) {
  BatchNormalization layer({.dtype = f64});
  const Tensor x = cast(random::normal({2, 3, 4, 5}), f64);
  layer(x);
  layer.set_weights({full({5}, 2.0, {.dtype = f64}), full({5}, 0.5, {.dtype = f64}), full({5}, 1.0, {.dtype = f64}),
                     full({5}, 4.0 - 1e-3, {.dtype = f64})});
  EXPECT_TRUE(all_close(layer(x), (x - 1.0) / 2.0 * 2.0 + 0.5, {.relative = 1e-12, .absolute = 1e-12}));
}

}  // namespace
}  // namespace anyshape::test
