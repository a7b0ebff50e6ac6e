// The `monitor` commands: what GDB has no words for.

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "models/base/register_bank.h"
#include "models/base/statistics.h"
#include "models/base/waiting.h"
#include "platform/debug/board_target.h"
#include "platform/debug/packet.h"

namespace sluice::debug {
namespace {

constexpr const char* kHelp =
    "monitor time                 simulated time, and how far each hart is\n"
    "monitor harts                what each hart does, and which request it works for\n"
    "monitor reg                  devices with registers\n"
    "monitor reg DEVICE [NAME]    registers of a device, all or those whose name begins like that\n"
    "monitor stats [PREFIX]       counters since the warm-up, such as: monitor stats nic.eth0\n"
    "monitor waits                who waits for whom\n"
    "monitor where ADDRESS        function and offset of an address (hexadecimal)\n"
    "monitor memory [physical|virtual]\n"
    "                             which addresses memory commands take: those of the thread, or physical ones\n"
    "monitor help                 this text\n";

std::string_view take_word(std::string_view& rest) {
  const std::size_t start = std::min(rest.find_first_not_of(' '), rest.size());
  rest.remove_prefix(start);
  const std::size_t end = std::min(rest.find(' '), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end);
  return word;
}

std::string nanoseconds(base::Time t) {
  const std::uint64_t fs = t.femtoseconds();
  return fmt::format("{}.{:06} ns", fs / 1'000'000, fs % 1'000'000);
}

}  // namespace

std::string BoardTarget::monitor(unsigned thread, std::string_view command) {
  std::string_view rest = command;
  const std::string_view verb = take_word(rest);
  const std::string_view first = take_word(rest);
  const std::string_view second = take_word(rest);
  if (verb == "time") return show_time();
  if (verb == "harts") return show_harts();
  if (verb == "reg" || verb == "registers") return show_registers(first, second);
  if (verb == "stats" || verb == "statistics") return show_statistics(first);
  if (verb == "waits") {
    const std::string waits = base::describe_waits();
    return waits.empty() ? "nobody waits" : waits;
  }
  if (verb == "where") return show_symbol(thread, first);
  if (verb == "memory") return choose_memory(first);
  if (verb == "help" || verb.empty()) return kHelp;
  return fmt::format("{} is not a monitor command; these are:\n{}", verb, kHelp);
}

std::string BoardTarget::show_time() {
  std::string text = fmt::format("{}\n", nanoseconds(base::now()));
  for (riscv::Core* c : cores_) text += fmt::format("{}: {}\n", c->path(), nanoseconds(c->local_time()));
  return text;
}

std::string BoardTarget::show_harts() {
  std::string text;
  for (unsigned t = 1; t <= threads(); ++t) {
    const riscv::HartState& state = core(t).hart().state();
    const std::string symbol = firmware(t).symbols().at(state.pc);
    text += fmt::format("{}: pc {:#x}{}{}, {}, {} instructions\n", thread_name(t), state.pc, symbol.empty() ? "" : " ",
                        symbol, thread_state(t), state.instret);
  }
  return text;
}

std::string BoardTarget::show_registers(std::string_view device, std::string_view name) {
  std::string text;
  bool found = false;
  for (base::RegisterBank* bank : base::register_banks()) {
    if (device.empty()) {
      text += bank->owner() + "\n";
      continue;
    }
    if (bank->owner() != device) continue;
    found = true;
    std::multimap<std::uint64_t, std::string> lines;
    bank->for_each([&](const std::string& reg, std::uint64_t offset, unsigned width, std::uint64_t value) {
      if (reg.starts_with(name))
        lines.emplace(offset, fmt::format("{:#06x}  {:<32}  {:#0{}x}\n", offset, reg, value, 2 + 2 * width));
    });
    for (const auto& [offset, line] : lines) text += line;
  }
  if (device.empty()) return text.empty() ? "no device of this board has registers" : text;
  if (!found) return fmt::format("{} is no device with registers; these are:\n{}", device, show_registers({}, {}));
  return text.empty() ? fmt::format("no register of {} has a name that begins with {}", device, name) : text;
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
  const std::string symbol = firmware(thread).symbols().at(value);
  return symbol.empty() ? fmt::format("{:#x} is in no function of {}", value, firmware(thread).name()) : symbol;
}

}  // namespace sluice::debug
