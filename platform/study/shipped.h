// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Studies that are shipped, by name.

#include <string>

#include "platform/config/user_error.h"

namespace sluice::study {

/// The path of a study: the file of this name, relative to `folder`, or the shipped study that is called so. Throws
/// config::UserError, which begins with `where` if that names a file, where there is neither.
std::string find_study(const std::string& named, const std::string& folder = {}, const config::Location& where = {});

}  // namespace sluice::study
