# What each folder links: oneDNN for products (runtime), LLVM for machine code (codegen), fmt for text (all, private; its code stands in src/base/format.cpp).
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)

get_target_property(FMT_INCLUDE fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
target_include_directories(anyshape_flags SYSTEM INTERFACE ${FMT_INCLUDE})
target_link_libraries(anyshape_flags INTERFACE Threads::Threads)
set(ANYSHAPE_LINK_runtime ${DNNL_LIBRARY} gomp)
include(cmake/llvm.cmake)
set(ANYSHAPE_LINK_codegen anyshape_llvm)
