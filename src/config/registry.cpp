// Names and what is made by them. Registries are looked into and added to by any thread.
#include "base/cut_text.h"
#include "base/fork_mutex.h"
#include "base/near_names.h"

#include <anyshape/registry.h>

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <typeindex>

namespace anyshape {

namespace detail {

Made::~Made() = default;

namespace {

// "an activation", "a loss".
std::string one(const std::string& kind) {
  return (std::string_view("aeiou").find(kind[0]) == std::string_view::npos ? "a " : "an ") + kind;
}

}  // namespace

struct RegistryTable::State {
  std::string kind;
  OtherNames others;
  mutable ForkMutex mutex;
  std::map<std::string, std::shared_ptr<const RegistryEntry>> by_name;  // and by alias
  std::map<std::type_index, std::shared_ptr<const RegistryEntry>> by_type;
};

RegistryTable::RegistryTable(std::string kind, OtherNames others) : state_(std::make_unique<State>()) {
  state_->kind = std::move(kind);
  state_->others = std::move(others);
}
RegistryTable::~RegistryTable() = default;

const std::string& RegistryTable::kind() const { return state_->kind; }

void RegistryTable::add(RegistryEntry entry) {
  if (entry.name.empty()) throw ArgumentError(fmt::format("register: the name of {} is empty; expected one.", one(kind())));
  if (state_->others.extend) state_->others.extend(entry);
  const auto added = std::make_shared<const RegistryEntry>(std::move(entry));
  std::vector<std::string> names = added->aliases;
  names.push_back(added->name);
  const std::scoped_lock lock(state_->mutex);
  for (const std::string& name : names) {
    const auto found = state_->by_name.find(name);
    if (found == state_->by_name.end() || found->second->origin == added->origin) continue;
    throw ArgumentError(
        fmt::format("register: the {} {} is there already, made by something else; expected a name of its own.", kind(), in_quotes(name)));
  }
  for (const std::string& name : names) state_->by_name[name] = added;
  if (added->type != nullptr) state_->by_type[*added->type] = added;
}

std::shared_ptr<const RegistryEntry> RegistryTable::find(const std::string& name) const {
  const std::scoped_lock lock(state_->mutex);
  const auto found = state_->by_name.find(name);
  return found == state_->by_name.end() ? nullptr : found->second;
}

std::shared_ptr<const RegistryEntry> RegistryTable::find(const std::type_info& type) const {
  const std::scoped_lock lock(state_->mutex);
  const auto found = state_->by_type.find(type);
  return found == state_->by_type.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<const RegistryEntry>> RegistryTable::entries() const {
  std::vector<std::shared_ptr<const RegistryEntry>> all;
  const std::scoped_lock lock(state_->mutex);
  for (const auto& [name, entry] : state_->by_name) {
    if (name == entry->name) all.push_back(entry);
  }
  return all;
}

std::vector<std::string> RegistryTable::names() const {
  std::vector<std::string> all;
  {
    const std::scoped_lock lock(state_->mutex);
    for (const auto& each : state_->by_name) all.push_back(each.first);
  }
  if (!state_->others.names) return all;
  for (std::string& name : state_->others.names()) all.push_back(std::move(name));
  return all;
}

void RegistryTable::make(const Config& config, void* made) const {
  const bool is_object = config.kind() == Config::Kind::Object, is_name = config.kind() == Config::Kind::Text;
  if (config.is_callable()) {
    throw ArgumentError(
        fmt::format("{0}: the config stands for a callable of a program, which no config can make; expected the name of {1}. Write it as a "
                    "class or a function of options and register that, or put the callable in where the {0} is used.",
                    kind(), one(kind())));
  }
  if (config.is_unregistered()) {
    throw ArgumentError(fmt::format(
        "{0}: the config stands for an object of the class {1}, which was not registered; expected the name of {2}. Register the class "
        "(register_{0}) before its config is asked for.",
        kind(), to_string(config["class"]), one(kind())));
  }
  if (is_object || is_name) {
    if (const std::shared_ptr<const RegistryEntry> entry = find(is_object ? config.class_name() : config.as_text()))
      return entry->make(config, made);
  }
  if (state_->others.make && state_->others.make(config, made)) return;
  if (!is_object && !is_name) {
    throw ArgumentError(
        fmt::format("{}: the config is {}; expected {} or the name of one.", kind(), shortened(to_string(config)), one(kind())));
  }
  throw ArgumentError(fmt::format("{}: {}", kind(), unknown_name(kind(), is_object ? config.class_name() : config.as_text(), names())));
}

}  // namespace detail

std::vector<RegisteredName> Registry::entries() const {
  std::vector<RegisteredName> all;
  for (const auto& entry : table_.entries()) all.push_back({entry->name, entry->aliases, entry->fields()});
  return all;
}

}  // namespace anyshape
