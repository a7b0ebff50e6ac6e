# sluice_digest(TARGET HEADER MACRO FILE...): adds TARGET, which writes HEADER. HEADER defines MACRO as a string of the
# version and a hash of the files' contents. File paths are relative to SLUICE_ROOT.
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

# sluice_plugin_interface(DIR): adds the target sluice_plugin_interface, which writes a hash of the headers that
# plug-ins include to DIR/platform/plugin/plugin_interface.h. The program and each plug-in hash the headers that they
# are compiled with.
function(sluice_plugin_interface directory)
  sluice_digest(sluice_plugin_interface ${directory}/platform/plugin/plugin_interface.h SLUICE_PLUGIN_INTERFACE
                ${SLUICE_PLUGIN_HEADERS})
endfunction()
