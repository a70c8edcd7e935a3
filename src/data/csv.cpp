// Elements from comma-separated values: numbers, categories, missing values; every error with its line.
#include "base/near_names.h"
#include "data/csv_reader.h"
#include "data/dataset_impl.h"

#include <anyshape/ops.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

namespace anyshape {
namespace {

using data::CsvReader;

struct Column {
  std::string name;
  size_t place = 0;  // in a record
  Dtype dtype = Dtype::f32;
  const std::vector<std::string>* categories = nullptr;
};

// What is known of a file from its options and its first record.
struct Table {
  std::filesystem::path file;
  CsvOptions options;
  size_t width = 0;
  std::vector<Column> inputs;
  std::optional<Column> target;
  bool is_one_tensor = true;  // the inputs have one dtype
};

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::optional<double> number_in(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The value of a field in its column's kind; integers up to 2^53 are exact in the double that holds them.
double value_of(const Table& table, const Column& column, const std::string& field, int64_t line) {
  auto fail = [&](const std::string& what) {
    throw DataError(fmt::format("Dataset::from_csv: \"{}\", line {}, column \"{}\": {}", table.file.string(), line, column.name, what));
  };
  const std::string_view text = trimmed(field);
  if (column.categories != nullptr) {
    const auto found = std::ranges::find(*column.categories, text);
    if (found == column.categories->end()) fail(unknown_name("category", text, *column.categories));
    return static_cast<double>(found - column.categories->begin());
  }
  if (std::ranges::find(table.options.missing, text) != table.options.missing.end()) {
    if (!is_floating(column.dtype))
      fail(fmt::format("the value is missing; expected {}. Read the column as f32, where it is NaN.", to_string(column.dtype)));
    return std::numeric_limits<double>::quiet_NaN();
  }
  const std::optional<double> value = number_in(text);
  if (!value)
    fail(fmt::format("\"{}\" is no number; expected {}. List the column's values in .categories, or leave it out with .columns.", text,
                     to_string(column.dtype)));
  if (!is_floating(column.dtype) && !(std::isfinite(*value) && std::trunc(*value) == *value)) {
    fail(fmt::format("\"{}\" is no whole number; expected {}.", text, to_string(column.dtype)));
  }
  return *value;
}

Tensor scalar(double value, Dtype dtype) { return cast(tensor(std::vector<double>{value}, {}), dtype); }

Example example_of(const Table& table, const std::vector<std::string>& record, int64_t line) {
  if (record.size() != table.width) {
    throw DataError(fmt::format("Dataset::from_csv: \"{}\", line {}: {} field{}; expected {}, one per column.", table.file.string(), line,
                                record.size(), record.size() == 1 ? "" : "s", table.width));
  }
  std::vector<double> values;
  for (const Column& column : table.inputs) values.push_back(value_of(table, column, record[column.place], line));
  Example example;
  if (table.is_one_tensor) {
    example.x = cast(tensor(values, {static_cast<int64_t>(values.size())}), table.inputs.front().dtype);
  } else {
    std::vector<Data::Field> fields;
    for (size_t i = 0; i < values.size(); ++i) fields.push_back({table.inputs[i].name, scalar(values[i], table.inputs[i].dtype)});
    example.x = Data(std::move(fields));
  }
  if (table.target) example.y = scalar(value_of(table, *table.target, record[table.target->place], line), table.target->dtype);
  return example;
}

class CsvCursor final : public DatasetCursor {
 public:
  explicit CsvCursor(std::shared_ptr<const Table> table) : table_(std::move(table)), reader_(table_->file, table_->options.separator) {
    if (table_->options.header) reader_.next();
  }
  std::optional<Example> next() override {
    const std::optional<std::vector<std::string>> record = reader_.next();
    if (!record) return std::nullopt;
    return example_of(*table_, *record, reader_.line());
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
  std::vector<std::string> names = CsvReader(file, table->options.separator).next().value_or(std::vector<std::string>());
  if (names.empty())
    throw DataError(
        fmt::format("Dataset::from_csv: \"{}\" is empty; expected {}.", file.string(), table->options.header ? "a header" : "records"));
  table->width = names.size();
  for (size_t i = 0; i < names.size(); ++i) names[i] = table->options.header ? std::string(trimmed(names[i])) : fmt::to_string(i);
  auto column = [&](const std::string& name) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) throw ArgumentError(fmt::format("Dataset::from_csv: {}", unknown_name("column", name, names)));
    Column result{.name = name, .place = static_cast<size_t>(found - names.begin())};
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
    if (table->options.columns.empty() && name == table->options.target) continue;
    table->inputs.push_back(column(name));
  }
  if (table->inputs.empty()) throw ArgumentError("Dataset::from_csv: no columns are left for the inputs; expected at least one.");
  table->is_one_tensor = std::ranges::all_of(table->inputs, [&](const Column& each) { return each.dtype == table->inputs.front().dtype; });
  return Dataset(std::make_shared<FromCsv>(std::move(table)));
}

}  // namespace anyshape
