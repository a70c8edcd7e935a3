// A process that is killed while it saves: the file is the old one or the new one, whole, and the folder does not fill up.
#include "support/temporary_folder.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>
#include <set>
#include <thread>

namespace anyshape {
namespace {

constexpr int kills = 200;

Sequential network() {
  Sequential model(Dense(64, {.kernel_initializer = "zeros"}), Dense(64, {.kernel_initializer = "zeros"}));
  model.compile({.optimizer = "adam", .loss = "mse"});
  model(zeros({1, 128}));
  return model;
}

// Every weight is the number of the file.
void set_all(Model& model, int64_t number) {
  std::vector<Tensor> weights;
  for (const Variable& variable : model.variables()) weights.push_back(full(variable.shape(), static_cast<float>(number)));
  model.set_weights(weights);
}

// The number of a whole file; another one in one of the weights is a file that is half one and half another.
int64_t number_of(const std::filesystem::path& file) {
  const Model model = load_model(file);
  std::set<float> numbers;
  for (const Tensor& weight : model.weights()) {
    for (const float value : reshape(weight, {-1}).to_vector<float>()) numbers.insert(value);
  }
  EXPECT_EQ(numbers.size(), 1U);
  return static_cast<int64_t>(*numbers.begin());
}

TEST(KilledSave, the_file_is_the_old_one_or_the_new_one) {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "model.safetensors";
  Model model = network();
  set_all(model, 0);
  model.save(file);
  std::mt19937 random(5);
  int64_t last = 0, moved = 0;
  for (int kill = 0; kill < kills; ++kill) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int64_t number = last + 1;; ++number) {
        set_all(model, number);
        model.save(file);
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200 + random() % 12'000));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself: " << status;
    const int64_t now = number_of(file);
    EXPECT_GE(now, last);
    moved += now > last ? 1 : 0;
    last = now;
  }
  EXPECT_GT(moved, kills / 20) << "the children were killed before they saved anything";
  model.save(file);  // takes away what they left
  const auto files = std::distance(std::filesystem::directory_iterator(folder.path()), std::filesystem::directory_iterator());
  EXPECT_EQ(files, 1);
}

}  // namespace
}  // namespace anyshape
