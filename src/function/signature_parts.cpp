// Signatures as files hold them: taken apart, and put together again from parts that nobody has checked.
#include "function/signature.h"
#include "shape/dim_node.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::function_detail {
namespace {

bool is_symbol_or_number(const Dim& size) { return as_symbol(size) != nullptr || (size.is_constant() && size.value() >= 0); }

}  // namespace

Signature::Parts Signature::parts() const {
  Parts parts{specs_, {}};
  for (const Rows& rows : rows_) parts.ragged.push_back({rows.argument, rows.first, rows.total, rows.shortest, rows.longest});
  return parts;
}

Signature Signature::of_parts(Parts parts) {
  const std::vector<TensorSpec>& specs = parts.specs;
  const auto refuse = [&](size_t argument, const std::string& what) {
    throw ArgumentError(fmt::format("signature: argument {} {}; expected what a function was traced with.", argument, what));
  };
  std::vector<Rows> rows;
  for (const Parts::Ragged& each : parts.ragged) {
    if (each.argument >= specs.size() || each.first > each.argument) refuse(each.argument, "has rows that are no argument's");
    const Shape& shape = specs[each.argument].shape;
    if (shape.rank() < 2 || !shape[1].is_ragged()) refuse(each.argument, "has rows and no ragged axis");
    if (std::ranges::find(rows, each.argument, &Rows::argument) != rows.end()) refuse(each.argument, "has rows twice");
    Rows own{each.argument, each.first, as_ragged_axis(shape[1])->name, each.total, each.shortest, each.longest};
    if (each.first != each.argument) {
      const auto first = std::ranges::find(rows, each.first, &Rows::argument);
      if (first == rows.end() || first->first != each.first) refuse(each.argument, "has the rows of an argument that has none");
      own = *first;
      own.argument = each.argument;
      parts.specs[each.argument].shape[1] = specs[each.first].shape[1];
    }
    for (const Dim* size : {&own.total, &own.shortest, &own.longest}) {
      if (!is_symbol_or_number(*size)) refuse(each.argument, "has rows whose sizes are neither symbols nor numbers");
    }
    rows.push_back(std::move(own));
  }
  for (size_t argument = 0; argument < specs.size(); ++argument) {
    for (int axis = 0; axis < specs[argument].shape.rank(); ++axis) {
      const Dim& size = specs[argument].shape[axis];
      if (size.is_ragged() && (axis != 1 || std::ranges::find(rows, argument, &Rows::argument) == rows.end()))
        refuse(argument, fmt::format("is ragged along axis {} without rows", axis));
      if (size.is_constant() && !size.is_ragged() && size.value() < 0) refuse(argument, "has a size below 0");
    }
  }
  Signature signature(std::move(parts.specs), std::move(rows));
  for (const TensorSpec& spec : signature.specs_) {
    for (const Dim& size : spec.shape) {
      if (size.is_ragged()) continue;
      for_each_symbol(size, [&](const Symbol& symbol) {
        if (symbol.from_data ||
            std::ranges::none_of(signature.symbols_, [&](const Dim& known) { return as_symbol(known)->id == symbol.id; }))
          throw ArgumentError(fmt::format("signature: the size \"{}\" is that of no axis; expected one that a call binds.", symbol.name));
      });
    }
  }
  for (const Rows& each : signature.rows_) {
    const auto fix = [&](const Dim& size, Part part) {
      if (size.is_constant()) signature.fixed_.push_back({{static_cast<int>(each.argument), 1, part}, size.value()});
    };
    fix(each.total, Part::Total);
    fix(each.shortest, Part::Shortest);
    fix(each.longest, Part::Longest);
  }
  signature.plan_sizes();
  signature.admits_all_ = true;
  return signature;
}

}  // namespace anyshape::function_detail
