// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Runs a verilated block with AXI4-Stream ports on a board.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <verilated.h>
#include <verilated_fst_c.h>

#include "models/base/fabric/ring.h"
#include "models/base/measure/waveforms.h"
#include "models/base/time/calendar.h"
#include "models/base/time/callback.h"

namespace sluice::rtl {

/// Model: the class that Verilator makes of a module with the ports clk, rst (high resets), s_axis_tvalid, _tready,
/// _tdata of 512 bits, _tkeep and _tlast, and the same of m_axis. s_axis_tuser, m_axis_tuser, and an AXI4-Lite slave
/// s_axil with addresses of up to 16 bits and data of 32, may be there too. An output `silent` is 1 in a cycle in which
/// a packet comes to its end of which nothing leaves, and silent_verdict beside it says why.
///
/// The block sleeps while nothing is in it. It runs ahead of now(), but not beyond the calendar's next entry: what
/// comes in by an entry then meets the cycle that it belongs to. What leaves becomes an entry at its cycle's end.
///
/// It writes its waveform with --trace vcd if Verilator made the class with --trace-fst.
template <class Model>
class StreamBlock final : private base::WaveformSource {
 public:
  /// Takes a packet, and the tuser of its last beat, when its last beat leaves.
  using Output = base::Callback<void(std::span<const std::uint8_t> bytes, std::span<const std::uint32_t> user)>;
  /// Takes the silent_verdict of a packet of which nothing leaves, when the block is run to its end.
  using Silent = base::Callback<void(std::uint32_t verdict)>;

  struct Setup {
    std::string path;            ///< of the component: names the waveform
    base::ComponentKey key = 0;  ///< of its entries
    base::Time cycle;            ///< clock edges are at its multiples
    /// A block that neither gives exactly one packet for each that comes in nor says so by `silent` sleeps when it has
    /// had neither an input nor an output for so many cycles. What software writes until then takes cycles.
    unsigned settle = 0;
  };

  /// silent: never called of a block without that output.
  StreamBlock(const Setup& setup, Output output, Silent silent = {})
      : WaveformSource(setup.path), setup_(setup), output_(std::move(output)), silent_(std::move(silent)) {
    context_.threads(1);  // by default it starts one for each processor, which would take the program's signals
    context_.traceEverOn(true);
    model_ = std::make_unique<Model>(&context_);
    restart();
  }
  ~StreamBlock() override {
    if (waveform_) waveform_->close();
  }

  /// A packet has come: its first beat is offered in the first cycle after now(), or behind those of the packets before
  /// it. One without bytes has a beat without them. watched: it is of the request base::watched_request().
  void put(std::span<const std::uint8_t> bytes, bool watched = false) { put(bytes, {}, watched); }
  /// And with each of its beats goes this as tuser; bits that are left out are 0.
  void put(std::span<const std::uint8_t> bytes, std::span<const std::uint32_t> user, bool watched = false) {
    if (setup_.settle == 0) marks_.push(watched ? 1 : 0);
    watched_ += watched;
    Packet packet = spare();
    packet.bytes.assign(bytes.begin(), bytes.end());
    packet.user.assign(user.begin(), user.end());
    packet.from = base::calendar().now() / setup_.cycle + 1;
    late_ += waiting_.empty() && packet.from < cycle_;
    waiting_.push(std::move(packet));
    ++inside_;
    wake();
  }

  /// Register accesses, by AXI4-Lite. They take cycles of a block that is awake, and no time of one that sleeps.
  void write(std::uint32_t offset, std::uint32_t value) {
    writes_.push({offset, value});
    if (asleep())
      settle_writes();
    else
      schedule();
  }
  /// Of a block that is awake, the cycles that this takes are run ahead of now().
  std::uint32_t read(std::uint32_t offset) {
    settle_writes();
    const bool slept = asleep();
    const std::uint64_t cycle = cycle_;
    model_->s_axil_arvalid = model_->s_axil_rready = 1;
    model_->s_axil_araddr = static_cast<std::uint16_t>(offset);
    step();
    model_->s_axil_arvalid = 0;
    const std::uint32_t value = model_->s_axil_rdata;
    step();
    if (slept) cycle_ = cycle;
    return value;
  }

