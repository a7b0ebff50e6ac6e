# What shortens a build from scratch. Included last, when all targets are known.

option(SLUICE_UNITY "Compile the sources of a library a few together: faster from scratch, slower after a change" OFF)

# The headers that most sources include take two thirds of the time to build, so they are compiled once for each kind of
# source: the models, what runs boards, and the tests. Sources state all that they need all the same;
# -DSLUICE_PRECOMPILED=OFF shows whether they do.
option(SLUICE_PRECOMPILED "Compile the headers that most sources include once" ON)
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(SLUICE_PRECOMPILED OFF)
endif()

set(standard <algorithm> <array> <bit> <charconv> <cmath> <cstdint> <cstring> <deque> <filesystem> <fstream> <functional>
             <map> <memory> <optional> <set> <span> <stdexcept> <string> <string_view> <unordered_map> <utility> <variant>
             <vector> <fmt/format.h>)
foreach(header measure/statistics parameters/schema registers/register_bank time/calendar)
  list(APPEND plain ${CMAKE_SOURCE_DIR}/models/base/${header}.h)
endforeach()
# Programs that do without SystemC's library link with models, which therefore have none of its headers from here.
set(systemc <systemc> <tlm> <tlm_utils/simple_initiator_socket.h> <tlm_utils/simple_target_socket.h>)
foreach(header registers/register_socket systemc/model)
  list(APPEND systemc ${CMAKE_SOURCE_DIR}/models/base/${header}.h)
endforeach()

# sluice_precompiled(KIND HEADERS header... LIBS lib... [OPTIONS option...]): compiles them, once.
function(sluice_precompiled kind)
  cmake_parse_arguments(P "" "" "HEADERS;LIBS;OPTIONS" ${ARGN})
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/precompiled/${kind}.cpp CONTENT "")
  add_library(sluice_precompiled_${kind} OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/precompiled/${kind}.cpp)
  target_link_libraries(sluice_precompiled_${kind} PRIVATE fmt::fmt ${P_LIBS})
  target_compile_options(sluice_precompiled_${kind} PRIVATE ${P_OPTIONS})
  target_precompile_headers(sluice_precompiled_${kind} PRIVATE ${P_HEADERS})
endfunction()

# Whether a target is compiled with what another one demands of those that link with it; what it links with for its own
# needs alone is $<LINK_ONLY:...> to others.
function(sluice_needs target property with result)
  get_target_property(libraries ${target} ${property})
  set(found FALSE)
  foreach(library ${libraries})
    if(NOT found AND library STREQUAL with)
      set(found TRUE)
    elseif(NOT found AND TARGET ${library})
      sluice_needs(${library} INTERFACE_LINK_LIBRARIES ${with} found)
    endif()
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# GCC takes them only for a source with the same macros on its command line.
function(sluice_use_precompiled target)
  get_target_property(type ${target} TYPE)
  get_target_property(folder ${target} SOURCE_DIR)
  file(RELATIVE_PATH folder "${CMAKE_SOURCE_DIR}" "${folder}")
  get_target_property(test ${target} SLUICE_TEST)
  get_target_property(definitions ${target} COMPILE_DEFINITIONS)
  sluice_needs(${target} LINK_LIBRARIES sluice_systemc with_systemc)
  sluice_needs(${target} LINK_LIBRARIES sluice_verilated with_verilated)
  if(NOT SLUICE_PRECOMPILED OR NOT type MATCHES "STATIC_LIBRARY|OBJECT_LIBRARY|EXECUTABLE" OR NOT with_systemc OR with_verilated OR definitions)
    return()
  endif()
  if(test)
    set(kind tests)
  elseif(folder MATCHES "^platform/(board|cli|debug|diagnosis|report|run)$")
    set(kind platform)
  elseif(folder MATCHES "^(models|platform)/")
    set(kind models)
  else()
    return()
  endif()
  target_precompile_headers(${target} REUSE_FROM sluice_precompiled_${kind})
  # With headers from such a file GCC 12 takes std::string's own code for the project's, and warns falsely of it.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow;-Wno-array-bounds>)
endfunction()

# Compiles the sources of a library of ours a few together, if asked to and if the library does not say otherwise.
function(sluice_unite target)
  get_target_property(type ${target} TYPE)
  get_target_property(folder ${target} SOURCE_DIR)
  file(RELATIVE_PATH folder "${CMAKE_SOURCE_DIR}" "${folder}")
  get_target_property(own ${target} UNITY_BUILD)
  if(SLUICE_UNITY AND type STREQUAL STATIC_LIBRARY AND own STREQUAL own-NOTFOUND AND folder MATCHES "^(models|platform)/")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
  endif()
endfunction()

function(sluice_hasten_below folder)
  get_property(below DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(subfolder ${below})
    get_property(targets DIRECTORY ${subfolder} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target ${targets})
      sluice_unite(${target})
      sluice_use_precompiled(${target})
    endforeach()
    sluice_hasten_below(${subfolder})
  endforeach()
endfunction()

if(SLUICE_PRECOMPILED)
  find_package(nlohmann_json REQUIRED)
  get_property(platform_options DIRECTORY ${CMAKE_SOURCE_DIR}/platform PROPERTY COMPILE_OPTIONS)
  sluice_precompiled(models HEADERS ${standard} ${plain} LIBS sluice_systemc)
  sluice_precompiled(platform HEADERS ${standard} ${systemc} <nlohmann/json.hpp> ${CMAKE_SOURCE_DIR}/platform/board/board.h
                     LIBS sluice_systemc nlohmann_json::nlohmann_json OPTIONS ${platform_options})
  if(SLUICE_TESTS)
    sluice_precompiled(tests HEADERS ${standard} ${plain} ${systemc} <catch2/catch.hpp> LIBS sluice_systemc Catch2::Catch2)
    sluice_optimise_less(sluice_precompiled_tests)
  endif()
endif()
sluice_hasten_below(${CMAKE_SOURCE_DIR})
