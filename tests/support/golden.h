// The golden files (tests/goldens) as values: independent of the library, so that what is compared never shares code with what compares.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/json.h"

namespace anyshape::support {

struct GoldenTensor {
  std::string dtype;  // as the file spells it: F32, I32, I64, BOOL; F64 in tests of their own
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;  // row-major

  int64_t count() const;

  template <class T>
  std::vector<T> values() const {  // bool and uint8_t both read BOOL as bytes of 0 and 1
    static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>, "read BOOL as uint8_t");
    std::vector<T> result(bytes.size() / sizeof(T));
    if (result.size() != static_cast<size_t>(count())) throw std::runtime_error("golden: " + dtype + " read as a type of another size");
    if (!bytes.empty()) std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  }
};

// Tensors by their short names, in the order of the file: inputs are positional.
class GoldenTensors {
 public:
  void add(std::string name, GoldenTensor tensor) { entries_.emplace_back(std::move(name), std::move(tensor)); }
  const GoldenTensor* find(std::string_view name) const;
  const GoldenTensor& operator[](std::string_view name) const;  // throws where it is missing
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }

 private:
  std::vector<std::pair<std::string, GoldenTensor>> entries_;
};

struct GoldenCase {
  std::string name, group, kind;
  std::string op;            // what to run: the record's op, layer, loss, metric, optimizer, schedule, curve or initializer; else its kind
  Json attrs, config, call;  // null where the record has none
  GoldenTensors inputs, weights, upstream, outputs, gradients, weight_gradients, after;
  double rtol = 0, atol = 0;
  std::vector<std::string> unspecified;     // not to be compared: "out/0", "grad/a", "after/x"
  Json compare_where;                       // {"out/0": "in/mask"}; null where the whole output is compared
  std::vector<int64_t> denormal_inputs_at;  // elements that a program which flushes denormals may treat as zero
  std::string note;
  Json record;  // everything, for what a kind has of its own

  bool is_compared(std::string_view tensor) const;  // "out/0": false where it is unspecified
};

// Every case of a folder of goldens, in the order of index.json. Throws std::runtime_error where a file is missing or damaged.
std::vector<GoldenCase> read_goldens(const std::filesystem::path& folder);

std::filesystem::path goldens_folder();  // of the repository

// The cases of the repository, read once.
const std::vector<GoldenCase>& golden_cases();

// The cases of an op in a kind ("op" or "special"), at least one: a misspelt name is an error.
std::vector<const GoldenCase*> golden_cases_of(std::string_view op, std::string_view kind = "op");

// Empty where `got` passes for `want`: same dtype and shape, |got - want| <= atol + rtol * |want|, integers and bools equal, NaN equal to
// NaN, an infinity equal to itself only. Else a text that names the first differing element. Elements listed in `ignored` are not compared.
std::string difference(const GoldenTensor& got, const GoldenTensor& want, double rtol, double atol, std::span<const int64_t> ignored = {});

}  // namespace anyshape::support
