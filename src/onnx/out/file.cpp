// The bytes of a file. The numbers are those of the fields in ONNX's schema (onnx.proto).
#include "onnx/out/file.h"

#include "io/whole_file.h"
#include "onnx/out/message.h"
#include "tensor/host_data.h"

#include <anyshape/error.h>
#include <anyshape/version.h>

#include <fmt/format.h>

#include <limits>

namespace anyshape::onnx::out {
namespace {

Message of(const GraphText& graph);

Message of(const Initializer& initializer) {
  Message message;
  std::vector<int64_t> sizes;
  for (const Dim& size : initializer.value.shape()) sizes.push_back(size.value());
  const Dtype dtype = initializer.value.dtype();
  const int64_t count = initializer.value.shape().count().value();
  message.add_packed(1, sizes);
  message.add(2, element_type(dtype));
  message.add(8, std::string_view(initializer.name));
  message.point_to(
      9, count == 0 ? std::string_view("") : std::string_view(host_data(initializer.value), static_cast<size_t>(count * size_of(dtype))));
  return message;
}

Message of(const ValueText& value) {
  Message shape, tensor, type, message;
  message.add(1, std::string_view(value.name));
  if (!value.is_typed) return message;
  for (const auto& size : value.sizes) {
    Message dimension;
    if (const int64_t* number = std::get_if<int64_t>(&size)) {
      dimension.add(1, *number);
    } else if (const std::string& name = std::get<std::string>(size); !name.empty()) {
      dimension.add(2, std::string_view(name));
    }
    shape.add(1, std::move(dimension));
  }
  tensor.add(1, element_type(value.dtype));
  tensor.add(2, std::move(shape));
  type.add(1, std::move(tensor));
  message.add(2, std::move(type));
  return message;
}

struct AttributeFields {
  Message& message;
  void operator()(int64_t value) const {
    message.add(3, value);
    message.add(20, int64_t{2});
  }
  void operator()(float value) const {
    message.add(2, value);
    message.add(20, int64_t{1});
  }
  void operator()(const std::string& value) const {
    message.add(4, std::string_view(value));
    message.add(20, int64_t{3});
  }
  void operator()(const std::vector<int64_t>& values) const {
    for (const int64_t value : values) message.add(8, value);
    message.add(20, int64_t{7});
  }
  void operator()(const std::vector<std::string>& values) const {
    for (const std::string& value : values) message.add(9, std::string_view(value));
    message.add(20, int64_t{8});
  }
  void operator()(const std::shared_ptr<GraphText>& graph) const {
    message.add(6, of(*graph));
    message.add(20, int64_t{5});
  }
};

Message of(const NodeText& node, const std::string& name) {
  Message message;
  for (const std::string& input : node.inputs) message.add(1, std::string_view(input));
  for (const std::string& output : node.outputs) message.add(2, std::string_view(output));
  message.add(3, std::string_view(name));
  message.add(4, std::string_view(node.op));
  for (const Attribute& attribute : node.attributes) {
    Message field;
    field.add(1, std::string_view(attribute.name));
    std::visit(AttributeFields{field}, attribute.value);
    message.add(5, std::move(field));
  }
  return message;
}

Message of(const GraphText& graph) {
  Message message;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeText& node = graph.nodes[i];
    message.add(1, of(node, fmt::format("{}{}{}_{}", node.place, node.place.empty() ? "" : "/", node.op, i)));
  }
  message.add(2, std::string_view(graph.name));
  for (const Initializer& initializer : graph.initializers) message.add(5, of(initializer));
  for (const ValueText& input : graph.inputs) message.add(11, of(input));
  for (const ValueText& output : graph.outputs) message.add(12, of(output));
  return message;
}

// The version of the schema that came with an opset.
int64_t schema_version(int64_t opset) { return opset >= 21 ? 10 : opset >= 19 ? 9 : 8; }

}  // namespace

int64_t element_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32: return 1;
    case Dtype::u8: return 2;
    case Dtype::i32: return 6;
    case Dtype::i64: return 7;
    case Dtype::b8: return 9;
    case Dtype::f16: return 10;
    case Dtype::f64: return 11;
    case Dtype::bf16: return 16;
  }
  throw InternalError("onnx: a dtype without a number");
}

void write(const FileText& text, const std::string& place, const std::filesystem::path& file) {
  Message message;
  message.add(1, schema_version(text.opset));
  message.add(2, std::string_view("anyshape"));
  message.add(3, std::string_view(version_text));
  message.add(7, of(text.graph));
  Message opset;
  opset.add(1, std::string_view(""));
  opset.add(2, text.opset);
  message.add(8, std::move(opset));
  for (const auto& [key, value] : text.notes) {
    Message note;
    note.add(1, std::string_view(key));
    note.add(2, std::string_view(value));
    message.add(14, std::move(note));
  }
  constexpr uint64_t most = std::numeric_limits<int32_t>::max();
  if (message.size() > most) {
    throw ArgumentError(
        fmt::format("{}: the file would have {} bytes; expected at most {}, which is what the format can hold. Save a part of the "
                    "model, or its weights as safetensors.",
                    place, message.size(), most));
  }
  WholeFile out(place, file);
  message.write([&](std::string_view bytes) { out.write(bytes); });
  out.commit();
}

}  // namespace anyshape::onnx::out
