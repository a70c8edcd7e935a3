// ONNX's messages out of the wire format. What a message takes in memory is counted: a file of many empty parts must not ask for far more than it has.
#include "base/cut_text.h"
#include "onnx/proto.h"
#include "onnx/wire.h"

#include <anyshape/error.h>

#include <fmt/format.h>

namespace anyshape::onnx {
namespace {

constexpr int deepest = 32;                        // graphs inside attributes, types inside types
constexpr int64_t free_bytes = int64_t{32} << 20;  // beside twice the file's own
constexpr int64_t growth = 2;                      // a vector that grows has room for twice its parts

class Parser {
 public:
  Parser(const std::string& file, size_t bytes) : left_(2 * static_cast<int64_t>(bytes) + free_bytes) {
    refuse_ = [file](std::string_view what) {
      throw FormatError(fmt::format("onnx: {} {}; expected a whole ONNX file.", whole_in_quotes(file), what));
    };
  }

  ModelProto model(std::string_view bytes) {
    ModelProto model;
    WireReader in(bytes, refuse_);
    while (in.next()) {
      switch (in.field()) {
        case 1: model.ir_version = in.integer(); break;
        case 2: model.producer = text(in); break;
        case 7: model.graph = graph(in.message(), 0); break;
        case 8: opset(in.message(), model.opsets); break;
        case 14: entry(in.message(), model.metadata); break;
        case 25: add(model.functions, function(in.message())); break;
        default: break;
      }
    }
    return model;
  }

  TensorProto tensor(std::string_view bytes) {
    TensorProto tensor;
    tensor.bytes = bytes;
    WireReader in(bytes, refuse_);
    while (in.next()) {
      switch (in.field()) {
        case 1:
          in.integers([&](int64_t size) {
            if (tensor.dims.size() == 64) in.fail("has a tensor of more than 64 axes");
            tensor.dims.push_back(size);
          });
          break;
        case 2: tensor.type = static_cast<ElementType>(in.integer()); break;
        case 8: tensor.name = text(in); break;
        case 13: entry(in.message(), tensor.external); break;
        case 14: tensor.is_external = in.integer() == 1; break;
        default: break;
      }
    }
    return tensor;
  }

 private:
  void count(size_t bytes) {
    left_ -= static_cast<int64_t>(bytes) * growth;
    if (left_ < 0) refuse_("has far more parts than a file of its size");
  }
  template <class T>
  void add(std::vector<T>& list, T part) {
    count(sizeof(T));
    list.push_back(std::move(part));
  }
  std::string text(WireReader& in) {
    std::string taken = in.text();
    count(taken.size());
    return taken;
  }
  void go_deeper(int depth) {
    if (depth > deepest) refuse_(fmt::format("has more than {} graphs or types inside each other", deepest));
  }

  void entry(WireReader in, std::map<std::string, std::string>& entries) {
    std::string key, value;
    while (in.next()) {
      if (in.field() == 1) key = text(in);
      if (in.field() == 2) value = text(in);
    }
    count(64 + key.size() + value.size());
    entries[key] = std::move(value);
  }

  static std::string known_domain(std::string domain) { return domain == "ai.onnx" ? std::string() : domain; }

  void opset(WireReader in, std::map<std::string, int64_t>& opsets) {
    std::string domain;
    int64_t version = 0;
    while (in.next()) {
      if (in.field() == 1) domain = text(in);
      if (in.field() == 2) version = in.integer();
    }
    count(64);
    opsets[known_domain(std::move(domain))] = version;
  }

  GraphProto graph(WireReader in, int depth) {
    go_deeper(depth);
    GraphProto graph;
    while (in.next()) {
      switch (in.field()) {
        case 1: add(graph.nodes, node(in.message(), depth)); break;
        case 2: graph.name = text(in); break;
        case 5: add(graph.initializers, tensor(in.bytes())); break;
        case 11: add(graph.inputs, value_info(in.message(), depth)); break;
        case 12: add(graph.outputs, value_info(in.message(), depth)); break;
        case 15: add(graph.sparse, sparse_name(in.message())); break;
        default: break;
      }
    }
    return graph;
  }

  std::string sparse_name(WireReader in) {
    std::string name;
    while (in.next()) {
      if (in.field() == 1) name = tensor(in.bytes()).name;
    }
    return name;
  }

  NodeProto node(WireReader in, int depth) {
    NodeProto node;
    while (in.next()) {
      switch (in.field()) {
        case 1: add(node.inputs, text(in)); break;
        case 2: add(node.outputs, text(in)); break;
        case 3: node.name = text(in); break;
        case 4: node.op = text(in); break;
        case 5: add(node.attributes, attribute(in.message(), depth)); break;
        case 7: node.domain = known_domain(text(in)); break;
        case 8: node.overload = text(in); break;
        default: break;
      }
    }
    return node;
  }

