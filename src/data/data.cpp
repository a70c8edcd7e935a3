// Inputs and targets as they are given: a tensor, rows, several by position or by name.
#include "data/joined.h"
#include "tensor/tensor_impl.h"

#include <anyshape/dataset.h>
#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/ragged.h>

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <utility>

namespace anyshape {

Data::Data(const Tensor& tensor) : fields_{{.name = "", .tensor = tensor}} {
  if (!tensor.defined()) throw ArgumentError("data: an empty tensor handle is given; expected a tensor.");
}

namespace {

// Whether rows cannot be ragged for their sizes alone: dense ones of one dtype and rank that differ in more than their first axis.
bool are_of_several_shapes(const std::vector<Tensor>& rows) {
  const Tensor& first = rows[0];
  const bool are_alike = std::ranges::all_of(rows, [&](const Tensor& row) {
    return row.defined() && row.impl()->is_strided() && row.rank() == first.rank() && row.dtype() == first.dtype();
  });
  return are_alike && std::ranges::any_of(rows, [&](const Tensor& row) { return !data::are_equal_from(row, first, 1); });
}

}  // namespace

// Unequal rows are ragged whatever a batch of them looks like; equal ones are an ordinary tensor.
Data::Data(const std::vector<Tensor>& rows) {
  if (rows.empty()) throw DataError("data: no rows are given; expected at least one.");
  if (are_of_several_shapes(rows)) {
    *this = by_shape(rows);
  } else {
    fields_ = {{.name = "", .tensor = data::are_equal(rows) ? stack(rows) : ragged_from_rows(rows)}};
  }
}

Data by_shape(std::vector<Tensor> rows) {
  if (rows.empty()) throw DataError("by_shape: no rows are given; expected at least one.");
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].defined() || !rows[i].impl()->is_strided()) {
      throw ArgumentError(fmt::format("by_shape: row {} is {}; expected a dense tensor with values.", i, describe(rows[i])));
    }
    if (rows[i].dtype() == rows[0].dtype() && rows[i].rank() == rows[0].rank()) continue;
    throw DataError(
        fmt::format("by_shape: row {} is {}, row 0 is {}; expected one dtype and one rank.", i, describe(rows[i]), describe(rows[0])));
  }
  return Data({Data::Field{.name = "", .rows = std::move(rows)}});
}

[[gnu::visibility("default")]] std::ostream& operator<<(std::ostream& out, const Data& data) {
  const char* separator = "";
  for (const Data::Field& field : data.fields_) {
    out << std::exchange(separator, "\n") << field.name << (field.name.empty() ? "" : ": ") << field.tensor;
  }
  return out;
}

[[gnu::visibility("default")]] std::ostream& operator<<(std::ostream& out, const Example& example) {
  const char* separator = "";
  const auto write = [&](const char* part, const Data& data) {
    for (const Data::Field& field : data.fields()) {
      out << std::exchange(separator, "\n") << part << (field.name.empty() ? "" : " " + field.name) << ": " << field.tensor;
    }
  };
  write("x", example.x);
  write("y", example.y);
  write("sample_weight", example.sample_weight);
  return out;
}

const Tensor& Data::single() const {
  if (fields_.size() != 1) throw ArgumentError(fmt::format("data: {} fields are there; expected one.", fields_.size()));
  if (!fields_[0].rows.empty()) throw ArgumentError("data: the field holds rows of several shapes; expected one tensor.");
  return fields_[0].tensor;
}

Data inputs(std::vector<Tensor> tensors) {
  std::vector<Data::Field> fields;
  for (Tensor& tensor : tensors) fields.push_back({.name = "", .tensor = std::move(tensor)});
  return Data(std::move(fields));
}
Data inputs(std::vector<Data::Field> fields) { return Data(std::move(fields)); }

}  // namespace anyshape
