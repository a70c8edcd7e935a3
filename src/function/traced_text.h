// What the text of a traced graph leaves out and a file must have: passes change the graph, and its text is made before them.
#pragma once
#include "graph/graph.h"

#include <anyshape/spec.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace anyshape::function_detail {

class Signature;

struct TracedText {
  std::string sizes;  // lines that declare every symbol of the signature and the graph, in their order
  struct Words {
    std::string what, expected, operands, place;
  };
  std::vector<Words> checks;                           // as the graph has them
  std::vector<std::pair<std::string, size_t>> places;  // of its nodes: a place, and how many nodes in a row have it
  std::vector<std::string> arguments;                  // "argument 1 (options.rate)", of the tensors
};

std::shared_ptr<const TracedText> text_beside(const graph::Graph& graph, const Signature& signature, std::vector<std::string> arguments);

}  // namespace anyshape::function_detail
