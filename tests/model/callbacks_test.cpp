// Callbacks: when they are called, and what those of the library do.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

namespace anyshape {
namespace {

using test::text_of;

// A model whose loss is a number of our choice in each epoch: prediction 0, mse of the target's root.
class Callbacks : public testing::Test {
 protected:
  Callbacks() {
    model_(ones({1, 1}));
    model_.compile({.optimizer = sgd({.learning_rate = 1}), .loss = "mse"});
  }
  ~Callbacks() override { std::filesystem::remove_all(folder_); }

  // One epoch per value; a hook calls the callback with val_loss as given, as fit does.
  History fit_with(const std::vector<double>& values, AnyCallback callback) {
    auto pass_on = [&](Model& model, int64_t epoch, const Scores& scores) {
      Scores given = scores;
      given.set("val_loss", values[static_cast<size_t>(epoch)]);
      callback->on_epoch_end(model, epoch, given);
      rates_.push_back(model.optimizer().learning_rate());
    };
    return model_.fit(ones({2, 1}), ones({2, 1}),
                      {.epochs = static_cast<int64_t>(values.size()),
                       .verbose = Verbose::Silent,
                       .callbacks = {LambdaCallback({
                           .on_train_begin = [&](Model& model) { callback->on_train_begin(model); },
                           .on_train_end = [&](Model& model, const History& history) { callback->on_train_end(model, history); },
                           .on_epoch_begin = [&](Model& model, int64_t epoch) { callback->on_epoch_begin(model, epoch); },
                           .on_epoch_end = pass_on,
                       })},
                       .validation_data = {.x = ones({1, 1}), .y = ones({1, 1})}});
  }

