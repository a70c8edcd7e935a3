// What training reports: one value per epoch and name.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

/// Loss and metrics of a fit, by name: one value per epoch.
class History {
 public:
  const std::vector<double>& operator[](const std::string& name) const&;       ///< ArgumentError with the known names for an unknown one
  std::vector<double> operator[](const std::string& name) &&;                  ///< of what fit has just given: outlives it
  bool contains(const std::string& name) const;                                ///< whether it is recorded
  std::vector<std::string> names() const;                                      ///< in the order in which they were recorded first
  int64_t epochs() const;                                                      ///< the number of values of the longest column
  void append(const std::string& name, double value);                          ///< the value of the next epoch
  std::string to_csv() const;                                                  ///< a line of names, then one per epoch, from 0 on
  std::string to_json() const;                                                 ///< a list by name; null for a value that is not finite
  friend std::ostream& operator<<(std::ostream& out, const History& history);  ///< as to_csv

 private:
  std::vector<std::pair<std::string, std::vector<double>>> columns_;
};

/// Loss and metrics of one evaluation, by name.
class Scores {
 public:
  double operator[](const std::string& name) const;  ///< ArgumentError with the known names for an unknown one
  bool contains(const std::string& name) const;      ///< whether it is there
  const std::vector<std::pair<std::string, double>>& all() const& { return values_; }  ///< in the order in which they were set
  std::vector<std::pair<std::string, double>> all() && { return std::move(values_); }  ///< of what evaluate has just given: outlives it
  void set(const std::string& name, double value);                           ///< adds the value, or replaces that of the same name
  friend std::ostream& operator<<(std::ostream& out, const Scores& scores);  ///< {loss: 0.25, accuracy: 0.5}

 private:
  std::vector<std::pair<std::string, double>> values_;
};

}  // namespace anyshape
#pragma GCC visibility pop
