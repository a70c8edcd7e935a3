// function(): turns a C++ callable on tensors into one compiled graph that runs any shape.
#pragma once
#include <anyshape/callable.h>
#include <anyshape/ledger.h>
#include <anyshape/structure_text.h>
#include <anyshape/tensor_list.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

/// What sizes are in a trace.
enum class Shapes {
  Symbolic,  ///< symbols: one trace runs any size
  Relax,     ///< the first call's numbers; those that change later become symbols
  Exact,     ///< numbers: one trace per shape, within max_traces
};

/// What a call does that no earlier trace fits: trace and warn from the third on, trace, or throw a TraceError with the reason.
enum class Retrace { Warn, Allow, Forbid };

/// What a call does whose tensors have other dtypes than the signature, or than every trace so far. Reject and Cast need a signature: an
/// ArgumentError without one.
enum class DtypePolicy {
  Auto,    ///< Reject where there is a signature, Trace where there is none
  Trace,   ///< another dtype is another trace
  Reject,  ///< a SignatureError
  Cast,    ///< cast to the signature's
};

/// How much explain() tells.
enum class Detail {
  Short,  ///< a table of kernels with their layers, on one screen, of the trace that was called last
  Full,   ///< every trace: kernels with their ops, formulas, passes, decisions with their reasons
};

/// How much explain() tells, and for which sizes; without any, the largest seen.
struct ExplainOptions {
  Detail detail = Detail::Short;
  std::vector<NamedSize> sizes = {};  ///< numbers for sizes: {{"batch", 32}}
};

/// Options of function(): what arguments it takes, when it traces again, and how many traces it keeps. ArgumentError for max_traces below 1 and for
/// max_code_bytes below 0.
struct FunctionOptions {
  std::string name = "function";
  std::vector<TensorSpec> signature = {};  ///< one spec per tensor argument; none: any shape and dtype
  Shapes shapes = Shapes::Symbolic;
  Retrace retrace = Retrace::Warn;
  DtypePolicy dtypes = DtypePolicy::Auto;
  /// Trace twice and warn of host values that differ (TraceRecord::frozen): every trace, none, or where nothing is said the first. What the
  /// callable does to the host it then does twice.
  std::optional<bool> check_frozen = {};
  int64_t max_traces = 256;                     ///< beyond it the one that was not called for longest is dropped
  int64_t max_code_bytes = int64_t{256} << 20;  ///< likewise; the newest trace stays whatever its size
};

struct SizeRange;  ///< verify.h
struct VerifyOptions;
struct Verification;

namespace detail {

/// The results of a call: tensors, and what stands around them where their type does not say it.
struct FunctionResults {
  std::vector<Tensor> tensors;
  std::shared_ptr<const void> layout = nullptr;
};

/// Takes a value apart: its tensors, and as `layout` the value without them where its type does not say how they stand in it.
template <class Value>
FunctionResults flat_results(Value value) {
  FunctionResults results{structure::flatten(value)};
  if constexpr (!structure::is_fixed<Value>) {
    std::vector<Tensor> nothing(results.tensors.size());
    results.layout = std::make_shared<const Value>(structure::rebuild(std::move(value), std::move(nothing)));
  }
  return results;
}

/// The reverse of flat_results: the value with the tensors put back.
template <class Value>
Value rebuild_results(FunctionResults results) {
  const auto fill = [&](Value layout) {
    structure::Writer writer(results.tensors);
    structure::walk(writer, layout);
    give_tensor_list(std::move(results.tensors));
    return layout;
  };
  if constexpr (structure::is_fixed<Value>) {
    return fill(Value());
  } else {
    return fill(*static_cast<const Value*>(results.layout.get()));
  }
}

/// The bytes of structure::key, in memory that serves the thread's next call again.
class CallKey {
 public:
  CallKey();
  ~CallKey();
  CallKey(const CallKey&) = delete;
  CallKey& operator=(const CallKey&) = delete;
  std::string bytes;  ///< begins empty; who calls appends to it
};

/// Calls it and takes what it returns apart.
template <class Callable, class... Args>
FunctionResults call_flat(Callable& callable, Args&&... arguments) {
  if constexpr (std::is_void_v<std::invoke_result_t<Callable&, Args...>>) {
    callable(std::forward<Args>(arguments)...);
    return {};
  } else {
    return flat_results<std::decay_t<std::invoke_result_t<Callable&, Args...>>>(callable(std::forward<Args>(arguments)...));
  }
}

/// A call, as far as it depends on the callable's type.
class FunctionCall {
 public:
  virtual ~FunctionCall() = default;
  virtual FunctionResults run(std::span<const Tensor> tensors) const = 0;  ///< the callable on other tensors instead of the call's own
  virtual std::string key() const = 0;                                     ///< the arguments but for the tensors, as structure::key
  virtual structure::Description describe() const = 0;                     ///< the arguments in words
};

/// The part of a Function that does not depend on the callable's type.
class FunctionCore {
 public:
  explicit FunctionCore(FunctionOptions options);
  ~FunctionCore();
  FunctionCore(const FunctionCore&) = delete;
  FunctionCore& operator=(const FunctionCore&) = delete;

