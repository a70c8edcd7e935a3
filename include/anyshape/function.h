// function(): turns a C++ callable on tensors into one compiled graph that runs any shape.
#pragma once
#include <anyshape/ledger.h>
#include <anyshape/tensor.h>
#include <anyshape/variable.h>

#include <functional>
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

enum class Retrace { Warn, Allow, Forbid };  // what a call does that no earlier trace fits: say so from the third on, nothing, throw

enum class DtypePolicy {
  Auto,    // Reject where there is a signature, Trace where there is none
  Trace,   // another dtype is another trace
  Reject,  // a SignatureError
  Cast,    // cast to the signature's
};

struct FunctionOptions {
  std::string name = "function";
  std::vector<TensorSpec> signature = {};  // one spec per tensor argument; none: any shape and dtype
  Retrace retrace = Retrace::Warn;
  DtypePolicy dtypes = DtypePolicy::Auto;
};

// The part of a Function that does not depend on the callable's type.
class FunctionCore {
 public:
  explicit FunctionCore(FunctionOptions options);
  ~FunctionCore();
  FunctionCore(const FunctionCore&) = delete;
  FunctionCore& operator=(const FunctionCore&) = delete;

  // Runs the user's callable on other tensors in place of the call's own.
  struct Body {
    std::vector<Tensor> (*run)(void* state, std::span<const Tensor> tensors);
    void* state;
  };
  // `tensors` are the tensor arguments; `key` distinguishes the other ones, and `key_text` shows them.
  std::vector<Tensor> call(std::vector<Tensor> tensors, const std::string& key, Body body);

  FunctionStats stats() const;
  std::vector<TraceRecord> traces() const;
  std::string report() const;

 private:
  struct State;
  class Flight;
  std::unique_ptr<State> state_;
};

// How values of a type are taken apart into tensors and put together again. Arguments: tensors go into the trace, other values into its
// key; results: tensors and groups of them.
template <class T>
struct Arguments;

template <>
struct Arguments<Tensor> {
  static void flatten(const Tensor& value, std::vector<Tensor>& tensors, std::string&) { tensors.push_back(value); }
  static Tensor rebuild(const Tensor&, std::span<const Tensor>& rest) {
    Tensor value = rest.front();
    rest = rest.subspan(1);
    return value;
  }
};

template <>
struct Arguments<Variable> {  // by identity: another variable is another trace
  static void flatten(const Variable& value, std::vector<Tensor>&, std::string& key) {
    const uint64_t identity = value.id();
    key.append(reinterpret_cast<const char*>(&identity), sizeof identity);
  }
  static Variable rebuild(const Variable& value, std::span<const Tensor>&) { return value; }
};

template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
struct Arguments<T> {  // by value: another value is another trace
  static void flatten(const T& value, std::vector<Tensor>&, std::string& key) {
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  static T rebuild(const T& value, std::span<const Tensor>&) { return value; }
};

template <class T>
struct Results;

template <>
struct Results<Tensor> {
  static std::vector<Tensor> flatten(const Tensor& value) { return {value}; }
  static Tensor rebuild(std::vector<Tensor>& tensors) { return std::move(tensors[0]); }
};

template <>
struct Results<std::vector<Tensor>> {
  static std::vector<Tensor> flatten(std::vector<Tensor> value) { return value; }
  static std::vector<Tensor> rebuild(std::vector<Tensor>& tensors) { return std::move(tensors); }
};

template <class... Ts>
  requires(std::is_same_v<Ts, Tensor> && ...)
struct Results<std::tuple<Ts...>> {
  static std::vector<Tensor> flatten(const std::tuple<Ts...>& value) {
    return std::apply([](const auto&... each) { return std::vector<Tensor>{each...}; }, value);
  }
  static std::tuple<Ts...> rebuild(std::vector<Tensor>& tensors) {
    return [&]<size_t... I>(std::index_sequence<I...>) { return std::tuple<Ts...>{tensors[I]...}; }(std::index_sequence_for<Ts...>());
  }
};

template <>
struct Results<std::pair<Tensor, Tensor>> {
  static std::vector<Tensor> flatten(const std::pair<Tensor, Tensor>& value) { return {value.first, value.second}; }
  static std::pair<Tensor, Tensor> rebuild(std::vector<Tensor>& tensors) { return {tensors[0], tensors[1]}; }
};

template <class Signature>
class Function;

// A compiled function. Copies share traces and ledger.
template <class R, class... Args>
class Function<R(Args...)> {
 public:
  Function(std::function<R(Args...)> callable, FunctionOptions options)
      : callable_(std::make_shared<std::function<R(Args...)>>(std::move(callable))),
        core_(std::make_shared<FunctionCore>(std::move(options))) {}

  R operator()(const std::decay_t<Args>&... args) const {
    struct Call {
      const std::function<R(Args...)>& callable;
      std::tuple<const std::decay_t<Args>&...> args;
    } call{*callable_, {args...}};
    std::vector<Tensor> tensors;
    std::string key;
    (Arguments<std::decay_t<Args>>::flatten(args, tensors, key), ...);
    const FunctionCore::Body body{
        [](void* state, std::span<const Tensor> replaced) {
          const Call& self = *static_cast<Call*>(state);
          // Braces: the arguments are rebuilt from left to right.
          std::tuple<std::decay_t<Args>...> rebuilt = std::apply(
              [&](const auto&... each) {
                return std::tuple<std::decay_t<Args>...>{Arguments<std::decay_t<decltype(each)>>::rebuild(each, replaced)...};
              },
              self.args);
          if constexpr (std::is_void_v<R>) {
            std::apply(self.callable, rebuilt);
            return std::vector<Tensor>{};
          } else {
            return Results<std::decay_t<R>>::flatten(std::apply(self.callable, rebuilt));
          }
        },
        &call};
    std::vector<Tensor> results = core_->call(std::move(tensors), key, body);
    if constexpr (!std::is_void_v<R>) return Results<std::decay_t<R>>::rebuild(results);
  }

  FunctionStats stats() const { return core_->stats(); }
  std::vector<TraceRecord> traces() const { return core_->traces(); }
  std::string report() const { return core_->report(); }

 private:
  std::shared_ptr<std::function<R(Args...)>> callable_;
  std::shared_ptr<FunctionCore> core_;
};

// Makes a Function of a callable whose parameter types are written out: function([](Tensor x) { return sum(x); }, {.name = "total"}).
template <class Callable>
auto function(Callable callable, FunctionOptions options = {}) {
  constexpr bool is_deducible = requires { std::function(callable); };
  static_assert(is_deducible, "anyshape::function: the callable's parameter types must be written out (Tensor x, not auto x)");
  if constexpr (is_deducible) {
    return [&]<class R, class... Args>(std::function<R(Args...)> typed) {
      return Function<R(Args...)>(std::move(typed), std::move(options));
    }(std::function(std::move(callable)));
  }
}

}  // namespace anyshape
#pragma GCC visibility pop
