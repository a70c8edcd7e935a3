// Objects that know how they were made: everything that is registered goes from a config to an object and back, and says what is wrong with a config.
#include "support/temporary_folder.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

namespace anyshape {
namespace {

using Fields = std::vector<Config::Field>;

// Shared layers, ops with attributes and sizes, constants, two outputs.
Model functional() {
  const Dim length = dim("length", {.min = 1, .max = 100});
  const Tensor words = input({length}, {.name = "words", .dtype = i32}), other = input({length, 2}, {.name = "other"});
  const Dense shared(4, {.activation = "tanh"});
  const Tensor both = concat({Embedding(10, 3)(words), other * 2 + tensor({1.0f, 2.5f})}, {.axis = -1});
  const Tensor twice = shared(shared(Dense(4)(both)), {.training = true});
  const Tensor flat = reshape(twice, {words.shape()[0], length * 4});
  return Model({.inputs = {words, other}, .outputs = {mean(twice, {.axes = {1}}), sum(flat, {.axis = 1, .keep_dims = true})}});
}

Config dense(int64_t units) { return Config::object("Dense", {{"units", units}}); }

class ConfigOf : public ::testing::Test {
 protected:
  ConfigOf() {
    std::ofstream(csv_) << "a,b\n1,2\n";
    for (const char* name : {"a", "b"}) {
      std::filesystem::create_directories(images_ / name);
      for (const char* file : {"x.png", "x.a"}) std::ofstream(images_ / name / file) << "an image";
    }
  }

  Config csv() const { return Config::object("from_csv", {{"file", csv_.string()}}); }

  // What has no default, by class; a class that is registered and needs a field that is not here fails.
  std::map<std::string, Fields> required() const {
    const Fields decay = {{"initial_learning_rate", 0.1}, {"decay_steps", 10}, {"decay_rate", 0.5}};
    const Fields steps = {{"initial_learning_rate", 0.1}, {"decay_steps", 10}};
    const Fields units = {{"units", 3}}, filters = {{"filters", 6}, {"kernel_size", 3}}, kernel = {{"kernel_size", 3}};
    const Fields image = {{"height", 8}, {"width", 9}}, factor = {{"factor", 0.25}}, output = {{"output_size", 2}};
    const Fields stage = {{"dataset", csv()}}, counted = {{"dataset", csv()}, {"count", 2}}, sized = {{"dataset", csv()}, {"size", 2}};
    return {{"Activation", {{"activation", "relu"}}},
            {"AdaptiveAveragePooling2D", output},
            {"AdaptiveMaxPooling2D", output},
            {"Bidirectional", {{"layer", Config::object("LSTM", units)}}},
            {"CenterCrop", image},
            {"Conv1D", filters},
            {"Conv1DTranspose", filters},
            {"Conv2D", filters},
            {"Conv2DTranspose", filters},
            {"Conv3D", filters},
            {"Conv3DTranspose", filters},
            {"CSVLogger", {{"file", "log.csv"}}},
            {"Dense", units},
            {"DepthwiseConv1D", kernel},
            {"DepthwiseConv2D", kernel},
            {"Dropout", {{"rate", 0.5}}},
            {"Embedding", {{"input_dim", 5}, {"output_dim", 4}}},
            {"Functional", functional().config().fields()},
            {"GRU", units},
            {"LSTM", units},
            {"ModelCheckpoint", {{"path", "weights.safetensors"}}},
            {"MultiHeadAttention", {{"num_heads", 2}, {"key_dim", 3}}},
            {"RandomBrightness", factor},
            {"RandomContrast", factor},
            {"RandomCrop", image},
            {"RandomRotation", factor},
            {"RandomTranslation", {{"height_factor", 0.25}, {"width_factor", 0.5}}},
            {"RandomZoom", {{"height_factor", 0.25}}},
            {"Rescaling", {{"scale", 0.5}}},
            {"Reshape", {{"target_shape", std::vector<Config>{2, -1}}}},
            {"Resizing", image},
            {"RNN", {{"cell", "Counter"}}},
            {"SeparableConv1D", filters},
            {"SeparableConv2D", filters},
            {"Sequential", {{"layers", std::vector<Config>{dense(3), dense(4), 1}}}},
            {"SimpleRNN", units},
            {"TimeDistributed", {{"layer", dense(2)}}},
            {"exponential_decay", decay},
            {"inverse_time_decay", decay},
            {"cosine_decay", steps},
            {"cosine_decay_restarts", {{"initial_learning_rate", 0.1}, {"first_decay_steps", 10}}},
            {"polynomial_decay", steps},
            {"piecewise_constant_decay", {{"boundaries", std::vector<Config>{1, 5}}, {"values", std::vector<Config>{0.1, 0.2, 0.3}}}},
            {"batch", sized},
            {"bucket", {{"dataset", csv()}, {"boundaries", std::vector<Config>{4, 8}}}},
            {"cache", stage},
            {"from_csv", {{"file", csv_.string()}}},
            {"from_image_folder", {{"folder", images_.string()}}},
            {"group_by_shape", sized},
            {"padded_batch", sized},
            {"prefetch", stage},
            {"repeat", stage},
            {"shuffle", stage},
            {"skip", counted},
            {"take", counted},
            {"zip", {{"x", csv()}, {"y", csv()}}}};
  }

