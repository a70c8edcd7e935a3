// Functions in files: what a function traced is saved, and runs at any size without the C++ that made it.
//   as::save(step, "step.safetensors");
//   as::LoadedFunction loaded = as::load_function("step.safetensors");
//   std::vector<as::Tensor> results = loaded({x, y});
#pragma once
#include <anyshape/function.h>
#include <anyshape/variable.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

namespace detail {

struct SavedFunction;

/// The results of a trace in words: its value, with everything but the tensors, is at `layout`.
using DescribeResults = structure::Description (*)(const void* layout);

/// Where nothing was traced yet, `example` says how a call is made.
void save_function(FunctionCore& core, const FunctionCall* example, DescribeResults describe_results, const std::string& file);

template <class R>
structure::Description describe_results(const void* layout) {
  if constexpr (std::is_void_v<R>) {
    return {};
  } else if constexpr (structure::is_fixed<std::decay_t<R>>) {
    return structure::describe(std::decay_t<R>(), "result");
  } else {
    return structure::describe(*static_cast<const std::decay_t<R>*>(layout), "result");
  }
}

template <class Arg>
inline constexpr bool can_be_made = !std::is_lvalue_reference_v<Arg> || std::is_const_v<std::remove_reference_t<Arg>>;

}  // namespace detail

/// Writes the traces that the function holds to a safetensors file: their graphs, variables, captured tensors, checks, and the structure of
/// arguments and results (docs/guide/saved_functions.md). A function with a signature that was never called is traced for it first; under tapes
/// it traces what no file holds. The file is written whole or not at all. ArgumentError where there is no trace, and where one has what no file
/// can hold.
template <class R, class... Args>
void save(const Function<R(Args...)>& function, const std::string& file) {
  if constexpr ((std::is_default_constructible_v<std::decay_t<Args>> && ...) && (detail::can_be_made<Args> && ...)) {
    const std::tuple<std::decay_t<Args>...> empty;
    std::apply(
        [&](const auto&... each) {
          const detail::TypedCall<R, Args...> call(function.callable(), each...);
          detail::save_function(function.core(), &call, detail::describe_results<R>, file);
        },
        empty);
  } else {
    detail::save_function(function.core(), nullptr, detail::describe_results<R>, file);
  }
}

/// A function from a file. Copies share everything. It has the traces of the file and makes no others: a call that fits none is a SignatureError
/// that lists them. May be called from many threads, inside of traced functions and under tapes, as any Function; what a call needs is compiled
/// when it is first needed.
class LoadedFunction {
 public:
  /// Runs the trace that fits the tensors, in the order of inputs(). The results are those of outputs(). SignatureError where none fits; ShapeError
  /// for sizes that break an op's rule.
  std::vector<Tensor> operator()(std::vector<Tensor> arguments) const;
  /// The same by the names of inputs(). ArgumentError for a name that is missing or unknown.
  std::vector<Tensor> call(const std::map<std::string, Tensor>& arguments) const;

  /// What the first trace takes and gives, with symbolic sizes, and names: `x` of a field or signature, else `argument0`, `result1`.
  ///@{
  std::vector<TensorSpec> inputs() const;
  std::vector<TensorSpec> outputs() const;
  ///@}
  /// The traces of the file, in words: "(x: f32[batch, 3]) with argument 1 (rate) = 0.5".
  std::vector<std::string> traces() const;

  /// All variables, and one by its name in the file; ArgumentError with the near names for an unknown one. They are read, assigned and watched as
  /// any other; a training step that is called assigns them.
  ///@{
  std::vector<Variable> variables() const;
  Variable variable(std::string_view name) const;
  ///@}

  /// Where traces of the file differ in host values among the arguments, a call needs to say which it is for: with({{"argument 1", "true"}}), as
  /// traces() shows them. ArgumentError where no trace has these values.
  LoadedFunction with(const std::map<std::string, std::string>& values) const;

  /// A typed form: loaded.as<Tensor(Tensor, Options)>()(x, options). Arguments are values as in function(), host values among them choose the trace;
  /// results are a Tensor, or tuples, pairs, arrays or structs of tensors, or a std::vector<Tensor>. ArgumentError from a call where the numbers of
  /// tensors differ.
  template <class Signature>
  auto as() const {
    return as_function(std::type_identity<Signature>());
  }

  /// As in Function.
  ///@{
  const std::string& name() const;
  FunctionStats stats() const;
  Ledger ledger() const;
  std::string report() const { return to_text(ledger()); }
  std::string to_json() const { return anyshape::to_json(ledger()); }
  std::string explain(const ExplainOptions& options = {}) const;
  ///@}

  const std::shared_ptr<const detail::SavedFunction>& state() const { return state_; }  ///< what copies share

 private:
  friend LoadedFunction load_function(const std::string& file);
  LoadedFunction(std::shared_ptr<const detail::SavedFunction> state, std::string values);
  std::vector<Tensor> run(std::vector<Tensor> tensors, const std::string& values) const;
  static std::string words_of(std::span<const detail::structure::Part> parts);
  [[noreturn]] void refuse_results(size_t expected, size_t given) const;

  template <class R, class... Args>
  auto as_function(std::type_identity<R(Args...)>) const {
    return [loaded = *this](const std::decay_t<Args>&... arguments) -> R {
      detail::structure::Description all;
      std::vector<Tensor> tensors;
      std::string key;
      detail::structure::Reader reader(tensors, key);
      size_t index = 0;
      auto add = [&](const auto& argument) {
        detail::structure::walk(reader, argument);
        detail::structure::Description one = detail::structure::describe(argument, "argument " + std::to_string(index++));
        for (detail::structure::Part& part : one.parts) all.parts.push_back(std::move(part));
      };
      (add(arguments), ...);
      std::vector<Tensor> results = loaded.run(std::move(tensors), words_of(all.parts));
      if constexpr (std::is_same_v<std::decay_t<R>, std::vector<Tensor>>) {
        return results;
      } else if constexpr (!std::is_void_v<R>) {
        std::decay_t<R> value;
        const size_t expected = detail::structure::flatten(value).size();
        if (expected != results.size()) loaded.refuse_results(expected, results.size());
        return detail::structure::rebuild(std::move(value), std::move(results));
      }
    };
  }

  std::shared_ptr<const detail::SavedFunction> state_;
  std::string values_;  ///< the host values that calls by position are for
};

/// Reads what save() wrote. The file is not trusted: FormatError, with the place, for whatever no save() writes, and for a file of a newer format.
/// Nothing is compiled before it is called.
LoadedFunction load_function(const std::string& file);

/// Writes it again, with the values that its variables have now.
void save(const LoadedFunction& function, const std::string& file);

}  // namespace anyshape
#pragma GCC visibility pop
