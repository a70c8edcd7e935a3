// Our side of bench/compare for whole training steps: `train_bench WORKLOAD/PART`, the workloads of bench/peers with Keras-style layers.
// A step ends when the loss is on the host. Prints JSON lines.
#include "measure.h"
#include "support/temporary_folder.h"
#include "workloads.h"

#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>

namespace as = anyshape;
using as::Tensor;
using bench::emit;
using bench::milliseconds;
using bench::Sizes;

namespace {

// Numbers that only have to be plausible: what is timed does not depend on them.
Tensor ids(int64_t rows, int64_t steps) {
  return as::random::integers({rows, steps}, {.low = 1, .high = bench::LstmText::vocabulary, .dtype = as::i32});
}
Tensor ragged_like(const Tensor& values, const Sizes& lengths) {
  return as::ragged_from_lengths(values, as::tensor(lengths, {static_cast<int64_t>(lengths.size())}));
}
int64_t total(const Sizes& lengths) { return std::accumulate(lengths.begin(), lengths.end(), int64_t{0}); }
Tensor zeros_and_ones(int64_t rows) { return as::random::bernoulli({rows, 1}, {.dtype = as::f32}); }

// A model with its compiled step, and the batches it is fed.
struct Workload {
  as::Model model;
  std::function<as::Batch(int64_t size)> batch;
  int64_t steady = 0;
  Sizes warm, unseen, stream;
  std::vector<std::pair<const char*, as::Batch>> ragged = {};  // metric and batch
};

class Training {
 public:
  Training(const Workload& workload, const as::Loss& loss) : model_(compiled(workload.model, loss)), step_(model_.train_step()) {}

  float operator()(const as::Batch& batch) { return step_(model_, model_.optimizer(), batch).item<float>(); }

  void emit_counts() const {
    emit("traces", static_cast<double>(step_.stats().traces));
    emit("compiles", static_cast<double>(step_.stats().compiles));
    emit("interpreted_groups", static_cast<double>(step_.stats().interpreted_groups));
  }

 private:
  static as::Model compiled(as::Model model, const as::Loss& loss) {
    model.compile({.optimizer = as::adam({.learning_rate = 1e-3}), .loss = loss});
    return model;
  }

  as::Model model_;
  as::Function<Tensor(as::AnyLayer, as::Optimizer, as::Batch)> step_;
};

Workload mlp() {
  using Sizes = bench::Mlp;
  as::Sequential model(as::Dense(Sizes::hidden, {.activation = "relu"}), as::Dense(Sizes::hidden, {.activation = "relu"}),
                       as::Dense(Sizes::classes));
  model.build({as::dim("batch"), Sizes::features});
  return {.model = model,
          .batch =
              [](int64_t rows) {
                return as::Batch{.x = {as::random::normal({rows, Sizes::features})},
                                 .y = {as::random::integers({rows}, {.high = Sizes::classes, .dtype = as::i32})}};
              },
          .steady = Sizes::steady,
          .warm = Sizes::warm,
          .unseen = Sizes::unseen,
          .stream = Sizes::stream};
}

Workload text_with(const as::AnyLayer& recurrent) {
  using Sizes = bench::LstmText;
  as::Sequential model(as::Embedding(Sizes::vocabulary, Sizes::embed), recurrent, as::Dense(1));
  model.build({as::dim("batch"), as::dim("time")});
  auto ragged = [](const bench::Sizes& lengths) {
    const Tensor flat = as::reshape(ids(1, total(lengths)), {total(lengths)});
    return as::Batch{.x = {ragged_like(flat, lengths)}, .y = {zeros_and_ones(Sizes::rows)}};
  };
  return {.model = model,
          .batch = [](int64_t steps) { return as::Batch{.x = {ids(Sizes::rows, steps)}, .y = {zeros_and_ones(Sizes::rows)}}; },
          .steady = Sizes::steady,
          .warm = Sizes::warm,
          .unseen = Sizes::unseen,
          .stream = Sizes::stream,
          .ragged = {{"ragged_50_ms", ragged(Sizes::lengths_50)}, {"ragged_20_ms", ragged(Sizes::lengths_20)}}};
}

Workload lstm_text() { return text_with(as::LSTM(bench::LstmText::units)); }

// A cell of a user's own, as docs/guide/recurrent.md has it: an LSTM whose gates see the cell state.
class PeepholeCell : public as::Cell {
 public:
  explicit PeepholeCell(int64_t units) : units_(units) {}
  std::vector<int64_t> state_sizes() const override { return {units_, units_}; }
  void build(const as::Shape& input) override {
    kernel_ = weight("kernel", {input[-1], 4 * units_});
    recurrent_ = weight("recurrent_kernel", {units_, 4 * units_}, {.initializer = "orthogonal"});
    bias_ = weight("bias", {4 * units_}, {.initializer = "zeros"});
    peephole_ = weight("peephole", {3, units_});
  }
  std::pair<Tensor, std::vector<Tensor>> step(const Tensor& input, const std::vector<Tensor>& states, const as::CallContext&) override {
    const Tensor &h = states[0], &c = states[1];
    const std::vector<Tensor> gate = as::split(as::matmul(input, kernel_) + bias_ + as::matmul(h, recurrent_), 4, {.axis = -1});
    const std::vector<Tensor> peephole = as::split(peephole_, 3);
    const Tensor kept = as::sigmoid(gate[1] + peephole[1] * c) * c;
    const Tensor next = kept + as::sigmoid(gate[0] + peephole[0] * c) * as::tanh(gate[2]);
    const Tensor output = as::sigmoid(gate[3] + peephole[2] * next) * as::tanh(next);
    return {output, {output, next}};
  }

