// A model's graph, prepared: elements are read, inputs get their sizes, and what depends on constants alone is computed.
#include "onnx/prepare.h"

#include "base/cut_text.h"
#include "onnx/rule.h"
#include "onnx/tensor_data.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace anyshape::onnx {
namespace {

class Reader {
 public:
  Reader(const std::string& file, const std::filesystem::path& folder) : file_(file), folder_(folder) {}

  // Elements of attributes and of graphs inside nodes: from here on nothing refers to the file's bytes.
  void read(std::vector<NodeProto>& nodes) {
    for (NodeProto& node : nodes) {
      for (AttributeProto& attribute : node.attributes) read(attribute);
    }
  }
  void read(AttributeProto& attribute) {
    if (attribute.t != nullptr && dtype_for(attribute.t->type)) attribute.tensor = tensor(*attribute.t);
    if (attribute.g != nullptr) read(*attribute.g);
  }
  void read(GraphProto& graph) {
    for (const std::string& name : graph.sparse) {
      throw Unsupported(
          fmt::format("onnx: {}: initializer {} is a sparse tensor, which is not supported.", whole_in_quotes(file_), in_quotes(name)));
    }
    for (const TensorProto& proto : graph.initializers) graph.constants.insert_or_assign(proto.name, std::pair(tensor(proto), proto.type));
    graph.initializers.clear();
    read(graph.nodes);
  }

 private:
  Tensor tensor(const TensorProto& proto) const { return to_tensor(proto, file_, folder_); }

  const std::string& file_;
  const std::filesystem::path& folder_;
};

class Sizes {
 public:
  explicit Sizes(const std::map<std::string, Dim>& given) : given_(given) {}

  TensorSpec spec(const ValueInfoProto& input) {
    TensorSpec spec{.dtype = Dtype::f32, .shape = {}, .name = input.name};
    if (input.type.kind != TypeProto::Kind::Tensor) return spec;
    const std::optional<Dtype> dtype = dtype_for(input.type.element);
    if (!dtype)
      throw Unsupported(
          fmt::format("onnx: input {} has elements of {}, which is not supported.", in_quotes(input.name), name_of(input.type.element)));
    spec.dtype = *dtype;
    if (!input.type.shape) return spec;
    for (size_t axis = 0; axis < input.type.shape->size(); ++axis) spec.shape.push_back(size((*input.type.shape)[axis], input.name, axis));
    return spec;
  }

  void require_used() const {
    for (const auto& [name, size] : given_) {
      if (used_.contains(name)) continue;
      std::vector<std::string> known(open_.begin(), open_.end());
      throw ArgumentError(fmt::format("onnx: .dims names {}, which is no open size of the model; expected one of {}.", in_quotes(name),
                                      known.empty() ? "none: all sizes are numbers" : listed(known)));
    }
  }

 private:
  Dim size(const DimProto& proto, const std::string& input, size_t axis) {
    const std::string place = fmt::format("{}.{}", input, axis);
    if (proto.value && *proto.value > 0 && !given_.contains(place)) return *proto.value;
    const std::string name =
        proto.param.empty() || proto.param == "?" ? place : proto.param;  // "?" is how some exporters write a size of no name
    open_.insert(name);
    for (const std::string& key : {place, name}) {
      const auto found = given_.find(key);
      if (found == given_.end()) continue;
      used_.insert(key);
      return found->second;
    }
    const auto [known, is_new] = symbols_.try_emplace(name, Dim());
    if (is_new) known->second = dim(name);
    return known->second;
  }

  const std::map<std::string, Dim>& given_;
  std::map<std::string, Dim> symbols_;
  std::set<std::string> used_, open_;
};

// What fit may change, and what a weights file holds: numbers, more than one of them.
bool is_weight(const Tensor& tensor) { return is_floating(tensor.dtype()) && tensor.rank() > 0 && tensor.shape().count().value() > 1; }

}  // namespace

Prepared prepare(ModelProto model, const std::string& file, const std::filesystem::path& folder, const LoadOptions& options) {
  Prepared prepared;
  Reader reader(file, folder);
  reader.read(model.graph);
  for (FunctionProto& function : model.functions) {
    reader.read(function.nodes);
    for (AttributeProto& standard : function.defaults) reader.read(standard);
  }
  model.bytes.reset();
  Sizes sizes(options.dims);
  std::set<std::string> names;
  for (const ValueInfoProto& input : model.graph.inputs) {
    if (model.graph.constants.contains(input.name)) continue;
    if (!names.insert(input.name).second)
      throw FormatError(
          fmt::format("onnx: {}: two inputs are called {}; expected names that differ.", whole_in_quotes(file), in_quotes(input.name)));
    prepared.inputs.push_back(input);
    prepared.specs.push_back(sizes.spec(input));
  }
  sizes.require_used();
  for (auto& [name, constant] : model.graph.constants) {
    if (is_weight(constant.first)) {
      prepared.weights.emplace_back(name, constant.first);
    } else {
      prepared.constants.emplace(name, Value::constant(constant.first, constant.second));
    }
  }
  model.graph.constants.clear();
  prepared.model = std::move(model);
  return prepared;
}

}  // namespace anyshape::onnx
