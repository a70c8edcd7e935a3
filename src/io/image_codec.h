// The formats of images: bytes to pixels of eight bits and back. A file is hostile until it has been decoded: its sizes are held to a limit before
// memory is allocated for them.
#pragma once
#include <anyshape/tensor.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace anyshape::io {

// A file in memory, for decoders and for what they say of it.
class ImageBytes {
 public:
  ImageBytes(std::string place, std::string_view bytes, int64_t most_values)
      : place_(std::move(place)), bytes_(bytes), most_values_(most_values) {}

  std::string_view bytes() const { return bytes_; }
  bool starts_with(std::string_view signature) const { return bytes_.starts_with(signature); }
  // u8 [height, width, channels], not initialised; FormatError where there are more values than the limit.
  Tensor make_pixels(int64_t height, int64_t width, int channels) const;
  // FormatError: `read_image: "x.png" <what>.`
  [[noreturn]] void refuse(std::string_view what) const;
  [[noreturn]] void refuse_damaged(std::string_view format, std::string_view problem) const;
  void warn(std::string_view what) const;

 private:
  std::string place_;
  std::string_view bytes_;
  int64_t most_values_;
};

struct DecodedImage {
  Tensor pixels;        // u8 [height, width, channels as in the file]
  int orientation = 1;  // as EXIF numbers them: 1 is upright
};

constexpr std::string_view png_signature = "\x89PNG\r\n\x1a\n", jpeg_signature = "\xff\xd8\xff";
DecodedImage decode_png(const ImageBytes& file);
DecodedImage decode_jpeg(const ImageBytes& file);
// How the camera was held, from the content of a JPEG's APP1 segment; 1 for whatever is no EXIF or does not say.
int exif_orientation(std::string_view segment);

// Of u8 [height, width, channels] in memory, row by row. `place` opens errors.
struct PixelView {
  const unsigned char* data;
  int64_t height, width;
  int channels;
};
std::string encode_png(std::string_view place, const PixelView& pixels);
std::string encode_jpeg(std::string_view place, const PixelView& pixels, int quality);

// The image in a file's bytes as read_image() gives it.
struct ImageForm {
  int channels;
  Dtype dtype;
};
void require_image_form(std::string_view caller, ImageForm form,
                        std::optional<int64_t> most_values);  // ArgumentError for what makes no sense
Tensor decode_image(const ImageBytes& file, ImageForm form);
Tensor read_image_file(std::string_view caller, const std::filesystem::path& path, ImageForm form, std::optional<int64_t> most_values);

}  // namespace anyshape::io
