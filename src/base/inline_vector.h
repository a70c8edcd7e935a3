// A vector of plain elements that holds the first few in itself: most lists of a compiler are that short, and what is allocated one by one for each
// of them lies all over memory.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace anyshape {

template <class T, size_t N>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T> && N > 0);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  InlineVector() = default;
  explicit InlineVector(size_t count, const T& value) { resize(count, value); }
  InlineVector(std::initializer_list<T> values) { append(values.begin(), values.end()); }
  InlineVector(std::span<const T> values) { append(values.data(), values.data() + values.size()); }
  template <class Values>
    requires(!std::is_same_v<std::remove_cvref_t<Values>, InlineVector> && std::is_convertible_v<const Values&, std::span<const T>>)
  InlineVector(const Values& values) : InlineVector(std::span<const T>(values)) {}
  template <std::input_iterator Iterator>
  InlineVector(Iterator begin, Iterator end) {
    append(begin, end);
  }
  InlineVector(const InlineVector& other) : InlineVector(std::span<const T>(other)) {}
  InlineVector(InlineVector&& other) noexcept : memory_(other.memory_), size_(other.size_), capacity_(other.capacity_) { other.forget(); }
  InlineVector& operator=(const InlineVector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this == &other) return *this;
    release();
    memory_ = other.memory_;
    size_ = other.size_;
    capacity_ = other.capacity_;
    other.forget();
    return *this;
  }
  ~InlineVector() { release(); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return is_inline() ? reinterpret_cast<T*>(memory_.own) : memory_.heap; }
  const T* data() const { return is_inline() ? reinterpret_cast<const T*>(memory_.own) : memory_.heap; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& front() { return data()[0]; }
  const T& front() const { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void clear() { size_ = 0; }
  void reserve(size_t count) {
    if (count > capacity_) move_to(count);
  }
  void push_back(T value) {  // a copy: it may be an element
    if (size_ == capacity_) move_to(size_t{2} * capacity_);
    std::construct_at(data() + size_++, value);
  }
  void resize(size_t count, const T& value = T()) {
    const T filling = value;
    reserve(count);
    for (size_t i = size_; i < count; ++i) std::construct_at(data() + i, filling);
    size_ = static_cast<uint32_t>(count);
  }
  template <class Iterator>
  void assign(Iterator begin, Iterator end) {
    clear();
    append(begin, end);
  }
  template <class Iterator>
  void append(Iterator begin, Iterator end) {
    for (; begin != end; ++begin) push_back(*begin);
  }
  T* erase(const T* element) { return erase(element, element + 1); }
  T* erase(const T* from, const T* to) {
    T* const gap = begin() + (from - begin());
    size_ = static_cast<uint32_t>(std::copy(to, static_cast<const T*>(end()), gap) - begin());
    return gap;
  }

  friend bool operator==(const InlineVector& a, const InlineVector& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

 private:
  union Memory {
    alignas(T) std::byte own[N * sizeof(T)];  // NOLINT(bugprone-sizeof-expression): of pointers, too
    T* heap;
  };

  bool is_inline() const { return capacity_ == N; }
  void forget() { size_ = 0, capacity_ = N; }
  void release() {
    if (!is_inline()) std::allocator<T>().deallocate(memory_.heap, capacity_);
  }
  void move_to(size_t capacity) {
    T* const heap = std::allocator<T>().allocate(capacity);
    std::uninitialized_copy(begin(), end(), heap);
    release();
    memory_.heap = heap;
    capacity_ = static_cast<uint32_t>(capacity);
  }

  Memory memory_ = {};
  uint32_t size_ = 0;
  uint32_t capacity_ = N;
};

}  // namespace anyshape
