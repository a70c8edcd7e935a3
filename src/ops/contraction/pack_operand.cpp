// When copying pays: the library packs a transposed operand anew for every block of rows, and reads others where they stand, which is slow
// where rows are a multiple of 4 KiB apart: lines of such rows share one set of the first cache (64 sets of 64 bytes in x86 processors with
// pages of 4 KiB). A copy in rows of an odd number of lines has neither cost. Measured in docs/internals/experiments/products.md.
#include "ops/contraction/pack_operand.h"

#include "base/switches.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace anyshape {
namespace {

const Switch packs("pack_operands", "a matrix that many rows are multiplied with is copied to where products read it best");

constexpr int64_t least_rows = 256, least_columns = 32, least_depth = 64;  // where the copy saves more than it costs
constexpr int64_t line = 16, bad_distance = 1024;                          // in floats

// Conditions on sizes that must hold together: as a 0 or 1, and in words where they are open.
class Conditions {
 public:
  void require_at_least(const Dim& size, int64_t least, std::string_view what) {
    const std::string words = to_string(size);
    add(min(1, size / least), fmt::format("{} >= {}", words, least), fmt::format("{} {}, fewer than {}", words, what, least));
  }
  void require_distance(const Dim& distance, int64_t unit) {
    const std::string words = to_string(distance);
    add(1 - min(1, distance % unit), fmt::format("{} % {} == 0", words, unit),
        fmt::format("rows of b are {} elements apart, no multiple of {}", words, unit));
  }
  const Dim& all() const { return all_; }
  const std::string& open() const { return open_; }
  const std::string& refusal() const { return refusal_; }  // of the first that never holds

 private:
  void add(const Dim& holds, const std::string& words, const std::string& refusal) {
    all_ = min(all_, holds);
    if (holds.same_as(1)) return;
    if (!holds.is_constant()) open_ += (open_.empty() ? " where " : " and ") + words;
    if (holds.same_as(0) && refusal_.empty()) refusal_ = refusal;
  }

  Dim all_ = 1;
  std::string open_, refusal_;
};

}  // namespace

std::optional<PackedOperand> pack_operand(LowerCall& call, const MatmulAttrs& attrs, const Dim& rows) {
  const auto refuse = [&](const std::string& reason) {
    call.decide("pack_operands", false, reason);
    return std::nullopt;
  };
  const Shape& shape = call.call.shape(1);
  const Dim &columns = call.outputs[0].shape[-1], &depth = shape[attrs.transpose_b ? -1 : -2], distance = call.stride(1, shape.rank() - 2);
  if (packs.is_off()) return refuse("switched off");
  if (attrs.transpose_a) return refuse("a is transposed: a copy costs what it saves");
  if (!is_one_matrix(shape)) return refuse("there is a matrix b for every entry of the batch");
  Conditions pays;
  if (!attrs.transpose_b) {
    if (!call.is_known_at_call(distance)) return refuse("how far rows of b are apart is data-dependent");
    pays.require_distance(distance, bad_distance);
  }
  pays.require_at_least(rows, least_rows, "rows");
  pays.require_at_least(columns, least_columns, "columns");
  pays.require_at_least(depth, least_depth, "terms");
  if (!pays.refusal().empty()) return refuse(pays.refusal());
  call.decide("pack_operands", true, (attrs.transpose_b ? "b is transposed once" : "b is copied to rows further apart") + pays.open());

  // The least odd number of lines that holds a row: fewer than two more than it takes.
  const Dim packed_distance = (columns + line - 1) / (2 * line) * (2 * line) + line;
  return PackedOperand{.is_used = pays.all(), .distance = packed_distance, .count = pays.all() * depth * (columns + 2 * line)};
}

}  // namespace anyshape
