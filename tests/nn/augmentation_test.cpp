// Layers that change images at random: what they change, that each image has numbers of its own, and that a seed gives the same again.
#include "support/text_of.h"
#include "support/warnings.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace anyshape::test {
namespace {

constexpr LayerCallOptions training{.training = true};

// All pixels different: image, row, column and channel can be told from them.
Tensor numbered(const Shape& shape) { return reshape(arange(shape.count(), {.dtype = f32}), shape); }
Tensor image_of(const Tensor& images, int64_t index) { return slice(images, {{.begin = index, .end = index + 1}}); }
bool is_near(const Tensor& a, const Tensor& b) { return max(abs(a - b)).item<float>() < 1e-3F; }

struct Augmentation {
  const char* name;
  std::function<AnyLayer(std::optional<int64_t> seed)> make;
};
const std::vector<Augmentation> all = {
    {"RandomFlip", [](std::optional<int64_t> seed) { return RandomFlip(FlipMode::HorizontalAndVertical, {.seed = seed}); }},
    {"RandomCrop", [](std::optional<int64_t> seed) { return RandomCrop(4, 3, {.seed = seed}); }},
    {"RandomRotation", [](std::optional<int64_t> seed) { return RandomRotation(0.2, {.seed = seed}); }},
    {"RandomTranslation", [](std::optional<int64_t> seed) { return RandomTranslation(0.3, 0.2, {.seed = seed}); }},
    {"RandomZoom", [](std::optional<int64_t> seed) { return RandomZoom(0.3, {.seed = seed}); }},
    {"RandomContrast", [](std::optional<int64_t> seed) { return RandomContrast(0.5, {.value_range = {0, 1e4}, .seed = seed}); }},
    {"RandomBrightness", [](std::optional<int64_t> seed) { return RandomBrightness(0.2, {.value_range = {-1e4, 1e4}, .seed = seed}); }},
};

TEST(Augmentation, draws_for_every_image_and_every_call_anew) {
  const Tensor one = numbered({1, 9, 8, 2}) + 1000.0F, images = concat({one, one, one, one, one, one, one, one}, {.axis = 0});
  for (const Augmentation& each : all) {
    SCOPED_TRACE(each.name);
    const AnyLayer layer = each.make(std::nullopt);
    const Tensor first = layer(images, training), second = layer(images, training);
    EXPECT_FALSE(all_equal(first, second));
    int64_t different = 0;
    for (int64_t i = 1; i < 8; ++i) different += all_equal(image_of(first, 0), image_of(first, i)) ? 0 : 1;
    EXPECT_GE(different, 3);
  }
}

TEST(Augmentation, depends_on_the_seed_alone) {
  const Tensor images = numbered({5, 9, 8, 2});
  for (const Augmentation& each : all) {
    SCOPED_TRACE(each.name);
    random::set_seed(3);
    const Tensor first = each.make(std::nullopt)(images, training);
    random::set_seed(3);
    EXPECT_TRUE(all_equal(each.make(std::nullopt)(images, training), first)) << "random::set_seed";
    const AnyLayer own = each.make(7);
    const Tensor drawn = own(images, training);
    random::set_seed(99);
    const AnyLayer again = each.make(7);
    EXPECT_TRUE(all_equal(again(images, training), drawn)) << "its own seed";
    EXPECT_EQ(own.variables().size(), 0U);
  }
}

TEST(Augmentation, has_one_trace_for_all_sizes_and_draws_in_it) {
  const Warnings warnings;
  for (const Augmentation& each : all) {
    SCOPED_TRACE(each.name);
    const AnyLayer layer = each.make(5), eager = each.make(5);
    auto call = function([&](Tensor x) { return layer(x, training); }, {.name = each.name, .check_frozen = true});
    for (const auto& [batch, height, width] : {std::tuple<int64_t, int64_t, int64_t>{3, 9, 8}, {3, 9, 8}, {1, 5, 13}, {0, 6, 6}}) {
      const Tensor images = numbered({batch, height, width, 2});
      EXPECT_TRUE(batch == 0 || is_near(call(images), eager(images, training)));
    }
    EXPECT_EQ(call.stats().traces, 1) << call.report();
  }
  EXPECT_TRUE(warnings.texts().empty()) << warnings.texts().front();
}

TEST(Augmentation, leaves_images_alone_outside_training) {
  const Tensor images = numbered({2, 8, 6, 1});
  for (const Augmentation& each : all) {
    if (std::string(each.name) == "RandomCrop") continue;
    EXPECT_TRUE(all_equal(each.make(1)(images), images)) << each.name;
  }
  EXPECT_TRUE(all_equal(RandomCrop(8, 3)(images), CenterCrop(8, 3)(images))) << "the largest part of that shape, here without resizing";
  EXPECT_EQ(to_string(RandomCrop(4, 4)(images).shape()), "[2, 4, 4, 1]");
}

TEST(RandomFlip, turns_each_image_over_half_the_time) {
  const Tensor images = numbered({400, 2, 3, 1});
  int64_t turned = 0;
  const Tensor result = RandomFlip(FlipMode::Horizontal, {.seed = 1})(images, training), mirrored = flip(images, 2);
  for (int64_t i = 0; i < 400; ++i) {
    const bool is_turned = all_equal(image_of(result, i), image_of(mirrored, i));
    EXPECT_TRUE(is_turned || all_equal(image_of(result, i), image_of(images, i))) << i;
    turned += is_turned ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(turned), 200, 40);
  const Tensor vertical = RandomFlip(FlipMode::Vertical, {.seed = 1})(images, training);
  for (int64_t i = 0; i < 400; i += 7) {
    EXPECT_TRUE(all_equal(image_of(vertical, i), image_of(images, i)) || all_equal(image_of(vertical, i), flip(image_of(images, i), 1)));
  }
}

TEST(RandomCrop, gives_parts_at_every_place) {
  const Tensor images = numbered({300, 5, 4, 1});
  const Tensor parts = RandomCrop(3, 2, {.seed = 2})(images, training);
  std::set<std::pair<int64_t, int64_t>> places;
  for (int64_t i = 0; i < 300; ++i) {
    const auto first = static_cast<int64_t>(parts.item<float>(i, 0, 0, 0)) - i * 20;
    const int64_t row = first / 4, column = first % 4;
    places.emplace(row, column);
    const Tensor wanted = slice(image_of(images, i), {{}, {.begin = row, .end = row + 3}, {.begin = column, .end = column + 2}});
    ASSERT_TRUE(all_equal(image_of(parts, i), wanted)) << i;
  }
  EXPECT_EQ(places.size(), 9U) << "3 rows and 3 columns to begin with";
  const std::string text = text_of<ShapeError>([&] { RandomCrop(6, 2, {.name = "crop"})(images, training); });
  EXPECT_EQ(text.find("RandomCrop: "), 0U) << text;
  EXPECT_NE(text.find("In layer \"crop\"."), std::string::npos) << text;
}

TEST(RandomRotation, turns_a_quarter_against_the_clock) {
  const Tensor images = numbered({2, 5, 5, 3});
  const Tensor turned = RandomRotation({0.25, 0.25})(images, training);
  EXPECT_TRUE(is_near(turned, flip(transpose(images, {0, 2, 1, 3}), 1)));
  const Tensor nearest = RandomRotation({0.5, 0.5}, {.interpolation = Interpolation::Nearest})(images, training);
  EXPECT_TRUE(all_equal(nearest, flip(images, {1, 2})));
}

TEST(RandomTranslation, moves_down_and_to_the_right_and_fills_what_is_left) {
  const Tensor image = reshape(tensor({1.0F, 2.0F, 3.0F, 4.0F}), {1, 4, 1, 1});
  const auto moved = [&](FillMode mode, double by) {
    return RandomTranslation({by, by}, 0.0, {.fill_mode = mode, .fill_value = 9})(image, training).to_vector<float>();
  };
  const auto near = [](const std::vector<float>& got, const std::vector<float>& want) {
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-4) << i;
  };
  near(moved(FillMode::Constant, 0.25), {9, 1, 2, 3});
  near(moved(FillMode::Nearest, 0.5), {1, 1, 1, 2});
  near(moved(FillMode::Reflect, 0.5), {2, 1, 1, 2});
  near(moved(FillMode::Reflect, -0.5), {3, 4, 4, 3});
  near(moved(FillMode::Nearest, 0.125), {1, 1.5, 2.5, 3.5});
  near(moved(FillMode::Constant, 0.125), {5, 1.5, 2.5, 3.5});
  const Tensor wide = reshape(tensor({1.0F, 2.0F, 3.0F, 4.0F}), {1, 1, 4, 1});
  near(RandomTranslation(0.0, {0.25, 0.25}, {.fill_mode = FillMode::Nearest})(wide, training).to_vector<float>(), {1, 1, 2, 3});
}