  std::string read(const std::filesystem::path& file) const {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

  Model model_ = Sequential(Dense(1, {.use_bias = false, .kernel_initializer = "zeros"}));
  std::vector<double> rates_;
  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("anyshape_callbacks_test_" + std::to_string(getpid()));
};

TEST_F(Callbacks, are_called_in_order_the_users_own_too) {
  class Own : public Callback {
   public:
    explicit Own(std::string& seen) : seen_(seen) {}
    void on_train_begin(Model&) override { seen_ += "train("; }
    void on_train_end(Model&, const History& history) override { seen_ += ")" + std::to_string(history.epochs()); }
    void on_epoch_begin(Model&, int64_t epoch) override { seen_ += "e" + std::to_string(epoch) + "["; }
    void on_epoch_end(Model&, int64_t, const Scores& scores) override { seen_ += scores.contains("loss") ? "]" : "?"; }
    void on_batch_begin(Model&, int64_t step) override { seen_ += std::to_string(step); }
    void on_batch_end(Model&, int64_t, const Scores& scores) override { seen_ += scores.contains("loss") ? "." : "?"; }

   private:
    std::string& seen_;
  };
  std::string seen;
  model_.fit(ones({3, 1}), ones({3, 1}), {.batch_size = 2, .epochs = 2, .verbose = Verbose::Silent, .callbacks = {Own(seen)}});
  EXPECT_EQ(seen, "train(e0[0.1.]e1[0.1.])2");
}

TEST_F(Callbacks, can_stop_training_after_a_step) {
  int64_t steps = 0;
  const History history = model_.fit(ones({10, 1}), ones({10, 1}),
                                     {.batch_size = 1,
                                      .epochs = 5,
                                      .verbose = Verbose::Silent,
                                      .callbacks = {LambdaCallback({
                                          .on_batch_end =
                                              [&](Model& model, int64_t step, const Scores&) {
                                                ++steps;
                                                if (step == 2) model.stop_training();
                                              },
                                      })}});
  EXPECT_EQ(steps, 3);
  EXPECT_EQ(history.epochs(), 1);
}

TEST_F(Callbacks, early_stopping_waits_and_restores_the_best_weights) {
  std::vector<float> kernels;
  auto noting = [&](Model& model, int64_t, const Scores&) { kernels.push_back(model.weights()[0].item<float>()); };
  const EarlyStopping stopping({.patience = 2, .restore_best_weights = true});
  const auto shared = std::make_shared<EarlyStopping>(stopping);
  // Each epoch moves the kernel half of the way to 1: every epoch has weights of its own.
  model_.compile({.optimizer = sgd({.learning_rate = 0.25}), .loss = "mse"});
  const std::vector<double> values = {3, 1, 2, 1, 0.5, 0.1};
  const History history = model_.fit(ones({2, 1}), ones({2, 1}),
                                     {.epochs = 6,
                                      .verbose = Verbose::Silent,
                                      .callbacks = {LambdaCallback({
                                          .on_train_begin = [&](Model& model) { shared->on_train_begin(model); },
                                          .on_train_end = [&](Model& model, const History& all) { shared->on_train_end(model, all); },
                                          .on_epoch_end =
                                              [&](Model& model, int64_t epoch, const Scores& scores) {
                                                Scores given = scores;
                                                given.set("val_loss", values[static_cast<size_t>(epoch)]);
                                                noting(model, epoch, given);
                                                shared->on_epoch_end(model, epoch, given);
                                              },
                                      })},
                                      .validation_data = {.x = ones({1, 1}), .y = ones({1, 1})}});
  EXPECT_EQ(history.epochs(), 4);  // 2 and 1 are no better than the 1 before
  ASSERT_EQ(kernels.size(), 4U);
  EXPECT_EQ(model_.weights()[0].item<float>(), kernels[1]);
  EXPECT_LT(kernels[1], kernels[3]);
}

TEST_F(Callbacks, early_stopping_takes_accuracies_for_better_when_greater) {
  int64_t epochs = 0;
  EarlyStopping stopping({.monitor = "accuracy", .patience = 1});
  stopping.on_train_begin(model_);
  for (const double value : {0.5, 0.6, 0.7}) {
    Scores scores;
    scores.set("accuracy", value);
    stopping.on_epoch_end(model_, epochs++, scores);
  }
  // Nothing asked to stop: a fit that follows begins anew and runs to its end.
  EXPECT_EQ(text_of<ArgumentError>([&] { fit_with({1}, EarlyStopping({.monitor = "val_los"})); }),
            "EarlyStopping: \"val_los\" is no recorded value; expected \"val_loss\". Give fit validation data for val_ values.");
}

TEST_F(Callbacks, what_is_better_follows_from_the_whole_name_or_is_asked_for) {
  // Whether a value of 2 after 1 is a gain, told by the weights that are kept.
  auto wants_greater = [&](const std::string& name) {
    EarlyStopping stopping({.monitor = name, .patience = 9, .restore_best_weights = true});
    stopping.on_train_begin(model_);
    for (const float value : {1.0F, 2.0F}) {
      model_.set_weights({full({1, 1}, value)});
      Scores scores;
      scores.set(name, value);
      stopping.on_epoch_end(model_, 0, scores);
    }
    stopping.on_train_end(model_, {});
    return model_.weights()[0].item<float>() == 2;
  };
  for (const char* name : {"acc", "val_acc", "accuracy_1", "left_weighted_accuracy", "val_sparse_top_k_categorical_accuracy", "auc",
                           "precision", "val_recall_2", "f1_score"}) {
    EXPECT_TRUE(wants_greater(name)) << name;
  }
  for (const char* name : {"loss", "val_loss", "mae", "val_left_mse_1", "huber", "val_root_mean_squared_error"}) {
    EXPECT_FALSE(wants_greater(name)) << name;
  }
  for (const char* name : {"metric", "inaccuracy", "val_accident", "perplexity"}) {
    EXPECT_EQ(text_of<ArgumentError>([&] { wants_greater(name); }),
              "EarlyStopping: \"" + std::string(name) +
                  "\" may be better when it is greater or when it is less; expected .mode = Monitor::Max or Monitor::Min.");
  }
  EarlyStopping asked({.monitor = "perplexity", .mode = Monitor::Min});
  asked.on_train_begin(model_);
}

TEST_F(Callbacks, a_value_that_is_not_recorded_is_refused_before_the_first_step) {
  model_.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"mae"}});
  EXPECT_EQ(
      text_of<ArgumentError>([&] { model_.fit(ones({2, 1}), ones({2, 1}), {.verbose = Verbose::Silent, .callbacks = {EarlyStopping()}}); }),
      "EarlyStopping: \"val_loss\" is no recorded value; expected one of \"loss\", \"mae\". Give fit validation data for val_ values.");
  EXPECT_EQ(model_.optimizer().iterations().read().item<int64_t>(), 0);
  EXPECT_EQ(model_.weights()[0].item<float>(), 0);
}

TEST_F(Callbacks, cannot_compile_or_fit_the_model_that_is_trained) {
  std::string compiling, fitting;
  const auto meddle = [&](Model& model, int64_t, const Scores&) {
    compiling = text_of<ArgumentError>([&] { model.compile({.optimizer = "sgd", .loss = "mae"}); });
    fitting = text_of<ArgumentError>([&] { model.fit(ones({2, 1}), ones({2, 1})); });
  };
  const FitOptions options{.epochs = 2, .verbose = Verbose::Silent, .callbacks = {LambdaCallback({.on_batch_end = meddle})}};
  EXPECT_EQ(model_.fit(ones({2, 1}), ones({2, 1}), options).epochs(), 2);
  EXPECT_EQ(compiling, "compile: a fit of the model runs; expected compile() before it or after it.");
  EXPECT_EQ(fitting, "fit: another fit of the model runs; expected one at a time.");
  EXPECT_EQ(model_.train_step().stats().traces, 1);
  model_.compile({.optimizer = "sgd", .loss = "mae"});  // and after it as before
  EXPECT_EQ(model_.fit(ones({2, 1}), ones({2, 1}), {.verbose = Verbose::Silent}).epochs(), 1);
}

