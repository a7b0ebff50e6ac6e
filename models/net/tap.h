// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Connects the host machine's network to an end of a wire, by a Linux TAP interface.

#include <cstdint>
#include <span>
#include <string>

#include "models/base/measure/statistics.h"
#include "models/base/outside/inputs.h"
#include "models/base/outside/pacer.h"
#include "models/base/systemc/model.h"
#include "models/net/wire.h"

namespace sluice::net {

/// A TAP interface, opened for frames without any header before them. Plain Linux.
class TapDevice {
 public:
  /// Opens the interface, or creates one that exists as long as this object. Throws std::runtime_error with one
  /// sentence when the name is invalid, the interface cannot be opened, or permission is denied.
  explicit TapDevice(const std::string& name);
  ~TapDevice();
  TapDevice(const TapDevice&) = delete;
  TapDevice& operator=(const TapDevice&) = delete;

  int file() const { return file_; }
  enum class Read { frame, nothing, gone };
  /// Reads one frame that the machine has sent, without waiting. gone: the interface no longer exists.
  Read read(std::span<std::uint8_t> buffer, std::size_t& length);
  /// Returns false when the interface is down or has no room.
  bool write(std::span<const std::uint8_t> frame);

 private:
  int file_;
};

/// Frames from outside enter the wire as they come. Frames from the wire go outside when their last bit has arrived.
/// Frames from outside are inputs of the channel "tap". Ledger: they open no requests.
class TapEnd : public base::Model, public Wire::Client {
 public:
  /// Most frames that one poll takes from the device; the device keeps the others.
  static constexpr unsigned kBurst = 64;

  struct Statistics {
    std::uint64_t received = 0;    ///< frames from outside given to the wire
    std::uint64_t sent = 0;        ///< frames from the wire for outside
    std::uint64_t bad_frames = 0;  ///< frames from the wire with a wrong FCS, which are not sent outside
    std::uint64_t oversized = 0;   ///< frames from outside that no wire could carry
  };

  /// Attaches itself to the wire's end.
  TapEnd(const sc_core::sc_module_name&, Wire&, Wire::End, base::Inputs&);

  /// Connects the outside. Without it, as in a replay, frames for outside end here. Device and pacer must outlive the
  /// simulation.
  void connect(TapDevice&, base::Pacer&);

  const Statistics& statistics() const { return counts_; }
  /// Frames for outside that the device did not take. This count depends on the host machine, not on the simulation.
  std::uint64_t refused() const { return refused_; }

  void frame_arrived(PacketPtr) override;

 private:
  void register_statistics(base::StatisticsGroup&) override;
  bool take_frames();
  void inject(base::Inputs::Bytes);

  Wire& wire_;
  Wire::End end_;
  base::Inputs& inputs_;
  base::Inputs::Channel channel_;
  TapDevice* device_ = nullptr;
  Statistics counts_;
  std::uint64_t refused_ = 0;
};

}  // namespace sluice::net
