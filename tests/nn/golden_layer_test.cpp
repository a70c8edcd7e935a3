// Every golden case of the registered layers, eagerly and traced: outputs, masks, gradients of inputs and weights, weights afterwards.
#include "nn/golden_layer.h"

#include "nn/named_weights.h"
#include "nn/notes.h"
#include "support/golden_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

namespace anyshape::test {
namespace {

using support::GoldenCase;

std::vector<const GoldenCase*> cases_of_layers() {
  std::vector<const GoldenCase*> found;
  for (const GoldenCase& golden : support::golden_cases()) {
    if (golden.kind == "layer" && golden_layers().contains(golden.op)) found.push_back(&golden);
  }
  return found;
}

TEST(GoldenLayers, none_is_left_out) {
  for (const GoldenCase& golden : support::golden_cases()) {
    if (golden.kind == "layer") EXPECT_TRUE(golden_layers().contains(golden.op)) << golden.op << " in " << golden.name;
  }
}

using Named = std::vector<std::pair<std::string, Tensor>>;

// Everything a case names, under the prefixes of its record: out/, grad/, gradw/, after/.
class CaseRun {
 public:
  explicit CaseRun(const GoldenCase& golden)
      : golden_(golden), description_(golden_layers().at(golden.op)), layer_(description_.make(golden.config)) {
    for (const auto& [name, tensor] : golden.inputs) {
      names_.push_back(name);
      inputs_.push_back(to_tensor(tensor));
    }
    static_cast<void>(outputs(inputs_));  // builds
    set_weights();
  }

  void set_weights() const {
    std::map<std::string, Variable> variables;
    for (const auto& [name, variable] : nn::named_weights(layer_)) variables.emplace(name, variable);
    EXPECT_EQ(variables.size(), golden_.weights.size());
    for (const auto& [name, tensor] : golden_.weights) {
      ASSERT_TRUE(variables.contains(name)) << name << " of " << layer_.type();
      variables.at(name).assign(to_tensor(tensor));
    }
  }

  const std::vector<Tensor>& inputs() const { return inputs_; }

  std::vector<Tensor> outputs(const std::vector<Tensor>& tensors) const {
    std::map<std::string, Tensor> by_name;
    for (size_t i = 0; i < tensors.size(); ++i) by_name.emplace(names_[i], tensors[i]);
    const GoldenCall call{by_name, golden_.call};
    if (description_.call) return description_.call(layer_, call);
    return {layer_(call.masked_x(), {.training = call.flag("training")})};
  }

  // Outputs, then the mask where there is one, then the gradients; `names` says which they are.
  std::vector<Tensor> run(const std::vector<Tensor>& tensors, std::vector<std::string>& names) const {
    names.clear();
    std::vector<Tensor> sources;
    std::vector<std::string> source_names;
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (golden_.gradients.find(names_[i]) == nullptr) continue;
      sources.push_back(tensors[i]);
      source_names.push_back("grad/" + names_[i]);
    }
    GradientTape tape({.persistent = true});
    for (const Tensor& source : sources) tape.watch(source);
    std::vector<Tensor> results = outputs(tensors);
    std::vector<Tensor> losses;
    for (size_t i = 0; i < results.size(); ++i) {
      names.push_back("out/" + std::to_string(i));
      if (const GoldenTensor* upstream = golden_.upstream.find(std::to_string(i))) losses.push_back(sum(results[i] * to_tensor(*upstream)));
    }
    if (const Tensor mask = nn::mask_of(results[0]); mask.defined()) {
      names.emplace_back("out/mask");
      results.push_back(mask);
    }
    if (!sources.empty()) {
      std::ranges::copy(tape.gradient(losses, sources, {.unreached = Unreached::Zeros}), std::back_inserter(results));
      std::ranges::copy(source_names, std::back_inserter(names));
    }
    std::vector<Variable> variables;
    for (const auto& [name, variable] : nn::named_weights(layer_)) {
      if (golden_.weight_gradients.find(name) == nullptr) continue;
      variables.push_back(variable);
      names.push_back("gradw/" + name);
    }
    if (!variables.empty()) {
      std::ranges::copy(tape.gradient(losses, variables, {.unreached = Unreached::Zeros}), std::back_inserter(results));
    }
    return results;
  }

  void compare(const std::vector<Tensor>& got, const std::vector<std::string>& names, const char* how) const {
    std::map<std::string, Tensor> by_name;
    for (size_t i = 0; i < got.size(); ++i) by_name.emplace(names[i], got[i]);
    for (const auto& [name, variable] : nn::named_weights(layer_)) by_name.emplace("after/" + name, variable.read());
    EXPECT_EQ(by_name.contains("out/mask"), golden_.outputs.find("mask") != nullptr) << how << ": the mask that is passed on";
    const std::pair<const char*, const support::GoldenTensors*> groups[] = {
        {"out/", &golden_.outputs}, {"grad/", &golden_.gradients}, {"gradw/", &golden_.weight_gradients}, {"after/", &golden_.after}};
    for (const auto& [prefix, tensors] : groups) {
      for (const auto& [short_name, want] : *tensors) {
        const std::string name = prefix + short_name;
        if (!is_compared(name)) continue;
        ASSERT_TRUE(by_name.contains(name)) << how << ": " << name;
        EXPECT_EQ(support::difference(to_golden(by_name.at(name)), want, golden_.rtol, golden_.atol, left_out(name, want)), "")
            << how << ": " << name;
      }
    }
  }

 private:
  bool is_compared(const std::string& name) const {
    if (!golden_.is_compared(name)) return false;
    return std::ranges::find(description_.decided_otherwise, std::pair(golden_.name, name)) == description_.decided_otherwise.end();
  }

  // Elements where the bool input that compare_where names is false; it lies over the leading axes.
  std::vector<int64_t> left_out(const std::string& name, const GoldenTensor& want) const {
    std::vector<int64_t> elements;
    const Json* const where = golden_.compare_where.find(name);
    if (where == nullptr) return elements;
    const std::vector<uint8_t> mask = golden_.inputs[where->string().substr(std::string("in/").size())].values<uint8_t>();
    const int64_t inner = want.count() / static_cast<int64_t>(mask.size());
    for (int64_t i = 0; i < want.count(); ++i) {
      if (mask[static_cast<size_t>(i / inner)] == 0) elements.push_back(i);
    }
    return elements;
  }

  const GoldenCase& golden_;
  const GoldenLayer& description_;
  AnyLayer layer_;
  std::vector<std::string> names_;
  std::vector<Tensor> inputs_;
};

class GoldenLayerCase : public testing::TestWithParam<const GoldenCase*> {};

TEST_P(GoldenLayerCase, agrees_eagerly_and_traced) {
  const CaseRun run(*GetParam());
  std::vector<std::string> names;
  const std::vector<Tensor> eager = run.run(run.inputs(), names);
  run.compare(eager, names, "eager");
  run.set_weights();
  auto traced =
      function([&](std::vector<Tensor> inputs) { return run.run(inputs, names); }, {.name = GetParam()->name, .check_frozen = false});
  const std::vector<Tensor> compiled = traced(run.inputs());
  run.compare(compiled, names, "traced");
  EXPECT_EQ(traced.stats().traces, 1);
}

std::string name_of(const testing::TestParamInfo<const GoldenCase*>& info) {
  std::string name = info.param->name;
  for (char& letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Goldens, GoldenLayerCase, testing::ValuesIn(cases_of_layers()), name_of);

}  // namespace
}  // namespace anyshape::test
