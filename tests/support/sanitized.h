// Whether a sanitizer watches this program: freed memory is kept aside then, and everything takes longer.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ANYSHAPE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ANYSHAPE_SANITIZED 1
#endif
#endif

namespace anyshape::test {

#ifdef ANYSHAPE_SANITIZED
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

}  // namespace anyshape::test
