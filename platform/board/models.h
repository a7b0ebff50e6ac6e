// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Every kind of component that a board file may name.

#include "platform/config/registry.h"

namespace sluice::platform {

void register_models(config::Registry&);

}  // namespace sluice::platform
