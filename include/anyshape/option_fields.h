// Options as configs and back, field by field: what a plain struct of options holds, under the names of its fields.
#pragma once
#include <anyshape/config.h>
#include <anyshape/error.h>
#include <anyshape/field_names.h>
#include <anyshape/shape.h>

#include <concepts>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

/// An object of a registered kind (Loss, AnyLayer, ...) from its config, or from its name where every option has a default. ArgumentError for a
/// name that is not registered, with the near ones, and for fields that are unknown, missing or of another kind.
template <class Kind>
Kind make(const Config& config);

namespace detail {

Config shape_config(const Shape& shape);  ///< sizes; none for as::dynamic
Shape shape_from(const Config& config, const std::string& place);
Config enum_config(int64_t value, const std::string_view* names, size_t count);
int64_t enum_from(const Config& config, const std::string_view* names, size_t count, const std::string& place);

/// "Dense: units is "ten"; expected a whole number."
[[noreturn]] void refuse_value(const std::string& place, const Config& value, std::string_view expected);
[[noreturn]] void refuse_callable(const std::string& place, const Config& value);
[[noreturn]] void refuse_missing(const std::string& owner, std::string_view field, std::string_view expected);
[[noreturn]] void refuse_inside(const std::string& place, const ArgumentError& error);
void require_known(const Config& config, const std::string& owner, const std::vector<std::string_view>& names);
int64_t integer_from(const Config& config, const std::string& place, int64_t least, int64_t most);

template <class T, template <class...> class Template>
inline constexpr bool is_a = false;
template <class... Parts, template <class...> class Template>
inline constexpr bool is_a<Template<Parts...>, Template> = true;

template <class T>
Config to_config(const T& value);
template <class T>
T from_config(const Config& config, const std::string& place);

template <class Options>
void append_fields(std::vector<Config::Field>& fields, const Options& options) {
  static_assert(fields::can_be_taken_apart<Options>,
                "anyshape: options are a plain struct: no constructors, base classes, private members or C arrays, at most 24 fields");
  size_t index = 0;
  std::apply([&](const auto&... each) { (fields.push_back({std::string(fields::names<Options>[index++]), to_config(each)}), ...); },
             fields::references(options));
}

template <class T>
Config to_config(const T& value) {
  if constexpr (std::is_same_v<T, Config>) {
    return value;
  } else if constexpr (KnowsItsConfig<T>) {
    return value.config();
  } else if constexpr (std::is_same_v<T, char>) {
    return std::string(1, value);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
    return value.string();
  } else if constexpr (std::is_enum_v<T>) {
    return enum_config(static_cast<int64_t>(value), fields::value_names<T>.data(), fields::value_names<T>.size());
  } else if constexpr (std::is_same_v<T, Shape>) {
    return shape_config(value);
  } else if constexpr (is_a<T, std::optional>) {
    return value ? to_config(*value) : Config();
  } else if constexpr (is_a<T, std::function>) {
    return value ? Config::callable("std::function") : Config();
  } else if constexpr (is_a<T, std::vector>) {
    std::vector<Config> items;
    for (const auto& each : value) items.push_back(to_config(each));
    return items;
  } else if constexpr (is_a<T, std::map>) {
    std::vector<Config::Field> fields;
    for (const auto& [key, each] : value) fields.push_back({key, to_config(each)});
    return Config::map(std::move(fields));
  } else {
    std::vector<Config::Field> fields;
    append_fields(fields, value);
    return Config::map(std::move(fields));
  }
}

/// What a config says where such a value is expected.
template <class T>
std::string expected_words() {
  if constexpr (std::is_same_v<T, bool>) {
    return "true or false";
  } else if constexpr (std::is_same_v<T, char>) {
    return "one letter";
  } else if constexpr (std::is_integral_v<T>) {
    return "a whole number";
  } else if constexpr (std::is_floating_point_v<T>) {
    return "a number";
  } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::filesystem::path>) {
    return "a text";
  } else if constexpr (is_a<T, std::function>) {
    return "a callable";
  } else if constexpr (is_a<T, std::vector> || std::is_same_v<T, Shape>) {
    return "a list";
  } else if constexpr (requires { T::in_words; }) {
    return T::in_words;
  } else if constexpr (KnowsItsConfig<T>) {
    return "an object or its name";
  } else {
    return "a map";
  }
}