 private:
  int64_t units_;
  as::Variable kernel_, recurrent_, bias_, peephole_;
};

// Padded rows hold zeros behind their end, which Masking takes for what they are; ragged rows have no end to hide.
Workload encoder() {
  using Sizes = bench::Encoder;
  const auto norm = [](const Tensor& x) { return as::LayerNormalization({.epsilon = 1e-6})(x); };
  const auto tanh_gelu = [](const Tensor& x) { return as::gelu(x, {.approximate = true}); };
  const Tensor x = as::input({as::dynamic, Sizes::width});
  Tensor h = as::Masking()(x);
  for (int64_t block = 0; block < Sizes::blocks; ++block) {
    h = as::Add()({h, as::MultiHeadAttention(Sizes::heads, Sizes::width / Sizes::heads)(norm(h))});
    h = as::Add()({h, as::Dense(Sizes::width)(as::Dense(Sizes::hidden, {.activation = tanh_gelu})(norm(h)))});
  }
  as::Model model({.inputs = {x}, .outputs = {as::Dense(1)(as::GlobalAveragePooling1D()(norm(h)))}});
  auto ragged = [](const bench::Sizes& lengths) {
    return as::Batch{.x = {ragged_like(as::random::normal({total(lengths), Sizes::width}), lengths)}, .y = {zeros_and_ones(Sizes::rows)}};
  };
  return {.model = model,
          .batch =
              [ragged](int64_t steps) {
                bench::Sizes lengths = Sizes::lengths_steady;
                for (int64_t& length : lengths) length = std::max<int64_t>(1, length * steps / Sizes::steady);
                as::Batch batch = ragged(lengths);
                batch.x[0] = as::to_padded(batch.x[0]);
                return batch;
              },
          .steady = Sizes::steady,
          .warm = Sizes::warm,
          .unseen = Sizes::unseen,
          .stream = {},
          .ragged = {{"ragged_50_ms", ragged(Sizes::lengths_50)}, {"ragged_20_ms", ragged(Sizes::lengths_20)}}};
}

void check_training(float first, float last) {
  if (!(last < first)) std::fprintf(stderr, "train_bench: the loss did not go down: %g, then %g\n", first, last);
}

void run_steady(const Workload& workload, Training& step) {
  const as::Batch batch = workload.batch(workload.steady);
  float first = 0, last = 0;
  emit("first_step_ms", milliseconds([&] { first = step(batch); }));
  const std::vector<double> times = bench::repeated(3, 25, [&] { last = step(batch); });
  emit("steady_ms", times[times.size() / 2]);
  emit("steady_min_ms", times[0]);
  check_training(first, last);
  for (const int64_t size : workload.warm) step(workload.batch(size));
  std::vector<double> unseen, seen, ratios;
  for (const int64_t size : workload.unseen) {
    const as::Batch item = workload.batch(size);
    unseen.push_back(milliseconds([&] { step(item); }));
    seen.push_back(milliseconds([&] { step(item); }));
    ratios.push_back(unseen.back() / seen.back());
  }
  emit("unseen_ms", bench::median(unseen));
  emit("seen_again_ms", bench::median(seen));
  emit("unseen_over_seen", bench::median(ratios));
  step.emit_counts();
}

void run_stream(const Workload& workload, Training& step) {
  emit("first_step_ms", milliseconds([&] { step(workload.batch(workload.steady)); }));
  std::vector<as::Batch> batches;
  for (const int64_t size : workload.stream) batches.push_back(workload.batch(size));
  auto all = [&] {
    for (const as::Batch& batch : batches) step(batch);
  };
  emit("stream_ms", milliseconds(all));
  emit("stream_again_ms", milliseconds(all));
  step.emit_counts();
}

// The peers pad and mask here: bench/compare sets their padded_masked figures beside these.
void run_ragged(const Workload& workload, Training& step) {
  for (const auto& [metric, batch] : workload.ragged) {
    float first = 0, last = 0;
    first = step(batch);
    const std::vector<double> times = bench::repeated(3, 25, [&] { last = step(batch); });
    emit(metric, times[times.size() / 2]);
    check_training(first, last);
  }
  step.emit_counts();
}

// A first step is one of a process that has done nothing else: each runs in a child, the second with the kernels that the first left on disk.
void run_first(const char* program, const std::string& workload) {
  const anyshape::test::TemporaryFolder folder;
  setenv("ANYSHAPE_KERNEL_CACHE", folder.path().c_str(), 1);
  for (const char* metric : {"first_cold_ms", "first_cached_ms"}) {
    FILE* const child = popen((std::string(program) + " " + workload + "/one").c_str(), "r");
    double value = 0;
    const bool is_read = child != nullptr && std::fscanf(child, "%lf", &value) == 1;
    if (child == nullptr || pclose(child) != 0 || !is_read) throw std::runtime_error("the child failed");
    emit(metric, value);
  }
}

void run_one(const Workload& workload, Training& step) {
  const as::Batch batch = workload.batch(workload.steady);
  std::printf("%.3f\n", milliseconds([&] { step(batch); }));
}

// Another cell instead of the LSTM, step about with it.
void run_cell(const as::AnyLayer& cell, const as::Loss& loss) {
  const Workload ours = lstm_text(), other = text_with(cell);
  Training lstm_step(ours, loss), cell_step(other, loss);
  const std::vector<std::pair<const char*, as::Batch>> batches = {{"", ours.batch(ours.steady)}, {"ragged_50_", ours.ragged[0].second}};
  for (const auto& [name, batch] : batches) {
    std::vector<double> cell_times, ratios;
    float first = cell_step(batch), last = first;
    for (int round = 0; round < 28; ++round) {
      const double lstm = milliseconds([&] { lstm_step(batch); }), own = milliseconds([&] { last = cell_step(batch); });
      if (round < 3) continue;
      cell_times.push_back(own);
      ratios.push_back(own / lstm);
    }
    check_training(first, last);
    const std::string prefix = name;
    emit((prefix + "cell_ms").c_str(), bench::median(cell_times));
    emit((prefix + "over_lstm").c_str(), bench::median(ratios));
  }
  cell_step.emit_counts();
}

}  // namespace