  /// `tensors` and `key` are the call's arguments.
  FunctionResults call(std::vector<Tensor> tensors, const std::string& key, const FunctionCall& call);
  RetraceForecast would_retrace(std::vector<Tensor> tensors, const std::string& key, const FunctionCall& call) const;

  /// As verify() in verify.h, by examples of the tensors or, where there are none, by the signature.
  Verification verify(std::vector<Tensor> examples, const std::string& key, const FunctionCall& call, const std::vector<SizeRange>& ranges,
                      const VerifyOptions& options);

  /// As in Function: of the trace that was called last; ArgumentError where there is none.
  int64_t peak_bytes(const std::vector<NamedSize>& sizes) const;
  std::string peak_formula() const;

  /// As in Function: what was counted and traced, how it runs, and clear(), which drops it all.
  FunctionStats stats() const;
  Ledger ledger() const;
  std::string explain(const ExplainOptions& options) const;
  void clear();

  /// What is behind it, for the library's own parts that read and make traces.
  struct State;
  State& state() const { return *state_; }

 private:
  class Registration;
  std::unique_ptr<State> state_;
  std::unique_ptr<Registration> registration_;  ///< ends first: who reads the list of functions finds whole ones
};

/// How an argument is given: an object that the callable takes as `Model&` as it is, everything else as a constant.
template <class Arg>
using Parameter = std::conditional_t<std::is_lvalue_reference_v<Arg>, Arg, const std::remove_cvref_t<Arg>&>;

/// A call of a callable with parameters of these types; it refers to the callable and the arguments, which must outlive it.
template <class R, class... Args>
class TypedCall final : public FunctionCall {
 public:
  TypedCall(const std::function<R(Args...)>& callable, Parameter<Args>... arguments) : callable_(callable), arguments_(arguments...) {}

  /// Appends the arguments' tensors to `tensors`, and to `key` what the arguments are but for these tensors.
  void read(std::vector<Tensor>& tensors, std::string& key) const {
    tensors.reserve(sizeof...(Args));
    structure::Reader reader(tensors, key);
    structure::walk(reader, arguments_);
  }

  /// Calls the callable with these tensors in the order in which read() gives the call's own.
  FunctionResults run(std::span<const Tensor> given) const override {
    std::vector<Tensor> tensors(given.begin(), given.end());
    structure::Writer writer(tensors);
    // Braces: from left to right.
    auto replaced = std::apply([&](auto&... each) { return std::tuple<Replaced<Args>...>{replace<Args>(writer, each)...}; }, arguments_);
    return std::apply([&](auto&... each) { return call_flat(callable_, static_cast<Args&&>(each)...); }, replaced);
  }

