// An op is data in one place: its rules for dtypes, shapes, gradients and loops. Passes and interpreters ask these, never the name.
#pragma once
#include "graph/attrs.h"
#include "graph/op_traits.h"
#include "shape/prove.h"
#include "shape/size_check.h"

#include <anyshape/spec.h>
#include <anyshape/tensor.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace anyshape {

namespace loop {
struct Value;
enum class Combine : uint8_t;
}  // namespace loop
class ElementCall;  // loop/element.h
class LowerCall;    // loop/element.h

struct OpDef;

enum class OpKind : uint8_t {
  Elementwise,  // output element i needs element i of each (broadcast) input
  Reduce,       // combines elements along axes
  Movement,     // output elements are input elements from elsewhere
  Contraction,  // products summed over an axis
  Index,        // where to read or write is data
  Random,
  Source,  // no inputs: constants, sizes, fills
  Control,
  Opaque,
};

// What `bind` does with a ragged input.
enum class RaggedPolicy : uint8_t {
  Values,  // runs the op on the values; dense operands broadcast with the padded view
  PerRow,  // calls the op's ragged rule
  Refuse,  // ShapeError that names to_padded
};

// A call with at least one ragged input. Axes in the attributes are those of the padded view: 0 the rows, 1 the ragged one.
struct RaggedCall {
  const OpDef& op;
  std::span<const Tensor> inputs;
  const Attrs& attrs;
};
using RaggedRule = std::vector<Tensor> (*)(const RaggedCall& call);

// A size rule that is not proved yet, with the text to show should it fail.
struct OpCheck {
  SizeCheck check;
  std::string what;      // "inner sizes differ"
  std::string expected;  // "a.shape[-1] == b.shape[-2]"
};

// A size that an op finds in its data: a fresh symbol and what it cannot exceed. The op's last input decides it, and
// its last output, an i64 scalar, holds its value.
struct MadeSize {
  Dim symbol;
  Dim bound;
};

// A call as the rules see it: inputs already cast to the dtypes of the dtype rule.
class OpCall {
 public:
  OpCall(const OpDef& op, std::span<const TensorSpec> inputs, const Attrs& attrs, const Facts* facts = nullptr)
      : op(op), inputs(inputs), attrs(attrs), facts(facts) {}

  const OpDef& op;
  std::span<const TensorSpec> inputs;
  const Attrs& attrs;
  const Facts* facts;           // what is known of sizes at this place; null outside a trace
  std::vector<OpCheck> checks;  // what the shape rule could not prove
  std::optional<MadeSize> made;

  const Shape& shape(int input) const { return inputs[input].shape; }
  template <class A>
  const A& attrs_as() const {
    return attrs.as<A>();
  }
  // Provably wrong: ShapeError. Open: a check.
  void require(SizeCheck check, std::string_view what, std::string_view expected);
  [[noreturn]] void fail(std::string_view what, std::string_view expected) const;           // ShapeError
  [[noreturn]] void fail_dtype(std::string_view what, std::string_view expected) const;     // DtypeError
  [[noreturn]] void fail_argument(std::string_view what, std::string_view expected) const;  // ArgumentError
  int axis(int64_t axis, int rank) const;  // negative counts from the end; ShapeError outside
  // Both (all) input shapes broadcast together, rule of NumPy.
  Shape broadcast();
  Dim make_size(const Dim& bound);      // for a data-dependent size; at most one per call
  std::string describe_inputs() const;  // "a is f32[batch, 784], b is f32[100, 10]"
};

using Specs = std::vector<TensorSpec>;

struct DtypeArgument {
  Dtype dtype;
  bool weak;
};
// The dtypes the inputs are cast to; throws DtypeError (through `call`) for what the op does not take.
using DtypeRule = void (*)(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted);
using ShapeRule = Specs (*)(OpCall& call);

struct GradientCall {
  std::span<const Tensor> inputs;
  std::span<const Tensor> outputs;
  std::span<const Tensor> dys;  // one per output; zeros where nothing flowed
  const Attrs& attrs;
  std::span<const bool> needed;   // which inputs want a gradient
  std::span<const bool> reached;  // per output: whether its dy is more than zeros
};
using GradientRule = std::vector<Tensor> (*)(const GradientCall& call);

