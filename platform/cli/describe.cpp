/// sluice describe BOARD: the effective board, every parameter with where it comes from, the memory map, the PCIe tree.

#include <fmt/format.h>

#include "models/base/quantity.h"
#include "platform/board/instances.h"
#include "platform/board/topology.h"
#include "platform/cli/command.h"
#include "platform/config/dump.h"

namespace sluice::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Description {
  const config::BoardConfig& board;
  std::vector<config::MemoryRegion> map = platform::memory_map(board);
  std::vector<platform::RootPortPlan> tree = platform::pcie_tree(board);
};

std::string address_of_port(std::size_t port) { return fmt::format("00:{:02x}.0", port + 1); }

Json to_json(const Description& d) {
  Json json = config::to_json(d.board);
  auto& map = json["memory_map"] = Json::array();
  for (const config::MemoryRegion& r : d.map)
    map.push_back({{"name", r.name}, {"base", base::hexadecimal(r.base)}, {"size_bytes", r.size}});
  auto& ports = json["pcie"] = Json::array();
  for (std::size_t i = 0; i < d.tree.size(); ++i) {
    const auto& [slot, device] = d.tree[i];
    ports.push_back({{"root_port", i},
                     {"address", address_of_port(i)},
                     {"slot", slot ? Json(slot->path()) : Json()},
                     {"device", device ? Json(device->path()) : Json()}});
  }
  return json;
}

std::string map_text(const Description& d) {
  std::string text;
  for (const config::MemoryRegion& r : d.map)
    text += fmt::format("  {:>16} to {:<16} {:>8}  {}\n", base::hexadecimal(r.base),
                        base::hexadecimal(r.base + r.size - 1), to_text(base::Bytes(r.size)), r.name);
  return text;
}

std::string tree_text(const Description& d) {
  std::string text = "  00:00.0  host bridge (root)\n";
  for (std::size_t i = 0; i < d.tree.size(); ++i) {
    const auto& [slot, device] = d.tree[i];
    text += fmt::format("  {}  root port {}", address_of_port(i), i);
    if (slot) {
      const auto& link = slot->parameters<platform::SlotParameters>().link;
      text += fmt::format(" -- {} (PCIe {}.0 x{})", slot->path(), link.generation, link.lanes);
      text += device ? fmt::format(" -- {} ({})", device->path(), device->title()) : " -- empty";
    }
    text += "\n";
  }
  return text;
}

void print(const Description& d) {
  fmt::print("{}   {}\n", d.board.name(), d.board.summary());
  fmt::print("from {}\n\n", fmt::join(d.board.files(), ", "));
  fmt::print("{}\nmemory map\n{}\nPCIe\n{}", config::to_table(d.board), map_text(d), tree_text(d));
}

}  // namespace

void add_describe(CLI::App& app, const Environment& environment, Action& action) {
  CLI::App* command = app.add_subcommand(
      "describe", "Show a board: every parameter and where it comes from, the memory map, the PCIe tree");
  struct Options : BoardOptions {
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  options->add_to(*command);
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([&environment, &action, options] {
    action = [&environment, options] {
      const config::BoardConfig board = options->load(environment, Overrides(options->overrides));
      const Description description{board};
      if (options->json) {
        fmt::print("{}\n", to_json(description).dump(2));
      } else {
        print(description);
      }
      return 0;
    };
  });
}

}  // namespace sluice::cli
