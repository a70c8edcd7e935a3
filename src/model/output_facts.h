// What a network's outputs look like, known before the first step: for errors that speak of the user's data.
#pragma once
#include <anyshape/model.h>

#include <optional>
#include <vector>

namespace anyshape::model {

struct OutputFacts {
  int rank = 0;
  std::vector<std::optional<int64_t>> sizes = {};  // those that are numbers
  bool is_masked = false;
  std::optional<size_t> rows_of = {};  // the input whose ragged rows it has
};

// What facts were found for: they hold as long as the network and the kinds of its inputs stay.
struct KnownFacts {
  uint64_t version = 0;  // of the network
  std::vector<TensorSpec> inputs = {};
  std::vector<OutputFacts> facts = {};
};

// One per output. By a trace, which computes nothing, or by a call on the sample where the model runs eagerly; empty where neither works.
std::vector<OutputFacts> output_facts(const Model& model, const std::vector<Tensor>& sample, bool run_eagerly);

}  // namespace anyshape::model
