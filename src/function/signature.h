// Arguments against specs: which sizes are symbols, what they are bound to by a call, and what to say where they do not fit.
#pragma once
#include "shape/evaluate.h"

#include <anyshape/function.h>

#include <optional>
#include <string>
#include <vector>

namespace anyshape::function_detail {

// The tensor arguments of a trace with their sizes as symbols.
class Signature {
 public:
  // As declared: equal names are one symbol, `dynamic` is a fresh one. ArgumentError for what no call could bind.
  static Signature declared(const std::vector<TensorSpec>& specs);
  // For a call without a declaration: every size of every argument is a symbol of its own.
  static Signature open(std::span<const Tensor> arguments);

  // The same with some symbols replaced by numbers: one entry per symbol, in the order of symbols().
  using KnownSizes = std::vector<std::optional<int64_t>>;
  Signature with_known(KnownSizes sizes) const;

  const std::vector<TensorSpec>& specs() const { return specs_; }
  const std::vector<Dim>& symbols() const { return symbols_; }
  bool fits_kinds(std::span<const Tensor> arguments) const;  // dtypes and ranks
  bool fits_known(std::span<const Tensor> arguments) const;  // numbers in the place of symbols; the arguments fit by kind
  const KnownSizes& known() const { return known_; }         // as given to with_known; empty where that was not called

  // The symbols' values by the arguments' sizes, in the order of symbols(). The arguments fit by kind.
  void bind(std::span<const Tensor> arguments, std::vector<int64_t>& values) const;
  Bindings bindings(std::span<const int64_t> values) const;
  // SignatureError where an argument is outside what was declared: number, rank, size, range.
  void require(std::span<const Tensor> arguments, const FunctionCall& call, const std::string& function) const;
  // By the declaration's name where it has one, else by its place in the call: `argument 0 (x)`, `argument 0 (batch.ids)`.
  std::string argument_name(size_t tensor, const std::string& place) const;
  std::string to_string() const;  // "(x: f32[rows, cols])"

 private:
  explicit Signature(std::vector<TensorSpec> specs);
  struct Place {
    int argument;
    int axis;
  };
  std::vector<TensorSpec> specs_;
  std::vector<Dim> symbols_;
  std::vector<Place> places_;  // where each symbol's value is read
  KnownSizes known_;
  struct Fixed {
    Place place;
    int64_t size;
  };
  std::vector<Fixed> fixed_;  // what is known, for the comparison at every call
};

}  // namespace anyshape::function_detail
