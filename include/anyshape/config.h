// How an object was made, as a value: its class and its options, which can be printed, compared, written as JSON and made an object of again.
#pragma once
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

namespace detail {
class Made;         ///< how an object was made; see registry.h
struct MadeAccess;  ///< who tells it
}  // namespace detail
class Registry;  ///< of what can be made by name
/// The names of a kind: registry_of<Loss>(); see registry.h.
template <class Kind>
Registry& registry_of();

/// Nothing, a truth, a number, a text, a list, a map by name, or an object: the name of a class with fields, which are such values.
class Config {
 public:
  /// What a value is; Integer is a whole number.
  enum class Kind : uint8_t { Null, Bool, Integer, Number, Text, List, Map, Object };
  struct Field;

  Config();  ///< nothing
  template <std::same_as<bool> Bool>
  Config(Bool value) : Config(Kind::Bool) {
    integer_ = value ? 1 : 0;
  }
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool> && !std::same_as<Integer, char> && (std::signed_integral<Integer> || sizeof(Integer) < 8))
  Config(Integer value) : Config(Kind::Integer) {
    integer_ = value;
  }
  template <std::floating_point Number>
  Config(Number value) : Config(Kind::Number) {
    number_ = static_cast<double>(value);
  }
  Config(const char* text);
  Config(std::string text);
  Config(std::vector<Config> list);
  static Config map(std::vector<Field> fields);  ///< ArgumentError where two have one name
  /// An object of a class by name. ArgumentError where two fields have one name.
  ///@{
  static Config object(std::string class_name);
  static Config object(std::string class_name, std::vector<Field> fields);
  ///@}
  /// What no config can make: a callable of the program's, or an object of a class that is not registered. `what` says which.
  ///@{
  static Config callable(std::string what);
  static Config unregistered(std::string class_name);
  static Config data_in_memory();  ///< what no config can hold, either: rows that a dataset was made of
  ///@}

  /// A copy has values of its own.
  ///@{
  Config(const Config& other);
  Config(Config&& other) noexcept;
  Config& operator=(const Config& other);
  Config& operator=(Config&& other) noexcept;
  ///@}
  ~Config();

  Kind kind() const { return kind_; }                   ///< which of the calls below gives the value
  bool is_null() const { return kind_ == Kind::Null; }  ///< it is nothing
  bool is_callable() const;                             ///< made by callable()
  bool is_unregistered() const;                         ///< made by unregistered()
  bool is_data_in_memory() const;                       ///< made by data_in_memory()
  /// The value, of the kind that is asked for; ArgumentError where it is of another. A whole number is a number, too.
  ///@{
  bool as_bool() const;
  int64_t as_integer() const;
  double as_number() const;
  const std::string& as_text() const;
  ///@}
  const std::vector<Config>& items() const;               ///< of a list
  const std::string& class_name() const;                  ///< of an object
  const std::vector<Field>& fields() const;               ///< of a map or an object, in order
  const Config* find(std::string_view name) const;        ///< a field; none: nullptr
  const Config& operator[](std::string_view name) const;  ///< ArgumentError with the near names for an unknown one
  void set(std::string_view name, Config value);  ///< of a map or an object: instead of the field of that name, or behind the others

  /// {"class_name": "Dense", "config": {"units": 10, ...}}, on one line. Numbers keep every bit; those that are not finite are NaN, Infinity and
  /// -Infinity, as Python writes them.
  std::string to_json() const;
  static Config from_json(std::string_view text);  ///< FormatError for what is no JSON, with the place

  bool operator==(const Config& other) const;  ///< NaN is equal to itself

 private:
  explicit Config(Kind kind);
  const Config& required(Kind kind, std::string_view words) const;

  Kind kind_ = Kind::Null;
  int64_t integer_ = 0;  ///< or truth
  double number_ = 0;
  std::string text_;  ///< or the name of the class
  std::vector<Config> items_;
  std::vector<Field> fields_;
};

/// A value of a map or an object, with its name.
struct Config::Field {
  std::string name;
  Config value;
  bool operator==(const Field&) const = default;
};

/// Dense(units=10, activation=relu(), use_bias=true)
///@{
std::ostream& operator<<(std::ostream& out, const Config& config);
std::string to_string(const Config& config);
///@}

namespace detail {

template <class T>
concept KnowsItsConfig = requires(const T& value) {
  { value.config() } -> std::same_as<Config>;
};

/// Whether two configs are equal and tell all: a callable, a class that is not registered or data in memory may be another one.
bool tell_the_same(const Config& a, const Config& b);

/// The base of what knows its config. Two objects are equal where they were made in the same way, whatever they learned since: the same class and
/// options. What no config tells makes an object equal to itself alone. An object is printed as its config.
template <class Kind>
struct ShownByConfig {
  friend bool operator==(const Kind& a, const Kind& b) {
    if constexpr (requires { a.identity(); }) {
      if (&a.identity() == &b.identity()) return true;
    }
    return &a == &b || tell_the_same(a.config(), b.config());
  }
  friend std::ostream& operator<<(std::ostream& out, const Kind& object) { return out << object.config(); }

 private:
  friend Kind;
  ShownByConfig() = default;
};

}  // namespace detail

}  // namespace anyshape
#pragma GCC visibility pop
