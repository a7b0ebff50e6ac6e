# Vega and Vega-Lite, which draw the plots of `sluice report`, and Vega's interpreter, with which they do without eval:
# packages of the npm registry, of a fixed version and checksum. Sets SLUICE_PAGE_FILES to the directory with what a page
# has inside.
set(SLUICE_PLOT_LIBRARIES "" CACHE PATH
    "Directory with the npm packages vega, vega-lite and vega-interpreter as PACKAGE-VERSION.tgz, for builds without a network")
set(SLUICE_PAGE_FILES ${CMAKE_BINARY_DIR}/page)

# sluice_npm_package(PACKAGE VERSION SHA256 FILE): puts the package's FILE into SLUICE_PAGE_FILES, with its licence.
function(sluice_npm_package package version sha256 file)
  set(archive ${package}-${version}.tgz)
  set(url https://registry.npmjs.org/${package}/-/${archive})
  set(unpacked ${CMAKE_BINARY_DIR}/npm/${package}-${version})
  set(kept ${CMAKE_BINARY_DIR}/npm/${archive})
  set(have)
  if(EXISTS ${kept})
    file(SHA256 ${kept} have)
  endif()
  if(NOT have STREQUAL ${sha256})
    set(status 0 none)
    if(SLUICE_PLOT_LIBRARIES)
      set(from ${SLUICE_PLOT_LIBRARIES}/${archive})
      if(NOT EXISTS ${from})
        message(FATAL_ERROR "SLUICE_PLOT_LIBRARIES names a directory without ${archive}; it is ${url}")
      endif()
      configure_file(${from} ${kept} COPYONLY)
    else()
      set(from ${url})
      message(STATUS "Fetching ${from}")
      file(DOWNLOAD ${from} ${kept} STATUS status INACTIVITY_TIMEOUT 60)
    endif()
    list(GET status 0 code)
    list(GET status 1 why)
    file(SHA256 ${kept} have)
    if(NOT code EQUAL 0)
      message(FATAL_ERROR "${from}, which draws the plots of sluice report, cannot be fetched (${why}); set "
                          "SLUICE_PLOT_LIBRARIES to a directory that has it")
    elseif(NOT have STREQUAL ${sha256})
      message(FATAL_ERROR "${from} has the SHA-256 ${have}, and must have ${sha256}")
    endif()
  endif()
  if(NOT EXISTS ${unpacked})
    file(ARCHIVE_EXTRACT INPUT ${kept} DESTINATION ${unpacked})
  endif()
  get_filename_component(name ${file} NAME)
  configure_file(${unpacked}/package/${file} ${SLUICE_PAGE_FILES}/${name} COPYONLY)
  configure_file(${unpacked}/package/LICENSE ${SLUICE_PAGE_FILES}/LICENSE.${package} COPYONLY)
endfunction()

sluice_npm_package(vega 6.4.0 3521fb6ff68a94a40323954f0ba4484ba4014b157bfd37f89a3b063082320c42 build/vega.min.js)
sluice_npm_package(vega-lite 6.5.0 811230a6bfd2cdbfc359d0c38f624a90df86657b7f251b67be88bcc4eee32b7f
                   build/vega-lite.min.js)
sluice_npm_package(vega-interpreter 2.3.2 b83489633c1320e9d6f839781f0c84c661a5ca2666fe38cb83f7c52a531fffec
                   build/vega-interpreter.js)

# The interpreter is a module only. A page takes it as a script, between Vega, which has what it imports, and page.js.
file(READ ${SLUICE_PAGE_FILES}/vega-interpreter.js interpreter)
string(REGEX REPLACE "^import {([^}]*)} from 'vega-util';" "const vegaInterpreter = (() => {\nconst {\\1} = vega;"
       script "${interpreter}")
string(REPLACE "export { expression as expressionInterpreter };" "return expression;\n})();" script "${script}")
string(FIND "${script}" "vegaInterpreter = " begins)
string(FIND "${script}" "return expression;\n})();" ends)
if(begins EQUAL -1 OR ends EQUAL -1)
  message(FATAL_ERROR "vega-interpreter does not import and export what cmake/SluicePlots.cmake expects")
endif()
file(WRITE ${SLUICE_PAGE_FILES}/vega-interpreter.js "${script}")
