// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Boards of the tests' own, with models that have every kind of parameter.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include "platform/config/board_config.h"

namespace sluice::config {

using namespace base::literals;
namespace fs = std::filesystem;

struct Slot {
  int lanes = 16;
  base::Time flight = 5_ns;
  base::Bytes max_payload{256};
  static void describe(base::Schema<Slot>& s) {
    s.add("lanes", &Slot::lanes, "width").choices({1, 2, 4, 8, 16}).setting();
    s.add("flight", &Slot::flight, "one way").range(0_ns, 1_us).assumed("1 m of trace");
    s.add("max_payload", &Slot::max_payload, "MPS").range(128_B, 4_KiB).power_of_two().stated("PCIe 3.0");
  }
};

struct Nic {
  int queues = 1;
  std::string slot;
  base::Time moderation = 50_us;
  base::Bytes rx_fifo{65536};
  static void describe(base::Schema<Nic>& s) {
    s.add("queues", &Nic::queues, "receive queues").range(1, 64).setting();
    s.add("slot", &Nic::slot, "where it is plugged in").required().refers_to("pcie");
    s.add("moderation.time", &Nic::moderation, "least time between interrupts").fitted("p50", {"V2", "V9"});
    s.add("rx_fifo", &Nic::rx_fifo, "receive FIFO").range(2_KiB, 16_MiB).assumed("typical");
    s.rule("rx_fifo", [](const Nic& n) {
      return n.queues > 32 && n.rx_fifo < base::Bytes(8192) ? "must be at least 8 KiB for more than 32 queues" : "";
    });
  }
};

struct Enso {
  int pipes = 1;
  std::string slot;
  static void describe(base::Schema<Enso>& s) {
    s.add("pipes", &Enso::pipes, "receive pipes").range(1, 1024).setting();
    s.add("slot", &Enso::slot, "where it is plugged in").required().refers_to("pcie");
  }
};

struct ClosedLoop {
  int outstanding = 1;
  std::string program = "echo";
  int bytes = 64;
  static void describe(base::Schema<ClosedLoop>& s) {
    s.add("outstanding", &ClosedLoop::outstanding, "calls in flight").range(1, 4096).unit("calls").setting();
    s.add("call.program", &ClosedLoop::program, "RPC program").setting();
    s.add("call.bytes", &ClosedLoop::bytes, "argument size").range(0, 9000).setting();
  }
};

struct OpenLoop {
  enum class Pace { steady, poisson };
  double rate = 1e6;
  Pace pace = Pace::steady;
  std::vector<base::Time> pauses;
  std::vector<std::string> names;
  static void describe(base::Schema<OpenLoop>& s) {
    s.add("rate", &OpenLoop::rate, "calls per second").setting();
    s.add("pace", &OpenLoop::pace, "how calls follow each other")
        .choices({{"steady", Pace::steady}, {"poisson", Pace::poisson}})
        .setting();
    s.add("pauses", &OpenLoop::pauses, "without calls").setting();
    s.add("names", &OpenLoop::names, "of whoever calls").setting();
  }
};

struct Run {
  base::Time stall_limit = 10_ms;
  std::string script;
  std::string other;
  int level = 0;
  static void describe(base::Schema<Run>& s) {
    s.add("script", &Run::script, "what is said").names_file().setting();
    s.add("other", &Run::other, "what else is said").names_file().setting();
    s.add("level", &Run::level, "of a rule that has a mistake").setting();
    s.rule("level", [](const Run& r) -> std::string {
      if (r.level == 1) throw std::runtime_error("no luck");
      if (r.level == 2) throw 5;
      return "";
    });
    s.add("stall_limit", &Run::stall_limit, "time without progress that ends a run").assumed("long enough");
  }
};

/// `pace` names a part, which sets `farthest`. A board file cannot set `farthest` itself.
struct Walk {
  std::string pace = "slow";
  int distance = 1;
  int farthest = 0;
  static void describe(base::Schema<Walk>& s) {
    s.add("pace", &Walk::pace, "how fast").setting();
    s.add("distance", &Walk::distance, "how far").range(0, 100).setting();
    s.rule("distance", [](const Walk& w) {
      return w.distance > w.farthest ? "must be at most " + std::to_string(w.farthest) : "";
    });
  }
};
struct Pace : part::Factory {
  explicit Pace(int f) : farthest(f) {}
  int farthest;
};
inline std::string choose_pace(Walk& w, const Registry& r) {
  const Registry::Part* part = r.find_part("paces", w.pace);
  if (!part) return "must be one of " + std::to_string(r.part_names("paces").size());
  w.farthest = static_cast<const Pace&>(*part->factory).farthest;
  return {};
}

/// What a plug-in of the tests brings.
struct Adder {
  unsigned width = 32;
  static void describe(base::Schema<Adder>& s) { s.add("width", &Adder::width, "bits").range(8, 64).assumed("a word"); }
};
inline std::string load_adder(const PluginFile& plugin, Registry& r) {
  const std::string name = plugin.path.filename();
  if (!fs::exists(plugin.path)) throw UserError(plugin.where, "plugins: " + plugin.named + " does not exist");
  r.add<Adder>("nic", "adder", "adder");
  r.add_part("paces", "fast", std::make_shared<Pace>(50));
  return "sha of " + name;
}

inline Registry registry() {
  Registry r;
  r.add_kind("pcie", "slot");
  r.add<Slot>("pcie", "slot", "PCIe slot");
  r.add_kind("nic");
  r.add<Nic>("nic", "descriptor", "descriptor NIC");
  r.add<Enso>("nic", "enso", "Enso NIC");
  r.add_single("workload", "kind");
  r.add<ClosedLoop>("workload", "closed-loop", "closed loop");
  r.add<OpenLoop>("workload", "open-loop", "open loop");
  r.add_single("run");
  r.add<Run>("run", "run", "run");
  r.add_kind("walk");
  r.add<Walk>("walk", "walk", "walk");
  r.add_part("paces", "slow", std::make_shared<Pace>(5));
  r.add_part("paces", "brisk", std::make_shared<Pace>(9));
  r.add_choice<Walk>("pace", choose_pace);
  r.on_plugin(load_adder);
  return r;
}

/// A directory of boards with the few that the cases share, and one of the user's, both removed at the end.
class Bench {
 public:
  Bench() {
    char name[] = "/tmp/sluice-test-XXXXXX";
    root_ = fs::canonical(mkdtemp(name));
    fs::create_directories(root_ / "boards/hosts");
    fs::create_directories(root_ / "mine");
    ship("hosts/pc.toml",
         "[pcie.slot0]\nlanes = 8\nflight = { value = \"7 ns\", kind = \"measured\", source = \"us\" }\n");
    ship("e810.toml",
         "summary = \"a board\"\nextends = [\"hosts/pc\"]\n[nic.eth0]\nmodel = \"descriptor\"\nslot = \"pcie.slot0\"\n"
         "queues = 4\n[workload]\nkind = \"closed-loop\"\ncall = { program = \"echo\", bytes = 128 }\n");
  }
  ~Bench() { fs::remove_all(root_); }

  void ship(const std::string& name, const std::string& text) { write(root_ / "boards" / name, text); }
  std::string mine(const std::string& name, const std::string& text) {
    fs::create_directories((root_ / "mine" / name).parent_path());
    return write(root_ / "mine" / name, text);
  }
  BoardConfig load(const std::string& board, const std::vector<std::string>& sets = {}) const {
    return load_board(board, sets, registry_, BoardDirectories({root_ / "boards"}));
  }
  /// The sentence with which a board is refused, without the directory of the user's files.
  std::string error(const std::string& board, const std::vector<std::string>& sets = {}) const {
    try {
      load(board, sets);
    } catch (const UserError& e) {
      std::string text = e.what();
      const std::string prefix = (root_ / "mine/").string();
      for (std::size_t at; (at = text.find(prefix)) != std::string::npos;) text.erase(at, prefix.size());
      return text;
    }
    return "no error";
  }
  /// The refusal of a file that extends the shipped board by one line, which is line 2.
  std::string error_of(const std::string& line) { return error(mine("b.toml", "extends = [\"e810\"]\n" + line)); }
  const fs::path& root() const { return root_; }

 private:
  static std::string write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  fs::path root_;
  Registry registry_ = registry();
};

}  // namespace sluice::config
