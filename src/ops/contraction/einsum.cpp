// einsum: subscripts name the axes of every operand and of the result; what the result does not name is summed. Read, checked, and handed to
// contract() pair by pair from left to right.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "graph/named_call.h"
#include "ops/contraction/contract.h"
#include "ops/ragged/rules.h"
#include "shape/prove.h"
#include "tensor/tensor_impl.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

namespace anyshape {
namespace {

// Labels of letters are their character codes; the axes that an ellipsis stands for are -1, -2, ... from the last one on.
constexpr int ellipsis = 0;
using Labels = std::vector<int>;

struct Subscripts {
  std::string_view text;
  std::vector<Labels> operands;  // letters, and `ellipsis` where "..." stands
  std::optional<Labels> result;
};

[[noreturn]] void fail_subscripts(std::string_view text, const std::string& what, std::string_view expected) {
  throw ArgumentError(fmt::format("einsum: {}: subscripts are \"{}\"; expected {}.", what, text, expected));
}

Labels read_term(std::string_view text, std::string_view term) {
  Labels labels;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term[i] == ' ') continue;
    if (std::isalpha(static_cast<unsigned char>(term[i])) != 0) {
      labels.push_back(term[i]);
    } else if (term.substr(i, 3) == "...") {
      if (std::ranges::find(labels, ellipsis) != labels.end()) {
        fail_subscripts(text, fmt::format("\"{}\" has two ellipses", term), "at most one \"...\" per operand");
      }
      labels.push_back(ellipsis);
      i += 2;
    } else {
      fail_subscripts(text, fmt::format("\"{}\" is no subscript", term[i]), "letters and \"...\", as in \"...ij,jk->...ik\"");
    }
  }
  return labels;
}

