// Values made of tensors and of other things (arguments and results of functions, what branches and loops carry) taken apart into tensors
// and put together again. A value is
//   a tensor;
//   a host value: a number, enum, std::string, Variable or object with an identity (Stateful), which is part of a trace's key;
//   a vector, array, tuple, pair, optional or map of values, or a struct of values:
//     struct Batch {
//       as::Tensor ids, labels;
//       float rate = 0.1f;
//     };
// A plain struct (an aggregate without base classes and C arrays, of at most 24 fields) is taken apart as it is, and the compiler knows
// the names of its fields. Another one lists them once:
//       template <class Visitor> void visit(Visitor&& v) { v("ids", ids); v("labels", labels); v("rate", rate); }
#pragma once
#include <anyshape/field_names.h>
#include <anyshape/stateful.h>
#include <anyshape/tensor.h>
#include <anyshape/variable.h>

#include <array>
#include <concepts>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape::detail::structure {

template <class T>
concept Number = (std::is_arithmetic_v<T> && !std::is_same_v<T, long double>) || std::is_enum_v<T>;
template <class T>
concept WithIdentity = std::is_same_v<T, Variable> || std::derived_from<T, Stateful>;
template <class T>
concept HostValue = Number<T> || std::is_same_v<T, std::string> || WithIdentity<T>;
struct AnyVisitor {
  void operator()(std::string_view, auto& field) const;
};
template <class T>
concept WithVisit = requires(T value, AnyVisitor visitor) { value.visit(visitor); };

enum class Kind { Unknown, Tensor, Host, Vector, Array, Tuple, Optional, Map, Struct, Fields };

template <class T>
constexpr Kind kind_by_fields();
template <class T>
inline constexpr Kind kind_of = std::is_same_v<T, Tensor> ? Kind::Tensor
                                : HostValue<T>            ? Kind::Host
                                : WithVisit<T>            ? Kind::Struct
                                                          : kind_by_fields<T>();
template <class... Parts>
constexpr Kind kind_if_known(Kind kind) {
  return ((kind_of<std::remove_cvref_t<Parts>> != Kind::Unknown) && ...) ? kind : Kind::Unknown;
}
/// A plain struct whose fields are values that can be assigned.
template <class... Fields>
constexpr Kind kind_of_fields(std::type_identity<std::tuple<Fields&...>>) {
  return (std::is_const_v<Fields> || ...) ? Kind::Unknown : kind_if_known<Fields...>(Kind::Fields);
}
template <class T>
constexpr Kind kind_by_fields() {
  if constexpr (fields::can_be_taken_apart<T>) {
    return kind_of_fields(std::type_identity<decltype(fields::references(std::declval<T&>()))>());
  } else {
    return Kind::Unknown;
  }
}
template <class T>
inline constexpr Kind kind_of<std::vector<T>> = kind_if_known<T>(Kind::Vector);
template <class T, size_t N>
inline constexpr Kind kind_of<std::array<T, N>> = kind_if_known<T>(Kind::Array);
template <class... Ts>
inline constexpr Kind kind_of<std::tuple<Ts...>> = kind_if_known<Ts...>(Kind::Tuple);
template <class A, class B>
inline constexpr Kind kind_of<std::pair<A, B>> = kind_if_known<A, B>(Kind::Tuple);
template <class T>
inline constexpr Kind kind_of<std::optional<T>> = kind_if_known<T>(Kind::Optional);
template <class K, class V>
  requires(Number<K> || std::is_same_v<K, std::string>)
inline constexpr Kind kind_of<std::map<K, V>> = kind_if_known<V>(Kind::Map);

/// Whether the type alone says how many tensors there are and that there is nothing else: no structure to remember.
template <class T>
inline constexpr bool is_fixed = std::is_same_v<T, Tensor>;
template <class T, size_t N>
inline constexpr bool is_fixed<std::array<T, N>> = is_fixed<T>;
template <class... Ts>
inline constexpr bool is_fixed<std::tuple<Ts...>> = (is_fixed<Ts> && ...);
template <class A, class B>
inline constexpr bool is_fixed<std::pair<A, B>> = is_fixed<A> && is_fixed<B>;

/// Visitors that do not ask where a part stands derive from this.
struct Nameless {
  void enter(const auto&) {}
  void leave() {}
};

