// Images: files that Pillow reads and wrote (images/make.py), files of our own, and what is refused.
#include "support/temporary_folder.h"
#include "support/text_of.h"
#include "tensor/element.h"
#include "tensor/host_data.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/image.h>
#include <anyshape/io.h>

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace anyshape {
namespace {

namespace fs = std::filesystem;

const fs::path samples = ANYSHAPE_IMAGES;

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<uint8_t> values_of(const Tensor& image) { return image.to_vector<uint8_t>(); }
Tensor as_in_file(const fs::path& file) { return read_image(file, {.channels = 0, .dtype = u8}); }

class Images : public testing::Test {
 protected:
  fs::path path(const std::string& name = "x.png") const { return folder_.path() / name; }
  fs::path written(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
    return path();
  }
  test::TemporaryFolder folder_;
};

TEST_F(Images, read_has_the_values_that_another_reader_finds) {
  int files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(samples)) {
    const std::string kind = entry.path().extension(), name = entry.path().stem();
    if ((kind != ".png" && kind != ".jpg") || name == "jpeg_print" || name == "turned") continue;
    const Tensor wanted = load_npy((samples / (name + ".npy")).string()), found = as_in_file(entry.path());
    EXPECT_TRUE(found.shape() == wanted.shape()) << name << ": " << found.shape();
    EXPECT_EQ(values_of(found), values_of(wanted)) << name;
    ++files;
  }
  EXPECT_EQ(files, 18);
}

TEST_F(Images, get_the_channels_that_are_asked_for) {
  EXPECT_EQ(values_of(read_image(samples / "rgb.png", {.channels = 1, .dtype = u8})), values_of(load_npy(samples / "rgb_grey.npy")));
  EXPECT_EQ(values_of(read_image(samples / "rgb.png", {.channels = 4, .dtype = u8})), values_of(load_npy(samples / "rgb_alpha.npy")));
  const std::vector<uint8_t> both = values_of(as_in_file(samples / "grey_alpha.png"));
  const std::vector<uint8_t> colours = values_of(read_image(samples / "grey_alpha.png", {.channels = 4, .dtype = u8}));
  const std::vector<uint8_t> opaque = values_of(read_image(samples / "grey_alpha.png", {.dtype = u8}));
  const std::vector<uint8_t> grey = values_of(read_image(samples / "grey_alpha.png", {.channels = 1, .dtype = u8}));
  for (size_t pixel = 0; pixel < grey.size(); ++pixel) {
    EXPECT_EQ(grey[pixel], both[2 * pixel]);
    for (size_t channel = 0; channel < 3; ++channel) {
      EXPECT_EQ(opaque[3 * pixel + channel], both[2 * pixel]);
      EXPECT_EQ(colours[4 * pixel + channel], both[2 * pixel]);
    }
    EXPECT_EQ(colours[4 * pixel + 3], both[2 * pixel + 1]);
  }
  EXPECT_TRUE(read_image(samples / "rgba.png").shape() == (Shape{7, 9, 3}));
}

TEST_F(Images, are_f32_from_0_to_255_unless_another_dtype_is_asked_for) {
  const Tensor image = read_image(samples / "rgb.png");
  EXPECT_EQ(image.dtype(), f32);
  const std::vector<float> values = image.to_vector<float>();
  const std::vector<uint8_t> wanted = values_of(load_npy(samples / "rgb.npy"));
  EXPECT_TRUE(std::ranges::equal(values, wanted));
  for (const Dtype dtype : {f16, bf16, f64, i32, i64}) {
    const Tensor other = read_image(samples / "rgb.png", {.dtype = dtype});
    ASSERT_EQ(other.dtype(), dtype);
    with_element(dtype, [&]<class T>(T) {
      const T* const elements = host_data<T>(other);
      for (size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(convert_element<double>(elements[i]), wanted[i]) << to_string(dtype);
    });
  }
}

TEST_F(Images, turned_by_a_camera_are_upright) {
  const std::string upright = bytes_of(samples / "turned.jpg");
  const std::string mark("\x01\x12\x00\x03\x00\x00\x00\x01\x00\x01", 10);  // tag, kind, count and value in EXIF's directory
  const size_t at = upright.find(mark);
  ASSERT_NE(at, std::string::npos);
  const Tensor wanted = load_npy(samples / "turned.npy");
  const std::vector<uint8_t> all = values_of(wanted);
  const size_t values = all.size() / 8;
  for (size_t orientation = 1; orientation <= 8; ++orientation) {
    std::string bytes = upright;
    bytes[at + mark.size() - 1] = static_cast<char>(orientation);
    const Tensor image = as_in_file(written(bytes));
    EXPECT_TRUE(image.shape() == (orientation < 5 ? Shape{5, 8, 3} : Shape{8, 5, 3})) << orientation;
    EXPECT_TRUE(std::ranges::equal(values_of(image), std::span(all).subspan((orientation - 1) * values, values))) << orientation;
  }
}

TEST_F(Images, written_as_png_are_read_as_they_were) {
  for (const int64_t channels : {1, 2, 3, 4}) {
    const Shape shape{5, 4, channels};
    std::vector<uint8_t> values(static_cast<size_t>(20 * channels));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>(i * 37);
    write_png(path(), tensor(values, shape));
    EXPECT_TRUE(as_in_file(path()).shape() == shape);
    EXPECT_EQ(values_of(as_in_file(path())), values) << channels;
    std::vector<float> shares(values.size());
    for (size_t i = 0; i < values.size(); ++i) shares[i] = static_cast<float>(values[i]) / 255;
    write_png(path(), tensor(shares, shape), {.white = 1});
    EXPECT_EQ(values_of(as_in_file(path())), values) << channels;
  }
  write_png(path(), tensor({{0, 255, 7}, {1, 2, 3}}));  // i32, and no axis of channels
  EXPECT_EQ(values_of(as_in_file(path())), (std::vector<uint8_t>{0, 255, 7, 1, 2, 3}));
  const int order[] = {1, 0, 2};
  const Tensor image = as_in_file(samples / "rgb.png");
  write_png(path(), transpose_view(image, order));
  EXPECT_EQ(values_of(as_in_file(path())), values_of(contiguous(transpose_view(image, order))));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1) << "no draft stays";
}

TEST_F(Images, written_as_jpeg_are_nearly_as_they_were) {
  const Tensor image = as_in_file(samples / "jpeg_rgb.jpg");
  const std::vector<uint8_t> wanted = values_of(image);
  auto distance = [&](int quality) {
    write_jpeg(path("x.jpg"), image, {.quality = quality});
    const std::vector<uint8_t> found = values_of(as_in_file(path("x.jpg")));
    double sum = 0;
    for (size_t i = 0; i < wanted.size(); ++i) sum += std::abs(wanted[i] - found[i]);
    return sum / static_cast<double>(wanted.size());
  };
  EXPECT_LT(distance(95), 4);
  EXPECT_GT(distance(5), distance(95));
  write_jpeg(path("x.jpg"), tensor({{0.F, 1.F}, {1.F, 0.F}}), {.quality = 100, .white = 1});
  EXPECT_TRUE(as_in_file(path("x.jpg")).shape() == (Shape{2, 2, 1}));
}

TEST_F(Images, that_cannot_be_written_say_why_and_leave_no_file) {
  const auto refusal = [&](auto of_class, const auto& body) {
    const std::string text = test::text_of<decltype(of_class)>(body);
    EXPECT_TRUE(fs::is_empty(folder_.path())) << text;
    return text;
  };
  EXPECT_EQ(refusal(DataError(""), [&] { write_png(path(), tensor({{0.F, 1.F}, {255.6F, 3.F}})); }),
            "write_png: the value at row 1, column 0, channel 0 is 255.60000610351562; expected 0 to 255. Call clip() on the image, or say "
            ".white.");
  EXPECT_EQ(refusal(DataError(""), [&] { write_png(path(), tensor(std::vector<float>{0, 0, NAN}, Shape{1, 1, 3}), {.white = 1}); }),
            "write_png: the value at row 0, column 0, channel 2 is nan; expected 0 to 1. Call clip() on the image, or say .white.");
  EXPECT_EQ(refusal(ShapeError(""), [&] { write_png(path(), tensor({1.F})); }),
            "write_png: the image is f32[1]; expected [height, width] or [height, width, 1 to 4 channels], none of them 0.");
  EXPECT_EQ(refusal(ShapeError(""), [&] { write_png(path(), tensor(std::vector<float>{}, Shape{0, 3, 3})); }),
            "write_png: the image is f32[0, 3, 3]; expected [height, width] or [height, width, 1 to 4 channels], none of them 0.");
  EXPECT_EQ(refusal(ShapeError(""), [&] { write_jpeg(path(), tensor(std::vector<float>(8, 1), Shape{1, 2, 4})); }),
            "write_jpeg: the image is f32[1, 2, 4]; expected [height, width] or [height, width, 1 or 3 channels], none of them 0.");
  EXPECT_EQ(refusal(ArgumentError(""), [&] { write_jpeg(path(), tensor({{1.F}}), {.quality = 0}); }),
            "write_jpeg: .quality is 0; expected 1 to 100.");
  EXPECT_EQ(refusal(ArgumentError(""), [&] { write_png(path(), tensor({{1.F}}), {.white = 0}); }),
            "write_png: .white is 0; expected a number above 0.");
  EXPECT_EQ(refusal(DtypeError(""), [&] { write_png(path(), tensor({{true}})); }), "write_png: the image is b8[1, 1]; expected numbers.");
  EXPECT_THROW(write_png(path(), Tensor()), ArgumentError);
  EXPECT_THROW(write_png(path("no/where.png"), tensor({{1.F}})), ArgumentError);
  EXPECT_THROW(write_jpeg(path(), tensor(std::vector<uint8_t>(70000), Shape{1, 70000})), ArgumentError)
      << "JPEG has 65,500 columns at most";
}

TEST_F(Images, that_are_something_else_are_refused_with_their_name) {
  const auto refusal = [](const fs::path& file) { return test::text_of<FormatError>([&] { read_image(file); }); };
  const std::string name = "read_image: \"" + path().string() + "\" ";
  EXPECT_EQ(refusal(path()), name + "is no file that can be read; expected a PNG or JPEG file.");
  EXPECT_EQ(refusal(written("")), name + "is neither PNG nor JPEG; expected one of them.");
  EXPECT_EQ(refusal(written("GIF89a")), name + "is neither PNG nor JPEG; expected one of them.");
  EXPECT_EQ(refusal(folder_.path()), "read_image: \"" + folder_.path().string() + "\" is a folder; expected a PNG or JPEG file.");
  ASSERT_EQ(::mkfifo(path("pipe.png").c_str(), 0600), 0);
  EXPECT_EQ(refusal(path("pipe.png")), "read_image: \"" + path("pipe.png").string() + "\" is a pipe; expected a PNG or JPEG file.");
  EXPECT_EQ(refusal(samples / "jpeg_print.jpg"),
            "read_image: \"" + (samples / "jpeg_print.jpg").string() +
                "\" has the colours of print (CMYK); expected grey or red, green and blue. Convert the "
                "file.");
  EXPECT_EQ(test::text_of<ArgumentError>([] { read_image(samples / "rgb.png", {.channels = 2}); }),
            "read_image: .channels is 2; expected 1, 3, 4, or 0 for what the file has.");
  EXPECT_THROW(read_image(samples / "rgb.png", {.dtype = b8}), ArgumentError);
  EXPECT_THROW(read_image(samples / "rgb.png", {.most_values = -1}), ArgumentError);
}

TEST_F(Images, are_known_by_their_bytes_and_not_by_their_name) {
  EXPECT_EQ(values_of(as_in_file(written(bytes_of(samples / "jpeg_rgb.jpg")))), values_of(load_npy(samples / "jpeg_rgb.npy")));
}

}  // namespace
}  // namespace anyshape
