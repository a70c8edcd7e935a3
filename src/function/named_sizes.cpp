// Every name, number and gap is looked at before anything is computed with them.
#include "function/named_sizes.h"

#include "base/near_names.h"
#include "shape/dim_node.h"

#include <anyshape/error.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace anyshape::function_detail {
namespace {

const std::string& name_of(const Dim& symbol) { return as_symbol(symbol)->name; }

std::vector<std::string> names_in(const std::vector<Dim>& symbols) {
  std::vector<std::string> names;
  for (const Dim& symbol : symbols) {
    if (std::ranges::find(names, name_of(symbol)) == names.end()) names.push_back(name_of(symbol));
  }
  return names;
}

bool can_be(int64_t size, const DimOptions& options) {
  return size >= options.min && size <= options.max && size % options.multiple_of == 0;
}

std::string sizes_of(const DimOptions& options) {
  const std::string range = options.max == std::numeric_limits<int64_t>::max()
                                ? fmt::format("a size of {} or more", options.min)
                                : fmt::format("a size from {} to {}", options.min, options.max);
  return options.multiple_of == 1 ? range : fmt::format("{}, a multiple of {}", range, options.multiple_of);
}

}  // namespace

NamedSizes::NamedSizes(std::string_view function, std::string_view asked, const std::vector<Entry>& entries,
                       const std::vector<NamedSize>& sizes)
    : function_(function), asked_(asked), entries_(entries), sizes_(sizes) {
  require_known();
  require_once();
  require_possible();
}

Substitution NamedSizes::of(const Signature& signature) const {
  Substitution known;
  for (const Dim& symbol : signature.symbols()) {
    if (const NamedSize* const size = find(name_of(symbol))) known[as_symbol(symbol)->id] = size->value;
  }
  return known;
}

std::vector<int64_t> NamedSizes::all_of(const Signature& signature) const {
  std::vector<std::string> missing, wanted;
  for (const std::string& name : names_in(signature.symbols())) {
    wanted.push_back(fmt::format("{{\"{}\", ...}}", name));
    if (find(name) == nullptr) missing.push_back(fmt::format("\"{}\"", name));
  }
  if (!missing.empty())
    refuse(fmt::format("no size is given for {}; expected {}({{{}}}).", fmt::join(missing, ", "), asked_, fmt::join(wanted, ", ")));
  std::vector<int64_t> values;
  for (const Dim& symbol : signature.symbols()) values.push_back(find(name_of(symbol))->value);
  return values;
}

const NamedSize* NamedSizes::find(std::string_view name) const {
  const auto found = std::ranges::find(sizes_, name, &NamedSize::name);
  return found == sizes_.end() ? nullptr : &*found;
}

void NamedSizes::require_known() const {
  std::vector<Dim> symbols;
  for (const Entry& entry : entries_)
    symbols.insert(symbols.end(), entry->signature().symbols().begin(), entry->signature().symbols().end());
  const std::vector<std::string> names = names_in(symbols);
  for (const NamedSize& size : sizes_) {
    if (std::ranges::find(names, size.name) != names.end()) continue;
    refuse(names.empty() ? fmt::format("\"{}\" is no size; expected none: all are numbers.", size.name)
                         : unknown_name("size", size.name, names));
  }
}

void NamedSizes::require_once() const {
  for (const NamedSize& size : sizes_) {
    if (std::ranges::count(sizes_, size.name, &NamedSize::name) > 1)
      refuse(fmt::format("\"{}\" is given twice; expected one size for each name.", size.name));
  }
}

void NamedSizes::require_possible() const {
  for (const Entry& entry : entries_) {
    for (const Dim& symbol : entry->signature().symbols()) {
      const DimOptions& options = as_symbol(symbol)->options;
      const NamedSize* const size = find(name_of(symbol));
      if (size != nullptr && !can_be(size->value, options))
        refuse(fmt::format("\"{}\" is {}; expected {}.", size->name, size->value, sizes_of(options)));
    }
  }
}

void NamedSizes::refuse(const std::string& what) const {
  std::vector<std::string> traces;
  for (const Entry& entry : entries_) traces.push_back(entry->signature().to_string());
  throw ArgumentError(fmt::format("function \"{}\": {}: {} The trace{} {}.", function_, asked_, what, traces.size() == 1 ? " is" : "s are",
                                  fmt::join(traces, ", ")));
}

}  // namespace anyshape::function_detail
