// Training steps of a recurrent and of a convolutional network, saved and called in a process that knows nothing of their C++: the same bits.
#include "function/same_bits.h"
#include "io/safetensors.h"
#include "saved/saved.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace anyshape::test {
namespace {

constexpr const char* folder_of_child = "ANYSHAPE_SAVED_FOLDER";

// What a call was given and gave, by "0.argument0", "0.result0", ..., and the variables behind all calls.
using Calls = std::map<std::string, Tensor>;

void run_in_another_process(const std::filesystem::path& folder) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    setenv(folder_of_child, folder.c_str(), 1);
    execl("/proc/self/exe", "child", "--gtest_filter=SavedInAnotherProcess.the_other_process", nullptr);
    _exit(127);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(SavedInAnotherProcess, the_other_process) {
  const char* const folder = std::getenv(folder_of_child);
  if (folder == nullptr) GTEST_SKIP() << "is begun by the tests below";
  const LoadedFunction step = load_function(std::string(folder) + "/step.safetensors");
  const Calls calls = io::load_safetensors(std::string(folder) + "/calls.safetensors");
  random::set_seed(5);
  int count = 0;
  for (; calls.contains(fmt::format("{}.result0", count)); ++count) {
    std::vector<Tensor> arguments;
    for (int i = 0; calls.contains(fmt::format("{}.argument{}", count, i)); ++i)
      arguments.push_back(calls.at(fmt::format("{}.argument{}", count, i)));
    const std::vector<Tensor> results = step(arguments);
    for (size_t i = 0; i < results.size(); ++i) expect_same_bits(results[i], calls.at(fmt::format("{}.result{}", count, i)));
  }
  EXPECT_GE(count, 5);
  EXPECT_EQ(step.stats().traces, 1);
  EXPECT_EQ(step.stats().compiles, 1);
  size_t compared = 0;
  for (const Variable& variable : step.variables()) {
    if (!calls.contains("variable." + variable.name())) continue;
    expect_same_bits(variable.read(), calls.at("variable." + variable.name()));
    ++compared;
  }
  EXPECT_GE(compared, 4U);
}

template <class Step>
void check(const Sequential& model, const Step& step, const std::vector<std::pair<Tensor, Tensor>>& data) {
  const TemporaryFolder folder;
  step(data[0].first, data[0].second);  // builds the layers and traces
  save(step, folder.path() / "step.safetensors");
  const LoadedFunction names = load_function(folder.path() / "step.safetensors");
  Calls calls;
  random::set_seed(5);
  for (size_t call = 0; call < data.size(); ++call) {
    calls[fmt::format("{}.argument0", call)] = data[call].first;
    calls[fmt::format("{}.argument1", call)] = data[call].second;
    calls[fmt::format("{}.result0", call)] = step(data[call].first, data[call].second);
  }
  // The file names variables by their layers; those of the model come first among the step's.
  size_t found = 0;
  for (const Variable& variable : model.trainable_variables()) {
    for (const Variable& saved : names.variables()) {
      const bool is_it = saved.name().ends_with("/" + variable.name()) || saved.name() == variable.name();
      if (!is_it || calls.contains("variable." + saved.name()) || to_string(saved.shape()) != to_string(variable.shape())) continue;
      calls["variable." + saved.name()] = variable.read();
      ++found;
      break;
    }
  }
  EXPECT_EQ(found, model.trainable_variables().size());
  io::save_safetensors(folder.path() / "calls.safetensors", {calls.begin(), calls.end()});
  run_in_another_process(folder.path());
}

TEST(SavedInAnotherProcess, a_step_of_an_lstm_with_adam_gives_the_same_losses_and_weights) {
  Sequential model(LSTM(8), Dropout(0.2), Dense(1));
  Optimizer optimizer = adam({.learning_rate = 0.01});
  auto step = function(
      [&](Tensor x, Tensor y) {
        GradientTape tape;
        const Tensor loss = mean(square(model(x, {.training = true}) - y));
        optimizer.apply(tape.gradient(loss, model.trainable_variables()), model.trainable_variables());
        return loss;
      },
      {.name = "step", .signature = {spec(f32, {dim("batch"), dim("time"), 3}, "x"), spec(f32, {dim("batch"), 1}, "y")}});
  std::vector<std::pair<Tensor, Tensor>> data;
  for (const auto& [batch, time] : {std::pair(4, 5), {2, 9}, {7, 1}, {1, 20}, {16, 3}, {3, 11}})
    data.emplace_back(random::normal({batch, time, 3}), random::normal({batch, 1}));
  check(model, step, data);
}

TEST(SavedInAnotherProcess, a_step_of_a_convolutional_network_gives_the_same_losses_and_weights) {
  Sequential model(Conv2D(4, {3, 3}, {.padding = "same", .activation = "relu"}), BatchNormalization(), MaxPooling2D(), Conv2D(6, {3, 3}),
                   GlobalAveragePooling2D(), Dense(2));
  Optimizer optimizer = sgd({.learning_rate = 0.05, .momentum = 0.9});
  auto step = function(
      [&](Tensor x, Tensor y) {
        GradientTape tape;
        const Tensor loss = mean(square(model(x, {.training = true}) - y));
        optimizer.apply(tape.gradient(loss, model.trainable_variables()), model.trainable_variables());
        return loss;
      },
      {.name = "step"});
  std::vector<std::pair<Tensor, Tensor>> data;
  for (const auto& [batch, height, width] : {std::tuple(2, 8, 9), {1, 12, 10}, {4, 7, 16}, {3, 9, 9}, {2, 20, 6}})
    data.emplace_back(random::normal({batch, height, width, 3}), random::normal({batch, 2}));
  check(model, step, data);
}

}  // namespace
}  // namespace anyshape::test
