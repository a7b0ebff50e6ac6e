# sluice_add_device(NAME source...): a plug-in, libNAME.so in the build directory, for `plugins` of a board file. What it
# uses of Sluice is in the program that loads it.
function(sluice_add_device name)
  add_library(${name} SHARED ${ARGN})
  target_include_directories(${name} SYSTEM PRIVATE ${SLUICE_INCLUDES})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_features(${name} PRIVATE cxx_std_20)
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS ON LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  # SystemC as Sluice sees it (cmake/SluiceDependencies.cmake). No unique symbols: two versions of a plug-in may be
  # loaded beside each other. No contraction: results must not depend on the optimisation level.
  target_link_libraries(${name} PRIVATE PkgConfig::SYSTEMC)
  target_compile_definitions(${name} PRIVATE SC_CPLUSPLUS=201703L SC_INCLUDE_DYNAMIC_PROCESSES)
  target_compile_options(${name} PRIVATE -fno-gnu-unique -ffp-contract=off)
  if(SLUICE_SANITIZED)
    target_compile_options(${name} PRIVATE -fsanitize=address,undefined -fno-sanitize-recover=undefined)
  endif()
endfunction()
