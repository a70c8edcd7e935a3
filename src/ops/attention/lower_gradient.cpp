// Backward: one piece per row and head walks its tiles in order, makes the weights again from the statistics and adds up the gradients of all
// three operands, each product of a tile once.
#include "loop/math.h"
#include "ops/attention/tiles.h"

namespace anyshape {
namespace {

class Backward {
 public:
  Backward(LowerCall& call, AttentionForm form)
      : loops_(call, form, true),
        b_(call.b),
        d_query_(call.output(0)),
        d_key_(call.output(1)),
        d_value_(call.output(2)),
        weights_(loops_.tile_scratch()),
        d_scores_(loops_.tile_scratch()) {}

  void run() const {
    loops_.check_rows();
    loops_.for_each_row([&](const AttentionRow& row, loop::Value slot) {
      const loop::Value zero = b_.integer(0);
      const AttentionTile whole{row, zero, row.queries, zero, row.keys, slot};
      clear(loops_.query_rows(whole, d_query_, loops_.depth), row.queries, loops_.depth);
      clear(loops_.key_rows(whole, d_key_, loops_.depth), row.keys, loops_.depth);
      clear(loops_.key_rows(whole, d_value_, loops_.value_depth), row.keys, loops_.value_depth);
      loops_.in_query_tiles(row, slot, [&](const AttentionTile& queries) {
        loops_.in_key_tiles(queries, [&](const AttentionTile& tile) { one_tile(tile); });
      });
    });
  }

 private:
  void clear(const TileMatrix& matrix, loop::Value rows, loop::Value width) const {
    b_.serial_for(b_.integer(0), rows, [&](loop::Value i) {
      const loop::Value row = b_.add(matrix.offset, b_.multiply(i, matrix.leading));
      b_.elements(b_.integer(0), width, [&](loop::Value k) { b_.store(matrix.buffer, b_.add(row, k), b_.constant(loops_.type, 0.0)); });
    });
  }

  void one_tile(const AttentionTile& tile) const {
    const auto transposed = [](TileMatrix matrix) {
      matrix.transpose = true;
      return matrix;
    };
    LowerCall& call = loops_.call;
    const loop::Value zero = b_.integer(0), one = b_.integer(1), depth = loops_.depth, value_depth = loops_.value_depth;
    const TileMatrix query = loops_.query_rows(tile, call.input(0), depth), key = loops_.key_rows(tile, call.input(1), depth),
                     value = loops_.key_rows(tile, call.input(2), value_depth),
                     dy = loops_.query_rows(tile, call.input(loops_.inputs.dy), value_depth),
                     weights = loops_.scratch_matrix(tile, weights_), d_scores = loops_.scratch_matrix(tile, d_scores_);
    loops_.product(query, transposed(key), weights, tile.queries, tile.keys, depth, zero);
    loops_.product(dy, transposed(value), d_scores, tile.queries, tile.keys, value_depth, zero);
    b_.serial_for(zero, tile.queries, [&](loop::Value i) { one_query(tile, i); });
    const TileMatrix d_query = loops_.query_rows(tile, d_query_, depth), d_key = loops_.key_rows(tile, d_key_, depth),
                     d_value = loops_.key_rows(tile, d_value_, value_depth);
    loops_.product(transposed(weights), dy, d_value, tile.keys, value_depth, tile.queries, one);
    loops_.product(d_scores, key, d_query, tile.queries, depth, tile.keys, one);
    loops_.product(transposed(d_scores), query, d_key, tile.keys, depth, tile.queries, one);
  }

  // Products of a query with its keys become weights; the gradients of weights become those of products.
  void one_query(const AttentionTile& tile, loop::Value i) const {
    LowerCall& call = loops_.call;
    const loop::Value offset = b_.add(loops_.scratch_offset(tile.slot), b_.multiply(i, loops_.scratch_row()));
    const loop::Value query = b_.add(b_.add(tile.row.first_query, tile.query), i);
    const loop::Value line = b_.add(b_.multiply(query, loops_.heads), tile.row.head), statistics = b_.multiply(line, b_.integer(2));
    const loop::Value greatest = b_.load(call.input(loops_.inputs.statistics), statistics);
    const loop::Value sum = b_.load(call.input(loops_.inputs.statistics), b_.add(statistics, b_.integer(1)));
    const loop::Value products = b_.load(call.input(loops_.inputs.products), line);
    const loop::Value share = b_.divide(b_.constant(loops_.type, 1.0), sum), nothing = b_.constant(loops_.type, 0.0);
    b_.elements(b_.integer(0), tile.keys, [&](loop::Value k) {
      const loop::Value at = b_.add(offset, k), score = loops_.score(tile, i, k, b_.load(weights_, at));
      const loop::Value weight = b_.multiply(loop::exp_at_most_zero(b_, b_.subtract(score, greatest)), share);
      loop::Value kept = weight, d_weight = b_.load(d_scores_, at);
      if (loops_.has_dropout()) {
        const loop::Value factor = loops_.keep_factor(tile, i, k);
        kept = b_.multiply(weight, factor);
        d_weight = b_.multiply(d_weight, factor);
      }
      loop::Value d_score = b_.multiply(b_.multiply(weight, b_.subtract(d_weight, products)), loops_.scale);
      if (const loop::Value shown = loops_.is_shown(tile, i, k)) d_score = b_.select(shown, d_score, nothing);
      b_.store(d_scores_, at, d_score);
      b_.store(weights_, at, kept);
    });
  }

  AttentionLoops loops_;
  loop::Builder& b_;
  int32_t d_query_, d_key_, d_value_, weights_, d_scores_;
};

}  // namespace

void lower_attention_gradient(LowerCall& call, AttentionForm form) { Backward(call, form).run(); }

}  // namespace anyshape
