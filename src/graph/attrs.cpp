// The visitors over attribute fields: keys, text, replacing sizes.
#include "graph/attrs.h"

#include "graph/text.h"
#include "shape/dim_node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace anyshape {
namespace {

class KeyWriter : public AttrVisitor {
 public:
  KeyWriter(std::string& key, std::vector<int64_t>* sizes) : key_(key), sizes_(sizes) {}
  void operator()(std::string_view, bool& field) override { put(field); }
  void operator()(std::string_view, int64_t& field) override { put(field); }
  void operator()(std::string_view, double& field) override { put(field); }
  void operator()(std::string_view, Dtype& field) override { put(field); }
  void operator()(std::string_view, Dim& field) override { dim(field); }
  void operator()(std::string_view, Shape& field) override { dims(field, field.rank()); }
  void operator()(std::string_view, std::vector<int64_t>& field) override {
    put(field.size());
    for (int64_t value : field) put(value);
  }
  void operator()(std::string_view, std::vector<Dim>& field) override { dims(field, field.size()); }
  void operator()(std::string_view, RegionGraph& field) override { key_ += graph::print(*field); }

 private:
  template <class T>
  void put(const T& value) {
    key_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class Dims>
  void dims(const Dims& field, size_t count) {
    put(count);
    for (const Dim& each : field) dim(each);
  }
  void dim(const Dim& field) {
    if (sizes_ != nullptr) {
      sizes_->push_back(field.value());
    } else if (field.is_constant()) {
      put('c'), put(field.value());
    } else {
      put('s'), key_ += anyshape::to_string(field), put('\0');
      for_each_symbol(field, [&](const Symbol& symbol) { put(symbol.id); });  // names are for people: two symbols may share one
    }
  }
  std::string& key_;
  std::vector<int64_t>* sizes_;
};

class Printer : public AttrVisitor {
 public:
  using AttrVisitor::operator();  // regions are printed by their graph
  void operator()(std::string_view name, bool& field) override { add(name, field ? "true" : "false"); }
  void operator()(std::string_view name, int64_t& field) override { add(name, fmt::format("{}", field)); }
  void operator()(std::string_view name, double& field) override { add(name, fmt::format("{}", field)); }
  void operator()(std::string_view name, Dtype& field) override { add(name, std::string(anyshape::to_string(field))); }
  void operator()(std::string_view name, Dim& field) override { add(name, anyshape::to_string(field)); }
  void operator()(std::string_view name, Shape& field) override { add(name, anyshape::to_string(field)); }
  void operator()(std::string_view name, std::vector<int64_t>& field) override { add(name, fmt::format("[{}]", fmt::join(field, ", "))); }
  void operator()(std::string_view name, std::vector<Dim>& field) override {
    std::vector<std::string> texts;
    for (const Dim& each : field) texts.push_back(anyshape::to_string(each));
    add(name, fmt::format("[{}]", fmt::join(texts, ", ")));
  }
  std::string text;

 private:
  void add(std::string_view name, const std::string& value) { text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value); }
};

class DimMapper : public AttrVisitor {
 public:
  using AttrVisitor::operator();
  explicit DimMapper(const std::function<Dim(const Dim&)>& replace) : replace_(replace) {}
  void operator()(std::string_view, Dim& field) override { field = replace_(field); }
  void operator()(std::string_view, Shape& field) override {
    for (int axis = 0; axis < field.rank(); ++axis) field[axis] = replace_(field[axis]);
  }
  void operator()(std::string_view, std::vector<Dim>& field) override {
    for (Dim& each : field) each = replace_(each);
  }

 private:
  const std::function<Dim(const Dim&)>& replace_;
};

class StreamField : public AttrVisitor {
 public:
  using AttrVisitor::operator();
  void operator()(std::string_view name, int64_t& field) override {
    if (name != "stream") return;
    writes ? void(field = stream) : void(stream = field);
  }
  int64_t stream = no_stream;
  bool writes = false;
};

}  // namespace

void Attrs::visit(AttrVisitor& visitor) const {
  if (model_ != nullptr) model_->visit(visitor);
}

Attrs Attrs::rewritten(AttrVisitor& writer) const {
  Attrs copy;
  if (model_ == nullptr) return copy;
  copy.model_ = model_->clone();
  copy.model_->visit(writer);
  return copy;
}

Attrs Attrs::map_dims(const std::function<Dim(const Dim&)>& replace) const {
  DimMapper mapper(replace);
  return rewritten(mapper);
}

void Attrs::append_key(std::string& key) const {
  KeyWriter writer(key, nullptr);
  visit(writer);
}

void Attrs::append_key_without_sizes(std::string& key, std::vector<int64_t>& sizes) const {
  KeyWriter writer(key, &sizes);
  visit(writer);
}

int64_t Attrs::stream() const {
  StreamField reader;
  visit(reader);
  return reader.stream;
}

Attrs Attrs::with_stream(int64_t stream) const {
  StreamField writer;
  writer.stream = stream;
  writer.writes = true;
  return rewritten(writer);
}

std::string Attrs::to_string() const {
  Printer printer;
  visit(printer);
  return printer.text;
}

}  // namespace anyshape
