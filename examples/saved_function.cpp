// A training step in a file: one run trains a little and saves the step, the next ones go on with it. They know neither its network nor its
// optimizer.
//   saved_function FILE           # makes FILE if it is not there, else loads it; trains, and saves it again
#include <anyshape/anyshape.h>

#include <cstdio>
#include <filesystem>

namespace as = anyshape;
using as::Tensor;

namespace {

// Is the sum of a row of any length positive?
void make_step(const std::string& file) {
  as::Sequential model(as::LSTM(8), as::Dense(1));
  as::Optimizer optimizer = as::adam({.learning_rate = 0.01});
  auto step = as::function(
      [&](Tensor x, Tensor y) {
        as::GradientTape tape;
        const Tensor score = model(x), loss = as::mean(as::softplus(score) - y * score);
        optimizer.apply(tape.gradient(loss, model.trainable_variables()), model.trainable_variables());
        return loss;
      },
      {.name = "step",
       .signature = {as::spec(as::f32, {as::dim("batch"), as::dim("time"), 1}, "x"), as::spec(as::f32, {as::dim("batch"), 1}, "y")}});
  as::save(step, file);
}

// The mean loss of a hundred steps, each on rows of another length.
float train(const as::LoadedFunction& step) {
  float total = 0;
  for (int64_t call = 0; call < 100; ++call) {
    const Tensor x = as::random::normal({32, 3 + call % 17, 1});
    const Tensor y = as::cast(as::sum(x, {.axis = 1}) > 0.0F, as::f32);
    total += step.call({{"x", x}, {"y", y}})[0].item<float>();
  }
  return total / 100;
}

}  // namespace

int main(int count, char** arguments) {
  const bool is_kept = count > 1;
  const std::string file = is_kept ? arguments[1] : (std::filesystem::temp_directory_path() / "anyshape_saved_step.safetensors").string();
  if (!is_kept) std::filesystem::remove(file);
  if (!std::filesystem::exists(file)) make_step(file);

  float first = 0, last = 0;
  for (int run = 0; run < 2; ++run) {
    const as::LoadedFunction step = as::load_function(file);
    (run == 0 ? first : last) = train(step);
    std::printf("mean loss %.3f; %lld trace, %lld compile\n", static_cast<double>(run == 0 ? first : last),
                static_cast<long long>(step.stats().traces), static_cast<long long>(step.stats().compiles));
    as::save(step, file);
  }
  if (!is_kept) std::filesystem::remove(file);
  return last < first ? 0 : 1;
}
