// The loops of attention: rows, tiles of queries and keys, and the scores of a tile as they count.
#pragma once
#include "loop/element.h"
#include "ops/attention/attention.h"

#include <functional>

namespace anyshape {

// A matrix inside a buffer: element (i, k) stands at offset + i * leading + k, or with the two exchanged.
struct TileMatrix {
  int32_t buffer;
  loop::Value offset, leading;
  bool transpose = false;
};

// One row of the batch and one head of it; offsets count rows of [.., heads, ..] tensors.
struct AttentionRow {
  loop::Value row, head;
  loop::Value first_query, queries;
  loop::Value first_key, keys;
  loop::Value ahead;  // under a causal mask query i meets keys up to i + ahead: the last query meets the last key
};

// Queries [query, query + queries) of a row against its keys [key, key + keys).
struct AttentionTile {
  AttentionRow row;
  loop::Value query, queries, key, keys;
  loop::Value slot;  // whose scratch memory it uses
};

class AttentionLoops {
 public:
  AttentionLoops(LowerCall& call, AttentionForm form, bool is_gradient);

  // At most so many pieces run side by side, each with scratch memory of its own: memory stays in proportion however many pieces there are,
  // and which piece comes where depends on sizes alone.
  static constexpr int64_t most_slots = 32;
  static constexpr int64_t tile_queries = 64, tile_keys = 256;

  int32_t tile_scratch() const;  // one tile of scores per slot
  loop::Value scratch_offset(loop::Value slot) const;
  loop::Value scratch_row() const { return keys_per_tile_; }

  // Rows by splits are checked first.
  void check_rows() const;
  void for_each_row(const std::function<void(const AttentionRow& row, loop::Value slot)>& body) const;
  // Every row's queries in tiles; `keys` of the tile is the number that causality leaves, `key` 0.
  void for_each_query_tile(const std::function<void(const AttentionTile& queries)>& body) const;
  void in_query_tiles(const AttentionRow& row, loop::Value slot, const std::function<void(const AttentionTile& queries)>& body) const;
  void in_key_tiles(const AttentionTile& queries, const std::function<void(const AttentionTile& tile)>& body) const;

  // Operands as matrices, one row per query or key of a tile.
  TileMatrix query_rows(const AttentionTile& tile, int32_t buffer, loop::Value width) const;
  TileMatrix key_rows(const AttentionTile& tile, int32_t buffer, loop::Value width) const;
  TileMatrix scratch_matrix(const AttentionTile& tile, int32_t buffer) const { return {buffer, scratch_offset(tile.slot), scratch_row()}; }
  // c [m, n] = a b, or c + a b.
  void product(const TileMatrix& a, const TileMatrix& b, const TileMatrix& c, loop::Value m, loop::Value n, loop::Value k,
               loop::Value accumulate) const;

  // Element k of query i's scores in a tile, by its raw product: scaled, lowest where the mask hides it, -infinity where causality does.
  loop::Value score(const AttentionTile& tile, loop::Value i, loop::Value k, loop::Value raw) const;
  // Whether the score follows the operands: what is hidden is a constant.
  loop::Value is_shown(const AttentionTile& tile, loop::Value i, loop::Value k) const;
  // Whether causality leaves a query no key; none where every query has one.
  loop::Value meets_nothing(const AttentionTile& tile, loop::Value i) const;
  // What dropout makes of a weight: times 0 or 1 / (1 - rate). Only where there is dropout.
  loop::Value keep_factor(const AttentionTile& tile, loop::Value i, loop::Value k) const;
  bool has_dropout() const { return attrs_.dropout > 0; }

  LowerCall& call;
  loop::Builder& b;
  const AttentionInputs inputs;
  const Dtype type;
  const loop::Value heads, depth, value_depth, scale;

 private:
  AttentionRow row_at(loop::Value row, loop::Value head) const;
  loop::Value is_past(const AttentionTile& tile, loop::Value i, loop::Value k) const;
  AttentionTile queries_from(const AttentionRow& row, loop::Value first, loop::Value slot) const;
  loop::Value mask_offset(const AttentionTile& tile, loop::Value i, loop::Value k) const;
  // Pieces 0, 1, ... on the slots in turn.
  void on_slots(loop::Value pieces, const std::function<void(loop::Value piece, loop::Value slot)>& body) const;

  const AttentionAttrs& attrs_;
  const AttentionForm form_;
  Dim rows_, queries_, keys_;  // in segments the number of all queries and of all keys
  Dim tiles_;                  // at most so many tiles of queries
  Dim slots_;
  loop::Value queries_per_tile_, keys_per_tile_;
};

}  // namespace anyshape