// How an axis of a Reduce op's input relates to its output.
enum class AxisFate : uint8_t {
  Kept,
  Reduced,
  Open,  // only known at run time: kept where the output's size equals the input's, reduced to one element otherwise
};
struct ReduceRule {
  loop::Combine combine;
  std::vector<AxisFate> (*axes)(const OpCall& call);  // one per input axis
  bool aligned = false;  // the output's axes are the input's last ones; otherwise the kept ones, or all where the ranks are equal
};

// How an op passes on the rows of a batch, the entries along the first axis: row r of the result goes with row r of the inputs that give rows, and
// the op works on each by itself; other inputs it reads whole for every row. What is elementwise or a reduction needs no such rule.
struct RowRule {
  enum class Inputs : uint8_t {
    First,
    All,
    Broadcast,  // those of the result's rank
    None,
  };
  Inputs inputs = Inputs::First;
  bool (*is_apart)(const OpCall& call) = nullptr;                     // none: whenever the inputs that give rows begin with them
  Attrs (*with_rows)(const Attrs& attrs, const Dim& rows) = nullptr;  // for another number of rows; none: attributes do not say how many
};

// Rows of unequal length: the last input holds row splits, which begin at 0, never decrease and end at `total`; or those of another input, which are checked
// elsewhere.
struct SplitsRule {
  Dim total;
  bool empty_rows = true;  // may there be any?
  int equal_to = -1;       // the input whose row splits they have to be
};

// Where to read or write is data: the last input holds indices below a limit, one for all of them, or one per component along its last axis.
struct IndexRule {
  std::vector<Dim> limits;
  bool from_end = true;  // down to -limit: negative ones count from the end
};

using ElementRule = loop::Value (*)(ElementCall& call);  // one output element from input elements
using LowerRule = void (*)(LowerCall& call);             // whole loops, for what no element rule can say

// Eagerly: the result as other strides on an input's memory; an undefined tensor where there are none.
using ViewRule = Tensor (*)(std::span<const Tensor> inputs, const Attrs& attrs, const TensorSpec& output);

// Eagerly, where an input of an op with loops of its own is a view: puts inputs and attributes into a form that those loops can read without
// a copy, such as a transposed matrix into the matrix and a flag. Bit k of the result: input k may be read by its strides.
using LayoutRule = uint64_t (*)(std::span<Tensor> inputs, Attrs& attrs);

struct OpDef {
  std::string_view name;
  OpKind kind = OpKind::Opaque;
  int inputs = 1;  // -1: any number, at least one
  DtypeRule dtype = nullptr;
  ShapeRule shape = nullptr;
  RaggedPolicy ragged = RaggedPolicy::Refuse;
  RaggedRule ragged_rule = nullptr;  // the same with ops on dense tensors: always of PerRow, of Values where operands do not broadcast
  GradientRule gradient = nullptr;   // none: not differentiable
  ElementRule element = nullptr;     // exactly one of element, reduce, lower
  const ReduceRule* reduce = nullptr;
  LowerRule lower = nullptr;
  bool is_alias = false;  // the output is the input's memory under another shape
  const RowRule* rows = nullptr;
  ViewRule view = nullptr;
  LayoutRule layout = nullptr;
  uint32_t whole_inputs = 0;   // bit k: input k must stand in memory before the op runs (it is checked or read out of order)
  Attrs (*attrs)() = nullptr;  // default attributes, for parsing
  IndexRule (*index_rule)(const OpCall& call) = nullptr;  // index ops: what their indices are held to before anything is read by them
  // Control: the call as it is made where gradients will be asked for; what it saves for them comes as further outputs.
  Attrs (*saving)(const Attrs& attrs) = nullptr;
  SplitsRule (*splits)(const OpCall& call) = nullptr;  // segment ops: what their row splits are held to before anything is read by them
  OpTraits traits = {};

  bool checks_data() const { return index_rule != nullptr || splits != nullptr; }
};

}  // namespace anyshape
