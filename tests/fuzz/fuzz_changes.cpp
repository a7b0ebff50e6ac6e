// SPDX-License-Identifier: Apache-2.0
/// A debugger's changes, as logs of inputs have them (channel gdb): they are read and applied to the harts of a whole
/// board, which must survive them. A possible change has been made afterwards; an impossible one changes nothing.
///
/// An input is a list of records: length (1 byte), so many bytes of a record. A record's slots count from its hart's.

#include <algorithm>
#include <optional>

#include "platform/board/board.h"
#include "platform/board/models.h"
#include "platform/debug/board_target.h"
#include "platform/debug/changes.h"
#include "tests/fuzz/fuzz.h"

namespace sluice::fuzz {
namespace {

using namespace base::literals;
using debug::Change;

constexpr std::size_t kMostRecords = 32;
constexpr std::size_t kSlots = 5;  ///< offset of the slots in a record, 8 bytes
constexpr std::size_t kChange = 13;
constexpr unsigned kHarts = 2;
constexpr std::uint64_t kRam = 0x8000'0000;

/// Numbers in records have their lowest byte first.
void put_number(Bytes& to, std::uint64_t value, unsigned width) {
  for (unsigned i = 0; i < width; ++i) to.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}
std::uint64_t number_at(const Bytes& bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (unsigned i = 8; i-- > 0;) value = value << 8 | bytes[at + i];
  return value;
}

std::vector<Bytes> take_apart(const std::uint8_t* data, std::size_t size) {
  std::vector<Bytes> records;
  while (size >= 1 && records.size() < kMostRecords) {
    const std::size_t length = std::min<std::size_t>(data[0], size - 1);
    records.emplace_back(data + 1, data + 1 + length);
    data += 1 + length;
    size -= 1 + length;
  }
  return records;
}

Bytes put_together(const std::vector<Bytes>& records) {
  Bytes all;
  for (const Bytes& r : records) {
    const std::size_t length = std::min<std::size_t>(r.size(), 255);
    all.push_back(static_cast<std::uint8_t>(length));
    all.insert(all.end(), r.begin(), r.begin() + static_cast<std::ptrdiff_t>(length));
  }
  return all;
}

Bytes record(std::uint8_t where, std::uint32_t hart, std::uint64_t slots, const Change& change) {
  Bytes r{where};
  put_number(r, hart, 4);
  put_number(r, slots, 8);
  const auto encoded = change.encoded();
  r.insert(r.end(), encoded.begin(), encoded.end());
  return r;
}

std::vector<Bytes> corpus() {
  std::vector<Bytes> records;
  using Kind = Change::Kind;
  const Bytes value{0x10, 0, 0, 0x80, 0, 0, 0, 0};
  records.push_back(record(0, 0, 0, {Kind::memory, 0, kRam + 0x1000, {1, 2, 3, 4}}));
  records.push_back(record(1, 0, 5, {Kind::integer, 0, 10, value}));
  records.push_back(record(1, 1, 9, {Kind::pc, 1, 0, value}));
  records.push_back(record(2, 1, 9, {Kind::floating, 1, 3, value}));
  records.push_back(record(1, 0, 20, {Kind::csr, 0, 0x305, value}));
  records.push_back(record(1, 0, 25, {Kind::bus, 0, 0x1000'0000, {0x41}}));
  records.push_back(record(1, 0, 26, Change::to_device("clint", 0, 1, 4)));
  records.push_back(record(1, 0, 27, {Kind::reset, 0, 0, {}}));
  records.push_back(record(1, 0, 28, Change::to_entry(0, kRam)));
  records.push_back(record(1, 0, 29, Change::to_entry(0, kRam, {{kRam, 0x1000}, {kRam + 0x2000, 8}})));
  records.push_back(record(1, 0, 30, {Kind::privilege, 0, 0, {1, 0, 0, 0, 0, 0, 0, 0}}));
  return {put_together(records)};
}

/// Completes a change that acts on a device or on the whole board.
Change draw_act(Change c, Random& random, std::uint64_t value) {
  static constexpr std::uint64_t kDevices[] = {0x200'0000, 0x200'4000, 0x1000'0000, 0x1000'0001, 0xc00'0000, 0x10'0000};
  static constexpr const char* kPaths[] = {"clint", "aplic.machine", "finisher", "uart", "nobody"};
  const unsigned width = 1u << random.below(4);
  if (c.kind == Change::Kind::device)
    return Change::to_device(kPaths[random.below(std::size(kPaths))], 4 * random.below(32), value, width);
  c.place = c.kind == Change::Kind::bus ? kDevices[random.below(std::size(kDevices))] : 0;
  if (c.kind == Change::Kind::bus) c.bytes.resize(width);
  if (c.kind == Change::Kind::reset && random.chance(1, 2)) c.bytes.clear();
  return c;
}

Change draw_change(Random& random) {
  Change c;
  c.kind = static_cast<Change::Kind>(random.below(10));
  c.hart = static_cast<std::uint32_t>(random.below(kHarts));
  static constexpr std::uint64_t kCsrs[] = {0x300, 0x301, 0x304, 0x305, 0x341, 0x342, 0x344, 0x3a0, 0x3b0,
                                            0x100, 0x105, 0x141, 0x180, 0x14d, 0xb00, 0xb02, 0x30a, 0x351};
  c.place = c.kind == Change::Kind::memory ? kRam + random.below(0x4000)
            : c.kind == Change::Kind::csr  ? kCsrs[random.below(std::size(kCsrs))]
                                           : random.below(34);
  const std::uint64_t value = random.chance(1, 2) ? kRam + random.below(0x8000) : edge(random);
  put_number(c.bytes, value, 8);
  if (c.kind == Change::Kind::privilege && random.chance(3, 4))
    c.bytes = {random.chance(1, 2) ? std::uint8_t{0} : std::uint8_t{1}, 0, 0, 0, 0, 0, 0, 0};
  if (c.kind == Change::Kind::memory) c.bytes.resize(1 + random.below(16));
  if (c.kind == Change::Kind::end) c.bytes.clear();
  return c.acts() ? draw_act(c, random, value) : c;
}

void mutate(Bytes& input, Random& random) {
  std::vector<Bytes> records;
  std::uint64_t slots = 0;
  for (std::uint64_t n = 1 + random.below(12); n != 0; --n) {
    slots += random.below(40);
    Bytes r = record(static_cast<std::uint8_t>(random.below(3)), static_cast<std::uint32_t>(random.below(kHarts)),
                     slots, draw_change(random));
    if (random.chance(1, 8)) mutate_bytes(r, random, {}, {});
    records.push_back(std::move(r));
  }
  input = put_together(records);
}

std::string hexadecimal(const Bytes& bytes) {
  std::string text;
  for (const std::uint8_t b : bytes) text += {"0123456789abcdef"[b >> 4], "0123456789abcdef"[b & 15]};
  return text;
}

/// Started once. Every input finds it as the one before has left it, but the harts start again.
class Bench {
 public:
  Bench() {
    platform::register_models(registry_);
    const Bytes file = to_bytes(R"(extends = "hosts/i9-9960x"
[cluster.host]
firmware = "hello"
harts = 2
[caches]
timing = "functional"
)");
    board_file_.assign(file.data(), file.size());
    config_.emplace(config::load_board(board_file_.path(), {}, registry_, config::BoardDirectories{}));
    board_.emplace(*config_, platform::Traffic::external);
    target_.emplace(
        *board_, [](const Change&) { return std::string(); }, [](const debug::Watchpoint&) {});
    target_->set_physical_memory(true);
    changes_.emplace(inputs_, *target_, [this] { ++ends_; });
    for (unsigned t = 1; t <= kHarts; ++t) entries_.push_back(target_->core(t).hart().state().pc);
    advance();
  }

  void replay(const std::vector<Bytes>& records, MemoryFile& log) {
    for (unsigned t = 1; t <= kHarts; ++t) start_again(t);
    std::string text = "sluice-inputs 1\n";
    const std::uint64_t now = until_.femtoseconds();
    bool sound = true;
    for (const Bytes& r : records) {
      check(r);
      sound &= makes_sense(r);
      text += "input " + std::to_string(now) + " gdb " + hexadecimal(placed(r)) + "\n";
    }
    const Bytes bytes = to_bytes(text + "end " + std::to_string(now) + " ended\n");
    log.assign(bytes.data(), bytes.size());
    try {
      base::InputReplay replay(log.path(), inputs_);
      require(sound, "a record that makes no sense was taken");
      changes_->start();
      replay.start([] {});
      advance();
    } catch (const std::runtime_error& e) {
      require(!sound && std::string(e.what()).starts_with(log.path() + ":"), e.what());
    }
  }

 private:
  void advance() {
    until_ += 1_us;
    board_->scheduler().run_until(until_);
  }

  /// Sends a hart back to its entry, wherever the input before has sent it or left it waiting.
  void start_again(unsigned thread) {
    riscv::Hart& hart = target_->core(thread).hart();
    hart.privileged().set_privilege(riscv::Privilege::machine);
    hart.state().pc = entries_[thread - 1];
  }

  /// The record with slots that are still to come.
  Bytes placed(const Bytes& r) {
    if (r.size() < kChange || r[0] == 0) return r;
    const unsigned thread = r[1] < kHarts ? r[1] + 1u : 1;
    Bytes whole(r.begin(), r.begin() + kSlots);
    put_number(whole, target_->core(thread).hart().state().slots + number_at(r, kSlots) % 5000, 8);
    whole.insert(whole.end(), r.begin() + kChange, r.end());
    return whole;
  }

  bool makes_sense(const Bytes& r) const {
    Change c;
    if (r.size() < kChange || r[0] > 2 || !Change::decode(std::span(r).subspan(kChange), c)) return false;
    const bool of_a_hart = r[1] < kHarts && r[2] == 0 && r[3] == 0 && r[4] == 0;
    return (c.kind == Change::Kind::end || target_->has(c)) && (r[0] == 0 || of_a_hart);
  }

  void check(const Bytes& r) {
    Change c;
    if (r.size() < kChange || !Change::decode(std::span(r).subspan(kChange), c)) return;
    require(c.encoded() == Bytes(r.begin() + kChange, r.end()), "a record is not what its change is written as");
    if (!target_->apply(c)) return;
    if (c.kind == Change::Kind::memory) {
      Bytes there(c.bytes.size());
      require(target_->read_memory(1, c.place, there) == there.size(), "changed memory cannot be read");
      require(there == c.bytes, "memory has not what was written");
    } else if (c.kind == Change::Kind::integer || c.kind == Change::Kind::floating) {
      namespace rn = debug::register_number;
      const unsigned number = static_cast<unsigned>(c.place) + (c.kind == Change::Kind::floating ? rn::kF0 : 0);
      std::uint64_t value = 0;
      require(target_->read_register(c.hart + 1, number, value) && value == number_at(c.bytes, 0),
              "a register is not what was written");
    }
  }

  MemoryFile board_file_{"board"};
  config::Registry registry_;
  std::optional<config::BoardConfig> config_;
  std::optional<platform::Board> board_;
  std::optional<debug::BoardTarget> target_;
  base::Inputs inputs_;
  std::optional<debug::Changes> changes_;
  std::vector<std::uint64_t> entries_;
  std::uint64_t ends_ = 0;
  base::Time until_;
};

}  // namespace

const Target target{
    .name = "changes", .corpus = corpus, .mutate = mutate, .runs = 5'000, .full_runs = 200'000, .longest = 4096};

}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  static fuzz::MemoryFile log("log");
  static fuzz::Bench bench;
  bench.replay(fuzz::take_apart(data, size), log);
  return 0;
}
