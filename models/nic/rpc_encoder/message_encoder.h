// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The RPC encoder as a part of a NIC: the hardware under Verilator and its model are two of these, with the same
/// frames at the same times.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "models/base/time/calendar.h"
#include "models/base/time/callback.h"
#include "models/nic/rpc_encoder/encode.h"

namespace sluice::nic::rpc {

class MessageEncoder {
 public:
  /// Takes the frame of the oldest packet that gives one, when the last beat of it leaves.
  using Output = base::Callback<void(const Encoded&)>;
  /// Of the hardware that is modelled: 250 MHz, the decoder's.
  static constexpr base::Time kCycle = base::Time::ns(4);

  explicit MessageEncoder(Output output) : output_(std::move(output)) {}
  virtual ~MessageEncoder() = default;

  /// A packet has come, of any number of bytes; those beyond kPacketBytes are thrown away. Its first beat is at the
  /// encoder in the first cycle after now(), or behind the beats of the packets before it; the output takes a beat in
  /// every cycle. watched: it is of the request base::watched_request().
  virtual void put(std::span<const std::uint8_t> data, const Request& request, bool watched = false) = 0;
  /// Accesses to the registers of rpc_encoder_regs.h, by a device that has checked them: an entry that is written
  /// counts for packets that come when those inside have left; one that is inside may find it old or new, and the
  /// counters may have it or not. offset: a multiple of 4 below RPCE_SIZE.
  virtual void write(std::uint32_t offset, std::uint32_t value);
  std::uint32_t read(std::uint32_t offset);
  /// As at power-up. Packets inside leave no more.
  virtual void reset();

  /// Packets that were offered in a later cycle than they would be in hardware, because they came from beyond the
  /// calendar after that cycle had been run.
  virtual const std::uint64_t& late() const { return never_late_; }

 protected:
  /// COMMIT has written an entry of the table; null: packets that name it are wrong.
  virtual void set(unsigned entry, const std::optional<Schema>&) = 0;
  void leaves(const Encoded&);
  /// A packet has come to its end, and nothing leaves of it.
  void ends(unsigned verdict) { ++counters_.at(verdict); }

 private:
  void commit(std::uint32_t value);

  static constexpr std::uint64_t never_late_ = 0;

  Output output_;
  std::array<std::uint32_t, RPCE_VERDICTS> counters_{};  ///< since the last reset
  std::array<std::uint32_t, (RPCE_PART_SHAPE(RPCE_PARTS - 1) + 4) / 4> fields_{};
  std::uint32_t error_ = 0;
};

/// Makes encoders of one kind. path: its own. key: of its calendar entries, and of no other's.
using EncoderFactory = std::unique_ptr<MessageEncoder> (*)(const std::string& path, base::ComponentKey key,
                                                           MessageEncoder::Output output);
std::unique_ptr<MessageEncoder> make_encoder_model(const std::string& path, base::ComponentKey key,
                                                   MessageEncoder::Output output);
/// The factory of the encoder in RTL; null in a program that was built without Verilator.
EncoderFactory& encoder_rtl_factory();
/// The encoder of a NIC, as make_decoder().
std::unique_ptr<MessageEncoder> make_encoder(bool in_rtl, const std::string& nic, MessageEncoder::Output output);

}  // namespace sluice::nic::rpc
