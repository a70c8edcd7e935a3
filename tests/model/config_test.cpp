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
  ConfigOf() { std::ofstream(csv_) << "a,b\n1,2\n"; }

  Config csv() const { return Config::object("from_csv", {{"file", csv_.string()}}); }

  // What has no default, by class; a class that is registered and needs a field that is not here fails.
  std::map<std::string, Fields> required() const {
    const Fields decay = {{"initial_learning_rate", 0.1}, {"decay_steps", 10}, {"decay_rate", 0.5}};
    const Fields steps = {{"initial_learning_rate", 0.1}, {"decay_steps", 10}};
    const Fields units = {{"units", 3}};
    const Fields stage = {{"dataset", csv()}}, counted = {{"dataset", csv()}, {"count", 2}}, sized = {{"dataset", csv()}, {"size", 2}};
    return {{"Activation", {{"activation", "relu"}}},
            {"Bidirectional", {{"layer", Config::object("LSTM", units)}}},
            {"CSVLogger", {{"file", "log.csv"}}},
            {"Dense", units},
            {"Dropout", {{"rate", 0.5}}},
            {"Embedding", {{"input_dim", 5}, {"output_dim", 4}}},
            {"Functional", functional().config().fields()},
            {"GRU", units},
            {"LSTM", units},
            {"ModelCheckpoint", {{"path", "weights.safetensors"}}},
            {"MultiHeadAttention", {{"num_heads", 2}, {"key_dim", 3}}},
            {"Rescaling", {{"scale", 0.5}}},
            {"Reshape", {{"target_shape", std::vector<Config>{2, -1}}}},
            {"RNN", {{"cell", "Counter"}}},
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
            {"padded_batch", sized},
            {"prefetch", stage},
            {"repeat", stage},
            {"shuffle", stage},
            {"skip", counted},
            {"take", counted},
            {"zip", {{"x", csv()}, {"y", csv()}}}};
  }

  test::TemporaryFolder folder_;
  std::filesystem::path csv_ = folder_.path() / "rows.csv";
};

// Another value of the same kind.
std::vector<Config> others(const Config& value) {
  switch (value.kind()) {
    case Config::Kind::Bool: return {!value.as_bool()};
    case Config::Kind::Integer: return {value.as_integer() + 1, value.as_integer() - 1};
    case Config::Kind::Number: return {0.25, 0.5, -0.25, 4.0};
    case Config::Kind::Text:  // a name, or a choice of some enum
      return {"other", "none", "sum", "max", "f32", ";", "out", "uniform", "precision_recall", "median", "a"};
    case Config::Kind::Null: return {0.5, 7, "f64", true, "l2"};
    case Config::Kind::List:
      return {std::vector<Config>{1},       std::vector<Config>{0.25},
              std::vector<Config>{"a"},     std::vector<Config>{"a", "b"},
              std::vector<Config>{1, 2, 3}, std::vector<Config>(1, Config(std::vector<Config>{Config(), 2}))};
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
    if (without.contains(entry->name)) continue;
    SCOPED_TRACE(registry.kind() + " " + entry->name);
    const auto sample = required.find(entry->name);
    const Config least = Config::object(entry->name, sample == required.end() ? Fields() : sample->second);
    const Config whole = make<Kind>(least).config();
    EXPECT_EQ(whole.class_name(), entry->name);
    EXPECT_EQ(make<Kind>(whole).config(), whole);
    EXPECT_EQ(Config::from_json(whole.to_json()), whole);
    EXPECT_EQ(make<Kind>(Config::from_json(whole.to_json())).config(), whole);

    const std::vector<RegisteredField> fields = entry->fields();
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
      const bool has_one_value = entry->name == "Normalization" && fields[i].name == "axis";
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
  EXPECT_EQ(
      test::text_of<ArgumentError>([&] { make<AnyLayer>(config); }),
      "Dense: activation: activation: the config stands for a callable of a program, which no config can make; expected the name of a "
      "activation. Write it as a class or a function of options and register that, or put the callable in where the activation is used.");
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
  wrong.set("steps", std::vector<Config>{Config::map({{"op", "ad"}, {"inputs", std::vector<Config>{0}}})});
  EXPECT_EQ(test::text_of<ArgumentError>([&] { make<AnyLayer>(wrong); }),
            "Functional: steps[0]: \"ad\" is no op; expected one of the library's, or the number of a layer.");
}

TEST_F(ConfigOf, a_layer_inside_two_others_is_refused) {
  const Dense shared(2);
  EXPECT_EQ(test::text_of<ArgumentError>([&] { Sequential(Sequential(shared), Sequential(shared)).config(); }).substr(0, 71),
            "config: layer \"dense\" is inside \"sequential\" and inside \"sequential_1\";");
  EXPECT_EQ(Sequential(shared, shared).config()["layers"].items()[1], Config(0));
}

// --- docs/guide/objects.md

const std::vector<std::string> own = {"Counter", "Scale", "plain", "quantile"};  // what other tests have registered

template <class Kind>
void append_table(std::string& text, const std::string& title) {
  text += "\n### " + title + "\n| name | fields |\n|---|---|\n";
  for (const auto& entry : registry_of<Kind>().entries()) {
    if (std::ranges::find(own, entry->name) != own.end()) continue;
    std::string name = "`" + entry->name + "`", fields;
    for (const std::string& alias : entry->aliases) name += ", `" + alias + "`";
    for (const RegisteredField& field : entry->fields())
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