/// The fields that a map or object has, instead of those of `options`.
template <class Options>
void read_fields(Options& options, const Config& config, const std::string& owner) {
  const auto read = [&]<class Field>(std::string_view name, Field& field) {
    if (const Config* const given = config.find(name)) field = from_config<Field>(*given, owner + ": " + std::string(name));
  };
  size_t index = 0;
  std::apply([&](auto&... each) { (read(fields::names<Options>[index++], each), ...); }, fields::references(options));
}

/// A struct of which every field is there.
template <class Arguments, size_t... indices>
Arguments required_fields(const Config& config, const std::string& owner, std::index_sequence<indices...>) {
  using References = decltype(fields::references(std::declval<Arguments&>()));
  const auto read = [&]<class Field>(std::type_identity<Field>, std::string_view name) {
    const Config* const given = config.kind() == Config::Kind::Text ? nullptr : config.find(name);
    if (given == nullptr) refuse_missing(owner, name, expected_words<Field>());
    return from_config<Field>(*given, owner + ": " + std::string(name));
  };
  return Arguments{
      read(std::type_identity<std::remove_cvref_t<std::tuple_element_t<indices, References>>>(), fields::names<Arguments>[indices])...};
}

template <class T>
T from_config(const Config& config, const std::string& place) {
  using Kind = Config::Kind;
  const Kind kind = config.kind();
  if constexpr (std::is_same_v<T, Config>) {
    return config;
  } else if constexpr (KnowsItsConfig<T>) {
    try {
      return make<T>(config);
    } catch (const ArgumentError& error) {
      refuse_inside(place, error);
    }
  } else if constexpr (std::is_same_v<T, bool>) {
    return kind == Kind::Bool ? config.as_bool() : (refuse_value(place, config, expected_words<T>()), false);
  } else if constexpr (std::is_same_v<T, char>) {
    if (kind != Kind::Text || config.as_text().size() != 1) refuse_value(place, config, expected_words<T>());
    return config.as_text()[0];
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(integer_from(config, place, static_cast<int64_t>(std::numeric_limits<T>::min()),
                                       static_cast<int64_t>(std::min<uint64_t>(std::numeric_limits<T>::max(), INT64_MAX))));
  } else if constexpr (std::is_floating_point_v<T>) {
    if (kind != Kind::Number && kind != Kind::Integer) refuse_value(place, config, expected_words<T>());
    return static_cast<T>(config.as_number());
  } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::filesystem::path>) {
    return kind == Kind::Text ? T(config.as_text()) : (refuse_value(place, config, expected_words<T>()), T());
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<T>(enum_from(config, fields::value_names<T>.data(), fields::value_names<T>.size(), place));
  } else if constexpr (std::is_same_v<T, Shape>) {
    return shape_from(config, place);
  } else if constexpr (is_a<T, std::optional>) {
    if (config.is_null()) return std::nullopt;
    return from_config<typename T::value_type>(config, place);
  } else if constexpr (is_a<T, std::function>) {
    return config.is_null() ? T() : (refuse_callable(place, config), T());
  } else if constexpr (is_a<T, std::vector>) {
    if (kind != Kind::List) refuse_value(place, config, expected_words<T>());
    T values;
    for (const Config& item : config.items())
      values.push_back(from_config<typename T::value_type>(item, place + "[" + std::to_string(values.size()) + "]"));
    return values;
  } else if constexpr (is_a<T, std::map>) {
    if (kind != Kind::Map) refuse_value(place, config, expected_words<T>());
    T values;
    for (const Config::Field& field : config.fields())
      values.emplace(field.name, from_config<typename T::mapped_type>(field.value, place + "." + field.name));
    return values;
  } else {
    if (kind != Kind::Map) refuse_value(place, config, expected_words<T>());
    require_known(config, place, {fields::names<T>.begin(), fields::names<T>.end()});
    T value{};
    read_fields(value, config, place);
    return value;
  }
}

}  // namespace detail

/// A plain struct of options as a map by the names of its fields: to print it, and to see whether two are equal.
template <class Options>
  requires detail::fields::can_be_taken_apart<Options>
Config to_config(const Options& options) {
  return detail::to_config(options);
}

}  // namespace anyshape
#pragma GCC visibility pop
