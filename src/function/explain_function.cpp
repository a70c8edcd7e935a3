// Function::explain(): every trace that is held, with what its code does.
#include "function/function_state.h"
#include "function/named_sizes.h"
#include "function/program_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace anyshape {

using function_detail::Entry;

std::string FunctionCore::explain(const std::vector<NamedSize>& sizes) const {
  const std::vector<Entry> entries = state_->cache.entries();
  const std::string& name = state_->options.name;
  if (entries.empty()) return fmt::format("function \"{}\": no trace yet; the first call makes one\n", name);
  const function_detail::NamedSizes known(name, "explain", entries, sizes);
  std::vector<std::string> given;
  for (const NamedSize& size : sizes) given.push_back(fmt::format("{} = {}", size.name, size.value));
  std::string text;
  for (const Entry& entry : entries) {
    text += fmt::format("{}function \"{}\", trace {}: {}{}{}\n", text.empty() ? "" : "\n", name, entry->number(),
                        entry->signature().to_string(), given.empty() ? "" : " at ", fmt::join(given, ", "));
    const runtime::Executable& executable = entry->executable();
    text += function_detail::explain_program(executable.program(), executable.peak().arena, known.of(entry->signature()));
  }
  return text;
}

}  // namespace anyshape