  /// As at power-up: packets inside are gone.
  void reset() {
    restart();
    waiting_.clear();
    leaving_.clear();
    writes_.clear();
    marks_.clear();
    watched_ = 0;
    write_under_way_ = collecting_ = scheduled_ = false;
    at_ = inside_ = 0;
    offered_ = false;
    ++generation_;
  }

  std::uint64_t cycles() const { return cycles_; }
  /// Packets that came for a cycle which had been run: they were offered later than in the hardware. 0 as long as
  /// nothing comes from beyond the calendar within the block's own latency.
  const std::uint64_t& late() const { return late_; }

 private:
  struct Packet {
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint32_t> user;
    std::uint64_t from = 0;  ///< first cycle in which it may be offered
  };

  struct Write {
    std::uint32_t offset = 0;
    std::uint32_t value = 0;
  };

  void settle_writes() {
    const bool slept = asleep();
    if (slept) cycle_ = std::max(cycle_, base::calendar().now() / setup_.cycle + 1);
    const std::uint64_t cycle = cycle_;
    while (!writes_.empty() || write_under_way_) step();
    if (slept) cycle_ = cycle;
  }

  /// Gives the first waiting write to the block, in every other cycle.
  void drive_write() {
    if constexpr (requires(Model & m) { m.s_axil_awvalid; }) {
      const bool drives = !write_under_way_ && !writes_.empty();
      model_->s_axil_awvalid = model_->s_axil_wvalid = drives;
      model_->s_axil_bready = 1;
      write_under_way_ = drives;
      if (!drives) return;
      const Write w = writes_.pop();
      model_->s_axil_awaddr = static_cast<std::uint16_t>(w.offset);
      model_->s_axil_wdata = w.value;
    }
  }

  void restart() {
    quiet_ = setup_.settle;
    cycle_ = 0;
    model_->rst = 1;
    for (int i = 0; i < 4; ++i) edges();
    model_->rst = 0;
    model_->m_axis_tready = 1;
  }

  void edges() {
    model_->clk = 0;
    model_->eval();
    model_->clk = 1;
    model_->eval();
    ++cycles_;
  }

  bool asleep() const { return waiting_.empty() && (setup_.settle == 0 ? inside_ == 0 : quiet_ >= setup_.settle); }

  /// Cycles in which the block slept have not been run.
  void wake() {
    const std::uint64_t first = base::calendar().now() / setup_.cycle + 1;
    if (!scheduled_) cycle_ = std::max(cycle_, first);
    quiet_ = 0;
    schedule();
  }

  void schedule() {
    if (scheduled_ || asleep()) return;
    scheduled_ = true;
    base::calendar().at(std::max(base::calendar().now(), setup_.cycle * cycle_), setup_.key,
                        [this, generation = generation_] { run(generation); });
  }

  void run(std::uint32_t generation) {
    if (generation != generation_) return;
    scheduled_ = false;
    while (!asleep() && setup_.cycle * cycle_ <= base::calendar().next()) step();
    if (setup_.settle != 0 && asleep()) watched_ = 0;  // which of its packets has left is not known
    schedule();
  }

  /// Runs the cycle cycle_.
  void step() {
    Model& m = *model_;
    if (!offered_ && !waiting_.empty() && waiting_.front().from <= cycle_) offer(waiting_.front());
    m.s_axis_tvalid = offered_;
    drive_write();
    m.clk = 0;
    m.eval();
    dump(0);
    ++quiet_;
    if (offered_ && m.s_axis_tready) taken();
    if (m.m_axis_tvalid) given();
    if constexpr (requires { m.silent; }) {
      if (m.silent) {
        ended();
        silent_(m.silent_verdict);
      }
    }
    m.clk = 1;
    m.eval();
    dump(1);
    ++cycle_;
    ++cycles_;
  }

  /// Writes what the ports and registers are in the first or second half of the cycle.
  void dump(unsigned half) {
    if (!waveform_) return;
    const base::Time at = setup_.cycle * cycle_;
    if (at < window_.from || at >= window_.until || (window_.request != 0 && watched_ == 0)) return;
    const std::uint64_t ps = (at.femtoseconds() + half * setup_.cycle.femtoseconds() / 2) / 1000;
    if (ps <= dumped_ && dumped_ != 0) return;  // cycles of register accesses take no time of a block that sleeps
    dumped_ = ps;
    note_cycle();
    waveform_->dump(ps);
  }

