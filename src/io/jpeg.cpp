// JPEG through libjpeg-turbo. Its errors are made to jump out of it (longjmp): what runs meanwhile has no destructors, and the objects around it
// free what libjpeg made.
#include "io/image_codec.h"
#include "tensor/host_data.h"

#include <anyshape/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>

// Their order matters: jpeglib.h counts on <cstdio>.
#include <jpeglib.h>

#include <jerror.h>

namespace anyshape::io {
namespace {

// More scans than anybody writes: a few bytes could ask for a pass over all pixels thousands of times.
constexpr int most_scans = 100;
constexpr int first_app_segment = JPEG_APP0 + 1;

// What libjpeg calls back with.
struct Handlers {
  jpeg_error_mgr errors;
  jpeg_progress_mgr progress;
  std::jmp_buf jump;
  std::array<char, JMSG_LENGTH_MAX> error, warning;

  static Handlers& of(j_common_ptr jpeg) { return *static_cast<Handlers*>(jpeg->client_data); }
  static void on_error(j_common_ptr jpeg) {
    Handlers& self = of(jpeg);
    self.errors.format_message(jpeg, self.error.data());
    std::longjmp(self.jump, 1);
  }
  // libjpeg goes on where data is missing or wrong and makes up the pixels. What leaves all pixels as they were made is a warning.
  static void on_message(j_common_ptr jpeg, int level) {
    if (level >= 0) return;
    Handlers& self = of(jpeg);
    const int code = self.errors.msg_code;
    if (code != JWRN_EXTRANEOUS_DATA && code != JWRN_ADOBE_XFORM) on_error(jpeg);
    if (self.warning[0] == '\0') self.errors.format_message(jpeg, self.warning.data());
  }
  static void on_progress(j_common_ptr jpeg) {
    if (jpeg->is_decompressor == 0 || reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= most_scans) return;
    Handlers& self = of(jpeg);
    constexpr char text[] = "it has more than 100 scans";
    std::copy_n(text, sizeof text, self.error.data());
    std::longjmp(self.jump, 1);
  }

  template <class Jpeg>
  void install(Jpeg& jpeg) {
    error[0] = warning[0] = '\0';
    jpeg.err = jpeg_std_error(&errors);
    errors.error_exit = on_error;
    errors.emit_message = on_message;
    errors.output_message = [](j_common_ptr) {};
    progress.progress_monitor = on_progress;
    jpeg.client_data = this;
  }
};

// False where libjpeg has jumped out of the steps, which may not own anything.
template <class Steps>
bool finishes(Handlers& handlers, const Steps& steps) {
  if (setjmp(handlers.jump) != 0) return false;
  steps();
  return true;
}

class JpegReader {
 public:
  explicit JpegReader(const ImageBytes& file) : file_(file) {
    handlers_.install(jpeg_);
    require(finishes(handlers_, [this] { jpeg_create_decompress(&jpeg_); }));
    jpeg_.progress = &handlers_.progress;
  }
  ~JpegReader() { jpeg_destroy_decompress(&jpeg_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  DecodedImage read() {
    require(finishes(handlers_, [this] { read_header(); }));
    const int channels = wanted_channels();
    DecodedImage image{.pixels = file_.make_pixels(jpeg_.image_height, jpeg_.image_width, channels), .orientation = orientation()};
    unsigned char* const pixels = host_data<unsigned char>(image.pixels);
    require(finishes(handlers_, [this, pixels] { read_rows(pixels); }));
    if (handlers_.warning[0] != '\0') file_.warn(handlers_.warning.data());
    return image;
  }

 private:
  void read_header() {
    constexpr unsigned whole_segment = 0xffff;
    jpeg_mem_src(&jpeg_, reinterpret_cast<const unsigned char*>(file_.bytes().data()), file_.bytes().size());
    jpeg_save_markers(&jpeg_, first_app_segment, whole_segment);
    jpeg_read_header(&jpeg_, TRUE);
  }
  void read_rows(unsigned char* pixels) {
    jpeg_start_decompress(&jpeg_);
    const size_t row_bytes = size_t{jpeg_.output_width} * static_cast<size_t>(jpeg_.output_components);
    while (jpeg_.output_scanline < jpeg_.output_height) {
      JSAMPROW row = pixels + jpeg_.output_scanline * row_bytes;
      jpeg_read_scanlines(&jpeg_, &row, 1);
    }
    jpeg_finish_decompress(&jpeg_);
  }

  int wanted_channels() {
    switch (jpeg_.jpeg_color_space) {
      case JCS_GRAYSCALE: jpeg_.out_color_space = JCS_GRAYSCALE; return 1;
      case JCS_YCbCr:
      case JCS_RGB: jpeg_.out_color_space = JCS_RGB; return 3;
      case JCS_CMYK:
      case JCS_YCCK: file_.refuse("has the colours of print (CMYK); expected grey or red, green and blue. Convert the file");
      default:
        file_.refuse(fmt::format("is a JPEG file with {} channels of unknown colours; expected grey or colours", jpeg_.num_components));
    }
  }
  int orientation() const {
    int found = 1;
    for (const jpeg_marker_struct* segment = jpeg_.marker_list; segment != nullptr && found == 1; segment = segment->next) {
      found = exif_orientation({reinterpret_cast<const char*>(segment->data), segment->data_length});
    }
    return found;
  }
  void require(bool is_read) const {
    if (!is_read) file_.refuse_damaged("JPEG", handlers_.error.data());
  }

  const ImageBytes& file_;
  Handlers handlers_ = {};
  jpeg_decompress_struct jpeg_ = {};
};

class JpegWriter {
 public:
  JpegWriter(std::string_view place, const PixelView& pixels, int quality) : place_(place), pixels_(pixels), quality_(quality) {
    handlers_.install(jpeg_);
  }
  ~JpegWriter() {
    jpeg_destroy_compress(&jpeg_);
    std::free(buffer_);
  }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  std::string write() {
    if (!finishes(handlers_, [this] { write_all(); })) {
      throw ArgumentError(fmt::format("{}: libjpeg refuses: {}.", place_, handlers_.error.data()));
    }
    return {reinterpret_cast<const char*>(buffer_), size_};
  }

 private:
  void write_all() {
    jpeg_create_compress(&jpeg_);
    jpeg_mem_dest(&jpeg_, &buffer_, &size_);
    jpeg_.image_width = static_cast<JDIMENSION>(pixels_.width);
    jpeg_.image_height = static_cast<JDIMENSION>(pixels_.height);
    jpeg_.input_components = pixels_.channels;
    jpeg_.in_color_space = pixels_.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&jpeg_);
    jpeg_set_quality(&jpeg_, quality_, TRUE);
    jpeg_start_compress(&jpeg_, TRUE);
    while (jpeg_.next_scanline < jpeg_.image_height) {
      JSAMPROW row = const_cast<JSAMPROW>(pixels_.data + jpeg_.next_scanline * pixels_.width * pixels_.channels);
      jpeg_write_scanlines(&jpeg_, &row, 1);
    }
    jpeg_finish_compress(&jpeg_);
  }

  std::string_view place_;
  PixelView pixels_;
  int quality_;
  unsigned char* buffer_ = nullptr;
  unsigned long size_ = 0;
  Handlers handlers_ = {};
  jpeg_compress_struct jpeg_ = {};
};

}  // namespace

DecodedImage decode_jpeg(const ImageBytes& file) { return JpegReader(file).read(); }
std::string encode_jpeg(std::string_view place, const PixelView& pixels, int quality) { return JpegWriter(place, pixels, quality).write(); }

}  // namespace anyshape::io
