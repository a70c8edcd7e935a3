// What tools/check_instructions runs under callgrind: `instructions NAME`. Everything that counts happens inside measured(). Sizes are
// tiny or zero, so that what is counted is our own work: finding a trace, sizing and running it, tracing and compiling, not kernels.
#include "function/compile.h"

#include <anyshape/anyshape.h>

#include <cstdio>
#include <functional>
#include <map>
#include <string>

namespace as = anyshape;
using as::Tensor;

// callgrind begins and ends to count by this name.
extern "C" [[gnu::noinline]] void measured(int times, const std::function<void()>& body) {
  for (int i = 0; i < times; ++i) body();
}

namespace {

constexpr int calls = 100;

void small_call() {
  auto total = as::function([](Tensor x) { return as::sum(x * x + 1.0f); }, {.name = "total"});
  const Tensor x = as::ones({10, 20});
  for (int i = 0; i < 3; ++i) total(x);
  measured(calls, [&] { total(x); });
}

struct Workload {
  as::Model model;
  as::Batch batch;
  as::Loss loss;
};

Workload mlp() {
  as::Sequential model(as::Dense(16, {.activation = "relu"}), as::Dense(16, {.activation = "relu"}), as::Dense(10));
  model.build({as::dim("batch"), 16});
  return {model,
          {.x = {as::zeros({0, 16})}, .y = {as::zeros({0}, {.dtype = as::i32})}},
          as::sparse_categorical_crossentropy({.from_logits = true})};
}

// Of many layers: what takes longer for each of them the more there are shows in the figures of two depths.
Workload deep(int layers) {
  as::Sequential model;
  for (int layer = 0; layer < layers; ++layer) {
    model.add(as::Dense(8, {.activation = "relu"}));
    if (layer % 4 == 3) model.add(as::LayerNormalization());
  }
  model.add(as::Dense(1));
  model.build({as::dim("batch"), 8});
  return {model, {.x = {as::zeros({0, 8})}, .y = {as::zeros({0, 1})}}, as::mean_squared_error()};
}

Workload lstm_text() {
  as::Sequential model(as::Embedding(16, 16), as::LSTM(16), as::Dense(1));
  model.build({as::dim("batch"), as::dim("time")});
  return {model, {.x = {as::zeros({0, 4}, {.dtype = as::i32})}, .y = {as::zeros({0, 1})}}, as::binary_crossentropy({.from_logits = true})};
}

Workload encoder() {
  const auto norm = [](const Tensor& x) { return as::LayerNormalization({.epsilon = 1e-6})(x); };
  const Tensor x = as::input({as::dynamic, 16});
  Tensor h = as::Masking()(x);
  for (int block = 0; block < 2; ++block) {
    h = as::Add()({h, as::MultiHeadAttention(4, 4)(norm(h))});
    h = as::Add()({h, as::Dense(16)(as::Dense(32, {.activation = "gelu"})(norm(h)))});
  }
  as::Model model({.inputs = {x}, .outputs = {as::Dense(1)(as::GlobalAveragePooling1D()(norm(h)))}});
  return {model, {.x = {as::zeros({0, 4, 16})}, .y = {as::zeros({0, 1})}}, as::binary_crossentropy({.from_logits = true})};
}

auto compiled_step(const Workload& workload) {
  as::Model model = workload.model;
  model.compile({.optimizer = as::adam({.learning_rate = 1e-3}), .loss = workload.loss});
  return model.train_step();
}

// A training step on no rows: what a step costs beside its kernels.
void step_call() {
  Workload workload = mlp();
  const auto step = compiled_step(workload);
  const auto run = [&] { step(workload.model, workload.model.optimizer(), workload.batch); };
  for (int i = 0; i < 3; ++i) run();
  measured(calls, run);
}

// A first step: trace, passes, lowering, memory plan. LLVM's part is left out: kernels are interpreted.
void first_step(Workload workload) {
  const as::function_detail::ScopedInterpretation interpretation;
  const auto step = compiled_step(workload);
  measured(1, [&] { step(workload.model, workload.model.optimizer(), workload.batch); });
}

}  // namespace

int main(int count, char** arguments) {
  const std::map<std::string, void (*)()> all = {{"small_call", small_call},
                                                 {"step_call", step_call},
                                                 {"compile_mlp", [] { first_step(mlp()); }},
                                                 {"compile_lstm_text", [] { first_step(lstm_text()); }},
                                                 {"compile_encoder", [] { first_step(encoder()); }},
                                                 {"compile_deep_40", [] { first_step(deep(40)); }},
                                                 {"compile_deep_160", [] { first_step(deep(160)); }}};
  const auto found = all.find(count == 2 ? arguments[1] : "");
  if (found == all.end()) {
    std::fprintf(stderr, "usage: instructions NAME, one of:\n");
    for (const auto& [name, run] : all) std::fprintf(stderr, "  %s\n", name.c_str());
    return 2;
  }
  as::set_kernel_cache({.enabled = false});
  found->second();
  return 0;
}
