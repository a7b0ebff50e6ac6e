// SPDX-License-Identifier: Apache-2.0
/// Board files with the files that they extend, and --set. An input is texts separated by zero bytes: the board, then
/// any number of "--set PATH=VALUE", and up to two files that it may extend as "a" and "b".

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "platform/config/board_config.h"
#include "platform/config/board_differences.h"
#include "platform/config/dump.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/shipped_models.h"

namespace sluice::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSet = "--set ";

std::vector<Bytes> corpus() {
  std::vector<Bytes> inputs;
  const fs::path folder(SLUICE_BOARDS);
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  inputs.reserve(inputs.size() + files.size());
  for (const fs::path& file : files) inputs.push_back(read_file(file));
  const std::string separator(1, '\0');
  const auto text = [&folder](const char* name) {
    const Bytes b = read_file(folder / name);
    return std::string(b.begin(), b.end());
  };
  const std::string parts = separator + text("hosts/i9-9960x.toml") + separator + text("nics/e810.toml");
  inputs.push_back(to_bytes("extends = ['a', 'b']\n[cluster.host]\nfirmware = 'x'\n" + parts + separator + kSet +
                            "nic.eth0.queues=4" + separator + kSet + "cluster.host.clock=2 GHz"));
  inputs.push_back(to_bytes("extends = ['e810-poll']\n" + separator + kSet + "workload.call.bytes=1 KiB" + separator +
                            kSet + "caches.dram_rate=1.5 Tb/s" + separator + kSet + "nic.eth0.driver=interrupt"));
  inputs.push_back(to_bytes("extends = ['e810-poll']\n[workload]\nrate = '2 M/s'\nrequests = 1e3\n" + separator + kSet +
                            "workload.rates='1 M/s', 2e6" + separator + kSet + "workload.think=\"5 us\"" + separator +
                            kSet + "net.wire0.rate=200Gbps" + separator + kSet + "caches.llc_size='33 MiB'"));
  return inputs;
}

std::vector<std::string> words() {
  std::vector<std::string> list = {"[",
                                   "]",
                                   "[[",
                                   "{",
                                   "}",
                                   "=",
                                   ".",
                                   "'''",
                                   "\"\"\"",
                                   "\\u0000",
                                   "\\U0010ffff",
                                   "#",
                                   "\n",
                                   "inf",
                                   "-nan",
                                   "1e999",
                                   "0x7fffffffffffffff",
                                   "-9223372036854775808",
                                   "1979-05-27T07:32:00Z",
                                   "true",
                                   "value = ",
                                   "kind = 'fitted'",
                                   "source = 'x'",
                                   "points = ['p']",
                                   "extends = ['a', 'b']",
                                   "summary = ",
                                   "\xff\xfe",
                                   "\x80",
                                   " ns",
                                   " KiB",
                                   " Gb/s",
                                   " GHz",
                                   " %",
                                   "Gbps",
                                   " M",
                                   " k",
                                   "/s",
                                   "1e6",
                                   " calls",
                                   "\"",
                                   "'",
                                   ",",
                                   "18446744073709551615",
                                   std::string(1, '\0') + kSet};
  for (const auto& kind : shipped_models().kinds()) {
    list.push_back("[" + kind.name + "]\n");
    list.push_back("[" + kind.name + ".x]\n");
    for (const auto& model : kind.models) {
      list.push_back("model = '" + model.name + "'\n");
      for (const auto& p : model.schema->parameters()) {
        list.push_back(p->key() + " = ");
        list.push_back(std::string(1, '\0') + kSet + kind.name + (kind.many ? ".eth0." : ".") + p->key() + "=");
      }
    }
  }
  return list;
}

struct Case {
  std::vector<std::string> files;
  std::vector<std::string> overrides;
};

Case take_apart(const std::uint8_t* data, std::size_t size) {
  Case c;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (bool more = true; more;) {
    const std::size_t end = rest.find('\0');
    more = end != std::string_view::npos;
    const std::string_view piece = rest.substr(0, end);
    rest.remove_prefix(more ? end + 1 : 0);
    if (!c.files.empty() && piece.starts_with(kSet))
      c.overrides.emplace_back(piece.substr(std::strlen(kSet)));
    else if (c.files.size() < 3)
      c.files.emplace_back(piece);
  }
  return c;
}

/// A directory of this process, removed with it.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("fuzz-board-" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string board(const std::vector<std::string>& files) const {
    const char* names[] = {"board.toml", "a.toml", "b.toml"};
    for (std::size_t i = 0; i < 3; ++i) {
      if (i < files.size())
        std::ofstream(path_ / names[i], std::ios::binary) << files[i];
      else
        fs::remove(path_ / names[i]);
    }
    return path_ / names[0];
  }

 private:
  fs::path path_;
};

/// An accepted board can be dumped, and its values written as text are the same values.
void use(const config::BoardConfig& board) {
  config::json_text(config::to_json(board));
  require(!config::to_table(board).empty(), "the table is empty");
  require(config::differences(board, board).empty(), "a board differs from itself");
  for (const config::Instance& i : board.instances()) {
    const auto copy = i.schema().defaults();
    for (const auto& p : i.schema().parameters()) {
      const std::string text = p->text(i.values());
      p->assign_text(copy.get(), text);
      require(p->text(copy.get()) == text, "written and read again, a parameter is another one");
    }
  }
}

}  // namespace

const Target target{.name = "board", .corpus = corpus, .words = words(), .runs = 3'000, .full_runs = 100'000};

}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  static const fuzz::Folder folder;
  static const config::BoardDirectories directories({SLUICE_BOARDS});
  const fuzz::Case c = fuzz::take_apart(data, size);
  try {
    fuzz::use(config::load_board(folder.board(c.files), c.overrides, fuzz::shipped_models(), directories));
  } catch (const config::UserError& e) {
    const std::string what = e.what();
    fuzz::require(!what.empty() && what.find('\n') == std::string::npos, e.what());
  }
  return 0;
}
