// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Shared objects with models that a board names in `plugins`.

#include "platform/config/registry.h"

namespace sluice::platform {

/// Loads a plug-in, which stays loaded for the life of the process, and adds its models to the registry. See
/// config::Registry::PluginLoader.
std::string load_plugin(const config::PluginFile&, config::Registry&);

}  // namespace sluice::platform
