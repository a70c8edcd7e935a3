// einsum of ragged operands: rows and lengths are one axis of the values.
#include "graph/named_call.h"
#include "ops/all_ops.h"
#include "ops/ragged/rules.h"

#include <anyshape/ops.h>
#include <anyshape/ops/segment.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape {
namespace {

struct Terms {
  std::vector<std::string> operands;
  std::string result;
};

Terms terms_of(std::string_view subscripts) {
  std::string text(subscripts);
  std::erase(text, ' ');
  Terms terms;
  const size_t arrow = text.find("->");
  if (arrow != std::string::npos) terms.result = text.substr(arrow + 2);
  text.resize(std::min(arrow, text.size()));
  for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(',', begin);
    terms.operands.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return terms;
}

}  // namespace

Tensor einsum_ragged(const NamedCall& call, std::string_view subscripts, const std::vector<Tensor>& operands) {
  Terms terms = terms_of(subscripts);
  const auto refuse = [&](std::string_view what) {
    call.fail(
        fmt::format("subscripts \"{}\" on ragged rows: {}", subscripts, what),
        "the first two subscripts of ragged operands, rows and lengths, at the front of the result and nowhere else: \"btd,de->bte\". "
        "Use to_padded(x) for other products");
  };
  if (terms.operands.size() != operands.size()) refuse(fmt::format("there are {} for {} operands", terms.operands.size(), operands.size()));
  std::string rows_and_lengths;
  for (size_t k = 0; k < operands.size(); ++k) {
    if (!operands[k].is_ragged()) continue;
    if (static_cast<int>(terms.operands[k].size()) != operands[k].rank())
      refuse(fmt::format("operand {} has {} of them and rank {}", k, terms.operands[k].size(), operands[k].rank()));
    if (rows_and_lengths.empty()) rows_and_lengths = terms.operands[k].substr(0, 2);
  }
  const char row = rows_and_lengths[0], length = rows_and_lengths[1];
  // The letters of a term behind its rows and lengths, which must be none of those two.
  const auto behind = [&](const std::string& term, std::string_view of) {
    if (!term.starts_with(rows_and_lengths)) refuse(fmt::format("{} does not begin with \"{}\"", of, rows_and_lengths));
    if (term.find_first_of(rows_and_lengths, 2) != std::string::npos)
      refuse(fmt::format("{} has one of \"{}\" again", of, rows_and_lengths));
    return length + term.substr(2);
  };
  const CommonRows rows = common_rows({matmul_op, operands, Attrs()});
  std::vector<Tensor> values;
  std::string text;
  for (size_t k = 0; k < operands.size(); ++k) {
    std::string term = terms.operands[k];
    Tensor operand = rows.operands[k];
    if (operand.is_ragged()) {
      term = behind(term, fmt::format("operand {}", k));
      operand = operand.values();
    } else if (term.find(length) != std::string::npos || term.rfind(row) != std::string::npos) {
      if (term.find_first_of(rows_and_lengths, 1) != std::string::npos || term[0] != row)
        refuse(fmt::format("dense operand {} has one of \"{}\"", k, rows_and_lengths));
      operand = segment::repeat(operand, rows.partition->splits, rows.partition->total);
      term[0] = length;
    }
    text += (k == 0 ? "" : ",") + term;
    values.push_back(std::move(operand));
  }
  text += "->" + behind(terms.result, "the result");
  return make_ragged(einsum(text, values), rows.partition);
}

}  // namespace anyshape
