// Safetensors: eight bytes of header length, a JSON header with dtype, shape and offsets of every tensor, then the elements. Files are
// hostile: the header is read by a parser that knows nothing but this form, and every offset is checked before memory is asked for.
#include "io/safetensors.h"

#include "base/cut_text.h"
#include "base/json_text.h"
#include "io/json_reader.h"
#include "io/read_file.h"
#include "io/whole_file.h"
#include "tensor/host_data.h"
#include "tensor/view.h"

#include <anyshape/error.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string_view>

namespace anyshape::io {
namespace {

constexpr std::array<std::pair<std::string_view, Dtype>, 8> dtypes = {{{"BOOL", Dtype::b8},
                                                                       {"U8", Dtype::u8},
                                                                       {"I32", Dtype::i32},
                                                                       {"I64", Dtype::i64},
                                                                       {"F16", Dtype::f16},
                                                                       {"BF16", Dtype::bf16},
                                                                       {"F32", Dtype::f32},
                                                                       {"F64", Dtype::f64}}};
constexpr std::string_view metadata_key = "__metadata__";
constexpr int64_t longest_header = 100'000'000;  // as the format's own reader
constexpr size_t most_texts = 10'000;            // in the metadata: likewise, a short one takes many times its bytes
constexpr size_t most_tensors = 100'000;         // one of no elements takes memory that is nowhere in the file

[[noreturn]] void refuse(const std::filesystem::path& file, std::string_view what) {
  throw FormatError(fmt::format("safetensors: \"{}\" {}; expected a whole safetensors file.", file.string(), what));
}

struct Entry {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::vector<int64_t> shape = {};
  int64_t begin = 0, end = 0;
};

Entry read_entry(JsonReader& json, std::string name) {
  Entry entry{.name = std::move(name)};
  bool has_dtype = false, has_shape = false, has_offsets = false;
  json.members([&](const std::string& key) {
    if (key == "dtype") {
      const std::string spelled = json.string();
      const auto* const known = std::ranges::find(dtypes, spelled, &std::pair<std::string_view, Dtype>::first);
      if (known == dtypes.end()) json.fail("has the unknown dtype " + in_quotes(spelled));
      entry.dtype = known->second;
      has_dtype = true;
    } else if (key == "shape") {
      entry.shape = json.integers(static_cast<size_t>(max_rank));
      has_shape = true;
    } else if (key == "data_offsets") {
      const std::vector<int64_t> offsets = json.integers(2);
      if (offsets.size() != 2) json.fail("has data_offsets that are no pair of numbers");
      entry.begin = offsets[0];
      entry.end = offsets[1];
      has_offsets = true;
    } else {
      json.fail("has the unknown key " + in_quotes(key));
    }
  });
  if (!has_dtype || !has_shape || !has_offsets) json.fail("says too little of " + in_quotes(entry.name));
  return entry;
}

std::vector<Entry> read_header(const std::string& text, const std::filesystem::path& file, Metadata& metadata) {
  std::vector<Entry> entries;
  JsonReader json(text, [&](std::string_view what) { refuse(file, what); });
  json.members([&](const std::string& key) {
    if (key == metadata_key) {
      json.members([&](const std::string& name) {
        if (metadata.size() == most_texts) json.fail(fmt::format("has more than {} texts in its metadata", most_texts));
        if (!metadata.emplace(name, json.string()).second) json.fail(fmt::format("has {} twice in its metadata", in_quotes(name)));
      });
    } else {
      if (entries.size() == most_tensors) json.fail(fmt::format("has more than {} tensors", most_tensors));
      entries.push_back(read_entry(json, key));
    }
  });
  json.end();
  return entries;
}

void require_offsets(const Entry& entry, int64_t bytes, const std::filesystem::path& file) {
  int64_t wanted = size_of(entry.dtype);
  for (const int64_t size : entry.shape) {
    if (size < 0 || __builtin_mul_overflow(wanted, std::max<int64_t>(size, 1), &wanted)) refuse(file, "has a shape that is too large");
  }
  if (std::ranges::find(entry.shape, 0) != entry.shape.end()) wanted = 0;
  const bool is_inside = entry.begin >= 0 && entry.begin <= entry.end && entry.end <= bytes;
  if (!is_inside || entry.end - entry.begin != wanted) refuse(file, fmt::format("has no room for {} where it says", in_quotes(entry.name)));
}

// In the order of their offsets, which must be one behind the other over the whole of the data: bytes that are read twice would ask for
// more memory than the file has.
void put_in_order(std::vector<Entry>& entries, int64_t bytes, const std::filesystem::path& file) {
  std::ranges::sort(entries, {}, [](const Entry& entry) { return std::pair(entry.begin, entry.end); });
  int64_t end = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != end)
      refuse(file, fmt::format("has {} at an offset that does not follow the tensor before it", in_quotes(entry.name)));
    end = entry.end;
  }
  if (end != bytes) refuse(file, "has bytes behind its last tensor");
}

}  // namespace

