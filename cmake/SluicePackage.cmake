# What other projects build upon: the headers that plug-ins include, and the firmware's runtime in source.
# find_package(Sluice) finds them in a build tree and, below share/sluice/sdk, in an installation.
include(CMakePackageConfigHelpers)

file(GLOB SLUICE_PLUGIN_HEADERS CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}
     models/base/*.h models/base/*/*.h models/memory/*.h models/part/*.h models/pcie/*.h models/pcie/*/*.h models/net/*.h models/net/*/*.h models/nic/*.h
     models/workload/*.h rtl/adapter/*.h protocols/rpc/*.h platform/plugin/device.h platform/plugin/plugin.h
     platform/config/registry.h platform/config/user_error.h)
set(SLUICE_ROOT ${CMAKE_SOURCE_DIR})
set(SLUICE_VERSION ${PROJECT_VERSION})
set(SLUICE_GENERATED ${CMAKE_BINARY_DIR}/generated)
include(SluiceInterface)
sluice_plugin_interface(${SLUICE_GENERATED})

# Sources that a run's behaviour depends on, in addition to its board and its input files.
file(GLOB_RECURSE SLUICE_SOURCES CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}
     models/*.h models/*.cpp protocols/*.h platform/board/*.h platform/board/*.cpp platform/debug/*.h platform/debug/*.cpp
     platform/diagnosis/*.h platform/diagnosis/*.cpp platform/faults/*.h platform/faults/*.cpp platform/firmware/*.h
     platform/firmware/*.cpp platform/plugin/*.h platform/plugin/*.cpp platform/run/*.h platform/run/*.cpp
     platform/workload/*.h platform/workload/*.cpp)
sluice_digest(sluice_sources ${SLUICE_GENERATED}/platform/run/sources.h SLUICE_SOURCES ${SLUICE_SOURCES})
# What a result file says depends on these as well.
file(GLOB_RECURSE SLUICE_PROGRAM_SOURCES CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}
     platform/config/*.h platform/config/*.cpp platform/report/*.h platform/report/*.cpp platform/statistics/*.h
     platform/statistics/*.cpp)
list(APPEND SLUICE_PROGRAM_SOURCES ${SLUICE_SOURCES})
sluice_digest(sluice_program_sources ${SLUICE_GENERATED}/platform/report/program_sources.h SLUICE_PROGRAM_SOURCES
              ${SLUICE_PROGRAM_SOURCES})

set(sdk share/sluice/sdk)
foreach(header ${SLUICE_PLUGIN_HEADERS})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${CMAKE_SOURCE_DIR}/${header} DESTINATION ${sdk}/${folder})
endforeach()
install(DIRECTORY firmware/boot firmware/drivers firmware/kernel firmware/memory firmware/net firmware/programs firmware/rpc
        DESTINATION ${sdk}/firmware)
install(PROGRAMS sw/rpc-schema DESTINATION ${sdk}/sw)
install(DIRECTORY sw/rpc_schema DESTINATION ${sdk}/sw FILES_MATCHING PATTERN "*.py")
install(FILES protocols/rpc/services.x DESTINATION ${sdk}/protocols/rpc)
install(FILES firmware/apps/rpc_server.c DESTINATION ${sdk}/firmware/apps)
install(FILES tests/unit/device_bench.h tests/unit/fresh_kernel.h tests/unit/plain_main.cpp tests/unit/test_main.cpp DESTINATION ${sdk}/tests/unit)
install(FILES tests/unit/pcie/pcie_bench.h DESTINATION ${sdk}/tests/unit/pcie)
install(FILES cmake/SluiceFirmware.cmake cmake/SluiceDevice.cmake cmake/SluiceInterface.cmake cmake/SluiceVerilator.cmake
              cmake/Digest.cmake
        DESTINATION lib/cmake/Sluice)

# The register headers of all models: the firmware's drivers include them.
file(GLOB_RECURSE register_headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} models/*_regs.h)
foreach(header ${register_headers})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${CMAKE_SOURCE_DIR}/${header} DESTINATION ${sdk}/${folder})
endforeach()

# SluiceConfig.cmake is made twice: with absolute paths for the build tree, and with paths relative to itself for the
# installation.
set(SLUICE_CONFIG_MODULES ${CMAKE_SOURCE_DIR}/cmake)
set(SLUICE_CONFIG_ROOT ${CMAKE_SOURCE_DIR})
set(SLUICE_CONFIG_EXECUTABLE ${CMAKE_BINARY_DIR}/platform/cli/sluice)
set(SLUICE_CONFIG_LIBRARIES)
set(installed_libraries)
foreach(library workload net pcie base)
  list(APPEND SLUICE_CONFIG_LIBRARIES ${CMAKE_BINARY_DIR}/models/${library}/libsluice_${library}.a)
  list(APPEND installed_libraries "\${SLUICE_PREFIX}/lib/sluice/libsluice_${library}.a")
endforeach()
configure_file(cmake/SluiceConfig.cmake.in ${CMAKE_BINARY_DIR}/SluiceConfig.cmake @ONLY)
set(SLUICE_CONFIG_MODULES "\${CMAKE_CURRENT_LIST_DIR}")
set(SLUICE_CONFIG_ROOT "\${SLUICE_PREFIX}/${sdk}")
set(SLUICE_CONFIG_EXECUTABLE "\${SLUICE_PREFIX}/bin/sluice")
set(SLUICE_CONFIG_LIBRARIES ${installed_libraries})
configure_file(cmake/SluiceConfig.cmake.in ${SLUICE_GENERATED}/SluiceConfig.cmake @ONLY)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/SluiceConfigVersion.cmake COMPATIBILITY ExactVersion)
install(FILES ${SLUICE_GENERATED}/SluiceConfig.cmake ${CMAKE_BINARY_DIR}/SluiceConfigVersion.cmake
        DESTINATION lib/cmake/Sluice)
