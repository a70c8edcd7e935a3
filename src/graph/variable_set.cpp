// Reading and committing several variables at once.
#include "graph/variable_set.h"

#include "base/no_fork.h"
#include "tensor/tensor_impl.h"
#include "tensor/view.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace anyshape {

static bool has_same_memory(const TensorImpl& a, const TensorImpl& b) {
  return a.is_strided() && b.is_strided() && a.buffer() != nullptr && a.buffer() == b.buffer() && a.offset == b.offset &&
         is_contiguous(a) && is_contiguous(b);
}

VariableSet::VariableSet(std::vector<std::shared_ptr<VariableState>> variables) : variables_(std::move(variables)) {
  for (const auto& variable : variables_) by_id_.push_back(variable.get());
  std::ranges::sort(by_id_, {}, &VariableState::id);
  by_id_.erase(std::ranges::unique(by_id_).begin(), by_id_.end());
}

void VariableSet::read(std::vector<Tensor>& values) const {
  values.reserve(values.size() + variables_.size());  // what may fail fails before a gate is taken
  for (VariableState* variable : by_id_) variable->gate_.lock_shared();
  for (const auto& variable : variables_) values.push_back(variable->value_);
  for (VariableState* variable : by_id_) variable->gate_.unlock_shared();
}

void VariableSet::Writing::lock() {
  if (locked_) return;
  for (VariableState* variable : variables_.by_id_) variable->gate_.lock();
  locked_ = true;
}

void VariableSet::Writing::unlock() noexcept {
  if (!std::exchange(locked_, false)) return;
  for (VariableState* variable : variables_.by_id_) variable->gate_.unlock();
}

bool VariableSet::Writing::is_last_reader(size_t variable, const Tensor& value) const {
  const std::shared_ptr<const TensorImpl>& impl = variables_.variables_[variable]->value_.impl();
  const Buffer* const buffer = impl->is_strided() ? impl->buffer().get() : nullptr;
  const bool is_own = impl == value.impl() && impl.use_count() == 2 && buffer != nullptr && impl->buffer().use_count() == 1 &&
                      buffer->owner == nullptr && impl->offset == 0 && is_contiguous(*impl);
  std::atomic_thread_fence(std::memory_order_acquire);  // who held it before has read what it wanted
  return is_own;
}

void VariableSet::Writing::swap(std::span<Tensor> values) noexcept {
  for (size_t i = 0; i < values.size(); ++i) {
    Tensor& current = variables_.variables_[i]->value_;
    if (!has_same_memory(*current.impl(), *values[i].impl())) std::swap(current, values[i]);
  }
}

std::vector<Tensor> read_together(std::span<const std::shared_ptr<VariableState>> variables) {
  const NoFork whole;
  std::vector<Tensor> values;
  VariableSet({variables.begin(), variables.end()}).read(values);
  return values;
}

void assign_together(std::span<const std::shared_ptr<VariableState>> variables, std::vector<Tensor> values) {
  for (Tensor& value : values) value = another_handle(value);  // whatever may fail fails here, before the first variable changes
  const VariableSet set({variables.begin(), variables.end()});
  const NoFork whole;
  const VariableSet::Turn turn(set);
  VariableSet::Writing writing(set);
  writing.lock();
  writing.swap(values);
}

}  // namespace anyshape
