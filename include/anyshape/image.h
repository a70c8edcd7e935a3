// Images from and to PNG and JPEG files, as tensors [height, width, channels].
#pragma once
#include <anyshape/tensor.h>

#include <cstdint>
#include <filesystem>
#include <optional>

#pragma GCC visibility push(default)
namespace anyshape {

/// What read_image() makes of a file.
struct ReadImageOptions {
  int channels = 3;          ///< 1: grey; 3: red, green, blue; 4: with alpha; 0: as the file has them (grey with alpha: 2)
  Dtype dtype = Dtype::f32;  ///< of the values 0 to 255; u8 takes a quarter of the memory
  /// The most values (height times width times the file's channels) that are decoded; none: four times the file's bytes and 64 Mi.
  std::optional<int64_t> most_values = {};
};
/// A PNG or JPEG file, known by its first bytes, as [height, width, channels] with values from 0 to 255, as Keras has them. Sixteen bits become
/// eight, grey of colours is (299 red + 587 green + 114 blue) / 1000, alpha that is not asked for is dropped, and an image that its camera has
/// marked as turned is turned upright. FormatError for a file that is damaged, cut short, too large, in the colours of print, or something else.
Tensor read_image(const std::filesystem::path& file, ReadImageOptions options = {});

/// What the values of an image mean: from 0, which is black, to `white`.
struct WritePngOptions {
  double white = 255;  ///< 1 for values from 0 to 1
};
/// An image [height, width] or [height, width, 1 to 4 channels] (grey, grey and alpha, colours, colours and alpha), rounded to eight bits. DataError for
/// a value outside 0 to `white`. Whole or not at all.
void write_png(const std::filesystem::path& file, const Tensor& image, WritePngOptions options = {});
/// Quality is 1 to 100, from small to good.
struct WriteJpegOptions {
  int quality = 90;
  double white = 255;  ///< 1 for values from 0 to 1
};
/// Likewise with 1 or 3 channels. What is read again differs a little, and less for a higher quality.
void write_jpeg(const std::filesystem::path& file, const Tensor& image, WriteJpegOptions options = {});

}  // namespace anyshape
#pragma GCC visibility pop
