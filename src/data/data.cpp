// Inputs and targets as they are given: a tensor, rows, several by position or by name.
#include "data/joined.h"

#include <anyshape/dataset.h>
#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/ragged.h>

#include <fmt/format.h>

#include <ostream>
#include <utility>

namespace anyshape {

Data::Data(const Tensor& tensor) : fields_{{.name = "", .tensor = tensor}} {
  if (!tensor.defined()) throw ArgumentError("data: an empty tensor handle is given; expected a tensor.");
}

// Unequal rows are ragged whatever a batch of them looks like; equal ones are an ordinary tensor.
Data::Data(const std::vector<Tensor>& rows) {
  if (rows.empty()) throw DataError("data: no rows are given; expected at least one.");
  fields_ = {{.name = "", .tensor = data::are_equal(rows) ? stack(rows) : ragged_from_rows(rows)}};
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
  return fields_[0].tensor;
}

Data inputs(std::vector<Tensor> tensors) {
  std::vector<Data::Field> fields;
  for (Tensor& tensor : tensors) fields.push_back({.name = "", .tensor = std::move(tensor)});
  return Data(std::move(fields));
}
Data inputs(std::vector<Data::Field> fields) { return Data(std::move(fields)); }

}  // namespace anyshape
