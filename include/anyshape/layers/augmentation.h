// Layers that change images [batch, height, width, channels] at random while training, each image by numbers of its own; outside training they leave them
// as they are. What is drawn depends on random::set_seed, or on the layer's seed and on how often it was called.
#pragma once
#include <anyshape/layer.h>
#include <anyshape/ops/image.h>

#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

/// How far a random change goes: 0.2 is from -0.2 to 0.2, {-0.1, 0.3} from one to the other.
class FactorRange : public detail::ShownByConfig<FactorRange> {
 public:
  FactorRange(double most);
  FactorRange(double lower, double upper);  ///< ArgumentError unless lower <= upper

  double lower() const { return lower_; }                               ///< the least factor
  double upper() const { return upper_; }                               ///< the greatest
  Config config() const;                                                ///< a number, or a list of two
  static constexpr const char* in_words = "a number or a list of two";  ///< what a config says where one is expected

 private:
  double lower_, upper_;
};
/// From a number, or a list of two.
template <>
FactorRange make<FactorRange>(const Config& config);

/// What every one of these layers takes.
struct RandomOptions {
  std::optional<int64_t> seed = {};  ///< none: on random::set_seed
  std::string name = {};
  std::optional<Dtype> dtype = {};
};

/// Which way images are turned over.
enum class FlipMode { Horizontal, Vertical, HorizontalAndVertical };
/// Each image turned over with probability 1/2, along each axis of the mode.
class RandomFlip : public AnyLayer {
 public:
  explicit RandomFlip(FlipMode mode = FlipMode::HorizontalAndVertical, RandomOptions options = {});
};
/// A part of each image, at a random place; outside training the largest middle part of that shape, resized. ShapeError for images that are smaller.
class RandomCrop : public AnyLayer {
 public:
  RandomCrop(int64_t height, int64_t width, RandomOptions options = {});
};

/// What stands outside an image: the image mirrored, its outermost pixel, or a number.
enum class FillMode { Reflect, Nearest, Constant };
/// How pixels are found between those that there are, and outside.
struct RandomTransformOptions {
  FillMode fill_mode = FillMode::Reflect;
  Interpolation interpolation = Interpolation::Bilinear;
  std::optional<int64_t> seed = {};  ///< none: on random::set_seed
  double fill_value = 0;             ///< FillMode::Constant
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// Each image turned about its middle; the factor is a part of a whole turn, against the clock where it is positive.
class RandomRotation : public AnyLayer {
 public:
  explicit RandomRotation(FactorRange factor, RandomTransformOptions options = {});
};
/// Each image moved by parts of its height and width: down and to the right where they are positive.
class RandomTranslation : public AnyLayer {
 public:
  RandomTranslation(FactorRange height_factor, FactorRange width_factor, RandomTransformOptions options = {});
};
/// Options of RandomZoom.
struct RandomZoomOptions {
  std::optional<FactorRange> width_factor = {};  ///< none: as the height, so that nothing is distorted
  FillMode fill_mode = FillMode::Reflect;
  Interpolation interpolation = Interpolation::Bilinear;
  std::optional<int64_t> seed = {};  ///< none: on random::set_seed
  double fill_value = 0;             ///< FillMode::Constant
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// Each image made smaller by a positive factor, larger by a negative one, about its middle.
class RandomZoom : public AnyLayer {
 public:
  explicit RandomZoom(FactorRange height_factor, RandomZoomOptions options = {});
};

/// The least and the greatest value that pixels have; results outside are moved to the nearest of them.
struct RandomValueOptions {
  std::vector<double> value_range = {0, 255};
  std::optional<int64_t> seed = {};  ///< none: on random::set_seed
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// The distance of each pixel from its channel's mean in its image, times 1 + factor.
class RandomContrast : public AnyLayer {
 public:
  explicit RandomContrast(FactorRange factor, RandomValueOptions options = {});
};
/// A number added to each image: the factor times the range of values.
class RandomBrightness : public AnyLayer {
 public:
  explicit RandomBrightness(FactorRange factor, RandomValueOptions options = {});
};

}  // namespace anyshape
#pragma GCC visibility pop
