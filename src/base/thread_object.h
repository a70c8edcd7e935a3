// An object per thread that is there whenever the thread runs, also in destructors of static objects and of the thread's other objects, which run
// after or between those of thread_local ones: what is asked for after its end is made anew.
#pragma once
#include <cxxabi.h>

extern "C" [[gnu::visibility("hidden")]] void* __dso_handle;  // NOLINT: the name is the ABI's

namespace anyshape {

// One per type of T and Tag; the Tag tells two of a type apart.
template <class T, class Tag>
class ThreadObject {
 public:
  static T& get() {
    T* const object = current;
    return object != nullptr ? *object : make();
  }

 private:
  [[gnu::noinline]] static T& make() {
    T* const object = new T();
    current = object;
    // A thread that registers a destructor while its destructors run has it run, too. The last ones, after the end of the main thread, are never
    // destroyed: memory that lasts as long as the process is no leak.
    abi::__cxa_thread_atexit(destroy, object, static_cast<void*>(&__dso_handle));
    return *object;
  }
  static void destroy(void* object) {
    if (current == object) current = nullptr;
    delete static_cast<T*>(object);
  }
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local T* current = nullptr;
};

}  // namespace anyshape
