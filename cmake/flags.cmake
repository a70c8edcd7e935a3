# Compiler flags shared by every target of ours. Ahead-of-time code targets x86-64-v3; generated code targets the host.
add_library(anyshape_flags INTERFACE)
target_compile_options(anyshape_flags INTERFACE -Wall -Wextra -Werror -ffp-contract=off
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Werror=reorder-init-list>
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict;-Wno-maybe-uninitialized>")  # g++ 12 warns wrongly inside std::string and std::optional
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  target_compile_options(anyshape_flags INTERFACE -march=x86-64-v3)
endif()
if(ANYSHAPE_SANITIZE)
  target_compile_options(anyshape_flags INTERFACE -fsanitize=${ANYSHAPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(anyshape_flags INTERFACE -fsanitize=${ANYSHAPE_SANITIZE})
  # This check reads the bytes before a called function, and before generated code there may be no page.
  target_compile_options(anyshape_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-fno-sanitize=function>)
endif()
