// Ragged arguments of a signature: their symbols, what a declaration demands of their rows, and the dense inputs they enter a graph as.
#include "function/ragged_arguments.h"

#include "function/signature.h"
#include "shape/dim_node.h"
#include "tensor/partition.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/tensor_list.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::function_detail {

std::vector<Signature::Rows> Signature::rows_of(std::vector<TensorSpec>& specs,
                                                const std::function<std::string(size_t argument)>& name_axis) {
  std::vector<Rows> found;
  for (size_t argument = 0; argument < specs.size(); ++argument) {
    Shape& shape = specs[argument].shape;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (!shape[axis].is_ragged()) continue;
      if (axis != 1) {
        throw ArgumentError(fmt::format("signature: axis {} of {} is ragged; expected axis 1, behind the rows.", axis,
                                        anyshape::to_string(specs[argument])));
      }
      RaggedAxis ragged = *as_ragged_axis(shape[axis]);
      const auto first = std::ranges::find_if(found, [&](const Rows& other) { return !ragged.name.empty() && other.name == ragged.name; });
      if (first != found.end()) {
        shape[axis] = specs[first->argument].shape[axis];
        Rows shared = *first;
        shared.argument = argument;
        found.push_back(std::move(shared));
        continue;
      }
      if (ragged.name.empty()) ragged.name = name_axis(argument);
      const auto symbol = [&](std::string_view part, const DimOptions& options) {
        return make_symbol(fmt::format("{}.{}", ragged.name, part), options);
      };
      const DimOptions lengths{.min = ragged.options.min, .max = ragged.options.max};
      ragged.shortest = symbol("shortest", {.max = lengths.max});  // 0 where there are no rows
      ragged.longest = symbol("longest", {.max = lengths.max});
      found.push_back({argument, argument, ragged.name, symbol("total", {}), ragged.shortest, ragged.longest});
      shape[axis] = make_ragged_axis(ragged);
    }
  }
  return found;
}

const Signature::Rows* Signature::find_rows(size_t argument) const {
  const auto found = std::ranges::find(rows_, argument, &Rows::argument);
  return found == rows_.end() ? nullptr : &*found;
}

int64_t Signature::Place::read(std::span<const Tensor> arguments) const {
  const TensorImpl& impl = *arguments[argument].impl();
  const RaggedTensor* const ragged = impl.ragged();
  if (ragged == nullptr) return impl.sizes[axis];
  const Partition& partition = *ragged->partition;
  switch (part) {
    case Part::Size: return axis == 0 ? partition.rows.value() : ragged->values.impl()->sizes[axis - 1];
    case Part::Total: return partition.total.value();
    case Part::Shortest: return partition.shortest.value();
    case Part::Longest: return partition.longest->value();
  }
  return 0;
}

std::string Signature::describe_rows(size_t argument) const {
  const Rows& rows = *find_rows(argument);
  const Shape& shape = specs_[argument].shape;
  std::string text = fmt::format("{}[{}, ({}..{})", anyshape::to_string(specs_[argument].dtype), anyshape::to_string(shape[0]),
                                 anyshape::to_string(rows.shortest), anyshape::to_string(rows.longest));
  for (int axis = 2; axis < shape.rank(); ++axis) text += ", " + anyshape::to_string(shape[axis]);
  return fmt::format("{}] of {} elements", text, anyshape::to_string(rows.total));
}

std::string Signature::describe_rows(const Tensor& argument) {
  return fmt::format("{} of {} elements", describe(argument), anyshape::to_string(as_ragged(argument)->partition->total));
}

bool Signature::admits_rows(std::span<const Tensor> arguments, const Rows& rows) const {
  const Partition& partition = *as_ragged(arguments[rows.argument])->partition;
  const DimOptions& options = as_ragged_axis(specs_[rows.argument].shape[1])->options;
  if (partition.rows > 0 && (partition.shortest.value() < options.min || partition.longest->value() > options.max)) return false;
  return rows.first == rows.argument || have_equal_splits(partition, *as_ragged(arguments[rows.first])->partition);
}

void Signature::require_rows(std::span<const Tensor> arguments, const Rows& rows,
                             const std::function<void(size_t, const std::string&)>& refuse) const {
  const Partition& partition = *as_ragged(arguments[rows.argument])->partition;
  const DimOptions& options = as_ragged_axis(specs_[rows.argument].shape[1])->options;
  const int64_t shortest = partition.shortest.value(), longest = partition.longest->value();
  if (partition.rows > 0 && (shortest < options.min || longest > options.max)) {
    refuse(rows.argument, fmt::format("has rows of length {}..{}, outside {}..{}", shortest, longest, options.min,
                                      options.max == Range::infinity ? std::string("any") : fmt::to_string(options.max)));
  }
  if (admits_rows(arguments, rows)) return;
  refuse(rows.argument, fmt::format("has other rows along ({}) than argument {}", rows.name, rows.first));
}

