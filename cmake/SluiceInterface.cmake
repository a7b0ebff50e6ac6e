# sluice_plugin_interface(DIR): the target sluice_plugin_interface, which writes DIR/platform/board/plugin_interface.h: a
# word that changes with any header that plug-ins include. The program and each plug-in make it of the headers that they
# are compiled with.
function(sluice_plugin_interface directory)
  set(output ${directory}/platform/board/plugin_interface.h)
  list(TRANSFORM SLUICE_PLUGIN_HEADERS PREPEND ${SLUICE_ROOT}/ OUTPUT_VARIABLE files)
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/PluginInterface.cmake)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${SLUICE_ROOT} -DVERSION=${SLUICE_VERSION} -DOUTPUT=${output}
            "-DHEADERS=${SLUICE_PLUGIN_HEADERS}" -P ${script}
    DEPENDS ${files} ${script}
    COMMENT "Hashing the headers that plug-ins include"
    VERBATIM)
  add_custom_target(sluice_plugin_interface DEPENDS ${output})
endfunction()
