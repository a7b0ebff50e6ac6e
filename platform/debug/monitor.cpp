// SPDX-License-Identifier: Apache-2.0
// The `monitor` commands, which do what GDB has no commands for.

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "models/base/measure/statistics.h"
#include "models/base/registers/register_view.h"
#include "models/base/time/who_waits.h"
#include "platform/debug/board_target.h"
#include "platform/debug/pci_functions.h"
#include "platform/debug/protocol/packet.h"
#include "platform/diagnosis/code_place.h"

namespace sluice::debug {
namespace {

constexpr const char* kHelp =
    "monitor time                 simulated time, and how far each hart is\n"
    "monitor harts                what each hart does, and which request it works for\n"
    "monitor processes            the processes of the kernels, and which harts run them\n"
    "monitor process NAME         in user mode, breakpoints stop this process only; its number will do for NAME\n"
    "monitor process all          breakpoints stop every process\n"
    "monitor reg                  devices with registers\n"
    "monitor reg DEVICE [NAME]    registers of a device, all or those whose name begins like that; reading them here\n"
    "                             does nothing to the device\n"
    "monitor write DEVICE.NAME VALUE\n"
    "                             writes a register of a device as software does, with what that does, such as:\n"
    "                             monitor write clint.msip[0] 1\n"
    "monitor reset                resets the board and loads its images again; time goes on\n"
    "monitor pci                  PCIe functions with their BARs\n"
    "monitor pci FUNCTION         configuration space of a function, such as: monitor pci nic.eth0, monitor pci "
    "01:00.0\n"
    "monitor msix FUNCTION        its MSI-X vectors\n"
    "monitor stats [PREFIX]       counters since the warm-up, such as: monitor stats nic.eth0\n"
    "monitor waits                who waits for whom\n"
    "monitor where ADDRESS        function and offset of an address (hexadecimal); of the process in user mode\n"
    "monitor memory [physical|virtual]\n"
    "                             which addresses memory commands take: those of the thread, or physical ones\n"
    "monitor help                 this text\n";

struct Command {
  std::string_view name, long_name;
  unsigned arguments;  ///< at most
};
constexpr Command kCommands[] = {
    {"time", "", 0},  {"harts", "", 0}, {"processes", "", 0}, {"process", "", 1}, {"reg", "registers", 2},
    {"write", "", 2}, {"reset", "", 0}, {"pci", "", 1},       {"msix", "", 1},    {"stats", "statistics", 1},
    {"waits", "", 0}, {"where", "", 1}, {"memory", "", 1},    {"help", "", 0}};

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) return words;
    words.push_back(text.substr(0, text.find(' ')));
    text.remove_prefix(words.back().size());
  }
}

/// What the help says of a command.
std::string usage(const Command& command) {
  std::string text;
  bool concerned = false;
  for (std::string_view rest = kHelp; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n') + 1);
    rest.remove_prefix(line.size());
    const auto words = words_of(line.substr(0, line.find_first_of('\n')));
    if (line.front() != ' ') concerned = words.size() > 1 && words[1] == command.name;
    if (concerned) text += line;
  }
  return text;
}

std::string full_name(const base::RegisterValue& r) {
  return r.element == base::RegisterValue::kNoElement ? std::string(r.name) : fmt::format("{}[{}]", r.name, r.element);
}

/// Lists registers in order of their offset. Adjacent elements of an array that hold the same value share a line.
class RegisterLines {
 public:
  explicit RegisterLines(std::string_view prefix) : prefix_(prefix) {}

  void add(const base::RegisterValue& r) {
    const bool element = r.element != base::RegisterValue::kNoElement;
    if (!full_name(r).starts_with(prefix_)) return flush();
    if (element && r.name == name_ && r.element == last_ + 1 && r.value == value_) {
      last_ = r.element;
      return;
    }
    flush();
    name_ = r.name, offset_ = r.offset, width_ = r.width, value_ = r.value;
    first_ = last_ = r.element;
    open_ = true;
  }

  std::string text() {
    flush();
    std::string all;
    for (const auto& [offset, line] : lines_) all += line;
    return all;
  }

 private:
  void flush() {
    if (!std::exchange(open_, false)) return;
    std::string name = name_;
    if (first_ != base::RegisterValue::kNoElement)
      name += first_ == last_ ? fmt::format("[{}]", first_) : fmt::format("[{}..{}]", first_, last_);
    lines_.emplace(offset_, fmt::format("{:#06x}  {:<32}  {:#0{}x}\n", offset_, name, value_, 2 + 2 * width_));
    name_.clear();
  }

