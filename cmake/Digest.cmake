# Writes a header that defines a macro: a string of the version and a hash of the contents of the files.
# cmake -DSOURCE=DIR -DVERSION=V -DOUTPUT=FILE -DMACRO=NAME -DFILES=a;b -P Digest.cmake
cmake_minimum_required(VERSION 3.20)
set(contents)
foreach(file ${FILES})
  file(SHA256 ${SOURCE}/${file} digest)
  string(APPEND contents "${file} ${digest}\n")
endforeach()
string(SHA256 digest "${contents}")
string(SUBSTRING ${digest} 0 12 digest)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
     "#pragma once\n/// Made by cmake/Digest.cmake.\n#define ${MACRO} \"${VERSION}-${digest}\"\n")
