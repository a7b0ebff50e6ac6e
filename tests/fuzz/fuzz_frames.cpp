// SPDX-License-Identifier: Apache-2.0
/// Bursts of frames through wire, MAC, NIC and the real firmware on a whole board. After each burst, every frame is
/// answered or counted by exactly one counter, and now and then a correct call must be answered correctly.
///
/// An input is a list of frames: length (2 bytes, little endian), flags (1 byte), so many bytes. SLUICE_FUZZ_BOARD: the
/// board and its overrides, separated by spaces.

#include <algorithm>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "models/base/measure/statistics.h"
#include "models/net/frame.h"
#include "models/nic/descriptor/descriptor_nic.h"
#include "models/uart/back_ends.h"
#include "platform/board/board.h"
#include "platform/board/models.h"
#include "platform/firmware/firmware_counters.h"
#include "protocols/rpc/calc.h"
#include "tests/fuzz/frames.h"

namespace sluice::fuzz {
namespace {

using namespace base::literals;

constexpr unsigned kBurst = 32;  ///< frames of an input that the driver makes
constexpr unsigned kMostFrames = 256;
constexpr std::uint8_t kBadFcs = 1, kLinkFlap = 2;  ///< flags, where the upper four bits are zero
constexpr unsigned kCallEvery = 16;                 ///< inputs

struct Frame {
  Bytes bytes;
  std::uint8_t flags = 0;
};

std::vector<Frame> take_apart(const std::uint8_t* data, std::size_t size) {
  std::vector<Frame> frames;
  while (size >= 3 && frames.size() < kMostFrames) {
    const std::size_t length = std::min<std::size_t>(data[0] | data[1] << 8, size - 3);
    frames.push_back({Bytes(data + 3, data + 3 + length), data[2]});
    data += 3 + length;
    size -= 3 + length;
  }
  return frames;
}

Bytes put_together(const std::vector<Frame>& frames) {
  Bytes all;
  for (const Frame& f : frames) {
    all.push_back(static_cast<std::uint8_t>(f.bytes.size()));
    all.push_back(static_cast<std::uint8_t>(f.bytes.size() >> 8));
    all.push_back(f.flags);
    all.insert(all.end(), f.bytes.begin(), f.bytes.end());
  }
  return all;
}

/// The frame with the padding to the minimum length that every sender adds.
Bytes padded(Bytes frame) {
  frame.resize(std::max<std::size_t>(frame.size(), net::Packet::kMinimum));
  return frame;
}

std::vector<Bytes> corpus() {
  std::vector<Frame> frames;
  for (const Bytes& f : valid_frames()) frames.push_back({padded(f), 0x10});
  return {put_together(frames)};
}

/// Whether a frame may be a call of CALC_SPIN, which keeps a hart busy for any time up to 4.3 s.
bool may_spin(const Bytes& frame) {
  constexpr std::uint32_t kWords[] = {RPC_PROGRAM_CALC, CALC_VERSION, CALC_SPIN};
  Bytes call;
  for (const std::uint32_t word : kWords)
    for (int shift = 24; shift >= 0; shift -= 8) call.push_back(static_cast<std::uint8_t>(word >> shift));
  return std::search(frame.begin(), frame.end(), call.begin(), call.end()) != frame.end();
}

void mutate(Bytes& input, Random& random) {
  std::vector<Frame> frames = take_apart(input.data(), input.size());
  // Now and then more than rings and FIFO hold.
  const std::size_t burst = random.chance(1, 64) ? kMostFrames : kBurst;
  while (frames.size() < burst) frames.push_back({valid_frames()[random.below(valid_frames().size())], 0x10});
  frames.resize(burst);
  for (Frame& f : frames) {
    const Bytes before = f.bytes;
    mutate_frame(f.bytes, random);
    if (may_spin(f.bytes)) f.bytes = before;
    if (random.chance(31, 32)) f.bytes = padded(std::move(f.bytes));
    if (random.chance(1, 32)) f.flags = kBadFcs;
    if (random.chance(1, 1024)) f.flags = kLinkFlap;
  }
  input = put_together(frames);
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string w; in >> w;) words.push_back(w);
  return words;
}

/// Loaded and started once; every input finds it as the one before has left it.
class Bench : net::Wire::Client {
 public:
  Bench() {
    const char* asked = std::getenv("SLUICE_FUZZ_BOARD");
    std::vector<std::string> words = words_of(asked ? asked : "e810-poll");
    platform::register_models(registry_);
    std::vector<std::string> overrides(words.begin() + 1, words.end());
    overrides.emplace_back("caches.timing=functional");
    config_.emplace(config::load_board(words.front(), overrides, registry_, config::BoardDirectories{}));
    board_.emplace(*config_, platform::Traffic::external);
    console_.emplace(log_);
    board_->host().uart().attach(*console_);
    board_->host().finisher().on_finish = [this](irq::Finisher::Verdict) { give_up("the firmware has ended"); };
    rams_ = board_->host().guest_rams();
    wire().attach(net::Wire::kA, *this);
    for (unsigned i = 0; i < 1000 && answers_ == 0; ++i) {
      send(padded(valid_frames()[kArpRequest]), false);
      advance(20_us);
    }
    if (answers_ == 0) give_up("the firmware does not come up");
    settle();
  }

