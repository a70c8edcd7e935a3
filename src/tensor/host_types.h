// The types that tensors are made of and read as on the host.
#pragma once
#include <cstdint>

// The element types, and the other 64-bit integer where the platform has two. Templates on them are instantiated in the library.
#define ANYSHAPE_FOR_EACH_HOST_TYPE(INSTANTIATE) \
  INSTANTIATE(bool)                              \
  INSTANTIATE(uint8_t)                           \
  INSTANTIATE(int32_t)                           \
  INSTANTIATE(int64_t)                           \
  INSTANTIATE(long long)                         \
  INSTANTIATE(float)                             \
  INSTANTIATE(double)
