// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The RPC decoder as a part of a NIC: the hardware under Verilator and its model are two of these, with the same
/// results at the same times.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "models/base/time/calendar.h"
#include "models/base/time/callback.h"
#include "models/nic/rpc_decoder/decode.h"

namespace sluice::nic::rpc {

class CallDecoder {
 public:
  /// Takes what the decoder made of the oldest frame that it has, when the last beat of it leaves.
  using Output = base::Callback<void(const Decoded&)>;
  /// Of the hardware that is modelled: 250 MHz (enzian-pio's FPGA).
  static constexpr base::Time kCycle = base::Time::ns(4);

  /// services: entries of its table, at most kServices.
  CallDecoder(unsigned services, Output output) : services_(services), output_(std::move(output)) {}
  virtual ~CallDecoder() = default;

  /// A frame without its frame check sequence, of at least one byte, has come. Its first beat is at the decoder in the
  /// first cycle after now(), or behind the beats of the frames before it; the output takes a beat in every cycle.
  /// watched: it is of the request base::watched_request().
  virtual void put(std::span<const std::uint8_t> frame, bool watched = false) = 0;
  /// Accesses to the registers of rpc_decoder_regs.h, by a device that has checked them: an entry that is written
  /// counts for frames that come when those inside have left; one that is inside may find it old or new. offset: a
  /// multiple of 4 below RPCD_SIZE.
  void write(std::uint32_t offset, std::uint32_t value);
  std::uint32_t read(std::uint32_t offset);
  /// As at power-up. Frames inside leave no more.
  virtual void reset();

  /// Frames that were offered in a later cycle than they would be in hardware, because they came from beyond the
  /// calendar after that cycle had been run.
  virtual const std::uint64_t& late() const { return never_late_; }

  /// Which calls an entry of the table is for; nothing: none.
  const std::optional<ServiceKey>& key(unsigned entry) const { return keys_.at(entry); }
  /// Frames by verdict (RPCD_CALL and so on).
  const std::uint64_t& count(unsigned verdict) const { return counts_.at(verdict); }

 protected:
  /// COMMIT has written an entry of the table; null: one that matches no call.
  virtual void set(unsigned entry, const std::optional<Service>&) = 0;
  /// A register was written, and that was no COMMIT which was refused.
  virtual void written(std::uint32_t offset, std::uint32_t value) = 0;
  void leaves(const Decoded&);

 private:
  bool commit(std::uint32_t value);

  static constexpr std::uint64_t never_late_ = 0;

  unsigned services_;
  Output output_;
  std::array<std::uint64_t, RPCD_VERDICTS> counts_{};
  std::array<std::uint32_t, RPCD_VERDICTS> counters_{};  ///< since the last reset
  std::array<std::optional<ServiceKey>, kServices> keys_{};
  std::array<std::uint32_t, (RPCD_PART_SHAPE(RPCD_PARTS - 1) + 4) / 4> fields_{};
  std::uint32_t error_ = 0;
};

/// Makes decoders of one kind. path: its own. key: of its calendar entries, and of no other's.
using DecoderFactory = std::unique_ptr<CallDecoder> (*)(const std::string& path, base::ComponentKey key,
                                                        unsigned services, CallDecoder::Output output);
std::unique_ptr<CallDecoder> make_model(const std::string& path, base::ComponentKey key, unsigned services,
                                        CallDecoder::Output output);
/// The factory of the decoder in RTL; null in a program that was built without Verilator.
DecoderFactory& rtl_factory();
/// The decoder of a NIC with this path: its RTL, which the program must have, or its model. It has a key of its own,
/// for the model makes the entry of what leaves earlier than the RTL does.
std::unique_ptr<CallDecoder> make_decoder(bool in_rtl, const std::string& nic, unsigned services,
                                          CallDecoder::Output output);

}  // namespace sluice::nic::rpc