std::vector<TensorSpec> Signature::dense_specs() const {
  std::vector<TensorSpec> result;
  for (size_t i = 0; i < specs_.size(); ++i) {
    const TensorSpec& spec = specs_[i];
    const Rows* rows = find_rows(i);
    if (rows == nullptr) {
      result.push_back(spec);
      continue;
    }
    const std::string name = spec.name.empty() ? fmt::format("argument{}", i) : spec.name;
    Shape values{rows->total};
    for (int axis = 2; axis < spec.shape.rank(); ++axis) values.push_back(spec.shape[axis]);
    result.push_back({spec.dtype, std::move(values), name + ".values"});
    result.push_back({Dtype::i64, {spec.shape[0] + 1}, name + ".splits"});
  }
  return result;
}

std::vector<Tensor> Signature::from_dense(std::span<const Tensor> inputs) const {
  std::vector<Tensor> result;
  size_t next = 0;
  for (size_t i = 0; i < specs_.size(); ++i) {
    const Tensor& values = inputs[next++];
    const Rows* rows = find_rows(i);
    if (rows == nullptr) {
      result.push_back(values);
      continue;
    }
    const Tensor& splits = inputs[next++];
    std::shared_ptr<const Partition> partition;
    if (rows->first == i) {
      partition = make_traced_partition(splits, specs_[i].shape[0], rows->total, rows->shortest, rows->longest, rows->name);
    } else {
      partition = as_ragged(result[rows->first])->partition;
    }
    result.push_back(make_ragged(values, std::move(partition)));
  }
  return result;
}

void append_dense_parts(std::span<const Tensor> tensors, std::vector<Tensor>& parts) {
  for (const Tensor& tensor : tensors) {
    parts.push_back(tensor.values());
    if (tensor.is_ragged()) parts.push_back(tensor.row_splits());
  }
}

std::vector<Tensor> RaggedResults::take_apart(std::vector<Tensor> results, std::span<const Tensor> arguments) {
  results_.clear();
  std::vector<Tensor> parts;
  for (const Tensor& result : results) {
    if (!result.defined() || !result.is_ragged()) {
      parts.push_back(result);
      results_.emplace_back();
      continue;
    }
    const auto& [values, partition] = *as_ragged(result);
    Result shape{.is_ragged = true, .shape = result.shape()};
    for (size_t i = 0; i < arguments.size(); ++i) {
      const RaggedTensor* argument = as_ragged(arguments[i]);
      if (argument != nullptr && argument->partition == partition) shape.argument = i;
    }
    if (partition->is_concrete()) shape.held = partition;
    parts.push_back(values);
    if (shape.brings_splits()) parts.push_back(partition->splits);
    results_.push_back(std::move(shape));
  }
  return parts;
}

std::vector<Tensor> RaggedResults::put_together(std::vector<Tensor> parts, std::span<const Tensor> arguments) const {
  if (std::ranges::none_of(results_, &Result::is_ragged)) return parts;
  std::vector<Tensor> results = detail::take_tensor_list();
  size_t next = 0;
  for (const Result& each : results_) {
    Tensor values = parts[next++];
    if (!each.is_ragged) {
      results.push_back(std::move(values));
      continue;
    }
    std::shared_ptr<const Partition> partition = each.held;
    if (each.argument) partition = as_ragged(arguments[*each.argument])->partition;
    if (each.brings_splits()) partition = make_partition(parts[next++], "function");
    if (values.rank() == 0 || values.impl()->sizes[0] != partition->total.value()) {  // of a trace from a file, which nobody has proved
      throw DataError(fmt::format("function: result {} is {} and has rows of {} elements; expected as many values as its rows have.",
                                  results.size(), describe(values), to_string(partition->total)));
    }
    results.push_back(make_ragged(values, std::move(partition)));
  }
  detail::give_tensor_list(std::move(parts));
  return results;
}

std::vector<TensorSpec> RaggedResults::specs(std::vector<TensorSpec> parts) const {
  std::vector<TensorSpec> results;
  size_t next = 0;
  for (const Result& each : results_) {
    TensorSpec spec = parts[next];
    next += each.is_ragged && each.brings_splits() ? 2 : 1;
    if (each.is_ragged) {
      Shape shape{each.shape[0], each.shape[1]};
      for (int axis = 1; axis < spec.shape.rank(); ++axis) shape.push_back(spec.shape[axis]);
      spec.shape = std::move(shape);
    }
    results.push_back(std::move(spec));
  }
  return results;
}

}  // namespace anyshape::function_detail
