// What training reports: one value per epoch and name.
#pragma once
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

class History {
 public:
  const std::vector<double>& operator[](const std::string& name) const&;  // ArgumentError with the known names for an unknown one
  std::vector<double> operator[](const std::string& name) &&;             // of what fit has just given: outlives it
  bool contains(const std::string& name) const;
  std::vector<std::string> names() const;
  int64_t epochs() const;
  void append(const std::string& name, double value);
  std::string to_csv() const;
  std::string to_json() const;

 private:
  std::vector<std::pair<std::string, std::vector<double>>> columns_;
};

// Loss and metrics of one evaluation, by name.
class Scores {
 public:
  double operator[](const std::string& name) const;  // ArgumentError with the known names for an unknown one
  bool contains(const std::string& name) const;
  const std::vector<std::pair<std::string, double>>& all() const& { return values_; }
  std::vector<std::pair<std::string, double>> all() && { return std::move(values_); }
  void set(const std::string& name, double value);

 private:
  std::vector<std::pair<std::string, double>> values_;
};

}  // namespace anyshape
#pragma GCC visibility pop
