// Gradients of every op where its inputs are zero, equal, at its kinks or at the borders of its domain: finite differences elsewhere avoid
// just these.
#include "autodiff/one_sided.h"
#include "check/sample_calls.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>

namespace anyshape::check {
namespace {

double draw_special(Random& random, const Domain& domain) {
  std::vector<double> specials = domain.kinks;
  const double least = std::max(domain.low, domain.least), most = std::min(domain.high, domain.most);
  for (const double value : {0.0, -0.0, 1.0, -1.0}) {
    if (value >= least && value <= most && (value != 0 || domain.zeros)) specials.push_back(value);
  }
  return specials.empty() || random.chance(30) ? draw_smooth(random, domain) : random.pick(specials);
}

// Few different numbers, so that many are equal.
Tensor draw_specials(Random& random, const InputPlan& plan) {
  const double some[] = {draw_special(random, plan.domain), draw_special(random, plan.domain), draw_special(random, plan.domain)};
  Flat flat{Dtype::f64, plan.sizes, {}};
  for (int64_t k = count_of(flat.sizes); k > 0; --k) flat.values.push_back(some[random.below(3)]);
  return to_tensor(flat);
}

class Kinks : public testing::TestWithParam<const OpSample*> {};

TEST_P(Kinks, have_gradients_between_the_slopes_on_both_sides) {
  const OpSample& sample = *GetParam();
  Random random(5);
  random.elements = 12;
  random.largest = 3;
  random.smooth = true;
  for (int shape = 0; shape < std::max(8, 2 * sample.cases) && !HasFailure(); ++shape) {
    const int number = shape % sample.cases;
    std::vector<Tensor> inputs;
    const std::vector<InputPlan> plans = sample.inputs(random, Dtype::f64, number);
    for (size_t i = 0; i < plans.size(); ++i) {
      const bool is_tried = std::ranges::find(sample.differentiable, static_cast<int>(i)) != sample.differentiable.end();
      inputs.push_back(is_tried ? draw_specials(random, plans[i]) : draw_tensor(random, plans[i].dtype, plans[i].sizes, plans[i].domain));
    }
    SCOPED_TRACE(describe(f64, number, inputs));
    const auto f = [&](const std::vector<Tensor>& given) { return weighted_outputs(sample, number, inputs, given); };
    expect_between_one_sided_slopes(f, differentiable_inputs(sample, inputs));
  }
}

// Of three equal numbers the middle one keeps its place among the sorted, and moves to either end when it alone is moved.
bool orders(const OpSample& sample) { return sample.name.find("sort") != std::string::npos || sample.name == "top_k"; }

std::vector<const OpSample*> differentiable() {
  std::vector<const OpSample*> found;
  for (const OpSample& sample : all_samples()) {
    if (!sample.differentiable.empty() && !orders(sample)) found.push_back(&sample);
  }
  return found;
}

INSTANTIATE_TEST_SUITE_P(Ops, Kinks, testing::ValuesIn(differentiable()), [](const testing::TestParamInfo<const OpSample*>& info) {
  std::string name = info.param->name;
  for (char& letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  }
  return name;
});

}  // namespace
}  // namespace anyshape::check
