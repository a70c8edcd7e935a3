// The value of a size once its symbols have values, the slow and obvious way. shape/dim_program.h is the fast one.
#pragma once
#include <anyshape/dim.h>

#include <cstdint>
#include <optional>
#include <unordered_map>

namespace anyshape {

class Bindings {
 public:
  void set(uint64_t symbol_id, int64_t value) { values_[symbol_id] = value; }
  void set(const Dim& symbol, int64_t value);  // InternalError unless it is a symbol
  std::optional<int64_t> find(uint64_t symbol_id) const;
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

 private:
  std::unordered_map<uint64_t, int64_t> values_;
};

// ShapeError where it overflows or divides by zero, TraceError for a symbol without a value. A bcast is its first operand that is not 1:
// whether the others agree is the business of the check that came with it.
int64_t evaluate(const Dim& dim, const Bindings& values);

}  // namespace anyshape
