// SPDX-License-Identifier: Apache-2.0
#include "models/coherence/protocol/message.h"

namespace sluice::coherence::protocol {

const char* to_text(Kind kind) {
  static constexpr const char* kNames[kKinds] = {
      "read shared",   "read unique",   "upgrade",      "evict",           "write back",    "ack",
      "ack with data", "conflict",      "grant shared", "grant exclusive", "grant upgrade", "refuse",
      "evict done",    "conflict done", "snoop shared", "snoop unique"};
  return kNames[static_cast<unsigned>(kind)];
}

}  // namespace sluice::coherence::protocol
