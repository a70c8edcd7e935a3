// Names as the compiler mangles them, and as people write them.
#include "base/class_name.h"

#include <cxxabi.h>

#include <cctype>
#include <cstdlib>
#include <memory>

namespace anyshape {

std::string class_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  const std::string full = status == 0 ? text.get() : type.name();
  const size_t scope = full.rfind("::");
  return scope == std::string::npos ? full : full.substr(scope + 2);
}

std::string snake_case(std::string_view name) {
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    const auto upper = [&](size_t at) { return at < name.size() && std::isupper(static_cast<unsigned char>(name[at])) != 0; };
    const bool ends_lower = i > 0 && std::islower(static_cast<unsigned char>(name[i - 1])) != 0;
    const bool ends_acronym = i > 0 && upper(i - 1) && i + 1 < name.size() && std::islower(static_cast<unsigned char>(name[i + 1])) != 0;
    if (upper(i) && (ends_lower || ends_acronym)) text += '_';
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return text;
}

}  // namespace anyshape
