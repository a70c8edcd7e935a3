// Reads index.json and the .safetensors files beside it; see tests/goldens/README.md for the format.
#include "support/golden.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

namespace anyshape::support {
namespace {

using TensorFile = std::map<std::string, GoldenTensor, std::less<>>;

std::string read_whole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) throw std::runtime_error(fmt::format("golden: cannot read {}", path.string()));
  return std::move(text).str();
}

size_t element_bytes(const std::string& dtype) {
  static const std::map<std::string, size_t> sizes = {{"F32", 4}, {"F64", 8}, {"I32", 4}, {"I64", 8}, {"BOOL", 1}};
  const auto found = sizes.find(dtype);
  if (found == sizes.end()) throw std::runtime_error(fmt::format("golden: unknown dtype {}", dtype));
  return found->second;
}

TensorFile read_safetensors(const std::filesystem::path& path) {
  const std::string text = read_whole(path);
  uint64_t header = 0;
  if (text.size() < sizeof header) throw std::runtime_error(fmt::format("golden: {} is too short", path.string()));
  std::memcpy(&header, text.data(), sizeof header);
  if (header > text.size() - sizeof header) throw std::runtime_error(fmt::format("golden: {} ends inside its header", path.string()));
  const std::string_view data = std::string_view(text).substr(sizeof header + header);
  const Json names = parse_json(std::string_view(text).substr(sizeof header, header));
  TensorFile result;
  for (const auto& [name, entry] : names.members()) {
    if (name == "__metadata__") continue;
    GoldenTensor tensor{entry["dtype"].string(), entry["shape"].integers(), {}};
    const std::vector<int64_t> offsets = entry["data_offsets"].integers();
    const size_t wanted = static_cast<size_t>(tensor.count()) * element_bytes(tensor.dtype);
    if (offsets.size() != 2 || offsets[0] < 0 || offsets[1] < offsets[0] || static_cast<size_t>(offsets[1]) > data.size() ||
        static_cast<size_t>(offsets[1] - offsets[0]) != wanted) {
      throw std::runtime_error(fmt::format("golden: {}: {} has wrong offsets", path.string(), name));
    }
    const auto bytes = std::as_bytes(std::span(data)).subspan(static_cast<size_t>(offsets[0]), wanted);
    tensor.bytes.assign(bytes.begin(), bytes.end());
    result.emplace(name, std::move(tensor));
  }
  return result;
}

GoldenTensors tensors_of(const Json& record, std::string_view field, const TensorFile& file) {
  GoldenTensors result;
  const Json* names = record.find(field);
  if (!names) return result;
  for (const auto& [short_name, full_name] : names->members()) {
    const auto found = file.find(full_name.string());
    if (found == file.end()) throw std::runtime_error(fmt::format("golden: no tensor {}", full_name.string()));
    result.add(short_name, found->second);
  }
  return result;
}

Json part_of(const Json& record, std::string_view field) {
  const Json* found = record.find(field);
  return found ? *found : Json();
}

std::string subject_of(const Json& record) {
  for (const char* field : {"op", "layer", "loss", "metric", "optimizer", "schedule", "curve", "initializer"}) {
    if (const Json* found = record.find(field)) return found->string();
  }
  return record["kind"].string();
}

GoldenCase case_of(const Json& record, const TensorFile& file) {
  GoldenCase result;
  result.name = record["name"].string();
  result.group = record["group"].string();
  result.kind = record["kind"].string();
  result.op = subject_of(record);
  result.attrs = part_of(record, "attrs");
  result.config = part_of(record, "config");
  result.call = part_of(record, "call");
  result.inputs = tensors_of(record, "inputs", file);
  result.weights = tensors_of(record, "weights", file);
  result.upstream = tensors_of(record, "upstream", file);
  result.outputs = tensors_of(record, "outputs", file);
  result.gradients = tensors_of(record, "gradients", file);
  result.weight_gradients = tensors_of(record, "weight_gradients", file);
  result.after = tensors_of(record, "after", file);
  result.rtol = record["rtol"].number();
  result.atol = record["atol"].number();
  if (const Json* names = record.find("unspecified")) result.unspecified = names->strings();
  result.compare_where = part_of(record, "compare_where");
  if (const Json* elements = record.find("denormal_inputs_at")) result.denormal_inputs_at = elements->integers();
  if (const Json* note = record.find("note")) result.note = note->string();
  result.record = record;
  return result;
}

