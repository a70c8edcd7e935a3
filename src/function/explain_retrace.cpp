// Differences between a call and the traces that are there.
#include "function/explain_retrace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace anyshape::function_detail {
namespace {

struct Difference {
  Cause cause;
  std::string text;
  int weight = 1;                // of how many things it speaks
  std::string_view advice = {};  // where the cause has several
};

constexpr std::string_view advice_for_presence =
    "A value that is there in some calls and not in others is another trace: give it to all of them (weights of 1 count as none), or make "
    "a "
    "function for each.";
constexpr std::string_view advice_for_backend =
    "Every backend has traces of its own: call a function on one of them, or make one for each.";
constexpr std::string_view advice_for_notes = "A mask or logits on an argument are another trace: give them to all calls or to none.";

constexpr std::string_view advice_for_tapes = "What a tape follows is part of a trace made under it: let each tape follow the same.";

int weight_of(const std::vector<Difference>& all) {
  return std::accumulate(all.begin(), all.end(), 0, [](int sum, const Difference& each) { return sum + each.weight; });
}

std::string advice_for(Cause cause, const FunctionOptions& options) {
  switch (cause) {
    case Cause::FirstCall: return "";
    case Cause::Structure:
      return "Another structure is another trace: stack tensors whose number varies into one, or make a function for each.";
    case Cause::Object: return "An object is part of the key, with its structure and options: make a function for each.";
    case Cause::Rank: return "Another rank is another trace: reshape it to one rank, or make a function for each.";
    case Cause::Dtype:
      return options.signature.empty()
                 ? "Another dtype is another trace: cast it with as::cast, or declare a signature with .dtypes = as::DtypePolicy::Cast."
                 : "Another dtype is another trace: cast it with as::cast, or set .dtypes = as::DtypePolicy::Cast.";
    case Cause::HostValue: return "Host values are part of the key: pass a number that varies as a tensor, as::Tensor(value).";
    case Cause::Comparison:
      return "The callable compares sizes, and each outcome is a trace: give the sizes to ops (reshape, slice, as::min, as::max), or "
             "choose "
             "inside the graph with as::where on as::size(x, axis).";
    case Cause::Specialize:
      return "specialize() makes a trace per size: keep the size a Dim (reshape, full, arange and slice take Dims), or use as::size(x, "
             "axis) as "
             "a number in the graph.";
    case Cause::Size:
      return options.shapes == Shapes::Exact ? "Shapes::Exact makes a trace per shape: Shapes::Symbolic runs every shape in one."
                                             : "Shapes::Relax begins with numbers: Shapes::Symbolic begins with symbols.";
    case Cause::Evicted:
      return fmt::format("Raise .max_traces (now {}) or .max_code_bytes (now {}).", options.max_traces, options.max_code_bytes);
  }
  return "";
}

Cause cause_of(detail::structure::Role role) {
  switch (role) {
    case detail::structure::Role::Number:
    case detail::structure::Role::Text: return Cause::HostValue;
    case detail::structure::Role::Object: return Cause::Object;
    case detail::structure::Role::Structure:
    case detail::structure::Role::Presence:
    case detail::structure::Role::Notes: return Cause::Structure;
  }
  return Cause::Structure;
}

std::string_view advice_of(detail::structure::Role role) {
  if (role == detail::structure::Role::Notes) return advice_for_notes;
  return role == detail::structure::Role::Presence ? advice_for_presence : std::string_view();
}

std::vector<Difference> differences(const TraceEntry& entry, std::span<const Tensor> arguments,
                                    const detail::structure::Description& description) {
  std::vector<Difference> found;
  const Signature& signature = entry.signature();
  if (!entry.is_of_current_backend()) {
    found.push_back({Cause::Object,
                     fmt::format("the backend {} became {}", entry.executable().backend().name(), runtime::current_backend().name()), 1,
                     advice_for_backend});
  }
  for (const detail::structure::Change& change : detail::structure::changes(entry.made().values, description.parts))
    found.push_back({cause_of(change.role), change.text, 1, advice_of(change.role)});
  if (signature.specs().size() != arguments.size()) {
    if (found.empty()) found.push_back({Cause::Structure, "a mask or logits on an argument came or went", 1, advice_for_notes});
    return found;
  }
  const auto became = [&](size_t i) {
    return fmt::format("{}: {} became {}", signature.argument_name(i, description.tensors[i]), to_string(signature.specs()[i]),
                       describe(arguments[i]));
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    const TensorSpec& spec = signature.specs()[i];
    const bool is_ragged = spec.shape.rank() > 1 && spec.shape[1].is_ragged();
    if (arguments[i].rank() != spec.shape.rank() || arguments[i].is_ragged() != is_ragged) {
      found.push_back({Cause::Rank, became(i)});
    } else if (arguments[i].dtype() != spec.dtype) {
      found.push_back({Cause::Dtype, became(i)});
    }
  }
  if (!signature.fits_kinds(arguments)) return found;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const int changed = signature.changed_sizes(i, arguments);
    if (changed == 0) continue;
    const std::string text = arguments[i].is_ragged() ? fmt::format("{}: {} became {}", signature.argument_name(i, description.tensors[i]),
                                                                    signature.describe_rows(i), Signature::describe_rows(arguments[i]))
                                                      : became(i);
    found.push_back({Cause::Size, text, changed});
  }
  if (!signature.fits_known(arguments)) return found;
  if (const graph::Check* check = entry.failed_retrace_check(arguments)) {
    found.push_back({check->op == specialize_place ? Cause::Specialize : Cause::Comparison,
                     fmt::format("{}: {} no longer holds", check->op, to_string(check->check))});
  }
  return found;
}