// What would be written can be read again: found before the file that is there is touched.
static void require_readable(const std::filesystem::path& file, const std::vector<std::pair<std::string, Tensor>>& tensors) {
  if (tensors.size() > most_tensors) {
    throw ArgumentError(
        fmt::format("safetensors: {} tensors for \"{}\"; expected at most {}.", tensors.size(), file.string(), most_tensors));
  }
  std::set<std::string_view> names;
  for (const auto& each : tensors) {
    if (each.first == metadata_key) {
      throw ArgumentError(
          fmt::format("safetensors: a tensor for \"{}\" is named \"{}\", which the format keeps for itself; expected another name.",
                      file.string(), metadata_key));
    }
    if (!names.insert(each.first).second) {
      throw ArgumentError(
          fmt::format("safetensors: two tensors for \"{}\" are named \"{}\"; expected names that differ.", file.string(), each.first));
    }
  }
}

static std::string metadata_text(const std::filesystem::path& file, const Metadata& metadata) {
  if (metadata.size() > most_texts) {
    throw ArgumentError(fmt::format("safetensors: {} texts for \"{}\"; expected at most {}.", metadata.size(), file.string(), most_texts));
  }
  std::string text;
  for (const auto& [name, value] : metadata) {
    if (!is_utf8(name) || !is_utf8(value)) {
      throw ArgumentError(
          fmt::format("safetensors: the text {} for \"{}\" is not UTF-8; expected texts that are, as the format's header is JSON.",
                      json_text(name), file.string()));
    }
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", json_text(name), json_text(value));
  }
  return text;
}

void save_safetensors(const std::filesystem::path& file, const std::vector<std::pair<std::string, Tensor>>& tensors,
                      const Metadata& metadata) {
  require_readable(file, tensors);
  std::vector<Tensor> dense;
  std::string header = "{";
  if (!metadata.empty()) header += fmt::format("{}:{{{}}}", json_text(std::string(metadata_key)), metadata_text(file, metadata));
  int64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    if (!is_utf8(name)) {
      throw ArgumentError(
          fmt::format("safetensors: the name {} for \"{}\" is not UTF-8; expected names that are, as the format's header is JSON.",
                      json_text(name), file.string()));
    }
    dense.push_back(contiguous(tensor));
    const TensorImpl& impl = *dense.back().impl();
    const int64_t bytes = impl.count() * size_of(impl.dtype);
    const auto* const spelled = std::ranges::find(dtypes, impl.dtype, &std::pair<std::string_view, Dtype>::second);
    header += fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}", header.size() > 1 ? "," : "",
                          json_text(name), spelled->first, fmt::join(impl.extents(), ","), offset, offset + bytes);
    offset += bytes;
  }
  header += '}';
  header.append((8 - header.size() % 8) % 8, ' ');
  if (static_cast<int64_t>(header.size()) > longest_header) {
    throw ArgumentError(fmt::format("safetensors: the names and shapes for \"{}\" take {} bytes; expected at most {}.", file.string(),
                                    header.size(), longest_header));
  }
  const auto length = static_cast<uint64_t>(header.size());
  std::array<char, 8> bytes{};
  std::memcpy(bytes.data(), &length, bytes.size());
  WholeFile out("safetensors", file);
  out.write({bytes.data(), bytes.size()});
  out.write(header);
  for (const Tensor& tensor : dense) {
    out.write({host_data(tensor), static_cast<size_t>(tensor.impl()->count() * size_of(tensor.dtype()))});
  }
  out.commit();
}

std::map<std::string, Tensor> load_safetensors(const std::filesystem::path& file) { return load_safetensors_with_metadata(file).tensors; }

Safetensors load_safetensors_with_metadata(const std::filesystem::path& file) {
  ReadFile in(file);
  if (!in.problem().empty()) refuse(file, in.problem());
  int64_t left = in.size();
  std::array<char, 8> bytes{};
  uint64_t length = 0;
  if (left < 8 || in.read(bytes.data(), bytes.size()) != 8) refuse(file, "ends inside the length of its header");
  std::memcpy(&length, bytes.data(), bytes.size());
  left -= 8;
  if (length > static_cast<uint64_t>(std::min(left, longest_header))) refuse(file, "ends inside its header");
  std::string header(length, '\0');
  if (in.read(header.data(), static_cast<int64_t>(length)) != static_cast<int64_t>(length)) refuse(file, "cannot be read");
  left -= static_cast<int64_t>(length);

  Safetensors read{.tensors = {}, .metadata = {}, .bytes = in.size()};
  std::vector<Entry> entries = read_header(header, file, read.metadata);
  for (const Entry& entry : entries) require_offsets(entry, left, file);
  put_in_order(entries, left, file);
  for (const Entry& entry : entries) {
    const Tensor tensor = make_empty(entry.dtype, entry.shape);
    char* const elements = host_data(tensor);
    if (in.read(elements, entry.end - entry.begin) != entry.end - entry.begin) refuse(file, "cannot be read");
    if (entry.dtype == Dtype::b8) {  // any byte but 0 is true; inside the library true is 1
      std::transform(elements, elements + (entry.end - entry.begin), elements, [](char byte) { return byte != 0 ? '\1' : '\0'; });
    }
    if (!read.tensors.emplace(entry.name, tensor).second) refuse(file, fmt::format("has {} twice", in_quotes(entry.name)));
  }
  return read;
}

}  // namespace anyshape::io