template <class T>
std::string first_difference(const GoldenTensor& got, const GoldenTensor& want, double rtol, double atol,
                             std::span<const int64_t> ignored) {
  const std::vector<T> a = got.values<T>(), b = want.values<T>();
  for (size_t i = 0; i < a.size(); ++i) {
    bool equal = a[i] == b[i];
    if constexpr (std::is_floating_point_v<T>) {
      const double x = a[i], y = b[i];
      equal = equal || (std::isnan(x) && std::isnan(y)) ||
              (std::isfinite(x) && std::isfinite(y) && std::abs(x - y) <= atol + rtol * std::abs(y));
    }
    if (!equal && std::find(ignored.begin(), ignored.end(), static_cast<int64_t>(i)) == ignored.end()) {
      return fmt::format("element {} of {}[{}] is {}, expected {} (rtol {}, atol {})", i, want.dtype, fmt::join(want.shape, ", "), a[i],
                         b[i], rtol, atol);
    }
  }
  return "";
}

}  // namespace

int64_t GoldenTensor::count() const {
  int64_t result = 1;
  for (const int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(result, size, &result)) throw std::runtime_error("golden: a shape with an impossible size");
  }
  return result;
}

const GoldenTensor* GoldenTensors::find(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) { return entry.first == name; });
  return found == entries_.end() ? nullptr : &found->second;
}

const GoldenTensor& GoldenTensors::operator[](std::string_view name) const {
  if (const GoldenTensor* found = find(name)) return *found;
  throw std::runtime_error(fmt::format("golden: no tensor \"{}\" in the case", name));
}

bool GoldenCase::is_compared(std::string_view tensor) const {
  return std::find(unspecified.begin(), unspecified.end(), tensor) == unspecified.end();
}

std::vector<GoldenCase> read_goldens(const std::filesystem::path& folder) {
  const Json index = parse_json(read_whole(folder / "index.json"));
  if (index["format"].integer() != 1) throw std::runtime_error("golden: index.json has another format than 1");
  std::map<std::string, TensorFile> files;
  std::vector<GoldenCase> cases;
  for (const Json& record : index["cases"].items()) {
    const std::string& file = record["file"].string();
    if (!files.contains(file)) files.emplace(file, read_safetensors(folder / file));
    cases.push_back(case_of(record, files.at(file)));
  }
  return cases;
}

std::filesystem::path goldens_folder() { return ANYSHAPE_GOLDENS; }

const std::vector<GoldenCase>& golden_cases() {
  static const std::vector<GoldenCase> cases = [] {
    std::vector<GoldenCase> all = read_goldens(goldens_folder());
    std::ranges::move(read_goldens(goldens_folder() / "corners"), std::back_inserter(all));
    return all;
  }();
  return cases;
}

std::vector<const GoldenCase*> golden_cases_of(std::string_view op, std::string_view kind) {
  std::vector<const GoldenCase*> result;
  for (const GoldenCase& golden : golden_cases()) {
    if (golden.op == op && golden.kind == kind) result.push_back(&golden);
  }
  if (result.empty()) throw std::runtime_error(fmt::format("golden: no case of kind {} for {}", kind, op));
  return result;
}

std::string difference(const GoldenTensor& got, const GoldenTensor& want, double rtol, double atol, std::span<const int64_t> ignored) {
  if (got.dtype != want.dtype || got.shape != want.shape) {
    return fmt::format("is {}[{}], expected {}[{}]", got.dtype, fmt::join(got.shape, ", "), want.dtype, fmt::join(want.shape, ", "));
  }
  if (want.dtype == "F32") return first_difference<float>(got, want, rtol, atol, ignored);
  if (want.dtype == "F64") return first_difference<double>(got, want, rtol, atol, ignored);
  if (want.dtype == "I32") return first_difference<int32_t>(got, want, rtol, atol, ignored);
  if (want.dtype == "I64") return first_difference<int64_t>(got, want, rtol, atol, ignored);
  return first_difference<uint8_t>(got, want, rtol, atol, ignored);
}

}  // namespace anyshape::support
