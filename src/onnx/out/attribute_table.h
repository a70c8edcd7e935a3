// The attributes of an op by their names: the export knows them as the text form of graphs does, and no struct of an op.
#pragma once
#include "graph/attrs.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace anyshape::onnx::out {

class AttributeTable final : public AttrVisitor {
 public:
  explicit AttributeTable(const Attrs& attrs) {
    if (!attrs.empty()) attrs.visit(*this);
  }
  void operator()(std::string_view name, bool& field) override { integers_[std::string(name)] = field ? 1 : 0; }
  void operator()(std::string_view name, int64_t& field) override { integers_[std::string(name)] = field; }
  void operator()(std::string_view name, double& field) override { numbers_[std::string(name)] = field; }
  void operator()(std::string_view name, Dtype& field) override { dtypes_[std::string(name)] = field; }
  void operator()(std::string_view name, Dim& field) override { sizes_[std::string(name)] = {field}; }
  void operator()(std::string_view name, Shape& field) override { sizes_[std::string(name)] = {field.begin(), field.end()}; }
  void operator()(std::string_view name, std::vector<int64_t>& field) override { lists_[std::string(name)] = field; }
  void operator()(std::string_view name, std::vector<Dim>& field) override { sizes_[std::string(name)] = field; }
  void operator()(std::string_view name, RegionGraph& field) override { regions_[std::string(name)] = field; }

  int64_t integer(const char* name) const { return integers_.at(name); }
  bool flag(const char* name) const { return integers_.at(name) != 0; }
  double number(const char* name) const { return numbers_.at(name); }
  Dtype dtype(const char* name) const { return dtypes_.at(name); }
  const Dim& size(const char* name) const { return sizes_.at(name).at(0); }
  const std::vector<Dim>& sizes(const char* name) const { return sizes_.at(name); }
  const std::vector<int64_t>& list(const char* name) const { return lists_.at(name); }
  const RegionGraph& region(const char* name) const { return regions_.at(name); }

 private:
  std::map<std::string, int64_t> integers_;
  std::map<std::string, double> numbers_;
  std::map<std::string, Dtype> dtypes_;
  std::map<std::string, std::vector<Dim>> sizes_;
  std::map<std::string, std::vector<int64_t>> lists_;
  std::map<std::string, RegionGraph> regions_;
};

}  // namespace anyshape::onnx::out
