// Configs as JSON and back. An object is {"class_name": ..., "config": {...}}, as in Keras's files; any other one is a map.
#include "base/cut_text.h"
#include "base/json_text.h"
#include "config/plain_text.h"
#include "io/json_reader.h"

#include <anyshape/config.h>
#include <anyshape/error.h>

#include <fmt/format.h>

#include <set>

namespace anyshape {
namespace {

constexpr const char* class_key = "class_name";
constexpr const char* fields_key = "config";

// What would be read as an object.
bool looks_like_object(const std::vector<Config::Field>& fields) {
  return fields.size() == 2 && fields[0].name == class_key && fields[0].value.kind() == Config::Kind::Text &&
         fields[1].name == fields_key && fields[1].value.kind() == Config::Kind::Map;
}

void append(std::string& text, const Config& config);

void append_fields(std::string& text, const Config& config) {
  append_joined(text, '{', config.fields(), '}', [&](const Config::Field& field) {
    text += json_text(field.name) + ": ";
    append(text, field.value);
  });
}

void append(std::string& text, const Config& config) {
  switch (config.kind()) {
    case Config::Kind::Map:
      if (looks_like_object(config.fields())) {
        throw ArgumentError(fmt::format(
            "config: a map has the fields \"{}\" and \"{}\", by which JSON tells an object; expected other names.", class_key, fields_key));
      }
      append_fields(text, config);
      break;
    case Config::Kind::Object:
      text += fmt::format("{{\"{}\": {}, \"{}\": ", class_key, json_text(config.class_name()), fields_key);
      append_fields(text, config);
      text += '}';
      break;
    default: append_plain(text, config, "null", append);
  }
}

Config read(io::JsonReader& json) {
  switch (json.peek()) {
    case '{': {
      std::vector<Config::Field> fields;
      std::set<std::string> names;
      json.members([&](const std::string& key) {
        if (!names.insert(key).second) json.fail(fmt::format("has the key {} twice in one object", in_quotes(key)));
        fields.push_back({key, read(json)});
      });
      if (looks_like_object(fields)) return Config::object(fields[0].value.as_text(), fields[1].value.fields());
      return Config::map(std::move(fields));
    }
    case '[': {
      std::vector<Config> items;
      json.elements([&] { items.push_back(read(json)); });
      return items;
    }
    case '"': return json.string();
    case 't':
    case 'f': return json.truth();
    case 'n': json.null(); return {};
    default: break;
  }
  const io::JsonReader::Number number = json.number();
  return number.is_whole ? Config(number.whole) : Config(number.value);
}

}  // namespace

std::string Config::to_json() const {
  std::string text;
  append(text, *this);
  return text;
}

Config Config::from_json(std::string_view text) {
  io::JsonReader json(
      text, [](std::string_view what) { throw FormatError(fmt::format("config: the text {}; expected one whole JSON value.", what)); },
      {.part = "the JSON", .depth = 200});
  Config config = read(json);
  json.end();
  return config;
}

}  // namespace anyshape
