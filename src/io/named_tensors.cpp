// Tensors by name in a safetensors file. A ragged tensor stands there as its values and its splits, and a text beside them says so.
#include "base/cut_text.h"
#include "base/json_text.h"
#include "base/near_names.h"
#include "io/json_reader.h"
#include "io/safetensors.h"
#include "tensor/partition.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/io.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

constexpr const char* ragged_key = "anyshape.ragged";  // a JSON list of names
constexpr size_t most_ragged = 100'000;

std::string values_name(const std::string& name) { return name + ".values"; }
std::string splits_name(const std::string& name) { return name + ".splits"; }

[[noreturn]] void refuse(const std::filesystem::path& file, std::string_view what) {
  throw FormatError(fmt::format("load_tensors: \"{}\" {}; expected a whole safetensors file.", file.string(), what));
}

std::vector<std::string> ragged_names(const std::filesystem::path& file, const std::string& text) {
  std::vector<std::string> names;
  const std::string part = fmt::format("its text \"{}\"", ragged_key);
  io::JsonReader json(text, [&](std::string_view what) { refuse(file, what); }, {.part = part, .depth = 1});
  json.elements([&] {
    if (names.size() == most_ragged) json.fail(fmt::format("has more than {} names in {}", most_ragged, part));
    names.push_back(json.string());
  });
  json.end();
  return names;
}

// Out of the map, where it must be.
Tensor part_of(const std::filesystem::path& file, std::map<std::string, Tensor>& tensors, const std::string& name) {
  const auto found = tensors.extract(name);
  if (found.empty()) refuse(file, fmt::format("has no {}, a part of a ragged tensor", in_quotes(name)));
  return found.mapped();
}

Tensor joined(const std::filesystem::path& file, const std::string& name, const Tensor& values, const Tensor& splits) {
  const auto refuse_rows = [&](std::string_view why) {
    refuse(file, fmt::format("has rows of {} that are no rows ({})", in_quotes(name), why));
  };
  try {
    const std::shared_ptr<const Partition> partition = make_partition(splits, "ragged");
    if (values.rank() > 0 && values.rank() < max_rank && values.impl()->sizes[0] != partition->total.value()) {
      refuse_rows(fmt::format("{} values for splits up to {}", values.impl()->sizes[0], partition->total.value()));
    }
    return make_ragged(values, partition);
  } catch (const ShapeError& error) {
    refuse_rows(error.what());
  } catch (const DataError& error) {
    refuse_rows(error.what());
  }
  throw InternalError("load_tensors: rows that were refused");
}

}  // namespace

const Tensor& StoredTensors::operator[](const std::string& name) const {
  const auto found = tensors.find(name);
  if (found != tensors.end()) return found->second;
  std::vector<std::string> known;
  known.reserve(tensors.size());
  for (const auto& each : tensors) known.push_back(each.first);
  throw ArgumentError("load_tensors: " + unknown_name("tensor of the file", name, known));
}

void save_tensors(const std::filesystem::path& file, const NamedTensors& tensors, const SaveTensorsOptions& options) {
  if (options.metadata.contains(ragged_key)) {
    throw ArgumentError(
        fmt::format("save_tensors: the metadata for \"{}\" have the name \"{}\", which says what is ragged; expected another name.",
                    file.string(), ragged_key));
  }
  std::vector<NamedTensors::Entry> dense;
  std::string ragged;
  for (const auto& [name, tensor] : tensors.entries()) {
    const std::string place = "save_tensors: " + in_quotes(name);
    if (const RaggedTensor* const rows = as_ragged(tensor)) {
      require_eager(rows->values, place);
      require_eager(rows->partition->splits, place);
      dense.emplace_back(values_name(name), rows->values);
      dense.emplace_back(splits_name(name), rows->partition->splits);
      ragged += (ragged.empty() ? "[" : ",") + json_text(name);
    } else {
      require_eager(tensor, place);
      dense.emplace_back(name, tensor);
    }
  }
  io::Metadata metadata = options.metadata;
  if (!ragged.empty()) metadata.emplace(ragged_key, ragged + "]");
  io::save_safetensors(file, dense, metadata);
}

StoredTensors load_tensors(const std::filesystem::path& file) {
  io::Safetensors read = io::load_safetensors_with_metadata(file);
  StoredTensors stored{.tensors = std::move(read.tensors), .metadata = std::move(read.metadata)};
  const auto note = stored.metadata.extract(ragged_key);
  if (note.empty()) return stored;
  for (const std::string& name : ragged_names(file, note.mapped())) {
    const Tensor values = part_of(file, stored.tensors, values_name(name)), splits = part_of(file, stored.tensors, splits_name(name));
    if (!stored.tensors.emplace(name, joined(file, name, values, splits)).second)
      refuse(file, fmt::format("has {} twice", in_quotes(name)));
  }
  return stored;
}

}  // namespace anyshape