Subscripts read(std::string_view text, size_t operand_count) {
  Subscripts subscripts{text, {}, std::nullopt};
  const size_t arrow = text.find("->");
  std::string_view left = text.substr(0, arrow);
  if (arrow != std::string_view::npos) subscripts.result = read_term(text, text.substr(arrow + 2));
  while (true) {
    const size_t comma = left.find(',');
    subscripts.operands.push_back(read_term(text, left.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  if (subscripts.operands.size() != operand_count) {
    fail_subscripts(text, fmt::format("subscripts for {} operands, but {} are given", subscripts.operands.size(), operand_count),
                    "one part per operand, separated by commas");
  }
  return subscripts;
}

std::string describe(std::span<const Tensor> operands) {
  std::string text;
  for (size_t k = 0; k < operands.size(); ++k) {
    text += fmt::format("{}operand {} is {}{}", k == 0 ? "" : ", ", k, to_string(operands[k].dtype()), to_string(operands[k].shape()));
  }
  return text;
}

// The ellipsis replaced by one label per axis that it stands for.
Labels expanded(const Subscripts& subscripts, std::span<const Tensor> operands, size_t k) {
  const Labels& written = subscripts.operands[k];
  const bool open = std::ranges::find(written, ellipsis) != written.end();
  const int letters = static_cast<int>(written.size()) - (open ? 1 : 0), rank = operands[k].rank();
  if (open ? rank < letters : rank != letters) {
    throw ShapeError(fmt::format("einsum: operand {} has rank {}, but its subscripts name {} axes: subscripts are \"{}\", {}; expected {}.",
                                 k, rank, letters, subscripts.text, describe(operands), open ? "at least as many axes" : "as many axes"));
  }
  Labels labels;
  for (int label : written) {
    if (label != ellipsis) {
      labels.push_back(label);
    } else {
      for (int i = letters - rank; i < 0; ++i) labels.push_back(i);
    }
  }
  return labels;
}

// Without "->": what the ellipses stand for, then the letters that occur once, in alphabetical order.
Labels implied_result(const Subscripts& subscripts) {
  std::map<int, int> count;
  for (const Labels& operand : subscripts.operands) {
    for (int label : operand) ++count[label];
  }
  Labels result;
  for (const auto& [label, times] : count) {
    if (label == ellipsis || times == 1) result.push_back(label);
  }
  return result;
}

Labels result_labels(const Subscripts& subscripts, std::span<const Labels> operands) {
  int widest = 0;  // axes of the widest ellipsis
  for (const Labels& operand : operands) {
    for (int label : operand) widest = std::max(widest, -label);
  }
  const Labels written = subscripts.result.has_value() ? *subscripts.result : implied_result(subscripts);
  Labels labels;
  for (int label : written) {
    if (label == ellipsis) {
      for (int i = -widest; i < 0; ++i) labels.push_back(i);
      continue;
    }
    const char letter = static_cast<char>(label);
    if (has_label(labels, label))
      fail_subscripts(subscripts.text, fmt::format("\"{}\" stands twice in the result", letter), "every letter once");
    const bool known = std::ranges::any_of(operands, [&](const Labels& operand) { return has_label(operand, label); });
    if (!known)
      fail_subscripts(subscripts.text, fmt::format("\"{}\" of the result stands in no operand", letter), "letters of the operands");
    labels.push_back(label);
  }
  return labels;
}

// One size per letter, and the broadcast size per axis of the ellipses.
std::map<int, Dim> find_sizes(const Subscripts& subscripts, std::span<const Tensor> operands, std::span<const Labels> labels) {
  std::map<int, Dim> sizes;
  for (size_t k = 0; k < operands.size(); ++k) {
    const Shape shape = operands[k].shape();
    for (size_t axis = 0; axis < labels[k].size(); ++axis) {
      const Dim& size = shape[static_cast<int>(axis)];
      const auto [known, is_new] = sizes.try_emplace(labels[k][axis], size);
      if (is_new || known->second.same_as(size)) continue;
      const bool letter = labels[k][axis] > 0;
      const bool differ = !proves(letter ? Relation::Equal : Relation::Broadcastable, known->second, size).value_or(true);
      if (differ) {
        const std::string name = letter ? fmt::format("subscript \"{}\"", static_cast<char>(labels[k][axis])) : "an axis of \"...\"";
        throw ShapeError(fmt::format("einsum: {} has the sizes {} and {}: subscripts are \"{}\", {}; expected {}.", name,
                                     to_string(known->second), to_string(size), subscripts.text, describe(operands),
                                     letter ? "one size per subscript" : "sizes that are equal or 1"));
      }
      if (!letter) known->second = bcast(known->second, size);
    }
  }
  return sizes;
}

// The first two axes with this label become one, the last: their diagonal.
Labelled diagonal(const Labelled& x, int label) {
  std::vector<int64_t> order, pair;
  Labels labels;
  for (size_t axis = 0; axis < x.labels.size(); ++axis) {
    if (x.labels[axis] == label && pair.size() < 2) {
      pair.push_back(static_cast<int64_t>(axis));
    } else {
      order.push_back(static_cast<int64_t>(axis));
      labels.push_back(x.labels[axis]);
    }
  }
  order.insert(order.end(), pair.begin(), pair.end());
  labels.push_back(label);
  return {diag(transpose(x.tensor, order)), labels};
}

// The operand with one axis per label: equal letters become their diagonal, axes that an ellipsis repeats are repeated or left out.
Labelled prepared(const Tensor& operand, const Labels& labels, const std::map<int, Dim>& sizes) {
  Shape letters = operand.shape(), wide, kept;
  std::vector<std::string> names;
  Labels left;
  for (size_t axis = 0; axis < labels.size(); ++axis) {
    const int at = static_cast<int>(axis), label = labels[axis];
    const bool letter = label > 0, single = !letter && letters[at].same_as(1);
    if (letter) letters[at] = sizes.at(label);
    wide.push_back(single ? Dim(1) : sizes.at(label));
    names.push_back(letter ? fmt::format("subscript \"{}\"", static_cast<char>(label)) : "an axis of \"...\"");
    if (single) continue;  // broadcasting repeats it: the other operands' axis is the result's
    kept.push_back(sizes.at(label));
    left.push_back(label);
  }
  Labelled result{reshape(broadcast_to(with_sizes(operand, letters, names), wide), kept), left};
  for (int label : left) {
    while (std::ranges::count(result.labels, label) > 1) result = diagonal(result, label);
  }
  return result;
}

// All in one dtype before anything is summed.
std::vector<Tensor> promoted(const std::vector<Tensor>& operands) {
  DtypeArgument common{operands[0].dtype(), operands[0].impl()->weak};
  for (const Tensor& operand : operands) {
    const DtypeArgument next{operand.dtype(), operand.impl()->weak};
    common = {promote(common, next), common.weak && next.weak};
  }
  std::vector<Tensor> result;
  for (const Tensor& operand : operands) result.push_back(cast(operand, common.dtype));
  return result;
}

}  // namespace

Tensor einsum(std::string_view text, const std::vector<Tensor>& operands) {
  const NamedCall call("einsum", operands);
  if (std::ranges::any_of(operands, [](const Tensor& each) { return each.is_ragged(); })) return einsum_ragged(call, text, operands);
  const Subscripts subscripts = read(text, operands.size());
  const std::vector<Tensor> tensors = promoted(operands);
  std::vector<Labels> labels;
  for (size_t k = 0; k < tensors.size(); ++k) labels.push_back(expanded(subscripts, tensors, k));
  const Labels result = result_labels(subscripts, labels);
  const std::map<int, Dim> sizes = find_sizes(subscripts, tensors, labels);
  std::vector<Labelled> rest;
  for (size_t k = 0; k < tensors.size(); ++k) rest.push_back(prepared(tensors[k], labels[k], sizes));

  Labelled product = std::move(rest[0]);
  for (size_t k = 1; k < rest.size(); ++k) {
    Labels needed = result;  // by the result or by an operand that is still to come
    for (size_t later = k + 1; later < rest.size(); ++later) {
      needed.insert(needed.end(), rest[later].labels.begin(), rest[later].labels.end());
    }
    product = contract(product, rest[k], needed);
  }
  product = sum_others(product, result);
  // An axis of size 1 that every operand's ellipsis has was left out above and comes back.
  Labels order;
  Shape shape;
  for (int label : result) {
    if (has_label(product.labels, label)) order.push_back(label);
    shape.push_back(sizes.at(label));
  }
  return reshape(arranged(product, order), shape);
}

}  // namespace anyshape
