// PNG through libpng. Its errors jump out of it (longjmp): what runs meanwhile has no destructors, and the objects around it free what libpng made.
#include "io/image_codec.h"
#include "tensor/host_data.h"

#include <anyshape/error.h>
#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <new>

namespace anyshape::io {
namespace {

using Text = std::array<char, 200>;

void keep(Text& text, const char* message) {
  const size_t length = std::min(std::strlen(message), text.size() - 1);
  std::copy_n(message, length, text.data());
  text[length] = '\0';
}

// What libpng says, kept until nothing can jump any more. Of warnings the first.
struct Messages {
  Text error = {}, warning = {};

  static void on_error(png_structp png, png_const_charp message) {
    keep(static_cast<Messages*>(png_get_error_ptr(png))->error, message);
    png_longjmp(png, 1);
  }
  static void on_warning(png_structp png, png_const_charp message) {
    Text& warning = static_cast<Messages*>(png_get_error_ptr(png))->warning;
    if (warning[0] == '\0') keep(warning, message);
  }
};

// False where libpng has jumped out of the steps, which may not own anything.
template <class Steps>
bool finishes(png_structp png, const Steps& steps) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  steps();
  return true;
}

class PngReader {
 public:
  explicit PngReader(const ImageBytes& file) : file_(file), left_(file.bytes()) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &messages_, Messages::on_error, Messages::on_warning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw OutOfMemory("read_image: libpng finds no memory.");
    }
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  DecodedImage read() {
    require(finishes(png_, [this] { read_header(); }));
    const int64_t height = png_get_image_height(png_, info_), width = png_get_image_width(png_, info_);
    DecodedImage image{.pixels = file_.make_pixels(height, width, png_get_channels(png_, info_))};
    unsigned char* const pixels = host_data<unsigned char>(image.pixels);
    require(finishes(png_, [this, pixels] { read_rows(pixels); }));
    if (messages_.warning[0] != '\0') file_.warn(messages_.warning.data());
    return image;
  }

 private:
  static void give(png_structp png, png_bytep to, size_t bytes) {
    std::string_view& left = static_cast<PngReader*>(png_get_io_ptr(png))->left_;
    if (left.size() < bytes) png_error(png, "it ends too early");
    std::copy_n(left.data(), bytes, reinterpret_cast<char*>(to));
    left.remove_prefix(bytes);
  }

  // Up to the first pixel: eight bits for each channel, colours instead of numbers of them. Nothing else that a file may hold is looked at.
  void read_header() {
    png_set_read_fn(png_, this, give);
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_read_info(png_, info_);
    png_set_expand(png_);
    png_set_scale_16(png_);
    passes_ = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
  }
  void read_rows(unsigned char* pixels) {
    const size_t row_bytes = png_get_rowbytes(png_, info_), height = png_get_image_height(png_, info_);
    for (int pass = 0; pass < passes_; ++pass) {
      for (size_t row = 0; row < height; ++row) png_read_row(png_, pixels + row * row_bytes, nullptr);
    }
    png_read_end(png_, nullptr);
  }
  void require(bool is_read) const {
    if (!is_read) file_.refuse_damaged("PNG", messages_.error.data());
  }

  const ImageBytes& file_;
  std::string_view left_;
  Messages messages_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int passes_ = 1;
};

class PngWriter {
 public:
  PngWriter(std::string_view place, const PixelView& pixels) : place_(place), pixels_(pixels) {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &messages_, Messages::on_error, Messages::on_warning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_write_struct(&png_, nullptr);
      throw OutOfMemory(fmt::format("{}: libpng finds no memory.", place));
    }
  }
  ~PngWriter() { png_destroy_write_struct(&png_, &info_); }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;

  std::string write() {
    if (finishes(png_, [this] { write_all(); })) return std::move(bytes_);
    if (is_out_of_memory_) throw OutOfMemory(fmt::format("{}: there is no memory for the {} bytes of the file.", place_, bytes_.size()));
    throw ArgumentError(fmt::format("{}: libpng refuses: {}.", place_, messages_.error.data()));
  }

 private:
  static void take(png_structp png, png_bytep from, size_t bytes) {
    auto* const self = static_cast<PngWriter*>(png_get_io_ptr(png));
    if (!self->append(reinterpret_cast<const char*>(from), bytes)) png_error(png, "no memory");
  }
  bool append(const char* from, size_t bytes) {  // no exception may pass through libpng, and no jump through what catches it
    try {
      bytes_.append(from, bytes);
    } catch (const std::bad_alloc&) {
      is_out_of_memory_ = true;
    }
    return !is_out_of_memory_;
  }

  void write_all() {
    constexpr int colour_types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    constexpr int bits = 8;
    png_set_write_fn(png_, this, take, nullptr);
    png_set_IHDR(png_, info_, static_cast<png_uint_32>(pixels_.width), static_cast<png_uint_32>(pixels_.height), bits,
                 colour_types[pixels_.channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png_, info_);
    for (int64_t row = 0; row < pixels_.height; ++row) png_write_row(png_, pixels_.data + row * pixels_.width * pixels_.channels);
    png_write_end(png_, nullptr);
  }

  std::string_view place_;
  PixelView pixels_;
  std::string bytes_;
  bool is_out_of_memory_ = false;
  Messages messages_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

DecodedImage decode_png(const ImageBytes& file) { return PngReader(file).read(); }
std::string encode_png(std::string_view place, const PixelView& pixels) { return PngWriter(place, pixels).write(); }

}  // namespace anyshape::io
