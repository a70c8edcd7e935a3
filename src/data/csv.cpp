// Elements from comma-separated values: numbers, categories, missing values; every error with its line.
#include "base/cut_text.h"
#include "base/near_names.h"
#include "data/csv_number.h"
#include "data/csv_reader.h"
#include "data/dataset_impl.h"
#include "data/stage_arguments.h"
#include "tensor/element.h"
#include "tensor/host_data.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/registry.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace anyshape {
namespace {

using data::CsvNumber;
using data::CsvReader;

// A header takes some memory for each of its columns, and two bytes of the file.
constexpr size_t most_columns = 250'000;
constexpr std::string_view header_rule = "at most as many columns";

struct Column {
  std::string name;
  size_t index = 0;  // in a record
  Dtype dtype = Dtype::f32;
  const std::vector<std::string>* categories = nullptr;
};

// What is known of a file from its options and its first record.
struct Table {
  std::filesystem::path file;
  CsvOptions options;
  size_t width = 0;
  std::string record_rule;  // how many fields a record has
  std::vector<Column> inputs;
  std::optional<Column> target;
  bool is_one_tensor = true;  // the inputs have one dtype
};

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::pair<int64_t, int64_t> range_of(Dtype integers) {
  switch (integers) {
    case Dtype::b8: return {0, 1};
    case Dtype::u8: return {0, std::numeric_limits<uint8_t>::max()};
    case Dtype::i32: return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    default: return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  }
}

// Where a value stands in the file.
struct Place {
  const Table& table;
  const Column& column;
  int64_t line;

  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(
        fmt::format("Dataset::from_csv: \"{}\", line {}, column {}: {}", table.file.string(), line, in_quotes(column.name), what));
  }
  [[noreturn]] void fail_range(std::string_view text) const {
    const auto [least, greatest] = range_of(column.dtype);
    fail(fmt::format("{} is out of range; expected {}, {} to {}.", in_quotes(text), to_string(column.dtype), least, greatest));
  }
  [[noreturn]] void fail_size(std::string_view text) const {
    fail(fmt::format("{} is too large for {}; expected a number that it holds{}.", in_quotes(text), to_string(column.dtype),
                     column.dtype == Dtype::f64 ? "" : ". Read the column as f64 with .dtypes"));
  }
};

// A whole number, also as "3.0" or "2e3", where a double has every whole number up to it.
int64_t whole_number(const Place& place, std::string_view text, double value) {
  if (const std::optional<int64_t> whole = data::integer_in(text)) return *whole;
  constexpr double exact = 9007199254740992;  // 2^53
  if (!std::isfinite(value) || std::trunc(value) != value) {
    place.fail(fmt::format("{} is no whole number; expected {}.", in_quotes(text), to_string(place.column.dtype)));
  }
  if (std::abs(value) >= exact) place.fail_range(text);
  return static_cast<int64_t>(value);
}

// A finite number must not become an infinite one in its column.
bool fits(Dtype dtype, double value) {
  return with_element(dtype,
                      [&]<class T>(T) { return std::isinf(value) || !std::isinf(convert_element<double>(convert_element<T>(value))); });
}

// The value of a field in its column's kind: Number is int64_t for columns of integers, else double.
template <class Number>
Number value_of(const Place& place, const std::string& field) {
  const Column& column = place.column;
  const std::string_view text = trimmed(field);
  Number value = 0;
  if (column.categories != nullptr) {
    const auto found = std::ranges::find(*column.categories, text);
    if (found == column.categories->end()) place.fail(unknown_name("category", text, *column.categories));
    value = static_cast<Number>(found - column.categories->begin());
  } else if (std::ranges::find(place.table.options.missing, text) != place.table.options.missing.end()) {
    if (!is_floating(column.dtype)) {
      place.fail(fmt::format("the value is missing; expected {}. Read the column as f32, where it is NaN.", to_string(column.dtype)));
    }
    value = std::numeric_limits<Number>::quiet_NaN();
  } else {
    const std::optional<CsvNumber> number = data::number_in(text);
    if (!number) {
      place.fail(fmt::format("{} is no number; expected {}. List the column's values in .categories, or leave it out with .columns.",
                             in_quotes(text), to_string(column.dtype)));
    }
    if constexpr (std::is_same_v<Number, int64_t>) {
      if (number->overflows) place.fail_range(text);
      value = whole_number(place, text, number->value);
    } else {
      if (number->overflows || !fits(column.dtype, number->value)) place.fail_size(text);
      value = number->value;
    }
  }
  if constexpr (std::is_same_v<Number, int64_t>) {
    const auto [least, greatest] = range_of(column.dtype);
    if (value < least || value > greatest) place.fail_range(text);
  }
  return value;
}

// One record's values in columns of one dtype.
struct Record {
  const Table& table;
  std::vector<std::string> fields;
  int64_t line;

