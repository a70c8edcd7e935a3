// Whatever is registered survives a file: a model that is trained with it, saved and loaded trains on as the first does, bit for bit. A class that is
// new in a registry is tried, too; one that needs options without defaults fails until it has them here.
#include "support/temporary_folder.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <map>

namespace anyshape {
namespace {

using Fields = std::vector<Config::Field>;

// What has no default.
const std::map<std::string, Fields>& required() {
  static const Fields decay = {{"initial_learning_rate", 0.1}, {"decay_steps", 10}, {"decay_rate", 0.5}};
  static const Fields steps = {{"initial_learning_rate", 0.1}, {"decay_steps", 10}};
  static const std::map<std::string, Fields> all = {
      {"exponential_decay", decay},
      {"inverse_time_decay", decay},
      {"cosine_decay", steps},
      {"cosine_decay_restarts", {{"initial_learning_rate", 0.1}, {"first_decay_steps", 3}}},
      {"polynomial_decay", steps},
      {"piecewise_constant_decay", {{"boundaries", std::vector<Config>{2, 5}}, {"values", std::vector<Config>{0.1, 0.2, 0.3}}}}};
  return all;
}

Config config_of(const RegisteredName& entry) {
  const auto found = required().find(entry.name);
  return Config::object(entry.name, found == required().end() ? Fields() : found->second);
}

// As it is told in the registry, and with every number of its options another one where that is taken.
template <class Kind>
std::vector<Config> variants(const RegisteredName& entry) {
  std::vector<Config> all = {config_of(entry)};
  Config other = all[0];
  for (const RegisteredField& field : entry.fields) {
    if (field.is_required || field.by_default.kind() != Config::Kind::Number) continue;
    Config changed = other;
    changed.set(field.name, field.by_default.as_number() * 0.75 + 0.01);
    try {
      make<Kind>(changed);
      other = changed;
    } catch (const ArgumentError&) {
    }
  }
  if (!(other == all[0])) all.push_back(other);
  return all;
}

// Before other tests of the program register theirs.
template <class Kind>
const std::vector<RegisteredName> of_the_library = registry_of<Kind>().entries();

class SavedKinds : public ::testing::Test {
 protected:
  Sequential network(const CompileOptions& options, int64_t outputs = 3) {
    random::set_seed(5);
    Sequential model(Dense(4, {.activation = "tanh"}), Dense(outputs, {.activation = "softmax"}));
    model.compile(options);
    return model;
  }
  History train(Model& model, const Tensor& y) {
    return model.fit(x_, y, {.batch_size = 5, .epochs = 2, .verbose = Verbose::Silent, .seed = 9});
  }
  // Trained, saved and loaded: both go on alike.
  void check(Model model, const Tensor& y) {
    train(model, y);
    model.save(file_);
    Model loaded = load_model(file_);
    EXPECT_EQ(loaded.optimizer().config().to_json(), model.optimizer().config().to_json());
    for (size_t i = 0; i < model.optimizer().variables().size(); ++i) {
      EXPECT_EQ(loaded.optimizer().variables()[i].name(), model.optimizer().variables()[i].name());
      EXPECT_TRUE(all_equal(loaded.optimizer().variables()[i], model.optimizer().variables()[i]));
    }
    EXPECT_EQ(train(loaded, y).to_csv(), train(model, y).to_csv());
    for (size_t i = 0; i < model.weights().size(); ++i) EXPECT_TRUE(all_equal(loaded.weights()[i], model.weights()[i])) << i;
  }

  test::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "model.safetensors";
  Tensor x_ = reshape(sin(cast(arange(12 * 4), f32)), {12, 4});
  Tensor classes_ = cast(arange(12) % 3, i32);
  Tensor hot_ = one_hot(classes_, 3);
};

TEST_F(SavedKinds, every_loss) {
  for (const RegisteredName& entry : of_the_library<Loss>) {
    SCOPED_TRACE(entry.name);
    for (const Config& config : variants<Loss>(entry)) {
      check(network({.optimizer = "sgd", .loss = make<Loss>(config)}), entry.name.starts_with("sparse") ? classes_ : hot_);
    }
  }
}

TEST_F(SavedKinds, every_optimizer) {
  for (const RegisteredName& entry : of_the_library<Optimizer>) {
    SCOPED_TRACE(entry.name);
    for (const Config& config : variants<Optimizer>(entry)) check(network({.optimizer = make<Optimizer>(config), .loss = "mse"}), hot_);
  }
}

TEST_F(SavedKinds, every_schedule) {
  for (const RegisteredName& entry : of_the_library<Schedule>) {
    SCOPED_TRACE(entry.name);
    for (const Config& config : variants<Schedule>(entry))
      check(network({.optimizer = adam({.learning_rate = make<Schedule>(config)}), .loss = "mse"}), hot_);
  }
}

TEST_F(SavedKinds, every_metric) {
  for (const RegisteredName& entry : of_the_library<Metric>) {
    SCOPED_TRACE(entry.name);
    const bool is_sparse = entry.name.starts_with("sparse");
    for (const Config& config : variants<Metric>(entry)) {
      const Loss loss = is_sparse ? Loss("sparse_categorical_crossentropy") : Loss("mse");
      check(network({.optimizer = "sgd", .loss = loss, .metrics = {make<Metric>(config)}, .weighted_metrics = {make<Metric>(config)}}),
            is_sparse ? classes_ : hot_);
    }
  }
}

TEST_F(SavedKinds, every_initializer_regularizer_and_activation) {
  const auto tried = [&](const DenseOptions& options) {
    random::set_seed(5);
    Sequential model(Dense(4, options), Dense(3));
    model.compile({.optimizer = "sgd", .loss = "mse"});
    check(model, hot_);
  };
  for (const RegisteredName& entry : of_the_library<Initializer>) {
    SCOPED_TRACE(entry.name);
    tried({.kernel_initializer = make<Initializer>(config_of(entry))});
  }
  for (const RegisteredName& entry : of_the_library<Regularizer>) {
    SCOPED_TRACE(entry.name);
    for (const Config& config : variants<Regularizer>(entry)) tried({.kernel_regularizer = make<Regularizer>(config)});
  }
  for (const RegisteredName& entry : of_the_library<ActivationFunction>) {
    SCOPED_TRACE(entry.name);
    for (const Config& config : variants<ActivationFunction>(entry)) tried({.activation = make<ActivationFunction>(config)});
  }
}

}  // namespace
}  // namespace anyshape
