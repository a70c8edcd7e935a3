// Reads text in pictures of any size: a detector says where lines are, a recogniser reads each. Both are ONNX files (PP-OCRv4, as in the package
// rapidocr-onnxruntime of PyPI), and each is traced and compiled once, whatever the sizes of pictures and lines.
// Usage: ocr DETECTOR.onnx RECOGNISER.onnx PICTURE...
#include <anyshape/anyshape.h>
#include <anyshape/onnx.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace as = anyshape;
using as::Tensor;

namespace {

constexpr int64_t line_height = 48;

// A line of text in a picture: rows [top, bottom), columns [left, right).
struct Box {
  int64_t top, bottom, left, right;
};

// [height, width, 3] in RGB, 0..255 -> [1, 3, new height, new width] in BGR, -1..1: what both networks take.
Tensor prepared(const Tensor& picture, const as::Dim& height, const as::Dim& width) {
  const Tensor numbers = as::flip(picture, -1) / 127.5F - 1;
  const Tensor resized = as::resize(as::expand_dims(numbers, 0), {height, width}, {.antialias = true});
  return as::moveaxis(resized, -1, 1);
}

// Neighbouring pixels that are probably text, as boxes with the room around them that the detector is trained to leave out.
std::vector<Box> boxes_in(const std::vector<float>& map, int64_t height, int64_t width) {
  std::vector<Box> boxes;
  std::vector<char> seen(map.size());
  for (int64_t start = 0; start < height * width; ++start) {
    if (seen[static_cast<size_t>(start)] != 0 || map[static_cast<size_t>(start)] <= 0.3F) continue;
    std::vector<int64_t> waiting = {start};
    seen[static_cast<size_t>(start)] = 1;
    Box box{.top = height, .bottom = 0, .left = width, .right = 0};
    double sum = 0;
    int64_t pixels = 0;
    while (!waiting.empty()) {
      const int64_t pixel = waiting.back(), row = pixel / width, column = pixel % width;
      waiting.pop_back();
      sum += static_cast<double>(map[static_cast<size_t>(pixel)]);
      ++pixels;
      box = {std::min(box.top, row), std::max(box.bottom, row + 1), std::min(box.left, column), std::max(box.right, column + 1)};
      for (const auto& [y, x] : {std::pair(row - 1, column), {row + 1, column}, {row, column - 1}, {row, column + 1}}) {
        if (y < 0 || y >= height || x < 0 || x >= width) continue;
        const auto next = static_cast<size_t>(y * width + x);
        if (seen[next] != 0 || map[next] <= 0.3F) continue;
        seen[next] = 1;
        waiting.push_back(y * width + x);
      }
    }
    const int64_t tall = box.bottom - box.top, wide = box.right - box.left;
    if (std::min(tall, wide) < 3 || sum / static_cast<double>(pixels) < 0.5) continue;
    const auto room = static_cast<int64_t>(std::lround(1.6 * static_cast<double>(tall * wide) / static_cast<double>(2 * (tall + wide))));
    boxes.push_back({std::max<int64_t>(box.top - room, 0), std::min(box.bottom + room, height), std::max<int64_t>(box.left - room, 0),
                     std::min(box.right + room, width)});
  }
  std::ranges::sort(boxes, {}, [](const Box& box) { return std::pair(box.top, box.left); });
  return boxes;
}

// The letters of the recogniser's classes: nothing, those of the file, a space.
std::vector<std::string> letters_of(const as::Model& recogniser) {
  std::vector<std::string> letters = {""};
  std::istringstream lines(as::onnx::metadata(recogniser)["character"]);
  for (std::string line; std::getline(lines, line);) letters.push_back(line);
  letters.emplace_back(" ");
  return letters;
}

class Reader {
 public:
  Reader(const std::string& detector, const std::string& recogniser)
      : detector_(as::onnx::load(detector)), recogniser_(as::onnx::load(recogniser)), letters_(letters_of(recogniser_)) {}

  std::vector<std::string> read(const Tensor& picture) {
    const Tensor map = find_(picture);
    const int64_t height = map.shape()[0].value(), width = map.shape()[1].value();
    const int64_t real_height = picture.shape()[0].value(), real_width = picture.shape()[1].value();
    std::vector<std::string> texts;
    for (const Box& box : boxes_in(map.to_vector<float>(), height, width)) {
      const Tensor line = picture.at({box.top * real_height / height, box.bottom * real_height / height},
                                     {box.left * real_width / width, box.right * real_width / width});
      texts.push_back(text_of(as::row_major(line)));
    }
    return texts;
  }

  void tell_traces() const {
    std::cout << "detector: " << find_.stats().traces << " trace, " << find_.stats().calls << " calls; recogniser: " << read_.stats().traces
              << " trace, " << read_.stats().calls << " calls\n";
  }

 private:
  // The same class again is the same letter, with nothing between them it is another one.
  std::string text_of(const Tensor& line) {
    const std::vector<int64_t> classes = as::cast(read_(line), as::i64).to_vector<int64_t>();
    std::string text;
    for (size_t i = 0; i < classes.size(); ++i) {
      const auto letter = static_cast<size_t>(classes[i]);
      if ((i == 0 || classes[i] != classes[i - 1]) && letter < letters_.size()) text += letters_[letter];
    }
    return text;
  }

  as::Model detector_, recogniser_;
  std::vector<std::string> letters_;
  as::TensorSpec picture_ = as::spec(as::f32, {as::dim("height", {.min = 1}), as::dim("width", {.min = 1}), 3}, "picture");
  // [height, width, 3] -> how probably each place is text; the detector wants multiples of 32.
  as::Function<Tensor(const Tensor&)> find_ = as::function(
      [this](const Tensor& picture) {
        const auto rounded = [](const as::Dim& size) { return as::max((size + 16) / 32 * 32, 32); };
        return detector_(prepared(picture, rounded(picture.shape()[0]), rounded(picture.shape()[1]))).at(0, 0);
      },
      {.name = "find lines", .signature = {picture_}});
  // A line -> the most probable class of each step.
  as::Function<Tensor(const Tensor&)> read_ = as::function(
      [this](const Tensor& line) {
        const as::Dim width = as::max(line.shape()[1] * line_height / line.shape()[0], 16);
        return as::argmax(recogniser_(prepared(line, line_height, width)), {.axis = -1})[0];
      },
      {.name = "read a line", .signature = {picture_}});
};

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) {
    std::cerr << "usage: ocr DETECTOR.onnx RECOGNISER.onnx PICTURE...\n";
    return 2;
  }
  try {
    Reader reader(arguments[1], arguments[2]);
    for (int i = 3; i < count; ++i) {
      std::cout << arguments[i] << "\n";
      for (const std::string& text : reader.read(as::read_image(arguments[i]))) std::cout << "  " << text << "\n";
    }
    reader.tell_traces();
    return 0;
  } catch (const as::Error& problem) {
    std::cerr << problem.what() << "\n";
    return 1;
  }
}
