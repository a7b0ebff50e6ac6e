// SPDX-License-Identifier: Apache-2.0
/// sluice describe BOARD: the effective board, every parameter with where it comes from, the memory map, the PCIe tree.

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "models/base/parameters/quantity.h"
#include "platform/board/board.h"
#include "platform/board/pcie_tree.h"
#include "platform/board/system_plan.h"
#include "platform/cli/command.h"
#include "platform/config/dump.h"
#include "platform/firmware/device_tree_text.h"
#include "platform/run/expect_file.h"

namespace sluice::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Description {
  const config::BoardConfig& board;
  std::vector<platform::SystemPlan> systems = platform::systems_of(board);
  std::vector<platform::PortPlan> tree = platform::pcie_tree(board);
};

/// Numbers buses as the firmware does: depth first, and each bridge's secondary bus when the bridge is reached.
class Enumeration {
 public:
  /// Ports of the root complex (bus 0) or of a switch (its internal bus).
  Json ports(const std::vector<platform::PortPlan>& list, const char* kind, unsigned bus, unsigned first_device) {
    Json json = Json::array();
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto& [slot, device, below] = list[i];
      const unsigned secondary = ++last_bus_;
      Json port = {{kind, i},
                   {"address", fmt::format("{:02x}:{:02x}.0", bus, i + first_device)},
                   {"slot", slot ? Json(slot->path()) : Json()},
                   {"device", device ? Json(device->path()) : Json()}};
      if (device) port["device_address"] = fmt::format("{:02x}:00.0", secondary);
      if (!below.empty()) {
        const unsigned internal = ++last_bus_;
        port["ports"] = ports(below, "port", internal, 0);
      }
      json.push_back(std::move(port));
    }
    return json;
  }

 private:
  unsigned last_bus_ = 0;
};

Json tree_of(const Description& d) { return Enumeration().ports(d.tree, "root_port", 0, 1); }

Json map_of(const platform::SystemPlan& system) {
  Json map = Json::array();
  for (const config::MemoryRegion& r : platform::memory_map(system))
    map.push_back({{"name", r.name}, {"base", base::hexadecimal(r.base)}, {"size_bytes", r.size}});
  return map;
}

Json to_json(const Description& d) {
  Json json = config::to_json(d.board, true);
  json["memory_map"] = map_of(d.systems.front());
  for (std::size_t i = 1; i < d.systems.size(); ++i) json["memory_maps"][d.systems[i].path()] = map_of(d.systems[i]);
  json["pcie"] = tree_of(d);
  return json;
}

std::string map_text(const platform::SystemPlan& system) {
  std::string text;
  for (const config::MemoryRegion& r : platform::memory_map(system))
    text += fmt::format("  {:>16} to {:<16} {:>8}  {}\n", base::hexadecimal(r.base),
                        base::hexadecimal(r.base + r.size - 1), to_text(base::Bytes(r.size)), r.name);
  return text;
}

std::string port_text(const config::BoardConfig& board, const Json& port, unsigned depth) {
  const bool root = port.contains("root_port");
  std::string text = fmt::format("  {}  {:{}}{} {}", port.at("address").get<std::string>(), "", 2 * depth,
                                 root ? "root port" : "port", port.at(root ? "root_port" : "port").get<unsigned>());
  if (!port.at("slot").is_null()) {
    const config::Instance& slot = *board.find(port.at("slot").get<std::string>());
    const auto& link = slot.parameters<platform::SlotParameters>().link;
    text += fmt::format(" -- {} (PCIe {}.0 x{})", slot.path(), link.generation, link.lanes);
    if (port.at("device").is_null()) {
      text += " -- empty";
    } else {
      const config::Instance& device = *board.find(port.at("device").get<std::string>());
      text +=
          fmt::format(" -- {} {} ({})", port.at("device_address").get<std::string>(), device.path(), device.title());
    }
  }
  text += "\n";
  if (port.contains("ports"))
    for (const Json& below : port.at("ports")) text += port_text(board, below, depth + 1);
  return text;
}

std::string tree_text(const Description& d) {
  std::string text = "  00:00.0  host bridge (root)\n";
  for (const Json& port : tree_of(d)) text += port_text(d.board, port, 0);
  return text;
}

void print(const Description& d) {
  fmt::print("{}   {}\n", d.board.name(), d.board.summary());
  fmt::print("from {}\n", fmt::join(d.board.files(), ", "));
  for (const config::Plugin& p : d.board.plugins()) fmt::print("with {} (SHA-256 {})\n", p.name, p.sha256);
  fmt::print("\n");
  fmt::print("{}\nmemory map\n{}", config::to_table(d.board), map_text(d.systems.front()));
  for (std::size_t i = 1; i < d.systems.size(); ++i)
    fmt::print("\nmemory map of {}\n{}", d.systems[i].path(), map_text(d.systems[i]));
  fmt::print("\nPCIe\n{}", tree_text(d));
}

/// Prints the device tree of a cluster, or writes it to a file if one is named. cluster: empty: the first one.
void give_device_tree(const platform::Board& board, const std::string& cluster, const std::string& file) {
  const auto& clusters = board.clusters();
  std::size_t index = 0;
  while (!cluster.empty() && index < clusters.size() && clusters[index].get().name != cluster) ++index;
  if (index == clusters.size()) {
    std::vector<std::string> names;
    names.reserve(clusters.size());
    for (const platform::Cluster& c : clusters) names.push_back(c.name);
    throw config::UserError(
        fmt::format("--cluster {}: the board has no such cluster; it has {}", cluster, fmt::join(names, ", ")));
  }
  const std::vector<std::uint8_t>& tree = clusters[index].get().device_tree_blob;
  if (file.empty()) {
    fmt::print("{}", platform::device_tree_text(tree));
    return;
  }
  errno = 0;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(tree.data()), static_cast<std::streamsize>(tree.size()));
  out.close();
  if (!out) throw config::UserError(fmt::format("--out {}: cannot be written: {}", file, std::strerror(errno)));
}

}  // namespace

void add_describe(CLI::App& app, const Environment& environment, Action& action) {
  CLI::App* command = app.add_subcommand(
      "describe", "Show a board: every parameter and where it comes from, the memory map, the PCIe tree");
  struct Options : BoardOptions {
    bool json = false;
    bool device_tree = false;
    std::string cluster;
    std::string output;
  };
  auto options = std::make_shared<Options>();
  options->add_to(*command);
  auto* json = command->add_flag("--json", options->json, "Print JSON");
  auto* tree = command->add_flag("--device-tree", options->device_tree,
                                 "Print the device tree that the firmware gets, as source text");
  tree->excludes(json);
  command->add_option("--cluster", options->cluster, "Whose device tree; without it, the first cluster's")
      ->needs(tree)
      ->type_name("NAME");
  command->add_option("--out", options->output, "Write the device tree to this file, compiled")
      ->needs(tree)
      ->type_name("FILE");
  command->callback([&environment, &action, options] {
    action = [&environment, options] {
      const config::BoardConfig board = options->load(environment, Overrides(options->overrides));
      // What a run would refuse is refused here too: the board is built, and not run.
      const platform::Board built(board);
      platform::expect_steps(board);
      if (options->device_tree) {
        give_device_tree(built, options->cluster, options->output);
        return 0;
      }
      const Description description{board};
      if (options->json) {
        fmt::print("{}", config::json_text(to_json(description)));
      } else {
        print(description);
      }
      return 0;
    };
  });
}

}  // namespace sluice::cli
