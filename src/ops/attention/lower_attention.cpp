// Forward: each tile of queries walks the keys in tiles with a running maximum and sum; what has been added up is scaled when a greater score
// comes. Kept beside the result: the maximum and the sum of each query, of which the gradient makes the weights again.
#include "loop/math.h"
#include "ops/attention/tiles.h"

#include <limits>

namespace anyshape {
namespace {

struct Statistics {
  loop::Value greatest, sum;  // offsets
};

class Forward {
 public:
  Forward(LowerCall& call, AttentionForm form)
      : loops_(call, form, false), b_(call.b), y_(call.output(0)), statistics_(call.output(1)), weights_(loops_.tile_scratch()) {}

  void run() const {
    loops_.check_rows();
    loops_.for_each_query_tile([&](const AttentionTile& queries) {
      b_.if_(b_.equal(queries.keys, b_.integer(0)), [&] { without_keys(queries); }, [&] { with_keys(queries); });
    });
  }

 private:
  Statistics statistics_of(const AttentionTile& tile, loop::Value i) const {
    const loop::Value query = b_.add(b_.add(tile.row.first_query, tile.query), i);
    const loop::Value offset = b_.multiply(b_.add(b_.multiply(query, loops_.heads), tile.row.head), b_.integer(2));
    return {offset, b_.add(offset, b_.integer(1))};
  }

  void each_result(const AttentionTile& tile, loop::Value i, const std::function<loop::Value(loop::Value so_far)>& change) const {
    const TileMatrix y = loops_.query_rows(tile, y_, loops_.value_depth);
    const loop::Value row = b_.add(y.offset, b_.multiply(i, y.leading));
    b_.elements(b_.integer(0), loops_.value_depth, [&](loop::Value column) {
      const loop::Value offset = b_.add(row, column);
      b_.store(y_, offset, change(b_.load(y_, offset)));
    });
  }

  void without_keys(const AttentionTile& queries) const {
    const loop::Value nothing = b_.constant(loops_.type, 0.0);
    b_.serial_for(b_.integer(0), queries.queries, [&](loop::Value i) {
      const Statistics statistics = statistics_of(queries, i);
      b_.store(statistics_, statistics.greatest, nothing);
      b_.store(statistics_, statistics.sum, nothing);
      each_result(queries, i, [&](loop::Value) { return nothing; });
    });
  }

  void with_keys(const AttentionTile& queries) const {
    const loop::Value zero = b_.integer(0), one = b_.integer(1);
    loops_.in_key_tiles(queries, [&](const AttentionTile& tile) {
      const TileMatrix query = loops_.query_rows(tile, loops_.call.input(0), loops_.depth);
      TileMatrix key = loops_.key_rows(tile, loops_.call.input(1), loops_.depth);
      key.transpose = true;
      const TileMatrix value = loops_.key_rows(tile, loops_.call.input(2), loops_.value_depth);
      const TileMatrix weights = loops_.scratch_matrix(tile, weights_);
      loops_.product(query, key, weights, tile.queries, tile.keys, loops_.depth, zero);
      b_.serial_for(zero, tile.queries, [&](loop::Value i) { weigh(tile, i); });
      const loop::Value accumulate = b_.select(b_.equal(tile.key, zero), zero, one);
      const TileMatrix y = loops_.query_rows(tile, y_, loops_.value_depth);
      loops_.product(weights, value, y, tile.queries, loops_.value_depth, tile.keys, accumulate);
    });
    b_.serial_for(zero, queries.queries, [&](loop::Value i) {
      const loop::Value sum = b_.load(statistics_, statistics_of(queries, i).sum);
      each_result(queries, i, [&](loop::Value so_far) { return b_.divide(so_far, sum); });
    });
  }

  // One query's scores in a tile become weights up to the factor that all keys share.
  void weigh(const AttentionTile& tile, loop::Value i) const {
    const loop::Value zero = b_.integer(0), row = b_.add(loops_.scratch_offset(tile.slot), b_.multiply(i, loops_.scratch_row()));
    const loop::Value is_first = b_.equal(tile.key, zero), nothing = b_.constant(loops_.type, 0.0);
    const auto raw = [&](loop::Value k) { return b_.load(weights_, b_.add(row, k)); };
    const auto score = [&](loop::Value k) { return loops_.score(tile, i, k, raw(k)); };
    const Statistics statistics = statistics_of(tile, i);
    const loop::Value lowest = b_.constant(loops_.type, -std::numeric_limits<double>::infinity());
    const loop::Value before = b_.select(is_first, lowest, b_.load(statistics_, statistics.greatest));
    loop::Value greatest = b_.maximum(before, b_.reduce(zero, tile.keys, loop::Combine::Maximum, score));
    // A query that meets nothing has scores of -infinity alone: with these statistics its weights are 0, here and in the gradient.
    const loop::Value meets_nothing = loops_.meets_nothing(tile, i);
    if (meets_nothing) greatest = b_.select(meets_nothing, nothing, greatest);
    b_.elements(zero, tile.keys,
                [&](loop::Value k) { b_.store(weights_, b_.add(row, k), loop::exp_at_most_zero(b_, b_.subtract(score(k), greatest))); });
    const loop::Value sum = b_.reduce(zero, tile.keys, loop::Combine::Sum, raw);
    const loop::Value shrink = loop::exp_at_most_zero(b_, b_.subtract(before, greatest));
    const loop::Value sum_before = b_.select(is_first, nothing, b_.multiply(b_.load(statistics_, statistics.sum), shrink));
    b_.store(statistics_, statistics.greatest, greatest);
    const loop::Value sum_so_far = b_.add(sum_before, sum);
    b_.store(statistics_, statistics.sum, meets_nothing ? b_.select(meets_nothing, b_.constant(loops_.type, 1.0), sum_so_far) : sum_so_far);
    if (loops_.has_dropout()) {
      b_.elements(zero, tile.keys,
                  [&](loop::Value k) { b_.store(weights_, b_.add(row, k), b_.multiply(raw(k), loops_.keep_factor(tile, i, k))); });
    }
    b_.if_(is_first, [] {}, [&] { each_result(tile, i, [&](loop::Value so_far) { return b_.multiply(so_far, shrink); }); });
  }

  AttentionLoops loops_;
  loop::Builder& b_;
  int32_t y_, statistics_, weights_;
};

}  // namespace

void lower_attention(LowerCall& call, AttentionForm form) { Forward(call, form).run(); }

}  // namespace anyshape