  void burst(const std::vector<Frame>& frames) {
    for (const Frame& f : frames) {
      if (f.flags == kLinkFlap) {
        wire().set_up(false);
        advance(1_us);
        wire().set_up(true);
        ++flaps_;
      }
      send(f.bytes, f.flags == kBadFcs);
    }
    settle();
    if (++bursts_ % kCallEvery == 0) call();
  }

  /// A correct call is answered, to the last byte.
  void call() {
    const Bytes data(bursts_ % 1400, static_cast<std::uint8_t>(bursts_));
    const auto xid = static_cast<std::uint32_t>(0x1000'0000 + bursts_);
    expected_ = echo_reply(xid, data);
    send(echo_call(xid, data), false);
    settle();
    if (expected_) give_up("a correct call is not answered");
  }

  std::string summary() {
    std::string text = fmt::format("{} frames, {} answers, {} link flaps;", sent_, answers_, flaps_);
    for (const auto& [name, n] : losses()) text += fmt::format(" {} {}", name, n);
    return text;
  }

 private:
  static constexpr unsigned kArpRequest = 14;  ///< its index in valid_frames()

  net::Wire& wire() { return *board_->wires().front().wire; }
  nic::Nic& nic() { return *board_->nics().front().nic; }

  void advance(base::Time t) {
    until_ = until_ + t;
    board_->scheduler().run_until(until_);
  }

  void send(const Bytes& frame, bool bad_fcs) {
    net::PacketPtr p = net::make_packet(frame.data(), frame.size());
    if (!p) return;
    p->corrupted = bad_fcs;
    ++sent_;
    base::calendar().set_now(std::max(base::now(), until_));
    wire().send(net::Wire::kA, std::move(p));
  }

  void frame_arrived(net::PacketPtr p) override {
    ++answers_;
    net::FrameView view;
    const char* wrong = net::parse_frame(p->bytes, p->length, view);
    if (wrong) give_up(std::string("an answer is broken: ") + wrong);
    if (expected_ && view.kind == net::FrameView::Kind::udp && view.to.port == 999 &&
        view.length == expected_->size() && std::equal(expected_->begin(), expected_->end(), p->bytes + view.payload))
      expected_.reset();
  }

  using Losses = std::vector<std::pair<std::string, std::uint64_t>>;

  void add_losses_of(nic::DescriptorNic& nic, Losses& all) {
    const net::Mac::Statistics& mac = nic.mac().statistics();
    for (const auto& [name, n] : {std::pair{"nic fifo", DESC_STAT_RX_DROP_FIFO},
                                  {"nic no queue", DESC_STAT_RX_DROP_NO_QUEUE},
                                  {"nic address", DESC_STAT_RX_DROP_ADDRESS},
                                  {"nic disabled", DESC_STAT_RX_DROP_DISABLED},
                                  {"nic dma", DESC_STAT_RX_DROP_DMA},
                                  {"nic tx descriptor", DESC_STAT_TX_DROP_DESCRIPTOR},
                                  {"nic tx dma", DESC_STAT_TX_DROP_DMA},
                                  {"nic tx link", DESC_STAT_TX_DROP_LINK}})
      all.emplace_back(name, nic.statistic(n));
    // The MAC reports runts and long frames to the NIC, which counts them together with its own drops.
    all.emplace_back("nic length", nic.statistic(DESC_STAT_RX_DROP_LENGTH) - mac.rx_runts - mac.rx_long);
    all.emplace_back("wire lost answers", wire().statistics(net::Wire::kB).lost - mac.tx_link_down);
  }

  void add_losses_of_lauberhorn(Losses& all) {
    for (const char* name :
         {"filtered", "dropped_buffer", "dropped_sessions", "dropped_queue", "dropped_process", "unanswered", "lost"})
      all.emplace_back(fmt::format("nic {}", name),
                       base::statistics().value(fmt::format("{}.{}", board_->nics().front().path, name)));
    all.emplace_back("wire lost answers", wire().statistics(net::Wire::kB).lost);
  }

  /// Every counter of a frame that gets no answer.
  Losses losses() {
    Losses all;
    const net::Mac::Statistics& mac = nic().mac().statistics();
    all.emplace_back("wire lost", wire().statistics(net::Wire::kA).lost);
    all.emplace_back("mac runts", mac.rx_runts);
    all.emplace_back("mac long", mac.rx_long);
    all.emplace_back("mac bad FCS", mac.rx_bad_fcs);
    if (auto* const descriptor = dynamic_cast<nic::DescriptorNic*>(&nic()))
      add_losses_of(*descriptor, all);
    else
      add_losses_of_lauberhorn(all);
    static constexpr const char* kDiscards[] = {"ethernet_ignored", "arp_ignored",  "ipv4_malformed", "ipv4_fragments",
                                                "ipv4_ignored",     "icmp_ignored", "tcp_ignored",    "udp_malformed",
                                                "no_port",          "malformed",    "unanswered",     "tx_full"};
    const auto counters = platform::read_counters(board_->clusters().front().get().firmware, rams_);
    for (const char* name : kDiscards) {
      const auto found = std::find_if(counters.begin(), counters.end(), [&](const auto& c) { return c.first == name; });
      all.emplace_back(name, found == counters.end() ? 0 : found->second);
    }
    return all;
  }

  std::uint64_t accounted() {
    std::uint64_t n = answers_;
    for (const auto& [name, lost] : losses()) n += lost;
    return n;
  }

  /// Runs the board until every frame is answered or counted.
  void settle() {
    constexpr unsigned kMost = 1000;
    for (unsigned i = 0; i < kMost; ++i) {
      advance(20_us);
      const std::uint64_t n = accounted();
      if (n == sent_) return;
      if (n > sent_) give_up("frames are counted twice");
    }
    give_up("frames are neither answered nor counted");
  }

  [[noreturn]] void give_up(const std::string& what) {
    std::string text = what + "\n" + (board_ ? summary() : "") + "\n" + log_.str();
    for (platform::Cluster& c : board_->clusters())
      for (auto& core : c.cores) {
        const std::uint64_t pc = core->hart().state().pc;
        text += fmt::format("\n{}: pc {:#x} {}", core->path(), pc, c.firmware.symbols().at(pc));
      }
    fail(text);
  }

  config::Registry registry_;
  std::optional<config::BoardConfig> config_;
  std::optional<platform::Board> board_;
  std::ostringstream log_;
  std::optional<uart::StreamBackEnd> console_;
  std::vector<base::GuestRam*> rams_;
  base::Time until_;
  std::uint64_t sent_ = 0, answers_ = 0, flaps_ = 0, bursts_ = 0;
  std::optional<Bytes> expected_;
};

Bench& bench() {
  static Bench& one = *new Bench;
  return one;
}

void finish() {
  bench().call();
  fmt::print("frames: {}\n", bench().summary());
}

}  // namespace

// full_runs inputs of 32 frames each are more than a million frames.
const Target target{
    .name = "frames", .corpus = corpus, .mutate = mutate, .runs = 500, .full_runs = 34'000, .finish = finish};

}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sluice::fuzz::bench().burst(sluice::fuzz::take_apart(data, size));
  return 0;
}
