// The memory plan: slots of one arena per block, each a size expression. Offsets are added up when the sizes are known. A value takes, in
// this order: the slot of an input that its kernel reads for the last time, element by element as it writes; a free slot that is large
// enough; a free slot, which grows; a new one.
#include "base/switches.h"
#include "lower/lower.h"
#include "shape/dim_node.h"
#include "shape/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace anyshape::lower {
namespace {

const Switch reuses_memory("reuse_memory", "values that are not needed together share a slot");
const Switch writes_in_place("in_place", "a result is written over an operand that nothing else needs");

// Sizes by number, and what is known of two of them, found out once: a deep program has many values and few sizes.
class ComparedSizes {
 public:
  size_t number(const Dim& size) {
    const auto [found, is_new] = numbers_.try_emplace(size, sizes_.size());
    if (is_new) sizes_.push_back(size);
    return found->second;
  }
  const Dim& size(size_t number) const { return sizes_[number]; }
  bool fits(size_t size, size_t room) {
    if (size == room) return true;
    return once(fits_, size, room, [](const Dim& a, const Dim& b) { return proves_less_equal(a, b); });
  }
  bool is_less(size_t a, size_t b) {
    if (a == b) return false;
    return once(less_, a, b, [](const Dim& x, const Dim& y) { return proves_less(x, y); });
  }

 private:
  using Answers = std::unordered_map<uint64_t, bool>;

  template <class Proof>
  bool once(Answers& answers, size_t a, size_t b, const Proof& proof) {
    const auto [found, is_new] = answers.try_emplace(static_cast<uint64_t>(a) << 32 | b);
    if (is_new) found->second = proof(sizes_[a], sizes_[b]).value_or(false);
    return found->second;
  }

  std::deque<Dim> sizes_;  // stay where they are
  std::unordered_map<Dim, size_t, DimHash, DimSame> numbers_;
  Answers fits_, less_;
};

class BlockPlan {
 public:
  BlockPlan(Program& program, int block, Decisions& decisions) : program_(program), block_(block), decisions_(decisions) {
    for (const DataSize& size : program.data_sizes) data_sizes_.insert(as_symbol(size.symbol)->id);
  }

  void run(std::vector<int> temporaries) {
    std::ranges::sort(temporaries, {}, [&](int i) { return std::pair(buffer(i).first_item, i); });
    for (const int each : temporaries) place(each);
    lay_out(temporaries);
  }

 private:
  struct Slot {
    size_t size;  // its bytes, as a number of `sizes_`
    int owner;    // the buffer that has it now, or had it last
  };

  ProgramBuffer& buffer(int number) { return program_.buffers[static_cast<size_t>(number)]; }

  void place(int number) {
    const size_t size = sizes_.number(buffer(number).count * size_of(buffer(number).dtype));
    free_until(buffer(number).first_item);
    Slot* slot = find_input(number);
    if (slot == nullptr && reuses_) slot = find_free(size);
    if (slot == nullptr) slot = &slots_.emplace_back(Slot{size, number});
    slot->owner = number;
    buffer(number).slot = static_cast<int>(slot - slots_.data());
    taken_.emplace(buffer(number).last_item, buffer(number).slot);
  }

  // How a slot's size follows the sizes of a call.
  enum class Growth : uint8_t { Constant, FromConstant, Free };

  static Growth growth_of(const Dim& bytes) {
    if (bytes.is_constant()) return Growth::Constant;
    const Atom* const atom = as_atom(bytes);
    const bool has_least = atom != nullptr && atom->kind == AtomKind::Max && std::ranges::any_of(atom->operands, &Dim::is_constant);
    return has_least ? Growth::FromConstant : Growth::Free;
  }

  // What hardly moves comes first, so that a call that is no larger than an earlier one meets no fresh page: many sizes use a part of a constant
  // slot only, and what they leave untouched would lie under the other slots of the next call.
  void lay_out(const std::vector<int>& temporaries) {
    std::vector<Dim>& planned = program_.blocks[static_cast<size_t>(block_)].slots;
    planned.clear();
    std::vector<int> place_of(slots_.size());
    for (const Growth growth : {Growth::Constant, Growth::FromConstant, Growth::Free}) {
      for (size_t slot = 0; slot < slots_.size(); ++slot) {
        const Dim& size = sizes_.size(slots_[slot].size);
        if (growth_of(size) != growth) continue;
        place_of[slot] = static_cast<int>(planned.size());
        planned.push_back(size);
      }
    }
    for (const int each : temporaries) buffer(each).slot = place_of[static_cast<size_t>(buffer(each).slot)];
  }

  // Slots whose owners are not touched any more when an item begins.
  void free_until(int item) {
    for (; !taken_.empty() && taken_.top().first < item; taken_.pop()) {
      const auto [last_item, number] = taken_.top();
      const Slot& slot = slots_[static_cast<size_t>(number)];
      if (buffer(slot.owner).last_item == last_item) free_[slot.size].insert(number);  // else somebody else has it by now
    }
  }

