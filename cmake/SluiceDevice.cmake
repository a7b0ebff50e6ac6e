# Builds a user's plug-in (a device, or a workload's calls) and a test of the model alone. A plug-in finds Sluice's code
# in the program that loads it; a test links Sluice's archives. A plug-in cannot link them: their code is not
# position-independent.

# SystemC is set up as in cmake/SluiceDependencies.cmake. -ffp-contract=off: results must not depend on the optimisation
# level.
function(_sluice_compile name)
  target_include_directories(${name} SYSTEM PRIVATE ${SLUICE_ROOT})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_compile_definitions(${name} PRIVATE SC_CPLUSPLUS=201703L SC_INCLUDE_DYNAMIC_PROCESSES)
  target_compile_options(${name} PRIVATE -ffp-contract=off)
  target_link_libraries(${name} PRIVATE PkgConfig::SYSTEMC)
  if(SLUICE_SANITIZED)
    target_compile_options(${name} PRIVATE -fsanitize=address,undefined -fno-sanitize-recover=undefined)
    target_link_options(${name} PRIVATE -fsanitize=address,undefined)
  endif()
endfunction()

# sluice_add_plugin(NAME source...): libNAME.so in the build directory, for `plugins` of a board file.
function(sluice_add_plugin name)
  add_library(${name} SHARED ${ARGN})
  _sluice_compile(${name})
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  if(NOT TARGET sluice_plugin_interface)
    sluice_plugin_interface(${CMAKE_BINARY_DIR}/sluice)
  endif()
  add_dependencies(${name} sluice_plugin_interface)
  target_include_directories(${name} SYSTEM PRIVATE ${CMAKE_BINARY_DIR}/sluice)
  # Two versions of a plug-in may be loaded beside each other, each with its own symbols.
  target_compile_options(${name} PRIVATE -fno-gnu-unique)
endfunction()

# The same, for a plug-in with a device.
function(sluice_add_device)
  sluice_add_plugin(${ARGV})
endfunction()

# sluice_add_device_test(NAME source...): NAME in the build directory, Catch2 cases over tests/unit/device_bench.h.
function(sluice_add_device_test name)
  find_package(Catch2 2 REQUIRED)
  find_package(fmt REQUIRED)
  find_package(Threads REQUIRED)
  add_executable(${name} ${SLUICE_ROOT}/tests/unit/test_main.cpp ${SLUICE_ROOT}/tests/unit/plain_main.cpp ${ARGN})
  _sluice_compile(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  target_link_libraries(${name} PRIVATE ${SLUICE_LIBRARIES} Catch2::Catch2 fmt::fmt Threads::Threads)
  # libsystemc refers to sc_main, which this program does not define.
  target_link_options(${name} PRIVATE -Wl,--unresolved-symbols=ignore-in-shared-libs)
endfunction()
