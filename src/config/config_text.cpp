// Configs for people: Dense(units=10, activation=relu()).
#include "config/plain_text.h"

#include <anyshape/config.h>

#include <ostream>

namespace anyshape {
namespace {

void append(std::string& text, const Config& config);

void append_fields(std::string& text, const Config& config, char begin, char end, std::string_view between) {
  append_joined(text, begin, config.fields(), end, [&](const Config::Field& field) {
    text += field.name;
    text += between;
    append(text, field.value);
  });
}

void append(std::string& text, const Config& config) {
  switch (config.kind()) {
    case Config::Kind::Map: append_fields(text, config, '{', '}', ": "); break;
    case Config::Kind::Object:
      text += config.class_name();
      append_fields(text, config, '(', ')', "=");
      break;
    default: append_plain(text, config, "none", append);
  }
}

}  // namespace

std::string to_string(const Config& config) {
  std::string text;
  append(text, config);
  return text;
}

std::ostream& operator<<(std::ostream& out, const Config& config) { return out << to_string(config); }

}  // namespace anyshape