int main(int count, char** arguments) {
  const std::string name = count == 2 ? arguments[1] : "";
  const std::string workload_name = name.substr(0, name.find('/')), part = name.substr(std::min(name.size(), name.find('/') + 1));
  const std::map<std::string, Workload (*)()> workloads = {{"mlp", mlp}, {"lstm_text", lstm_text}, {"encoder", encoder}};
  const std::set<std::string> parts = {"mlp/steady",       "mlp/stream",    "lstm_text/steady",   "lstm_text/stream",
                                       "lstm_text/ragged", "lstm_text/gru", "lstm_text/peephole", "encoder/steady",
                                       "encoder/ragged",   "mlp/first",     "lstm_text/first"};
  if (!parts.contains(name) && part != "one") {
    std::fprintf(stderr, "usage: train_bench WORKLOAD/PART, one of:\n");
    for (const std::string& each : parts) std::fprintf(stderr, "  %s\n", each.c_str());
    return 2;
  }
  if (std::getenv("ANYSHAPE_KERNEL_CACHE") == nullptr)
    as::set_kernel_cache({.enabled = false});  // a first step is cold unless asked otherwise
  as::random::set_seed(1);
  if (part != "one") bench::calibrate();
  if (part == "first") {
    run_first(arguments[0], workload_name);
    return 0;
  }
  if (part == "gru" || part == "peephole") {
    const int64_t units = bench::LstmText::units;
    run_cell(part == "gru" ? as::AnyLayer(as::GRU(units)) : as::AnyLayer(as::RNN(PeepholeCell(units))),
             as::binary_crossentropy({.from_logits = true}));
    return 0;
  }
  const Workload workload = workloads.at(workload_name)();
  Training step(workload, workload_name == "mlp" ? as::sparse_categorical_crossentropy({.from_logits = true})
                                                 : as::binary_crossentropy({.from_logits = true}));
  part == "one"      ? run_one(workload, step)
  : part == "steady" ? run_steady(workload, step)
  : part == "stream" ? run_stream(workload, step)
                     : run_ragged(workload, step);
  return 0;
}
