// Batches of elements of one shape. Elements wait in the group of their shape until it is full, or until too many wait.
#include "data/group.h"
#include "data/joined.h"
#include "tensor/tensor_impl.h"

#include <algorithm>
#include <list>
#include <map>
#include <utility>

namespace anyshape::data {
namespace {

constexpr const char* what = "Dataset::group_by_shape";

void for_each_tensor(const Example& element, const auto& visit) {
  for (const Data* part : {&element.x, &element.y, &element.sample_weight}) {
    for (const Data::Field& field : part->fields()) visit(field.tensor);
  }
}

// Ranks and sizes of all fields.
std::vector<int64_t> shape_of(const Example& element, int64_t number) {
  std::vector<int64_t> key;
  for_each_tensor(element, [&](const Tensor& tensor) {
    if (tensor.is_ragged()) {
      throw DataError(fmt::format("{}: element {}: a field is {}; expected dense ones. Group single elements, not batches.", what, number,
                                  describe(tensor)));
    }
    key.push_back(tensor.rank());
    for (const Dim& size : tensor.shape()) key.push_back(size.value());
  });
  return key;
}

int64_t bytes_of(const Example& element) {
  int64_t bytes = 0;
  for_each_tensor(element, [&](const Tensor& tensor) { bytes += tensor.shape().count().value() * size_of(tensor.dtype()); });
  return bytes;
}

struct ShapeGroup {
  std::vector<int64_t> shape;
  Group group = {};
  int64_t bytes = 0;
};

// One pass.
class ShapeGroups {
 public:
  ShapeGroups(int64_t size, GroupByShapeOptions options) : size_(size), options_(options) {}

  std::optional<Example> next(DatasetCursor& before, PaddingCount& padding) {
    while (!is_over_) {
      if (waiting_ > options_.most_waiting || bytes_ > options_.most_waiting_bytes) {
        Example batch = finish(largest(), padding);
        if (options_.drop_remainder) continue;
        return batch;
      }
      std::optional<Example> element = before.next();
      is_over_ = !element;
      if (!element) break;
      const Place place = add(std::move(*element));
      if (place->group.size() == size_) return finish(place, padding);
    }
    if (options_.drop_remainder || groups_.empty()) return std::nullopt;
    return finish(groups_.begin(), padding);
  }

 private:
  using Place = std::list<ShapeGroup>::iterator;

  Place add(Example element) {
    require_whole(what, element, number_);
    if (!first_) first_ = element;
    std::vector<int64_t> shape = shape_of(element, number_);
    const int64_t bytes = bytes_of(element);
    auto found = by_shape_.find(shape);
    if (found == by_shape_.end()) {
      require_like_first(element);
      groups_.push_back({.shape = shape});
      found = by_shape_.emplace(std::move(shape), std::prev(groups_.end())).first;
    }
    found->second->group.add(std::move(element), number_++);
    found->second->bytes += bytes;
    bytes_ += bytes;
    ++waiting_;
    return found->second;
  }

  // Elements of other shapes never meet in a batch, which would find what else differs.
  void require_like_first(const Example& element) const {
    Group both;
    both.add(*first_, 0);
    both.add(element, number_);
    require_same_fields(what, both);
    for (const auto part : {&Example::x, &Example::y, &Example::sample_weight}) {
      for (size_t field = 0; field < ((*first_).*part).fields().size(); ++field) {
        require_one_kind(what, {((*first_).*part).fields()[field].tensor, (element.*part).fields()[field].tensor}, both.numbers);
      }
    }
  }

  Place largest() {
    return std::ranges::max_element(groups_, {}, [](const ShapeGroup& each) { return each.group.size(); });
  }

  Example finish(Place place, PaddingCount& padding) {
    waiting_ -= place->group.size();
    bytes_ -= place->bytes;
    const ShapeGroup full = std::move(*place);
    by_shape_.erase(full.shape);
    groups_.erase(place);
    padding.elements += full_elements(full.group);
    return together(what, full.group, [](const FieldRows& rows, size_t, bool) { return stacked(rows.tensors); });
  }
  static int64_t full_elements(const Group& group) {
    int64_t count = 0;
    for (const Data* part : {&group.elements[0].x, &group.elements[0].y}) {
      for (const Data::Field& field : part->fields()) count += field.tensor.shape().count().value();
    }
    return count * group.size();
  }

  int64_t size_;
  GroupByShapeOptions options_;
  std::list<ShapeGroup> groups_;  // in the order of their first elements
  std::map<std::vector<int64_t>, Place> by_shape_;
  std::optional<Example> first_;
  int64_t number_ = 0, waiting_ = 0, bytes_ = 0;
  bool is_over_ = false;
};

}  // namespace

Dataset grouped_by_shape(Source source, int64_t size, GroupByShapeOptions options) {
  require_batch_size(what, size);
  if (options.most_waiting < 1)
    throw ArgumentError(fmt::format("{}: .most_waiting is {}; expected at least 1.", what, options.most_waiting));
  if (options.most_waiting_bytes < 0) {
    throw ArgumentError(fmt::format("{}: .most_waiting_bytes is {}; expected 0 or more.", what, options.most_waiting_bytes));
  }
  auto make = [=]() -> NextBatch {
    return [groups = std::make_shared<ShapeGroups>(size, options)](DatasetCursor& before, PaddingCount& padding) {
      return groups->next(before, padding);
    };
  };
  return batches_of_open_number(std::move(source), make, !options.drop_remainder);
}

}  // namespace anyshape::data
