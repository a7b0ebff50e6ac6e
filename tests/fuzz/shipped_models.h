// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The models that boards may have without a plug-in.

#include "platform/board/models.h"
#include "platform/config/registry.h"

namespace sluice::fuzz {

inline const config::Registry& shipped_models() {
  static const config::Registry all = [] {
    config::Registry r;
    platform::register_models(r);
    return r;
  }();
  return all;
}

}  // namespace sluice::fuzz
