// Part of libanyshape.so only, which is linked with --wrap=__cxa_atexit: no static object of the library is destroyed when the process ends, its
// dependencies' included. Threads may compute until the process is gone, and destructors of a program's static objects may compute as well.
extern "C" {

using Destructor = void (*)(void*);
int __real___cxa_atexit(Destructor destroy, void* object, void* library);  // NOLINT
int __wrap___cxa_atexit(Destructor destroy, void* object, void* library);  // NOLINT
void destroy_ios_base_init(void* object) __asm__("_ZNSt8ios_base4InitD1Ev");

// The standard library counts its users, and writes what std::cout still holds when the last one goes.
[[gnu::visibility("hidden")]] int __wrap___cxa_atexit(Destructor destroy, void* object, void* library) {  // NOLINT
  return destroy == destroy_ios_base_init ? __real___cxa_atexit(destroy, object, library) : 0;
}
}