  test::TemporaryFolder folder_;
  std::filesystem::path csv_ = folder_.path() / "rows.csv", images_ = folder_.path() / "images";
};

// Another value of the same kind.
std::vector<Config> others(const Config& value) {
  switch (value.kind()) {
    case Config::Kind::Bool: return {!value.as_bool()};
    case Config::Kind::Integer: return {value.as_integer() + 1, value.as_integer() - 1};
    case Config::Kind::Number: return {0.25, 0.5, -0.25, 4.0};
    case Config::Kind::Text:  // a name, or a choice of some enum
      return {"other",  "none", "sum",  "max",      "f32",     ";",        "out",      "uniform", "precision_recall",
              "median", "a",    "same", "vertical", "nearest", "bilinear", "constant", "u8",      "skip"};
    case Config::Kind::Null: return {0.5, 7, "f64", true, "l2"};
    case Config::Kind::List:
      return {std::vector<Config>{1},
              std::vector<Config>{0.25},
              std::vector<Config>{0.5, 2.5},
              std::vector<Config>{"a"},
              std::vector<Config>{"a", "b"},
              std::vector<Config>{1, 2, 3},
              std::vector<Config>(1, Config(std::vector<Config>{Config(), 2}))};
    case Config::Kind::Map: return {Config::map({{"a", "f64"}}), Config::map({{"a", std::vector<Config>{"x", "y"}}})};
    case Config::Kind::Object: return {"relu", "he_normal"};
  }
  return {};
}

// 7 is a number, too.
std::string without_points(const Config& config) {
  std::string text = to_string(config);
  for (size_t at = 0; (at = text.find(".0", at)) != std::string::npos;) text.erase(at, 2);
  return text;
}

// From the config to an object and back, with defaults and with every field changed to what the class takes.
template <class Kind>
void check_kind(const std::map<std::string, Fields>& required, const std::map<std::string, const char*>& without) {
  const Registry& registry = registry_of<Kind>();
  ASSERT_FALSE(registry.entries().empty());
  for (const auto& entry : registry.entries()) {
    if (without.contains(entry.name)) continue;
    SCOPED_TRACE(registry.kind() + " " + entry.name);
    const auto sample = required.find(entry.name);
    const Config least = Config::object(entry.name, sample == required.end() ? Fields() : sample->second);
    const Config whole = make<Kind>(least).config();
    EXPECT_EQ(whole.class_name(), entry.name);
    EXPECT_EQ(make<Kind>(whole).config(), whole);
    EXPECT_EQ(Config::from_json(whole.to_json()), whole);
    EXPECT_EQ(make<Kind>(Config::from_json(whole.to_json())).config(), whole);

    const std::vector<RegisteredField> fields = entry.fields;
    ASSERT_EQ(fields.size(), whole.fields().size());
    for (size_t i = 0; i < fields.size(); ++i) {
      SCOPED_TRACE(fields[i].name);
      EXPECT_EQ(fields[i].name, whole.fields()[i].name);
      if (fields[i].is_required) continue;
      if (least.find(fields[i].name) == nullptr) EXPECT_EQ(fields[i].by_default, whole.fields()[i].value);
      int taken = 0;
      for (const Config& other : others(fields[i].by_default)) {
        if (other == whole.fields()[i].value) continue;
        Config changed = whole;
        changed.set(fields[i].name, other);
        try {
          const Config after = make<Kind>(changed).config();
          EXPECT_NE(after, whole);
          EXPECT_EQ(make<Kind>(after).config(), after);
          const bool is_named = other.kind() == Config::Kind::Text && after[fields[i].name].kind() == Config::Kind::Object;
          EXPECT_EQ(without_points(is_named ? Config(after[fields[i].name].class_name()) : after[fields[i].name]), without_points(other));
          ++taken;
        } catch (const ArgumentError&) {  // not a value for this field
        }
      }
      const bool is_callable = fields[i].name.starts_with("on_");
      const bool has_one_value = entry.name == "Normalization" && fields[i].name == "axis";
      EXPECT_TRUE(taken > 0 || is_callable || has_one_value) << "no other value is taken: add one to others()";
    }
  }
}

class Counter : public Cell {  // a user's cell: how many steps a row has
 public:
  std::vector<int64_t> state_sizes() const override { return {1}; }
  std::pair<Tensor, std::vector<Tensor>> step(const Tensor&, const std::vector<Tensor>& states, const CallContext&) override {
    const Tensor next = states[0] + 1;
    return {next, {next}};
  }
};

TEST_F(ConfigOf, everything_registered_goes_there_and_back) {
  register_layer<Counter>("Counter");
  const std::map<std::string, Fields> needed = required();
  check_kind<ActivationFunction>(needed, {});
  check_kind<Initializer>(needed, {});
  check_kind<Regularizer>(needed, {});
  check_kind<Schedule>(needed, {});
  check_kind<Loss>(needed, {});
  check_kind<Metric>(needed, {});
  check_kind<Optimizer>(needed, {});
  check_kind<AnyLayer>(needed, {{"Lambda", "a callable"}});
  check_kind<AnyCallback>(needed, {{"LearningRateScheduler", "a callable"}});
  check_kind<Dataset>(needed, {{"map", "a callable"}, {"filter", "a callable"}, {"from_generator", "a callable"}});
}

TEST_F(ConfigOf, a_layer_has_what_it_was_given) {
  const Dense layer(10, {.activation = "relu", .kernel_regularizer = l2(0.5), .name = "top"});
  EXPECT_EQ(to_string(layer.config()),
            "Dense(units=10, activation=relu(), use_bias=true, kernel_initializer=glorot_uniform(seed=none), bias_initializer=zeros(), "
            "kernel_regularizer=l2(strength=0.5), bias_regularizer=none, name=\"top\", dtype=none)");
  EXPECT_EQ(layer.clone().config(), layer.config());
  EXPECT_EQ(make<AnyLayer>(layer.config()).name(), "top");
}

TEST_F(ConfigOf, what_is_wrong_is_told_with_its_place) {
  const auto text = [](const Config& config) { return test::text_of<ArgumentError>([&] { make<AnyLayer>(config); }); };
  EXPECT_EQ(text(Config::object("Dense", {{"units", "ten"}})), "Dense: units is \"ten\"; expected a whole number.");
  EXPECT_EQ(text(Config::object("Dense", {})), "Dense: units is missing; expected a whole number.");
  EXPECT_EQ(text("Dense"), "Dense: units is missing; expected a whole number.");
  EXPECT_EQ(text(Config::object("Dense", {{"unit", 10}})), "Dense: \"unit\" is no field; expected \"units\".");
  EXPECT_EQ(text(Config::object("Dense", {{"units", 0}})), "Dense: units is 0; expected at least 1.");
  EXPECT_EQ(text(Config::object("Dence", {})), "layer: \"Dence\" is no layer; expected \"Dense\".");
  EXPECT_EQ(text(3), "layer: the config is 3; expected a layer or the name of one.");
  EXPECT_EQ(text(Config::object("Dense", {{"units", 1}, {"activation", "rellu"}})).substr(0, 46),
            "Dense: activation: activation: \"rellu\" is no a");
  EXPECT_EQ(text(Config::object("Sequential", {{"layers", std::vector<Config>{dense(2), "Dense"}}})),
            "Sequential: layers[1]: Dense: units is missing; expected a whole number.");
  EXPECT_EQ(text(Config::object("Sequential", {{"layers", std::vector<Config>{dense(2), 1}}})),
            "Sequential: layers[1] is 1; expected a whole number from 0 to 0.");
  EXPECT_EQ(test::text_of<ArgumentError>([&] { make<Loss>(Config::object("huber", {{"reduction", "Sum"}})); }),
            "huber: reduction: \"Sum\" is no choice; expected \"sum\".");
  EXPECT_EQ(test::text_of<ArgumentError>([&] { make<Optimizer>(Config::object("adam", {{"learning_rate", "fast"}})); }).substr(0, 50),
            "adam: learning_rate: schedule: \"fast\" is no schedu");
}

TEST_F(ConfigOf, callables_say_that_they_are) {
  const auto twice = [](const Tensor& x) { return x * 2; };
  const Config config = Dense(2, {.activation = twice}).config();
  EXPECT_TRUE(config["activation"].is_callable());
  EXPECT_EQ(test::text_of<ArgumentError>([&] { make<AnyLayer>(config); }),
            "Dense: activation: activation: the config stands for a callable of a program, which no config can make; expected the name of "
            "an activation. Write it as a class or a function of options and register that, or put the callable in where the activation is "
            "used.");
  EXPECT_TRUE(Loss([](const Tensor& y, const Tensor& p) { return p - y; }).config().is_callable());
  EXPECT_TRUE(Metric([](const Tensor& y, const Tensor& p) { return p - y; }).config().is_callable());
  EXPECT_TRUE(Schedule([](const Tensor& step) { return cast(step, f32); }).config().is_callable());
  EXPECT_TRUE(Regularizer([](const Tensor& w) { return sum(w); }).config().is_callable());
  EXPECT_TRUE(Initializer([](const Shape& s, Dtype d) { return zeros(s, {.dtype = d}); }).config().is_callable());
  EXPECT_EQ(test::text_of<ArgumentError>([&] { make<AnyLayer>(Lambda(twice).config()); }),
            "Lambda: function is a callable, which no config can make; expected none. Make the object in the program, with its callable.");
  const Dataset mapped = make<Dataset>(csv()).map([](const Example& example) { return example; }).batch(2);
  EXPECT_TRUE(mapped.config()["dataset"]["callable"].is_callable());
}

TEST_F(ConfigOf, a_dataset_is_the_chain_of_its_stages) {
  const Dataset rows = Dataset::from(ones({4, 2}), ones({4, 1})).shuffle({.seed = 3}).batch(2, {.drop_remainder = true});
  EXPECT_EQ(to_string(rows.config()),
            "batch(dataset=shuffle(dataset=data(), buffer=10000, seed=3, reshuffle_each_iteration=true), size=2, drop_remainder=true, "
            "ragged=none)");
  EXPECT_EQ(test::text_of<ArgumentError>([&] { make<Dataset>(rows.config()); }).substr(0, 80),
            "batch: dataset: shuffle: dataset: dataset: the config stands for data in memory,");
  EXPECT_EQ(make<Dataset>(make<Dataset>(csv()).repeat(3).config()).size(), make<Dataset>(csv()).repeat(3).size());
}

TEST_F(ConfigOf, a_metric_is_called_what_it_was_asked_for_as) {
  EXPECT_EQ(make<Metric>(Metric("mse").config()).name(), "mse");
  EXPECT_EQ(make<Metric>(Metric("acc").config()).name(), "acc");
  EXPECT_EQ(to_string(Metric(huber({.delta = 2})).config()), "huber(delta=2.0, reduction=\"sum_over_batch_size\", ignore_missing=false)");
  EXPECT_EQ(Metric("accuracy").clone().config(), Metric("accuracy").config());
}

TEST_F(ConfigOf, names_suggest_near_ones) {
  EXPECT_EQ(test::text_of<ArgumentError>([] { Loss("sparse_crossentropy"); }),
            "loss: \"sparse_crossentropy\" is no loss; expected one of \"sparse_categorical_crossentropy\", \"binary_crossentropy\".");
}

TEST_F(ConfigOf, options_are_compared_and_printed) {
  EXPECT_EQ(to_config(AdamOptions{}), to_config(AdamOptions{}));
  EXPECT_NE(to_config(AdamOptions{.beta_1 = 0.5}), to_config(AdamOptions{}));
  EXPECT_EQ(to_string(to_config(HuberOptions{.reduction = Reduction::Sum})), "{delta: 1.0, reduction: \"sum\", ignore_missing: false}");
}

TEST_F(ConfigOf, objects_are_equal_where_they_are_made_in_the_same_way) {
  EXPECT_TRUE(Loss("mse") == mean_squared_error());
  EXPECT_TRUE(huber({.delta = 2}) != huber());
  EXPECT_TRUE(adam() == Optimizer("adam"));
  EXPECT_TRUE(Schedule(0.5) == 0.5);
  EXPECT_TRUE(l2(0.5) == l2(0.5) && l2(0.5) != l1(0.5));
  EXPECT_TRUE(ActivationFunction(gelu) == "gelu" && activations::gelu({.approximate = true}) != gelu);
  EXPECT_TRUE(glorot_uniform() == Initializer("glorot_uniform"));
  EXPECT_TRUE(Dense(3) == Dense(3) && Dense(3) != Dense(4));
  EXPECT_TRUE(AnyCallback(EarlyStopping({.patience = 2})) == AnyCallback(EarlyStopping({.patience = 2})));
  EXPECT_TRUE(make<Dataset>(csv()).batch(2) == make<Dataset>(csv()).batch(2));
  // What no config tells may be another thing.
  const auto twice = [](const Tensor& x) { return x * 2; };
  const Dense own(2, {.activation = twice}), same = own;
  EXPECT_TRUE(own == same);
  EXPECT_FALSE(own == Dense(2, {.activation = twice}));
  EXPECT_FALSE(Dataset::from(ones({2, 1})).batch(2) == Dataset::from(zeros({2, 1})).batch(2));
  std::ostringstream text;
  text << huber({.delta = 2}) << " " << Schedule(0.5) << " " << ActivationFunction("leaky_relu");
  EXPECT_EQ(text.str(), "huber(delta=2.0, reduction=\"sum_over_batch_size\", ignore_missing=false) 0.5 leaky_relu(negative_slope=0.2)");
}

// --- what is made of a config computes what the object computes

template <class Kind>
Kind again(const Kind& object) {
  return make<Kind>(Config::from_json(object.config().to_json()));
}

TEST_F(ConfigOf, activations_made_again_compute_the_same) {
  const Tensor x = tensor({{-2.0F, -0.5F, 0.0F}, {0.25F, 1.0F, 3.0F}});
  const std::vector<std::pair<ActivationFunction, Tensor>> all = {
      {activations::leaky_relu({.negative_slope = 0.5}), leaky_relu(x, {.negative_slope = 0.5})},
      {activations::elu({.alpha = 0.5}), elu(x, {.alpha = 0.5})},
      {activations::gelu({.approximate = true}), gelu(x, {.approximate = true})},
      {activations::softmax({.axis = 0}), softmax(x, {.axis = 0})},
      {activations::log_softmax({.axis = 0}), log_softmax(x, {.axis = 0})},
      {activations::gelu(), gelu(x)},
      {leaky_relu, leaky_relu(x)},
      {softmax, softmax(x)},
      {"exponential", exp(x)},
      {"swish", silu(x)},
      {"linear", x}};
  for (const auto& [activation, expected] : all) {
    SCOPED_TRACE(to_string(activation.config()));
    EXPECT_EQ(activation(x).to_vector<float>(), expected.to_vector<float>());
    EXPECT_EQ(again(activation)(x).to_vector<float>(), expected.to_vector<float>());
    EXPECT_EQ(again(activation).name(), activation.name());
    EXPECT_EQ(again<AnyLayer>(Activation(activation))(x).to_vector<float>(), expected.to_vector<float>());
  }
  EXPECT_EQ(to_string(Dense(1, {.activation = activations::gelu({.approximate = true})}).config()["activation"]), "gelu(approximate=true)");
  EXPECT_EQ(test::text_of<ArgumentError>([] { make<ActivationFunction>(Config::object("elu", {{"alpa", 1}})); }),
            "elu: \"alpa\" is no field; expected \"alpha\".");
}

// Crossentropies take the logits of a softmax along the last axis alone; of another axis they take the probabilities that they are given.
TEST_F(ConfigOf, a_softmax_of_another_axis_gives_its_probabilities_to_the_loss) {
  const Tensor x = tensor({{-2.0F, 0.5F}, {0.25F, 1.0F}}), target = tensor({{1.0F, 0.0F}, {0.0F, 1.0F}});
  for (const int axis : {-1, 0}) {
    const Tensor found = categorical_crossentropy()(target, Activation(activations::softmax({.axis = axis}))(x));
    const Tensor p = softmax(x, {.axis = axis});
    EXPECT_TRUE(all_close(found, -mean(log(sum(target * p, {.axis = 1}) / sum(p, {.axis = 1}))), {.relative = 1e-5})) << axis;
  }
}

TEST_F(ConfigOf, losses_made_again_compute_the_same) {
  const Tensor y = tensor({{0.0F, 1.0F, 0.0F}, {1.0F, 0.0F, 0.0F}}), p = tensor({{0.25F, 0.5F, 0.25F}, {0.125F, 0.75F, 0.125F}});
  const Tensor classes = tensor({1, 2});
  const LossOptions summed{.reduction = Reduction::Sum};
  const CrossentropyOptions smooth{.from_logits = true, .label_smoothing = 0.125, .reduction = Reduction::Sum};
  const std::vector<Loss> all = {mean_squared_error(summed),
                                 mean_absolute_error(summed),
                                 mean_absolute_percentage_error(summed),
                                 mean_squared_logarithmic_error(summed),
                                 hinge(summed),
                                 squared_hinge(summed),
                                 kl_divergence(summed),
                                 poisson(summed),
                                 log_cosh(summed),
                                 huber({.delta = 0.25, .reduction = Reduction::None}),
                                 cosine_similarity({.axis = 0}),
                                 binary_crossentropy(smooth),
                                 categorical_crossentropy(smooth),
                                 sparse_categorical_crossentropy({.from_logits = true, .ignore_class = 2}),
                                 binary_focal_crossentropy({.gamma = 3, .apply_class_balancing = true, .alpha = 0.5})};
  EXPECT_EQ(all.size(), registry_of<Loss>().entries().size() - (registry_of<Loss>().table().find("quantile") == nullptr ? 0 : 1));
  for (const Loss& loss : all) {
    SCOPED_TRACE(loss.name());
    const Tensor& target = loss.name().starts_with("sparse") ? classes : y;
    EXPECT_EQ(again(loss)(target, p).to_vector<float>(), loss(target, p).to_vector<float>());
    EXPECT_NE(Loss(loss.name())(target, p).to_vector<float>(), loss(target, p).to_vector<float>()) << "the options change nothing";
  }
}

TEST_F(ConfigOf, initializers_with_a_seed_made_again_draw_the_same) {
  const std::vector<Initializer> all = {
      glorot_uniform({.seed = 3}),
      glorot_normal({.seed = 3}),
      he_uniform({.seed = 3}),
      he_normal({.seed = 3}),
      lecun_uniform({.seed = 3}),
      lecun_normal({.seed = 3}),
      random_uniform({.low = 1, .high = 2, .seed = 3}),
      random_normal({.mean = 1, .deviation = 2, .seed = 3}),
      truncated_normal({.mean = 1, .deviation = 2, .seed = 3}),
      orthogonal({.gain = 2, .seed = 3}),
      variance_scaling({.scale = 2, .mode = Fan::Average, .distribution = Distribution::Uniform, .seed = 3}),
      constant(2.5),
      identity_matrix(0.5)};
  for (const Initializer& each : all) {
    SCOPED_TRACE(to_string(each.config()));
    EXPECT_EQ(again(each)({3, 4}).to_vector<float>(), each({3, 4}).to_vector<float>());
  }
}

TEST_F(ConfigOf, schedules_made_again_give_the_same_rates) {
  const std::vector<Schedule> all = {0.25,
                                     exponential_decay(0.1, 10, 0.5, {.staircase = true}),
                                     inverse_time_decay(0.1, 10, 0.5),
                                     cosine_decay(0, 10, {.alpha = 0.1, .warmup_target = 0.5, .warmup_steps = 4}),
                                     cosine_decay_restarts(0.1, 4, {.t_mul = 1.5, .m_mul = 0.5, .alpha = 0.1}),
                                     polynomial_decay(0.1, 10, {.end = 0.01, .power = 2, .cycle = true}),
                                     piecewise_constant_decay({3, 7}, {0.1, 0.2, 0.3})};
  for (const Schedule& each : all) {
    SCOPED_TRACE(to_string(each.config()));
    for (const int64_t step : {0, 3, 4, 11, 40}) {
      const Tensor at = full({}, step, {.dtype = i64});
      EXPECT_EQ(again(each)(at).item<float>(), each(at).item<float>()) << step;
    }
  }
}

// --- classes and functions of the user's

class Scale : public Layer {
 public:
  struct Options {
    double factor = 2;
    ActivationFunction activation = "relu";
  };
  explicit Scale(Options options) : options_(std::move(options)) {}
  const Options& options() const { return options_; }
  Tensor call(const Tensor& x, const CallContext&) override { return options_.activation(x * options_.factor); }

