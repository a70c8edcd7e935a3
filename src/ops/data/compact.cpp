// Two passes over blocks, so that the pool shares the work and every element has one place whatever the number of threads.
#include "ops/data/compact.h"

#include "loop/build.h"

namespace anyshape {

void compact(LowerCall& call, const Dim& n, const std::function<loop::Value(loop::Value i)>& keeps,
             const std::function<void(loop::Value i, loop::Value place)>& keep) {
  constexpr int64_t block_size = 8192;
  loop::Builder& b = call.b;
  const Dim block_count = (n + (block_size - 1)) / block_size;
  const loop::Value elements = call.size(n), blocks = call.size(block_count);
  const int32_t starts = call.scratch(Dtype::i64, block_count);
  const int32_t total = call.output(static_cast<int>(call.outputs.size()) - 1);
  const auto begin_of = [&](loop::Value block) { return b.multiply(block, b.integer(block_size)); };
  const auto end_of = [&](loop::Value block) { return b.minimum(b.add(begin_of(block), b.integer(block_size)), elements); };

  b.parallel_for(b.integer(0), blocks, b.integer(1), [&](loop::Value block) {
    b.store(starts, block,
            b.reduce(begin_of(block), end_of(block), loop::Combine::Sum, [&](loop::Value i) { return b.cast(keeps(i), Dtype::i64); }));
  });
  const loop::Value nothing[] = {b.integer(0)};
  const std::vector<loop::Value> sum =
      b.carry_for(b.integer(0), blocks, nothing, [&](loop::Value block, std::span<const loop::Value> carried) -> std::vector<loop::Value> {
        const loop::Value kept = b.load(starts, block);
        b.store(starts, block, carried[0]);
        return {b.add(carried[0], kept)};
      });
  b.store(total, b.integer(0), sum[0]);
  b.parallel_for(b.integer(0), blocks, b.integer(1), [&](loop::Value block) {
    const loop::Value start[] = {b.load(starts, block)};
    static_cast<void>(b.carry_for(begin_of(block), end_of(block), start,
                                  [&](loop::Value i, std::span<const loop::Value> carried) -> std::vector<loop::Value> {
                                    const loop::Value kept = keeps(i);
                                    b.if_(kept, [&] { keep(i, carried[0]); });
                                    return {b.add(carried[0], b.cast(kept, Dtype::i64))};
                                  }));
  });
}

}  // namespace anyshape