TEST(RandomZoom, makes_images_larger_about_their_middle) {
  const Tensor image = reshape(tensor({0.0F, 1.0F, 2.0F, 3.0F, 4.0F}), {1, 1, 5, 1});
  const std::vector<float> larger = RandomZoom({-0.5, -0.5})(image, training).to_vector<float>();
  for (size_t i = 0; i < 5; ++i) EXPECT_NEAR(larger[i], 1 + 0.5 * static_cast<double>(i), 1e-4) << i;
  const std::vector<float> smaller =
      RandomZoom({0, 0}, {.width_factor = FactorRange(1, 1), .fill_mode = FillMode::Constant, .fill_value = 7})(image, training)
          .to_vector<float>();
  EXPECT_NEAR(smaller[1], 0, 1e-4);
  EXPECT_NEAR(smaller[0], 7, 1e-4);
  EXPECT_NEAR(smaller[3], 4, 1e-4);
}

TEST(RandomContrast, keeps_the_mean_of_every_channel) {
  const Tensor images = random::uniform({6, 7, 8, 3}, {.low = 80, .high = 120});
  const Tensor changed = RandomContrast(0.9, {.seed = 4})(images, training);
  const ReduceOptions over_image{.axes = {1, 2}, .keep_dims = true};
  EXPECT_TRUE(is_near(mean(changed, over_image) * 0.01F, mean(images, over_image) * 0.01F));
  const Tensor factor = (changed - mean(images, over_image)) / (images - mean(images, over_image));
  const std::vector<float> low = min(factor, {.axes = {1, 2, 3}}).to_vector<float>(),
                           high = max(factor, {.axes = {1, 2, 3}}).to_vector<float>();
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(low[i], high[i], 1e-2) << "one factor for the whole image";
    EXPECT_TRUE(low[i] > 0.09F && high[i] < 1.91F);
  }
}

TEST(RandomBrightness, adds_a_number_and_stays_in_the_range) {
  const Tensor images = full({200, 2, 2, 1}, 0.5F);
  const std::vector<float> changed = RandomBrightness({-0.5, 1.0}, {.value_range = {0, 1}, .seed = 4})(images, training).to_vector<float>();
  int64_t highest = 0;
  for (size_t i = 0; i < changed.size(); ++i) {
    EXPECT_TRUE(changed[i] >= 0 && changed[i] <= 1);
    EXPECT_EQ(changed[i], changed[i - i % 4]) << "one number for the whole image";
    highest += changed[i] == 1 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(highest), 800.0 / 3, 80) << "a third of the factors goes beyond";
  EXPECT_EQ(text_of<ArgumentError>([] { RandomBrightness(0.1, {.value_range = {1}}); }),
            "RandomBrightness: value_range is [1]; expected the least and the greatest value of a pixel.");
}

}  // namespace
}  // namespace anyshape::test
