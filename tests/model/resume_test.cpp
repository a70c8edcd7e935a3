// A training that is cut off at any step and goes on from a file is the training that was not cut off: bit for bit, in its losses and its weights.
#include "support/temporary_folder.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

namespace anyshape {
namespace {

const std::vector<RegisteredName> optimizers_of_the_library = registry_of<Optimizer>().entries();  // before other tests register theirs

struct Crash {};

// As a process that is killed after so many steps leaves it.
class CrashAfter : public Callback {
 public:
  explicit CrashAfter(int64_t steps) : left_(steps) {}
  void on_batch_end(Model&, int64_t, const Scores&) override {
    if (--left_ == 0) throw Crash();
  }

 private:
  int64_t left_;
};

struct Program {
  std::function<Model()> make;                                     // compiled
  std::function<History(Model& model, FitOptions options)> train;  // makes its data anew, as a process does that begins again
  int64_t epochs = 3;
};

struct Result {
  History history;
  std::vector<Tensor> weights;
};

std::string bits_of(const Tensor& tensor) {
  const std::vector<double> values = cast(reshape(tensor, {-1}), f64).to_vector<double>();
  std::string bits(values.size() * sizeof(double), '\0');
  std::memcpy(bits.data(), values.data(), bits.size());
  return bits;
}

void expect_equal(const Result& got, const Result& want, const std::string& what) {
  ASSERT_EQ(got.history.names(), want.history.names()) << what;
  for (const std::string& name : want.history.names()) EXPECT_EQ(got.history[name], want.history[name]) << what << ": " << name;
  ASSERT_EQ(got.weights.size(), want.weights.size()) << what;
  for (size_t i = 0; i < want.weights.size(); ++i) EXPECT_EQ(bits_of(got.weights[i]), bits_of(want.weights[i])) << what << ": weight " << i;
}

class Resume : public ::testing::Test {
 protected:
  using Callbacks = std::function<std::vector<AnyCallback>()>;
  static std::vector<AnyCallback> none() { return {}; }

  Result whole(const Program& program, const Callbacks& callbacks = none) {
    random::set_seed(7);
    Model model = program.make();
    const History history = program.train(model, {.epochs = program.epochs, .verbose = Verbose::Silent, .callbacks = callbacks()});
    return {history, model.weights()};
  }

  // Cut off after `steps`, then gone on with from the last file.
  Result in_two_parts(const Program& program, int64_t steps, int64_t save_freq, const Callbacks& callbacks = none) {
    std::filesystem::remove(file_);
    random::set_seed(7);
    {
      Model model = program.make();
      std::vector<AnyCallback> all = callbacks();
      all.insert(all.begin(), ModelCheckpoint(file_.string(), {.save_freq = save_freq}));
      all.emplace_back(CrashAfter(steps));
      try {
        program.train(model, {.epochs = program.epochs, .verbose = Verbose::Silent, .callbacks = std::move(all)});
        ADD_FAILURE() << "the training came to its end before step " << steps;
      } catch (const Crash&) {
      }
    }
    random::set_seed(7);
    static_cast<void>(random::uniform({3}));  // where the numbers stand does not matter: the file says it
    Model model = program.make();
    FitOptions options{.epochs = program.epochs, .verbose = Verbose::Silent, .callbacks = callbacks()};
    if (std::filesystem::exists(file_)) options.resume_from = file_;
    if (options.resume_from.empty()) {
      random::set_seed(7);
      model = program.make();
    }
    const History history = program.train(model, std::move(options));
    return {history, model.weights()};
  }

  void check(const Program& program, int64_t steps_in_all, int times, const Callbacks& callbacks = none) {
    const Result wanted = whole(program, callbacks);
    std::mt19937 random(static_cast<unsigned>(steps_in_all + times));
    for (int i = 0; i < times; ++i) {
      const int64_t steps = 2 + static_cast<int64_t>(random() % static_cast<unsigned>(steps_in_all - 2));
      const int64_t save_freq = i % 4 == 3 ? 0 : 1 + static_cast<int64_t>(random() % static_cast<unsigned>(steps - 1));
      expect_equal(in_two_parts(program, steps, save_freq, callbacks), wanted,
                   "cut off after step " + std::to_string(steps) + ", saved every " + std::to_string(save_freq));
    }
  }

