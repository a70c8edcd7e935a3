// Field by field.
#include "data/pieces.h"

#include "data/joined.h"

#include <utility>

namespace anyshape::data {
namespace {

// Inputs, targets or weights of all pieces; none where a field cannot be put together.
std::optional<Data> append_part(const std::vector<Example>& pieces, Data Example::* part) {
  const std::vector<Data::Field>& kinds = (pieces[0].*part).fields();
  std::vector<Data::Field> fields;
  for (size_t number = 0; number < kinds.size(); ++number) {
    std::vector<Tensor> batches;
    for (const Example& piece : pieces) batches.push_back((piece.*part).fields()[number].tensor);
    std::optional<Tensor> field = appended(batches);
    if (!field) return std::nullopt;
    fields.push_back({kinds[number].name, std::move(*field)});
  }
  return Data(std::move(fields));
}

bool have_same_fields(const Example& a, const Example& b) {
  return a.x.fields().size() == b.x.fields().size() && a.y.fields().size() == b.y.fields().size() &&
         a.sample_weight.fields().size() == b.sample_weight.fields().size();
}

Data row_of_each(const Data& batch, int64_t index) {
  std::vector<Data::Field> fields;
  for (const Data::Field& field : batch.fields()) fields.push_back({field.name, row_of(field.tensor, index)});
  return Data(std::move(fields));
}

}  // namespace

std::optional<Example> appended(const std::vector<Example>& pieces) {
  for (const Example& piece : pieces) {
    if (!have_same_fields(piece, pieces[0])) return std::nullopt;
  }
  std::optional<Data> x = append_part(pieces, &Example::x), y = append_part(pieces, &Example::y);
  std::optional<Data> weight = append_part(pieces, &Example::sample_weight);
  if (!x || !y || !weight) return std::nullopt;
  return Example{.x = std::move(*x), .y = std::move(*y), .sample_weight = std::move(*weight)};
}

Group rows_again(const std::vector<Example>& pieces, int64_t first) {
  Group group;
  for (const Example& piece : pieces) {
    const int64_t rows = piece.x.fields().front().tensor.shape()[0].value();
    for (int64_t i = 0; i < rows; ++i) {
      group.add({.x = row_of_each(piece.x, i), .y = row_of_each(piece.y, i), .sample_weight = row_of_each(piece.sample_weight, i)},
                first + group.size());
    }
  }
  return group;
}

}  // namespace anyshape::data