  // The slot of an input that dies in the launch that makes the value. Another output of the launch that took it is its owner by then.
  Slot* find_input(int number) {
    const ProgramBuffer& output = buffer(number);
    if (output.first_item < 0) return nullptr;  // nothing touches it
    const int* launch = std::get_if<int>(&program_.blocks[static_cast<size_t>(block_)].items[static_cast<size_t>(output.first_item)]);
    if (launch == nullptr) return nullptr;
    const Launch& made = program_.launches[static_cast<size_t>(*launch)];
    if (made.access_of(number) != loop::Access::Out) return nullptr;
    for (const int input : made.buffers) {
      if (made.access_of(input) != loop::Access::Own) continue;
      const auto refusal = refusal_of(input, number);
      decisions_.push_back({"in_place", fmt::format("{} over {}", output.value, buffer(input).value), refusal.empty(),
                            std::string(refusal.empty() ? "it is read for the last time, each element before it is written" : refusal)});
      if (refusal.empty()) return &slots_[static_cast<size_t>(buffer(input).slot)];
    }
    return nullptr;
  }

  // Why an output cannot be written over an input of its loop; empty where it can.
  std::string_view refusal_of(int input, int output) {
    const ProgramBuffer& old = buffer(input);
    if (writes_in_place.is_off()) return "switched off";
    if (old.kind != BufferKind::Temporary || old.block != block_) return "it is not the arena's";
    if (old.last_item > buffer(output).first_item) return "it is read again";
    if (size_of(old.dtype) != size_of(buffer(output).dtype)) return "the elements differ in size";
    if (slots_[static_cast<size_t>(old.slot)].owner != input) return "another output is written over it";
    return {};
  }

  // The first that is large enough, else one that grows to hold both: never more than a slot beside it would take. What is small anyway stays
  // by itself, so that people can read what a call takes. Slots of one size are asked about once.
  Slot* find_free(size_t size) {
    std::vector<std::pair<int, size_t>> firsts;  // of each size that is free: the slot, and the size
    for (const auto& [each, slots] : free_) firsts.emplace_back(*slots.begin(), each);
    std::ranges::sort(firsts);
    const std::pair<int, size_t>* largest = nullptr;
    for (const std::pair<int, size_t>& first : firsts) {
      if (sizes_.fits(size, first.second)) return take(first);
      if (is_small(sizes_.size(first.second)) || is_large(sizes_.size(first.second))) continue;
      if (largest == nullptr || sizes_.is_less(largest->second, first.second)) largest = &first;
    }
    if (largest == nullptr || is_small(sizes_.size(size)) || is_large(sizes_.size(size)) || is_found_late(sizes_.size(size)))
      return nullptr;
    Slot* const grown = take(*largest);
    grown->size = sizes_.number(max(sizes_.size(grown->size), sizes_.size(size)));
    return grown;
  }

  Slot* take(const std::pair<int, size_t>& free) {
    const auto slots = free_.find(free.second);
    slots->second.erase(free.first);
    if (slots->second.empty()) free_.erase(slots);
    return &slots_[static_cast<size_t>(free.first)];
  }

  static bool is_small(const Dim& bytes) { return bytes.is_constant() && bytes.value() <= 4096; }

  // The greatest of many: a size that grows with every value it has to hold would not stay an expression of a few operations.
  static bool is_large(const Dim& bytes) {
    constexpr size_t most_operands = 8;
    const Atom* const atom = as_atom(bytes);
    return atom != nullptr && atom->kind == AtomKind::Max && atom->operands.size() >= most_operands;
  }

  // A size that a launch finds: memory that was laid out before cannot grow by it.
  bool is_found_late(const Dim& bytes) const {
    bool late = false;
    for_each_symbol(bytes, [&](const Symbol& symbol) { late = late || data_sizes_.contains(symbol.id); });
    return late;
  }

  using Taken = std::pair<int, int>;  // the last item that touches its owner, and the slot

  Program& program_;
  int block_;
  Decisions& decisions_;
  const bool reuses_ = !reuses_memory.is_off();
  std::unordered_set<uint64_t> data_sizes_;
  ComparedSizes sizes_;
  std::vector<Slot> slots_;
  std::priority_queue<Taken, std::vector<Taken>, std::greater<>> taken_;
  std::map<size_t, std::set<int>> free_;  // slots that nobody has, by size
};

}  // namespace

void plan_memory(Program& program, Decisions& decisions) {
  std::vector<std::vector<int>> temporaries(program.blocks.size());
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const ProgramBuffer& buffer = program.buffers[i];
    if (buffer.kind == BufferKind::Temporary) temporaries[static_cast<size_t>(buffer.block)].push_back(static_cast<int>(i));
  }
  for (size_t block = 0; block < program.blocks.size(); ++block)
    BlockPlan(program, static_cast<int>(block), decisions).run(std::move(temporaries[block]));
}

}  // namespace anyshape::lower
