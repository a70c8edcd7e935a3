// Values made of tensors and of other things, in words: what a ledger says of a call's arguments.
#pragma once
#include <anyshape/structure.h>

#pragma GCC visibility push(default)
namespace anyshape {

/// Numbers and enums, strings, what has an identity, lengths and keys, what is there or not, what layers note on a tensor.
enum class ArgumentRole { Number, Text, Object, Structure, Presence, Notes };

/// What is not a tensor among the arguments of a call: where it stands, and what it is: {"argument 1 (options.rate)", "0.5"}.
struct ArgumentPart {
  std::string name;
  std::string value;
  ArgumentRole role = ArgumentRole::Structure;
  Identity::Facts facts = {};  ///< of an object: what it is at this time
};

}  // namespace anyshape

namespace anyshape::detail::structure {

using Role = ArgumentRole;
using Part = ArgumentPart;

/// All parts in words: the tensors by name, the host values, the lengths of vectors, the keys of maps and which optionals are there.
struct Description {
  std::vector<std::string> tensors;
  std::vector<Part> parts;
};

std::string text_of(bool value);
std::string text_of(int64_t value);
std::string text_of(uint64_t value);
std::string text_of(float value);
std::string text_of(double value);
std::string text_of(const std::string& value);  ///< in quotes
std::string text_of(const Variable& value);
std::string text_of(const Stateful& value);
template <Number T>
std::string text_of(T value) {
  if constexpr (std::is_enum_v<T>) {
    constexpr bool knows_its_names = !std::is_convertible_v<T, int> && requires { std::string(to_string(value)); };
    if constexpr (knows_its_names) {
      return std::string(to_string(value));
    } else {
      return text_of(static_cast<std::underlying_type_t<T>>(value));
    }
  } else {
    return text_of(static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(value));
  }
}

/// Puts everything in words; see describe().
class Describer {
 public:
  explicit Describer(std::string root) : root_(std::move(root)) {}

  void enter(std::string_view field);
  void enter(const char* field) { enter(std::string_view(field)); }
  void enter(const std::string& key) { enter_at(text_of(key)); }
  void enter(const Number auto& index) { enter_at(text_of(index)); }
  void leave();

  void tensor(const Tensor&) { description.tensors.push_back(name()); }
  template <class T>
  void host(const T& value) {
    if constexpr (std::is_same_v<T, Variable>) {
      add(text_of(value), Role::Object, "variable");
    } else if constexpr (std::derived_from<T, Stateful>) {
      add(text_of(value), Role::Object, value.identity().kind());
      description.parts.back().facts = value.identity().facts();
    } else {
      add(text_of(value), Number<T> ? Role::Number : Role::Text);
    }
  }
  void length(size_t value);
  void presence(bool value) { add(value ? "a value" : "nothing", Role::Presence); }
  void keys(const auto& map) {
    std::string text;
    for (const auto& each : map) text += (text.empty() ? "keys " : ", ") + text_of(each.first);
    add(text.empty() ? "no keys" : std::move(text));
  }

  Description description;

 private:
  void enter_at(const std::string& index);
  void add(std::string value, Role role = Role::Structure, std::string_view kind = {}) {
    description.parts.push_back({name(kind), std::move(value), role});
  }
  std::string name(std::string_view kind = {}) const;  ///< "argument 1 (options.rate)"; at the root "argument 0 (model)" by its kind

  std::string root_;
  std::string path_;
  std::vector<size_t> ends_;  ///< of the paths around this one
};

/// The value in words, as a part of something: describe(options, "argument 1").
template <class T>
Description describe(const T& value, std::string root) {
  Describer describer(std::move(root));
  walk(describer, value);
  return std::move(describer.description);
}

/// What became another thing between two values of one type, in words: "argument 1 (options.rate): 0.25 became 0.5". Where
/// there is a part more or less, the length, key or presence that says so is such a thing.
struct Change {
  std::string text;
  Role role;
};
std::vector<Change> changes(std::span<const Part> earlier, std::span<const Part> later);

}  // namespace anyshape::detail::structure
#pragma GCC visibility pop
