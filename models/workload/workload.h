#pragma once
/// What a board is put to: calls over a wire, measurements by a device, or nothing.

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/base/parameters/quantity.h"
#include "models/base/parameters/random.h"
#include "models/net/wire.h"
#include "models/part/catalogue.h"
#include "models/part/firmware_property.h"
#include "models/pcie/endpoint.h"

namespace sluice::workload {

using Json = nlohmann::ordered_json;

/// What a workload may ask of the run that it is in.
class Run {
 public:
  /// What came before was warm-up: every statistic counts from now() on.
  virtual void begin_measuring() = 0;
  /// Everything has been done: the run ends when the caller's entry is over.
  virtual void finish() = 0;

 protected:
  ~Run() = default;
};

/// The workload of one run. Every member but start() only looks, and may be called at any time from then on.
class Workload {
 public:
  virtual ~Workload() = default;

  /// What the board's firmware is told of it, in /chosen.
  virtual std::vector<part::FirmwareProperty> firmware_properties() const { return {}; }
  /// At time 0, before the first instruction. The run outlives the workload's last use of it.
  virtual void start(Run&) {}

  /// Requests that have ended, whatever came of them.
  virtual std::uint64_t ended() const { return 0; }
  /// Requests that have begun and not ended.
  virtual std::uint64_t under_way() const { return 0; }
  /// Whether something must end before long: a run in which it goes on being true while nothing ends is stalled.
  virtual bool waits() const { return under_way() > 0; }
  /// Share of the work that is done, 0 to 1; nothing where the workload has no end of its own.
  virtual std::optional<double> progress() const { return {}; }

  /// Why nothing ends, as what may follow ": " in a sentence; empty: not known.
  virtual std::string stall_reason() const { return {}; }
  /// Lines that help to find out why, each with its line break.
  virtual std::string stall_details() const { return {}; }

  /// The first thing that is missing or went wrong, as a sentence without a full stop; empty: nothing. finished: the
  /// run has not been cut short.
  virtual std::string failure(bool /*finished*/) const { return {}; }
  /// Adds its members, to an object that is empty. They become members of the result file
  /// (docs/reference/result.md), of which they may not have the name of another.
  virtual void add_result(Json& result) const = 0;
  /// The first part of a run's report on a terminal, which add_result() has made the figures of.
  virtual std::string report(const Json& result) const = 0;
};

/// The board around a workload, which outlives it.
struct Surroundings {
  /// An Ethernet link whose far end is free.
  struct FreeWire {
    std::string path;
    net::Wire* wire;      ///< to attach to at end A
    std::string address;  ///< the firmware's IPv4 address at it; empty: no NIC is there
  };
  std::vector<pcie::Endpoint*> devices;  ///< of kind accel, in the board's order
  std::vector<FreeWire> wires;           ///< in the board's order
  base::Bytes caches;                    ///< of all cores' L2 and the LLC
  bool iommu = false;                    ///< there is one, and the firmware switches it on
  base::Bytes iommu_page;                ///< that the firmware maps with
  base::RandomSeed seed;
};

/// The board is not one for the workload; what() is a sentence for its user.
struct NotForThisBoard : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Builds the workloads of one model. `parameters` are the values of [workload], of the type that the model was added
/// with.
class WorkloadFactory : public part::Factory {
 public:
  /// One line for a list of workloads.
  virtual std::string summary() const = 0;
  /// Throws NotForThisBoard.
  virtual std::unique_ptr<Workload> build(const void* parameters, const Surroundings&) const = 0;
  /// What it means that a shipped firmware of this name ended the run with this code of its own; empty: not known. It
  /// may have been started on a board with another workload.
  virtual std::string explain_exit(std::string_view /*firmware*/, unsigned /*code*/,
                                   const std::vector<pcie::Endpoint*>& /*devices*/) const {
    return {};
  }
};

}  // namespace sluice::workload
