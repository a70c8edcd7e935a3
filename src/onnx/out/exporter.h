// From the graph of a trace to the text of an ONNX file: ops by their rules, constants computed now, and everything that has no form told at once.
#pragma once
#include "onnx/out/emitter.h"

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace anyshape::onnx::out {

class Exporter {
 public:
  explicit Exporter(Emitter& emitter) : e_(emitter) {}

  // Writes the nodes of a graph whose inputs are there; gives the names of its outputs.
  Names write(const graph::Graph& graph);
  size_t uses(const graph::Value* value) const {
    const auto found = uses_.find(value);
    return found == uses_.end() ? 0 : found->second;
  }
  void note_uses(const graph::Graph& graph);  // of a graph and its regions, before it is written

  // Text on the ops that had no form: "normal (2 times, in layers a and b): it draws ..."; empty where all had one.
  std::string missing() const;

 private:
  void write(const graph::Node& node);
  bool compute(const graph::Node& node);  // now, where its inputs are constants
  void note_missing(const graph::Node& node, const std::string& reason);

  struct Missing {
    int64_t count = 0;
    std::vector<std::string> layers;
  };
  Emitter& e_;
  std::unordered_map<const graph::Value*, size_t> uses_;
  std::map<std::pair<std::string, std::string>, Missing> missing_;  // by op and reason
};

}  // namespace anyshape::onnx::out
