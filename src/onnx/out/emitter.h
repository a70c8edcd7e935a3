// What rules write with: nodes, constants and sizes become parts of an ONNX graph, and values of our graph the names of ONNX values.
//
// Constants and sizes belong to the outermost graph, where graphs inside of nodes see them, and each is made once. A value may be there in two layouts: as
// ours, with channels last, and with channels behind the rows, as ONNX has images. The one is made of the other when it is asked for first, so that
// between two convolutions nothing is turned.
#pragma once
#include "graph/graph.h"
#include "onnx/out/file.h"
#include "shape/dim_node.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace anyshape::onnx::out {

using Names = std::vector<std::string>;

class Emitter {
 public:
  explicit Emitter(int64_t opset) : opset_(opset) {}
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;

  int64_t opset() const { return opset_; }
  std::string add(std::string_view op, Names inputs, Attributes attributes = {}) {
    return add_all(op, std::move(inputs), 1, std::move(attributes))[0];
  }
  Names add_all(std::string_view op, Names inputs, size_t outputs, Attributes attributes = {});
  std::string fresh(std::string_view what);  // a name that nothing has
  std::string unique(std::string wanted);    // the wanted name, or one that begins with it

  // Constants, each written once.
  std::string constant(const Tensor& value, std::string_view name);
  std::string number(Dtype dtype, double value);  // of rank 0
  std::string integer(int64_t value) { return number(Dtype::i64, static_cast<double>(value)); }
  std::string integers(const std::vector<int64_t>& values);  // i64[n]

  // Sizes. A symbol is what stands along an axis of an input, or what a node has found.
  void set_symbol(const Dim& symbol, const std::string& vector) { sizes_[symbol] = vector; }
  std::string size(const Dim& size);                            // i64[1]
  std::string sizes(std::span<const Dim> sizes);                // i64[n]
  std::string size_number(const Dim& size);                     // i64[]
  std::string size_of_axis(const std::string& name, int axis);  // i64[1], of a value

  // Values of our graph.
  void set(const graph::Value* value, std::string name) { forms_[value] = {.ours = std::move(name), .channels_second = {}, .known = {}}; }
  void set_channels_second(const graph::Value* value, std::string name) {
    forms_[value] = {.ours = {}, .channels_second = std::move(name), .known = {}};
  }
  void set_known(const graph::Value* value, Tensor known, std::string name);
  const Tensor* known(const graph::Value* value) const;  // what a constant holds; null of what is computed
  std::string known_name(const graph::Value* value) const;
  bool is_channels_second(const graph::Value* value) const;  // alone, so that the other layout would have to be made
  std::string ours(const graph::Value* value);
  std::string channels_second(const graph::Value* value);
  void copy(const graph::Value* to, const graph::Value* from);  // is the same value, in a region

  // A convolution as it was written, for what follows it to become part of: its kernel has the filters first.
  struct Convolution {
    std::string x;
    Tensor kernel, bias;  // no bias: an empty handle
    std::string kernel_name;
    Attributes attributes;
  };
  void note_convolution(const graph::Value* result, Convolution convolution) { convolutions_[result] = std::move(convolution); }
  const Convolution* convolution(const graph::Value* result) const {
    const auto found = convolutions_.find(result);
    return found == convolutions_.end() ? nullptr : &found->second;
  }

  // A graph inside of a node: what `body` adds is part of it. Its outputs are what the body gives, made inside of it.
  std::shared_ptr<GraphText> subgraph(std::string_view name, const std::function<Names()>& body);
  // The graph so far, with these inputs and outputs, and without what no output needs.
  GraphText finish(std::string name, std::vector<ValueText> inputs, std::vector<ValueText> outputs, const Names& results);
  std::string place;  // of the nodes that are added now

 private:
  struct Forms {
    std::string ours, channels_second;
    std::optional<Tensor> known;
    std::string known_name = {};
  };
  std::string in_root(const std::function<std::string()>& make);
  std::string make_size(const Dim& size);
  std::string make_atom(const Atom& atom);

  int64_t opset_;
  std::vector<NodeText> nodes_;
  std::vector<NodeText>* current_ = &nodes_;
  std::vector<Initializer> initializers_;
  std::set<std::string, std::less<>> names_;
  std::map<std::string, int, std::less<>> counts_;
  std::map<std::string, std::string> wanted_;     // of an initializer whose name was taken: the name that it should have
  std::map<std::string, std::string> constants_;  // by their dtype, shape and bytes
  std::unordered_map<Dim, std::string, DimHash, DimSame> sizes_;
  std::map<std::string, std::string> vectors_;  // of sizes, by the names of their parts
  std::unordered_map<const graph::Value*, Forms> forms_;
  std::unordered_map<const graph::Value*, Convolution> convolutions_;
};

std::vector<int64_t> to_channels_second(int rank);  // as permutations
std::vector<int64_t> to_channels_last(int rank);

}  // namespace anyshape::onnx::out