  std::string key() const override { return structure::key(arguments_); }  ///< as read() appends it

  /// Names of the tensors and texts of the other values: "argument 0", "argument 1 (options.rate)".
  structure::Description describe() const override {
    structure::Description all;
    auto add = [&, index = 0](const auto& argument) mutable {
      structure::Description one = structure::describe(argument, "argument " + std::to_string(index++));
      for (std::string& name : one.tensors) all.tensors.push_back(std::move(name));
      for (structure::Part& part : one.parts) all.parts.push_back(std::move(part));
    };
    std::apply([&](const auto&... each) { (add(each), ...); }, arguments_);
    return all;
  }

 private:
  template <class Arg>
  static constexpr bool is_object = std::is_lvalue_reference_v<Arg> && structure::WithIdentity<std::decay_t<Arg>>;
  template <class Arg>
  using Replaced = std::conditional_t<is_object<Arg>, Arg, std::decay_t<Arg>>;
  template <class Arg>
  static Replaced<Arg> replace(structure::Writer& writer, Parameter<Arg> original) {
    if constexpr (is_object<Arg>) {
      return original;
    } else {
      std::decay_t<Arg> copy = original;
      structure::walk(writer, copy);
      return copy;
    }
  }

  const std::function<R(Args...)>& callable_;
  std::tuple<Parameter<Args>...> arguments_;
};

/// Stands in for the Function of a callable that has none, so that one message is all a compiler says.
template <class R>
struct NoFunction {
  R operator()(const auto&...) const;
};

}  // namespace detail

template <class Signature>
class Function;

/// A compiled function. Copies share traces and ledger. Arguments and results are values as structure.h has them; host values among the
/// results are those of the trace. May be called from many threads: one of them traces, the others that need the same trace wait for it; so
/// a traced callable must not wait for another thread that calls the same function with the same kind of arguments.
template <class R, class... Args>
class Function<R(Args...)> {
 public:
  /// ArgumentError for an empty callable.
  Function(std::function<R(Args...)> callable, FunctionOptions options)
      : callable_(required(std::move(callable), options.name)), core_(std::make_shared<detail::FunctionCore>(std::move(options))) {}

  /// Runs the trace that fits the arguments; where none does, makes one first. SignatureError for arguments outside of the signature, ShapeError for
  /// sizes that break an op's rule. Inside another trace the callable itself runs. Under a tape the trace is one that keeps what gradients need;
  /// the tape sees one call, whose gradient is compiled when it is asked for (docs/guide/training.md, "Your own loop").
  R operator()(detail::Parameter<Args>... arguments) const {
    const detail::TypedCall<R, Args...> call(*callable_, arguments...);
    std::vector<Tensor> tensors = detail::take_tensor_list();
    detail::CallKey key;
    call.read(tensors, key.bytes);
    detail::FunctionResults results = core_->call(std::move(tensors), key.bytes, call);
    if constexpr (!std::is_void_v<R>) return detail::rebuild_results<std::decay_t<R>>(std::move(results));
  }

  /// Whether this call would need a new trace, and why. Runs nothing and counts nothing.
  RetraceForecast would_retrace(detail::Parameter<Args>... arguments) const {
    const detail::TypedCall<R, Args...> call(*callable_, arguments...);
    std::vector<Tensor> tensors;
    std::string key;
    call.read(tensors, key);
    return core_->would_retrace(std::move(tensors), key, call);
  }

  /// What a call with these sizes takes at its peak, before it runs: bytes of the arena and of results, as blocks of the allocator.
  /// Arguments count nothing, nor do variables that are updated in place; of branches the larger counts, of data-dependent sizes the bound.
  /// The trace is the one that was called last. ArgumentError where there is none, and for names that are missing or unknown.
  ///   function.peak_bytes({{"batch", 32}, {"time", 512}})
  int64_t peak_bytes(const std::vector<NamedSize>& sizes = {}) const { return core_->peak_bytes(sizes); }
  std::string peak_formula() const { return core_->peak_formula(); }  ///< the same in words: "results 4 * batch, arena 64 * batch"

