# Compiler flags shared by every target of ours. Generated code targets the host, whatever the baseline is.
add_library(anyshape_flags INTERFACE)
target_compile_options(anyshape_flags INTERFACE -Wall -Wextra $<$<BOOL:${ANYSHAPE_WERROR}>:-Werror> -ffp-contract=off
  $<$<AND:$<BOOL:${ANYSHAPE_WERROR}>,$<COMPILE_LANG_AND_ID:CXX,Clang>>:-Werror=reorder-init-list>
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict;-Wno-maybe-uninitialized>")  # g++ 12 warns wrongly inside std::string and std::optional
if(ANYSHAPE_BASELINE AND NOT (ANYSHAPE_BASELINE MATCHES "^x86" AND NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64"))  # the presets name an x86
  target_compile_options(anyshape_flags INTERFACE -march=${ANYSHAPE_BASELINE})
endif()
# A fast linker where there is one: some forty programs link all of the library.
find_program(MOLD mold)
find_program(LLD_19 ld.lld-19)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND MOLD)
  add_link_options(-fuse-ld=mold)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL Clang AND LLD_19)
  add_link_options(-fuse-ld=lld-19)
endif()
if(ANYSHAPE_SANITIZE)
  target_compile_options(anyshape_flags INTERFACE -fsanitize=${ANYSHAPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(anyshape_flags INTERFACE -fsanitize=${ANYSHAPE_SANITIZE})
  # This check reads the bytes before a called function, and before generated code there may be no page.
  target_compile_options(anyshape_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-fno-sanitize=function>)
endif()
