# sluice_digest(TARGET HEADER MACRO FILE...): the target, which writes a header with a macro: a word that changes with any
# of the files, whose paths count from SLUICE_ROOT.
function(sluice_digest target header macro)
  list(TRANSFORM ARGN PREPEND ${SLUICE_ROOT}/ OUTPUT_VARIABLE files)
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/Digest.cmake)
  add_custom_command(
    OUTPUT ${header}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${SLUICE_ROOT} -DVERSION=${SLUICE_VERSION} -DOUTPUT=${header} -DMACRO=${macro}
            "-DFILES=${ARGN}" -P ${script}
    DEPENDS ${files} ${script}
    COMMENT "Hashing sources for ${macro}"
    VERBATIM)
  add_custom_target(${target} DEPENDS ${header})
endfunction()

# sluice_plugin_interface(DIR): the target sluice_plugin_interface, which writes DIR/platform/plugin/plugin_interface.h:
# the headers that plug-ins include. The program and each plug-in make it of those that they are compiled with.
function(sluice_plugin_interface directory)
  sluice_digest(sluice_plugin_interface ${directory}/platform/plugin/plugin_interface.h SLUICE_PLUGIN_INTERFACE
                ${SLUICE_PLUGIN_HEADERS})
endfunction()
