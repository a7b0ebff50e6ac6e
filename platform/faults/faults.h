// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The faults that a board file schedules or draws: makes them happen, and records what each cost.

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/base/parameters/random.h"
#include "models/coherence/link/coherent_link.h"
#include "models/net/wire.h"
#include "models/pcie/data_link.h"
#include "models/pcie/endpoint/endpoint.h"
#include "models/riscv/core.h"
#include "platform/config/board_config.h"
#include "platform/faults/fault_parameters.h"

namespace sluice::platform {

class Board;

/// One fault that happened.
struct FaultRecord {
  std::string name;    ///< of the instance: "fault.glitch"
  std::string kind;    ///< "corrupt-tlp"
  std::string target;  ///< "pcie.slot0.up"
  base::Time at;
  base::Time recovered = base::Time::max();  ///< Time::max(): it lasts, or there is nothing to recover from
  bool momentary = false;                    ///< there is nothing to recover from
  /// What it cost, by name; docs/reference/result.md has them for each kind.
  std::vector<std::pair<const char*, std::uint64_t>> counts;
  std::vector<std::pair<const char*, base::Time>> times;
};

class Faults {
 public:
  /// Construct it after all other components of the board. Throws config::UserError for a target that is not on the
  /// board.
  explicit Faults(Board&);
  ~Faults();
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  /// The faults in order of time. The costs of a fault that still lasts are those up to `now`.
  std::vector<FaultRecord> records(base::Time now) const;
  /// Name of the fault that has happened so far, once or often: "fault.end". "several faults" after more than one;
  /// empty after none.
  const std::string& so_far() const { return so_far_; }

 private:
  class Timed;
  template <class P>
  class ReplayPlan;
  using TlpPlan = ReplayPlan<pcie::TlpProtocol>;
  using CoherentPlan = ReplayPlan<coherence::CoherentProtocol>;
  class FramePlan;
  class Chooser;
  struct Agents {
    std::vector<riscv::Core*> cores;
    std::vector<pcie::Endpoint*> devices;
    std::vector<pcie::Link*> links;  ///< of the devices
    std::vector<net::Wire*> wires;
  };

  void add(const config::Instance&);
  void note(const std::string& name);
  void add_agent_fault(const config::Instance&, const std::string& target, const FaultTimes&, base::Time duration);
  void add_link_down(const config::Instance&);
  Timed& add_timed(const config::Instance&, const std::string& target, const FaultTimes&, base::Time duration);
  TlpPlan& plan_for(const config::Instance&, const std::string& target, LinkSide, base::Time retrain);
  void add_corrupt_message(const config::Instance&);
  template <class P, class Link>
  ReplayPlan<P>& plan_on(std::vector<std::unique_ptr<ReplayPlan<P>>>& plans, const std::string& target, Link& link,
                         LinkSide side, const typename ReplayPlan<P>::Names& names);
  FramePlan& plan_for(const config::Instance&, const std::string& target);
  Agents agents(const config::Instance&, const std::string& target);
  [[noreturn]] void no_target(const config::Instance&, const std::string& target, const char* what,
                              const std::vector<std::string>& names) const;
  std::uint64_t under_way() const;
  std::uint64_t dropped_among(const std::vector<base::RequestId>&) const;

  Board& board_;
  base::RandomSeed seed_;
  std::vector<std::unique_ptr<Timed>> timed_;
  std::vector<std::unique_ptr<TlpPlan>> tlp_plans_;
  std::vector<std::unique_ptr<CoherentPlan>> coherent_plans_;
  std::vector<std::unique_ptr<FramePlan>> frame_plans_;
  std::vector<base::RequestId> dropped_;  ///< requests, in order of time
  std::string so_far_;
};

}  // namespace sluice::platform
