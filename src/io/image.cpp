// Images: files to tensors and back. Decoders give eight bits for each of the file's channels; here they become what was asked for.
#include "base/checked.h"
#include "base/cut_text.h"
#include "base/log.h"
#include "io/image_codec.h"
#include "io/read_file.h"
#include "io/whole_file.h"
#include "tensor/element.h"
#include "tensor/host_data.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/image.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace anyshape {

namespace io {
namespace {

constexpr int64_t values_per_byte = 4, values_of_any_file = int64_t{64} << 20;

// Pixels of an image turned upright: from one pixel to the next along each axis.
struct Walk {
  int64_t height, width, first, along_height, along_width;
};

Walk upright(int64_t height, int64_t width, int orientation) {
  const int64_t last_row = (height - 1) * width, last_column = width - 1;
  switch (orientation) {
    case 2: return {height, width, last_column, width, -1};
    case 3: return {height, width, last_row + last_column, -width, -1};
    case 4: return {height, width, last_row, -width, 1};
    case 5: return {width, height, 0, 1, width};
    case 6: return {width, height, last_row, 1, -width};
    case 7: return {width, height, last_row + last_column, -1, -width};
    case 8: return {width, height, last_column, -1, width};
    default: return {height, width, 0, width, 1};
  }
}

unsigned char grey_of(const unsigned char* colours) {
  constexpr unsigned red = 19595, green = 38470, blue = 7471, half = 32768;  // 0.299, 0.587 and 0.114 of 65536
  return static_cast<unsigned char>((red * colours[0] + green * colours[1] + blue * colours[2] + half) >> 16U);
}

// One pixel with other channels: 1 and 3 are without alpha, 2 and 4 with it.
void change_channels(const unsigned char* from, int channels, std::array<unsigned char, 4>& to, int wanted) {
  constexpr unsigned char opaque = 255;
  const bool has_colours = channels >= 3, has_alpha = channels % 2 == 0;
  const unsigned char grey = has_colours && wanted < 3 ? grey_of(from) : from[0];
  for (int i = 0; i < (wanted < 3 ? 1 : 3); ++i) to[static_cast<size_t>(i)] = has_colours && wanted >= 3 ? from[i] : grey;
  if (wanted % 2 == 0) to[static_cast<size_t>(wanted) - 1] = has_alpha ? from[channels - 1] : opaque;
}

template <class T>
void convert(const DecodedImage& image, const Walk& walk, int channels, T* to, int wanted) {
  std::array<T, 256> value_of;
  for (size_t i = 0; i < value_of.size(); ++i) value_of[i] = convert_element<T>(static_cast<float>(i));
  const unsigned char* const pixels = host_data<unsigned char>(image.pixels);
  std::array<unsigned char, 4> changed{};
  for (int64_t row = 0; row < walk.height; ++row) {
    for (int64_t column = 0; column < walk.width; ++column) {
      const unsigned char* pixel = pixels + (walk.first + row * walk.along_height + column * walk.along_width) * channels;
      if (channels != wanted) {
        change_channels(pixel, channels, changed, wanted);
        pixel = changed.data();
      }
      for (int i = 0; i < wanted; ++i) *to++ = value_of[pixel[i]];
    }
  }
}

}  // namespace

void ImageBytes::refuse(std::string_view what) const { throw FormatError(fmt::format("{} {}.", place_, what)); }
void ImageBytes::refuse_damaged(std::string_view format, std::string_view problem) const {
  refuse(fmt::format("is damaged: {}; expected a whole {} file", problem.substr(0, problem.find_last_not_of(". \n") + 1), format));
}
void ImageBytes::warn(std::string_view what) const { log_warning(fmt::format("{}: {}", place_, what)); }

Tensor ImageBytes::make_pixels(int64_t height, int64_t width, int channels) const {
  const int64_t most = most_values_ >= 0 ? most_values_ : values_of_any_file + values_per_byte * static_cast<int64_t>(bytes_.size());
  int64_t values = 0;
  if (__builtin_mul_overflow(height, width, &values) || __builtin_mul_overflow(values, channels, &values) || values > most) {
    refuse(fmt::format("says that it is {} x {} with {} channel{}; expected at most {} values{}. Say .most_values where the file is right",
                       height, width, channels, channels == 1 ? "" : "s", most,
                       most_values_ >= 0 ? "" : ", four times the file's bytes and 64 Mi"));
  }
  const int64_t sizes[] = {height, width, channels};
  return make_empty(Dtype::u8, sizes);
}

Tensor decode_image(const ImageBytes& file, ImageForm form) {
  if (!file.starts_with(png_signature) && !file.starts_with(jpeg_signature)) file.refuse("is neither PNG nor JPEG; expected one of them");
  const DecodedImage image = file.starts_with(png_signature) ? decode_png(file) : decode_jpeg(file);
  const std::span<const int64_t> sizes = image.pixels.impl()->extents();
  const int channels = static_cast<int>(sizes[2]), wanted = form.channels == 0 ? channels : form.channels;
  if (form.dtype == Dtype::u8 && wanted == channels && image.orientation == 1) return image.pixels;
  const Walk walk = upright(sizes[0], sizes[1], image.orientation);
  const int64_t upright_sizes[] = {walk.height, walk.width, wanted};
  const Tensor result = make_empty(form.dtype, upright_sizes);
  with_element(form.dtype, [&]<class T>(T) { convert(image, walk, channels, host_data<T>(result), wanted); });
  return result;
}

void require_image_form(std::string_view caller, ImageForm form, std::optional<int64_t> most_values) {
  if (form.channels != 0 && form.channels != 1 && form.channels != 3 && form.channels != 4) {
    throw ArgumentError(fmt::format("{}: .channels is {}; expected 1, 3, 4, or 0 for what the file has.", caller, form.channels));
  }
  if (form.dtype == Dtype::b8) throw ArgumentError(fmt::format("{}: .dtype is b8; expected a dtype of numbers.", caller));
  if (most_values && *most_values < 0)
    throw ArgumentError(fmt::format("{}: .most_values is {}; expected 0 or more.", caller, *most_values));
}

Tensor read_image_file(std::string_view caller, const std::filesystem::path& path, ImageForm form, std::optional<int64_t> most_values) {
  const std::string place = fmt::format("{}: {}", caller, whole_in_quotes(path.string()));
  ReadFile in(path);
  if (!in.problem().empty()) throw FormatError(fmt::format("{} {}; expected a PNG or JPEG file.", place, in.problem()));
  std::string bytes(static_cast<size_t>(in.size()), '\0');
  const int64_t got = in.read(bytes.data(), in.size());
  if (got < 0) throw FormatError(fmt::format("{} cannot be read on; expected a PNG or JPEG file.", place));
  bytes.resize(static_cast<size_t>(got));
  return decode_image({place, bytes, most_values.value_or(-1)}, form);
}

}  // namespace io

