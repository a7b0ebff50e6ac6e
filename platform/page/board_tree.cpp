// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "platform/page/boards.h"

namespace sluice::page {
namespace {

class Tree {
 public:
  explicit Tree(const BoardData& board) : board_(board) {}

  std::string html() {
    std::string list;
    for (const Instance* soc : of_kind("soc")) list += system(*soc);
    list += host();
    return "<ul class=\"tree\">\n" + list + "</ul>\n";
  }

 private:
  std::vector<const Instance*> of_kind(std::string_view kind) const {
    std::vector<const Instance*> list;
    for (const Instance& i : board_.instances)
      if (i.kind == kind) list.push_back(&i);
    return list;
  }

  static std::string item(std::string_view name, std::string_view about, const std::string& below,
                          const char* classes = "node") {
    return fmt::format("<li><div class=\"{}\"><b>{}</b><span>{}</span></div>{}</li>\n", classes, escaped(name),
                       escaped(about), below.empty() ? "" : "<ul>\n" + below + "</ul>");
  }

  static std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& w : words)
      if (!w.empty()) text += (text.empty() ? "" : ", ") + w;
    return text;
  }

  /// Names in a list parameter, "[bell, card]", or a single name.
  static bool names(const std::string& list, const std::string& path) {
    const std::string name = path.substr(path.find('.') + 1);
    std::string word;
    for (const char c : list + ",") {
      if (c == ',' || c == '[' || c == ']' || c == ' ' || c == '"') {
        if (word == name || word == path) return true;
        word.clear();
      } else {
        word += c;
      }
    }
    return false;
  }

  std::string cluster(const Instance& c) {
    const std::string harts = c.text("harts"), clock = c.text("clock");
    return item(c.path,
                joined({harts.empty() ? "" : harts + (harts == "1" ? " hart" : " harts"), clock, c.text("firmware")}),
                "");
  }

  std::string memory(const Instance& m) { return item(m.path, joined({m.text("size"), m.model}), ""); }

  /// A system beside the host, with what its table names.
  std::string system(const Instance& soc) {
    std::string below;
    for (const Instance* c : of_kind("cluster"))
      if (names(soc.text("clusters"), c->path)) claimed_.insert(c), below += cluster(*c);
    for (const Instance* m : of_kind("memory"))
      if (names(soc.text("memories"), m->path)) claimed_.insert(m), below += memory(*m);
    return item(soc.path, "system-on-chip", below);
  }

  std::string host() {
    std::string below;
    for (const Instance* c : of_kind("cluster"))
      if (!claimed_.contains(c)) below += cluster(*c);
    for (const Instance* m : of_kind("memory"))
      if (!claimed_.contains(m) && m->text("size") != "0 B") below += memory(*m);
    std::string at_root;
    for (const Instance* root : of_kind("root")) at_root += item(root->path, root->model, ports(""));
    std::string others;
    for (const Instance& i : board_.instances)
      if ((i.kind == "device" || i.kind == "accel") && i.text("slot").empty()) others += item(i.path, i.model, "");
    return item("host", board_.name, below + at_root + others);
  }

  /// What is at the ports of the root complex (no name) or of a switch.
  std::string ports(const std::string& owner) {
    std::vector<const Instance*> slots = of_kind("pcie");
    std::stable_sort(slots.begin(), slots.end(), [](const Instance* a, const Instance* b) {
      return std::pair(a->text("port").size(), a->text("port")) < std::pair(b->text("port").size(), b->text("port"));
    });
    std::string list;
    for (const Instance* slot : slots) {
      // In a file that is wrong, a slot may be behind itself.
      if (slot->text("attach") != owner || !drawn_.insert(slot).second) continue;
      std::string devices;
      for (const Instance& i : board_.instances)
        if (i.text("slot") == slot->path) devices += device(i);
      list += item(fmt::format("{} {}: {}", owner.empty() ? "root port" : "port", slot->text("port"), slot->path),
                   fmt::format("PCIe {}.0 x{}", slot->text("generation"), slot->text("lanes")),
                   devices.empty() ? item("empty", "no device", "") : devices, "node link");
    }
    return list;
  }

  std::string device(const Instance& i) {
    std::string below = i.kind == "switch" ? ports(i.path) : "";
    for (const Instance* wire : of_kind("net"))
      if (i.text("wire") == wire->path)
        below += item(wire->path, joined({"Ethernet", wire->text("rate")}), ends(*wire), "node link");
    return item(i.path, joined({i.model, i.text("driver").empty() ? "" : "driver " + i.text("driver")}), below);
  }

  /// Who is at the other end of a wire: peers that name it, else the workload.
  std::string ends(const Instance& wire) {
    std::string list;
    for (const Instance* peer : of_kind("peer"))
      if (peer->text("wire") == wire.path) list += item(peer->path, peer->model, "");
    if (!list.empty()) return list;
    for (const Instance* workload : of_kind("workload"))
      if (workload->text("wire").empty() || workload->text("wire") == wire.path)
        list +=
            item(workload->path, joined({workload->model, workload->text("kind"), workload->text("call.program")}), "");
    return list;
  }

  const BoardData& board_;
  // Never iterated.
  std::set<const Instance*> claimed_;  ///< parts of other systems than the host
  std::set<const Instance*> drawn_;    ///< slots
};

}  // namespace

std::string board_tree(const BoardData& board) { return Tree(board).html(); }

}  // namespace sluice::page
