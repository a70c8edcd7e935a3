// Batches of very many rows are made of pieces: views of a hundred thousand rows take more memory than their numbers, and the first have left the cache
// before the last is seen.
#pragma once
#include "data/group.h"

#include <optional>
#include <vector>

namespace anyshape::data {

constexpr int64_t most_rows_at_once = 4096;

// One batch of several; none where they are not dense and alike.
std::optional<Example> appended(const std::vector<Example>& pieces);

// The rows that such pieces were made of, the first of them with that number.
Group rows_again(const std::vector<Example>& pieces, int64_t first);

}  // namespace anyshape::data
