# Headers that most files include, read once per build instead of once per file: what the standard library, fmt and the public headers cost is most of a
# small file's compile time. A file still includes what it uses: -DANYSHAPE_PRECOMPILED_HEADERS=OFF builds without, and .ci/nightly does.
option(ANYSHAPE_PRECOMPILED_HEADERS "Read the most common headers once per build" ON)
if(ANYSHAPE_PRECOMPILED_HEADERS AND CCACHE)
  # ccache looks into a precompiled header by its own checksum, and leaves alone what a file may or may not take from it.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()
if(ANYSHAPE_PRECOMPILED_HEADERS)
  # g++ forgets which lines of a precompiled header are the system's, and warns wrongly inside std::string.
  target_compile_options(anyshape_flags INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>")
endif()

# `anyshape_add_precompiled(sources|tests HEADER...)`, then `anyshape_precompile(TARGET KIND)` for each that shares it. A header belongs to a target that
# is compiled with the same flags: objects of a library (-fPIC) or a program (-fPIE).
function(anyshape_add_precompiled kind)
  if(ANYSHAPE_PRECOMPILED_HEADERS)
    set(target anyshape_precompiled_${kind})
    if(kind STREQUAL tests)
      add_executable(${target} ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
      target_compile_options(${target} PRIVATE -O0)
      target_link_libraries(${target} PRIVATE GTest::gtest)
    else()
      add_library(${target} OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
    endif()
    target_link_libraries(${target} PRIVATE anyshape_flags)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    # ccache may give one back that is older than its headers; what they say is in its checksum.
    target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

function(anyshape_precompile target kind)
  if(ANYSHAPE_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} REUSE_FROM anyshape_precompiled_${kind})
  endif()
endfunction()
