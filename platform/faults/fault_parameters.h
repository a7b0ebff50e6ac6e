// SPDX-License-Identifier: Apache-2.0
#pragma once
/// [fault.NAME]: what a board file says of a fault. docs/reference/faults.md has the kinds and what each does.

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/parameters/quantity.h"
#include "models/base/parameters/schema.h"

namespace sluice::platform {

using namespace base::literals;

/// When a fault of an agent or a link begins: exactly one of at, every and mean_every is set.
struct FaultTimes {
  std::vector<base::Time> at;
  base::Time every;        ///< 0: not used
  base::Time mean_every;   ///< 0: not used
  base::Time from;         ///< every, mean_every: no fault before this
  std::uint64_t most = 0;  ///< 0: no limit
  static void describe(base::Schema<FaultTimes>&);
};

/// kill, hang
struct AgentFault {
  std::string target;
  FaultTimes times;
  static void describe(base::Schema<AgentFault>&);
};

/// pause
struct PauseFault {
  std::string target;
  base::Time duration;
  FaultTimes times;
  static void describe(base::Schema<PauseFault>&);
};

/// link-down
struct LinkDownFault {
  std::string target;
  base::Time duration;
  FaultTimes times;
  static void describe(base::Schema<LinkDownFault>&);
};

/// Which TLPs or frames a fault hits: exactly one of at, every and probability is set.
struct MessageChoice {
  std::vector<base::Time> at;  ///< the first one that starts then or later
  std::uint64_t every = 0;     ///< 0: not used
  double probability = 0;      ///< 0: not used
  base::Time from;             ///< every, probability: no fault before this
  std::uint64_t most = 0;      ///< 0: no limit
  static void describe(base::Schema<MessageChoice>&);
};

enum class LinkSide { up, down };
enum class TlpFilter { any, posted, non_posted, completion };

/// corrupt-tlp, lost-tlp
struct TlpLinkFault {
  std::string target;
  LinkSide direction = LinkSide::up;
  TlpFilter tlps = TlpFilter::any;
  base::Time retrain = 2_us;
  MessageChoice choice;
  static void describe(base::Schema<TlpLinkFault>&);
};

enum class CoherentFilter { any, lines, registers, host_memory };

/// corrupt-message
struct CoherentMessageFault {
  std::string target;
  LinkSide direction = LinkSide::up;
  CoherentFilter messages = CoherentFilter::any;
  base::Time retry = 20_ns;
  base::Time retry_timer = 5_us;
  base::Time retrain = 2_us;
  MessageChoice choice;
  static void describe(base::Schema<CoherentMessageFault>&);
};

enum class WireSide { in, out };

/// corrupt-frame, lost-frame
struct FrameFault {
  std::string target;
  WireSide direction = WireSide::in;
  MessageChoice choice;
  static void describe(base::Schema<FrameFault>&);
};

/// poisoned-completion, completion-timeout
struct CompletionFault {
  std::string target;
  LinkSide direction = LinkSide::up;
  MessageChoice choice;
  static void describe(base::Schema<CompletionFault>&);
};

}  // namespace sluice::platform
