// Weights made and taken back under the layer's lock: layers that have nothing to do with each other do not wait for each other, whatever
// their build() does. A call notes its thread on the layer before it looks whether it is built, and a call that fails
// takes the layer for unbuilt before it looks for other threads: one of the two sees the other.
#include "nn/first_call.h"

#include "base/thread_context.h"
#include "nn/describe_call.h"
#include "runtime/backends.h"
#include "shape/judge.h"

#include <mutex>

namespace anyshape::nn {
namespace {

uintptr_t number_of_thread() { return reinterpret_cast<uintptr_t>(&this_thread); }

void note_caller(LayerState& state) {
  uintptr_t first = state.first_caller.load();
  if (first == 0 && state.first_caller.compare_exchange_strong(first, number_of_thread())) return;
  if (first != number_of_thread() && !state.is_shared.load()) state.is_shared = true;
}

// With numbers, where a trace has symbols: a layer can be built on it again. What is only described has no call.
Shape as_in_this_call(const Shape& shape) {
  const DimJudge* const judge = current_judge();
  if (judge == nullptr || is_describing()) return shape;
  Shape known;
  for (const Dim& size : shape) {
    const bool is_open = !size.is_constant() && !size.is_ragged();
    const std::optional<int64_t> value = is_open ? judge->first_value(size) : std::nullopt;
    known.push_back(value ? Dim(*value) : size);
  }
  return known;
}

}  // namespace

void make_weights(Layer& layer, std::vector<TensorSpec> inputs) {
  runtime::current_backend().expect_products();  // few networks have none, and from here to the first there is time
  LayerState& state = layer.state();
  const std::scoped_lock lock(state.building);
  if (state.is_built) return;
  struct Building {
    LayerState& state;
    ~Building() {
      state.is_building = false;
      if (state.is_built) return;
      const NoFork whole;
      state.weights.clear();  // all or nothing
      state.counters.clear();
    }
  } const scope{state};
  state.is_building = true;
  state.weights.clear();  // of a thread that a fork left behind in the middle
  state.counters.clear();
  std::vector<Shape> shapes;
  for (const TensorSpec& input : inputs) shapes.push_back(input.shape);
  layer.build(shapes);
  for (TensorSpec& input : inputs) input.shape = as_in_this_call(input.shape);
  const NoFork whole;
  state.built_on = std::move(inputs);
  state.is_built = true;
  state.changed();
}

FirstCall::FirstCall(LayerState& state) {
  note_caller(state);
  if (!state.is_built) collect_unbuilt(state);
}

void FirstCall::collect_unbuilt(LayerState& state) {
  if (!state.is_built) unbuilt_.push_back(&state);
  for (const AnyLayer& child : state.children) collect_unbuilt(child.layer()->state());
}

void FirstCall::undo() noexcept {
  if (unbuilt_.empty()) return;
  for (LayerState* state : unbuilt_) {
    const std::scoped_lock lock(state->building);
    const bool was_built = state->is_built.exchange(false);
    if (state->is_shared || state->first_caller != number_of_thread()) {
      state->is_built = was_built;
      continue;
    }
    state->first_caller = 0;
    if (!was_built) continue;
    const NoFork whole;
    state->weights.clear();
    state->counters.clear();
    state->changed();
  }
}

}  // namespace anyshape::nn
