// Your own metric: the mean of the shares of each class that are found. Where one class is rare the plain accuracy flatters a model that
// never says it; this one does not. Masks, weights and rows of unequal length are the library's business.
#include <anyshape/anyshape.h>

#include <cstdio>

namespace as = anyshape;
using as::Tensor;

namespace {

class BalancedAccuracy : public as::StreamingMetric {
 public:
  explicit BalancedAccuracy(int64_t classes) : StreamingMetric("balanced_accuracy"), classes_(classes) {}

  void update(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) override {
    const auto [label, scores, weight] = weighed(target, prediction, sample_weight, as::TargetForm::ClassNumbers);
    const Tensor is_class = as::one_hot(as::reshape(label, {-1}), classes_) * as::reshape(weight, {-1, 1});  // [positions, classes]
    const Tensor is_found = as::cast(label == as::argmax(scores, {.axis = -1}), as::f32);
    add(found_, as::sum(is_class * as::reshape(is_found, {-1, 1}), {.axis = 0}));
    add(all_, as::sum(is_class, {.axis = 0}));
  }
  Tensor result() const override { return as::mean(ratio(found_, all_)); }

 private:
  int64_t classes_;
  as::Variable found_ = running_sum("found", {classes_}), all_ = running_sum("all", {classes_});
};

}  // namespace

int main() {
  as::random::set_seed(5);
  const Tensor x = as::random::normal({4000, 6});
  const Tensor is_rare = as::cast(as::sum(x, {.axis = 1}) > 4.5, as::i32);  // one row of thirty

  as::Sequential model(as::Dense(16, {.activation = "relu"}), as::Dense(2, {.activation = "softmax"}));
  model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy", BalancedAccuracy(2)}});
  std::puts("A class that one row of thirty has:\n\n   epoch   accuracy   balanced");
  const as::History history = model.fit(x, is_rare, {.epochs = 12, .verbose = as::Verbose::Silent, .validation_split = 0.25});
  for (size_t epoch = 0; epoch < history["loss"].size(); ++epoch) {
    if (epoch > 1 && epoch % 2 == 0) continue;
    std::printf("   %5zu     %6.3f     %6.3f\n", epoch + 1, history["val_accuracy"][epoch], history["val_balanced_accuracy"][epoch]);
  }
  std::puts("\nAt first the model never says the rare class: 0.5 is what that is worth.");
  return history["val_balanced_accuracy"].back() > history["val_balanced_accuracy"].front() ? 0 : 1;
}
