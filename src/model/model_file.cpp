// The texts of the metadata are configs as JSON. How many values they may have depends on how long the file is: each takes more memory than text.
#include "model/model_file.h"

#include "base/cut_text.h"
#include "io/safetensors.h"

#include <anyshape/error.h>
#include <anyshape/version.h>

#include <fmt/format.h>

#include <charconv>

namespace anyshape::model {
namespace {

constexpr const char* format_key = "format";
constexpr const char* format_name = "anyshape model";
constexpr const char* version_key = "format_version";
constexpr const char* library_key = "library_version";
constexpr const char* architecture_key = "architecture";
constexpr const char* why_none_key = "why_no_architecture";
constexpr const char* layers_key = "layers";
constexpr const char* compile_key = "compile";
constexpr const char* random_key = "random";
constexpr const char* fit_key = "fit";
constexpr int64_t format_version = 1;

// A value as a Config, and what is made of it: a layer has several values, and takes some kilobytes.
constexpr int64_t bytes_of_value = 512;
constexpr int64_t bytes_of_layer = 4096;
constexpr int64_t always_allowed = int64_t{48} << 20;

// Values are parted by these.
int64_t most_values(std::string_view json) {
  int64_t count = 1;
  bool is_in_text = false;
  for (size_t at = 0; at < json.size(); ++at) {
    const char letter = json[at];
    if (is_in_text && letter == '\\') ++at;
    if (letter == '"') is_in_text = !is_in_text;
    if (!is_in_text && (letter == ',' || letter == ':' || letter == '[' || letter == '{')) ++count;
  }
  return count;
}

int64_t most_values(const io::Metadata& metadata) {
  int64_t count = 0;
  for (const auto& each : metadata) count += most_values(each.second);
  return count;
}

bool may_have(int64_t values, int64_t file_bytes) { return values <= (always_allowed + file_bytes * 3) / bytes_of_value; }

}  // namespace

int64_t most_layers(int64_t file_bytes) { return (always_allowed + file_bytes * 3) / bytes_of_layer; }

void write_model_file(const std::filesystem::path& file, const ModelParts& parts, const NamedTensors& tensors) {
  io::Metadata metadata = {{format_key, format_name},
                           {version_key, std::to_string(format_version)},
                           {library_key, std::string(version())},
                           {layers_key, detail::to_config(parts.layers).to_json()},
                           {random_key, detail::to_config(parts.random).to_json()}};
  if (!parts.architecture.is_null()) metadata[architecture_key] = parts.architecture.to_json();
  if (!parts.why_none.empty()) metadata[why_none_key] = parts.why_none;
  if (!parts.compile.is_null()) metadata[compile_key] = parts.compile.to_json();
  if (!parts.fit.is_null()) metadata[fit_key] = parts.fit.to_json();
  int64_t bytes = 0;
  for (const auto& each : metadata) bytes += static_cast<int64_t>(each.second.size());
  for (const auto& each : tensors) bytes += each.second.shape().count().value() * size_of(each.second.dtype());
  if (const int64_t values = most_values(metadata); !may_have(values, bytes)) {
    throw ArgumentError(
        fmt::format("save: the architecture and state of the model have {} values for \"{}\", which would have {} bytes; expected at most "
                    "{} for such a file. "
                    "Keep the weights alone by save_weights().",
                    values, file.string(), bytes, (always_allowed + bytes * 3) / bytes_of_value));
  }
  io::save_safetensors(file, tensors, metadata);
}

ModelFile::ModelFile(std::string what, std::filesystem::path file) : what_(std::move(what)), file_(std::move(file)) {
  io::Safetensors read = io::load_safetensors_with_metadata(file_);
  bytes_ = read.bytes;
  const auto text = [&](const char* key) -> const std::string* {
    const auto found = read.metadata.find(key);
    return found == read.metadata.end() ? nullptr : &found->second;
  };
  const std::string *const format = text(format_key), *const written = text(version_key), *const library = text(library_key);
  if (format == nullptr || *format != format_name) {
    refuse(fmt::format(
        "holds no whole model: its metadata has no {} \"{}\"; expected a file of Model::save. Weights alone are read by load_weights()",
        format_key, format_name));
  }
  int64_t number = 0;
  const auto parsed = written == nullptr ? std::from_chars_result{nullptr, std::errc::invalid_argument}
                                         : std::from_chars(written->data(), written->data() + written->size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != written->data() + written->size() || number < 1) {
    refuse(
        fmt::format("says {} of its {}; expected a number from 1 on", written == nullptr ? "nothing" : in_quotes(*written), version_key));
  }
  if (number > format_version) {
    refuse(fmt::format("is of format {}, written by anyshape {}; this is {}, which reads formats up to {}. Load it with a newer library",
                       number, library == nullptr ? "of an unknown version" : shortened(*library), version(), format_version));
  }
  if (const int64_t values = most_values(read.metadata); !may_have(values, read.bytes)) {
    refuse(fmt::format("has {} values in its metadata; expected at most {} in a file of {} bytes", values,
                       (always_allowed + read.bytes * 3) / bytes_of_value, read.bytes));
  }
  const auto part = [&](const char* key, bool is_required) -> Config {
    const std::string* const json = text(key);
    if (json == nullptr && is_required) refuse(fmt::format("has no {} in its metadata; expected a whole model", key));
    if (json == nullptr) return {};
    try {
      return Config::from_json(*json);
    } catch (const Error& error) {
      refuse_part(key, error);
    }
  };
  parts_.architecture = part(architecture_key, false);
  if (const std::string* const why = text(why_none_key)) parts_.why_none = *why;
  parts_.layers = in_part(layers_key, [&] { return detail::from_config<LayersPart>(part(layers_key, true), layers_key); });
  parts_.random = in_part(random_key, [&] { return detail::from_config<RandomPart>(part(random_key, true), random_key); });
  parts_.compile = part(compile_key, false);
  parts_.fit = part(fit_key, false);
  tensors_ = std::move(read.tensors);
}

std::map<std::string, Tensor> ModelFile::tensors_of(std::string_view begin) const {
  std::map<std::string, Tensor> found;
  for (auto each = tensors_.lower_bound(std::string(begin)); each != tensors_.end() && each->first.starts_with(begin); ++each) {
    found.emplace(each->first.substr(begin.size()), each->second);
  }
  return found;
}

void ModelFile::refuse(std::string_view what) const { throw FormatError(fmt::format("{}: \"{}\" {}.", what_, file_.string(), what)); }

void ModelFile::refuse_part(std::string_view part, const Error& error) const {
  throw FormatError(fmt::format("{}: \"{}\": its {}: {}", what_, file_.string(), part, error.what()));
}

}  // namespace anyshape::model
