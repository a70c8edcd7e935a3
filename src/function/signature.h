// Arguments against specs: which sizes are symbols, what they are bound to by a call, and what to say where they do not fit.
#pragma once
#include "shape/dim_program.h"
#include "shape/evaluate.h"

#include <anyshape/function.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace anyshape::function_detail {

// The tensor arguments of a trace with their sizes as symbols.
class Signature {
 public:
  // As declared: equal names are one symbol, `dynamic` is a fresh one. ArgumentError for what no call could bind.
  static Signature declared(const std::vector<TensorSpec>& specs);
  // For a call without a declaration: every size of every argument is a symbol of its own. It has the name of the field that the argument
  // stands in (`ids0` of "argument 1 (ids)", as detail::structure::Description names it); an argument without one has a letter, `a0`.
  static Signature open(std::span<const Tensor> arguments, std::span<const std::string> places = {});

  // The same with some symbols replaced by numbers: one entry per symbol, in the order of symbols().
  using KnownSizes = std::vector<std::optional<int64_t>>;
  Signature with_known(KnownSizes sizes) const;

  const std::vector<TensorSpec>& specs() const { return specs_; }  // one per argument of the call

  // A ragged argument enters a graph as two dense inputs, its values and its splits.
  bool has_ragged() const { return !rows_.empty(); }
  std::vector<TensorSpec> dense_specs() const;
  std::vector<Tensor> from_dense(std::span<const Tensor> inputs) const;  // the arguments, made of a trace's inputs
  const std::vector<Dim>& symbols() const { return symbols_; }
  bool fits_kinds(std::span<const Tensor> arguments) const;  // dtypes, ranks and which are ragged
  bool fits_known(std::span<const Tensor> arguments) const;  // numbers instead of symbols; the arguments fit by kind
  // Of one argument: how many of its sizes are other numbers than this signature's, those of its rows included; and its rows in words.
  int changed_sizes(size_t argument, std::span<const Tensor> arguments) const;
  std::string describe_rows(size_t argument) const;          // "f32[3, (1..4)] of 9 elements"
  static std::string describe_rows(const Tensor& argument);  // likewise
  const KnownSizes& known() const { return known_; }         // as given to with_known; empty where that was not called

  // The symbols' values by the arguments' sizes, in the order of symbols(). The arguments fit by kind.
  void bind(std::span<const Tensor> arguments, std::vector<int64_t>& values) const;
  Bindings bindings(std::span<const int64_t> values) const;
  // Whether the arguments are within what was declared, number, rank, size, range: integer compares only.
  bool admits(std::span<const Tensor> arguments) const;
  // SignatureError where they are not.
  void require(std::span<const Tensor> arguments, const detail::FunctionCall& call, const std::string& function) const;
  // By the declaration's name where it has one, else by its place in the call: `argument 0 (x)`, `argument 0 (batch.ids)`.
  std::string argument_name(size_t tensor, const std::string& place) const;
  std::string to_string() const;  // "(x: f32[rows, cols])"

  // What a file holds of it.
  struct Parts;
  Parts parts() const;
  // ArgumentError where a part says what no signature is. Every size of a call is compared with what is said here.
  static Signature of_parts(Parts parts);

 private:
  // The rows of a ragged argument. Equal names in a declaration are one partition: that of the first argument that has it.
  struct Rows {
    size_t argument;
    size_t first;
    std::string name;
    Dim total, shortest, longest;
  };
  Signature(std::vector<TensorSpec> specs, std::vector<Rows> rows);
  // Gives every ragged axis its symbols; `name_axis` names one that has no name. ArgumentError where a ragged axis is not axis 1.
  static std::vector<Rows> rows_of(std::vector<TensorSpec>& specs, const std::function<std::string(size_t argument)>& name_axis);
  const Rows* find_rows(size_t argument) const;  // null for a dense argument
  bool admits_rows(std::span<const Tensor> arguments, const Rows& rows) const;
  void require_rows(std::span<const Tensor> arguments, const Rows& rows,
                    const std::function<void(size_t, const std::string&)>& refuse) const;

  enum class Part : uint8_t { Size, Total, Shortest, Longest };
  struct Place {
    int argument;
    int axis;
    Part part = Part::Size;

    int64_t read(std::span<const Tensor> arguments) const;
  };
  void plan_sizes();
  void add_symbol(const Dim& size, const Place& place);  // unless it is a number or there already
  std::vector<TensorSpec> specs_;
  std::vector<Rows> rows_;
  std::vector<Dim> symbols_;
  std::vector<Place> places_;  // where each symbol's value is read
  struct Size {
    Place place;
    int slot;  // of its value in `sizes_`
  };
  DimProgram sizes_;
  std::vector<Size> dense_sizes_;
  KnownSizes known_;
  struct Fixed {
    Place place;
    int64_t size;
  };
  std::vector<Fixed> fixed_;  // what is known, for the comparison at every call
  bool admits_all_ = false;   // fits_known() asks admits(), too: no declaration has been held against the call
};

// Ragged arguments have a ragged axis of their name in `specs`; its sizes are symbols or numbers.
struct Signature::Parts {
  struct Ragged {
    size_t argument = 0;
    size_t first = 0;  // the first argument with the same rows
    Dim total, shortest, longest;
  };
  std::vector<TensorSpec> specs;
  std::vector<Ragged> ragged;
};

}  // namespace anyshape::function_detail
