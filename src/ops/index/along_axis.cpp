// The loops of a scatter-add along one axis.
#include "ops/index/along_axis.h"

#include "ops/loops.h"
#include "ops/sizes.h"

namespace anyshape {

loop::Value wrapped_index(loop::Builder& b, loop::Value index, loop::Value size) {
  const loop::Value wide = b.cast(index, Dtype::i64);
  return b.select(b.less(wide, b.integer(0)), b.add(wide, size), wide);
}

void add_along_axis(LowerCall& call, const Shape& to, int along, const Dim& count, IndexPer per, const IndexOf& index_of) {
  loop::Builder& b = call.b;
  const loop::Value outer = call.size(count_between(to, 0, along)), inner = call.size(count_between(to, along + 1, to.rank()));
  const loop::Value size = call.size(to[along]), entries = call.size(count);
  const int32_t from = call.input(0), target = call.output(0);
  fill(b, target, call.size(to.count()), b.constant(call.outputs[0].dtype, int64_t{0}));
  const loop::Value work = b.multiply(entries, b.integer(4));  // reading, adding to what an index leads to
  b.ranges(outer, inner, work, loop::Walk::Scattered, [&](loop::Value row, loop::Value begin, loop::Value end) {
    b.serial_for(b.integer(0), entries, [&](loop::Value k) {
      const loop::Value source = b.multiply(b.add(b.multiply(row, entries), k), inner);
      const auto start = [&](loop::Value column) {
        return b.multiply(b.add(b.multiply(row, size), wrapped_index(b, index_of(row, k, column), size)), inner);
      };
      const loop::Value common = per == IndexPer::Row ? start(begin) : loop::Value{};
      b.elements(begin, end, [&](loop::Value column) {
        const loop::Value offset = b.add(per == IndexPer::Row ? common : start(column), column);
        b.store(target, offset, b.add(b.load(target, offset), b.load(from, b.add(source, column))));
      });
    });
  });
}

}  // namespace anyshape
