// What an ONNX file holds, as far as it is read: the messages of ONNX's schema under its own names for their fields.
#pragma once
#include <anyshape/tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace anyshape::onnx {

// TensorProto.DataType.
enum class ElementType : int32_t {
  Undefined = 0,
  Float = 1,
  Uint8 = 2,
  Int8 = 3,
  Uint16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  String = 8,
  Bool = 9,
  Float16 = 10,
  Double = 11,
  Uint32 = 12,
  Uint64 = 13,
  Complex64 = 14,
  Complex128 = 15,
  Bfloat16 = 16,
  Uint4 = 21,
  Int4 = 22,
  Uint2 = 25,
  Int2 = 26,
};

struct TensorProto {
  std::string name;
  std::vector<int64_t> dims;
  ElementType type = ElementType::Undefined;
  std::string_view bytes;                       // the whole message: its elements are read when they are asked for
  std::map<std::string, std::string> external;  // location, offset, length
  bool is_external = false;                     // the elements are in a file of their own
};

struct DimProto {
  std::optional<int64_t> value;  // fixed
  std::string param;             // or named; neither: open
};
struct TypeProto {
  enum class Kind : uint8_t { None, Tensor, Sequence, Optional, Map, SparseTensor };
  Kind kind = Kind::None;
  ElementType element = ElementType::Undefined;
  std::optional<std::vector<DimProto>> shape;  // none: of any rank
  std::shared_ptr<TypeProto> inner;            // of a sequence's elements, of an optional
};
struct ValueInfoProto {
  std::string name;
  TypeProto type;
};

struct GraphProto;
struct AttributeProto {
  // AttributeProto.AttributeType.
  enum class Type : int32_t {
    Undefined = 0,
    Float = 1,
    Int = 2,
    String = 3,
    Tensor = 4,
    Graph = 5,
    Floats = 6,
    Ints = 7,
    Strings = 8,
    Tensors = 9,
    Graphs = 10,
    SparseTensor = 11,
    SparseTensors = 12,
    TypeProto = 13,
    TypeProtos = 14
  };
  std::string name, ref;  // ref: of a function's call, the attribute that stands here
  Type type = Type::Undefined;
  float f = 0;
  int64_t i = 0;
  std::string s;
  std::shared_ptr<TensorProto> t;
  Tensor tensor;  // what t holds, once it has been read
  std::shared_ptr<GraphProto> g;
  std::shared_ptr<TypeProto> tp;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
};

struct NodeProto {
  std::string name, op, domain, overload;  // the domain "ai.onnx" is ""
  std::vector<std::string> inputs, outputs;
  std::vector<AttributeProto> attributes;
};

struct GraphProto {
  std::string name;
  std::vector<NodeProto> nodes;
  std::vector<TensorProto> initializers;
  std::map<std::string, std::pair<Tensor, ElementType>> constants;  // the initializers, once they have been read
  std::vector<ValueInfoProto> inputs, outputs;
  std::vector<std::string> sparse;  // the names of initializers that are sparse tensors
};

struct FunctionProto {
  std::string name, domain, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<AttributeProto> defaults;  // of attributes, where it has some
  std::vector<NodeProto> nodes;
  std::map<std::string, int64_t> opsets;
};

struct ModelProto {
  int64_t ir_version = 0;
  std::string producer;
  std::map<std::string, int64_t> opsets;  // by domain
  GraphProto graph;
  std::vector<FunctionProto> functions;
  std::map<std::string, std::string> metadata;
  std::shared_ptr<const std::string> bytes;  // the file, which tensors point into
};

// FormatError "onnx: "file" ..." for what is no ONNX file, is cut short, is nested too deeply, or would take far more memory than it has bytes.
ModelProto parse_model(std::string bytes, const std::string& file);
// A message with one tensor, as in the .pb files of test data; it points into the bytes.
TensorProto parse_tensor(std::string_view bytes, const std::string& file);

}  // namespace anyshape::onnx
