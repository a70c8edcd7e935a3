# What each folder links: oneDNN for products (runtime), LLVM for machine code (codegen), fmt for text (all, private, header-only).
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)

target_link_libraries(anyshape_flags INTERFACE fmt::fmt-header-only Threads::Threads)
set(ANYSHAPE_LINK_runtime ${DNNL_LIBRARY} gomp)
include(cmake/llvm.cmake)
set(ANYSHAPE_LINK_codegen anyshape_llvm)
