// Cells of one size, images in their middle, letters of 5 x 7 dots.
#include "contact_sheet.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace as = anyshape;

namespace {

constexpr int64_t zoom = 2, gap = 6, letter_width = 5, letter_height = 7, letter_step = 6;
using Colour = std::array<uint8_t, 3>;
constexpr Colour paper = {250, 250, 248}, good = {30, 110, 50}, bad = {190, 30, 30};

// Each line of a letter, from the top, is five bits; the first one stands on the left.
using Letter = std::array<uint8_t, letter_height>;
constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789%";
constexpr std::array<Letter, letters.size()> dots = {{
    {0x00, 0x00, 0x0E, 0x01, 0x0F, 0x11, 0x0F},  // a
    {0x10, 0x10, 0x1E, 0x11, 0x11, 0x11, 0x1E},  // b
    {0x00, 0x00, 0x0E, 0x11, 0x10, 0x11, 0x0E},  // c
    {0x01, 0x01, 0x0F, 0x11, 0x11, 0x11, 0x0F},  // d
    {0x00, 0x00, 0x0E, 0x11, 0x1F, 0x10, 0x0E},  // e
    {0x06, 0x08, 0x1C, 0x08, 0x08, 0x08, 0x08},  // f
    {0x00, 0x0F, 0x11, 0x11, 0x0F, 0x01, 0x0E},  // g
    {0x10, 0x10, 0x1E, 0x11, 0x11, 0x11, 0x11},  // h
    {0x04, 0x00, 0x0C, 0x04, 0x04, 0x04, 0x0E},  // i
    {0x02, 0x00, 0x06, 0x02, 0x02, 0x12, 0x0C},  // j
    {0x10, 0x10, 0x12, 0x14, 0x18, 0x14, 0x12},  // k
    {0x0C, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0E},  // l
    {0x00, 0x00, 0x1A, 0x15, 0x15, 0x15, 0x15},  // m
    {0x00, 0x00, 0x1E, 0x11, 0x11, 0x11, 0x11},  // n
    {0x00, 0x00, 0x0E, 0x11, 0x11, 0x11, 0x0E},  // o
    {0x00, 0x1E, 0x11, 0x11, 0x1E, 0x10, 0x10},  // p
    {0x00, 0x0F, 0x11, 0x11, 0x0F, 0x01, 0x01},  // q
    {0x00, 0x00, 0x16, 0x19, 0x10, 0x10, 0x10},  // r
    {0x00, 0x00, 0x0F, 0x10, 0x0E, 0x01, 0x1E},  // s
    {0x08, 0x08, 0x1C, 0x08, 0x08, 0x09, 0x06},  // t
    {0x00, 0x00, 0x11, 0x11, 0x11, 0x13, 0x0D},  // u
    {0x00, 0x00, 0x11, 0x11, 0x11, 0x0A, 0x04},  // v
    {0x00, 0x00, 0x11, 0x15, 0x15, 0x15, 0x0A},  // w
    {0x00, 0x00, 0x11, 0x0A, 0x04, 0x0A, 0x11},  // x
    {0x00, 0x11, 0x11, 0x11, 0x0F, 0x01, 0x0E},  // y
    {0x00, 0x00, 0x1F, 0x02, 0x04, 0x08, 0x1F},  // z
    {0x0E, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0E},  // 0
    {0x04, 0x0C, 0x04, 0x04, 0x04, 0x04, 0x0E},  // 1
    {0x0E, 0x11, 0x01, 0x06, 0x08, 0x10, 0x1F},  // 2
    {0x0E, 0x11, 0x01, 0x06, 0x01, 0x11, 0x0E},  // 3
    {0x02, 0x06, 0x0A, 0x12, 0x1F, 0x02, 0x02},  // 4
    {0x1F, 0x10, 0x1E, 0x01, 0x01, 0x11, 0x0E},  // 5
    {0x06, 0x08, 0x10, 0x1E, 0x11, 0x11, 0x0E},  // 6
    {0x1F, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08},  // 7
    {0x0E, 0x11, 0x11, 0x0E, 0x11, 0x11, 0x0E},  // 8
    {0x0E, 0x11, 0x11, 0x0F, 0x01, 0x02, 0x0C},  // 9
    {0x18, 0x19, 0x02, 0x04, 0x08, 0x13, 0x03},  // %
}};

class Sheet {
 public:
  Sheet(int64_t height, int64_t width) : height_(height), width_(width) {
    for (int64_t pixel = 0; pixel < height * width * zoom * zoom; ++pixel) values_.insert(values_.end(), paper.begin(), paper.end());
  }

  void set(int64_t row, int64_t column, const Colour& colour) {
    for (int64_t i = 0; i < zoom * zoom; ++i) {
      const int64_t pixel = (row * zoom + i / zoom) * width_ * zoom + column * zoom + i % zoom;
      std::ranges::copy(colour, values_.begin() + pixel * 3);
    }
  }

  void paste(const as::Tensor& image, int64_t top, int64_t left) {
    const int64_t height = image.shape()[0].value(), width = image.shape()[1].value();
    const std::vector<uint8_t> values = image.to_vector<uint8_t>();
    for (int64_t pixel = 0; pixel < height * width; ++pixel) {
      const auto at = static_cast<size_t>(pixel) * 3;
      set(top + pixel / width, left + pixel % width, {values[at], values[at + 1], values[at + 2]});
    }
  }

  // In the middle of `room` columns.
  void write(const std::string& text, int64_t top, int64_t left, int64_t room, const Colour& colour) {
    left += (room - static_cast<int64_t>(text.size()) * letter_step + 1) / 2;
    for (const char each : text) {
      const size_t number = letters.find(each);
      for (int64_t dot = 0; number != letters.npos && dot < letter_height * letter_width; ++dot) {
        const int64_t row = dot / letter_width, column = dot % letter_width;
        if ((dots[number][static_cast<size_t>(row)] >> (letter_width - 1 - column)) % 2 == 1) set(top + row, left + column, colour);
      }
      left += letter_step;
    }
  }

  as::Tensor tensor() const { return as::tensor(values_, {height_ * zoom, width_ * zoom, 3}); }

 private:
  int64_t height_, width_;
  std::vector<uint8_t> values_;
};

}  // namespace

as::Tensor contact_sheet(const std::vector<as::Tensor>& images, const std::vector<Caption>& captions, int64_t columns) {
  int64_t height = 0, width = 0;  // of a cell
  for (const as::Tensor& image : images) {
    height = std::max(height, image.shape()[0].value());
    width = std::max(width, image.shape()[1].value());
  }
  for (const Caption& caption : captions) width = std::max(width, static_cast<int64_t>(caption.text.size()) * letter_step);
  const int64_t cell_height = height + gap / 2 + letter_height + gap, cell_width = width + gap;
  const int64_t rows = (static_cast<int64_t>(images.size()) + columns - 1) / columns;
  Sheet sheet(rows * cell_height + gap, columns * cell_width + gap);
  for (int64_t i = 0; i < static_cast<int64_t>(images.size()); ++i) {
    const as::Tensor& image = images[static_cast<size_t>(i)];
    const Caption& caption = captions[static_cast<size_t>(i)];
    const int64_t top = gap + i / columns * cell_height, left = gap + i % columns * cell_width;
    sheet.paste(image, top + (height - image.shape()[0].value()) / 2, left + (width - image.shape()[1].value()) / 2);
    sheet.write(caption.text, top + height + gap / 2, left, width, caption.is_good ? good : bad);
  }
  return sheet.tensor();
}
