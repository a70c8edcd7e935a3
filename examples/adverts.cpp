// Two inputs, two outputs: adverts of homes are words and numbers; the model says what the home costs and of which kind it is. Some adverts
// name no price, and some kinds are only guessed: each output weighs its own rows, so that every advert teaches what it knows.
#include <anyshape/anyshape.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

namespace as = anyshape;
using as::Tensor;

namespace {

const std::vector<std::string> words = {"sunny",   "quiet", "central", "garden", "garage", "attic",
                                        "balcony", "lift",  "shared",  "loft",   "noisy",  "old"};
const std::vector<std::string> kinds = {"house", "flat", "room"};

// What is known of homes: their words, area and number of rooms, and what is to be learned of them.
struct Adverts {
  std::vector<std::vector<int32_t>> text;
  std::vector<float> numbers, price, price_known, kind_certainty;
  std::vector<int32_t> kind;
  int64_t count() const { return static_cast<int64_t>(text.size()); }
};

class Numbers {  // the same ones on every machine
 public:
  int32_t below(int32_t limit) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int32_t>((state_ >> 33U) % static_cast<uint64_t>(limit));
  }

 private:
  uint64_t state_ = 7;
};

Adverts make_adverts(int64_t count) {
  Adverts all;
  Numbers draw;
  for (int64_t i = 0; i < count; ++i) {
    const int32_t kind = draw.below(3), area = kind == 2 ? 12 + draw.below(20) : 40 + draw.below(120), rooms = kind == 2 ? 1 : area / 25;
    std::vector<int32_t>& text = all.text.emplace_back();
    for (int32_t left = 2 + draw.below(4); left > 0; --left) {
      const bool tells_kind = draw.below(2) == 0;  // garden, garage, attic; balcony, lift; shared
      text.push_back(tells_kind ? std::vector{3 + draw.below(3), 6 + draw.below(2), 8}[static_cast<size_t>(kind)]
                                : std::vector{0, 1, 2, 9, 10, 11}[static_cast<size_t>(draw.below(6))]);
    }
    const auto times = [&](int32_t word) { return static_cast<float>(std::ranges::count(text, word)); };
    const float thousands = 3.0F * static_cast<float>(area) * (1 + 0.25F * times(2) + 0.1F * times(0) - 0.15F * times(10));
    const bool is_known = draw.below(4) != 0, is_guess = draw.below(5) == 0;
    all.numbers.insert(all.numbers.end(), {static_cast<float>(area) / 100, static_cast<float>(rooms)});
    all.price.push_back(is_known ? thousands / 100 : 0);
    all.price_known.push_back(is_known ? 1.0F : 0.0F);
    all.kind.push_back(is_guess ? draw.below(3) : kind);
    all.kind_certainty.push_back(is_guess ? 0.2F : 1.0F);
  }
  return all;
}

as::Model make_model() {
  const Tensor text = as::input({as::dynamic}, {.name = "text", .dtype = as::i32, .ragged = true});
  const Tensor numbers = as::input({2}, {.name = "numbers"});
  const Tensor read = as::GlobalAveragePooling1D()(as::Embedding(static_cast<int64_t>(words.size()), 16)(text));
  const Tensor home = as::Dense(32, {.activation = "relu"})(as::Concatenate()({read, numbers}));
  return as::Model({.inputs = {text, numbers},
                    .outputs = {{"price", as::Dense(1)(as::Dense(16, {.activation = "relu"})(home))},
                                {"kind", as::Dense(3, {.activation = "softmax"})(home)}},
                    .name = "adverts"});
}

}  // namespace

int main() {
  as::random::set_seed(1);
  const Adverts adverts = make_adverts(3000);
  const int64_t count = adverts.count();
  const as::Data x = {{"text", as::ragged(adverts.text)}, {"numbers", as::tensor(adverts.numbers, {count, 2})}};
  const as::Data y = {{"price", as::tensor(adverts.price, {count, 1})}, {"kind", as::tensor(adverts.kind)}};

  as::Model model = make_model();
  std::cout << model.summary() << "\n";
  model.compile({.optimizer = as::adam({.learning_rate = 0.005}),
                 .metrics = {{"kind", "accuracy"}},
                 .losses = {{"price", "mse"}, {"kind", "sparse_categorical_crossentropy"}},
                 .loss_weights = {{"price", 0.5}},
                 .weighted_metrics = {{"price", "mae"}}});

  std::puts("epoch     loss   price_loss   kind_loss   price_mae   kind_accuracy   (of adverts kept for validation)");
  const as::History history = model.fit(
      x, y,
      {.epochs = 25,
       .verbose = as::Verbose::Silent,
       .callbacks = {as::LambdaCallback({.on_epoch_end =
                                             [](as::Model&, int64_t epoch, const as::Scores& scores) {
                                               if (epoch % 6 != 0) return;
                                               std::printf("%5lld   %6.3f   %10.3f   %9.3f   %9.3f   %13.3f\n",
                                                           static_cast<long long>(epoch + 1), scores["val_loss"], scores["val_price_loss"],
                                                           scores["val_kind_loss"], scores["val_price_mae"], scores["val_kind_accuracy"]);
                                             }})},
       .validation_split = 0.2,
       .sample_weight = {{"price", as::tensor(adverts.price_known)}, {"kind", as::tensor(adverts.kind_certainty)}}});

  std::puts("\nThree adverts nobody has seen, in thousands:");
  const as::Outputs found = model.predict_outputs(
      {{"text", as::ragged<int32_t>({{2, 7, 0}, {3, 4, 10}, {8}})}, {"numbers", as::tensor({{0.8F, 3.0F}, {1.4F, 5.0F}, {0.2F, 1.0F}})}});
  const std::vector<int64_t> kind = as::cast(as::argmax(found["kind"], {.axis = -1}), as::i64).to_vector<int64_t>();
  const char* const texts[] = {"central lift sunny, 80 m2", "garden garage noisy, 140 m2", "shared, 20 m2"};
  for (int i = 0; i < 3; ++i) {
    std::printf("   %-28s   %-5s   %4.0f\n", texts[i], kinds[static_cast<size_t>(kind[static_cast<size_t>(i)])].c_str(),
                100 * found["price"].item<float>(i, 0));
  }
  std::printf("\n%lld trace of the training step.\n", static_cast<long long>(model.train_step().stats().traces));
  return history["val_price_mae"].back() < 0.25 && history["val_kind_accuracy"].back() > 0.8 ? 0 : 1;
}
