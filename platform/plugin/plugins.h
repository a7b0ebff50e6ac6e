// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Shared objects with models that a board names in `plugins`.

#include "platform/config/registry.h"

namespace sluice::platform {

/// Adds what a plug-in brings to the registry; it stays loaded for the life of the process. See
/// config::Registry::PluginLoader.
std::string load_plugin(const config::PluginFile&, config::Registry&);

}  // namespace sluice::platform