  /// The counters, the records of the traces that are held, and both as a ledger, as a table for people and as JSON.
  ///@{
  FunctionStats stats() const { return core_->stats(); }
  std::vector<TraceRecord> traces() const { return core_->ledger().traces; }
  Ledger ledger() const { return core_->ledger(); }
  std::string report() const { return to_text(core_->ledger()); }
  std::string to_json() const { return anyshape::to_json(core_->ledger()); }
  ///@}
  /// How the function runs: its kernels by forward, gradient and update, the layers they compute, what they compute and move, and memory, for the
  /// sizes that are given, explain({{"batch", 32}}), or else the largest seen. explain({.detail = Detail::Full}) tells all: formulas in the sizes,
  /// and what the compiler decided and why. ArgumentError for a size that no trace has.
  ///@{
  std::string explain(const ExplainOptions& options = {}) const { return core_->explain(options); }
  std::string explain(const std::vector<NamedSize>& sizes) const { return core_->explain({.sizes = sizes}); }
  ///@}
  void clear() { core_->clear(); }  ///< drops all traces and their code; the ledger begins anew. Calls that run go on undisturbed

  /// The callable, and the part that does not depend on its type; copies share both.
  ///@{
  const std::function<R(Args...)>& callable() const { return *callable_; }
  detail::FunctionCore& core() const { return *core_; }
  ///@}

 private:
  static std::shared_ptr<std::function<R(Args...)>> required(std::function<R(Args...)> callable, const std::string& name) {
    if (!callable) detail::refuse_empty_callable("function \"" + name + "\"", "the callable");
    return std::make_shared<std::function<R(Args...)>>(std::move(callable));
  }

  std::shared_ptr<std::function<R(Args...)>> callable_;
  std::shared_ptr<detail::FunctionCore> core_;
};

/// Makes a Function of a callable whose parameter types are written out: function([](Tensor x) { return sum(x); }, {.name = "total"}).
template <class Callable>
auto function(Callable callable, FunctionOptions options = {}) {
  constexpr bool is_deducible = requires { std::function(callable); };
  static_assert(is_deducible, "anyshape::function: the callable's parameter types must be written out (Tensor x, not auto x)");
  if constexpr (is_deducible) {
    return [&]<class R, class... Args>(std::function<R(Args...)> typed) {
      constexpr bool are_values = ((detail::structure::kind_of<std::decay_t<Args>> != detail::structure::Kind::Unknown) && ...) &&
                                  (std::is_void_v<R> || detail::structure::kind_of<std::decay_t<R>> != detail::structure::Kind::Unknown);
      static_assert(are_values,
                    "anyshape::function: a parameter or result of the callable has a type that cannot pass through a traced function; "
                    "expected Tensor, Variable, an object with an identity (Stateful), a number, enum or std::string, or a std::vector, "
                    "array, tuple, pair, optional, map or struct of such values; a struct with base classes, C arrays, constant members, "
                    "constructors or more than 24 fields lists them with visit()");
      constexpr bool are_constant = ((!std::is_lvalue_reference_v<Args> || std::is_const_v<std::remove_reference_t<Args>> ||
                                      detail::structure::WithIdentity<std::decay_t<Args>>) &&
                                     ...);
      static_assert(
          are_constant,
          "anyshape::function: only an object with an identity (Variable, Model, Optimizer) is taken as T&: what a trace writes to "
          "another argument is lost; take it as T or const T& and return what changed");
      if constexpr (are_values && are_constant) {
        return Function<R(Args...)>(std::move(typed), std::move(options));
      } else {
        return detail::NoFunction<R>();
      }
    }(std::function(std::move(callable)));
  } else {
    return detail::NoFunction<Tensor>();
  }
}

}  // namespace anyshape
#pragma GCC visibility pop
