// Placeholders: calls of ops and layers on them are noted, not run.
#include "nn/placeholder.h"

#include "base/fork_mutex.h"
#include "graph/bind.h"
#include "graph/symbol_collector.h"
#include "nn/describe_call.h"
#include "tensor/make_impl.h"

#include <anyshape/error.h>
#include <anyshape/model.h>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_set>

namespace anyshape {
namespace nn {
namespace {

// The interpreter of ops that meet a placeholder.
class Describer final : public Interpreter {
 public:
  std::vector<Tensor> run(const BoundCall& call) override {
    const auto noted = std::make_shared<const Placeholder::Call>(Placeholder::Call{.op = &call.op,
                                                                                   .attrs = call.attrs,
                                                                                   .inputs = {call.inputs.begin(), call.inputs.end()},
                                                                                   .results = {call.outputs.begin(), call.outputs.end()}});
    std::vector<Tensor> results;
    for (size_t output = 0; output < call.outputs.size(); ++output)
      results.push_back(make_placeholder(call.outputs[output], {.call = noted, .output = static_cast<int>(output)}));
    return results;
  }
  void require_own(std::string_view op, const Tensor& tensor) const override {
    if (!is_placeholder(tensor)) Interpreter::require_own(op, tensor);
  }
};

// The sizes that inputs leave open.
class OpenSizes {
 public:
  void add(const Shape& shape) {
    graph::SymbolCollector collector;
    collector.add_all(shape);
    const std::lock_guard lock(mutex_);
    for (const Symbol& symbol : collector.symbols) ids_.insert(symbol.id);
    any_.store(true, std::memory_order_release);
  }
  bool names(const Attrs& attrs) {
    if (!any_.load(std::memory_order_acquire)) return false;
    graph::SymbolCollector collector;
    attrs.visit(collector);
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(collector.symbols, [&](const Symbol& symbol) { return ids_.contains(symbol.id); });
  }

 private:
  std::atomic<bool> any_ = false;
  ForkMutex mutex_;
  std::unordered_set<uint64_t> ids_;
};

OpenSizes& open_sizes() {
  const NoFork whole;  // so that no child waits for another thread to make it
  static OpenSizes& sizes = *new OpenSizes;
  return sizes;
}

Describer describer;
[[maybe_unused]] const bool registered =
    (set_placeholder_interpreter(describer, [](const Attrs& attrs) { return open_sizes().names(attrs); }), true);

}  // namespace

Tensor make_placeholder(const TensorSpec& spec, Placeholder placeholder) {
  auto impl = make_impl();
  impl->dtype = spec.dtype;
  impl->rank = static_cast<int8_t>(spec.shape.rank());
  impl->become(
      PlaceholderTensor{{.trace = 0, .value = nullptr, .shape = spec.shape}, std::make_shared<const Placeholder>(std::move(placeholder))});
  return Tensor(std::move(impl));
}

std::vector<Tensor> describe_call(const AnyLayer& layer, std::span<const Tensor> inputs, LayerCallOptions options) {
  std::vector<TensorSpec> specs;
  for (const Tensor& input : inputs) specs.push_back({input.dtype(), input.shape(), {}});
  const auto call = std::make_shared<const Placeholder::Call>(Placeholder::Call{
      .layer = layer, .options = options, .inputs = {inputs.begin(), inputs.end()}, .results = result_specs(layer, specs, options)});
  std::vector<Tensor> results;
  for (size_t output = 0; output < call->results.size(); ++output)
    results.push_back(make_placeholder(call->results[output], {.call = call, .output = static_cast<int>(output)}));
  return results;
}

}  // namespace nn

Tensor input(const Shape& row, InputOptions options) {
  Shape shape{dynamic};
  for (const Dim& size : row) shape.push_back(size);
  shape = nn::with_open_sizes(shape);
  if (options.ragged) {
    if (row.rank() == 0 || shape[1].is_constant()) {
      throw ArgumentError(
          fmt::format("input: ragged rows of shape {}; expected as::dynamic first, where their lengths differ.", to_string(row)));
    }
    shape[1] = ragged_dim("time");
  }
  nn::open_sizes().add(shape);
  return nn::make_placeholder({options.dtype, shape, {}},
                              {.call = std::make_shared<const Placeholder::Call>(), .name = std::move(options.name)});
}

}  // namespace anyshape
