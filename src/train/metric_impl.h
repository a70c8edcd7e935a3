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
  MetricImpl(const MetricImpl&) = delete;
  MetricImpl& operator=(const MetricImpl&) = delete;

  virtual void update(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) = 0;
  virtual Tensor result() const = 0;  // f32

  std::shared_ptr<MetricImpl> clone() const;
  void reset() const;
  const std::string& name() const { return name_; }
  void rename(std::string name) { name_ = std::move(name); }
  const std::vector<Variable>& variables() const { return sums_; }

 protected:
  virtual std::shared_ptr<MetricImpl> fresh() const = 0;  // of the same options, with sums of its own

  Variable sum_variable(const Shape& shape, const std::string& name);  // f64, starts at zero: counts stay exact
  static void add(const Variable& sum, const Tensor& batch);
  static Tensor ratio(const Tensor& part, const Tensor& whole);  // 0 where the whole is

 private:
  std::string name_;
  std::vector<Variable> sums_;
};

}  // namespace anyshape