  test::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "state.safetensors";
  Tensor x_ = reshape(sin(cast(arange(44 * 6), f32)), {44, 6});
  Tensor y_ = sum(x_, {.axis = 1, .keep_dims = true});
};

// 44 rows in batches of 8: 6 steps in an epoch.
History on_tensors(Model& model, const Tensor& x, const Tensor& y, FitOptions options) {
  options.batch_size = 8;
  return model.fit(x, y, std::move(options));
}

Model network(const Optimizer& optimizer) {
  Sequential model(Dense(8, {.activation = "relu"}), Dropout(0.3), BatchNormalization(), Dense(8, {.activation = "tanh"}),
                   Dropout(0.2, {.seed = 3}), Dense(1));
  model.compile({.optimizer = optimizer, .loss = "mse", .metrics = {"mae", "root_mean_squared_error"}});
  return model;
}

TEST_F(Resume, twenty_cuts_of_a_training_on_tensors) {
  const Program program{.make = [] { return network(adam()); },
                        .train = [this](Model& model, FitOptions options) { return on_tensors(model, x_, y_, std::move(options)); }};
  check(program, 18, 20);
}

TEST_F(Resume, every_optimizer_goes_on) {
  for (const RegisteredName& optimizer : optimizers_of_the_library) {
    SCOPED_TRACE(optimizer.name);
    const Program program{.make = [&] { return network(optimizer.name); },
                          .train = [this](Model& model, FitOptions options) { return on_tensors(model, x_, y_, std::move(options)); },
                          .epochs = 2};
    check(program, 12, 2);
  }
}

TEST_F(Resume, a_schedule_goes_on) {
  const Program program{.make = [] { return network(sgd({.learning_rate = cosine_decay(0.1, 15), .momentum = 0.9, .nesterov = true})); },
                        .train = [this](Model& model, FitOptions options) { return on_tensors(model, x_, y_, std::move(options)); }};
  check(program, 18, 4);
}

TEST_F(Resume, validation_and_a_seed) {
  const Program program{.make = [] { return network(adam()); },
                        .train =
                            [this](Model& model, FitOptions options) {
                              options.batch_size = 5;
                              options.validation_split = 0.25;
                              options.seed = 11;
                              return model.fit(x_, y_, std::move(options));
                            }};
  check(program, 21, 4);
}

// The pass of the data, its order, and what is drawn while it is made.
TEST_F(Resume, datasets_with_shuffles_and_random_changes) {
  const auto noisy = [](const Example& row) { return Example{row.x.single() + random::normal({6}) * 0.01, row.y}; };
  const std::pair<const char*, std::function<Dataset(const Dataset&)>> kinds[] = {
      {"shuffle", [](const Dataset& rows) { return rows.shuffle({.buffer = 44}).batch(8); }},
      {"a small buffer", [](const Dataset& rows) { return rows.shuffle({.buffer = 5}).batch(8); }},
      {"map", [&](const Dataset& rows) { return rows.map(noisy).batch(8); }},
      {"map, shuffle", [&](const Dataset& rows) { return rows.map(noisy).shuffle({.buffer = 20}).batch(8); }},
      {"made elements wait",  // a filter does not let the shuffle take rows by their numbers
       [&](const Dataset& rows) { return rows.map(noisy).filter([](const Example&) { return true; }).shuffle({.buffer = 20}).batch(8); }},
      {"prefetch", [&](const Dataset& rows) { return rows.shuffle({.buffer = 9, .seed = 3}).map(noisy).batch(8).prefetch(2); }},
      {"one order", [](const Dataset& rows) { return rows.shuffle({.reshuffle_each_iteration = false}).batch(8); }},
      {"filter",
       [](const Dataset& rows) { return rows.filter([](const Example&) { return random::uniform({}).item<float>() < 0.6f; }).batch(4); }}};
  for (const auto& [name, made] : kinds) {
    SCOPED_TRACE(name);
    const Program program{.make = [] { return network(adam()); },
                          .train =
                              [this, &made = made](Model& model, FitOptions options) {
                                random::set_seed(21);  // a dataset without a seed takes one of the process's numbers
                                const Dataset data = made(Dataset::from(x_, y_));
                                return model.fit(data, std::move(options));
                              }};
    check(program, 13, 4);
  }
}

TEST_F(Resume, validation_datasets_go_on_in_their_order) {
  const Program program{.make = [] { return network(rmsprop()); },
                        .train =
                            [this](Model& model, FitOptions options) {
                              options.validation_data.dataset = Dataset::from(x_, y_).shuffle({.buffer = 44, .seed = 5}).batch(7);
                              return on_tensors(model, x_, y_, std::move(options));
                            }};
  check(program, 18, 4);
}

TEST_F(Resume, rows_of_several_shapes) {
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < 30; ++i) rows.push_back(reshape(cos(cast(arange((2 + i % 3) * 4), f32) + static_cast<float>(i)), {2 + i % 3, 4}));
  const Tensor y = cast(reshape(arange(30), {30, 1}), f32) / 30;
  const Program program{.make =
                            [] {
                              Sequential model(Dense(4), GlobalAveragePooling1D(), Dropout(0.2), Dense(1));
                              model.compile({.optimizer = "adam", .loss = "mse"});
                              return Model(model);
                            },
                        .train =
                            [&](Model& model, FitOptions options) {
                              options.batch_size = 4;
                              return model.fit(by_shape(rows), y, std::move(options));
                            }};
  check(program, 24, 4);
}

// Sums that are made with the first batch, several outputs, weights.
TEST_F(Resume, metrics_of_all_kinds_and_several_outputs) {
  const Tensor kind = cast(arange(44) % 3, i32);
  const Program program{
      .make =
          [] {
            const Tensor in = input({6}, {.name = "in"});
            const Tensor body = Dropout(0.1)(Dense(7, {.activation = "relu"})(in));
            Model model({.inputs = {in}, .outputs = {{"price", Dense(1)(body)}, {"kind", Dense(3, {.activation = "softmax"})(body)}}});
            model.compile({.optimizer = "adamw",
                           .metrics = {{"price", "mae"}, {"kind", "accuracy"}},
                           .losses = {{"price", huber()}, {"kind", "sparse_categorical_crossentropy"}},
                           .loss_weights = {{"price", 0.25}, {"kind", 1.0}},
                           .weighted_metrics = {{"kind", "accuracy"}}});
            return model;
          },
      .train =
          [&](Model& model, FitOptions options) {
            options.batch_size = 8;
            options.sample_weight = abs(sin(cast(arange(44), f32)));
            return model.fit(x_, Data{{"price", y_}, {"kind", kind}}, std::move(options));
          }};
  check(program, 18, 4);
}

TEST_F(Resume, f1_and_auc_go_on_in_the_middle_of_an_epoch) {
  const Tensor hot = one_hot(cast(arange(44) % 3, i32), 3);
  const Program program{
      .make =
          [] {
            Sequential model(Dense(3, {.activation = "softmax"}));
            model.compile({.optimizer = "sgd", .loss = "categorical_crossentropy", .metrics = {"f1_score", "auc", "precision"}});
            return Model(model);
          },
      .train = [&](Model& model, FitOptions options) { return on_tensors(model, x_, hot, std::move(options)); }};
  check(program, 18, 4);
}

TEST_F(Resume, a_step_of_the_users_own) {
  const Program program{.make =
                            [] {
                              Sequential model(Dense(4), Dropout(0.5), Dense(1));
                              model.compile({.optimizer = "adam",
                                             .step = [](Model& own, Optimizer& optimizer, const Tensor& x, const Tensor& y) -> StepResult {
                                               GradientTape tape;
                                               const Tensor loss = mean(square(own(x, {.training = true}) - y));
                                               optimizer.apply(tape.gradient(loss, own.trainable_variables()), own.trainable_variables());
                                               return {loss, {{"root", sqrt(loss)}}};
                                             }});
                              return Model(model);
                            },
                        .train = [this](Model& model, FitOptions options) { return on_tensors(model, x_, y_, std::move(options)); }};
  check(program, 18, 4);
}

TEST_F(Resume, eager_steps) {
  const Program program{.make =
                            [] {
                              Sequential model(Dense(4), Dropout(0.5), Dense(1));
                              model.compile({.optimizer = "adam", .loss = "mse", .run_eagerly = true});
                              return Model(model);
                            },
                        .train = [this](Model& model, FitOptions options) { return on_tensors(model, x_, y_, std::move(options)); },
                        .epochs = 2};
  check(program, 12, 3);
}

TEST_F(Resume, callbacks_go_on_where_they_were) {
  const Program program{.make = [] { return network(sgd({.learning_rate = 0.05})); },
                        .train =
                            [this](Model& model, FitOptions options) {
                              options.validation_split = 0.2;
                              return on_tensors(model, x_, y_, std::move(options));
                            },
                        .epochs = 8};
  const std::filesystem::path csv = folder_.path() / "log.csv";
  const auto callbacks = [&]() -> std::vector<AnyCallback> {
    return {EarlyStopping({.min_delta = 0.02, .patience = 2, .restore_best_weights = true}),
            ReduceLROnPlateau({.patience = 1, .min_delta = 0.05}), LearningRateScheduler([](int64_t, double rate) { return rate * 0.75; }),
            CSVLogger(csv)};
  };
  const auto text = [&] {
    std::ifstream in(csv);
    std::stringstream all;
    all << in.rdbuf();
    return all.str();
  };
  const Result wanted = whole(program, callbacks);
  const std::string lines = text();
  const auto steps = static_cast<int64_t>(wanted.history.epochs()) * 5;
  for (const auto& [at, save_freq] : {std::pair<int64_t, int64_t>{7, 1}, {11, 3}, {12, 0}, {steps - 1, 0}, {steps - 1, 4}}) {
    expect_equal(in_two_parts(program, at, save_freq, callbacks), wanted, "cut off after step " + std::to_string(at));
    EXPECT_EQ(text(), lines) << at;
  }
}

// A callback of the user's own keeps what it knows, and may write the file itself.
TEST_F(Resume, own_callbacks_have_state_and_save) {
  class Counter : public Callback {
   public:
    Counter(std::vector<int64_t>* counts, std::filesystem::path file) : counts_(counts), file_(std::move(file)) {}
    void on_batch_end(Model& model, int64_t, const Scores&) override {
      counts_->push_back(++steps_);
      if (steps_ % 4 == 0) model.save(file_);
    }
    CallbackState state() const override {
      return {Config::map({{"steps", steps_}}), {{"half", full({2}, static_cast<float>(steps_) / 2)}}};
    }
    void set_state(const CallbackState& state) override {
      steps_ = state.values["steps"].as_integer();
      EXPECT_EQ(state.tensors.at(0).second.to_vector<float>()[1], static_cast<float>(steps_) / 2);
    }

   private:
    std::vector<int64_t>* counts_;
    std::filesystem::path file_;
    int64_t steps_ = 0;
  };
  std::vector<int64_t> counts;
  random::set_seed(1);
  Model first = network(adam());
  EXPECT_THROW(on_tensors(first, x_, y_, {.epochs = 3, .verbose = Verbose::Silent, .callbacks = {Counter(&counts, file_), CrashAfter(10)}}),
               Crash);
  counts.clear();
  Model second = network(adam());
  const History history =
      on_tensors(second, x_, y_, {.epochs = 3, .verbose = Verbose::Silent, .callbacks = {Counter(&counts, file_)}, .resume_from = file_});
  EXPECT_EQ(counts.front(), 9);
  EXPECT_EQ(counts.back(), 18);
  EXPECT_EQ(history.epochs(), 3);
}

// Ctrl-C is no end of an epoch: what was left of it comes first.
TEST_F(Resume, an_interrupt_in_an_epoch) {
  const Program program{.make = [] { return network(adam()); },
                        .train =
                            [this](Model& model, FitOptions options) {
                              options.validation_split = 0.2;
                              return on_tensors(model, x_, y_, std::move(options));
                            }};
  const auto callbacks = [] { return std::vector<AnyCallback>{EarlyStopping({.patience = 3})}; };
  const Result wanted = whole(program, callbacks);
  for (const int64_t at : {0, 3, 6, 9}) {
    random::set_seed(7);
    Model first = program.make();
    int64_t steps = 0;
    std::vector<AnyCallback> all = callbacks();
    all.emplace_back(ModelCheckpoint(file_.string()));
    all.emplace_back(LambdaCallback({.on_batch_end = [&](Model&, int64_t, const Scores&) {
      if (steps++ == at) std::raise(SIGINT);
    }}));
    program.train(first, {.epochs = 3, .verbose = Verbose::Silent, .callbacks = all});
    random::set_seed(7);
    Model second = program.make();
    const History history =
        program.train(second, {.epochs = 3, .verbose = Verbose::Silent, .callbacks = callbacks(), .resume_from = file_});
    expect_equal({history, second.weights()}, wanted, "interrupted after step " + std::to_string(at));
  }
}

TEST_F(Resume, a_loaded_model_goes_on_without_the_program_that_made_it) {
  const Program program{.make = [] { return network(adam()); },
                        .train = [this](Model& model, FitOptions options) { return on_tensors(model, x_, y_, std::move(options)); }};
  const Result wanted = whole(program);
  in_two_parts(program, 11, 4);
  Model loaded = load_model(file_);
  const History history = program.train(loaded, {.epochs = 3, .verbose = Verbose::Silent, .resume_from = file_});
  expect_equal({history, loaded.weights()}, wanted, "loaded");
}

TEST_F(Resume, a_network_that_no_config_can_make_goes_on_too) {
  const Program program{.make =
                            [] {
                              Sequential model(Dense(4), Lambda([](const Tensor& x) { return x * x; }), Dropout(0.5), Dense(1));
                              model.compile({.optimizer = "adam", .loss = "mse"});
                              return Model(model);
                            },
                        .train = [this](Model& model, FitOptions options) { return on_tensors(model, x_, y_, std::move(options)); }};
  check(program, 18, 3);
  const std::string refusal = test::text_of<FormatError>([&] { load_model(file_); });
  EXPECT_NE(
      refusal.find("has no architecture, as it was saved without: save: model \"sequential\": Sequential: layers[1]: Lambda: function is a "
                   "callable of the program's"),
      std::string::npos)
      << refusal;
}

TEST_F(Resume, a_training_that_has_ended_gives_its_history) {
  const Program program{.make = [] { return network(adam()); },
                        .train = [this](Model& model, FitOptions options) { return on_tensors(model, x_, y_, std::move(options)); }};
  Model first = program.make();
  const History history = program.train(first, {.epochs = 2, .verbose = Verbose::Silent, .callbacks = {ModelCheckpoint(file_.string())}});
  Model second = program.make();
  const History again = program.train(second, {.epochs = 2, .verbose = Verbose::Silent, .resume_from = file_});
  expect_equal({again, second.weights()}, {history, first.weights()}, "ended");
}

TEST_F(Resume, files_that_do_not_fit_are_refused_and_change_nothing) {
  const auto train = [this](Model& model, FitOptions options) { return on_tensors(model, x_, y_, std::move(options)); };
  Model first = network(adam());
  train(first, {.epochs = 1, .verbose = Verbose::Silent, .callbacks = {ModelCheckpoint(file_.string())}});
  const auto refusal = [&](Model model, const Tensor& x, const Tensor& y) {
    model.fit(x, y, {.batch_size = 8, .verbose = Verbose::Silent});
    const std::vector<Tensor> before = model.weights();
    const std::string text = test::text_of<FormatError>(
        [&] { model.fit(x, y, {.batch_size = 8, .epochs = 3, .verbose = Verbose::Silent, .resume_from = file_}); });
    for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(bits_of(model.weights()[i]), bits_of(before[i]));
    return text;
  };
  const std::string file = "fit: resume_from: \"" + file_.string() + "\" ";
  EXPECT_EQ(
      refusal(network(adagrad()), x_, y_),
      file +
          "has no tensor \"/optimizer/dense/kernel/accumulator\"; expected f32[6, 8]. The optimizer has to be of the same kind as the one "
          "that was saved.");
  EXPECT_EQ(refusal(network(adam()), concat({x_, x_}), concat({y_, y_})),
            file + "was written by a training with 6 steps per epoch, and this one has 11 steps; expected the same data and batch size.");
  Sequential other(Dense(3), Dense(1));
  other.compile({.optimizer = "adam", .loss = "mse"});
  EXPECT_EQ(refusal(other, x_, y_), file +
                                        "has the tensor \"dense/kernel\" as f32[6, 8]; expected f32[6, 3]. The weights of the model and of "
                                        "the file have to be the same.");
  first.save(file_);
  EXPECT_NE(refusal(network(adam()), x_, y_)
                .find("has no state of a training; expected a file that ModelCheckpoint, or save() in a callback, made"),
            std::string::npos);
  first.save_weights(file_);
  EXPECT_NE(refusal(network(adam()), x_, y_).find("holds no whole model"), std::string::npos);
}

}  // namespace
}  // namespace anyshape
