// Names of layers and weights: what is written under them can be read again, and a layer keeps its name in every model.
#include "support/temporary_folder.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <filesystem>

namespace anyshape::test {
namespace {

// Makes weights of the given names beside a layer.
class Named : public Layer {
 public:
  explicit Named(std::vector<std::string> names, std::string inside = "") : names_(std::move(names)) {
    if (!inside.empty()) child(Dense(1, {.name = inside}));
  }
  void build(const Shape&) override {
    for (const std::string& name : names_) weight(name, {1}, {.initializer = "ones"});
  }
  Tensor call(const Tensor& x, const CallContext&) override { return x; }

 private:
  std::vector<std::string> names_;
};

std::string building(Named layer) {
  return text_of<ArgumentError>([&] { Model(std::move(layer)).build({dynamic, 1}); });
}

TEST(Names, weights_that_a_file_could_not_tell_apart_are_refused_when_they_are_made) {
  EXPECT_EQ(building(Named({"a", "b", "a"})),
            "layer Named: weight \"a\" is made twice; expected weights of a layer to have names that differ.");
  EXPECT_EQ(building(Named({"__metadata__"})),
            "layer Named: weight \"__metadata__\" has the name that a weights file keeps for itself; expected another name.");
  EXPECT_EQ(building(Named({"k/kernel"}, "k")),
            "layer Named: weight \"k/kernel\" may be a weight of the layer \"k\" inside; expected a name that begins otherwise.");
  for (const char* name : {"", "/a", "a/", "a//b"}) {
    EXPECT_EQ(building(Named({name})),
              "layer Named: weight \"" + std::string(name) + "\" has no name, or a part without one; expected a name.");
  }
  Model(Named({"k/kernel", "k/bias", "kernel"}, "other")).build({dynamic, 1});  // as attention names its own
}

TEST(Names, a_layer_name_has_no_slash) {
  EXPECT_EQ(text_of<ArgumentError>([] { Dense(1, {.name = "a/b"}); }),
            "Dense: the name \"a/b\" has a slash, which stands between the layers of a path; expected a name without one.");
  EXPECT_EQ(text_of<ArgumentError>([] {
              const Tensor in = input({2});
              Model({.inputs = {in}, .outputs = {Dense(1)(in)}, .name = "a/b"});
            }),
            "model: the name \"a/b\" has a slash, which stands between the layers of a path; expected a name without one.");
}

TEST(Names, a_layer_that_comes_beside_a_weight_gets_another_name) {
  class Late : public Layer {
   public:
    void build(const Shape&) override {
      weight("dense/kernel", {1});
      inside_ = child(Dense(1));
    }
    Tensor call(const Tensor& x, const CallContext&) override { return inside_(x); }

   private:
    AnyLayer inside_;
  };
  const TemporaryFolder folder;
  Model model{Late()};
  model(ones({2, 3}));
  model.save_weights(folder.path() / "weights");
  EXPECT_TRUE(model.load_weights(folder.path() / "weights").missing.empty());
  EXPECT_EQ(model.layer("dense_1").parameter_count(), 4);
}

TEST(Names, numbers_go_on_behind_those_that_are_taken) {
  const std::vector<Dense> layers = {Dense(1, {.name = "dense_2"}), Dense(1), Dense(1), Dense(1),
                                     Dense(1, {.name = "dense_5"}), Dense(1), Dense(1), Dense(1)};
  Sequential model;
  for (const Dense& layer : layers) model.add(layer);
  std::vector<std::string> names;
  for (const Dense& layer : layers) names.push_back(layer.name());
  EXPECT_EQ(names, (std::vector<std::string>{"dense_2", "dense", "dense_1", "dense_3", "dense_5", "dense_4", "dense_6", "dense_7"}));
}

TEST(Names, a_layer_in_two_models_keeps_the_name_of_the_first) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "weights";
  const Dense shared(3);
  Model first = Sequential(Dense(3), shared);
  first.build({dynamic, 3});
  first.save_weights(file);
  Model second = Sequential(Dense(3), Dense(3), shared);
  second.build({dynamic, 3});
  EXPECT_EQ(shared.name(), "dense_1");
  EXPECT_EQ(second.layer("dense_2").layer(), shared.layer());
  EXPECT_NE(second.summary().find("dense_2 (Dense)"), std::string::npos) << second.summary();
  first.load_weights(file);  // under the paths of before
  second.save_weights(folder.path() / "second");
  EXPECT_TRUE(second.load_weights(folder.path() / "second").missing.empty());
  const std::string text = text_of<ShapeError>([&] { Sequential(Dense(2), Dense(2), shared)(ones({1, 4})); });
  EXPECT_NE(text.find("In layer \"sequential/dense_2\"."), std::string::npos) << text;
  const std::string in_first = text_of<ShapeError>([&] { Sequential(Flatten(), shared)(ones({1, 4})); });
  EXPECT_NE(in_first.find("In layer \"sequential/dense_1\"."), std::string::npos) << in_first;
}

TEST(Names, layers_of_two_models_meet_in_a_third) {
  const Model left = Sequential(Dense(2)), right = Sequential(Dense(2));
  left.build({dynamic, 3});
  right.build({dynamic, 3});
  const Tensor in = input({3});
  const Model both({.inputs = {in}, .outputs = {Dense(1, {.name = "left"})(left.layer("dense")(in)), Dense(1)(right.layer("dense")(in))}});
  EXPECT_EQ(left.layer("dense").name(), "dense");
  EXPECT_EQ(right.layer("dense").name(), "dense");
  EXPECT_EQ(both.layer("dense_1").layer(), right.layer("dense").layer());
}

TEST(Names, a_shared_layer_has_one_name) {
  const Model model = Sequential(Dense(3), Dense(3, {.name = "twice"}));
  model.build({dynamic, 3});
  const Model again = Sequential(model.layer("twice"), Dense(3), model.layer("twice"));
  EXPECT_EQ(again(ones({2, 3})).shape(), (Shape{2, 3}));
  EXPECT_EQ(again.variables().size(), 4U);
}

TEST(Names, no_layer_is_inside_itself) {
  Sequential model(Dense(2));
  EXPECT_EQ(text_of<ArgumentError>([&] { model.add(model); }),
            "layer Sequential: \"sequential\" is added to itself; expected another layer.");
  const Sequential outer(Sequential(Dense(1)), model);
  EXPECT_EQ(text_of<ArgumentError>([&] { model.add(outer); }),
            "layer Sequential: layer \"sequential\" holds \"sequential_1\", to which it is added; expected layers without a circle.");
  EXPECT_EQ(model.children().size(), 1U);
  EXPECT_EQ(outer(ones({2, 3})).shape(), (Shape{2, 2}));
}

// A method that uses a weight, and a layer that calls it.
class Table : public Layer {
 public:
  void build(const Shape& input) override { rows_ = weight("rows", {4, input[-1]}); }
  Tensor call(const Tensor& x, const CallContext&) override { return matmul(x, transpose(rows_)); }
  Tensor back(const Tensor& x) const { return matmul(x, rows_); }

