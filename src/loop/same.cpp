// One walk over the fields of instructions for each question.
#include "loop/same.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>

namespace anyshape::loop {
namespace {

bool is_same(const Instruction& a, const Instruction& b);

bool is_same(const Block& a, const Block& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Instruction& x, const Instruction& y) { return is_same(x, y); });
}

bool is_same(const Instruction& a, const Instruction& b) {
  return a.op == b.op && a.type == b.type && a.results == b.results && a.args == b.args &&
         std::bit_cast<uint64_t>(a.number) == std::bit_cast<uint64_t>(b.number) && a.integer == b.integer && a.buffer == b.buffer &&
         a.name == b.name && a.buffers == b.buffers && a.kind == b.kind && a.index == b.index && a.reverse == b.reverse &&
         a.grain == b.grain && a.combine == b.combine && a.carried == b.carried && is_same(a.body, b.body) &&
         is_same(a.otherwise, b.otherwise) && a.yields == b.yields;
}

class Hash {
 public:
  void add(uint64_t value) { hash_ = (std::rotl(hash_, 5) ^ value) * 0x9e3779b97f4a7c15U; }
  void add(std::string_view text) {
    add(text.size());
    for (const char c : text) add(static_cast<uint64_t>(c));
  }
  // Of what stands in a block, enough to tell kernels apart.
  void add(const Block& block) {
    add(block.size());
    for (const Instruction& instruction : block) {
      add(static_cast<uint64_t>(instruction.op) << 8U | static_cast<uint64_t>(instruction.type));
      for (const Value value : instruction.args) add(static_cast<uint64_t>(value.id));
      add(static_cast<uint64_t>(instruction.integer) ^ std::bit_cast<uint64_t>(instruction.number));
      add(static_cast<uint64_t>(instruction.buffer) << 8U | static_cast<uint64_t>(instruction.kind));
      if (!instruction.name.empty()) add(std::string_view(instruction.name));
      if (!instruction.body.empty()) add(instruction.body);
      if (!instruction.otherwise.empty()) add(instruction.otherwise);
    }
  }
  size_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0;
};

}  // namespace

bool is_same(const Kernel& a, const Kernel& b) {
  const auto is_same_buffer = [](const Buffer& x, const Buffer& y) { return x.name == y.name && x.type == y.type && x.access == y.access; };
  return a.name == b.name && a.dims == b.dims && a.types == b.types && std::ranges::equal(a.buffers, b.buffers, is_same_buffer) &&
         is_same(a.body, b.body);
}

size_t hash_of(const Kernel& kernel) {
  Hash hash;
  hash.add(std::string_view(kernel.name));
  hash.add(kernel.dims.size());
  for (const Buffer& buffer : kernel.buffers) hash.add(static_cast<uint64_t>(buffer.type) << 8U | static_cast<uint64_t>(buffer.access));
  hash.add(kernel.body);
  return hash.value();
}

}  // namespace anyshape::loop