  std::string_view prefix_;
  bool open_ = false;
  std::string name_;
  std::uint64_t offset_ = 0, value_ = 0;
  unsigned width_ = 0;
  int first_ = 0, last_ = 0;
  std::multimap<std::uint64_t, std::string> lines_;
};

std::string nanoseconds(base::Time t) {
  const std::uint64_t fs = t.femtoseconds();
  return fmt::format("{}.{:06} ns", fs / 1'000'000, fs % 1'000'000);
}

}  // namespace

std::string BoardTarget::monitor(unsigned thread, std::string_view command) {
  std::vector<std::string_view> words = words_of(command);
  if (words.empty()) return kHelp;
  const auto known = std::find_if(std::begin(kCommands), std::end(kCommands), [&](const Command& c) {
    return words[0] == c.name || (!c.long_name.empty() && words[0] == c.long_name);
  });
  if (known == std::end(kCommands)) return fmt::format("{} is not a monitor command; these are:\n{}", words[0], kHelp);
  if (words.size() - 1 > known->arguments)
    return fmt::format("{} is too much; the command is:\n{}", words[known->arguments + 1], usage(*known));
  words.resize(3);
  const std::string_view verb = known->name, first = words[1];
  if (verb == "time") return show_time();
  if (verb == "harts") return show_harts();
  if (verb == "processes") return show_processes();
  if (verb == "process") return choose_process(first);
  if (verb == "reg") return show_registers(first, words[2]);
  if (verb == "write") return words[2].empty() ? usage(*known) : write_named(first, words[2]);
  if (verb == "reset") {
    const bool loaded = loaded_;
    std::string why = restart();
    if (!why.empty()) return why;
    return fmt::format("the board is reset{}; GDB has old values until: maintenance flush register-cache",
                       loaded ? ", and has its own images again in the place of the program that was loaded" : "");
  }
  if (verb == "pci") return first.empty() ? list_functions(board_) : show_config(board_, first);
  if (verb == "msix") return first.empty() ? usage(*known) : show_msix(board_, first);
  if (verb == "stats") return show_statistics(first);
  if (verb == "waits") {
    const std::string waits = base::describe_waits();
    return waits.empty() ? "nobody waits" : waits;
  }
  if (verb == "where") return show_symbol(thread, first);
  if (verb == "memory") return choose_memory(first);
  return kHelp;
}

std::string BoardTarget::show_time() {
  std::string text = fmt::format("{}\n", nanoseconds(base::now()));
  for (riscv::Core* c : cores_) text += fmt::format("{}: {}\n", c->path(), nanoseconds(c->local_time()));
  return text;
}

std::string BoardTarget::show_harts() {
  std::string text;
  for (unsigned t = 1; t <= threads(); ++t) {
    text += fmt::format("{}: {}, {}, {} instructions\n", thread_name(t),
                        platform::describe(*clusters_[t - 1], platform::place_of(core(t))), activity(t),
                        core(t).hart().state().instret);
  }
  return text;
}

/// One line for each process, in order of the clusters and of the numbers: "process kv (3), in user mode on ...".
std::string BoardTarget::show_processes() {
  std::string text;
  for (platform::Cluster& c : board_.clusters()) {
    for (const platform::Processes::Process& p : c.processes->list()) {
      std::string line = platform::title_of_process(p.name, platform::asid_of(p.satp));
      if (board_.clusters().size() > 1) line += " of cluster." + c.name;
      if (is_chosen(p.name, platform::asid_of(p.satp))) line += ", breakpoints stop it";
      const char* separator = ", in user mode on ";
      for (const auto& core : c.cores) {
        if (platform::place_of(*core).user_space != p.satp) continue;
        line += std::exchange(separator, " and ") + core->path();
      }
      text += line + "\n";
    }
  }
  return text.empty() ? "no process is known" : text;
}

bool BoardTarget::is_chosen(const std::string& name, unsigned asid) const {
  return !only_process_.empty() && (name == only_process_ || fmt::format("{}", asid) == only_process_);
}

