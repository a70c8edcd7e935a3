// Seeds and call numbers.
#include "function/random_state.h"

#include "base/spread_bits.h"
#include "base/thread_context.h"

#include <anyshape/random.h>

#include <atomic>
#include <utility>

namespace anyshape {
namespace {

std::atomic<uint64_t> key{0};
std::atomic<uint64_t> next_call{0};
constexpr int counter_bits = 16;  // random ops in one call

uint64_t key_of(uint64_t seed) { return spread_bits(seed, 0); }

}  // namespace

struct random::SeedScope::Access {
  static runtime::RandomState next(SeedScope& from) {
    return {static_cast<int64_t>(from.key_), static_cast<int64_t>(from.next_call_++ << counter_bits)};
  }
  static function_detail::RandomPosition position(const SeedScope& of) { return {of.key_, of.next_call_}; }
  static void set_position(SeedScope& of, const function_detail::RandomPosition& position) {
    of.key_ = position.key;
    of.next_call_ = position.next_call;
  }
};

random::SeedScope::SeedScope(uint64_t seed) : key_(key_of(seed)), outer_(std::exchange(this_thread.seeds, this)) {}
random::SeedScope::~SeedScope() { this_thread.seeds = outer_; }

void random::set_seed(uint64_t seed) {
  key.store(key_of(seed), std::memory_order_relaxed);
  next_call.store(0, std::memory_order_relaxed);
}

namespace {

runtime::RandomState next_call_state() {
  if (this_thread.seeds != nullptr) return random::SeedScope::Access::next(*this_thread.seeds);
  return {static_cast<int64_t>(key.load(std::memory_order_relaxed)),
          static_cast<int64_t>(next_call.fetch_add(1, std::memory_order_relaxed) << counter_bits)};
}

}  // namespace

runtime::RandomState function_detail::next_random_state() {
  if (this_thread.random_call == nullptr) return next_call_state();
  std::optional<runtime::RandomState>& state = this_thread.random_call->state_;
  if (!state) state = next_call_state();
  return {state->key, state->counter++};
}

function_detail::RandomPosition function_detail::random_position() {
  if (this_thread.seeds != nullptr) return random::SeedScope::Access::position(*this_thread.seeds);
  return {key.load(std::memory_order_relaxed), next_call.load(std::memory_order_relaxed)};
}

void function_detail::set_random_position(const RandomPosition& position) {
  if (this_thread.seeds != nullptr) return random::SeedScope::Access::set_position(*this_thread.seeds, position);
  key.store(position.key, std::memory_order_relaxed);
  next_call.store(position.next_call, std::memory_order_relaxed);
}

function_detail::RandomScope::RandomScope(std::optional<runtime::RandomState> state) : state_(state), outer_(this_thread.random_call) {
  this_thread.random_call = this;
}
function_detail::RandomScope::~RandomScope() { this_thread.random_call = outer_; }

function_detail::OutsideRandomScope::OutsideRandomScope() : outer_(std::exchange(this_thread.random_call, nullptr)) {}
function_detail::OutsideRandomScope::~OutsideRandomScope() { this_thread.random_call = outer_; }

}  // namespace anyshape
