// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a board is used for: calls over a wire, measurements by a device, or nothing.

#include <cstdint>
#include <functional>
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
#include "models/pcie/endpoint/endpoint.h"
#include "models/workload/list_plot.h"

namespace sluice::workload {

using Json = nlohmann::ordered_json;

/// The requests that a workload may make to its run.
class Run {
 public:
  /// Ends the warm-up: every statistic counts from now() on.
  virtual void begin_measuring() = 0;
  /// A part of the measurement begins, such as one rate of a sweep; the one before it has ended. The result gives
  /// figures of each part in the elements of the array that Workload::phases() names, which are in the same order.
  virtual void begin_phase() = 0;
  /// What is measured lasts at least to now(). Called when something has happened that may be the last: what follows
  /// the last call, such as waiting for replies that never come, is not measured. Without a call, all is.
  virtual void measure_to_here() = 0;
  /// The workload is done: the run ends after the calendar entry that calls this.
  virtual void finish() = 0;

 protected:
  ~Run() = default;
};

/// The workload of one run. Except for start(), the functions change nothing and may be called at any time after
/// start().
class Workload {
 public:
  virtual ~Workload() = default;

  /// Properties of /chosen that tell the board's firmware about the workload.
  virtual std::vector<part::FirmwareProperty> firmware_properties() const { return {}; }
  /// Called at time 0, before the first instruction. The run outlives the workload's last use of it.
  virtual void start(Run&) {}

  /// What the user should know before a run, such as that it will take minutes: a sentence without a full stop. Empty:
  /// nothing.
  virtual std::string about_to_run() const { return {}; }
  /// Requests that have ended, with any outcome.
  virtual std::uint64_t ended() const { return 0; }
  /// Requests that have begun and not ended.
  virtual std::uint64_t under_way() const { return 0; }
  /// Whether a request should end soon. A run is stalled if this stays true while no request ends.
  virtual bool waits() const { return under_way() > 0; }
  /// Share of the work that is done, 0 to 1; nothing where the workload has no end of its own.
  virtual std::optional<double> progress() const { return {}; }

  /// Why no request ends, worded to follow ": " in a sentence. Empty: not known.
  virtual std::string stall_reason() const { return {}; }
  /// Lines that help to find the cause of a stall, each with its line break.
  virtual std::string stall_details() const { return {}; }

  /// The first thing that is missing or went wrong, as a sentence without a full stop. Empty: there is none. finished:
  /// the run has not been cut short.
  virtual std::string failure(bool /*finished*/) const { return {}; }
  /// JSON pointer to the array in the result whose elements are the phases ("/phases"); empty: it has no phases.
  virtual std::string phases() const { return {}; }
  /// What reports draw and compare shows of add_result()'s lists.
  virtual std::vector<ListPlot> plots() const { return {}; }
  /// Adds the workload's members to an empty object: texts in UTF-8, and finite numbers. They become members of the
  /// result file (docs/reference/result.md), so their names must differ from those of its other members.
  virtual void add_result(Json& result) const = 0;
  /// The first part of a run's report on a terminal. result: the figures that add_result() has added.
  virtual std::string report(const Json& result) const = 0;
};

/// The board around a workload. The board outlives the workload.
struct Surroundings {
  /// An Ethernet link whose far end is free.
  struct FreeWire {
    std::string path;
    net::Wire* wire;      ///< the workload may attach to end A
    std::string address;  ///< the firmware's IPv4 address on the link; empty: it has no NIC
    std::string station;  ///< the NIC's MAC address; empty: it has no NIC, or none with an address of its own
    /// Most frames of this many bytes that the NIC and the rings of its driver can hold.
    std::function<std::uint64_t(std::uint64_t frame_bytes)> buffered_frames;
  };
  std::vector<pcie::Endpoint*> devices;  ///< of kind accel, in the board's order
  struct Nic {
    base::Model* model;
    std::uint64_t longest_frame;  ///< bytes without FCS, as it is set up
  };
  std::vector<Nic> nics;        ///< in the board's order
  std::vector<FreeWire> wires;  ///< in the board's order
  base::Bytes caches;           ///< of all cores' L2 and the LLC
  bool iommu = false;           ///< there is an IOMMU, and the firmware switches it on
  base::Bytes iommu_page;       ///< page size with which the firmware maps
  base::RandomSeed seed;
};

/// The workload cannot run on this board. what() is a sentence for the user.
struct NotForThisBoard : std::runtime_error {
  using runtime_error::runtime_error;
};

/// How `compare` shows the results of a workload.
struct Comparable {
  std::string title;  ///< what the boards are put to, in a line
  /// What a request is, in the plural: "packets". Each result then has `requests`, `latency_ns`, `throughput_per_s` and
  /// `stages`, as calls have. Empty: it has none, and compare shows Workload::plots().
  std::string requests;
};

/// Builds the workloads of one model. `parameters` points to the values of [workload], of the type that the model was
/// added with.
class WorkloadFactory : public part::Factory {
 public:
  /// One line for a list of workloads.
  virtual std::string summary() const = 0;
  /// Throws NotForThisBoard when the workload cannot run on the board.
  virtual std::unique_ptr<Workload> build(const void* parameters, const Surroundings&) const = 0;
  /// Name of the shipped firmware that the workload needs, which --workload chooses with it. Empty: the board's own.
  virtual std::string firmware() const { return {}; }
  /// Nothing: `compare` refuses boards with this workload.
  virtual std::optional<Comparable> comparable(const void* /*parameters*/) const { return {}; }
  /// Explains an exit code with which the shipped firmware of this name ended the run. Empty: the code is not known.
  /// The firmware may have run on a board with another workload.
  virtual std::string explain_exit(std::string_view /*firmware*/, unsigned /*code*/,
                                   const std::vector<pcie::Endpoint*>& /*devices*/) const {
    return {};
  }
};

}  // namespace sluice::workload
