// The networks by name: their parameters, names and sizes.
#include "nn/named_weights.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>

namespace anyshape::test {
namespace {

std::vector<std::string> names_of(const Model& model) {
  std::vector<std::string> names;
  for (const AnyLayer& layer : model.children()) names.push_back(layer.name());
  return names;
}

// The counts that the networks are known by, moving statistics included.
TEST(Applications, have_as_many_parameters_as_they_are_known_for) {
  EXPECT_EQ(applications::resnet50({.classes = 10}).parameter_count(), 23'608'202);
  EXPECT_EQ(applications::resnet50().parameter_count(), 25'636'712);
  EXPECT_EQ(applications::resnet50({.include_top = false}).parameter_count(), 23'587'712);
  EXPECT_EQ(applications::mobilenet().parameter_count(), 4'253'864);
  EXPECT_EQ(applications::resnet18().parameter_count(), 11'689'512 + 9'600);
}

TEST(Applications, have_keras_names) {
  const Model model = applications::resnet50({.classes = 10});
  EXPECT_EQ(model.name(), "resnet50");
  const std::vector<std::string> names = names_of(model);
  EXPECT_EQ(names.size(), 176U) << "all of Keras's but the input";
  const std::vector<std::string> first = {"conv1_pad",  "conv1_conv",          "conv1_bn",         "conv1_relu", "pool1_pad",
                                          "pool1_pool", "conv2_block1_1_conv", "conv2_block1_1_bn"};
  for (const std::string& name : first) EXPECT_TRUE(std::ranges::find(names, name) != names.end()) << name;
  EXPECT_EQ(names[names.size() - 2], "avg_pool");
  EXPECT_EQ(names.back(), "predictions");
  const std::vector<std::pair<std::string, Variable>> weights = nn::named_weights(model);
  EXPECT_EQ(weights.size(), 320U);
  EXPECT_EQ(weights.front().first, "conv1_conv/kernel");
  EXPECT_EQ(to_string(model.layer("conv3_block1_0_conv").variables()[0].shape()), "[1, 1, 256, 512]");
}

TEST(Applications, take_images_of_every_size) {
  const Model model = applications::resnet18({.classes = 4});
  auto predict = function([&](Tensor x) { return model(x); }, {.name = "predict"});
  for (const auto& [height, width] : {std::pair<int64_t, int64_t>{32, 32}, {37, 50}, {20, 33}}) {
    const Tensor images = random::uniform({2, height, width, 3});
    const Tensor result = predict(images);
    EXPECT_EQ(to_string(result.shape()), "[2, 4]");
    EXPECT_NEAR(sum(result).item<float>(), 2, 1e-4);
    const Tensor alone = predict(slice(images, {{.begin = 0, .end = 1}}));
    EXPECT_LT(max(abs(alone - slice(result, {{.begin = 0, .end = 1}}))).item<float>(), 1e-5F);
  }
  EXPECT_EQ(predict.stats().traces, 1) << predict.report();
}

TEST(Applications, end_as_they_are_asked_to) {
  const Tensor image = ones({1, 32, 40, 3});
  EXPECT_EQ(to_string(applications::mobilenet({.include_top = false})(image).shape()), "[1, 1, 1, 1024]");
  EXPECT_EQ(to_string(applications::mobilenet({.include_top = false, .pooling = "max"})(image).shape()), "[1, 1024]");
  EXPECT_EQ(applications::mobilenet({.include_top = false, .pooling = "avg", .name = "small"}).name(), "small");
  EXPECT_EQ(to_string(applications::mobilenet({.input_shape = {32, 40, 1}, .classes = 3})(ones({2, 32, 40, 1})).shape()), "[2, 3]");
}

TEST(Applications, refuse_options_that_no_network_has) {
  EXPECT_EQ(text_of<ShapeError>([] { applications::resnet50({.input_shape = {224, 224}}); }),
            "resnet50: input_shape is [224, 224]; expected [height, width, channels] with a number of channels.");
  EXPECT_EQ(text_of<ArgumentError>([] { applications::resnet50({.include_top = false, .pooling = "average"}); }),
            "resnet50: pooling is \"average\"; expected \"avg\", \"max\" or none.");
  EXPECT_EQ(text_of<ArgumentError>([] { applications::mobilenet({.classes = 0}); }), "mobilenet: classes is 0; expected at least 1.");
}

}  // namespace
}  // namespace anyshape::test
