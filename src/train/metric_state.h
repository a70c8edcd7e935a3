// What a metric and its copies share: name and sums, known by identity.
#pragma once
#include <anyshape/metric.h>
#include <anyshape/registry.h>
#include <anyshape/stateful.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace anyshape {

using detail::MetricState;

struct detail::MetricState final : Identity {
  explicit MetricState(std::string own_name) : Identity("metric"), name(std::move(own_name)) {}
  std::string title() const override { return name; }

  std::string name;
  std::vector<Variable> sums = {};
  std::map<std::string, Tensor> expected = {};    // values that sums begin with which are not made yet: of a training that goes on
  std::shared_ptr<const detail::Made> made = {};  // none: a class of the user's
};

}  // namespace anyshape
