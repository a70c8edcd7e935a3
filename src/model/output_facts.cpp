// A network is called once on inputs like the data's, and its results are looked at.
#include "model/output_facts.h"

#include "function/signature.h"
#include "function/tracer.h"
#include "graph/ragged.h"
#include "model/model_state.h"
#include "model/prepare.h"
#include "nn/notes.h"
#include "tensor/partition.h"

#include <algorithm>
#include <mutex>

namespace anyshape::model {
namespace {

std::vector<OutputFacts> facts_of(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
  std::vector<OutputFacts> facts;
  for (const Tensor& output : outputs) {
    OutputFacts& own = facts.emplace_back();
    own.rank = output.rank();
    own.is_masked = nn::mask_of(output).defined();
    for (const Dim& size : output.shape()) own.sizes.push_back(size.is_constant() ? std::optional(size.value()) : std::nullopt);
    const RaggedTensor* const ragged = as_ragged(output);
    for (size_t i = 0; i < inputs.size() && ragged != nullptr; ++i) {
      const RaggedTensor* const given = as_ragged(inputs[i]);
      if (given != nullptr && given->partition->splits.impl() == ragged->partition->splits.impl()) own.rows_of = i;
    }
  }
  return facts;
}

bool are_alike(const std::vector<TensorSpec>& known, const std::vector<Tensor>& inputs) {
  return std::ranges::equal(known, inputs, [](const TensorSpec& spec, const Tensor& input) {
    const bool is_ragged = spec.shape.rank() > 1 && spec.shape[1].is_ragged();
    return spec.dtype == input.dtype() && spec.shape.rank() == input.rank() && is_ragged == input.is_ragged();
  });
}

// Sizes are symbols, so that what is a number then is one for all inputs of this kind.
std::vector<OutputFacts> facts_by_tracing(const Model& model, const std::vector<Tensor>& sample) {
  std::vector<OutputFacts> facts;
  const auto signature = function_detail::Signature::open(sample);
  std::vector<int64_t> sizes;
  signature.bind(sample, sizes);
  function_detail::Tracer tracer(model.name(), signature.dense_specs(), signature.bindings(sizes));
  tracer.run([&](std::span<const Tensor> dense) {
    const std::vector<Tensor> inputs = signature.from_dense(dense);
    facts = facts_of(inputs, model.outputs(inputs, {.training = false}).tensors());
    return FunctionResults{};
  });
  return facts;
}

}  // namespace

std::vector<OutputFacts> output_facts(const Model& model, const std::vector<Tensor>& sample, bool run_eagerly) {
  try {
    if (run_eagerly) return facts_of(sample, call_on_sample(model, sample));
    Model::State& state = Model::State::of(model, "fit");
    const std::scoped_lock lock(state.preparing);
    const uint64_t version = model.AnyLayer::layer()->state().version();
    if (!state.output_facts || state.output_facts->version != version || !are_alike(state.output_facts->inputs, sample)) {
      KnownFacts known{.version = version, .inputs = {}, .facts = facts_by_tracing(model, sample)};
      for (const Tensor& input : sample) known.inputs.push_back({input.dtype(), input.shape(), {}});
      put(state.output_facts, std::move(known));
    }
    return state.output_facts->facts;
  } catch (const std::exception&) {
    return {};  // the step says what is wrong
  }
}

}  // namespace anyshape::model
