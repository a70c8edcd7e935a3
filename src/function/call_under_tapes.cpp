// Calls under tapes: a trace that keeps what gradients need, or, where the tapes follow nothing of the call, any trace that fits.
#include "base/log.h"
#include "base/no_fork.h"
#include "base/thread_object.h"
#include "function/function_state.h"
#include "function/ragged_arguments.h"
#include "graph/bind.h"
#include "tensor/tensor_impl.h"

#include <anyshape/error.h>

#include <algorithm>

namespace anyshape {

using function_detail::Entry;

namespace {

bool is_followed(const function_detail::Trace& trace) {
  const Interpreter& tapes = current_interpreter();
  return std::ranges::any_of(trace.variables, [&](const auto& variable) { return tapes.tracks(*variable); }) ||
         std::ranges::any_of(trace.captures, [&](const Tensor& tensor) { return tapes.tracks(tensor); });
}

bool any_followed(std::span<const Tensor> tensors) {
  const Interpreter& tapes = current_interpreter();
  return std::ranges::any_of(tensors, [&](const Tensor& tensor) { return tapes.tracks(tensor.values()); });
}

}  // namespace

std::string function_detail::key_under_tapes(const std::string& key, std::span<const Tensor> tensors) {
  const Interpreter& tapes = current_interpreter();
  std::string all = key + "\ntape ";
  for (const Tensor& tensor : tensors) all += tapes.tracks(tensor.values()) ? '1' : '0';
  return all;
}

FunctionResults FunctionCore::State::serve_under_tapes(std::vector<Tensor> tensors, const std::string& key, const FunctionCall& call) {
  std::vector<int64_t> values;
  Entry found;  // ends outside, as in serve()
  {
    const NoFork whole;
    found = find_unfollowed(tensors, key, values);
    if (found) return run_counted(*found, true, std::move(tensors), values);
  }
  const std::string taped_key = function_detail::key_under_tapes(key, tensors);
  if (is_op_by_op(tensors, taped_key)) return run_op_by_op(tensors, call);
  {
    const NoFork whole;
    found = find(tensors, taped_key, values);
    if (found) return run_counted(*found, true, std::move(tensors), values);
  }
  const auto [entry, hit] = find_or_make(tensors, taped_key, call, values, true);
  if (entry == nullptr) return run_op_by_op(tensors, call);
  const NoFork whole;
  return run_counted(*entry, hit, std::move(tensors), values);
}

Entry FunctionCore::State::find_unfollowed(std::span<const Tensor> tensors, const std::string& key, std::vector<int64_t>& values) const {
  if (any_followed(tensors)) return nullptr;
  Entry found = find(tensors, key, values);
  return found == nullptr || is_followed(found->trace()) ? nullptr : found;
}

bool FunctionCore::State::is_op_by_op(std::span<const Tensor> tensors, const std::string& key) const {
  const std::scoped_lock lock(op_by_op_mutex_);
  return !op_by_op_.empty() && op_by_op_.contains(flight_kind(tensors, key));
}

bool FunctionCore::State::differentiate(function_detail::TapedTrace& taped, function_detail::Trace& trace, std::span<const Tensor> tensors,
                                        const std::string& key) {
  std::vector<Tensor> parts;
  function_detail::append_dense_parts(tensors, parts);
  try {
    taped.settle(parts);
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {  // what eager ops can do for a tape and a graph cannot, or a gradient that nobody may ask for
    const std::scoped_lock lock(op_by_op_mutex_);
    op_by_op_.insert(flight_kind(tensors, key));
    return false;
  }
  function_detail::Trace forward = taped.forward();
  forward.ragged = std::move(trace.ragged);
  forward.notes = std::move(trace.notes);
  trace = std::move(forward);
  return true;
}

}  // namespace anyshape