TEST_F(Callbacks, the_learning_rate_falls_on_a_plateau) {
  fit_with({1, 1, 1, 1, 1, 0.5, 0.5}, ReduceLROnPlateau({.factor = 0.5, .patience = 2, .cooldown = 1, .min_learning_rate = 0.2}));
  // Two epochs without a gain; one of cooling, in which nothing is counted but its end; two more.
  EXPECT_EQ(rates_, (std::vector<double>{1, 1, 0.5, 0.5, 0.25, 0.25, 0.25}));
  EXPECT_EQ(text_of<ArgumentError>([] { ReduceLROnPlateau({.factor = 1}); }), "ReduceLROnPlateau: factor is 1; expected 0 < factor < 1.");
}

TEST_F(Callbacks, a_schedule_decides_the_learning_rate_of_each_epoch_without_a_trace) {
  fit_with({0, 0, 0}, LearningRateScheduler([](int64_t epoch, double rate) { return epoch == 0 ? rate : rate * 0.5; }));
  EXPECT_EQ(rates_, (std::vector<double>{1, 0.5, 0.25}));
  EXPECT_EQ(model_.train_step().stats().traces, 1);
}

TEST_F(Callbacks, checkpoints_are_written_each_epoch_or_for_the_best) {
  std::filesystem::create_directories(folder_);
  fit_with({1, 2, 0.5}, ModelCheckpoint((folder_ / "all_{epoch}_{val_loss}.safetensors").string()));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "all_1_1.0000.safetensors"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "all_3_0.5000.safetensors"));
  fit_with({1, 2, 0.5}, ModelCheckpoint((folder_ / "best_{epoch}.safetensors").string(), {.save_best_only = true}));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "best_1.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "best_2.safetensors"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "best_3.safetensors"));
  const Tensor trained = model_.weights()[0];
  model_.set_weights({zeros({1, 1})});
  model_.load_weights(folder_ / "best_3.safetensors");
  EXPECT_TRUE(all_equal(model_.weights()[0], trained));
}

TEST_F(Callbacks, fields_of_a_checkpoint_are_formatted_as_in_python) {
  std::filesystem::create_directories(folder_);
  fit_with({1.23456, 0.5}, ModelCheckpoint((folder_ / "ck-{epoch:02d}-{val_loss:.2f}-{loss:.1e}-{{x}}").string()));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "ck-01-1.23-1.0e+00-{x}"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "ck-02-0.50-1.0e+00-{x}"));
}

TEST_F(Callbacks, what_a_checkpoint_cannot_write_is_found_before_training) {
  std::filesystem::create_directories(folder_);
  const auto refusal = [&](const std::string& path) {
    const std::string text = text_of<ArgumentError>(
        [&] { model_.fit(ones({2, 1}), ones({2, 1}), {.verbose = Verbose::Silent, .callbacks = {ModelCheckpoint(path)}}); });
    EXPECT_EQ(model_.optimizer().iterations().read().item<int64_t>(), 0) << path;
    return text;
  };
  EXPECT_EQ(
      refusal("ck-{val_loss:.2f}"),
      "ModelCheckpoint: the path \"ck-{val_loss:.2f}\": \"val_loss\" is no recorded value; expected one of \"loss\", \"epoch\". Give fit "
      "validation data for val_ values.");
  EXPECT_EQ(refusal("ck-{epohc}").substr(0, 96),
            "ModelCheckpoint: the path \"ck-{epohc}\": \"epohc\" is no recorded value; expected \"epoch\". Give fit");
  EXPECT_EQ(refusal("ck-{epoch:q}"),
            "ModelCheckpoint: the path \"ck-{epoch:q}\" formats \"epoch\" by \"q\"; expected a format of a number, like 02d.");
  EXPECT_EQ(refusal("ck-{loss:02d}"),
            "ModelCheckpoint: the path \"ck-{loss:02d}\" formats \"loss\" by \"02d\"; expected a format of a number, like .2f.");
  for (const char* braces : {"ck-{epoch", "ck-epoch}", "ck-{epoch{"}) {
    EXPECT_NE(refusal(braces).find("expected fields like {epoch} or {loss:.2f}, and {{ or }} for a brace."), std::string::npos) << braces;
  }
  EXPECT_NE(refusal("ck-{}").find("has a field without a name"), std::string::npos);
  EXPECT_EQ(refusal((folder_ / "none/ck-{epoch}").string()), "ModelCheckpoint: \"" + (folder_ / "none/ck-").string() +
                                                                 "\" cannot be written: the folder \"" + (folder_ / "none").string() +
                                                                 "\" is not there; expected a path in a folder that may be written.");
}