 private:
  Options options_;
};
class OtherScale : public Layer {};

struct Quantile {
  struct Options {
    double share = 0.5;
  };
  explicit Quantile(Options given) : own(given) {}
  const Options& options() const { return own; }
  Tensor operator()(const Tensor& y, const Tensor& p) const { return mean(maximum(own.share * (y - p), (own.share - 1) * (y - p))); }
  Options own;
};

struct PlainOptions {
  Schedule learning_rate = 0.1;
  double factor = 1;
};
Optimizer plain(PlainOptions options) {
  return optimizer("plain", options, {.amount = [=](const Update& u) { return u.rate * u.gradient * options.factor; }});
}

TEST_F(ConfigOf, a_users_class_has_its_name_and_options) {
  EXPECT_TRUE(layer(Scale({.factor = 3})).config().is_unregistered());
  EXPECT_EQ(test::text_of<ArgumentError>([] { make<AnyLayer>(Sequential(Scale({.factor = 3})).config()); }),
            "Sequential: layers[0]: layer: the config stands for an object of the class \"Scale\", which was not registered; expected the "
            "name of "
            "a layer. Register the class (register_layer) before its config is asked for.");
  register_layer<Scale>("Scale");
  register_layer<Scale>("Scale");
  const Config config = Sequential(Scale({.factor = 3}), Dense(2)).config();
  EXPECT_EQ(to_string(config["layers"].items()[0]), "Scale(factor=3.0, activation=relu())");
  const AnyLayer made = make<AnyLayer>(config);
  EXPECT_EQ(made.config(), config);
  EXPECT_EQ(made.children()[0](tensor({1.0f, -1.0f})).item<float>(0), 3.0f);
  EXPECT_EQ(test::text_of<ArgumentError>([] { register_layer<OtherScale>("Scale"); }),
            "register: the layer \"Scale\" is there already, made by something else; expected a name of its own.");
  EXPECT_EQ(test::text_of<ArgumentError>([] { register_layer<OtherScale>("Dense"); }),
            "register: the layer \"Dense\" is there already, made by something else; expected a name of its own.");
}

struct Steep {  // an activation
  struct Options {
    double slope = 2;
  };
  explicit Steep(Options given) : own(given) {}
  const Options& options() const { return own; }
  Tensor operator()(const Tensor& x) const { return x * own.slope; }
  Options own;
};
struct Largest {  // a penalty, without options
  Tensor operator()(const Tensor& weight) const { return max(abs(weight)); }
};
struct Halving {  // a schedule
  struct Options {
    int64_t steps = 10;
  };
  explicit Halving(Options given) : own(given) {}
  const Options& options() const { return own; }
  Tensor operator()(const Tensor& step) const { return pow(Tensor(0.5F), cast(step, f32) / own.steps); }
  Options own;
};
struct Counted {  // an initializer
  Tensor operator()(const Shape& shape, Dtype dtype) const { return reshape(arange(shape.count(), {.dtype = dtype}), shape); }
};
class Furthest : public StreamingMetric {
 public:
  struct Options {
    double scale = 1;
  };
  explicit Furthest(Options given) : StreamingMetric("furthest"), own_(given) {}
  const Options& options() const { return own_; }
  void update(const Tensor& y, const Tensor& p, const Tensor&) override {
    furthest_.assign(maximum(furthest_, cast(max(abs(y - p)), f64) * own_.scale));
  }
  Tensor result() const override { return furthest_; }