// A trace that fitted by everything that is remembered of it.
const EvictedTrace* find_evicted(std::span<const EvictedTrace> evicted, std::span<const Tensor> arguments, const std::string& key) {
  const auto found = std::ranges::find_if(evicted, [&](const EvictedTrace& each) {
    return !each.decides_by_size && each.key == key && each.signature.fits_kinds(arguments) && each.signature.fits_known(arguments);
  });
  return found == evicted.end() ? nullptr : &*found;
}

}  // namespace

Explanation explain_retrace(const FunctionOptions& options, const TraceCache& cache, std::span<const Tensor> arguments,
                            const std::string& key, const detail::structure::Description& description, bool is_taped) {
  const std::vector<EvictedTrace> evicted = cache.evicted();
  if (const EvictedTrace* trace = find_evicted(evicted, arguments, key)) {
    return {
        Cause::Evicted,
        fmt::format("trace {} fits this call but was evicted after {} call{}", trace->number, trace->calls, trace->calls == 1 ? "" : "s"),
        advice_for(Cause::Evicted, options)};
  }
  std::vector<Difference> least;
  const TraceEntry* nearest = nullptr;
  const std::vector<Entry> entries = cache.entries();
  for (const Entry& entry : entries) {
    if ((entry->taped() != nullptr) != is_taped) continue;
    std::vector<Difference> found = differences(*entry, arguments, description);
    if (nearest != nullptr && weight_of(found) >= weight_of(least)) continue;
    least = std::move(found);
    nearest = entry.get();
  }
  if (nearest == nullptr) return {Cause::FirstCall, is_taped ? "first call under a tape" : "first call", ""};
  if (least.empty() && is_taped)
    least.push_back({Cause::Object, "the tape follows other arguments, variables or captured tensors", 1, advice_for_tapes});
  // Other sizes behind a comparison may leave nothing to name: then tracing is what finds the difference.
  if (least.empty()) least.push_back({Cause::Comparison, "a size behind a comparison has no value for these sizes"});

  Explanation result{least[0].cause, "", ""};
  std::vector<std::string> texts, advice;
  for (const Difference& each : least) {
    texts.push_back(each.text);
    std::string cure = each.advice.empty() ? advice_for(each.cause, options) : std::string(each.advice);
    if (std::ranges::find(advice, cure) == advice.end()) advice.push_back(std::move(cure));
  }
  result.reason = fmt::format("{} (nearest: trace {})", fmt::join(texts, "; "), nearest->number());
  result.advice = fmt::format("{}", fmt::join(advice, " "));
  return result;
}

}  // namespace anyshape::function_detail
