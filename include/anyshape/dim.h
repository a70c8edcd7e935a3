// A size: an integer, or inside a trace an expression over symbols that stands for every size at once.
#pragma once
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <memory>
#include <string>

#pragma GCC visibility push(default)
namespace anyshape {

namespace detail {
struct DimNode;  ///< a symbolic expression in normal form; constants need none
}

/// An integer, or a symbolic expression. Integers convert to it; the default is 0.
class Dim {
 public:
  Dim() = default;
  template <std::integral I>
  Dim(I value) : value_(static_cast<int64_t>(value)) {}
  explicit Dim(std::shared_ptr<const detail::DimNode> node) : node_(std::move(node)) {}

  bool is_constant() const { return node_ == nullptr; }  ///< an integer, without symbols
  bool is_ragged() const;      ///< the axis along which the rows of a ragged tensor differ: it has bounds, but no arithmetic takes it
  int64_t value() const;       ///< the integer; throws TraceError for a symbolic size and says what to use instead
  int64_t specialize() const;  ///< the integer of this trace's first call; the trace then holds for that size only, and the ledger says so
  bool same_as(const Dim& other) const;                        ///< the same expression; never records anything
  int64_t lower_bound() const;                                 ///< what is known of its range
  int64_t upper_bound() const;                                 ///< likewise; the highest int64_t where there is none
  const detail::DimNode* node() const { return node_.get(); }  ///< null for an integer

  /// `/` rounds down, `%` has the sign of the divisor. Comparisons answer if the outcome is proved; inside a trace an open one is decided
  /// by the first call's sizes and becomes a check: another outcome later makes a new trace.
  ///@{
  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  friend Dim operator/(const Dim& a, const Dim& b);
  friend Dim operator%(const Dim& a, const Dim& b);
  friend bool operator==(const Dim& a, const Dim& b);
  friend bool operator<(const Dim& a, const Dim& b);
  friend bool operator>(const Dim& a, const Dim& b) { return b < a; }
  friend bool operator<=(const Dim& a, const Dim& b) { return !(b < a); }
  friend bool operator>=(const Dim& a, const Dim& b) { return !(a < b); }
  ///@}
  friend std::ostream& operator<<(std::ostream& out, const Dim& dim);  ///< as to_string

 private:
  std::shared_ptr<const detail::DimNode> node_;
  int64_t value_ = 0;
};

/// The sizes that a symbol may have: min <= size <= max, and a multiple of multiple_of; dim() throws an ArgumentError where there are none.
struct DimOptions {
  int64_t min = 0;
  int64_t max = std::numeric_limits<int64_t>::max();
  int64_t multiple_of = 1;
};

/// A named symbol for signatures; equal names in one signature are one size.
Dim dim(std::string name, DimOptions options = {});

/// In a signature: any size, without a name of its own.
extern const Dim dynamic;

/// In a signature: the axis along which the rows of a ragged argument differ in length; the options bound every row's. Equal names in one
/// signature are one partition into rows.
Dim ragged_dim(std::string name = {}, DimOptions options = {});

/// The lesser and the greater of two sizes; symbolic where nothing proves which one it is.
///@{
Dim min(const Dim& a, const Dim& b);
Dim max(const Dim& a, const Dim& b);
///@}
Dim bcast(const Dim& a, const Dim& b);  ///< the size two broadcast axes make together: the other one where one is 1
std::string to_string(const Dim& dim);  ///< "rows * cols + 1"

}  // namespace anyshape
#pragma GCC visibility pop
