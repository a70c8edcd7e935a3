// Small ONNX files, made for tests.
#pragma once
#include "onnx/proto.h"
#include "onnx/wire_writer.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace anyshape::onnx::test {

inline WireWriter tensor_proto(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& elements) {
  WireWriter out;
  out.integers(1, dims);
  out.integer(2, 1);
  out.text(8, name);
  out.text(9, std::string(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(float)));
  return out;
}
inline WireWriter tensor_proto(const std::string& name, const std::vector<int64_t>& dims, const std::vector<int64_t>& elements) {
  WireWriter out;
  out.integers(1, dims);
  out.integer(2, 7);
  out.text(8, name);
  out.integers(7, elements);
  return out;
}
// Elements in a file beside the model.
inline WireWriter external_proto(const std::string& name, const std::vector<int64_t>& dims, const std::string& location, int64_t offset) {
  WireWriter out;
  out.integers(1, dims);
  out.integer(2, 1);
  out.text(8, name);
  for (const auto& [key, value] : {std::pair<std::string, std::string>("location", location), {"offset", std::to_string(offset)}}) {
    WireWriter entry;
    entry.text(1, key);
    entry.text(2, value);
    out.message(13, entry);
  }
  out.integer(14, 1);
  return out;
}

// A size is a number, or a name where it is open; "" has no name.
inline WireWriter value_info(const std::string& name, const std::vector<std::string>& sizes, int64_t type = 1) {
  WireWriter shape;
  for (const std::string& size : sizes) {
    WireWriter dim;
    const bool is_number = !size.empty() && size.find_first_not_of("0123456789") == std::string::npos;
    if (is_number) dim.integer(1, std::stoll(size));
    if (!is_number && !size.empty()) dim.text(2, size);
    shape.message(1, dim);
  }
  WireWriter tensor;
  tensor.integer(1, type);
  tensor.message(2, shape);
  WireWriter kind;
  kind.message(1, tensor);
  WireWriter info;
  info.text(1, name);
  info.message(2, kind);
  return info;
}

struct NodeOptions {
  std::vector<std::pair<std::string, std::vector<int64_t>>> integers = {};
  std::vector<std::pair<std::string, int64_t>> integer = {};
  std::vector<std::pair<std::string, WireWriter>> graphs = {};
  std::string domain = {}, name = {};
};
inline WireWriter node(const std::string& op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                       const NodeOptions& options = {}) {
  WireWriter out;
  for (const std::string& input : inputs) out.text(1, input);
  for (const std::string& output : outputs) out.text(2, output);
  if (!options.name.empty()) out.text(3, options.name);
  out.text(4, op);
  for (const auto& [name, values] : options.integers) {
    WireWriter attribute;
    attribute.text(1, name);
    attribute.integers(8, values);
    attribute.integer(20, 7);
    out.message(5, attribute);
  }
  for (const auto& [name, value] : options.integer) {
    WireWriter attribute;
    attribute.text(1, name);
    attribute.integer(3, value);
    attribute.integer(20, 2);
    out.message(5, attribute);
  }
  for (const auto& [name, graph] : options.graphs) {
    WireWriter attribute;
    attribute.text(1, name);
    attribute.message(6, graph);
    attribute.integer(20, 5);
    out.message(5, attribute);
  }
  if (!options.domain.empty()) out.text(7, options.domain);
  return out;
}

struct GraphParts {
  std::vector<WireWriter> nodes, initializers = {}, inputs = {}, outputs = {};
};
inline WireWriter graph_proto(const GraphParts& parts) {
  WireWriter graph;
  for (const WireWriter& each : parts.nodes) graph.message(1, each);
  graph.text(2, "graph");
  for (const WireWriter& each : parts.initializers) graph.message(5, each);
  for (const WireWriter& each : parts.inputs) graph.message(11, each);
  for (const WireWriter& each : parts.outputs) graph.message(12, each);
  return graph;
}
inline std::string model_bytes(const GraphParts& parts, int64_t opset = 17) {
  WireWriter version;
  version.text(1, "");
  version.integer(2, opset);
  WireWriter model;
  model.integer(1, 8);
  model.message(8, version);
  model.message(7, graph_proto(parts));
  return model.bytes();
}

inline std::filesystem::path written(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
  return file;
}

}  // namespace anyshape::onnx::test
