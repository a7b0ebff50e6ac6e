// SPDX-License-Identifier: Apache-2.0
#include "platform/config/files/result_directory.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "platform/config/user_error.h"

namespace sluice::config {

void refuse_results_of_others(const std::filesystem::path& directory, const std::string& option,
                              const std::vector<std::string>& own) {
  std::error_code error;
  for (const char* name : {"result.json", "compare.json", "study.json", "sweep.json", "claims.json"})
    if (std::find(own.begin(), own.end(), name) == own.end() && std::filesystem::exists(directory / name, error))
      throw UserError(fmt::format("{}: has the {} of another command; name another directory", option, name));
}

}  // namespace sluice::config