 private:
  Options own_;
  Variable furthest_ = running_sum("furthest");
};
class Patience : public Callback {
 public:
  struct Options {
    int64_t epochs = 3;
  };
  explicit Patience(Options given) : own_(given) {}
  const Options& options() const { return own_; }

 private:
  Options own_;
};

TEST_F(ConfigOf, a_users_class_of_every_kind_goes_there_and_back) {
  register_activation<Steep>("steep");
  register_regularizer<Largest>("largest");
  register_schedule<Halving>("halving");
  register_initializer<Counted>("counted");
  register_metric<Furthest>("furthest");
  register_callback<Patience>("Patience");

  const ActivationFunction steep(Steep({.slope = 3}));
  EXPECT_EQ(to_string(steep.config()), "steep(slope=3.0)");
  EXPECT_EQ(again(steep)(ones({2})).to_vector<float>(), (std::vector<float>{3, 3}));
  EXPECT_TRUE(ActivationFunction("steep") == ActivationFunction(Steep({})));

  const Regularizer largest{Largest()};
  EXPECT_EQ(to_string(largest.config()), "largest()");
  EXPECT_EQ(again(largest)(tensor({-4.0F, 3.0F})).item<float>(), 4.0F);

  const Schedule halving(Halving({.steps = 2}));
  EXPECT_EQ(to_string(halving.config()), "halving(steps=2)");
  EXPECT_EQ(again(halving)(full({}, 4, {.dtype = i64})).item<float>(), 0.25F);

  const Initializer counted{Counted()};
  EXPECT_EQ(to_string(counted.config()), "counted()");
  EXPECT_EQ(again(counted)({2, 2}).to_vector<float>(), (std::vector<float>{0, 1, 2, 3}));

  const Metric furthest(Furthest({.scale = 2}));
  EXPECT_EQ(to_string(furthest.config()), "furthest(scale=2.0)");
  Metric made = again(furthest);
  made.update(zeros({2}), tensor({-4.0F, 3.0F}));
  EXPECT_EQ(made.result().item<double>(), 8.0);

  const AnyCallback patience(Patience({.epochs = 5}));
  EXPECT_EQ(to_string(patience.config()), "Patience(epochs=5)");
  EXPECT_TRUE(again(patience) == patience);

  // All of them inside a layer and an optimizer.
  const Dense layer(2, {.activation = steep, .kernel_initializer = counted, .kernel_regularizer = largest});
  EXPECT_EQ(again<AnyLayer>(layer).config(), layer.config());
  EXPECT_EQ(again(adam({.learning_rate = halving})).config(), adam({.learning_rate = halving}).config());
}

TEST_F(ConfigOf, a_users_callable_and_function_have_them_too) {
  register_loss<Quantile>("quantile");
  const Loss loss(Quantile({.share = 0.25}));
  EXPECT_EQ(to_string(loss.config()), "quantile(share=0.25)");
  EXPECT_EQ(make<Loss>(loss.config()).config(), loss.config());
  EXPECT_EQ(Loss("quantile").config()["share"].as_number(), 0.5);
  register_function("plain", plain);
  EXPECT_EQ(to_string(plain({.factor = 2}).config()), "plain(learning_rate=0.1, factor=2.0)");
  EXPECT_EQ(make<Optimizer>(plain({.learning_rate = cosine_decay(0.5, 10)}).config()).config(),
            plain({.learning_rate = cosine_decay(0.5, 10)}).config());
  EXPECT_EQ(Optimizer("plain").clone().config(), plain({}).config());
}

TEST_F(ConfigOf, a_model_has_the_names_of_its_layers) {
  Sequential model(Dense(3), Dense(3, {.name = "middle"}), Dense(1));
  const Model made(make<AnyLayer>(Config::from_json(model.config().to_json())));
  EXPECT_EQ(made.config(), model.config());
  EXPECT_EQ(made.layer("dense_1").type(), "Dense");
  made.build({dynamic, 2});
  model.build({dynamic, 2});
  EXPECT_EQ(made.parameter_count(), model.parameter_count());
  model.add(Dense(7));
  EXPECT_EQ(model.config()["layers"].items().size(), 4u);
}

TEST_F(ConfigOf, a_functional_model_computes_the_same_when_made_again) {
  const Model model = functional();
  Model made(make<AnyLayer>(Config::from_json(model.config().to_json())));
  EXPECT_EQ(made.config(), model.config());
  made.set_weights(model.weights());
  for (const int64_t length : {1, 3, 7}) {
    const std::vector<Tensor> inputs = {random::integers({2, length}, {.high = 10}), random::normal({2, length, 2})};
    const Outputs expected = model.outputs(inputs), found = made.outputs(inputs);
    ASSERT_EQ(found.size(), 2u);
    for (size_t i = 0; i < 2; ++i) EXPECT_EQ(found[i].to_vector<float>(), expected[i].to_vector<float>());
  }
  const Tensor rows = input({dynamic, 2}, {.ragged = true});
  const Model ragged({.inputs = {rows}, .outputs = {GlobalAveragePooling1D()(rows)}, .name = "rows"});
  EXPECT_EQ(make<AnyLayer>(ragged.config()).config(), ragged.config());
  EXPECT_EQ(make<AnyLayer>(ragged.config()).name(), "rows");
}

TEST_F(ConfigOf, a_functional_model_says_what_no_config_can_tell) {
  const Tensor x = input({3});
  const Model large({.inputs = {x}, .outputs = {matmul(x, ones({3, 40'000}))}});
  EXPECT_EQ(test::text_of<ArgumentError>([&] { large.config(); }),
            "config: the functional model has a constant of 120000 elements, which no config can tell; expected at most 65536. Make it a "
            "weight of "
            "a layer of your own.");
  Config wrong = functional().config();
  wrong.set("outputs", std::vector<Config>{0});
  EXPECT_EQ(test::text_of<ArgumentError>([&] { make<AnyLayer>(wrong); }),
            "Functional: 2 output_names for 1 outputs; expected one for each, or none.");
  wrong.set("outputs", std::vector<Config>{99, 99});
  EXPECT_EQ(test::text_of<ArgumentError>([&] { make<AnyLayer>(wrong); }).substr(0, 40), "Functional: outputs: value 99 of 16; exp");
  wrong = functional().config();
  wrong.set("steps", std::vector<Config>{Config::map({{"op", "mattmul"}, {"inputs", std::vector<Config>{0}}})});
  EXPECT_EQ(test::text_of<ArgumentError>([&] { make<AnyLayer>(wrong); }),
            "Functional: steps[0]: \"mattmul\" is no op; expected \"matmul\". Of a layer give the number.");
  std::string text = functional().config().to_json();
  const size_t at = text.rfind("length");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 6, "lenght");
  EXPECT_NE(test::text_of<ArgumentError>([&] {
              make<AnyLayer>(Config::from_json(text));
            }).find("Functional: \"lenght\" is no size of the inputs; expected \"length\"."),
            std::string::npos);
}

TEST_F(ConfigOf, a_functional_model_keeps_states_scores_and_the_names_of_outputs) {
  const Tensor rows = input({dynamic, 4}, {.name = "rows"});
  const Outputs states = LSTM(3).outputs(rows, {.return_state = true});
  const Outputs scores = MultiHeadAttention(2, 3).outputs(rows, {.use_causal_mask = true, .return_attention_scores = true});
  const Model model({.inputs = {rows}, .outputs = {{"last", states[0]}, {"memory", states[2]}, {"scores", scores[1]}}});
  Model made(make<AnyLayer>(Config::from_json(model.config().to_json())));
  EXPECT_EQ(made.config(), model.config());
  EXPECT_TRUE(made == model);
  made.set_weights(model.weights());
  const Tensor x = random::normal({2, 5, 4});
  const Outputs expected = model.outputs(x), found = made.outputs(x);
  EXPECT_EQ(found.names(), (std::vector<std::string>{"last", "memory", "scores"}));
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].to_vector<float>(), expected[i].to_vector<float>()) << i;
}

TEST_F(ConfigOf, a_layer_inside_two_others_is_refused) {
  const Dense shared(2);
  EXPECT_EQ(test::text_of<ArgumentError>([&] { Sequential(Sequential(shared), Sequential(shared)).config(); }).substr(0, 71),
            "config: layer \"dense\" is inside \"sequential\" and inside \"sequential_1\";");
  EXPECT_EQ(Sequential(shared, shared).config()["layers"].items()[1], Config(0));
}

// --- docs/guide/objects.md

// What other tests have registered.
const std::vector<std::string> own = {"Counter", "Patience", "Scale", "counted",  "furthest",
                                      "halving", "largest",  "plain", "quantile", "steep"};

template <class Kind>
void append_table(std::string& text, const std::string& title) {
  text += "\n### " + title + "\n| name | fields |\n|---|---|\n";
  for (const auto& entry : registry_of<Kind>().entries()) {
    if (std::ranges::find(own, entry.name) != own.end()) continue;
    std::string name = "`" + entry.name + "`", fields;
    for (const std::string& alias : entry.aliases) name += ", `" + alias + "`";
    for (const RegisteredField& field : entry.fields)
      fields += (fields.empty() ? "`" : ", `") + field.name +
                (field.is_required ? "`: " + field.expected : " = " + to_string(field.by_default) + "`");
    text += "| " + name + " | " + fields + " |\n";
  }
}

// ANYSHAPE_WRITE_PAGES in the environment writes the tables anew.
TEST_F(ConfigOf, the_page_lists_what_is_registered) {
  std::string tables;
  append_table<ActivationFunction>(tables, "Activations");
  append_table<AnyCallback>(tables, "Callbacks");
  append_table<Dataset>(tables, "Datasets");
  append_table<Initializer>(tables, "Initializers");
  append_table<AnyLayer>(tables, "Layers");
  append_table<Loss>(tables, "Losses");
  append_table<Metric>(tables, "Metrics, beside the losses");
  append_table<Optimizer>(tables, "Optimizers");
  append_table<Regularizer>(tables, "Regularizers");
  append_table<Schedule>(tables, "Schedules, beside plain numbers");
  std::ifstream in(ANYSHAPE_OBJECTS_PAGE);
  const std::string page((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const size_t begin = page.find("\n### Activations");
  const std::string fresh = page.substr(0, begin) + tables;
  if (std::getenv("ANYSHAPE_WRITE_PAGES") != nullptr) std::ofstream(ANYSHAPE_OBJECTS_PAGE) << fresh;
  EXPECT_EQ(page, fresh) << "run the test with ANYSHAPE_WRITE_PAGES=1 to write the tables anew";
}

}  // namespace
}  // namespace anyshape
