// A metric behind its handle: sums kept in variables, so that updating them is part of a traced step.
#pragma once
#include <anyshape/metric.h>

#include <memory>
#include <string>
#include <vector>

namespace anyshape {

class MetricImpl {
 public:
  explicit MetricImpl(std::string name) : name_(std::move(name)) {}
  virtual ~MetricImpl() = default;
  MetricImpl& operator=(const MetricImpl&) = delete;

  virtual void update(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) = 0;
  virtual Tensor result() const = 0;
  virtual std::shared_ptr<MetricImpl> clone() const = 0;  // with fresh sums

  void reset() const;
  const std::string& name() const { return name_; }
  void rename(std::string name) { name_ = std::move(name); }
  const std::vector<Variable>& variables() const { return sums_; }

 protected:
  MetricImpl(const MetricImpl& other) = default;
  Variable sum_variable(const Shape& shape, const std::string& name);  // starts at zero

 private:
  std::string name_;
  std::vector<Variable> sums_;
};

}  // namespace anyshape