TEST_F(Callbacks, a_null_pointer_is_no_callback) {
  EXPECT_EQ(text_of<ArgumentError>([] { const AnyCallback none = std::shared_ptr<EarlyStopping>(); }),
            "callback: the pointer is null; expected a callback.");
  EXPECT_EQ(text_of<ArgumentError>([] { Dataset(std::shared_ptr<const detail::DatasetImpl>()); }),
            "Dataset: the pointer is null; expected a dataset.");
  Dataset data = Dataset::from(ones({4, 1}), ones({4, 1})).batch(2);
  const Dataset moved = std::move(data);
  model_.fit(data, {.verbose = Verbose::Silent});  // NOLINT(bugprone-use-after-move): is still whole
}

TEST_F(Callbacks, a_csv_file_has_a_line_per_epoch) {
  std::filesystem::create_directories(folder_);
  const std::filesystem::path file = folder_ / "log.csv";
  const FitOptions options{.epochs = 2, .verbose = Verbose::Silent, .callbacks = {CSVLogger(file)}};
  model_.fit(ones({2, 1}), ones({2, 1}), options);
  model_.compile({.optimizer = "sgd", .loss = "mse"});
  EXPECT_EQ(read(file), "epoch,loss\n0,1\n1,1\n");  // to 1, past it, and so on: the rate is 1
  model_.fit(ones({2, 1}), ones({2, 1}), {.verbose = Verbose::Silent, .callbacks = {CSVLogger(file, {.append = true})}});
  EXPECT_EQ(read(file), "epoch,loss\n0,1\n1,1\n0,1\n");
  EXPECT_EQ(
      text_of<ArgumentError>([] {
        CSVLogger logger("/nowhere/log.csv");
        Model none;
        logger.on_train_begin(none);
      }),
      "CSVLogger: \"/nowhere/log.csv\" cannot be written: the folder \"/nowhere\" is not there; expected a path in a folder that may be "
      "written.");
}

TEST_F(Callbacks, training_ends_where_the_loss_is_no_number) {
  model_.compile({.optimizer = sgd({.learning_rate = 1e30}), .loss = "mse"});
  const History history = model_.fit(ones({20, 1}), full({20, 1}, 1e20F),
                                     {.batch_size = 1, .epochs = 9, .verbose = Verbose::Silent, .callbacks = {TerminateOnNaN()}});
  EXPECT_EQ(history.epochs(), 1);
  EXPECT_FALSE(std::isfinite(history["loss"][0]));
}

TEST(History, is_told_as_csv_and_json) {
  History history;
  history.append("loss", 0.5);
  history.append("val_loss", std::numeric_limits<double>::quiet_NaN());
  history.append("loss", 0.25);
  EXPECT_EQ(history.to_csv(), "epoch,loss,val_loss\n0,0.5,nan\n1,0.25,\n");
  EXPECT_EQ(history.to_json(), "{\"loss\": [0.5, 0.25], \"val_loss\": [null]}");
  EXPECT_EQ(history.epochs(), 2);
  EXPECT_EQ(text_of<ArgumentError>([&] { static_cast<void>(history["lss"]); }),
            "history: \"lss\" is no recorded value; expected \"loss\".");
  EXPECT_EQ(History().to_csv(), "epoch\n");
  EXPECT_EQ(History().to_json(), "{}");
  History odd;
  odd.append("a \"b\", c\n", 1);
  EXPECT_EQ(odd.to_csv(), "epoch,\"a \"\"b\"\", c\n\"\n0,1\n");
  EXPECT_EQ(odd.to_json(), "{\"a \\\"b\\\", c\\n\": [1]}");
}

TEST(History, and_scores_are_printed) {
  History history;
  history.append("loss", 0.5);
  Scores scores;
  std::ostringstream out;
  out << history << scores;
  scores.set("loss", 0.25);
  scores.set("accuracy", 1);
  out << scores;
  EXPECT_EQ(out.str(), "epoch,loss\n0,0.5\n{}{loss: 0.25, accuracy: 1}");
}

}  // namespace
}  // namespace anyshape
