# Writes platform/board/plugin_interface.h: a word that changes with any header that plug-ins include.
# cmake -DSOURCE=DIR -DVERSION=V -DOUTPUT=FILE -DHEADERS=a;b -P PluginInterface.cmake
cmake_minimum_required(VERSION 3.20)
set(contents)
foreach(header ${HEADERS})
  file(SHA256 ${SOURCE}/${header} digest)
  string(APPEND contents "${header} ${digest}\n")
endforeach()
string(SHA256 digest "${contents}")
string(SUBSTRING ${digest} 0 12 digest)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
     "#pragma once\n/// Made by cmake/PluginInterface.cmake.\n#define SLUICE_PLUGIN_INTERFACE \"${VERSION}-${digest}\"\n")
