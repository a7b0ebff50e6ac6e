// SPDX-License-Identifier: Apache-2.0
#include "platform/board/firmware_settings.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/riscv/cluster.h"

namespace sluice::platform {
namespace {

/// Firmware that reads a property has its name, as a C string, among its constants.
bool reads(const Firmware& firmware, const std::string& property) {
  const char* name = property.c_str();
  const std::boyer_moore_horspool_searcher searcher(name, name + property.size() + 1);
  return std::any_of(firmware.images().begin(), firmware.images().end(), [&](const Image& i) {
    const auto* bytes = reinterpret_cast<const char*>(i.bytes().data());
    return std::search(bytes, bytes + i.bytes().size(), searcher) != bytes + i.bytes().size();
  });
}

/// Throws where a service is of a program that the firmware does not have.
void check_services(const config::BoardConfig& config, const config::Instance& cluster, const Firmware& firmware) {
  for (const std::string& service : cluster.parameters<riscv::ClusterParameters>().services) {
    const std::string program = service.substr(0, service.find('*'));
    if (!firmware.symbols().variable(program + "_program"))
      throw config.error(cluster, "services",
                         fmt::format("names {}, and the firmware {} has no such program", program, firmware.name()));
  }
}

}  // namespace

std::vector<part::FirmwareProperty> firmware_settings(const config::BoardConfig& config,
                                                      const config::Instance& cluster, const Firmware& firmware) {
  const auto& p = cluster.parameters<riscv::ClusterParameters>();
  std::vector<part::FirmwareProperty> list;
  const auto add = [&](std::string_view key, part::FirmwareProperty property) {
    if (!reads(firmware, property.name))
      throw config.without_effect(
          cluster, key, fmt::format("the firmware {} does not read /chosen's {}", firmware.name(), property.name));
    list.push_back(std::move(property));
  };
  if (!p.services.empty()) {
    add("services", {"sluice,services", fmt::format("{}", fmt::join(p.services, ","))});
    check_services(config, cluster, firmware);
  }
  if (p.batch_threads != 0) add("batch_threads", {"sluice,batch-threads", p.batch_threads});
  return list;
}

}  // namespace sluice::platform
