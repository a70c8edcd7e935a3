// What is written as an ONNX file: the parts of ONNX's schema that the export needs, and their bytes in protobuf's wire format.
#pragma once
#include <anyshape/dtype.h>
#include <anyshape/tensor.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace anyshape::onnx::out {

struct GraphText;

struct Attribute {
  std::string name;
  std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<std::string>, std::shared_ptr<GraphText>> value;
};
using Attributes = std::vector<Attribute>;

struct NodeText {
  std::string op;
  std::vector<std::string> inputs, outputs;  // an input that is left out is empty
  Attributes attributes;
  std::string place;  // the layer that called it
};

// An input or output: sizes are numbers, or names that stand for the same size wherever they are.
struct ValueText {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::vector<std::variant<int64_t, std::string>> sizes = {};
  bool is_typed = true;  // false: inside of a node, where who reads the file finds dtype and sizes
};

struct Initializer {
  std::string name;
  Tensor value;
};

struct GraphText {
  std::string name;
  std::vector<NodeText> nodes;
  std::vector<Initializer> initializers;
  std::vector<ValueText> inputs, outputs;
};

struct FileText {
  GraphText graph;
  int64_t opset = 0;
  std::vector<std::pair<std::string, std::string>> notes;  // keys and values beside the graph
};

int64_t element_type(Dtype dtype);  // its number in ONNX

// Whole or not at all. ArgumentError, beginning with `place`, where it would be larger than the 2 GiB that the format can have, and where the system refuses.
void write(const FileText& text, const std::string& place, const std::filesystem::path& file);

}  // namespace anyshape::onnx::out
