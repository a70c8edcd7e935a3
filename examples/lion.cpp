// Your own optimizer: Lion (Chen and others, 2023) steps by the sign of a gradient that it blends with the past. Its formula is all
// there is to write; the schedule with a warm-up, the clipping and the weight decay around it are the library's. It learns where a ring is.
#include <anyshape/anyshape.h>

#include <cmath>
#include <cstdio>

namespace as = anyshape;
using as::Tensor;

namespace {

struct LionOptions {
  as::Schedule learning_rate = 0.0001;
  double beta_1 = 0.9;
  double beta_2 = 0.99;
  double weight_decay = 0;
  double global_clipnorm = 0;
};

as::Optimizer lion(LionOptions options = {}) {
  return as::optimizer("lion", options, {.slots = {{"momentum"}}, .amount = [options](const as::Update& u) {
                                           Tensor& momentum = u.slots[0];
                                           const Tensor blend = options.beta_1 * momentum + (1 - options.beta_1) * u.gradient;
                                           momentum = options.beta_2 * momentum + (1 - options.beta_2) * u.gradient;
                                           return u.rate * as::sign(blend);
                                         }});
}

// 1 for points of the plane that are between 0.5 and 0.9 away from the middle.
Tensor is_in_ring(const Tensor& points) {
  const Tensor distance = as::sqrt(as::sum(as::square(points), {.axis = 1, .keep_dims = true}));
  return as::cast(as::logical_and(distance > 0.5, distance < 0.9), as::f32);
}

// What the model says of the square around the middle.
void draw(const as::Model& model) {
  constexpr int rows = 17, columns = 41;
  std::vector<float> points;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      points.push_back(2.4F * static_cast<float>(column) / (columns - 1) - 1.2F);
      points.push_back(2.4F * static_cast<float>(row) / (rows - 1) - 1.2F);
    }
  }
  const std::vector<float> found =
      model.predict(as::tensor(points, {rows * columns, 2}), {.batch_size = rows * columns}).to_vector<float>();
  for (int row = 0; row < rows; ++row) {
    std::printf("    ");
    for (int column = 0; column < columns; ++column)
      std::printf("%c", found[static_cast<size_t>(row * columns + column)] > 0.5F ? '#' : '.');
    std::printf("\n");
  }
}

}  // namespace

int main() {
  as::random::set_seed(3);
  const Tensor points = as::random::uniform({2000, 2}, {.low = -1.2, .high = 1.2});
  constexpr int64_t epochs = 30, steps = 63;  // of an epoch: 2000 points, 32 at a time

  as::Sequential model(as::Dense(32, {.activation = "relu"}), as::Dense(32, {.activation = "relu"}),
                       as::Dense(1, {.activation = "sigmoid"}));
  const as::Schedule rate = as::cosine_decay(0, (epochs - 2) * steps, {.warmup_target = 0.002, .warmup_steps = 2 * steps});
  model.compile({.optimizer = lion({.learning_rate = rate, .weight_decay = 0.01, .global_clipnorm = 10}),
                 .loss = "binary_crossentropy",
                 .metrics = {"accuracy"}});

  std::puts("Lion learns where a ring is, from 2000 points:\n\n   epoch    next rate      loss   accuracy");
  const as::History history =
      model.fit(points, is_in_ring(points),
                {.epochs = epochs,
                 .verbose = as::Verbose::Silent,
                 .callbacks = {as::LambdaCallback({.on_epoch_end = [](as::Model& own, int64_t epoch, const as::Scores& scores) {
                   if (epoch > 1 && epoch % 7 != 1) return;
                   std::printf("   %5lld    %9.6f    %6.4f     %6.4f\n", static_cast<long long>(epoch + 1), own.optimizer().learning_rate(),
                               scores["loss"], scores["accuracy"]);
                 }})}});
  std::puts("\nWhat it found:\n");
  draw(model);
  std::printf("\n%lld trace of the training step; the last accuracy is %.3f.\n", static_cast<long long>(model.train_step().stats().traces),
              history["accuracy"].back());
  return history["accuracy"].back() > 0.9 ? 0 : 1;
}
