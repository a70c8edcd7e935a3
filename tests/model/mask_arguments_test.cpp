// Masks and logits that layers note on a tensor go with it through the arguments of a function.
#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape {
namespace {

TEST(MaskArguments, a_mask_on_an_argument_holds_inside_the_trace) {
  random::set_seed(1);
  const Embedding embedding(20, 4, {.mask_zero = true});
  const LSTM lstm(3);
  auto encode = function([&](Tensor x) { return lstm(x); }, {.name = "encode"});
  const Tensor ids = tensor({{3, 4, 5, 0}, {7, 0, 0, 0}}), longer = tensor({{1, 2, 3, 4, 5, 6}, {1, 2, 0, 0, 0, 0}, {9, 9, 9, 0, 0, 0}});
  EXPECT_TRUE(all_close(encode(embedding(ids)), lstm(embedding(ids)), {.relative = 1e-5, .absolute = 1e-6}));
  EXPECT_TRUE(all_close(encode(embedding(longer)), lstm(embedding(longer)), {.relative = 1e-5, .absolute = 1e-6}));
  EXPECT_EQ(encode.stats().traces, 1);

  Embedding unmasked(20, 4);
  unmasked(ids);
  unmasked.set_weights(embedding.weights());
  const RetraceForecast forecast = encode.would_retrace(unmasked(ids));
  EXPECT_TRUE(forecast.retraces);
  EXPECT_FALSE(all_close(encode(unmasked(ids)), lstm(embedding(ids)), {.relative = 1e-3}));
  ASSERT_EQ(encode.stats().traces, 2);
  EXPECT_NE(encode.traces()[1].reason.find("a mask or logits on an argument came or went"), std::string::npos) << encode.traces()[1].reason;
  encode(embedding(longer));
  EXPECT_EQ(encode.stats().traces, 2);
}

TEST(MaskArguments, a_signature_says_nothing_of_masks) {
  random::set_seed(2);
  const Embedding embedding(20, 4, {.mask_zero = true});
  const GlobalAveragePooling1D pool;
  auto mean_of = function([&](Tensor x) { return pool(x); },
                          {.name = "mean_of", .signature = {spec(f32, {dim("batch"), dim("time"), 4}, "x")}, .retrace = Retrace::Forbid});
  for (const Tensor& ids : {tensor({{3, 0}, {4, 5}}), tensor({{1, 2, 0}})}) {
    EXPECT_TRUE(all_close(mean_of(embedding(ids)), pool(embedding(ids))));
  }
  EXPECT_EQ(mean_of.stats().traces, 1);
}

TEST(MaskArguments, logits_on_an_argument_keep_a_loss_exact) {
  const Dense dense(1, {.activation = sigmoid, .kernel_initializer = "ones"});
  const Tensor prediction = dense(tensor({{60.0F}, {-80.0F}})), target = tensor({{0.0F}, {1.0F}});
  auto loss = function([](Tensor y, Tensor p) { return binary_crossentropy()(y, p); }, {.name = "loss"});
  EXPECT_NEAR(loss(target, prediction).item<float>(), 70, 1e-4);  // clipped probabilities would say 16
}

TEST(MaskArguments, the_ledger_says_which_notes_became_which) {
  const Embedding embedding(20, 4, {.mask_zero = true});
  const Dense chosen(3, {.activation = softmax}), likely(3, {.activation = sigmoid});
  const Tensor masked = embedding(tensor({{3, 4, 0}, {7, 0, 0}}));
  auto total = function([](std::vector<Tensor> xs) { return sum(xs[0]); }, {.name = "total"});
  total({masked});
  total({chosen(masked)});
  total({likely(masked)});
  ASSERT_EQ(total.stats().traces, 3);
  EXPECT_EQ(total.traces()[1].reason, "notes of argument 0 ([0]): mask became mask and logits of softmax (nearest: trace 0)");
  EXPECT_EQ(total.traces()[2].reason, "notes of argument 0 ([0]): mask became mask and logits of sigmoid (nearest: trace 0)");
  EXPECT_EQ(total.traces()[1].advice, "A mask or logits on an argument are another trace: give them to all calls or to none.");
  total({chosen(masked)});
  EXPECT_EQ(total.stats().hits, 1);
}

}  // namespace
}  // namespace anyshape
