// SPDX-License-Identifier: Apache-2.0
#include "platform/report/program.h"

#include "platform/report/program_sources.h"

namespace sluice::report {

const std::string& program_sources() {
  static const std::string sources = SLUICE_PROGRAM_SOURCES;
  return sources;
}

std::string build_type() { return SLUICE_BUILD; }

nlohmann::ordered_json program() { return {{"version", SLUICE_VERSION}, {"sources", program_sources()}}; }

}  // namespace sluice::report
