// The fields of a plain struct, found by the compiler: how many there are, and references to them.
#pragma once
#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)
namespace anyshape::detail::fields {

inline constexpr size_t most = 24;

/// Becomes anything, so that T{AnyField(), AnyField()} is valid where T has two fields or more.
struct AnyField {
  template <class T>
  operator T() const;
};
/// Becomes a base class of T only.
template <class T>
struct AnyBase {
  template <class Base>
    requires(std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>)
  operator Base() const;
};

template <class T, size_t... Before>
constexpr bool takes(std::index_sequence<Before...>) {
  return requires { T{(static_cast<void>(Before), AnyField())...}; };
}
/// With the braces of a nested value at one index.
template <class T, size_t... Before, size_t... Behind>
constexpr bool takes_braces(std::index_sequence<Before...>, std::index_sequence<Behind...>) {
  return requires { T{(static_cast<void>(Before), AnyField())..., {AnyField()}, (static_cast<void>(Behind), AnyField())...}; };
}

/// The number of initializers that an aggregate takes; most + 1 stands for more.
template <class T, size_t tried = most + 1>
constexpr size_t count() {
  if constexpr (tried == 0 || takes<T>(std::make_index_sequence<tried>())) {
    return tried;
  } else {
    return count<T, tried - 1>();
  }
}

// A C array takes as many initializers as it has elements, but one in braces stands for all of them: then those behind are too many.
template <class T, size_t index>
constexpr bool is_array_at() {
  constexpr auto before = std::make_index_sequence<index>();
  return takes_braces<T>(before, std::index_sequence<>()) && !takes_braces<T>(before, std::make_index_sequence<count<T>() - index - 1>());
}
template <class T, size_t... Indices>
constexpr bool has_array(std::index_sequence<Indices...>) {
  return (is_array_at<T, Indices>() || ...);
}

template <class T>
constexpr bool is_plain() {
  if constexpr (!std::is_aggregate_v<T> || std::is_array_v<T> || std::is_union_v<T>) {
    return false;
  } else if constexpr (requires { T{AnyBase<T>()}; }) {
    return false;
  } else if constexpr (count<T>() > most) {
    return false;
  } else {
    return !has_array<T>(std::make_index_sequence<count<T>()>());
  }
}
template <class T>
inline constexpr bool can_be_taken_apart = is_plain<T>();

/// std::tie of all fields, in order; constant where the value is.
template <class T>
constexpr auto references(T& value) {
  constexpr size_t number = count<std::remove_const_t<T>>();
  if constexpr (number == 0) {
    return std::tuple<>();
  } else if constexpr (number == 1) {
    auto& [a] = value;
    return std::tie(a);
  } else if constexpr (number == 2) {
    auto& [a, b] = value;
    return std::tie(a, b);
  } else if constexpr (number == 3) {
    auto& [a, b, c] = value;
    return std::tie(a, b, c);
  } else if constexpr (number == 4) {
    auto& [a, b, c, d] = value;
    return std::tie(a, b, c, d);
  } else if constexpr (number == 5) {
    auto& [a, b, c, d, e] = value;
    return std::tie(a, b, c, d, e);
  } else if constexpr (number == 6) {
    auto& [a, b, c, d, e, f] = value;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (number == 7) {
    auto& [a, b, c, d, e, f, g] = value;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (number == 8) {
    auto& [a, b, c, d, e, f, g, h] = value;
    return std::tie(a, b, c, d, e, f, g, h);
  } else if constexpr (number == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = value;
    return std::tie(a, b, c, d, e, f, g, h, i);
  } else if constexpr (number == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (number == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (number == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (number == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (number == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  } else if constexpr (number == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  } else if constexpr (number == 16) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  } else if constexpr (number == 17) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q);
  } else if constexpr (number == 18) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r);
  } else if constexpr (number == 19) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s);
  } else if constexpr (number == 20) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t);
  } else if constexpr (number == 21) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u);
  } else if constexpr (number == 22) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v);
  } else if constexpr (number == 23) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w);
  } else if constexpr (number == 24) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x);
  }
}

}  // namespace anyshape::detail::fields
#pragma GCC visibility pop
