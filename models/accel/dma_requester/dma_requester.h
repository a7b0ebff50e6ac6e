// SPDX-License-Identifier: Apache-2.0
#pragma once
/// An endpoint that issues DMA as software commands it and stamps every transaction: the device side of a PCIe
/// benchmark.

#include <cstdint>
#include <deque>
#include <vector>

#include "models/accel/dma_requester/dma_requester_regs.h"
#include "models/base/fabric/server.h"
#include "models/base/measure/histogram.h"
#include "models/base/parameters/random.h"
#include "models/base/registers/register_bank.h"
#include "models/pcie/endpoint/endpoint.h"

namespace sluice::accel {

using namespace base::literals;

struct DmaRequesterParameters {
  base::Time engine_latency = 0_ns;  ///< from a command's issue to its DMA's start
  std::uint64_t read_rate = 0;       ///< reads that the engine starts, per second; 0: no cap
  std::uint64_t write_rate = 0;      ///< writes, likewise
  pcie::Endpoint::Parameters pcie;
  static void describe(base::Schema<DmaRequesterParameters>&);
};

/// Registers: dma_requester_regs.h. A transaction is issued when fewer than DMAR_OUTSTANDING are under way. It is
/// stamped when it is issued and when it has ended. The engine takes one DMA after the other, is busy with each for the
/// inverse of its rate, and starts it engine_latency after taking it.
class DmaRequester : public pcie::Endpoint {
 public:
  using Parameters = DmaRequesterParameters;
  static constexpr std::size_t kMostRuns = 4096;  ///< commands whose results are kept

  /// A command, as given by its registers, and its results. The members from `completed` on are about the counted
  /// transactions only.
  struct Run {
    std::uint32_t operation, pattern, interface, label;
    std::uint64_t window, window_size;
    std::uint32_t size, unit, offset, outstanding;
    std::uint64_t warmup, count;
    std::uint64_t record;

    std::uint64_t completed = 0;
    std::uint64_t failed = 0;
    base::Histogram latency;                     ///< fs
    base::Time from;                             ///< end of the last transaction of the warm-up, or the command's start
    base::Time to;                               ///< end of the last transaction
    base::Time up_busy, down_busy, engine_busy;  ///< between `from` and `to`
  };

  DmaRequester(sc_core::sc_module_name, const Parameters&, base::RandomSeed);

  const std::deque<Run>& runs() const { return runs_; }  ///< commands that have ended, in order
  bool busy() const { return busy_; }
  std::uint32_t error() const { return error_; }                ///< DMAR_ERROR_*: why the last command was refused
  std::uint64_t transactions() const { return transactions_; }  ///< ended, warm-ups included
  base::RegisterBank& registers() { return bank_; }
  std::uint64_t ended_operations() const override { return transactions_; }

 private:
  void register_statistics(base::StatisticsGroup&) override;
  struct Transaction {
    std::uint64_t address = 0;
    base::Time issued;
    std::uint64_t pattern = 0;  ///< determines the bytes written
    bool failed = false;
  };

  void mmio_read(unsigned bar, std::uint64_t offset, unsigned size, pcie::MmioReply reply) override;
  void mmio_write(unsigned bar, std::uint64_t offset, std::span<const std::uint8_t> data,
                  const base::Journey&) override;
  void function_reset() override;

  void declare_registers();
  base::RegisterBank::Id setting(const char* name, std::uint64_t offset, unsigned width = 4);
  void control(std::uint64_t);
  std::uint32_t load(Run&) const;
  void start();
  void issue();
  void launch(std::uint32_t slot, unsigned generation, bool second);
  void write(std::uint32_t slot);
  void read(std::uint32_t slot);
  void fail(std::uint32_t slot);
  void end(std::uint32_t slot);
  void count(const Transaction&);
  void start_counting();
  void stop_counting();
  void finish();
  base::Time start_of(std::uint32_t operation);
  std::uint64_t next_address();
  void fill(std::uint64_t pattern);
  bool is_filled(std::uint64_t pattern, std::span<const std::uint8_t>) const;
  std::uint32_t status() const;

  Parameters parameters_;
  base::RandomStream random_;
  base::RegisterBank bank_;
  base::RegisterBank::Id operation_, pattern_, interface_, label_, window_, window_size_, size_, unit_, offset_,
      outstanding_, warmup_, count_, record_;
  base::Server engine_;
  base::Time read_interval_, write_interval_;
  std::uint64_t reads_held_ = 0, writes_held_ = 0;

  Run run_{};
  bool busy_ = false;
  base::Site started_by_;  ///< the write that started the command
  bool done_ = false;
  bool stopping_ = false;  ///< software has set DMAR_CONTROL_STOP
  bool draining_ = false;  ///< counting has ended, but transactions are under way
  std::uint32_t error_ = DMAR_ERROR_NONE;
  unsigned generation_ = 0;  ///< counts resets: callbacks from before the last one do nothing
  std::uint64_t slots_ = 0;  ///< of the window
  std::uint64_t next_slot_ = 0;
  std::uint64_t issued_ = 0, ended_ = 0;
  std::vector<Transaction> transactions_under_way_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint8_t> buffer_;
  std::deque<Run> runs_;
  std::uint64_t transactions_ = 0, failures_ = 0, commands_ = 0, refused_ = 0, ignored_ = 0, runs_left_out_ = 0;
};

}  // namespace sluice::accel
