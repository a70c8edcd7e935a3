# libanyshape.so: every folder's objects, hidden symbols, dependencies' symbols kept inside; and its installation as a CMake package
# (anyshape::anyshape) and a pkg-config file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(anyshape SHARED)
add_library(anyshape::anyshape ALIAS anyshape)
target_link_libraries(anyshape PRIVATE ${ANYSHAPE_OBJECTS})
target_link_options(anyshape PRIVATE -Wl,--exclude-libs,ALL -Wl,--build-id -Wl,--gc-sections -Wl,--as-needed)
# What is in the library stays as long as the process: its threads and its code run until then, and nothing of it is destroyed at exit.
target_sources(anyshape PRIVATE cmake/keep_at_exit.cpp)
target_link_options(anyshape PRIVATE -Wl,-z,nodelete -Wl,--wrap=__cxa_atexit)
target_include_directories(anyshape INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(anyshape PUBLIC cxx_std_20)
if(ANYSHAPE_SANITIZE)
  target_link_options(anyshape INTERFACE -fsanitize=${ANYSHAPE_SANITIZE})  # a program that links the library brings the sanitizer's runtime
endif()
set_target_properties(anyshape PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/anyshape)
install(DIRECTORY include/anyshape DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS anyshape EXPORT anyshape DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT anyshape NAMESPACE anyshape:: FILE anyshapeTargets.cmake DESTINATION ${package_folder})
configure_package_config_file(cmake/anyshapeConfig.cmake.in ${PROJECT_BINARY_DIR}/anyshapeConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/anyshapeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/anyshapeConfig.cmake ${PROJECT_BINARY_DIR}/anyshapeConfigVersion.cmake DESTINATION ${package_folder})

configure_file(cmake/anyshape.pc.in ${PROJECT_BINARY_DIR}/anyshape.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/anyshape.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