std::string BoardTarget::choose_process(std::string_view which) {
  if (!which.empty()) only_process_ = which == "all" ? "" : which;
  if (only_process_.empty()) return "breakpoints stop every process";
  bool known = false;
  for (platform::Cluster& c : board_.clusters())
    for (const platform::Processes::Process& p : c.processes->list())
      known |= is_chosen(p.name, platform::asid_of(p.satp));
  return fmt::format("in user mode, breakpoints stop process {} only{}", only_process_,
                     known ? "" : ", which is not there yet");
}

bool BoardTarget::breakpoint_concerns(unsigned thread) {
  if (only_process_.empty()) return true;
  const std::uint64_t space = platform::place_of(core(thread)).user_space;
  if (space == 0) return true;
  const auto process = clusters_[thread - 1]->processes->find(space);
  return is_chosen(process ? process->name : "", platform::asid_of(space));
}

std::string BoardTarget::show_registers(std::string_view device, std::string_view name) {
  const auto concerns = [&](const std::string& owner) {
    return owner == device || (owner.starts_with(device) && owner[device.size()] == '.');
  };
  std::string all, text;
  unsigned found = 0;
  for (const base::RegisterView* view : base::register_views()) {
    all += view->owner() + "\n";
    if (device.empty() || !concerns(view->owner())) continue;
    ++found;
    RegisterLines lines(name);
    view->look([&lines](const base::RegisterValue& r) { lines.add(r); });
    if (const std::string own = lines.text(); !own.empty())
      text += (view->owner() == device ? "" : view->owner() + "\n") + own;
  }
  if (device.empty()) return all;
  if (found == 0) return fmt::format("{} is no device with registers; these are:\n{}", device, all);
  return text.empty() ? fmt::format("no register of {} has a name that begins with {}", device, name) : text;
}

/// name: "uart.ier", "clint.msip[0]".
std::string BoardTarget::write_named(std::string_view name, std::string_view text) {
  std::uint64_t value = 0;
  const bool hexadecimal = text.starts_with("0x");
  const auto [end, error] =
      std::from_chars(text.data() + (hexadecimal ? 2 : 0), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size())
    return fmt::format("{}: must be a number, decimal or hexadecimal with 0x", text);
  for (const base::RegisterView* view : base::register_views()) {
    const std::string& owner = view->owner();
    if (!name.starts_with(owner) || name.size() <= owner.size() || name[owner.size()] != '.') continue;
    std::optional<base::RegisterValue> found;
    view->look([&](const base::RegisterValue& r) {
      // An array of one has no element in its name.
      const std::string full = full_name(r);
      if (name.substr(owner.size() + 1) == full || (full == r.name && name.substr(owner.size() + 1) == full + "[0]"))
        found = r;
    });
    if (!found) continue;
    if (found->width < 8 && value >> 8 * found->width != 0)
      return fmt::format("{}: {} has {} bits", text, name, 8 * found->width);
    return write_register_of(owner, found->offset, value, found->width);
  }
  return fmt::format("{} is no register; monitor reg lists the devices, and monitor reg DEVICE their registers", name);
}

std::string BoardTarget::show_statistics(std::string_view prefix) {
  const std::string all = base::statistics_text(base::statistics(), base::now());
  std::string text;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('\n', at), all.size() - 1) + 1;
    const std::string_view line = std::string_view(all).substr(at, end - at);
    if (line.starts_with(prefix)) text += line;
    at = end;
  }
  return text.empty() ? fmt::format("no counter's path begins with {}", prefix) : text;
}

std::string BoardTarget::choose_memory(std::string_view which) {
  if (which == "physical" || which == "virtual")
    physical_ = which == "physical";
  else if (!which.empty())
    return fmt::format("{}: must be physical or virtual", which);
  return physical_ ? "memory commands take physical addresses" : "memory commands take the thread's addresses";
}

std::string BoardTarget::show_symbol(unsigned thread, std::string_view address) {
  Fields fields(address);
  fields.skip("0x");
  std::uint64_t value = 0;
  if (!fields.number(value) || !fields.empty()) return "monitor where ADDRESS: must be a hexadecimal address";
  const platform::Cluster& cluster = *clusters_[thread - 1];
  const platform::CodePlace place{value, platform::place_of(core(thread)).user_space};
  const std::string function = platform::function_at(cluster, place), process = platform::process_at(cluster, place);
  if (function.empty())
    return fmt::format("{:#x} is in no known function of {}", value,
                       process.empty() ? firmware(thread).name() : process);
  return process.empty() ? function : fmt::format("{} in {}", function, process);
}

}  // namespace sluice::debug