/// Walks over all parts of a value, in one order for every use. A visitor has
///   tensor(t), host(v), length(n), presence(optional), keys(map) and, around the parts of a part, enter(name, index or key), leave().
template <class Visitor, class T>
void walk(Visitor& visitor, T& value) {
  using Value = std::remove_const_t<T>;
  constexpr Kind kind = kind_of<Value>;
  static_assert(
      kind != Kind::Unknown,
      "anyshape: a value of this type cannot pass through a traced function; expected Tensor, Variable, an object with an "
      "identity (Stateful), a number, enum or std::string, or a std::vector, array, tuple, pair, optional, map or "
      "struct of such values; a struct with base classes, C arrays, constant members, constructors or more than 24 fields lists them "
      "with visit()");
  auto part = [&](const auto& place, auto& each) {
    visitor.enter(place);
    walk(visitor, each);
    visitor.leave();
  };
  if constexpr (kind == Kind::Tensor) {
    visitor.tensor(value);
  } else if constexpr (kind == Kind::Host) {
    visitor.host(value);
  } else if constexpr (kind == Kind::Vector || kind == Kind::Array) {
    if constexpr (kind == Kind::Vector) visitor.length(value.size());
    size_t index = 0;
    if constexpr (std::is_same_v<Value, std::vector<bool>>) {
      for (const bool each : value) part(index++, each);
    } else {
      for (auto& each : value) part(index++, each);
    }
  } else if constexpr (kind == Kind::Fields) {
    auto all = [&, index = size_t{0}](auto&... each) mutable {
      if constexpr (std::derived_from<Visitor, Nameless>) {
        (part(index++, each), ...);
      } else {
        (part(fields::names<Value>[index++], each), ...);
      }
    };
    std::apply(all, fields::references(value));
  } else if constexpr (kind == Kind::Tuple) {
    std::apply([&, index = size_t{0}](auto&... each) mutable { (part(index++, each), ...); }, value);
  } else if constexpr (kind == Kind::Optional) {
    visitor.presence(value.has_value());
    if (value.has_value()) walk(visitor, *value);
  } else if constexpr (kind == Kind::Map) {
    visitor.keys(value);
    for (auto& [key, each] : value) part(key, each);
  } else if constexpr (kind == Kind::Struct) {
    auto field = [&](std::string_view name, auto& each) {
      if constexpr (std::is_const_v<T>) {
        part(name, std::as_const(each));
      } else {
        part(name, each);
      }
    };
    const_cast<Value&>(value).visit(field);  // a struct lists its fields once, for reading and for writing
  }
}

inline void append_key(std::string& key, const Number auto& value) { key.append(reinterpret_cast<const char*>(&value), sizeof value); }
inline void append_key(std::string& key, const std::string& value) {
  append_key(key, value.size());
  key += value;
}
inline void append_key(std::string& key, const Variable& value) { append_key(key, value.id()); }
inline void append_key(std::string& key, const Stateful& value) {
  append_key(key, value.identity().id());
  append_key(key, value.identity().version());
}

/// Collects the tensors, and everything else as bytes that are equal exactly for equal values. Tensors alone leave the key empty.
struct Reader : Nameless {
  std::vector<Tensor>& tensors;
  std::string& key;
  Reader(std::vector<Tensor>& into, std::string& bytes) : tensors(into), key(bytes) {}

  void tensor(const Tensor& value) { tensors.push_back(value); }
  void host(const auto& value) { append_key(key, value); }
  void length(size_t value) { append_key(key, value); }
  void presence(bool value) { append_key(key, value); }
  void keys(const auto& map) {
    append_key(key, map.size());
    for (const auto& each : map) append_key(key, each.first);
  }
};

/// Moves other tensors to where tensors are.
struct Writer : Nameless {
  std::span<Tensor> rest;
  explicit Writer(std::span<Tensor> tensors) : rest(tensors) {}

  void tensor(Tensor& value) {
    value = std::move(rest.front());
    rest = rest.subspan(1);
  }
  void host(const auto&) {}
  void length(size_t) {}
  void presence(bool) {}
  void keys(const auto&) {}
};

/// The tensors of a value, in order.
template <class T>
std::vector<Tensor> flatten(const T& value) {
  std::vector<Tensor> tensors;
  std::string key;
  Reader reader(tensors, key);
  walk(reader, value);
  return tensors;
}

/// What two values of one type must have in common for one trace to serve both: everything but the tensors.
template <class T>
std::string key(const T& value) {
  std::vector<Tensor> tensors;
  std::string key;
  Reader reader(tensors, key);
  walk(reader, value);
  return key;
}

/// The value with other tensors, as many as it has, in the order of flatten().
template <class T>
T rebuild(T layout, std::vector<Tensor> tensors) {
  Writer writer(tensors);
  walk(writer, layout);
  return layout;
}

}  // namespace anyshape::detail::structure
#pragma GCC visibility pop
