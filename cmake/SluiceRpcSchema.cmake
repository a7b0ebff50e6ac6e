# sluice_rpc_schema(NAME FILE.x...): the library NAME with the header NAME.h, which has the schemas of the RPC programs of
# these files, for whoever includes it: docs/reference/rpc-schema.md. Without Python there is no such library.
find_program(SLUICE_PYTHON python3 HINTS /usr/bin)
set(SLUICE_RPC_SCHEMA ${CMAKE_CURRENT_LIST_DIR}/../sw)

function(sluice_rpc_schema name)
  if(NOT SLUICE_PYTHON)
    message(STATUS "${name} is left out: python3 is missing")
    return()
  endif()
  set(files)
  foreach(file ${ARGN})
    get_filename_component(file ${file} ABSOLUTE)
    list(APPEND files ${file})
  endforeach()
  file(GLOB compiler CONFIGURE_DEPENDS ${SLUICE_RPC_SCHEMA}/rpc_schema/*.py)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}.dir)
  add_custom_command(
    OUTPUT ${folder}/${name}.h
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${SLUICE_PYTHON} -B ${SLUICE_RPC_SCHEMA}/rpc-schema ${files} --c ${folder}/${name}.h
    DEPENDS ${files} ${SLUICE_RPC_SCHEMA}/rpc-schema ${compiler}
    COMMENT "Generating ${name}.h"
    VERBATIM)
  add_custom_target(${name}_header DEPENDS ${folder}/${name}.h)
  add_library(${name} INTERFACE)
  add_dependencies(${name} ${name}_header)
  target_include_directories(${name} INTERFACE ${folder})
endfunction()
