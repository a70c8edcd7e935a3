// Configs of layers that are frozen: what is made from them is frozen where they were.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape {
namespace {

AnyLayer again(const AnyLayer& layer) { return make<AnyLayer>(Config::from_json(layer.config().to_json())); }

// Whether each layer is trained, those inside included: "-" stands for a frozen one.
std::string trained(const AnyLayer& layer) {
  std::string text(1, layer.trainable() ? '+' : '-');
  for (const AnyLayer& child : layer.children()) text += trained(child);
  return text;
}

TEST(TrainableConfig, a_backbone_that_is_frozen_stays_so) {
  Sequential backbone(Dense(4), Bidirectional(LSTM(2)));
  Sequential model(backbone, Dense(1));
  EXPECT_EQ(model.config().find("trainable"), nullptr);  // what is trained needs no word
  backbone.set_trainable(false);
  const AnyLayer same = again(model);
  EXPECT_EQ(trained(same), trained(model));
  EXPECT_EQ(trained(same), "+-----+");
  EXPECT_EQ(same.config(), model.config());
  EXPECT_TRUE(same == model && same != Sequential(Sequential(Dense(4), Bidirectional(LSTM(2))), Dense(1)));
  same.build({dynamic, dynamic, 3});
  EXPECT_EQ(same.trainable_variables().size(), 2U);
}

TEST(TrainableConfig, a_layer_may_be_trained_inside_a_frozen_one) {
  Dense top(1), bottom(4);
  Sequential model(bottom, TimeDistributed(Dense(2)), top);
  model.set_trainable(false);
  top.set_trainable(true);
  EXPECT_EQ(trained(model), "----+");
  EXPECT_EQ(trained(again(model)), "----+");
  const Tensor x = input({3}, {.name = "x"});
  Model functional({.inputs = {x}, .outputs = {top(bottom(x))}});
  EXPECT_EQ(trained(again(functional)), trained(functional));
  EXPECT_EQ(trained(again(functional)), "+-+");
}

TEST(TrainableConfig, freezes_what_a_config_does_not_tell_of) {
  AnyLayer attention = MultiHeadAttention(2, 3);
  attention.set_trainable(false);
  const AnyLayer same = again(attention);
  same.build(Shape{dynamic, dynamic, 4});
  EXPECT_TRUE(same.trainable_variables().empty());
}

class Own : public Layer {  // whose option is called so
 public:
  struct Options {
    bool trainable = true;
  };
  explicit Own(Options options) : options_(options) {}
  const Options& options() const { return options_; }
  Tensor call(const Tensor& x, const CallContext&) override { return x; }

 private:
  Options options_;
};

TEST(TrainableConfig, a_field_of_that_name_is_the_classes_own) {
  register_layer<Own>("OwnTrainable");
  const AnyLayer own = layer(Own({.trainable = false}));
  EXPECT_EQ(again(own).config(), own.config());
  EXPECT_TRUE(again(own).trainable());
  EXPECT_EQ(test::text_of<ArgumentError>([] { make<AnyLayer>(Config::object("Dense", {{"units", 1}, {"trainable", 1}})); }),
            "Dense: trainable is 1; expected true or false.");
  EXPECT_TRUE(make<AnyLayer>(Config::object("Dense", {{"units", 1}, {"trainable", true}})).trainable());
}

}  // namespace
}  // namespace anyshape