  AttributeProto attribute(WireReader in, int depth) {
    using Type = AttributeProto::Type;
    AttributeProto attribute;
    Type found = Type::Undefined;  // where the file does not say which it is
    while (in.next()) {
      switch (in.field()) {
        case 1: attribute.name = text(in); break;
        case 2: attribute.f = in.number(), found = Type::Float; break;
        case 3: attribute.i = in.integer(), found = Type::Int; break;
        case 4: attribute.s = text(in), found = Type::String; break;
        case 5: attribute.t = std::make_shared<TensorProto>(tensor(in.bytes())), found = Type::Tensor; break;
        case 6: attribute.g = std::make_shared<GraphProto>(graph(in.message(), depth + 1)), found = Type::Graph; break;
        case 7: in.numbers([&](float number) { add(attribute.floats, number); }), found = Type::Floats; break;
        case 8: in.integers([&](int64_t number) { add(attribute.ints, number); }), found = Type::Ints; break;
        case 9: add(attribute.strings, text(in)), found = Type::Strings; break;
        case 14: attribute.tp = std::make_shared<TypeProto>(type(in.message(), depth + 1)), found = Type::TypeProto; break;
        case 20: attribute.type = static_cast<Type>(in.integer()); break;
        case 21: attribute.ref = text(in); break;
        default: break;
      }
    }
    if (attribute.type == Type::Undefined) attribute.type = found;
    count(sizeof(TensorProto) * (attribute.t != nullptr) + sizeof(GraphProto) * (attribute.g != nullptr));
    return attribute;
  }

  ValueInfoProto value_info(WireReader in, int depth) {
    ValueInfoProto info;
    while (in.next()) {
      if (in.field() == 1) info.name = text(in);
      if (in.field() == 2) info.type = type(in.message(), depth + 1);
    }
    return info;
  }

  TypeProto type(WireReader in, int depth) {
    using Kind = TypeProto::Kind;
    go_deeper(depth);
    TypeProto type;
    while (in.next()) {
      switch (in.field()) {
        case 1: tensor_type(in.message(), type); break;
        case 4: type.kind = Kind::Sequence, inner_type(in.message(), type, depth); break;
        case 5: type.kind = Kind::Map, in.bytes(); break;
        case 8: type.kind = Kind::SparseTensor, in.bytes(); break;
        case 9: type.kind = Kind::Optional, inner_type(in.message(), type, depth); break;
        default: break;
      }
    }
    return type;
  }

  void inner_type(WireReader in, TypeProto& type, int depth) {
    while (in.next()) {
      if (in.field() == 1) type.inner = std::make_shared<TypeProto>(this->type(in.message(), depth + 1));
    }
    count(sizeof(TypeProto));
  }

  void tensor_type(WireReader in, TypeProto& type) {
    type.kind = TypeProto::Kind::Tensor;
    while (in.next()) {
      if (in.field() == 1) type.element = static_cast<ElementType>(in.integer());
      if (in.field() == 2) {
        type.shape.emplace();
        WireReader shape = in.message();
        while (shape.next()) {
          if (shape.field() == 1) add(*type.shape, dimension(shape.message()));
        }
      }
    }
  }

  DimProto dimension(WireReader in) {
    DimProto dim;
    while (in.next()) {
      if (in.field() == 1) dim.value = in.integer();
      if (in.field() == 2) dim.param = text(in);
    }
    return dim;
  }

  FunctionProto function(WireReader in) {
    FunctionProto function;
    while (in.next()) {
      switch (in.field()) {
        case 1: function.name = text(in); break;
        case 4: add(function.inputs, text(in)); break;
        case 5: add(function.outputs, text(in)); break;
        case 7: add(function.nodes, node(in.message(), 0)); break;
        case 9: opset(in.message(), function.opsets); break;
        case 10: function.domain = known_domain(text(in)); break;
        case 11: add(function.defaults, attribute(in.message(), 0)); break;
        case 13: function.overload = text(in); break;
        default: break;
      }
    }
    return function;
  }

  WireReader::Refuse refuse_;
  int64_t left_;
};

}  // namespace

ModelProto parse_model(std::string bytes, const std::string& file) {
  auto held = std::make_shared<const std::string>(std::move(bytes));
  ModelProto model = Parser(file, held->size()).model(*held);
  model.bytes = std::move(held);
  if (model.graph.nodes.empty() && model.graph.outputs.empty()) {
    throw FormatError(fmt::format("onnx: {} has no graph; expected a whole ONNX file.", whole_in_quotes(file)));
  }
  return model;
}

TensorProto parse_tensor(std::string_view bytes, const std::string& file) { return Parser(file, bytes.size()).tensor(bytes); }

}  // namespace anyshape::onnx
