// Two passes over parts, so that the pool shares the work and every element has one index whatever the number of threads.
#include "ops/data/compact.h"

#include "loop/build.h"

namespace anyshape {

void compact(LowerCall& call, const Dim& n, const std::function<loop::Value(loop::Value i)>& keeps,
             const std::function<void(loop::Value i, loop::Value index)>& keep) {
  constexpr int64_t part_size = 8192;
  loop::Builder& b = call.b;
  const Dim part_count = (n + (part_size - 1)) / part_size;
  const loop::Value elements = call.size(n), parts = call.size(part_count);
  const int32_t starts = call.scratch(Dtype::i64, part_count);
  const int32_t total = call.output(static_cast<int>(call.outputs.size()) - 1);
  const auto begin_of = [&](loop::Value part) { return b.multiply(part, b.integer(part_size)); };
  const auto end_of = [&](loop::Value part) { return b.minimum(b.add(begin_of(part), b.integer(part_size)), elements); };

  b.each(b.integer(0), parts, b.integer(part_size), [&](loop::Value part) {
    b.store(starts, part,
            b.reduce(begin_of(part), end_of(part), loop::Combine::Sum, [&](loop::Value i) { return b.cast(keeps(i), Dtype::i64); }));
  });
  const loop::Value nothing[] = {b.integer(0)};
  const std::vector<loop::Value> sum =
      b.carry_for(b.integer(0), parts, nothing, [&](loop::Value part, std::span<const loop::Value> carried) -> std::vector<loop::Value> {
        const loop::Value kept = b.load(starts, part);
        b.store(starts, part, carried[0]);
        return {b.add(carried[0], kept)};
      });
  b.store(total, b.integer(0), sum[0]);
  b.each(b.integer(0), parts, b.integer(part_size), [&](loop::Value part) {
    const loop::Value start[] = {b.load(starts, part)};
    static_cast<void>(b.carry_for(begin_of(part), end_of(part), start,
                                  [&](loop::Value i, std::span<const loop::Value> carried) -> std::vector<loop::Value> {
                                    const loop::Value kept = keeps(i);
                                    b.if_(kept, [&] { keep(i, carried[0]); });
                                    return {b.add(carried[0], b.cast(kept, Dtype::i64))};
                                  }));
  });
}

}  // namespace anyshape
