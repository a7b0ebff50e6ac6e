// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a plug-in includes: a shared object that brings models of its own, and is named by `plugins` of a board file.
///
///     SLUICE_PLUGIN(devices) { devices.add<Sum>("sum", "summing engine"); }

#include <nlohmann/json_fwd.hpp>

#include "platform/plugin/device.h"
#include "platform/plugin/plugin_interface.h"

#if defined(__SANITIZE_ADDRESS__)
#define SLUICE_PLUGIN_SANITIZER ", with ASan"
#else
#define SLUICE_PLUGIN_SANITIZER ""
#endif

#define SLUICE_PLUGIN_TEXT_OF(x) #x
#define SLUICE_PLUGIN_TEXT(x) SLUICE_PLUGIN_TEXT_OF(x)
/// Version of the JSON library, whose objects plug-ins fill.
#define SLUICE_PLUGIN_JSON                        \
  SLUICE_PLUGIN_TEXT(NLOHMANN_JSON_VERSION_MAJOR) \
  "." SLUICE_PLUGIN_TEXT(NLOHMANN_JSON_VERSION_MINOR) "." SLUICE_PLUGIN_TEXT(NLOHMANN_JSON_VERSION_PATCH)

/// Code of two builds that agree in this works together: plug-in and program share classes. plugin_interface.h is made
/// by each build, from the contents of the headers that plug-ins include.
#define SLUICE_PLUGIN_BUILD \
  "interface " SLUICE_PLUGIN_INTERFACE ", compiler " __VERSION__ ", JSON " SLUICE_PLUGIN_JSON SLUICE_PLUGIN_SANITIZER

/// Found in the file before any of its code runs.
#define SLUICE_PLUGIN_MARK "sluice plug-in: "

/// Opens the function that a plug-in has once; it makes the models known. An exception that leaves it is told to the
/// user.
#define SLUICE_PLUGIN(devices)                                                             \
  extern "C" {                                                                             \
  extern const char sluice_plugin_build[];                                                 \
  [[gnu::used]] const char sluice_plugin_build[] = SLUICE_PLUGIN_MARK SLUICE_PLUGIN_BUILD; \
  void sluice_plugin(sluice::platform::Devices&);                                          \
  }                                                                                        \
  void sluice_plugin(sluice::platform::Devices& devices)
