// The namespaces of families: the same things under a longer name, and all of them.
#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <type_traits>

namespace anyshape::test {
namespace {

static_assert(std::is_same_v<layers::Dense, Dense> && std::is_same_v<layers::LSTM, LSTM> && std::is_same_v<layers::Layer, Layer>);
static_assert(std::is_same_v<losses::Loss, Loss> && std::is_same_v<metrics::Metric, Metric>);
static_assert(std::is_same_v<optimizers::Optimizer, Optimizer> && std::is_same_v<schedules::Schedule, Schedule>);

TEST(Families, are_the_same_functions) {
  EXPECT_EQ(&losses::huber, &huber);
  EXPECT_EQ(&metrics::auc, &auc);
  EXPECT_EQ(&optimizers::adam, &adam);
  EXPECT_EQ(&schedules::cosine_decay, &cosine_decay);
  EXPECT_EQ(&initializers::he_normal, &he_normal);
  EXPECT_EQ(&regularizers::l2, &l2);
  EXPECT_EQ(losses::mape().config(), mean_absolute_percentage_error().config());
  EXPECT_EQ(losses::msle().config(), mean_squared_logarithmic_error().config());
  Sequential model(layers::Dense(1, {.kernel_initializer = initializers::constant(2), .kernel_regularizer = regularizers::l2(0.1)}));
  model.compile({.optimizer = optimizers::sgd({.learning_rate = schedules::exponential_decay(0.1, 10, 0.5)}),
                 .loss = losses::huber(),
                 .metrics = {metrics::root_mean_squared_error()}});
  EXPECT_EQ(model.fit(ones({4, 2}), ones({4, 1}), {.verbose = Verbose::Silent}).names(),
            (std::vector<std::string>{"loss", "root_mean_squared_error"}));
}

// What Keras has under a name that is something else here.
TEST(Families, have_the_names_of_keras) {
  EXPECT_EQ(initializers::zeros()({2, 2}).to_vector<float>(), (std::vector<float>{0, 0, 0, 0}));
  EXPECT_EQ(initializers::ones()({2, 2}).to_vector<float>(), (std::vector<float>{1, 1, 1, 1}));
  EXPECT_EQ(initializers::identity(3)({2, 2}).to_vector<float>(), (std::vector<float>{3, 0, 0, 3}));
  EXPECT_EQ(ActivationFunction(activations::exponential).name(), "exponential");
  EXPECT_EQ(ActivationFunction(activations::swish).name(), "silu");
}

std::string text_of_header(const std::string& name) {
  std::ifstream file(ANYSHAPE_HEADERS "/" + name);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> found(const std::string& text, const std::string& pattern) {
  const std::regex rule(pattern, std::regex::multiline);
  std::set<std::string> names;
  for (std::sregex_iterator each(text.begin(), text.end(), rule), end; each != end; ++each) names.insert((*each)[1].str());
  return names;
}

// Every function of a header that gives such a thing, and every layer, is in its family.
TEST(Families, are_whole) {
  const std::string families = text_of_header("families.h");
  const auto expect_all = [&](const std::string& family, const std::string& header, const std::string& pattern) {
    const size_t begin = families.find("namespace anyshape::" + family + " {"), end = families.find("}  // namespace anyshape::" + family);
    ASSERT_TRUE(begin != std::string::npos && end != std::string::npos) << family;
    const std::set<std::string> listed = found(families.substr(begin, end - begin), "^using anyshape::(\\w+);");
    const std::set<std::string> declared = found(text_of_header(header), pattern);
    EXPECT_FALSE(declared.empty()) << header;
    for (const std::string& name : declared) {
      EXPECT_TRUE(listed.contains(name)) << name << " of " << header << " is not in " << family << ": add it to families.h";
    }
  };
  expect_all("losses", "loss.h", "^(?:inline )?Loss (\\w+)\\(");
  expect_all("metrics", "metric.h", "^Metric (\\w+)\\(");
  expect_all("optimizers", "optimizer.h", "^Optimizer (\\w+)\\(");
  expect_all("schedules", "schedule.h", "^Schedule (\\w+)\\(");
  expect_all("initializers", "initializer.h", "^Initializer (\\w+)\\(");
  expect_all("regularizers", "regularizer.h", "^Regularizer (\\w+)\\(");
  expect_all("callbacks", "callback.h", "^class (\\w+) : public Callback");
  expect_all("activations", "activation.h", "^ActivationFunction (\\w+)\\(");
  for (const char* header : {"layers/augmentation.h", "layers/core.h", "layers/image.h", "layers/normalization.h", "layers/sequence.h"}) {
    expect_all("layers", header, "^class (\\w+) : public \\w*Layer");
  }
}

// Every function of a header that gives such a thing can be made by its name, but for those that are told.
TEST(Families, are_registered) {
  const auto expect_all = [](const Registry& registry, const std::string& header, const std::string& pattern,
                             const std::set<std::string>& but) {
    const std::vector<std::string> names = registry.names();
    std::set<std::string> declared = found(text_of_header(header), pattern);
    EXPECT_FALSE(declared.empty()) << header;
    for (const std::string& name : but) EXPECT_EQ(declared.erase(name), 1U) << name << " is no exception any more";
    for (const std::string& name : declared) {
      EXPECT_TRUE(std::ranges::find(names, name) != names.end())
          << name << " of " << header << " is not registered as a " << registry.kind();
    }
  };
  expect_all(registry_of<Loss>(), "loss.h", "^(?:inline )?Loss (\\w+)\\(", {});
  expect_all(registry_of<Metric>(), "metric.h", "^Metric (\\w+)\\(", {"mean_metric"});         // takes a callable
  expect_all(registry_of<Optimizer>(), "optimizer.h", "^Optimizer (\\w+)\\(", {"optimizer"});  // takes a rule
  expect_all(registry_of<Schedule>(), "schedule.h", "^Schedule (\\w+)\\(", {});
  expect_all(registry_of<Initializer>(), "initializer.h", "^Initializer (\\w+)\\(", {"identity_matrix"});  // "identity", as in Keras
  expect_all(registry_of<Regularizer>(), "regularizer.h", "^Regularizer (\\w+)\\(", {});
  expect_all(registry_of<ActivationFunction>(), "activation.h", "^ActivationFunction (\\w+)\\(", {});
  expect_all(registry_of<ActivationFunction>(), "ops/neural.h", "^Tensor (\\w+)\\(const Tensor& x\\);", {"logsumexp"});  // takes axes away
  expect_all(registry_of<AnyCallback>(), "callback.h", "^class (\\w+) : public Callback", {});
  expect_all(registry_of<AnyLayer>(), "layers/augmentation.h", "^class (\\w+) : public \\w*Layer", {});
  expect_all(registry_of<AnyLayer>(), "layers/image.h", "^class (\\w+) : public \\w*Layer", {});
  expect_all(registry_of<AnyLayer>(), "layers/core.h", "^class (\\w+) : public \\w*Layer", {});
  expect_all(registry_of<AnyLayer>(), "layers/normalization.h", "^class (\\w+) : public \\w*Layer", {});
  expect_all(registry_of<AnyLayer>(), "layers/sequence.h", "^class (\\w+) : public \\w*Layer", {"Cell", "RecurrentLayer"});  // bases
}

}  // namespace
}  // namespace anyshape::test
