// The names of a plain struct's fields and of an enum's values, as the compiler writes them.
#pragma once
#include <anyshape/fields.h>

#include <array>
#include <memory>
#include <string_view>

#pragma GCC visibility push(default)
namespace anyshape::detail::fields {

template <class T>
struct Held {
  T value;
};
// Never defined: only the addresses of its parts are asked for, while compiling. Compilers warn of that, each by a name of its own.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wundefined-var-template"
#pragma GCC diagnostic ignored "-Wundefined-internal"
template <class T>
extern Held<T> held;
template <class T, size_t index>
constexpr auto address() {
  return std::addressof(std::get<index>(references(held<T>.value)));
}
#pragma GCC diagnostic pop

template <auto value>
constexpr auto text_of_argument() {
  return std::string_view(__PRETTY_FUNCTION__);
}
/// Letters of other alphabets are bytes above 127.
constexpr bool is_in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || static_cast<unsigned char>(c) > 127;
}
/// "... = &held.value.units]" ends in the name.
constexpr std::string_view last_word(std::string_view text) {
  size_t end = text.size();
  while (end > 0 && !is_in_word(text[end - 1])) --end;
  size_t begin = end;
  while (begin > 0 && is_in_word(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

template <class T, size_t... indices>
constexpr std::array<std::string_view, sizeof...(indices)> names_at(std::index_sequence<indices...>) {
  return {last_word(text_of_argument<address<T, indices>()>())...};
}
/// Of a plain struct, in order.
template <class T>
inline constexpr auto names = names_at<T>(std::make_index_sequence<count<T>()>());

/// The names of an enum's values from 0 on, in order; those behind a gap, and from the 32nd on, are left out.
template <class Enum, size_t number = 0>
constexpr size_t count_values() {
  if constexpr (number == 32) {
    return number;
  } else if constexpr (constexpr char first = last_word(text_of_argument<static_cast<Enum>(number)>())[0]; first >= '0' && first <= '9') {
    return number;  // a number without a name: "(Reduction)5"
  } else {
    return count_values<Enum, number + 1>();
  }
}
template <class Enum, size_t... numbers>
constexpr std::array<std::string_view, sizeof...(numbers)> value_names_at(std::index_sequence<numbers...>) {
  return {last_word(text_of_argument<static_cast<Enum>(numbers)>())...};
}
template <class Enum>
inline constexpr auto value_names = value_names_at<Enum>(std::make_index_sequence<count_values<Enum>()>());

}  // namespace anyshape::detail::fields
#pragma GCC visibility pop
