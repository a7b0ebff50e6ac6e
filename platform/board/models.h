#pragma once
/// The models that a board file may name.

#include "platform/config/registry.h"

namespace sluice::platform {

/// Adds every kind of component and every model to an empty registry.
void register_models(config::Registry&);

}  // namespace sluice::platform
