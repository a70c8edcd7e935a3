// Function::explain(): every trace that is held, with what its code does.
#include "base/near_names.h"
#include "function/function_state.h"
#include "function/program_text.h"
#include "shape/dim_node.h"

#include <anyshape/error.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace anyshape {
namespace {

using function_detail::Entry;

// The given sizes as numbers for the symbols of one trace that have these names.
Substitution known_sizes(const std::vector<Dim>& symbols, const std::vector<NamedSize>& sizes) {
  Substitution known;
  for (const Dim& dim : symbols) {
    const Symbol& symbol = *as_symbol(dim);
    const auto given = std::ranges::find(sizes, symbol.name, &NamedSize::name);
    if (given == sizes.end()) continue;
    if (given->value < symbol.options.min || given->value > symbol.options.max) {
      throw ArgumentError(fmt::format("explain: {} = {} is no size that a call can have; expected {} to {}.", symbol.name, given->value,
                                      symbol.options.min, symbol.options.max));
    }
    known[symbol.id] = given->value;
  }
  return known;
}

void require_names(const std::vector<Entry>& entries, const std::vector<NamedSize>& sizes) {
  std::vector<std::string> names;
  for (const Entry& entry : entries) {
    for (const Dim& symbol : entry->signature().symbols()) {
      if (std::ranges::find(names, as_symbol(symbol)->name) == names.end()) names.push_back(as_symbol(symbol)->name);
    }
  }
  for (const NamedSize& size : sizes) {
    if (std::ranges::find(names, size.name) == names.end()) throw ArgumentError("explain: " + unknown_name("size", size.name, names));
  }
}

}  // namespace

std::string FunctionCore::explain(const std::vector<NamedSize>& sizes) const {
  const std::vector<Entry> entries = state_->cache.entries();
  const std::string& name = state_->options.name;
  if (entries.empty()) return fmt::format("function \"{}\": no trace yet; the first call makes one\n", name);
  require_names(entries, sizes);
  std::vector<std::string> given;
  for (const NamedSize& size : sizes) given.push_back(fmt::format("{} = {}", size.name, size.value));
  std::string text;
  for (const Entry& entry : entries) {
    text += fmt::format("{}function \"{}\", trace {}: {}{}{}\n", text.empty() ? "" : "\n", name, entry->number(),
                        entry->signature().to_string(), given.empty() ? "" : " at ", fmt::join(given, ", "));
    const runtime::Executable& executable = entry->executable();
    text +=
        function_detail::explain_program(executable.program(), executable.peak().arena, known_sizes(entry->signature().symbols(), sizes));
  }
  return text;
}

}  // namespace anyshape
