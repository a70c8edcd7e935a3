// The callable of a function from a file: its graph, op by op through bind(). So it runs inside of other traces, and tapes follow it.
#pragma once
#include "saved/saved_function.h"

namespace anyshape::saved {

class ReplayCall final : public detail::FunctionCall {
 public:
  // `key` chooses among traces by host values.
  ReplayCall(const detail::SavedFunction& function, std::string key) : function_(function), key_(std::move(key)) {}

  detail::FunctionResults run(std::span<const Tensor> tensors) const override;
  std::string key() const override { return key_; }
  detail::structure::Description describe() const override;

 private:
  const detail::SavedFunction& function_;
  std::string key_;
};

}  // namespace anyshape::saved