  void open_waveform(const std::string& file, const base::WaveformWindow& window) override {
    if constexpr (requires(Model & m, VerilatedFstC * fst) { m.trace(fst, 99); }) {
      base::check_waveform_room(file);
      window_ = window;
      waveform_file_ = file;
      waveform_ = std::make_unique<VerilatedFstC>();
      model_->trace(waveform_.get(), 99);
      waveform_->set_time_unit("1ps");
      waveform_->set_time_resolution("1ps");
      waveform_->open(file.c_str());
      if (!waveform_->isOpen()) throw std::runtime_error(file + ": cannot be written");
    } else {
      throw std::runtime_error(path() + " writes no waveform: Verilator made it without --trace-fst");
    }
  }
  void close_waveform() override {
    if (!waveform_) return;
    waveform_->close();
    waveform_.reset();
    base::check_waveform(waveform_file_);
  }

  void offer(const Packet& packet) {
    const std::size_t count = std::min<std::size_t>(64, packet.bytes.size() - at_);
    if (count != 0) std::memcpy(&model_->s_axis_tdata[0], packet.bytes.data() + at_, count);
    model_->s_axis_tkeep = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    model_->s_axis_tlast = at_ + count == packet.bytes.size();
    if constexpr (requires(Model & m) { m.s_axis_tuser; }) {
      auto* const user = reinterpret_cast<std::uint8_t*>(&model_->s_axis_tuser);
      const std::size_t size = std::min(sizeof model_->s_axis_tuser, packet.user.size() * sizeof packet.user[0]);
      if (size != 0) std::memcpy(user, packet.user.data(), size);
      std::memset(user + size, 0, sizeof model_->s_axis_tuser - size);
    }
    offered_ = true;
  }

  void taken() {
    offered_ = false;
    quiet_ = 0;
    at_ += 64;
    if (at_ < waiting_.front().bytes.size()) return;
    at_ = 0;
    spare_.push(waiting_.pop());
  }

  void given() {
    Model& m = *model_;
    quiet_ = 0;
    if (!collecting_) {
      leaving_.push(spare());
      leaving_.back().bytes.clear();
    }
    collecting_ = !m.m_axis_tlast;
    Packet& packet = leaving_.back();
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&m.m_axis_tdata[0]);
    packet.bytes.insert(packet.bytes.end(), bytes, bytes + std::popcount(m.m_axis_tkeep));
    if (collecting_) return;
    if constexpr (requires { m.m_axis_tuser; }) {
      packet.user.assign((sizeof m.m_axis_tuser + 3) / 4, 0);
      std::memcpy(packet.user.data(), &m.m_axis_tuser, sizeof m.m_axis_tuser);
    }
    ended();
    base::calendar().at(setup_.cycle * (cycle_ + 1), setup_.key, [this, generation = generation_] {
      if (generation != generation_) return;
      Packet leaves = leaving_.pop();
      output_(leaves.bytes, leaves.user);
      spare_.push(std::move(leaves));
    });
  }

  /// The oldest packet inside is there no more.
  void ended() {
    if (inside_ > 0) --inside_;
    if (setup_.settle == 0 && !marks_.empty()) watched_ -= marks_.pop();
  }

  Packet spare() { return spare_.empty() ? Packet{} : spare_.pop(); }

  Setup setup_;
  Output output_;
  Silent silent_;
  VerilatedContext context_;
  std::unique_ptr<Model> model_;
  base::Ring<Packet> waiting_, leaving_, spare_;
  base::Ring<Write> writes_;
  base::Ring<std::uint8_t> marks_;  ///< of each packet inside, in the order in which they came: whether it is watched
  unsigned watched_ = 0;
  base::WaveformWindow window_;
  std::unique_ptr<VerilatedFstC> waveform_;
  std::string waveform_file_;
  std::uint64_t dumped_ = 0;  ///< time of the last dump, ps
  bool write_under_way_ = false;
  std::size_t at_ = 0;  ///< bytes of the first waiting packet that have been taken
  bool offered_ = false;
  bool collecting_ = false;  ///< the last packet of leaving_ is not complete
  bool scheduled_ = false;
  std::uint64_t inside_ = 0;  ///< packets that have come and not left
  std::uint64_t cycle_ = 0;   ///< the next one to run
  std::uint64_t cycles_ = 0;
  std::uint64_t late_ = 0;
  unsigned quiet_ = 0;  ///< cycles since the last input or output
  std::uint32_t generation_ = 0;
};

}  // namespace sluice::rtl
