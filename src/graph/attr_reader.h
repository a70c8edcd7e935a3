// Attributes from text: writes the fields of an op's attributes from what is given for their names. Private to the parser.
#pragma once
#include "graph/attrs.h"
#include "graph/text_line.h"
#include "shape/parse.h"

#include <map>

namespace anyshape::graph {

class AttrReader final : public AttrVisitor {
 public:
  using AttrVisitor::operator();  // regions stand below the node
  AttrReader(std::map<std::string_view, std::string_view> given, const SymbolLookup& lookup) : given_(std::move(given)), lookup_(lookup) {}
  void operator()(std::string_view name, bool& field) override {
    read(name, [&](std::string_view text) {
      if (text != "true" && text != "false") fail(fmt::format("expected true or false for {}, found \"{}\"", name, text));
      field = text == "true";
    });
  }
  void operator()(std::string_view name, int64_t& field) override {
    read(name, [&](std::string_view text) { field = number<int64_t>(name, text); });
  }
  void operator()(std::string_view name, double& field) override {
    read(name, [&](std::string_view text) { field = number<double>(name, text); });
  }
  void operator()(std::string_view name, Dtype& field) override {
    read(name, [&](std::string_view text) { field = dtype_in(text); });
  }
  void operator()(std::string_view name, Dim& field) override {
    read(name, [&](std::string_view text) { field = parse_dim(text, lookup_); });
  }
  void operator()(std::string_view name, Shape& field) override {
    read(name, [&](std::string_view text) { field = parse_shape(text, lookup_); });
  }
  void operator()(std::string_view name, std::vector<int64_t>& field) override {
    field.clear();
    for_each(name, [&](std::string_view text) { field.push_back(number<int64_t>(name, text)); });
  }
  void operator()(std::string_view name, std::vector<Dim>& field) override {
    field.clear();
    for_each(name, [&](std::string_view text) { field.push_back(parse_dim(text, lookup_)); });
  }
  void expect_all_used(std::string_view op) const {
    if (!given_.empty()) fail(fmt::format("{} has no attribute \"{}\"", op, given_.begin()->first));
  }

 private:
  template <class T>
  static T number(std::string_view name, std::string_view text) {
    const std::optional<T> value = number_in<T>(text);
    if (!value) fail(fmt::format("expected a number for {}, found \"{}\"", name, text));
    return *value;
  }
  template <class Body>
  void read(std::string_view name, const Body& body) {
    const auto found = given_.find(name);
    if (found == given_.end()) return;
    body(found->second);
    given_.erase(found);
  }
  template <class Body>
  void for_each(std::string_view name, const Body& body) {
    read(name, [&](std::string_view text) {
      Line line(text);
      line.expect("[");
      if (!line.accept("]")) {
        do body(line.up_to(",]"));
        while (line.accept(","));
        line.expect("]");
      }
      line.expect_end();
    });
  }
  std::map<std::string_view, std::string_view> given_;
  const SymbolLookup& lookup_;
};

}  // namespace anyshape::graph
