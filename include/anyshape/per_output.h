// Lists of values for the outputs of a model: {"mse", "mae"} by position, {{"price", "mse"}, {"kind", "mae"}} by name.
#pragma once
#include <concepts>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

/// A value for one output, or without a name for the output at its index.
template <class Value>
struct ForOutput {
  template <class Given>
    requires(!std::derived_from<std::remove_cvref_t<Given>, ForOutput>) && std::convertible_to<Given, Value>
  ForOutput(Given&& given) : value(static_cast<Value>(std::forward<Given>(given))) {}
  ForOutput(std::string name, Value given) : output(std::move(name)), value(std::move(given)) {}

  std::string output = {};
  Value value;
};

/// Values for the outputs of a model, each by position or by name.
template <class Value>
class PerOutput {
 public:
  PerOutput() = default;
  PerOutput(std::initializer_list<ForOutput<Value>> entries) : entries_(entries) {}
  explicit PerOutput(std::vector<ForOutput<Value>> entries) : entries_(std::move(entries)) {}
  PerOutput(const std::vector<Value>& values) : entries_(values.begin(), values.end()) {}

  /// The entries, in the order in which they are given.
  ///@{
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  ///@}

 private:
  std::vector<ForOutput<Value>> entries_;
};

}  // namespace anyshape
#pragma GCC visibility pop
