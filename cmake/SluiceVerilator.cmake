# sluice_verilate(TOP top SOURCES x.sv... [ARGS arg...] [NAME name] [CHECKED]): a library with the C++ class V<top>, or
# V<name>, of a SystemVerilog module, made by Verilator. SLUICE_VERILATOR says whether there is one; nothing but the RTL
# needs it. CHECKED: with the module's assertions, and what has no value is random. Only such libraries count what of the
# RTL has run, with SLUICE_RTL_COVERAGE.
option(SLUICE_RTL_COVERAGE "Count which lines and bits of the RTL the tests have used (sw/rtl-coverage)" OFF)
find_program(VERILATOR_PROGRAM verilator)
find_package(ZLIB QUIET)
find_package(Threads QUIET)
set(SLUICE_VERILATOR OFF)
if(VERILATOR_PROGRAM AND ZLIB_FOUND)
  execute_process(COMMAND ${VERILATOR_PROGRAM} --getenv VERILATOR_ROOT OUTPUT_VARIABLE VERILATOR_ROOT
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(EXISTS ${VERILATOR_ROOT}/include/verilated.cpp)
    set(SLUICE_VERILATOR ON)
  endif()
endif()

# Generated code and Verilator's own are not held to the project's warnings.
if(SLUICE_VERILATOR AND NOT TARGET sluice_verilated)
  add_library(sluice_verilated STATIC ${VERILATOR_ROOT}/include/verilated.cpp ${VERILATOR_ROOT}/include/verilated_cov.cpp
                                      ${VERILATOR_ROOT}/include/verilated_fst_c.cpp
                                      ${VERILATOR_ROOT}/include/verilated_threads.cpp)
  set_target_properties(sluice_verilated PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(sluice_verilated SYSTEM PUBLIC ${VERILATOR_ROOT}/include ${VERILATOR_ROOT}/include/vltstd)
  # SystemC has functions of the names that Verilator asks for the time by.
  target_compile_definitions(sluice_verilated PUBLIC VL_TIME_CONTEXT VM_COVERAGE=$<BOOL:${SLUICE_RTL_COVERAGE}> VM_TRACE=1 VM_TRACE_FST=1)
  # The FST writer stores words at any address, among other things that it may not.
  target_compile_options(sluice_verilated PRIVATE -w $<$<BOOL:${SLUICE_SANITIZE}>:-fno-sanitize=undefined>)
  target_link_libraries(sluice_verilated PUBLIC Threads::Threads ZLIB::ZLIB)
endif()

function(sluice_verilate)
  cmake_parse_arguments(V "CHECKED" "TOP;NAME" "SOURCES;ARGS" ${ARGN})
  if(NOT V_NAME)
    set(V_NAME ${V_TOP})
  endif()
  if(NOT SLUICE_VERILATOR)
    message(FATAL_ERROR "sluice_verilate(${V_NAME}) needs Verilator and zlib: Debian's verilator and zlib1g-dev")
  endif()
  set(sources)
  foreach(source ${V_SOURCES})
    get_filename_component(source ${source} ABSOLUTE)
    list(APPEND sources ${source})
  endforeach()
  set(mode --x-assign fast --x-initial fast --noassert)
  set(optimise "OPT_FAST=-O2 OPT_SLOW=-O1")
  if(V_CHECKED)
    set(mode --x-assign unique --x-initial unique --assert)
    set(optimise "OPT_FAST=-O1 OPT_SLOW=-O0")
    if(SLUICE_RTL_COVERAGE)
      list(APPEND mode --coverage-line --coverage-toggle)
      set(optimise "OPT_FAST=-O0 OPT_SLOW=-O0")  # ten times as much code, which runs for seconds
    endif()
  endif()
  set(directory ${CMAKE_CURRENT_BINARY_DIR}/verilated_${V_NAME})
  set(archive ${directory}/V${V_NAME}__ALL.a)
  add_custom_command(
    OUTPUT ${archive}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${directory}
    COMMAND ${VERILATOR_PROGRAM} --cc --build -O3 ${mode} -Wall -Wno-UNUSEDSIGNAL --prefix V${V_NAME}
            --top-module ${V_TOP} --Mdir ${directory} ${V_ARGS} -CFLAGS "-fPIC -DVL_TIME_CONTEXT"
            -MAKEFLAGS "OBJCACHE=${CCACHE} ${optimise}" ${sources} > ${directory}.log 2>&1
            || ${CMAKE_COMMAND} -E cat ${directory}.log && test -e ${archive}
    DEPENDS ${sources}
    COMMENT "Verilating ${V_NAME}"
    VERBATIM)
  add_custom_target(verilated_${V_NAME} DEPENDS ${archive})
  add_library(sluice_rtl_${V_NAME} INTERFACE)
  add_dependencies(sluice_rtl_${V_NAME} verilated_${V_NAME})
  target_include_directories(sluice_rtl_${V_NAME} SYSTEM INTERFACE ${directory})
  target_link_libraries(sluice_rtl_${V_NAME} INTERFACE ${archive} sluice_verilated)
endfunction()