  template <class Number>
  Tensor tensor_of(std::span<const Column> columns, std::span<const int64_t> sizes) const {
    const Dtype dtype = columns.front().dtype;
    const Tensor values = make_empty(dtype, sizes);
    with_element(dtype, [&]<class T>(T) {
      T* to = host_data<T>(values);
      for (const Column& column : columns) *to++ = convert_element<T>(value_of<Number>({table, column, line}, fields[column.index]));
    });
    return values;
  }
  Tensor read(std::span<const Column> columns, std::span<const int64_t> sizes) const {
    return is_floating(columns.front().dtype) ? tensor_of<double>(columns, sizes) : tensor_of<int64_t>(columns, sizes);
  }
};

Example example_of(const Record& record) {
  const Table& table = record.table;
  if (record.fields.size() != table.width) {
    throw DataError(fmt::format("Dataset::from_csv: \"{}\", line {}: {} field{}; expected {}, one per column.", table.file.string(),
                                record.line, record.fields.size(), record.fields.size() == 1 ? "" : "s", table.width));
  }
  Example example;
  if (table.is_one_tensor) {
    const auto count = static_cast<int64_t>(table.inputs.size());
    example.x = record.read(table.inputs, {&count, 1});
  } else {
    std::vector<Data::Field> fields;
    for (const Column& column : table.inputs) fields.push_back({column.name, record.read({&column, 1}, {})});
    example.x = Data(std::move(fields));
  }
  if (table.target) example.y = record.read({&*table.target, 1}, {});
  return example;
}

class CsvCursor final : public DatasetCursor {
 public:
  explicit CsvCursor(std::shared_ptr<const Table> table) : table_(std::move(table)), reader_(table_->file, table_->options.separator) {
    if (table_->options.header) reader_.next(most_columns, header_rule);
  }
  std::optional<Example> next() override {
    std::optional<std::vector<std::string>> fields = reader_.next(table_->width, table_->record_rule);
    if (!fields) return std::nullopt;
    return example_of({*table_, std::move(*fields), reader_.line()});
  }

 private:
  std::shared_ptr<const Table> table_;
  CsvReader reader_;
};

class FromCsv final : public DatasetImpl {
 public:
  explicit FromCsv(std::shared_ptr<const Table> table) : table_(std::move(table)) {}
  std::unique_ptr<DatasetCursor> open(int64_t) const override { return std::make_unique<CsvCursor>(table_); }

 private:
  std::shared_ptr<const Table> table_;
};

}  // namespace

Dataset Dataset::from_csv(const std::filesystem::path& file, CsvOptions options) {
  auto table = std::make_shared<Table>();
  table->file = file;
  table->options = std::move(options);
  std::vector<std::string> names =
      CsvReader(file, table->options.separator).next(most_columns, header_rule).value_or(std::vector<std::string>());
  if (names.empty())
    throw DataError(
        fmt::format("Dataset::from_csv: \"{}\" is empty; expected {}.", file.string(), table->options.header ? "a header" : "records"));
  table->width = names.size();
  table->record_rule = fmt::format("{}, one per column", table->width);
  for (size_t i = 0; i < names.size(); ++i) names[i] = table->options.header ? std::string(trimmed(names[i])) : fmt::to_string(i);
  struct Columns {
    size_t first = 0;
    std::optional<size_t> second = {};  // another column of that name
  };
  std::unordered_map<std::string_view, Columns> columns_of;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto [found, is_new] = columns_of.try_emplace(names[i], Columns{i});
    if (!is_new && !found->second.second) found->second.second = i;
  }
  auto column = [&](const std::string& name) {
    const auto found = columns_of.find(name);
    if (found == columns_of.end()) throw ArgumentError(fmt::format("Dataset::from_csv: {}", unknown_name("column", name, names)));
    if (found->second.second) {
      throw DataError(fmt::format("Dataset::from_csv: \"{}\": columns {} and {} are both named {}; expected one of that name.",
                                  file.string(), found->second.first, *found->second.second, in_quotes(name)));
    }
    Column result{.name = name, .index = found->second.first};
    if (const auto listed = table->options.categories.find(name); listed != table->options.categories.end()) {
      result.categories = &listed->second;
      result.dtype = Dtype::i32;
    }
    if (const auto given = table->options.dtypes.find(name); given != table->options.dtypes.end()) result.dtype = given->second;
    return result;
  };
  for (const auto& each : table->options.dtypes) column(each.first);  // a misspelt name is an error, too
  for (const auto& each : table->options.categories) column(each.first);
  if (!table->options.target.empty()) table->target = column(table->options.target);
  for (const std::string& name : table->options.columns.empty() ? names : table->options.columns) {
    if (table->options.columns.empty() && table->target && name == table->target->name) continue;
    table->inputs.push_back(column(name));
  }
  if (table->inputs.empty()) throw ArgumentError("Dataset::from_csv: no columns are left for the inputs; expected at least one.");
  table->is_one_tensor = std::ranges::all_of(table->inputs, [&](const Column& each) { return each.dtype == table->inputs.front().dtype; });
  const CsvOptions& given = table->options;
  return with_config(Dataset(std::make_shared<FromCsv>(table)), "from_csv", data::FileArguments{file}, given);
}

}  // namespace anyshape
