// What can be made by name: one registry per kind of object, of names and how to make an object from a config. The kinds are Loss, Metric, Optimizer,
// Schedule, Initializer, Regularizer, ActivationFunction, AnyLayer, AnyCallback and Dataset; registry_of<Loss>() is that of losses.
#pragma once
#include <anyshape/config.h>
#include <anyshape/option_fields.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

/// A field of what is registered.
struct RegisteredField {
  std::string name;
  bool is_required = false;
  std::string expected = {};  ///< of a required one: "a whole number"
  Config by_default = {};     ///< of another one
};

/// A name, other names for the same, and the fields of its config.
struct RegisteredName {
  std::string name;
  std::vector<std::string> aliases = {};
  std::vector<RegisteredField> fields = {};
};

namespace detail {

/// A name, and how an object is made by it.
struct RegistryEntry {
  std::string name;
  std::vector<std::string> aliases = {};
  std::function<std::vector<RegisteredField>()> fields = {};
  std::function<void(const Config& config, void* made)> make = {};  ///< into a std::optional of the kind
  const void* origin = nullptr;                                     ///< what makes it: the same name with another one is refused
  /// Of a class of the user's: its objects are known by their type.
  const std::type_info* type = nullptr;
  std::function<Config(const void* object)> config_of = {};
};
/// Where a kind takes more than its own names: a number as a schedule, a loss as a metric. `make` gives whether it has made something. `extend` is
/// called with every entry before it is there: each layer's config may say that it is frozen.
struct OtherNames {
  std::function<bool(const Config& config, void* made)> make = {};
  std::function<std::vector<std::string>()> names = {};
  std::function<void(RegistryEntry& entry)> extend = {};
};

/// What a registry is for the library: objects are made and found in it.
class RegistryTable {
 public:
  RegistryTable(std::string kind, OtherNames others);
  ~RegistryTable();
  RegistryTable(const RegistryTable&) = delete;
  RegistryTable& operator=(const RegistryTable&) = delete;

  const std::string& kind() const;
  void add(RegistryEntry entry);                      ///< ArgumentError for a name that is taken
  void make(const Config& config, void* made) const;  ///< into a std::optional of the kind; ArgumentError for an unknown name
  std::shared_ptr<const RegistryEntry> find(const std::string& name) const;     ///< by name or alias; none: nullptr
  std::shared_ptr<const RegistryEntry> find(const std::type_info& type) const;  ///< by class of the user's; none: nullptr
  std::vector<std::shared_ptr<const RegistryEntry>> entries() const;            ///< by name
  std::vector<std::string> names() const;                                       ///< with aliases and those of others

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace detail

/// The names of one kind, and what the config of each holds. Any thread may add and look.
class Registry {
 public:
  explicit Registry(std::string kind, detail::OtherNames others = {}) : table_(std::move(kind), std::move(others)) {}
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  const std::string& kind() const { return table_.kind(); }          ///< "loss", "metric", ...: what messages call it
  std::vector<RegisteredName> entries() const;                       ///< by name
  std::vector<std::string> names() const { return table_.names(); }  ///< all that a text may say: aliases, too
  detail::RegistryTable& table() { return table_; }                  ///< for the library

 private:
  detail::RegistryTable table_;
};

/// The object that a config or a name describes: as::make<as::Loss>("mse"). ArgumentError for one that is not registered, and for unknown fields.
template <class Kind>
Kind make(const Config& config) {
  std::optional<Kind> made;
  registry_of<Kind>().table().make(config, &made);
  return *std::move(made);
}

namespace detail {

/// How an object was made: the name that it is registered under, and its options.
class Made {
 public:
  virtual ~Made();
  virtual Config config() const = 0;  ///< the name and the options as a config
};

/// Tells an object how it was made.
struct MadeAccess {
  template <class Kind>
  static void set(Kind& object, std::shared_ptr<const Made> made) {
    object.set_made(std::move(made));
  }
};

template <class... Parts>
class MadeFrom final : public Made {
 public:
  explicit MadeFrom(std::string name, Parts... parts) : name_(std::move(name)), parts_(std::move(parts)...) {}
  Config config() const override {
    std::vector<Config::Field> fields;
    std::apply([&](const auto&... each) { (append_fields(fields, each), ...); }, parts_);
    return Config::object(name_, std::move(fields));
  }

 private:
  std::string name_;
  std::tuple<Parts...> parts_;
};

template <class... Parts>
std::shared_ptr<const Made> made_from(std::string name, Parts... parts) {
  return std::make_shared<const MadeFrom<Parts...>>(std::move(name), std::move(parts)...);
}

/// Of several structs all but the last are arguments without defaults.
template <class Part, bool is_required>
Part read_part(const Config& config, const std::string& owner) {
  if constexpr (is_required) {
    return required_fields<Part>(config, owner, std::make_index_sequence<fields::count<Part>()>());
  } else {
    Part options{};
    if (config.kind() == Config::Kind::Object) read_fields(options, config, owner);
    return options;
  }
}

template <class Part, bool is_required>
void append_registered(std::vector<RegisteredField>& fields) {
  if constexpr (is_required) {
    size_t index = 0;
    const auto add = [&]<class... Fields>(std::type_identity<std::tuple<Fields&...>>) {
      (fields.push_back({.name = std::string(fields::names<Part>[index++]), .is_required = true, .expected = expected_words<Fields>()}),
       ...);
    };
    add(std::type_identity<decltype(fields::references(std::declval<Part&>()))>());
  } else {
    std::vector<Config::Field> defaults;
    append_fields(defaults, Part{});
    for (Config::Field& each : defaults) fields.push_back({.name = std::move(each.name), .by_default = std::move(each.value)});
  }
}

template <class Kind, class... Parts, size_t... indices>
RegistryEntry entry_of(std::string name, Kind (*make)(Parts...), std::index_sequence<indices...>) {
  return {
      .name = std::move(name),
      .fields =
          [] {
            std::vector<RegisteredField> fields;
            (append_registered<Parts, (indices + 1 < sizeof...(Parts))>(fields), ...);
            return fields;
          },
      .make =
          [make](const Config& config, void* made) {
            const std::string owner = config.kind() == Config::Kind::Object ? config.class_name() : config.as_text();
            std::vector<std::string_view> names;
            (names.insert(names.end(), fields::names<Parts>.begin(), fields::names<Parts>.end()), ...);
            require_known(config, owner, names);
            static_cast<std::optional<Kind>*>(made)->emplace(make(read_part<Parts, (indices + 1 < sizeof...(Parts))>(config, owner)...));
          },
      .origin = reinterpret_cast<const void*>(make)};
}

/// A name for what a function makes of a plain struct of options: registered("adam", adam), of Optimizer adam(AdamOptions). With two structs the fields
/// of the first have no defaults.
template <class Kind, class... Parts>
RegistryEntry registered(std::string name, Kind (*make)(Parts...), std::vector<std::string> aliases = {}) {
  RegistryEntry entry = entry_of(std::move(name), make, std::index_sequence_for<Parts...>());
  entry.aliases = std::move(aliases);
  return entry;
}

}  // namespace detail

/// The object, with how it was made: what a function that is registered gives back.
///   as::Loss quantile(QuantileOptions options) { return as::with_config(as::Loss([=](auto& y, auto& p) {...}), "quantile", options); }
template <class Kind, class... Parts>
Kind with_config(Kind object, std::string name, Parts... parts) {
  detail::MadeAccess::set(object, detail::made_from(std::move(name), std::move(parts)...));
  return object;
}

}  // namespace anyshape
#pragma GCC visibility pop
