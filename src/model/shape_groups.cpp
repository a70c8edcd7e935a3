// Rows of one shape stacked, of the other fields those rows taken.
#include "model/shape_groups.h"

#include "data/joined.h"

#include <anyshape/ops.h>
#include <anyshape/ragged.h>

#include <algorithm>
#include <map>

namespace anyshape::model {
namespace {

Data taken(const Data& data, const std::vector<int64_t>& rows) {
  const Tensor numbers = tensor(rows, {static_cast<int64_t>(rows.size())});
  std::vector<Data::Field> fields;
  for (const Data::Field& field : data.fields()) {
    if (field.rows.empty()) {
      fields.push_back({field.name, take(field.tensor, numbers)});
      continue;
    }
    std::vector<Tensor> chosen;
    for (const int64_t row : rows) chosen.push_back(field.rows[static_cast<size_t>(row)]);
    fields.push_back({field.name, data::stacked(chosen)});
  }
  return Data(std::move(fields));
}

// The numbers of the rows of each shape; none where no field is a list of rows.
std::vector<std::vector<int64_t>> numbers_by_shape(std::initializer_list<const Data*> parts) {
  std::vector<const Data::Field*> lists;
  for (const Data* part : parts) {
    for (const Data::Field& field : part->fields()) {
      if (!field.rows.empty()) lists.push_back(&field);
    }
  }
  std::map<std::vector<int64_t>, size_t> group_of;
  std::vector<std::vector<int64_t>> numbers;
  for (size_t row = 0; !lists.empty() && row < lists[0]->rows.size(); ++row) {
    std::vector<int64_t> sizes;
    for (const Data::Field* list : lists) {
      for (const Dim& size : list->rows[row].shape()) sizes.push_back(size.value());
    }
    const auto [found, is_new] = group_of.try_emplace(std::move(sizes), numbers.size());
    if (is_new) numbers.emplace_back();
    numbers[found->second].push_back(static_cast<int64_t>(row));
  }
  return numbers;
}

}  // namespace

bool has_rows_of_several_shapes(const Data& data) {
  return std::ranges::any_of(data.fields(), [](const Data::Field& field) { return !field.rows.empty(); });
}

bool are_images(const Data& data) {
  return std::ranges::any_of(data.fields(), [](const Data::Field& field) { return !field.rows.empty() && field.rows[0].rank() == 3; });
}

size_t shape_count(const Data& x, const Data& y, const Data& sample_weight) {
  return std::max<size_t>(1, numbers_by_shape({&x, &y, &sample_weight}).size());
}

std::vector<ShapeGroup> shape_groups(const Data& x, const Data& y, const Data& sample_weight) {
  std::vector<ShapeGroup> groups;
  for (std::vector<int64_t>& rows : numbers_by_shape({&x, &y, &sample_weight})) {
    ShapeGroup& group = groups.emplace_back();
    group.x = taken(x, rows);
    group.y = taken(y, rows);
    group.sample_weight = taken(sample_weight, rows);
    group.rows = std::move(rows);
  }
  return groups;
}

}  // namespace anyshape::model
