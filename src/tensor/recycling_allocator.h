// An allocator for the handles that every call makes anew (tensors, buffers): what is freed waits in a list of the thread for the next one,
// so that a call after the first asks nobody for memory. A handle may die on another thread than the one that made it.
#pragma once
#include "tensor/poison.h"

#include <cstddef>
#include <new>

namespace anyshape {

template <class T>
class RecyclingAllocator {
 public:
  using value_type = T;
  RecyclingAllocator() = default;
  template <class U>
  RecyclingAllocator(const RecyclingAllocator<U>&) noexcept {}

  T* allocate(size_t count) {
    if (count == 1 && free_links != nullptr) {
      Link* const link = free_links;
      free_links = link->next;
      --kept;
      return reinterpret_cast<T*>(link);
    }
    return static_cast<T*>(::operator new(count * sizeof(T)));
  }

  void deallocate(T* pointer, size_t count) noexcept {
    if (count == 1 && kept < most_kept) {
      watch_thread_end();
      if (!ended) {
        free_links = new (static_cast<void*>(pointer)) Link{free_links};
        ++kept;
        return;
      }
    }
    ::operator delete(pointer);
  }

  template <class U>
  bool operator==(const RecyclingAllocator<U>&) const noexcept {
    return true;
  }

 private:
  struct Link {
    Link* next;
  };
  static_assert(sizeof(T) >= sizeof(Link) && alignof(T) >= alignof(Link) && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  // With the address sanitizer every handle is new, so that one used after its end is noticed.
#ifdef ANYSHAPE_POISONS
  static constexpr int most_kept = 0;
#else
  static constexpr int most_kept = 256;
#endif

  // Plain thread-local words stay readable while a thread's other objects, which may hold tensors, are destroyed.
  static inline constinit thread_local Link* free_links = nullptr;
  static inline constinit thread_local int kept = 0;
  static inline constinit thread_local bool ended = false;

  struct AtThreadEnd {
    bool watches = true;
    ~AtThreadEnd() {
      ended = true;
      kept = 0;
      for (Link* link = free_links; link != nullptr;) {
        Link* const next = link->next;
        ::operator delete(static_cast<void*>(link));
        link = next;
      }
      free_links = nullptr;
    }
  };
  static void watch_thread_end() noexcept {
    static thread_local const AtThreadEnd at_thread_end;
    static_cast<void>(at_thread_end.watches);
  }
};

}  // namespace anyshape
