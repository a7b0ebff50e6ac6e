// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Included by the source of each plug-in. A plug-in is a shared object that brings models of its own and that a board
/// file names in `plugins`.
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

/// A plug-in works with a program only if both agree in this text, because they share classes. Each build makes
/// plugin_interface.h from the contents of the headers that plug-ins include.
#define SLUICE_PLUGIN_BUILD \
  "interface " SLUICE_PLUGIN_INTERFACE ", compiler " __VERSION__ ", JSON " SLUICE_PLUGIN_JSON SLUICE_PLUGIN_SANITIZER

/// Begins the text that is looked for in the file of a plug-in before any of its code runs.
#define SLUICE_PLUGIN_MARK "sluice plug-in: "

/// Begins the function, one in each plug-in, that registers its models. The user is told of an exception that leaves
/// the function.
#define SLUICE_PLUGIN(devices)                                                             \
  extern "C" {                                                                             \
  extern const char sluice_plugin_build[];                                                 \
  [[gnu::used]] const char sluice_plugin_build[] = SLUICE_PLUGIN_MARK SLUICE_PLUGIN_BUILD; \
  void sluice_plugin(sluice::platform::Devices&);                                          \
  }                                                                                        \
  void sluice_plugin(sluice::platform::Devices& devices)