namespace {

// Values of a tensor as bytes: `white` is 255.
template <class T>
void to_bytes(std::string_view place, const T* from, std::span<const int64_t> sizes, double white, unsigned char* to) {
  const double scale = 255 / white;
  const int64_t channels = sizes.size() == 3 ? sizes[2] : 1, count = sizes[0] * sizes[1] * channels;
  for (int64_t i = 0; i < count; ++i) {
    const double value = convert_element<double>(from[i]), scaled = std::nearbyint(value * scale);
    if (!(scaled >= 0 && scaled <= 255)) {
      throw DataError(
          fmt::format("{}: the value at row {}, column {}, channel {} is {}; expected 0 to {}. Call clip() on the image, or say "
                      ".white.",
                      place, i / channels / sizes[1], i / channels % sizes[1], i % channels, value, white));
    }
    to[i] = static_cast<unsigned char>(scaled);
  }
}

// An image as it is written.
struct Pixels {
  Tensor bytes;
  io::PixelView view;
};

Pixels pixels_of(std::string_view place, const Tensor& image, double white, std::initializer_list<int64_t> channels,
                 std::string_view form) {
  if (image.defined() && image.is_ragged())
    throw ShapeError(fmt::format("{}: the image is {}; expected a dense tensor.", place, describe(image)));
  require_eager(image, place);
  const Tensor dense = contiguous(image);
  const std::span<const int64_t> sizes = dense.impl()->extents();
  const int64_t own_channels = sizes.size() == 3 ? sizes[2] : 1;
  if (sizes.size() < 2 || sizes.size() > 3 || std::ranges::find(channels, own_channels) == channels.end() || sizes[0] < 1 || sizes[1] < 1) {
    throw ShapeError(fmt::format("{}: the image is {}; expected {}, none of them 0.", place, describe(image), form));
  }
  if (dense.dtype() == Dtype::b8) throw DtypeError(fmt::format("{}: the image is {}; expected numbers.", place, describe(image)));
  if (!(white > 0) || std::isinf(white)) throw ArgumentError(fmt::format("{}: .white is {}; expected a number above 0.", place, white));
  Pixels pixels{.bytes = dense, .view = {}};
  if (dense.dtype() != Dtype::u8 || white != 255) {
    pixels.bytes = make_empty(Dtype::u8, sizes);
    with_element(dense.dtype(),
                 [&]<class T>(T) { to_bytes(place, host_data<T>(dense), sizes, white, host_data<unsigned char>(pixels.bytes)); });
  }
  pixels.view = {host_data<unsigned char>(pixels.bytes), sizes[0], sizes[1], static_cast<int>(own_channels)};
  return pixels;
}

void write_file(std::string_view place, const std::filesystem::path& file, std::string_view bytes) {
  WholeFile whole(std::string(place), file, {.is_durable = false});  // a folder may get thousands: none waits for the disk
  whole.write(bytes);
  whole.commit();
}

}  // namespace

Tensor read_image(const std::filesystem::path& file, ReadImageOptions options) {
  constexpr std::string_view place = "read_image";
  io::require_image_form(place, {options.channels, options.dtype}, options.most_values);
  return io::read_image_file(place, file, {options.channels, options.dtype}, options.most_values);
}

void write_png(const std::filesystem::path& file, const Tensor& image, WritePngOptions options) {
  constexpr std::string_view place = "write_png";
  const Pixels pixels = pixels_of(place, image, options.white, {1, 2, 3, 4}, "[height, width] or [height, width, 1 to 4 channels]");
  write_file(place, file, io::encode_png(place, pixels.view));
}

void write_jpeg(const std::filesystem::path& file, const Tensor& image, WriteJpegOptions options) {
  constexpr std::string_view place = "write_jpeg";
  if (options.quality < 1 || options.quality > 100) {
    throw ArgumentError(fmt::format("{}: .quality is {}; expected 1 to 100.", place, options.quality));
  }
  const Pixels pixels = pixels_of(place, image, options.white, {1, 3}, "[height, width] or [height, width, 1 or 3 channels]");
  write_file(place, file, io::encode_jpeg(place, pixels.view, options.quality));
}

}  // namespace anyshape