 private:
  Variable rows_;
};

TEST(Names, a_weight_that_is_not_made_yet_is_told_with_its_layer) {
  const Table alone;
  EXPECT_EQ(
      text_of<ArgumentError>([&] { alone.back(ones({2, 4})); }),
      "Variable: this handle refers to no variable; expected one made from an initial value, or a weight of a layer that is built. Call "
      "the layer on data, or its build(input shape), before a method of it that uses its weights.");
  class Tied : public Layer {
   public:
    Tensor call(const Tensor& x, const CallContext&) override { return static_cast<const Table&>(*table_.layer()).back(x); }

   private:
    AnyLayer table_ = child(Table());
  };
  EXPECT_EQ(
      text_of<ArgumentError>([&] { Sequential(Dense(4), Tied())(ones({2, 4})); }),
      "Variable: a weight is used that is not made yet: \"table\" is not built; expected weights of layers that are. Call it on data, or "
      "build(input shape), before a method that uses its weights. In layer \"sequential/tied\".");
}

TEST(Names, a_recurrent_layer_behind_another_says_what_is_missing) {
  EXPECT_EQ(
      text_of<ShapeError>([] { Sequential(LSTM(4), GRU(3))(ones({2, 5, 3})); }),
      "GRU: the input is [2, 4]; expected [batch, time, features]. Where it comes from a recurrent layer, give that .return_sequences = "
      "true. In layer \"sequential/gru\".");
}

TEST(Names, the_ledger_says_which_layer_was_frozen) {
  Model model = Sequential(Sequential(Dense(4, {.name = "base"}), Dense(4)), Dense(1));
  model.compile({.optimizer = sgd(), .loss = "mse"});
  const Tensor x = random::normal({8, 3}), y = random::normal({8, 1});
  model.fit(x, y, {.verbose = Verbose::Silent});
  model.layer("sequential/base").set_trainable(false);
  model.fit(x, y, {.verbose = Verbose::Silent});
  const std::string reason = model.train_step().traces().back().reason;
  EXPECT_NE(reason.find(": trainable of layer \"sequential/base\": true became false (nearest: trace 0)"), std::string::npos) << reason;
  EXPECT_EQ(reason.find("version"), std::string::npos) << reason;
}

}  // namespace
}  // namespace anyshape::test
