# What each folder links: libpng and libjpeg-turbo for images (io), oneDNN for products (runtime), LLVM for machine code (codegen), fmt for text (all,
# private; its code stands in src/base/format.cpp). What reads images is linked dynamically: its fixes come with the system, without a new build.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)

get_target_property(FMT_INCLUDE fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
target_include_directories(anyshape_flags SYSTEM INTERFACE ${FMT_INCLUDE})
target_link_libraries(anyshape_flags INTERFACE Threads::Threads)
set(ANYSHAPE_LINK_io PNG::PNG JPEG::JPEG)
set(ANYSHAPE_LINK_runtime ${DNNL_LIBRARY} gomp)
include(cmake/llvm.cmake)
set(ANYSHAPE_LINK_codegen anyshape_llvm)
