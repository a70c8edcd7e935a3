// Images that an attacker made: every cut and flipped bits of small files, sizes that lie, decoding that would never end.
#include "io/image_codec.h"
#include "support/text_of.h"
#include "support/warnings.h"

#include <anyshape/error.h>
#include <anyshape/image.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace anyshape {
namespace {

namespace fs = std::filesystem;

struct Sample {
  std::string name, bytes;
};

std::vector<Sample> all_samples() {
  std::vector<Sample> samples;
  for (const fs::directory_entry& entry : fs::directory_iterator(ANYSHAPE_IMAGES)) {
    const std::string kind = entry.path().extension();
    if (kind != ".png" && kind != ".jpg") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    samples.push_back({entry.path().filename(), {std::istreambuf_iterator<char>(in), {}}});
  }
  return samples;
}

constexpr int64_t most = 100'000;
Tensor decode(std::string_view bytes, int64_t most_values = most) {
  // A copy that ends where the bytes do: what is read behind them is found by the address sanitizer.
  const std::vector<char> own(bytes.begin(), bytes.end());
  return io::decode_image({"read_image: \"x\"", {own.data(), own.size()}, most_values}, {3, Dtype::f32});
}
std::string refusal(std::string_view bytes, int64_t most_values = most) {
  return test::text_of<FormatError>([&] { decode(bytes, most_values); });
}

TEST(HostileImages, every_cut_is_refused) {
  const test::Warnings quiet;
  for (const Sample& sample : all_samples()) {
    for (size_t length = 0; length < sample.bytes.size(); ++length) {
      EXPECT_THROW(decode(std::string_view(sample.bytes).substr(0, length)), FormatError) << sample.name << " cut to " << length;
    }
  }
}

TEST(HostileImages, every_flipped_bit_is_read_or_refused) {
  const test::Warnings quiet;
  int read = 0, refused = 0;
  for (const Sample& sample : all_samples()) {
    for (size_t at = 0; at < sample.bytes.size(); ++at) {
      for (unsigned bit = 1; bit < 256; bit *= 2) {
        std::string bytes = sample.bytes;
        bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ bit);
        try {
          const Shape shape = decode(bytes).shape();
          EXPECT_LE(shape.count().value(), 3 * most) << sample.name;
          ++read;
        } catch (const FormatError& error) {
          EXPECT_TRUE(std::string(error.what()).starts_with("read_image: \"x\" ")) << error.what();
          ++refused;
        }
      }
    }
  }
  EXPECT_GT(read, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(HostileImages, random_bytes_in_the_middle_are_read_or_refused) {
  const test::Warnings quiet;
  uint64_t state = 7;
  const auto next = [&state] { return state = state * 6364136223846793005U + 1442695040888963407U, state >> 33U; };
  for (const Sample& sample : all_samples()) {
    for (int round = 0; round < 300; ++round) {
      std::string bytes = sample.bytes;
      for (uint64_t i = next() % 8; i-- > 0;) bytes[next() % bytes.size()] = static_cast<char>(next());
      if (next() % 4 == 0) bytes.insert(next() % bytes.size(), bytes.substr(next() % bytes.size(), next() % 40));
      try {
        decode(bytes);
      } catch (const FormatError&) {
      }
    }
  }
}

std::string hostile(const std::string& name) {
  std::ifstream in(fs::path(ANYSHAPE_IMAGES) / "hostile" / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
std::string sample(const std::string& name) {
  for (const Sample& each : all_samples()) {
    if (each.name == name) return each.bytes;
  }
  throw std::runtime_error("no " + name);
}

TEST(HostileImages, sizes_are_held_to_the_file_before_memory_is_taken) {
  EXPECT_EQ(
      refusal(hostile("lying.png"), -1),
      "read_image: \"x\" says that it is 50000 x 50000 with 4 channels; expected at most 67109140 values, four times the file's bytes and "
      "64 Mi. Say .most_values where the file is right.");
  EXPECT_EQ(
      refusal(hostile("bomb.png")),
      "read_image: \"x\" says that it is 1500 x 1500 with 1 channel; expected at most 100000 values. Say .most_values where the file is "
      "right.");
  EXPECT_TRUE(decode(hostile("bomb.png"), -1).shape() == (Shape{1500, 1500, 3}));
  EXPECT_TRUE(decode(hostile("bomb.png"), 2'250'000).shape() == (Shape{1500, 1500, 3}));

  std::string jpeg = sample("jpeg_grey.jpg");
  const size_t frame = jpeg.find("\xff\xc0");
  for (const size_t at : {5, 6, 7, 8}) jpeg[frame + at] = '\xfd';  // its height and width
  EXPECT_TRUE(
      refusal(jpeg, -1).starts_with("read_image: \"x\" says that it is 65021 x 65021 with 1 channel; expected at most 67110348 values"))
      << refusal(jpeg, -1);
  // Once that many are allowed, what is missing is found where it is missed.
  EXPECT_EQ(refusal(jpeg, int64_t{1} << 33),
            "read_image: \"x\" is damaged: Corrupt JPEG data: premature end of data segment; expected a whole JPEG file.");
}

TEST(HostileImages, compressed_text_beside_the_pixels_is_not_looked_at) {
  const test::Warnings warnings;
  EXPECT_TRUE(decode(hostile("text.png")).shape() == (Shape{7, 9, 3}));
  EXPECT_EQ(warnings.texts(), std::vector<std::string>());
}

TEST(HostileImages, scans_without_end_are_refused) {
  for (const std::string name : {"jpeg_progressive.jpg", "jpeg_rgb.jpg"}) {
    std::string bytes = sample(name);
    const size_t scan = bytes.find("\xff\xda");
    const std::string scans = bytes.substr(scan, bytes.size() - scan - 2);
    bytes.resize(bytes.size() - 2);
    for (int i = 0; i < 2000; ++i) bytes += scans;
    bytes += "\xff\xd9";
    EXPECT_TRUE(refusal(bytes).starts_with("read_image: \"x\" is damaged: ")) << name;
  }
}

TEST(HostileImages, what_changes_no_pixel_is_a_warning_with_the_files_name) {
  const test::Warnings warnings;
  std::string bytes = sample("jpeg_rgb.jpg");
  bytes.insert(20, "....");  // between two segments
  EXPECT_TRUE(decode(bytes).shape() == (Shape{13, 19, 3}));
  EXPECT_EQ(warnings.texts(), std::vector<std::string>{"read_image: \"x\": Corrupt JPEG data: 4 extraneous bytes before marker 0xdb"});
}

TEST(HostileImages, orientations_that_make_no_sense_are_none) {
  const std::string start("Exif\0\0", 6);
  const auto little = [&](const std::string& rest) { return io::exif_orientation(start + std::string("II*\0", 4) + rest); };
  EXPECT_EQ(io::exif_orientation(""), 1);
  EXPECT_EQ(io::exif_orientation("http://ns.adobe.com/xap/1.0/"), 1);
  EXPECT_EQ(little(std::string("\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0", 18)), 6);
  EXPECT_EQ(little(std::string("\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x09\0\0\0", 18)), 1);
  EXPECT_EQ(little(std::string("\xff\xff\xff\xff", 4)), 1);
  EXPECT_EQ(little(std::string("\x08\0\0\0\xff\xff\x12\x01", 8)), 1);
}

}  // namespace
}  // namespace anyshape
